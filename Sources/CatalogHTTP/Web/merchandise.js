/** The merchandiser's page: a shelf in its manual order, rearranged by hand, beside others who do the same. */
import { animate } from "/aisle.js";
import {
  aisle, alarm, announce, attempt, byteText, card, drawShelves, find, idsOf, isAway, isEndNear, make, onEndNear, onLanguage, parameters, problemText, readStores, refreshCards, settle,
  signIn, text, translate, turn, withUser,
} from "/ui.js";
import { sortable } from "/sortable.js";

const [grid, state] = [find("products"), find("state")];
const view = { store: parameters.get("store"), shelf: parameters.get("shelf") };
let stores = [];
let shelf = null;
let session;
/** The cursor behind what is shown; null at the end, undefined where something moved across it. */
let next = null;
let isLoading = false;
let ending = () => {};

/** The order version that is shown, and the shelf's. */
let [orderVersion, shelfVersion] = [0, 0];
/** Moves that are shown, and not yet made. */
let queue = [];
/** Moves that another's change forestalled. */
let forestalled = [];
let isSending = false;
let isHeld = false;
/** Whether the order as a whole is being changed. */
let isWhole = false;
/** The latest version of the shelf that was told of: a later one than is shown is looked at as soon as nothing is under way. */
let latest = 0;
let changes = [];

const path = (rest = "") => `/v1/stores/${view.store}/shelves/${view.shelf}${rest}`;
const nameOf = (id) => elementOf(id)?.querySelector("h2").textContent ?? id;
const elementOf = (id) => grid.querySelector(`:scope > [data-id="${CSS.escape(id)}"]`);

// MARK: - Reading

function open() {
  const own = ++turn.now;
  ending();
  [queue, forestalled, isSending, isWhole, latest] = [[], [], false, false, 0];
  find("conflict").hidden = true;
  return attempt(async () => {
    if (session === undefined) session = await signIn("catalog:write");
    if (!stores.length) stores = await readStores();
    if (own !== turn.now) return;
    settle(view, stores);
    drawShelves(view, stores, (store, key) => {
      Object.assign(view, { store, shelf: key });
      history.pushState(null, "", withUser("/merchandise", { store, shelf: key }));
      open().then(() => find("title").focus({ preventScroll: true }));
    });
    if (!view.shelf) return (state.textContent = text("noStores"));
    // The version first: what is shown is then as new, or newer.
    const found = await aisle.shelf(view.store, view.shelf);
    const page = await aisle.page(view.store, view.shelf, { sort: "position", limit: 100 });
    if (own !== turn.now) return;
    shelf = found;
    [orderVersion, shelfVersion, next] = [found.order_version, page.version, page.page.next_cursor];
    selection.clear();
    grid.replaceChildren(...page.products.map(option));
    rove(grid.firstElementChild);
    await readChanges();
    render();
    follow(own);
  });
}

function option(product) {
  const element = card(product);
  const parts = { role: "option", tabindex: "-1", "aria-selected": String(selection.has(product.sku)) };
  for (const [name, value] of Object.entries(parts)) element.setAttribute(name, value);
  return element;
}

async function more() {
  if (isLoading || next === null || queue.length || isHeld) return;
  isLoading = true;
  const own = turn.now;
  await attempt(async () => {
    let cursor = next;
    if (cursor === undefined) {
      cursor = null;
      for (let left = idsOf(grid).length; left > 0; ) {
        const page = await aisle.page(view.store, view.shelf, { sort: "position", cursor, limit: Math.min(left, 100) });
        left -= page.products.length;
        cursor = page.page.next_cursor;
        if (!cursor) break;
      }
    }
    const page = cursor && (await aisle.page(view.store, view.shelf, { sort: "position", cursor, limit: 100 }));
    if (own !== turn.now) return;
    next = page ? page.page.next_cursor : null;
    const known = new Set(idsOf(grid));
    grid.append(...(page?.products ?? []).filter((product) => !known.has(product.sku)).map(option));
  });
  isLoading = false;
  if (own === turn.now && next && isEndNear()) more();
}

async function readChanges() {
  if (!session) return;
  changes = (await aisle.send(path("/order/changes"))).value.changes;
  renderChanges();
}

/** What others changed: the shelf as it is now, brought there from what is shown. */
async function catchUp() {
  if (latest <= shelfVersion || isHeld || isSending || isWhole || queue.length || forestalled.length) return;
  const own = turn.now;
  await attempt(async () => { if ((await look(own)) !== undefined) await readChanges(); });
}

/** Shows the order as it is now. @returns {Promise<string[]|undefined>} the ids that moved; undefined where it is not shown */
async function look(own) {
  const found = await aisle.shelf(view.store, view.shelf);
  const ids = idsOf(grid);
  // So many are not brought into order, but read anew.
  if (ids.length > 10_000) return void open();
  const diff = await aisle.diffFrom(view.store, view.shelf, ids, { sort: "position", limit: Math.max(ids.length, 1) });
  if (own !== turn.now) return;
  // What was moved here meanwhile comes first.
  if (isHeld || idsOf(grid).join("/") !== ids.join("/")) return;
  [orderVersion, shelfVersion] = [Math.max(orderVersion, found.order_version), diff.to_version];
  if (next !== null && diff.deletes.length + diff.inserts.length) next = undefined;
  await show(diff);
  return [...diff.moves, ...diff.inserts].map((part) => part.id);
}

async function show(diff) {
  find("wire").value = diff.bytes ? text("moves", diff.moves.length + diff.inserts.length, diff.new_count, byteText(diff.bytes), 0) : "";
  const focused = document.activeElement?.dataset?.id;
  const ended = animate(grid, diff, (insert) => option(insert.product));
  if (!grid.querySelector(":scope > [tabindex='0']")) rove(grid.firstElementChild);
  if (focused) elementOf(focused)?.focus({ preventScroll: true });
  document.documentElement.dataset.script = (await ended).script.toFixed(1);
}

function follow(own) {
  const event = ({ name, id, data }) => {
    if (own !== turn.now || name !== "order") return;
    latest = Number(id);
    attempt(() => refreshCards(grid, view.store, data.changed?.map((change) => change.id) ?? [], option));
    catchUp();
  };
  ending = aisle.follow(path("/events"), { query: { sort: "position", limit: 100 }, event });
}

// MARK: - Moving

/** What stands after a move: the ids in their new order. */
function moved(all, ids, place) {
  const moving = new Set(ids);
  const left = all.filter((id) => !moving.has(id));
  const at = place.place === "first" ? 0 : place.place === "last" ? left.length : place.before ? left.indexOf(place.before) : left.indexOf(place.after) + 1;
  return [...left.slice(0, at), ...ids, ...left.slice(at)];
}

function move(ids, place) {
  const all = idsOf(grid);
  const order = moved(all, ids, place);
  if (order.join("/") === all.join("/")) return;
  // Behind the last is behind what is not shown yet, too.
  const isBeyond = place.place === "last" && next !== null;
  if (isBeyond) next = undefined;
  const shown = isBeyond ? order.slice(0, -ids.length) : order;
  show({ mode: "order", ids: shown, inserts: [], deletes: [], moves: [] });
  if (!isBeyond) {
    elementOf(ids[0])?.scrollIntoView({ block: "nearest" });
    const at = order.indexOf(ids[0]) + 1;
    announce(ids.length > 1 ? text("placeMany", ids.length, at, shelf.product_count) : text("place", nameOf(ids[0]), at, shelf.product_count));
  }
  queue.push({ ids, ...place });
  flush();
}

/** Sends the moves that wait, one request after another. */
async function flush() {
  if (isSending || !queue.length) return;
  isSending = true;
  const own = turn.now;
  // What comes in meanwhile goes with the next; a request that is repeated is made once.
  const moves = queue.slice();
  const headers = { "if-match": `"order-${orderVersion}"`, "idempotency-key": crypto.randomUUID() };
  const send = async () => {
    try {
      const { value, bytes } = await aisle.send(path("/order/moves"), { method: "POST", body: { moves }, headers });
      if (own !== turn.now) return;
      alarm(null);
      [orderVersion, shelfVersion] = [value.order_version, value.version];
      queue = queue.slice(moves.length);
      find("wire").value = text("moves", value.diff.moves.length, shelf.product_count, byteText(bytes), 0);
      isSending = false;
      if (queue.length) return flush();
      await attempt(readChanges);
      catchUp();
    } catch (error) {
      if (own !== turn.now) return;
      if (isAway(error)) {
        alarm(text("waiting"));
        return setTimeout(() => own === turn.now && send(), 1500);
      }
      isSending = false;
      const kept = queue;
      queue = [];
      if (error.status === 412) return conflict(kept);
      await attempt(() => look(own));
      alarm(problemText(error));
    }
  };
  await send();
}

/** Another was faster: theirs is shown, ours is kept. */
async function conflict(kept) {
  const own = turn.now;
  forestalled = kept;
  await attempt(async () => {
    const theirs = await look(own);
    if (theirs === undefined) return;
    await readChanges();
    for (const element of grid.querySelectorAll(".theirs")) element.classList.remove("theirs");
    const mine = new Set(kept.flatMap((move) => move.ids));
    for (const id of theirs) if (!mine.has(id)) elementOf(id)?.classList.add("theirs");
    find("conflict-text").textContent = text("conflict", changes.length ? changeText(changes[0]) : "");
    find("conflict").hidden = false;
    render();
    find("again").focus();
  });
}

function settleConflict(isAgain) {
  const kept = forestalled;
  forestalled = [];
  find("conflict").hidden = true;
  for (const element of grid.querySelectorAll(".theirs")) element.classList.remove("theirs");
  const there = new Set(idsOf(grid));
  render();
  if (!isAgain) return catchUp();
  for (const { ids, ...place } of kept) {
    // What went meanwhile cannot be moved, nor moved to.
    const left = ids.filter((id) => there.has(id));
    const anchor = place.after ?? place.before;
    if (left.length && (!anchor || there.has(anchor))) move(left, place);
  }
  elementOf(kept[0]?.ids[0])?.focus();
}

async function whole(rest, method, body) {
  const own = turn.now;
  isWhole = true;
  // A request that is repeated is made once.
  const headers = { "if-match": `"order-${orderVersion}"`, "idempotency-key": crypto.randomUUID() };
  await attempt(async () => {
    try {
      const { value } = await aisle.send(path(rest), { method, body, headers });
      if (own !== turn.now) return;
      shelfVersion = value.version;
    } catch (error) {
      // Somebody was faster: theirs is shown, and may be taken back then.
      if (error.status !== 412) throw error;
    }
    await look(own);
    await readChanges();
    if (changes.length) announce(changeText(changes[0]));
  });
  isWhole = false;
  catchUp();
}

const isOpen = () => session && !forestalled.length && !queue.length && !isSending;
const undo = () => isOpen() && whole("/order/undo", "POST", {});

// MARK: - Selection

const selection = new Set();
let anchor = null;

function select(ids, isOn) {
  for (const id of ids) {
    selection[isOn ? "add" : "delete"](id);
    elementOf(id)?.setAttribute("aria-selected", String(isOn));
  }
  renderSelection();
}

/** The one card that the Tab key comes to. */
function rove(element) {
  if (!element) return;
  grid.querySelector(":scope > [tabindex='0']")?.setAttribute("tabindex", "-1");
  element.setAttribute("tabindex", "0");
}

grid.addEventListener("click", (event) => {
  const element = event.target.closest("[data-id]");
  if (!element) return;
  rove(element);
  element.focus({ preventScroll: true });
  const id = element.dataset.id;
  const ids = idsOf(grid);
  if (event.shiftKey && anchor && ids.includes(anchor)) {
    const [from, to] = [ids.indexOf(anchor), ids.indexOf(id)].sort((a, b) => a - b);
    return select(ids.slice(from, to + 1), true);
  }
  anchor = id;
  select([id], !selection.has(id));
});
grid.addEventListener("focusin", (event) => rove(event.target.closest("[data-id]")));
grid.addEventListener("keydown", (event) => {
  const element = event.target.closest("[data-id]");
  if (!element || event.altKey) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "a") {
    event.preventDefault();
    return select(idsOf(grid), true);
  }
  if (event.key === "Escape") return select([...selection], false);
  if (event.key === " ") {
    event.preventDefault();
    anchor = element.dataset.id;
    return select([anchor], !selection.has(anchor));
  }
  const all = [...grid.children].filter((child) => child.dataset.id);
  const at = all.indexOf(element);
  const row = all.filter((other) => other.offsetTop === all[0].offsetTop).length;
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -row, ArrowDown: row, Home: -at, End: all.length - 1 - at }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const other = all[Math.max(0, Math.min(all.length - 1, at + by))];
  if (event.shiftKey) select([element.dataset.id, other.dataset.id], true);
  other.focus();
});
addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.shiftKey || event.target.matches("input, select")) return;
  event.preventDefault();
  undo();
});

const rearranging = sortable(grid, {
  selected: () => [...selection],
  move,
  isClosed: () => !session || forestalled.length > 0 || isWhole,
  held: (is) => {
    isHeld = is;
    if (!is) setTimeout(catchUp, 0);
  },
});

// MARK: - Rendering

function changeText({ subject, kind, count }) {
  const who = subject ?? text("somebody");
  return text({ move: "move", set: "set", bake: "bakeDone", undo: "undone" }[kind], who, count);
}

/** The change that an undo takes back: the last that stands. */
const lastStanding = () => changes.find((change) => change.kind !== "undo" && change.undone_by === null);

function renderSelection() {
  find("count").textContent = [text("products", shelf.product_count, shelf.product_count), text("chosen", selection.size)].join(" · ");
  for (const id of ["first", "last"]) find(id).disabled = !selection.size || !session;
}

function renderChanges() {
  const last = lastStanding();
  find("undo").disabled = !last || !session;
  find("undo").title = last ? changeText(last) : "";
  const time = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "short", timeStyle: "short" });
  const rows = changes.map((change) => make("li", { class: change.undone_by === null ? null : "undone" }, changeText(change),
    change.undone_by === null ? null : make("i", {}, ` ${text("wasUndone")}`), make("time", { datetime: change.at }, time.format(new Date(change.at)))));
  find("changes").replaceChildren(...(rows.length ? rows : [make("li", {}, text("noHistory"))]));
}

function render() {
  translate();
  find("sign-in-hint").hidden = session !== null;
  if (!shelf) return;
  document.title = `${shelf.title} · ${text("merchandise")}`;
  find("title").textContent = shelf.title;
  state.textContent = grid.childElementCount ? "" : text("emptyShelf");
  find("bake").disabled = !session;
  find("bake-sort").replaceChildren(...shelf.sort_options.filter((option) => option.sort !== "position").map((option) => make("option", { value: option.sort }, option.title)));
  renderSelection();
  renderChanges();
}

// MARK: - Beginning

const chosen = () => idsOf(grid).filter((id) => selection.has(id));
find("first").addEventListener("click", () => rearranging.move(chosen(), "first"));
find("last").addEventListener("click", () => rearranging.move(chosen(), "last"));
find("undo").addEventListener("click", undo);
find("again").addEventListener("click", () => settleConflict(true));
find("let-go").addEventListener("click", () => settleConflict(false));
find("history").addEventListener("click", () => find("history-sheet").showModal());
find("bake").addEventListener("click", () => find("bake-sheet").showModal());
find("bake-close").addEventListener("click", () => find("bake-sheet").close());
find("bake-form").addEventListener("submit", () => isOpen() && whole("/order", "PUT", { from_sort: find("bake-sort").value }));
onLanguage(open);
onEndNear(more);
addEventListener("popstate", () => {
  const parts = new URLSearchParams(location.search);
  Object.assign(view, { store: parts.get("store"), shelf: parts.get("shelf") });
  open();
});
translate();
open();
