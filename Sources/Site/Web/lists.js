/** A user's shopping lists: checking, sorting and reordering items, live on all devices. */
import { animate } from "/aisle.js";
import { announce, attempt, generation, reportStream, showAlert } from "/alerts.js";
import { neighborID, childOf, find, idsOf, saveFocus, make } from "/dom.js";
import { formatLocale, moneyText, transferText } from "/format.js";
import "/header.js";
import { language, onLanguage, text, translate } from "/language.js";
import { navigate, onNavigate, viewLink } from "/navigation.js";
import { aisle, signIn, withUser } from "/session.js";
import { sortable } from "/sortable.js";

const [container, state] = [find("items"), find("state")];
/** The state of the page. */
const model = {
  /** The signed-in session; null if signed out, undefined until the server has responded. */
  session: undefined,
  /** The locales of the stores, in which their prices are shown. */
  locales: new Map(),
  lists: [],
  /** The shown list with its version. */
  list: null,
  /** The last pending change; changes are sent one at a time. */
  changing: Promise.resolve(),
  /** The number of pending changes. */
  waiting: 0,
  /** Removed items for undo, the latest last. */
  removed: [],
  closeStream: null,
};
const items = new Map();

const canEdit = () => model.list && model.list.role !== "reader";
const elementOf = (id) => childOf(container, id);

// MARK: - Reading

async function open() {
  const own = ++generation.now;
  let unknown = false;
  await attempt(async () => {
    if (model.session === undefined) model.session = await signIn();
    if (!model.locales.size) model.locales = new Map((await aisle.send("/v1/stores")).value.stores.map((store) => [store.key, store.locale]));
    if (!model.session) return render();
    const { value } = await aisle.send("/v1/me/lists");
    if (own !== generation.now) return;
    model.lists = value.lists;
    model.closeStream ??= aisle.follow("/v1/me/events", { event: handleEvent, state: reportStream, since: String(value.revision) });
    const wanted = new URLSearchParams(location.search).get("list");
    unknown = wanted && !model.lists.some((one) => one.id === wanted);
    const found = model.lists.find((one) => one.id === wanted) ?? model.lists[0];
    if (!found) {
      model.list = null;
      container.replaceChildren();
      return render();
    }
    const { value: current } = await aisle.send(`/v1/me/lists/${found.id}/items`);
    if (own !== generation.now) return;
    if (model.list?.id !== current.list.id) {
      model.removed = [];
      find("undo").hidden = true;
      container.replaceChildren();
    }
    // A local change in the meantime is newer.
    if (model.list?.id === current.list.id && current.list.version < model.list.version) return render();
    items.clear();
    applyResponse(current, { mode: "order", ids: current.items.map((item) => item.id) });
  });
  if (own === generation.now && unknown) showAlert(text("unknownList"));
}

/** Loads all changes since the shown version. */
async function catchUp() {
  if (!model.list) return open();
  const [own, id] = [generation.now, model.list.id];
  const { value } = await aisle.send(`/v1/me/lists/${id}/items`, { query: { since: model.list.version } });
  if (own === generation.now && model.list?.id === id && value.list.version >= model.list.version) applyResponse(value, { mode: "order", ids: value.order ?? value.items.map((item) => item.id) });
}

/** Shows the list of a response, without waiting for the animation to end. */
function applyResponse(value, diff) {
  const restore = saveFocus(container);
  model.list = value.list;
  model.lists = model.lists.map((one) => (one.id === model.list.id ? model.list : one));
  for (const item of value.items) {
    if (!item.deleted) items.set(item.id, item);
    draw(item.id);
  }
  animate(container, diff, (insert) => row(items.get(insert.id)));
  render();
  restore();
}

/** Redraws an item's row. */
function draw(id) {
  const [element, item] = [elementOf(id), items.get(id)];
  if (!element || !item) return;
  element.replaceChildren(...row(item).children);
  element.classList.toggle("checked", item.checked);
}

function handleEvent({ name, data }) {
  if (name === "gap") return open();
  if (name !== "list") return;
  if (!model.list) return open();
  // Our own change also arrives as an event, sometimes before its response.
  model.changing = model.changing.then(async () => {
    const isThis = model.list && (data.list?.id ?? data.id) === model.list.id;
    if (!isThis || data.deleted || data.list?.deleted) return readLists();
    if (data.resync || data.version > model.list.version) await attempt(catchUp);
  }).catch(() => {});
}

/** Reloads all lists. */
async function readLists() {
  const found = await attempt(() => aisle.send("/v1/me/lists"));
  if (!found) return;
  model.lists = found.value.lists;
  // The shown list may have been deleted.
  if (!model.list || !model.lists.some((one) => one.id === model.list.id)) return void open();
  render();
}

// MARK: - Changing

/**
 * Changes the shown list or its items, and shows the diff of the response. A repeated request takes effect once.
 * @returns {Promise<any>} the response; undefined if the server rejected the change, which is then reverted
 */
function change(method, rest, body) {
  const id = model.list.id;
  const headers = method === "POST" ? { "idempotency-key": crypto.randomUUID() } : {};
  model.waiting += 1;
  const made = model.changing.then(async () => {
    const answer = await attempt(() => aisle.send(`/v1/me/lists/${id}${rest}`, { method, body, headers }), { isKept: true });
    if (model.list?.id !== id) return answer?.value;
    if (!answer) {
      for (const known of items.keys()) draw(known);
      return render();
    }
    const { value, bytes } = answer;
    const isWhole = value.diff.mode === "order";
    // After another change, the diff does not apply to the shown list.
    if (value.diff.from_version !== model.list.version || (!isWhole && value.diff.old_count !== idsOf(container).length)) {
      if (value.version > model.list.version) await attempt(catchUp);
    } else {
      applyResponse(value, value.diff);
    }
    find("wire").value = transferText(text, value.diff, bytes);
    return value;
  });
  model.changing = made.catch(() => {}).finally(() => (model.waiting -= 1));
  return made;
}

function row(item) {
  const name = item.name ?? item.text;
  const check = make("input", { type: "checkbox", class: "tick", "aria-label": name });
  check.checked = item.checked;
  check.disabled = !canEdit();
  const facts = [item.quantity !== "1" && `${item.quantity} ×`, item.product?.price_minor != null && moneyText(formatLocale(language.now, model.locales.get(item.store)), item.product.price_minor, item.product.currency), item.note].filter(Boolean).join(" · ");
  const tools = canEdit() ? [
    make("button", { type: "button", class: "grip", "aria-label": text("moveItem", name), hidden: model.list.sort !== "position" }, "⠿"),
    make("button", { type: "button", class: "remove", "aria-label": text("remove", name) }, "×"),
  ] : [];
  return make("li", { class: item.checked ? "item checked" : "item", "data-id": item.id }, check, make("span", { class: "name" }, name), make("span", { class: "facts" }, facts), ...tools);
}

container.addEventListener("change", (event) => {
  const id = event.target.closest("[data-id]").dataset.id;
  change("PATCH", `/items/${id}`, { checked: event.target.checked });
});
container.addEventListener("click", async (event) => {
  const element = event.target.closest(".remove")?.closest("[data-id]");
  if (!element) return;
  const [id, listID] = [element.dataset.id, model.list.id];
  const beside = neighborID(element);
  const isMade = await change("PATCH", `/items/${id}`, { deleted: true });
  if (!isMade || model.list?.id !== listID) return;
  model.removed.push(id);
  find("undo").hidden = false;
  (elementOf(beside)?.querySelector(".remove") ?? find("item-text")).focus();
  announce(text("removed", items.get(id).name));
});
find("undo").addEventListener("click", async () => {
  const id = model.removed.pop();
  find("undo").hidden = !model.removed.length;
  const of = model.list.id;
  if (!id || !(await change("PATCH", `/items/${id}`, { deleted: false }))) {
    if (id && model.list?.id === of) model.removed.push(id);
    find("undo").hidden = !model.removed.length;
    return;
  }
  elementOf(id)?.querySelector(".tick").focus();
});

sortable(container, {
  grip: ".grip",
  ready: () => model.changing,
  isDisabled: () => !canEdit() || model.list.sort !== "position",
  move: async (ids, place) => {
    if (!ids.every((id) => elementOf(id))) return;
    const value = await change("POST", "/order/moves", { moves: [{ ids, ...place }] });
    const order = idsOf(container);
    if (value) announce(text("place", items.get(ids[0]).name, order.indexOf(ids[0]) + 1, order.length));
    elementOf(ids[0])?.querySelector(".grip").focus({ preventScroll: true });
  },
});

// MARK: - Rendering

function render() {
  translate();
  find("lists").replaceChildren(...model.lists.map((one) => {
    const href = withUser("/lists", { list: one.id });
    return make("li", {}, viewLink(href, one.id === model.list?.id, one.name, one.item_count - one.checked_count, () => {
      navigate(href);
      open().then(() => find("title").focus({ preventScroll: true }));
    }));
  }));
  find("new-list").hidden = !model.session;
  for (const id of ["tools", "new-item"]) find(id).hidden = !canEdit();
  find("title").textContent = model.list?.name ?? text("lists");
  document.title = `${model.list?.name ?? text("lists")} · Aisle`;
  find("count").textContent = model.list ? text("listCount", model.list.checked_count, model.list.item_count) : "";
  state.textContent = !model.session ? text("needsUser") : !model.list ? text("noLists") : idsOf(container).length ? "" : text("noItems");
  if (!model.list) return;
  find("sink").checked = model.list.auto_sort;
  find("item-sort").replaceChildren(...Object.entries(text("itemSorts")).map(([value, title]) => make("option", { value }, title)));
  find("item-sort").value = model.list.sort;
  for (const grip of container.querySelectorAll(".grip")) grip.hidden = model.list.sort !== "position";
}

// MARK: - Setup

find("sink").addEventListener("change", () => change("PATCH", "", { auto_sort: find("sink").checked }));
find("item-sort").addEventListener("change", () => change("PATCH", "", { sort: find("item-sort").value }));
find("new-item").addEventListener("submit", async (event) => {
  event.preventDefault();
  const input = find("item-text");
  const words = input.value;
  input.value = "";
  const isMade = await change("POST", "/items", { items: [{ text: words }] });
  // Keep the text of a rejected item.
  if (!isMade && !input.value) input.value = words;
});
find("new-list").addEventListener("submit", async (event) => {
  event.preventDefault();
  const [input, headers] = [find("list-name"), { "idempotency-key": crypto.randomUUID() }];
  const name = input.value;
  input.value = "";
  const made = await attempt(() => aisle.send("/v1/me/lists", { method: "POST", body: { name }, headers }), { isKept: true });
  if (!made) return void (input.value ||= name);
  navigate(withUser("/lists", { list: made.value.id }));
  generation.now += 1;
  [model.list, model.removed] = [made.value, []];
  if (!model.lists.some((one) => one.id === model.list.id)) model.lists.unshift(model.list);
  items.clear();
  container.replaceChildren();
  render();
  find("item-text").focus();
});
onLanguage(() => {
  for (const id of items.keys()) draw(id);
  render();
});
onNavigate(open);
// Unsent changes would be lost.
addEventListener("beforeunload", (event) => model.waiting && event.preventDefault());
translate();
open();
