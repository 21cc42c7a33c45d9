/** A user's shopping lists: checking off, sorting, arranging by hand, live on all devices. */
import { animate } from "/aisle.js";
import { announce, attempt, turn } from "/alerts.js";
import { money } from "/cards.js";
import { besideOf, childOf, find, idsOf, keepingFocus, make } from "/dom.js";
import { transferText } from "/format.js";
import "/header.js";
import { onLanguage, text, translate } from "/language.js";
import { navigate, onNavigate, viewLink } from "/navigation.js";
import { aisle, signIn, withUser } from "/session.js";
import { sortable } from "/sortable.js";

const [container, state] = [find("items"), find("state")];
/** What the page shows, and what it waits for. */
const model = {
  /** Who is signed in; null if nobody is, undefined until the server was asked. */
  session: undefined,
  lists: [],
  /** The list that is shown, with its version, and its items by id. */
  list: null,
  /** What is under way: changes are made one after another. */
  changing: Promise.resolve(),
  /** How many of them wait. */
  waiting: 0,
  /** Removed items, the latest last, for undo. */
  removed: [],
  ending: null,
};
const items = new Map();

const mayChange = () => model.list && model.list.role !== "reader";
const elementOf = (id) => childOf(container, id);

// MARK: - Reading

async function open() {
  const own = ++turn.now;
  await attempt(async () => {
    if (model.session === undefined) model.session = await signIn();
    if (!model.session) return render();
    const { value } = await aisle.send("/v1/me/lists");
    if (own !== turn.now) return;
    model.lists = value.lists;
    model.ending ??= aisle.follow("/v1/me/events", { event: take, since: String(value.revision) });
    const wanted = new URLSearchParams(location.search).get("list");
    const found = model.lists.find((one) => one.id === wanted) ?? model.lists[0];
    if (!found) {
      model.list = null;
      container.replaceChildren();
      return render();
    }
    const { value: whole } = await aisle.send(`/v1/me/lists/${found.id}/items`);
    if (own !== turn.now) return;
    if (model.list?.id !== whole.list.id) {
      model.removed = [];
      find("undo").hidden = true;
      container.replaceChildren();
    }
    // What was changed here meanwhile is newer.
    if (model.list?.id === whole.list.id && whole.list.version < model.list.version) return render();
    items.clear();
    hear(whole, { mode: "order", ids: whole.items.map((item) => item.id) });
  });
}

/** What changed since, by whoever it was. */
async function catchUp() {
  if (!model.list) return open();
  const [own, id] = [turn.now, model.list.id];
  const { value } = await aisle.send(`/v1/me/lists/${id}/items`, { query: { since: model.list.version } });
  if (own === turn.now && model.list?.id === id && value.list.version >= model.list.version) hear(value, { mode: "order", ids: value.order ?? value.items.map((item) => item.id) });
}

/** Shows what an answer tells of the list; nothing waits for it to come to rest. */
function hear(value, diff) {
  const restore = keepingFocus(container);
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

/** Draws an item's row as it is known to be. */
function draw(id) {
  const [element, item] = [elementOf(id), items.get(id)];
  if (!element || !item) return;
  element.replaceChildren(...row(item).children);
  element.classList.toggle("checked", item.checked);
}

function take({ name, data }) {
  if (name === "gap") return open();
  if (name !== "list") return;
  if (!model.list) return open();
  // Our own change comes back as an event too, and before its answer at times.
  model.changing = model.changing.then(async () => {
    const isThis = model.list && (data.list?.id ?? data.id) === model.list.id;
    if (!isThis || data.deleted || data.list?.deleted) return readLists();
    if (data.resync || data.version > model.list.version) await attempt(catchUp);
  }).catch(() => {});
}

/** The lists beside the one that is shown. */
async function readLists() {
  const found = await attempt(() => aisle.send("/v1/me/lists"));
  if (!found) return;
  model.lists = found.value.lists;
  // The one that is shown may be gone.
  if (!model.list || !model.lists.some((one) => one.id === model.list.id)) return void open();
  render();
}

// MARK: - Changing

/**
 * A change of the list that is shown, or of its items: shown by the diff that answers it. A repeated request is made once.
 * @returns {Promise<any>} the answer; undefined where it was refused: what is shown is then as it was
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
    // Where another change came between, its diff is of what is not shown here.
    if (value.version !== model.list.version + 1 || (!isWhole && value.diff.old_count !== idsOf(container).length)) {
      if (value.version > model.list.version) await attempt(catchUp);
    } else {
      hear(value, value.diff);
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
  check.disabled = !mayChange();
  const facts = [item.quantity !== "1" && `${item.quantity} ×`, item.product?.price_minor != null && money(item.product.price_minor, item.product.currency), item.note].filter(Boolean).join(" · ");
  const tools = mayChange() ? [
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
  const [id, of] = [element.dataset.id, model.list.id];
  const beside = besideOf(element);
  const isMade = await change("PATCH", `/items/${id}`, { deleted: true });
  if (!isMade || model.list?.id !== of) return;
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
  isClosed: () => !mayChange() || model.list.sort !== "position",
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
  for (const id of ["tools", "new-item"]) find(id).hidden = !mayChange();
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

// MARK: - Beginning

find("sink").addEventListener("change", () => change("PATCH", "", { auto_sort: find("sink").checked }));
find("item-sort").addEventListener("change", () => change("PATCH", "", { sort: find("item-sort").value }));
find("new-item").addEventListener("submit", async (event) => {
  event.preventDefault();
  const input = find("item-text");
  const words = input.value;
  input.value = "";
  const isMade = await change("POST", "/items", { items: [{ text: words }] });
  // What was refused is not lost.
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
  turn.now += 1;
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
// What is not sent yet would be lost.
addEventListener("beforeunload", (event) => model.waiting && event.preventDefault());
translate();
open();
