/** The merchandiser's page: a shelf in its manual order, rearranged by hand, beside others who do the same. */
import { animate } from "/aisle.js";
import {
  aisle, alarm, announce, appendPage, attempt, besideOf, card, childOf, drawShelves, find, idsOf, isAway, isEndNear, make, navigate, onEndNear, onLanguage, onNavigate, parameters,
  problemText, readStores, redrawCards, refreshCards, relieve, settle, signIn, tellWire, text, translate, turn, withUser,
} from "/ui.js";
import { sortable } from "/sortable.js";

const [grid, state] = [find("products"), find("state")];
const view = { store: parameters.get("store"), shelf: parameters.get("shelf") };
const pageSize = 100;
/** As many are brought into the order of now; more are read anew. */
const correctable = 10_000;
let stores = [];
let shelf = null;
let session;
/** Whether the session may arrange the shelf. */
let isAllowed = false;
/** The cursor behind what is shown; null at the end, undefined where something moved across it. */
let next = null;
let isLoading = false;
let ending = () => {};

/** The order version that is shown, and the shelf's; the latest that was told of; whether to look in any case. */
let [orderVersion, shelfVersion, latest, mustLook] = [0, 0, 0, false];
/** Moves that are shown, and not yet made; and what sends them. */
let queue = [];
let sending = null;
/** What another's change forestalled: moves, or a change of the order as a whole. */
let forestalled = { moves: [], whole: null };
let isHeld = false;
let isLooking = false;
/** Whether the order as a whole is being changed, and until when. */
let isWhole = false;
let changing = null;
let changes = [];

const path = (rest = "") => `/v1/stores/${view.store}/shelves/${view.shelf}${rest}`;
const elementOf = (id) => childOf(grid, id);
const isForestalled = () => forestalled.moves.length > 0 || forestalled.whole !== null;
const condition = () => ({ "if-match": `"order-${orderVersion}"`, "idempotency-key": crypto.randomUUID() });
const pause = (time) => new Promise((done) => setTimeout(done, time));

// MARK: - Reading

async function open() {
  const own = ++turn.now;
  ending();
  [shelf, forestalled, isWhole, isLoading, isLooking, latest, mustLook] = [null, { moves: [], whole: null }, false, false, false, 0, false];
  find("conflict").hidden = true;
  rearranging.cancel();
  state.textContent = text("loading");
  await attempt(async () => {
    if (session === undefined) {
      session = await signIn("catalog:write");
      isAllowed = session !== null;
    }
    if (!stores.length) stores = await readStores();
    if (own !== turn.now) return;
    settle(view, stores);
    drawShelves(view, stores, (store, shelf) => leave({ store, shelf }));
    if (!view.shelf) return (state.textContent = text("noStores"));
    // The version first: what is shown is then as new, or newer.
    const found = await aisle.shelf(view.store, view.shelf);
    const page = await aisle.page(view.store, view.shelf, { sort: "position", limit: pageSize });
    if (own !== turn.now) return;
    shelf = found;
    [orderVersion, shelfVersion, next] = [found.order_version, page.version, page.page.next_cursor];
    selection.clear();
    grid.replaceChildren(...page.products.map(option));
    rove(grid.firstElementChild);
    await readChanges(own);
    if (own !== turn.now) return;
    render();
    follow(own);
  });
  if (own !== turn.now) return;
  if (state.textContent === text("loading")) state.textContent = "";
  if (shelf && next && isEndNear()) more();
}

/** Goes to another shelf, once what was moved on this one is made, or let go. */
async function leave(place, { isBack = false } = {}) {
  await Promise.all([sending, changing]);
  if (isForestalled()) {
    if (isBack) navigate(withUser("/merchandise", { store: view.store, shelf: view.shelf }));
    return find(find("again").disabled ? "let-go" : "again").focus();
  }
  Object.assign(view, place);
  if (!isBack) navigate(withUser("/merchandise", place));
  await open();
  find("title").focus({ preventScroll: true });
}

function option(product) {
  const element = card(product);
  const parts = { role: "option", tabindex: "-1", "aria-selected": String(selection.has(product.sku)) };
  for (const [name, value] of Object.entries(parts)) element.setAttribute(name, value);
  return element;
}

async function more() {
  if (isLoading || isLooking || next === null || !shelf || queue.length || isHeld) return;
  isLoading = true;
  const own = turn.now;
  const read = await attempt(() => appendPage(grid, view, { sort: "position" }, next, option));
  if (own !== turn.now) return;
  isLoading = false;
  if (read) next = read.next;
  if (!grid.querySelector(":scope > [tabindex='0']")) rove(grid.firstElementChild);
  if (mustLook || latest > shelfVersion) return catchUp();
  // What was refused is not asked for again.
  if (read !== undefined && next !== null && isEndNear()) more();
}

async function readChanges(own) {
  if (!isAllowed) return;
  try {
    const { value } = await aisle.send(path("/order/changes"));
    if (own !== turn.now) return;
    changes = value.changes;
    renderChanges();
  } catch (error) {
    // A token that may not see them may not arrange, either.
    if (error.status !== 403 && error.status !== 401) throw error;
    isAllowed = false;
  }
}

/** Shows what others changed, as soon as nothing of one's own is under way. */
async function catchUp() {
  if (!shelf || isHeld || isWhole || isLooking || isLoading || queue.length) return;
  if (!mustLook && latest <= shelfVersion) return void (next !== null && isEndNear() && more());
  const own = turn.now;
  isLooking = true;
  const isShown = await attempt(async () => {
    const isShown = await look(own);
    if (isShown) await readChanges(own);
    return isShown;
  });
  if (own !== turn.now) return;
  isLooking = false;
  // Where something was moved or changed meanwhile, then after it.
  if (isShown === false || latest > shelfVersion) setTimeout(catchUp, 200);
  else if (isShown) catchUp();
}

/** Shows the order as it is now, brought there from what is shown. @returns {Promise<boolean>} whether it is shown */
async function look(own) {
  const found = await aisle.shelf(view.store, view.shelf);
  const ids = idsOf(grid);
  if (own !== turn.now || ids.length > correctable) return ids.length > correctable ? void open() : false;
  // Somewhat more where that is all there is.
  const limit = Math.min(next === null ? ids.length + 20 : Math.max(ids.length, 1), correctable);
  const diff = await aisle.diffFrom(view.store, view.shelf, ids, { sort: "position", limit });
  // What was moved here meanwhile comes first.
  if (own !== turn.now || isHeld || queue.length || idsOf(grid).join("/") !== ids.join("/")) return false;
  [orderVersion, shelfVersion, mustLook] = [Math.max(orderVersion, found.order_version), Math.max(shelfVersion, diff.to_version), false];
  const isCrossed = next === null ? diff.new_count === limit : diff.deletes.length + diff.inserts.length > 0;
  if (isCrossed) next = undefined;
  shelf = { ...shelf, product_count: found.product_count };
  tellWire(diff, diff.bytes);
  const shown = show(diff);
  if (isForestalled()) {
    mark([...diff.moves, ...diff.inserts].map((part) => part.id));
    find("again").disabled = false;
    find("again").focus({ preventScroll: true });
  }
  select(diff.deletes.map((part) => part.id), false);
  await shown;
  return own === turn.now;
}

async function show(diff) {
  const focused = document.activeElement?.dataset?.id;
  const beside = focused && besideOf(document.activeElement);
  const ended = animate(grid, diff, (insert) => option(insert.product));
  if (focused) (elementOf(focused) ?? elementOf(beside) ?? find("title")).focus({ preventScroll: true });
  if (!grid.querySelector(":scope > [tabindex='0']")) rove(grid.firstElementChild);
  document.documentElement.dataset.script = (await ended).script.toFixed(1);
}

function follow(own) {
  const event = ({ name, id, data }) => {
    if (own !== turn.now) return;
    if (name === "gone") return alarm(text("closedShelf"));
    if (name !== "order") return;
    latest = Number(id);
    const changed = data.mode === "order" ? idsOf(grid).slice(0, pageSize) : data.changed.map((change) => change.id);
    attempt(() => refreshCards(grid, view.store, changed, option));
    catchUp();
  };
  ending = aisle.follow(path("/events"), { query: { sort: "position", limit: pageSize }, since: String(shelfVersion), event });
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
  if (!shelf || !ids.every((id) => all.includes(id))) return;
  const order = moved(all, ids, place);
  // Behind the last is behind what is not shown yet, too.
  const isBeyond = place.place === "last" && next !== null;
  if (!isBeyond && order.join("/") === all.join("/")) return;
  const at = isBeyond ? shelf.product_count - ids.length + 1 : order.indexOf(ids[0]) + 1;
  announce(ids.length > 1 ? text("placeMany", ids.length, at, shelf.product_count) : text("place", elementOf(ids[0]).product.name, at, shelf.product_count));
  if (isBeyond) {
    next = undefined;
    select(ids, false);
  }
  show({ mode: "order", ids: isBeyond ? order.slice(0, -ids.length) : order });
  if (!isBeyond) elementOf(ids[0])?.scrollIntoView({ block: "nearest" });
  queue.push({ ids, ...place });
  start();
}

/** Sends what waits, where that is not under way. */
function start() {
  sending ??= flush().finally(() => {
    sending = null;
    if (queue.length) start();
    else catchUp();
  });
}

/** Sends the moves that wait, one request after another, however long it takes: what comes in meanwhile goes with the next. */
async function flush() {
  while (queue.length) {
    const own = turn.now;
    const [moves, headers] = [queue.slice(), condition()];
    for (let wait = 1500; ; wait = Math.min(wait * 2, 15_000)) {
      try {
        // A request that is repeated is made once.
        const { value, bytes } = await aisle.send(path("/order/moves"), { method: "POST", body: { moves }, headers });
        // What came between was not shown.
        mustLook ||= value.version !== shelfVersion + 1;
        [orderVersion, shelfVersion] = [value.order_version, value.version];
        queue = queue.slice(moves.length);
        relieve();
        tellWire({ ...value.diff, new_count: shelf.product_count }, bytes);
        break;
      } catch (error) {
        if (isAway(error)) {
          alarm(text("waiting"));
          await pause(wait);
          continue;
        }
        const kept = queue;
        [queue, mustLook] = [[], true];
        // What cannot be made is not shown, either.
        if (error.status === 412) conflict(own, { moves: kept });
        else alarm(problemText(error));
        return;
      }
    }
    if (!queue.length) await attempt(() => readChanges(own));
  }
}

/** Another was faster: theirs is shown, ours is kept. */
async function conflict(own, { moves = [], whole = null }) {
  forestalled = { moves: [...forestalled.moves, ...moves], whole: whole ?? forestalled.whole };
  mustLook = true;
  find("conflict-text").textContent = text("conflict", "");
  find("conflict").hidden = false;
  // First one sees theirs.
  find("again").disabled = true;
  render();
  await attempt(async () => {
    await readChanges(own);
    if (own !== turn.now || !isForestalled()) return;
    find("conflict-text").textContent = text("conflict", changes.length ? changeText(changes[0]) : "");
    announce(find("conflict-text").textContent);
  });
  catchUp();
}

/** Marks what others moved. */
function mark(ids) {
  const mine = new Set(forestalled.moves.flatMap((move) => move.ids));
  for (const id of ids) if (!mine.has(id)) elementOf(id)?.classList.add("theirs");
}

function settleConflict(isAgain) {
  const { moves, whole } = forestalled;
  forestalled = { moves: [], whole: null };
  find("conflict").hidden = true;
  for (const element of grid.querySelectorAll(".theirs")) element.classList.remove("theirs");
  render();
  (elementOf(moves[0]?.ids[0]) ?? find("title")).focus({ preventScroll: true });
  if (!isAgain) return catchUp();
  const there = new Set(idsOf(grid));
  let lost = 0;
  for (const { ids, ...place } of moves) {
    // What went meanwhile cannot be moved, nor moved to.
    const left = ids.filter((id) => there.has(id));
    const anchor = place.after ?? place.before;
    lost += ids.length - left.length;
    if (!anchor || there.has(anchor)) move(left, place);
    else lost += left.length;
  }
  if (lost) alarm(text("lost", lost));
  if (whole) changeWhole(...whole);
}

/** Changes the order as a whole: by undo, or by baking a sort. */
function changeWhole(rest, method, body) {
  if (!isAllowed || !shelf || isWhole || isForestalled()) return;
  isWhole = true;
  const [own, target] = [turn.now, path(rest)];
  changing = (async () => {
    await sending;
    if (isForestalled()) return void (isWhole = false);
    // A request that is repeated is made once.
    const headers = condition();
    let isStale = false;
    const value = await attempt(async () => {
      try {
        return (await aisle.send(target, { method, body, headers })).value;
      } catch (error) {
        isStale = error.status === 412;
        if (!isStale) throw error;
      }
    }, { isKept: true });
    isWhole = false;
    mustLook = true;
    if (isStale) return void conflict(own, { whole: [rest, method, body] });
    if (value) orderVersion = value.order_version;
    await catchUp();
    if (value && own === turn.now && changes.length) announce(changeText(changes[0]));
  })().finally(() => (changing = null));
}

const undo = () => changeWhole("/order/undo", "POST", {});

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
  isClosed: () => !isAllowed || !shelf || isForestalled() || isWhole,
  held: (is) => {
    isHeld = is;
    if (!is) setTimeout(catchUp, 0);
  },
});

// MARK: - Rendering

function changeText({ subject, kind, count, ids }) {
  const what = count === 1 ? `“${elementOf(ids[0])?.product.name ?? ids[0]}”` : count;
  return text({ move: "move", set: "set", bake: "bakeDone", undo: "undone" }[kind], subject ?? text("somebody"), what);
}

/** The change that an undo takes back: the last that stands. */
const lastStanding = () => changes.find((change) => change.kind !== "undo" && change.undone_by === null);

function renderSelection() {
  find("count").textContent = [text("products", shelf.product_count, shelf.product_count), text("chosen", selection.size)].join(" · ");
  for (const id of ["first", "last"]) find(id).disabled = !selection.size || !isAllowed;
}

function renderChanges() {
  const last = lastStanding();
  find("undo").disabled = !last || !isAllowed;
  find("undo").title = last ? changeText(last) : "";
  const time = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "short", timeStyle: "short" });
  const rows = changes.map((change) => make("li", { class: change.undone_by === null ? null : "undone" }, changeText(change),
    change.undone_by === null ? null : make("i", {}, ` ${text("wasUndone")}`), make("time", { datetime: change.at }, time.format(new Date(change.at)))));
  find("changes").replaceChildren(...(rows.length ? rows : [make("li", {}, text("noHistory"))]));
}

function render() {
  translate();
  find("sign-in-hint").hidden = isAllowed;
  if (!shelf) return;
  document.title = `${shelf.title} · ${text("merchandise")}`;
  find("title").textContent = shelf.title;
  find("arrange").textContent = text(matchMedia("(pointer: coarse)").matches ? "arrangeByTouch" : "arrange");
  state.textContent = grid.childElementCount ? "" : text("emptyShelf");
  find("bake").disabled = !isAllowed;
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
find("bake-form").addEventListener("submit", () => changeWhole("/order", "PUT", { from_sort: find("bake-sort").value }));
onLanguage(async () => {
  redrawCards(grid, option);
  if (!shelf) return;
  render();
  const own = turn.now;
  const found = await attempt(() => aisle.shelf(view.store, view.shelf));
  if (!found || own !== turn.now) return;
  shelf = found;
  render();
});
onEndNear(more);
onNavigate((parts) => leave({ store: parts.get("store"), shelf: parts.get("shelf") }, { isBack: true }));
// What is not sent yet would be lost.
addEventListener("beforeunload", (event) => (queue.length || isForestalled()) && event.preventDefault());
translate();
open();
