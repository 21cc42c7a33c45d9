/** The merchandiser's page: a shelf in its manual order, which several users can edit at the same time. */
import { animate } from "/aisle.js";
import { showAlert, announce, attempt, isRetryable, problemText, clearOfflineAlert, generation, reportStream } from "/alerts.js";
import { appendPage, card, isEndNear, onEndNear, redrawCards, refreshCards } from "/cards.js";
import { neighborID, childOf, find, idsOf, make } from "/dom.js";
import "/header.js";
import { language, onLanguage, text, translate } from "/language.js";
import { navigate, onNavigate } from "/navigation.js";
import { aisle, parameters, signIn, withUser } from "/session.js";
import { clearShelf, drawShelves, readStores, resolveView } from "/shelves.js";
import { sortable } from "/sortable.js";

const [grid, state] = [find("products"), find("state")];
const view = { store: parameters.get("store"), shelf: parameters.get("shelf") };
const pageSize = 100;
/** The maximum number of shown products that are updated by a diff; beyond it, the page is reloaded. */
const diffLimit = 10_000;
/** The state of the page. */
const model = {
  stores: [],
  shelf: null,
  /** The signed-in session; null if signed out, undefined until the server has responded. */
  session: undefined,
  /** Whether the session may edit the order. */
  isAllowed: false,
  /** The cursor of the next page; null at the end, undefined if a move crossed it. */
  next: null,
  isLoading: false,
  closeStream: () => {},
  /** The shown order version and shelf version, the latest announced version, and whether a refresh is due anyway. */
  orderVersion: 0,
  shelfVersion: 0,
  latest: 0,
  needsRefresh: false,
  /** Moves that are shown but not yet saved, and the promise that sends them. */
  queue: [],
  sending: null,
  /** The edits that the server rejected because the order had changed: moves, or one edit of the whole order. */
  rejected: { moves: [], whole: null },
  isDragging: false,
  isRefreshing: false,
  /** Whether an edit of the whole order is running, and its promise. */
  isEditingWholeOrder: false,
  changing: null,
  changes: [],
  anchor: null,
};

const path = (rest = "") => `/v1/stores/${view.store}/shelves/${view.shelf}${rest}`;
const elementOf = (id) => childOf(grid, id);
const isRejected = () => model.rejected.moves.length > 0 || model.rejected.whole !== null;
const condition = () => ({ "if-match": `"order-${model.orderVersion}"`, "idempotency-key": crypto.randomUUID() });
const pause = (time) => new Promise((done) => setTimeout(done, time));

// MARK: - Reading

async function open() {
  const own = ++generation.now;
  model.closeStream();
  [model.shelf, model.rejected, model.isEditingWholeOrder, model.isLoading, model.isRefreshing, model.latest, model.needsRefresh] = [null, { moves: [], whole: null }, false, false, false, 0, false];
  find("conflict").hidden = true;
  rearranging.cancel();
  state.textContent = text("loading");
  let unknown = null;
  await attempt(async () => {
    if (model.session === undefined) {
      model.session = await signIn("catalog:write");
      model.isAllowed = model.session !== null;
    }
    if (!model.stores.length) model.stores = await readStores();
    if (own !== generation.now) return;
    unknown = resolveView(view, model.stores) ?? unknown;
    if (unknown) navigate(withUser("/merchandise", { store: view.store, shelf: view.shelf }), { replaces: true });
    drawShelves(view, model.stores, (store, shelf) => leave({ store, shelf }));
    if (!view.shelf) return (state.textContent = text("noStores"));
    // Read the version first: the products are then at least as new.
    const found = await aisle.shelf(view.store, view.shelf);
    const page = await aisle.page(view.store, view.shelf, { sort: "position", limit: pageSize });
    if (own !== generation.now) return;
    model.shelf = found;
    [model.orderVersion, model.shelfVersion, model.next] = [found.order_version, page.version, page.page.next_cursor];
    selection.clear();
    grid.replaceChildren(...page.products.map(option));
    makeTabStop(grid.firstElementChild);
    await readChanges(own);
    if (own !== generation.now) return;
    render();
    follow(own);
  });
  if (own !== generation.now) return;
  if (state.textContent === text("loading")) state.textContent = "";
  if (unknown) showAlert(text("unknownPlace", unknown));
  if (model.shelf && model.next && isEndNear()) more();
}

/** Goes to another shelf after the pending moves are saved or discarded. */
async function leave(place, { isBack = false } = {}) {
  await Promise.all([model.sending, model.changing]);
  if (isRejected()) {
    if (isBack) navigate(withUser("/merchandise", { store: view.store, shelf: view.shelf }));
    return find(find("again").disabled ? "discard" : "again").focus();
  }
  Object.assign(view, place);
  if (!isBack) navigate(withUser("/merchandise", place));
  clearShelf(view, model.stores);
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
  if (model.isLoading || model.isRefreshing || model.next === null || !model.shelf || model.queue.length || model.isDragging) return;
  model.isLoading = true;
  const own = generation.now;
  const read = await attempt(() => appendPage(grid, view, { sort: "position" }, model.next, option));
  if (own !== generation.now) return;
  model.isLoading = false;
  if (read) model.next = read.next;
  if (!grid.querySelector(":scope > [tabindex='0']")) makeTabStop(grid.firstElementChild);
  if (model.needsRefresh || model.latest > model.shelfVersion) return catchUp();
  // Do not repeat a rejected request.
  if (read !== undefined && model.next !== null && isEndNear()) more();
}

async function readChanges(own) {
  if (!model.isAllowed) return;
  try {
    const { value } = await aisle.send(path("/order/changes"));
    if (own !== generation.now) return;
    model.changes = value.changes;
    renderChanges();
  } catch (error) {
    // A token without access to changes cannot edit the order either.
    if (error.status !== 403 && error.status !== 401) throw error;
    model.isAllowed = false;
  }
}

/** Shows other users' changes as soon as no local change is pending. */
async function catchUp() {
  if (!model.shelf || model.isDragging || model.isEditingWholeOrder || model.isRefreshing || model.isLoading || model.queue.length) return;
  if (!model.needsRefresh && model.latest <= model.shelfVersion) return void (model.next !== null && isEndNear() && more());
  const own = generation.now;
  model.isRefreshing = true;
  const isShown = await attempt(async () => {
    const isShown = await refresh(own);
    if (isShown) await readChanges(own);
    return isShown;
  });
  if (own !== generation.now) return;
  model.isRefreshing = false;
  // Retry after local moves or further changes.
  if (isShown === false || model.latest > model.shelfVersion) setTimeout(catchUp, 200);
  else if (isShown) catchUp();
}

/** Updates the shown products to the current order. @returns {Promise<boolean>} whether it is shown */
async function refresh(own) {
  const found = await aisle.shelf(view.store, view.shelf);
  const ids = idsOf(grid);
  if (own !== generation.now || ids.length > diffLimit) return ids.length > diffLimit ? void open() : false;
  // At the end of the shelf, ask for a few more.
  const limit = Math.min(model.next === null ? ids.length + 20 : Math.max(ids.length, 1), diffLimit);
  const diff = await aisle.diffFrom(view.store, view.shelf, ids, { sort: "position", limit });
  // Local moves come first.
  if (own !== generation.now || model.isDragging || model.queue.length || idsOf(grid).join("/") !== ids.join("/")) return false;
  [model.orderVersion, model.shelfVersion, model.needsRefresh] = [Math.max(model.orderVersion, found.order_version), Math.max(model.shelfVersion, diff.to_version), false];
  const isCrossed = model.next === null ? diff.new_count === limit : diff.deletes.length + diff.inserts.length > 0;
  if (isCrossed) model.next = undefined;
  model.shelf = { ...model.shelf, product_count: found.product_count };
  const shown = show(diff);
  if (isRejected()) {
    mark([...diff.moves, ...diff.inserts].map((part) => part.id));
    find("again").disabled = false;
    find("again").focus({ preventScroll: true });
  }
  select(diff.deletes.map((part) => part.id), false);
  await shown;
  return own === generation.now;
}

async function show(diff) {
  const focused = document.activeElement?.dataset?.id;
  const beside = focused && neighborID(document.activeElement);
  const ended = animate(grid, diff, (insert) => option(insert.product));
  if (focused) (elementOf(focused) ?? elementOf(beside) ?? find("title")).focus({ preventScroll: true });
  if (!grid.querySelector(":scope > [tabindex='0']")) makeTabStop(grid.firstElementChild);
  document.documentElement.dataset.script = (await ended).script.toFixed(1);
}

function follow(own) {
  const event = ({ name, id, data }) => {
    if (own !== generation.now) return;
    if (name === "gone") return showAlert(text("closedShelf"));
    if (name !== "order") return;
    model.latest = Number(id);
    const changed = data.mode === "order" ? idsOf(grid).slice(0, pageSize) : data.changed.map((change) => change.id);
    attempt(() => refreshCards(grid, view.store, changed, option));
    catchUp();
  };
  model.closeStream = aisle.follow(path("/events"), { query: { sort: "position", limit: pageSize }, since: String(model.shelfVersion), event, state: (isOpen) => own === generation.now && reportStream(isOpen) });
}

// MARK: - Moving

/** Returns the ids in their order after a move. */
function idsAfterMove(all, ids, place) {
  const moving = new Set(ids);
  const left = all.filter((id) => !moving.has(id));
  const at = place.place === "first" ? 0 : place.place === "last" ? left.length : place.before ? left.indexOf(place.before) : left.indexOf(place.after) + 1;
  return [...left.slice(0, at), ...ids, ...left.slice(at)];
}

function move(ids, place) {
  const all = idsOf(grid);
  if (!model.shelf || !ids.every((id) => all.includes(id))) return;
  const order = idsAfterMove(all, ids, place);
  // The last position is also after the products that are not loaded.
  const isPastLoaded = place.place === "last" && model.next !== null;
  if (!isPastLoaded && order.join("/") === all.join("/")) return;
  const at = isPastLoaded ? model.shelf.product_count - ids.length + 1 : order.indexOf(ids[0]) + 1;
  announce(ids.length > 1 ? text("placeMany", ids.length, at, model.shelf.product_count) : text("place", elementOf(ids[0]).product.name, at, model.shelf.product_count));
  if (isPastLoaded) {
    model.next = undefined;
    select(ids, false);
  }
  show({ mode: "order", ids: isPastLoaded ? order.slice(0, -ids.length) : order });
  if (!isPastLoaded) elementOf(ids[0])?.scrollIntoView({ block: "nearest" });
  model.queue.push({ ids, ...place });
  start();
}

/** Sends pending moves unless they are already being sent. */
function start() {
  model.sending ??= flush().finally(() => {
    model.sending = null;
    if (model.queue.length) start();
    else catchUp();
  });
}

/** Sends pending moves, one request at a time, and retries without limit. Moves made in the meantime go with the next. */
async function flush() {
  while (model.queue.length) {
    const own = generation.now;
    const [moves, headers] = [model.queue.slice(), condition()];
    for (let wait = 1500; ; wait = Math.min(wait * 2, 15_000)) {
      try {
        // A repeated request takes effect once.
        const { value } = await aisle.send(path("/order/moves"), { method: "POST", body: { moves }, headers });
        // A change in between has not been shown.
        model.needsRefresh ||= value.version !== model.shelfVersion + 1;
        [model.orderVersion, model.shelfVersion] = [value.order_version, value.version];
        model.queue = model.queue.slice(moves.length);
        clearOfflineAlert();
        break;
      } catch (error) {
        if (isRetryable(error)) {
          showAlert(text(error.status ? "busy" : "waiting"));
          await pause(wait);
          continue;
        }
        const kept = model.queue;
        [model.queue, model.needsRefresh] = [[], true];
        // Revert rejected moves.
        if (error.status === 412) conflict(own, { moves: kept });
        else showAlert(problemText(error));
        return;
      }
    }
    if (!model.queue.length) await attempt(() => readChanges(own));
  }
}

/** Handles a failed precondition: shows the other user's change and keeps the local one. */
async function conflict(own, { moves = [], whole = null }) {
  model.rejected = { moves: [...model.rejected.moves, ...moves], whole: whole ?? model.rejected.whole };
  model.needsRefresh = true;
  find("conflict-text").textContent = text("conflict", "");
  find("conflict").hidden = false;
  // The other change must be visible first.
  find("again").disabled = true;
  render();
  await attempt(async () => {
    await readChanges(own);
    if (own !== generation.now || !isRejected()) return;
    find("conflict-text").textContent = text("conflict", model.changes.length ? changeText(model.changes[0]) : "");
    announce(find("conflict-text").textContent);
  });
  catchUp();
}

/** Marks products that other users moved. */
function mark(ids) {
  const mine = new Set(model.rejected.moves.flatMap((move) => move.ids));
  for (const id of ids) if (!mine.has(id)) elementOf(id)?.classList.add("theirs");
}

function resolveConflict(reapplies) {
  const { moves, whole } = model.rejected;
  model.rejected = { moves: [], whole: null };
  find("conflict").hidden = true;
  for (const element of grid.querySelectorAll(".theirs")) element.classList.remove("theirs");
  render();
  (elementOf(moves[0]?.ids[0]) ?? find("title")).focus({ preventScroll: true });
  if (!reapplies) return catchUp();
  const present = new Set(idsOf(grid));
  let lost = 0;
  for (const { ids, ...place } of moves) {
    // Removed products can be neither moved nor used as anchors.
    const left = ids.filter((id) => present.has(id));
    const anchor = place.after ?? place.before;
    lost += ids.length - left.length;
    if (!anchor || present.has(anchor)) move(left, place);
    else lost += left.length;
  }
  if (lost) showAlert(text("lost", lost));
  if (whole) editWholeOrder(...whole);
}

/** Edits the whole order: undo, or a snapshot of a sort. */
function editWholeOrder(rest, method, body) {
  if (!model.isAllowed || !model.shelf || model.isEditingWholeOrder || isRejected()) return;
  model.isEditingWholeOrder = true;
  const [own, target] = [generation.now, path(rest)];
  model.changing = (async () => {
    await model.sending;
    if (isRejected()) return void (model.isEditingWholeOrder = false);
    // A repeated request takes effect once.
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
    model.isEditingWholeOrder = false;
    model.needsRefresh = true;
    if (isStale) return void conflict(own, { whole: [rest, method, body] });
    if (value) model.orderVersion = value.order_version;
    await catchUp();
    if (value && own === generation.now && model.changes.length) announce(changeText(model.changes[0]));
  })().finally(() => (model.changing = null));
}

const undo = () => editWholeOrder("/order/undo", "POST", {});

// MARK: - Selection

const selection = new Set();

function select(ids, isOn) {
  for (const id of ids) {
    selection[isOn ? "add" : "delete"](id);
    elementOf(id)?.setAttribute("aria-selected", String(isOn));
  }
  renderSelection();
}

/** Makes a card the only one in the tab order (roving tabindex). */
function makeTabStop(element) {
  if (!element) return;
  grid.querySelector(":scope > [tabindex='0']")?.setAttribute("tabindex", "-1");
  element.setAttribute("tabindex", "0");
}

grid.addEventListener("click", (event) => {
  const element = event.target.closest("[data-id]");
  if (!element) return;
  makeTabStop(element);
  element.focus({ preventScroll: true });
  const id = element.dataset.id;
  const ids = idsOf(grid);
  if (event.shiftKey && model.anchor && ids.includes(model.anchor)) {
    const [from, to] = [ids.indexOf(model.anchor), ids.indexOf(id)].sort((a, b) => a - b);
    return select(ids.slice(from, to + 1), true);
  }
  model.anchor = id;
  select([id], !selection.has(id));
});
grid.addEventListener("focusin", (event) => makeTabStop(event.target.closest("[data-id]")));
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
    model.anchor = element.dataset.id;
    return select([model.anchor], !selection.has(model.anchor));
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
  isDisabled: () => !model.isAllowed || !model.shelf || isRejected() || model.isEditingWholeOrder,
  onDrag: (is) => {
    model.isDragging = is;
    if (!is) setTimeout(catchUp, 0);
  },
});

// MARK: - Rendering

const nameOf = (id) => elementOf(id)?.product.name ?? id;

function changeText({ subject, kind, count, ids }) {
  const what = count === 1 ? text("named", nameOf(ids[0])) : text("productCount", count);
  return text({ move: "move", set: "set", bake: "sortApplied", undo: "undone" }[kind], subject ?? text("someone"), what);
}

/** Returns the change that undo would revert: the latest one that is not undone. */
const lastUndoable = () => model.changes.find((change) => change.kind !== "undo" && change.undone_by === null);

function renderSelection() {
  find("count").textContent = [text("products", model.shelf.product_count, model.shelf.product_count), text("chosen", selection.size)].join(" · ");
  for (const id of ["first", "last"]) find(id).disabled = !selection.size || !model.isAllowed;
}

function renderChanges() {
  const last = lastUndoable();
  find("undo").disabled = !last || !model.isAllowed;
  find("undo").title = last ? changeText(last) : "";
  const placeOf = (after) => (after === null ? text("atFront") : text("behind", nameOf(after)));
  // A whole new order has no single places worth telling.
  // A server of the release before sends no places.
  const placesOf = ({ kind, count, moves = [] }) => (["move", "undo"].includes(kind) && moves.length
    ? make("ul", { class: "places" }, ...moves.map(({ id, from_after, to_after }) => make("li", {}, text("fromTo", nameOf(id), placeOf(from_after), placeOf(to_after)))),
      count > moves.length ? make("li", {}, "…") : null)
    : null);
  const time = new Intl.DateTimeFormat(language.locale, { dateStyle: "medium", timeStyle: "short" });
  const rows = model.changes.map((change) => make("li", { class: change.undone_by === null ? null : "undone" }, changeText(change),
    change.undone_by === null ? null : make("i", {}, ` ${text("wasUndone")}`), make("time", { datetime: change.at }, time.format(new Date(change.at))),
    placesOf(change)));
  find("changes").replaceChildren(...(rows.length ? rows : [make("li", {}, text("noHistory"))]));
}

function render() {
  translate();
  find("sign-in-hint").hidden = model.isAllowed;
  if (!model.shelf) return;
  document.title = `${model.shelf.title} · ${text("merchandise")}`;
  find("title").textContent = model.shelf.title;
  find("arrange").textContent = text(matchMedia("(pointer: coarse)").matches ? "arrangeByTouch" : "arrange");
  state.textContent = grid.childElementCount ? "" : text("emptyShelf");
  find("apply-sort").disabled = !model.isAllowed;
  find("applied-sort").replaceChildren(...model.shelf.sort_options.filter((option) => option.sort !== "position").map((option) => make("option", { value: option.sort }, option.title)));
  renderSelection();
  renderChanges();
}

// MARK: - Setup

const chosen = () => idsOf(grid).filter((id) => selection.has(id));
find("first").addEventListener("click", () => rearranging.move(chosen(), "first"));
find("last").addEventListener("click", () => rearranging.move(chosen(), "last"));
find("undo").addEventListener("click", undo);
find("again").addEventListener("click", () => resolveConflict(true));
find("discard").addEventListener("click", () => resolveConflict(false));
find("history").addEventListener("click", () => find("history-sheet").showModal());
find("apply-sort").addEventListener("click", () => find("apply-sort-sheet").showModal());
find("apply-sort-close").addEventListener("click", () => find("apply-sort-sheet").close());
find("apply-sort-form").addEventListener("submit", () => editWholeOrder("/order", "PUT", { from_sort: find("applied-sort").value }));
onLanguage(async () => {
  redrawCards(grid, option);
  if (!model.shelf) return;
  render();
  const own = generation.now;
  const found = await attempt(() => aisle.shelf(view.store, view.shelf));
  if (!found || own !== generation.now) return;
  model.shelf = found;
  render();
});
onEndNear(more);
onNavigate((parts) => leave({ store: parts.get("store"), shelf: parts.get("shelf") }, { isBack: true }));
// Unsent changes would be lost.
addEventListener("beforeunload", (event) => (model.queue.length || isRejected()) && event.preventDefault());
translate();
open();
