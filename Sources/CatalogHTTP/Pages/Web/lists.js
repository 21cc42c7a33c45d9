/** A user's shopping lists: checking off, sorting, arranging by hand, live on all devices. */
import { animate } from "/aisle.js";
import {
  aisle, announce, attempt, besideOf, childOf, find, idsOf, keepingFocus, make, money, navigate, onLanguage, onNavigate, signIn, tellWire, text, translate,
  turn, viewLink, withUser,
} from "/ui.js";
import { sortable } from "/sortable.js";

const [container, state] = [find("items"), find("state")];
let session;
let lists = [];
/** The list that is shown, with its version, and its items by id. */
let list = null;
const items = new Map();
/** What is under way: changes are made one after another. */
let changing = Promise.resolve();
/** How many of them wait. */
let waiting = 0;
/** What was removed, the last at the end, to bring it back. */
let removed = [];
let ending = null;

const mayChange = () => list && list.role !== "reader";
const elementOf = (id) => childOf(container, id);

// MARK: - Reading

async function open() {
  const own = ++turn.now;
  await attempt(async () => {
    if (session === undefined) session = await signIn();
    if (!session) return render();
    const { value } = await aisle.send("/v1/me/lists");
    if (own !== turn.now) return;
    lists = value.lists;
    ending ??= aisle.follow("/v1/me/events", { event: take, since: String(value.revision) });
    const wanted = new URLSearchParams(location.search).get("list");
    const found = lists.find((one) => one.id === wanted) ?? lists[0];
    if (!found) {
      list = null;
      container.replaceChildren();
      return render();
    }
    const { value: whole } = await aisle.send(`/v1/me/lists/${found.id}/items`);
    if (own !== turn.now) return;
    if (list?.id !== whole.list.id) {
      removed = [];
      find("undo").hidden = true;
      container.replaceChildren();
    }
    // What was changed here meanwhile is newer.
    if (list?.id === whole.list.id && whole.list.version < list.version) return render();
    items.clear();
    hear(whole, { mode: "order", ids: whole.items.map((item) => item.id) });
  });
}

/** What changed since, by whoever it was. */
async function catchUp() {
  if (!list) return open();
  const [own, id] = [turn.now, list.id];
  const { value } = await aisle.send(`/v1/me/lists/${id}/items`, { query: { since: list.version } });
  if (own === turn.now && list?.id === id && value.list.version >= list.version) hear(value, { mode: "order", ids: value.order ?? value.items.map((item) => item.id) });
}

/** Shows what an answer tells of the list; nothing waits for it to come to rest. */
function hear(value, diff) {
  const restore = keepingFocus(container);
  list = value.list;
  lists = lists.map((one) => (one.id === list.id ? list : one));
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
  if (!list) return open();
  // Our own change comes back as an event too, and before its answer at times.
  changing = changing.then(async () => {
    const isThis = list && (data.list?.id ?? data.id) === list.id;
    if (!isThis || data.deleted || data.list?.deleted) return readLists();
    if (data.resync || data.version > list.version) await attempt(catchUp);
  }).catch(() => {});
}

/** The lists beside the one that is shown. */
async function readLists() {
  const found = await attempt(() => aisle.send("/v1/me/lists"));
  if (!found) return;
  lists = found.value.lists;
  // The one that is shown may be gone.
  if (!list || !lists.some((one) => one.id === list.id)) return void open();
  render();
}

// MARK: - Changing

/**
 * A change of the list that is shown, or of its items: shown by the diff that answers it. A repeated request is made once.
 * @returns {Promise<any>} the answer; undefined where it was refused: what is shown is then as it was
 */
function change(method, rest, body) {
  const id = list.id;
  const headers = method === "POST" ? { "idempotency-key": crypto.randomUUID() } : {};
  waiting += 1;
  const made = changing.then(async () => {
    const answer = await attempt(() => aisle.send(`/v1/me/lists/${id}${rest}`, { method, body, headers }), { isKept: true });
    if (list?.id !== id) return answer?.value;
    if (!answer) {
      for (const known of items.keys()) draw(known);
      return render();
    }
    const { value, bytes } = answer;
    const isWhole = value.diff.mode === "order";
    // Where another change came between, its diff is of what is not shown here.
    if (value.version !== list.version + 1 || (!isWhole && value.diff.old_count !== idsOf(container).length)) {
      if (value.version > list.version) await attempt(catchUp);
    } else {
      hear(value, value.diff);
    }
    tellWire(value.diff, bytes);
    return value;
  });
  changing = made.catch(() => {}).finally(() => (waiting -= 1));
  return made;
}

function row(item) {
  const name = item.name ?? item.text;
  const check = make("input", { type: "checkbox", class: "tick", "aria-label": name });
  check.checked = item.checked;
  check.disabled = !mayChange();
  const facts = [item.quantity !== "1" && `${item.quantity} ×`, item.product?.price_minor != null && money(item.product.price_minor, item.product.currency), item.note].filter(Boolean).join(" · ");
  const tools = mayChange() ? [
    make("button", { type: "button", class: "grip", "aria-label": text("moveItem", name), hidden: list.sort !== "position" }, "⠿"),
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
  const [id, of] = [element.dataset.id, list.id];
  const beside = besideOf(element);
  const isMade = await change("PATCH", `/items/${id}`, { deleted: true });
  if (!isMade || list?.id !== of) return;
  removed.push(id);
  find("undo").hidden = false;
  (elementOf(beside)?.querySelector(".remove") ?? find("item-text")).focus();
  announce(text("removed", items.get(id).name));
});
find("undo").addEventListener("click", async () => {
  const id = removed.pop();
  find("undo").hidden = !removed.length;
  const of = list.id;
  if (!id || !(await change("PATCH", `/items/${id}`, { deleted: false }))) {
    if (id && list?.id === of) removed.push(id);
    find("undo").hidden = !removed.length;
    return;
  }
  elementOf(id)?.querySelector(".tick").focus();
});

sortable(container, {
  grip: ".grip",
  ready: () => changing,
  isClosed: () => !mayChange() || list.sort !== "position",
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
  find("lists").replaceChildren(...lists.map((one) => {
    const href = withUser("/lists", { list: one.id });
    return make("li", {}, viewLink(href, one.id === list?.id, one.name, one.item_count - one.checked_count, () => {
      navigate(href);
      open().then(() => find("title").focus({ preventScroll: true }));
    }));
  }));
  find("new-list").hidden = !session;
  for (const id of ["tools", "new-item"]) find(id).hidden = !mayChange();
  find("title").textContent = list?.name ?? text("lists");
  document.title = `${list?.name ?? text("lists")} · Aisle`;
  find("count").textContent = list ? text("listCount", list.checked_count, list.item_count) : "";
  state.textContent = !session ? text("needsUser") : !list ? text("noLists") : idsOf(container).length ? "" : text("noItems");
  if (!list) return;
  find("sink").checked = list.auto_sort;
  find("item-sort").replaceChildren(...Object.entries(text("itemSorts")).map(([value, title]) => make("option", { value }, title)));
  find("item-sort").value = list.sort;
  for (const grip of container.querySelectorAll(".grip")) grip.hidden = list.sort !== "position";
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
  [list, removed] = [made.value, []];
  if (!lists.some((one) => one.id === list.id)) lists.unshift(list);
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
addEventListener("beforeunload", (event) => waiting && event.preventDefault());
translate();
open();
