/** A user's shopping lists: checking off, sorting, arranging by hand, live on all devices. */
import { animate } from "/aisle.js";
import { aisle, announce, attempt, byteText, find, idsOf, make, money, onLanguage, signIn, text, translate, turn, withUser } from "/ui.js";
import { sortable } from "/sortable.js";

const [container, state] = [find("items"), find("state")];
let session;
let lists = [];
/** The list that is shown, with its version, and its items by id. */
let list = null;
const items = new Map();
/** What is under way: changes are made one after another. */
let changing = Promise.resolve();
/** What was removed last, to bring it back. */
let removed = null;
let ending = null;

const path = (rest = "") => `/v1/me/lists/${list.id}${rest}`;
const mayChange = () => list && list.role !== "reader";

// MARK: - Reading

async function open() {
  const own = ++turn.now;
  await attempt(async () => {
    if (session === undefined) session = await signIn();
    if (!session) return (state.textContent = text("needsUser"));
    const { value } = await aisle.send("/v1/me/lists");
    if (own !== turn.now) return;
    lists = value.lists;
    ending ??= aisle.follow("/v1/me/events", { event: take, since: String(value.revision) });
    const wanted = new URLSearchParams(location.search).get("list");
    const found = lists.find((one) => one.id === wanted) ?? lists[0];
    if (found) {
      const { value: whole } = await aisle.send(`/v1/me/lists/${found.id}/items`);
      if (own !== turn.now) return;
      if (list?.id !== whole.list.id) [removed] = [null, container.replaceChildren()];
      list = whole.list;
      items.clear();
      for (const item of whole.items) items.set(item.id, item);
      await show({ mode: "order", ids: whole.items.map((item) => item.id), inserts: [] });
    } else {
      list = null;
      container.replaceChildren();
    }
    render();
  });
}

/** What changed since, by whoever it was. */
async function catchUp() {
  if (!list) return open();
  const [own, id] = [turn.now, list.id];
  const { value } = await aisle.send(path("/items"), { query: { since: list.version } });
  if (own !== turn.now || list.id !== id) return;
  const restore = keepingFocus();
  hear(value);
  const ended = show({ mode: "order", ids: value.order ?? value.items.map((item) => item.id), inserts: [] });
  restore();
  await ended;
}

function hear(value) {
  list = value.list;
  lists = lists.map((one) => (one.id === list.id ? list : one));
  for (const item of value.items) if (!item.deleted) items.set(item.id, item);
  for (const item of value.items) container.querySelector(`:scope > [data-id="${CSS.escape(item.id)}"]`)?.replaceChildren(...row(item).children);
  render();
}

async function take({ name, data }) {
  if (name === "gap") return open();
  if (name !== "list") return;
  // Our own change comes back as an event too, and before its answer at times.
  await changing;
  const isThis = list && (data.list?.id ?? data.id) === list.id;
  if (!isThis) return open();
  if (data.resync || data.version > list.version) await attempt(catchUp);
}

/** Gives the focus back to the control that had it, where its row was drawn anew. */
function keepingFocus() {
  const focused = document.activeElement;
  const [id, control] = [focused?.closest("#items > [data-id]")?.dataset.id, focused?.classList[0]];
  return () => id && !focused.isConnected && container.querySelector(`[data-id="${CSS.escape(id)}"] .${control}`)?.focus({ preventScroll: true });
}

async function show(diff) {
  const ended = animate(container, diff, (insert) => row(items.get(insert.id)));
  for (const element of container.querySelectorAll(":scope > [data-id]")) {
    element.classList.toggle("checked", items.get(element.dataset.id)?.checked ?? false);
  }
  state.textContent = list && !idsOf(container).length ? text("noItems") : "";
  await ended;
}

// MARK: - Changing

/** A change of the list or its items: shown by the diff that answers it. A repeated request is made once. */
function change(method, rest, body) {
  const headers = method === "POST" ? { "idempotency-key": crypto.randomUUID() } : {};
  changing = changing.then(() => attempt(async () => {
    const { value, bytes } = await aisle.send(path(rest), { method, body, headers });
    const shown = idsOf(container);
    // Where another change came between, its diff is of what is not shown here.
    const { diff } = value;
    const isWhole = diff.mode === "order";
    if (value.version !== list.version + 1 || (!isWhole && diff.old_count !== shown.length)) {
      await catchUp();
      return value;
    }
    const restore = keepingFocus();
    hear(value);
    find("wire").value = isWhole ? byteText(bytes) : text("moves", diff.moves.length + diff.inserts.length, diff.new_count, byteText(bytes), 0);
    const ended = show(diff);
    restore();
    await ended;
    return value;
  }));
  return changing;
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
  if (!event.target.closest(".remove")) return;
  const id = event.target.closest("[data-id]").dataset.id;
  const name = items.get(id).name;
  const neighbour = event.target.closest("[data-id]").nextElementSibling ?? event.target.closest("[data-id]").previousElementSibling;
  if (!(await change("PATCH", `/items/${id}`, { deleted: true }))) return;
  removed = id;
  find("undo").hidden = false;
  (neighbour?.querySelector(".remove") ?? find("item-text")).focus();
  announce(text("removed", name));
});
find("undo").addEventListener("click", async () => {
  if (removed) await change("PATCH", `/items/${removed}`, { deleted: false });
  removed = null;
  find("undo").hidden = true;
});

sortable(container, {
  grip: ".grip",
  isClosed: () => !mayChange() || list.sort !== "position",
  move: async (ids, place) => {
    const value = await change("POST", "/order/moves", { moves: [{ ids, ...place }] });
    const order = idsOf(container);
    if (value) announce(text("place", items.get(ids[0]).name, order.indexOf(ids[0]) + 1, order.length));
    container.querySelector(`[data-id="${CSS.escape(ids[0])}"] .grip`)?.focus({ preventScroll: true });
  },
});

// MARK: - Rendering

function render() {
  translate();
  find("lists").replaceChildren(...lists.map((one) => {
    const link = make("a", { href: withUser("/lists", { list: one.id }), "aria-current": one.id === list?.id ? "page" : null }, one.name, make("span", {}, String(one.item_count - one.checked_count)));
    link.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      history.pushState(null, "", link.href);
      open().then(() => find("title").focus({ preventScroll: true }));
    });
    return make("li", {}, link);
  }));
  find("new-list").hidden = !session;
  for (const id of ["tools", "new-item"]) find(id).hidden = !mayChange();
  find("title").textContent = list?.name ?? text("lists");
  document.title = `${list?.name ?? text("lists")} · Aisle`;
  find("count").textContent = list ? text("listCount", list.checked_count, list.item_count) : "";
  if (!list) return (state.textContent = session ? text("noLists") : text("needsUser"));
  find("sink").checked = list.auto_sort;
  find("item-sort").replaceChildren(...Object.entries(text("itemSorts")).map(([value, title]) => make("option", { value }, title)));
  find("item-sort").value = list.sort;
  for (const grip of container.querySelectorAll(".grip")) grip.hidden = list.sort !== "position";
}

// MARK: - Beginning

find("sink").addEventListener("change", () => change("PATCH", "", { auto_sort: find("sink").checked }));
find("item-sort").addEventListener("change", () => change("PATCH", "", { sort: find("item-sort").value }));
find("new-item").addEventListener("submit", (event) => {
  event.preventDefault();
  const input = find("item-text");
  change("POST", "/items", { items: [{ text: input.value }] }).then((value) => { if (value) input.value = ""; });
});
find("new-list").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    const { value } = await aisle.send("/v1/me/lists", { method: "POST", body: { name: find("list-name").value }, headers: { "idempotency-key": crypto.randomUUID() } });
    find("list-name").value = "";
    history.pushState(null, "", withUser("/lists", { list: value.id }));
    await open();
    find("item-text").focus();
  });
});
onLanguage(open);
addEventListener("popstate", open);
translate();
open();
