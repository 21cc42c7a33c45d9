/** The shop: the products of a shelf or of a store, with searches, sorts, filters and live updates. */
import { Settings, animate, appliesTo } from "/aisle.js";
import { showAlert, announce, attempt, problemText, pinMessage, generation, reportStream } from "/alerts.js";
import { appendPage, card, cardID, chosenMember, isEndNear, onEndNear, refreshCards, replaceProducts, showMember } from "/cards.js";
import { find, idsOf, make } from "/dom.js";
import { attributesOf, facetRequests, filterOf, isAttribute, sortOf, withSort, withoutRejected } from "/facets.js";
import { filters } from "/filters.js";
import { transferText } from "/format.js";
import "/header.js";
import { onLanguage, text, translate } from "/language.js";
import { queryOf } from "/matches.js";
import { navigate, onNavigate } from "/navigation.js";
import { clearFilters, drawChips, drawFacets } from "/rail.js";
import { searchBox, showQuery } from "/search.js";
import { aisle, device, parameters, signIn, storm, withUser } from "/session.js";
import { clearShelf, drawShelves, readStores, resolveView } from "/shelves.js";

const [grid, state] = [find("products"), find("state")];
const pageSize = 60;
/** The maximum number of shown products that a change of sort animates; later ones are reloaded on scroll. */
const animationLimit = 300;
/** The maximum numbers of products that are updated by a diff and that are covered by the event stream. */
const [diffLimit, subscriptionLimit] = [10_000, 100];
/** The facets of every shelf. */
const builtInFacets = ["brand", "tag", "in_stock", "price"];
/** The maximum number of products that are read again after a diff. */
const rereadLimit = 1000;
/** The number of suggestions. */
const suggestionLimit = 8;
/** The sort of a search without another sort. */
const relevance = "-relevance";

/**
 * The requested view. It is part of the URL, so links and the back button restore it.
 * - `isWhole`: whether it shows all shelves of the store; `shelf` is null then
 * - `query`: the searched text; null for none
 * - `collapse`: whether a product group is one card; null for what the shelf says
 * - `isSortRequested`: whether the URL named a sort, or the user chose one
 */
const view = { store: null, shelf: null, isWhole: false, query: null, sort: null, filter: {}, collapse: null, isSortRequested: false };
/** The state of the page. */
const model = {
  stores: [],
  session: null,
  /** The user's settings on this device; null if no user is signed in. */
  settings: null,
  /** The shown shelf (null while it loads), the sort of its cards, what restricts them, and its version. */
  shelf: null,
  shownSort: null,
  shown: { filter: {}, query: null, collapse: null },
  shownVersion: 0,
  /** The ids of cards from diffs, which have neither the matches of a search nor the members of a group. */
  partial: new Set(),
  /** The server's summary of the search; null without one. */
  search: null,
  /** The latest version announced by an event. */
  latest: 0,
  /** Whether products of several shelves are shown, which have no common version. */
  isUnion: false,
  /** Whether the ids of events are numbers of the server, and not versions of the shelf: those of several shelves, and of a search. */
  isNumbered: false,
  /** The cursor of the next page; null at the end, undefined if unknown. */
  next: null,
  isLoading: false,
  isUpdating: false,
  /** Whether prices and counts may be stale. */
  needsRecount: false,
  facets: null,
  /** The number of requests for counts, of which only the latest is shown. */
  countRequests: 0,
  /** The number of products covered by the event stream, and the function that closes it. */
  subscribedCount: 0,
  closeStream: () => {},
  closeSettingsStream: () => {},
  signingIn: null,
  /** Items are added one at a time, so that at most one list is created. */
  adding: Promise.resolve(),
};

// MARK: - Reading

const storeOf = () => model.stores.find((store) => store.key === view.store);

/** Whether the shelf combines product groups unless a request says otherwise. */
const collapsesByDefault = () => storeOf()?.shelves.find((shelf) => shelf.key === view.shelf)?.collapses_groups ?? false;

/** Whether a product group is one card. */
const isGrouped = () => view.collapse ?? collapsesByDefault();

/** Returns the parameters that choose what an order has: a filter, a search, and groups. */
const restriction = () => ({ ...view.filter, q: view.query, collapse: view.collapse });
/** Returns what restricts the requested cards. */
const requested = () => ({ filter: view.filter, query: view.query, collapse: isGrouped() });
/** Whether a part of what restricts the requested cards waits for the server. */
const isWaiting = (part) => JSON.stringify(requested()[part]) !== JSON.stringify(model.shown[part]);
/** Whether the cards are of the request, apart from their sort. */
const isShown = () => !Object.keys(model.shown).some(isWaiting);
/** Whether only pages have all of what cards show: the matches of a search, or the members of groups. */
const needsPages = () => view.query !== null || isGrouped();
const sortedQuery = () => ({ ...restriction(), sort: view.sort });
/** Returns the parameters of pages. */
const query = () => ({ ...sortedQuery(), members: isGrouped() || null });
const settingKey = () => `stores/${view.store}/shelves/${view.shelf}/sort`;
/** Whether sorts are remembered: those of a search, or of the whole store, are not. */
const isRemembering = () => !view.query && !view.isWhole;

/** Signs in, once for concurrent callers. */
const ensureSession = () => (model.signingIn ??= signIn().then((found) => {
  model.session = found;
  if (!model.session) return;
  model.settings = new Settings(aisle, { name: `aisle.settings.${[model.session.user, device].filter(Boolean).join(".")}` });
  model.settings.addEventListener("refused", ({ detail: { error } }) => showAlert(problemText(error)));
  model.settings.addEventListener("change", ({ detail: { key, value, isInitial } }) => {
    if (key !== settingKey() || !model.shelf || !isRemembering()) return;
    // A sort in the URL wins over one that was remembered before.
    if (isInitial && view.isSortRequested) return;
    if (value === undefined) {
      view.sort = null;
      open({ keepsCards: true });
    } else if (sortOf(value) !== view.sort) {
      resort(sortOf(value), { isRemote: true });
    }
  });
  followSettings();
}).catch((error) => {
  model.signingIn = null;
  throw error;
}));

function followSettings() {
  model.closeSettingsStream();
  model.closeSettingsStream = model.settings.follow();
}

/** Reads the shelf with its pickers. The whole store has those of its shelves, without the manual order. */
async function readPlace() {
  const store = storeOf();
  const found = await aisle.shelf(view.store, view.shelf ?? store.shelves[0].key);
  return view.isWhole ? { ...found, title: store.title, sort_options: found.sort_options.filter(({ sort }) => sort !== "position") } : found;
}

/**
 * Reads counts, and what the server says about the search.
 * @param {string[]} names the names of the facets, at least one
 */
async function readCounts(names) {
  const pages = await Promise.all(facetRequests(names).map((facets) => aisle.page(view.store, view.shelf, { ...sortedQuery(), limit: 1, facets })));
  // Requests may be answered at different times; the total is that of the first one.
  const [{ facets: { total }, q = null }] = pages;
  return { facets: { ...Object.assign({}, ...pages.map((page) => page.facets)), total }, search: q };
}

/** Returns the names of the attributes that a shelf's pickers offer. */
const attributeNames = (shelf) => attributesOf(shelf.filter_options, filters).map((attribute) => attribute.name);

/** Adds the counts of attributes, which are known only after the shelf was read. */
async function addAttributeFacets(own) {
  const request = ++model.countRequests;
  const { facets: { total, ...found } } = await readCounts(attributeNames(model.shelf));
  if (own !== generation.now || request !== model.countRequests) return;
  model.facets = { ...model.facets, ...found };
  render();
}

async function open({ keepsCards = false } = {}) {
  const own = ++generation.now;
  model.closeStream();
  model.isLoading = false;
  // The next page of the old cards would be another one.
  model.isUpdating = true;
  if (!keepsCards) showLoading();
  else state.textContent = "";
  let [refused, unknown] = [null, null];
  await attempt(async () => {
    await ensureSession();
    if (!model.stores.length) model.stores = await readStores();
    if (own !== generation.now) return;
    unknown = resolveView(view, model.stores) ?? unknown;
    if (unknown) updateURL({ replaces: true });
    drawShelves(view, model.stores, choose);
    if (!view.shelf && !(view.isWhole && storeOf()?.shelves.length)) return (state.textContent = text("noStores"));
    const [found, page] = await Promise.all([readPlace(), aisle.page(view.store, view.shelf, { ...query(), limit: pageSize, facets: builtInFacets.join(",") })]);
    if (own !== generation.now) return;
    model.shelf = found;
    model.shownSort = view.sort = page.sort.keys;
    // A remembered filter is shown like a chosen one.
    if (page.filter?.source === "user") view.filter = filterOf(page.filter.terms, filters);
    // Groups of a remembered view come without members, which are read later.
    const isCollapsed = page.collapse ?? false;
    model.needsRecount = isCollapsed && !isGrouped();
    // The shelf's default is not for every sort, so that later requests name what is shown.
    if (isCollapsed || collapsesByDefault()) view.collapse = isCollapsed;
    model.shown = requested();
    model.search = page.q ?? null;
    model.partial.clear();
    model.countRequests += 1;
    model.isUnion = page.version === undefined;
    // Numbers of the server take the place of versions.
    model.isNumbered = model.isUnion || page.q !== undefined;
    model.shownVersion = model.latest = model.isNumbered ? 0 : page.version;
    grid.replaceChildren(...page.products.map(cardOf));
    applyPage(page);
    render();
    model.isUpdating = false;
    follow(own);
  }, {
    isWaiting: renderPending,
    // Drop what the server rejects, and show the error. A text stays in the search box, where it can be corrected.
    isRefused: (error) => {
      const left = error.status === 400 ? withoutRejected(view, error.body.parameter, filters) : null;
      if (!left) return false;
      Object.assign(view, left);
      refused = error;
      updateURL({ replaces: true });
      return true;
    },
  });
  if (own === generation.now) model.isUpdating = false;
  if (own === generation.now && (refused || unknown)) showAlert(refused ? problemText(refused) : text("unknownPlace", unknown));
  if (own === generation.now && model.shelf && model.needsRecount) attempt(() => recount(own));
  else if (own === generation.now && model.shelf && attributeNames(model.shelf).length) attempt(() => addAttributeFacets(own));
  if (own === generation.now && model.shelf && model.next && isEndNear()) more();
  if (own === generation.now && state.textContent === text("loading")) state.textContent = "";
}

/** Shows the requested shelf without its products. */
function showLoading() {
  model.shelf = model.facets = model.search = null;
  state.textContent = text("loading");
  drawSearch();
  clearShelf(view, model.stores);
  clearFilters();
  for (const id of ["wire", "pending", "sort-title", "filter-count"]) find(id).textContent = "";
  find("show").textContent = text("close");
}

/** Says which choices wait for the server; nothing if all are shown. */
function renderPending() {
  if (!model.shelf) return;
  const title = view.sort !== model.shownSort && sortOptions(view.sort).find((option) => option.sort === view.sort)?.title;
  const waiting = [
    title && text("sortWaits", title), isWaiting("filter") && text("filterWaits", filterCount()), isWaiting("query") && text("searchWaits", view.query),
    isWaiting("collapse") && text("collapseWaits", isGrouped()),
  ];
  find("pending").textContent = waiting.filter(Boolean).join(" ");
}

/** The number of chosen filter values. */
const filterCount = () => Object.values(view.filter).flat().length;

function applyPage(page) {
  model.next = page.page.next_cursor;
  // The counts of attributes stay until they are read again.
  if (page.facets) model.facets = { ...model.facets, ...page.facets };
  renderCount();
}

function renderCount() {
  const isOwn = isRemembering() && model.settings && sortOf(model.settings.get(settingKey())) === model.shownSort;
  find("count").textContent = [text("products", total(), model.isUnion || isGrouped() ? total() : model.shelf.product_count), isOwn && text("yours")].filter(Boolean).join(" · ");
  const isEmpty = !grid.childElementCount && !model.next;
  state.textContent = !isEmpty ? "" : view.query ? text("noResults", filterCount() > 0) : text(model.isUnion || model.shelf.product_count ? "empty" : "emptyShelf");
}

const total = () => model.facets?.total ?? model.shelf.product_count;

async function more() {
  if (model.isLoading || model.isUpdating || model.next === null || !model.shelf || !isShown()) return;
  model.isLoading = true;
  const own = generation.now;
  state.textContent = text("more");
  const read = await attempt(() => appendPage(grid, view, query(), model.next, cardOf));
  if (own !== generation.now) return;
  model.isLoading = false;
  if (read) model.next = read.next;
  renderCount();
  drawGroupButton();
  if (read && model.subscribedCount < subscriptionLimit) follow(own);
  if (model.latest > model.shownVersion) return catchUp();
  // Load more while the end is near; do not repeat a rejected request.
  if (read !== undefined && model.next !== null && isEndNear()) more();
}

// MARK: - Sorting

/** Remembers a chosen sort. The rest of the remembered view is known when the settings have been read. */
async function remember(sort) {
  const [settings, key, options] = [model.settings, settingKey(), model.shelf?.filter_options];
  // A sort that is remembered already does not replace this choice.
  view.isSortRequested = true;
  await settings?.whenRead;
  // The choice may have been replaced since.
  if (settingKey() !== key || view.sort === sort) settings?.set(key, withSort(settings.get(key), sort, options, filters));
}

/** Changes the sort. @param {{isRemote?: boolean}} [how] `isRemote`: whether another device chose it */
async function resort(sort, { isRemote = false } = {}) {
  if (sort === view.sort) return;
  view.sort = sort;
  updateURL({ replaces: isRemote });
  if (!isRemote && isRemembering()) remember(sort);
  // A shelf that is still loading is loaded with the new sort.
  if (!model.shelf) return open();
  generation.now += 1;
  model.closeStream();
  model.isLoading = false;
  if (model.next !== null) model.next = undefined;
  render();
  await updateOrder({ isResort: true });
}

/** Returns the limit of a diff: all shown products, plus a few at the end of the shelf. */
const diffWindow = (ids, isAll = model.next === null) => Math.min(Math.max(isAll ? ids.length + 20 : ids.length, pageSize), diffLimit);

/**
 * Updates the shown products to the requested order, repeatedly if it changes in the meantime.
 * @param {{isResort?: boolean}} [how] `isResort`: whether the products were up to date and the sort has changed
 */
async function updateOrder({ isResort = false } = {}) {
  // The whole store has no diffs.
  if (view.isWhole) return open({ keepsCards: true });
  const own = generation.now;
  model.isUpdating = true;
  const isUpdated = await attempt(async () => {
    // Retry a diff that no longer applies to the shown products.
    for (let isKnown = isResort && isShown(); own === generation.now && !(await applyDiffOnce(own, { isResort, isKnown })); isKnown = false);
    if (own === generation.now && model.needsRecount) await recount(own);
    return own === generation.now;
  }, { isWaiting: renderPending });
  if (own !== generation.now) return;
  model.isUpdating = false;
  if (!isUpdated && view.sort !== model.shownSort) {
    // Revert a rejected sort.
    view.sort = model.shownSort;
    updateURL({ replaces: true });
    render();
  }
  renderCount();
  if (isResort || !isUpdated) follow(own);
  if (!isUpdated) return;
  // Changes since the counts were read.
  if (model.latest > model.shownVersion) setTimeout(catchUp, 200);
  else if (model.next !== null && isEndNear()) more();
}

/**
 * Applies one diff with animation.
 * @param {{isResort: boolean, isKnown: boolean}} how `isResort`: whether to scroll to the top; `isKnown`: whether the server can derive the shown products from their sort
 * @returns {Promise<boolean>} whether the diff applied to the shown products
 */
async function applyDiffOnce(own, { isResort, isKnown }) {
  const shown = () => idsOf(grid).slice(0, isResort ? animationLimit : diffLimit);
  const ids = shown();
  const isAll = model.next === null && ids.length === idsOf(grid).length;
  const [limit, start, latest] = [diffWindow(ids, isAll), performance.now(), model.latest];
  const diff = isKnown
    ? await aisle.diff(view.store, view.shelf, { ...restriction(), from_sort: model.shownSort, to_sort: view.sort, limit })
    : await aisle.diffFrom(view.store, view.shelf, ids, { sort: view.sort, limit, filter: restriction() });
  if (own !== generation.now || !appliesTo(diff, ids) || shown().join("/") !== ids.join("/")) return false;
  const beyond = [...grid.children].filter((child) => child.dataset.id).slice(ids.length);
  beyond.forEach((element) => element.remove());
  if (isResort) scrollTo({ top: Math.min(scrollY, grid.offsetTop - 80) });
  const isUnion = diff.to_version === null;
  const isNumbered = isUnion || diff.q !== undefined;
  const reached = !isNumbered ? diff.to_version : model.isNumbered ? latest : 0;
  // Numbers of the server and versions are of two kinds.
  if (isNumbered !== model.isNumbered) [model.shownVersion, model.latest] = [0, 0];
  [model.isUnion, model.isNumbered] = [isUnion, isNumbered];
  model.needsRecount ||= !isResort || reached > model.shownVersion || !isShown();
  [model.shownSort, model.shown, model.shownVersion] = [view.sort, requested(), Math.max(model.shownVersion, reached)];
  model.search = diff.q ?? null;
  model.next = diff.next_cursor;
  find("wire").value = transferText(text, diff, diff.bytes, Math.round(performance.now() - start));
  render();
  await animateDiff(diff);
  return true;
}

async function animateDiff(diff) {
  if (needsPages()) for (const { id } of diff.inserts ?? []) model.partial.add(id);
  model.needsRecount ||= model.partial.size > 0;
  const ended = await animate(grid, diff, (insert) => cardOf(insert.product));
  document.documentElement.dataset.script = ended.script.toFixed(1);
}

// MARK: - Live updates

/** Reloads the data that may have changed apart from the order: the cards covered by the event stream, and the counts. */
async function recount(own) {
  const request = ++model.countRequests;
  const read = async () => {
    const found = await readPlace();
    return { found, ...(await readCounts([...builtInFacets, ...attributeNames(found)])) };
  };
  const [{ found, facets, search }] = await Promise.all([read(), refresh(own, idsOf(grid).slice(0, subscriptionLimit))]);
  if (own !== generation.now || request !== model.countRequests) return;
  model.needsRecount = false;
  [model.shelf, model.facets, model.search] = [found, facets, search];
  renderCount();
  render();
}

/** Reads shown products again, and those whose cards came with a diff and are not complete. */
async function refresh(own, ids) {
  if (!needsPages()) return refreshCards(grid, view.store, ids, cardOf);
  const all = idsOf(grid);
  model.partial = new Set(all.filter((id) => model.partial.has(id)));
  const wanted = new Set([...ids, ...model.partial]);
  const end = Math.min(all.findLastIndex((id) => wanted.has(id)) + 1, rereadLimit);
  let [count, cursor] = [0, undefined];
  while (count < end && cursor !== null) {
    const page = await aisle.page(view.store, view.shelf, { ...query(), cursor, limit: subscriptionLimit });
    if (own !== generation.now) return;
    replaceProducts(grid, page.products, cardOf);
    for (const product of page.products) model.partial.delete(cardID(product));
    count += page.products.length;
    cursor = page.page.next_cursor;
  }
  const isIncomplete = idsOf(grid).slice(rereadLimit).some((id) => model.partial.has(id));
  if (!isIncomplete) return;
  // Cards that are too far down are read again when they are scrolled to.
  for (const element of [...grid.children].slice(rereadLimit)) element.remove();
  model.next = undefined;
  model.partial.clear();
}

/** Updates the shown products if a newer version was announced. */
function catchUp() {
  if (model.shelf && !model.isUpdating && !model.isLoading && model.latest > model.shownVersion && idsOf(grid).length <= diffLimit) updateOrder();
}

/** Reads the shelf again after the end of its stream. The shelf was deleted, or it lacks an attribute of the sort or filter. */
async function reopen(own) {
  const isThere = await attempt(() => aisle.shelf(view.store, view.shelf).then(() => true, (error) => {
    if (error.status !== 404) throw error;
    return false;
  }));
  if (own !== generation.now || isThere === undefined) return;
  if (isThere) open({ keepsCards: true });
  else showAlert(text("closedShelf"));
}

/** Subscribes to changes of the shelf. */
function follow(own) {
  model.closeStream();
  // The whole store has no stream.
  if (view.isWhole) return;
  model.subscribedCount = Math.min(subscriptionLimit, Math.max(diffWindow(idsOf(grid)), 1));
  const event = ({ name, id, data, bytes }) => {
    if (own !== generation.now) return;
    if (name === "gone") return reopen(own);
    const isNumbered = data.to_version === null;
    if (name !== "order" || (!isNumbered && Number(id) <= model.shownVersion)) return;
    const previous = model.latest;
    model.latest = Number(id);
    const ids = idsOf(grid);
    // If the event covers all shown products and nothing else is running, apply its diff.
    const isAll = data.mode !== "order" && ids.length === data.old_count && (isNumbered ? previous : data.from_version) === model.shownVersion && appliesTo(data, ids) && data.new_count < model.subscribedCount;
    if (!isAll || model.isUpdating || model.isLoading) return catchUp();
    model.shownVersion = model.latest;
    find("wire").value = transferText(text, data, bytes);
    model.search = data.q ?? null;
    drawSearch();
    if (data.moves.length + data.inserts.length + data.deletes.length) animateDiff(data);
    const isCounted = data.inserts.length + data.deletes.length > 0;
    attempt(() => (isCounted ? recount(own) : refresh(own, data.changed.map((change) => change.id))));
  };
  model.closeStream = aisle.follow(`/v1/stores/${view.store}/shelves/${view.shelf}/events`, { query: { ...sortedQuery(), limit: model.subscribedCount }, since: String(model.shownVersion), event, state: (isOpen) => own === generation.now && reportStream(isOpen) });
}

// MARK: - Lists

const cardOf = (item) => card(item, (product) => (model.session && !device ? make("button", { type: "button", class: "plus", "aria-label": text("addToList", product.name) }, "+") : null));

/** Returns the most recently modified list, or creates one. */
async function currentList(key) {
  const { value } = await aisle.send("/v1/me/lists", { query: { sort: "last-modified" } });
  const list = value.lists.find((list) => list.role !== "reader");
  return list ?? (await aisle.send("/v1/me/lists", { method: "POST", body: { name: text("firstList") }, headers: { "idempotency-key": key } })).value;
}

grid.addEventListener("click", (event) => {
  const member = event.target.closest(".member");
  if (member) showMember(member.closest("[data-id]"), member.value, cardOf);
  const element = event.target.closest(".plus")?.closest("[data-id]");
  // While another shelf loads, the cards are of the previous one.
  if (!element || !model.shelf) return;
  const [product, store, keys] = [chosenMember(element.product), view.store, [crypto.randomUUID(), crypto.randomUUID()]];
  model.adding = model.adding.then(() => attempt(async () => {
    const list = await currentList(keys[0]);
    const items = [{ store, sku: product.sku }];
    await aisle.send(`/v1/me/lists/${list.id}/items`, { method: "POST", body: { items }, headers: { "idempotency-key": keys[1] } });
    const message = text("added", product.name, list.name);
    find("wire").value = message;
    announce(message);
  }, { isKept: true }));
});

// MARK: - URL

function readURL(parts) {
  view.isWhole = parts.get("scope") === "store";
  [view.store, view.shelf, view.sort] = [parts.get("store"), view.isWhole ? null : parts.get("shelf"), parts.get("sort")];
  view.query = parts.get("q")?.trim() || null;
  view.collapse = { true: true, false: false }[parts.get("collapse")] ?? null;
  view.isSortRequested = parts.has("sort");
  view.filter = {};
  for (const name of new Set(parts.keys())) if (filters.includes(name) || isAttribute(name)) view.filter[name] = parts.getAll(name);
  showQuery(view.query);
}

function updateURL({ replaces = false } = {}) {
  const { store, shelf, sort, query: q, collapse } = view;
  const all = { store, ...(view.isWhole ? { scope: "store" } : { shelf }), q, sort, collapse };
  const parts = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== null));
  for (const [name, values] of Object.entries(view.filter)) for (const value of values) parts.append(name, value);
  for (const name of ["device", "user"]) if (parameters.get(name)) parts.set(name, parameters.get(name));
  navigate(`?${parts}`, { replaces: replaces || `?${parts}` === location.search });
}

/** Shows another view; those of its parts that are not given get their defaults. */
function show(parts) {
  const { store, shelf } = view;
  Object.assign(view, { shelf: null, isWhole: false, query: null, sort: null, filter: {}, collapse: null, isSortRequested: false }, parts);
  showQuery(view.query);
  updateURL();
  scrollTo({ top: 0 });
  return open({ keepsCards: model.shelf !== null && view.store === store && view.shelf === shelf });
}

/** Shows a shelf. The focus moves with the choice, and not when the response comes: the user may be elsewhere then. */
function choose(store, shelf) {
  const parts = { store, shelf, isWhole: false };
  resolveView(parts, model.stores);
  show(parts);
  find("title").focus({ preventScroll: true });
}

// MARK: - Searching

/** The place of the view, as parts of another view. */
const place = () => ({ store: view.store, shelf: view.shelf, isWhole: view.isWhole });

/** Searches the place that is shown; an empty text ends the search. */
function search(typed) {
  const query = queryOf(typed) || null;
  if (query === view.query) return showQuery(query);
  show({ ...place(), query, filter: view.filter, collapse: view.collapse });
}

/** Goes to a suggestion. Brands and products may be on other shelves than the one that is shown. */
function takeSuggestion({ kind, text: own, shelf }) {
  const whole = { store: view.store, isWhole: true };
  if (kind === "shelf") choose(view.store, shelf);
  else if (kind === "brand") show({ ...whole, filter: { brand: [own] } });
  else if (kind === "product") show({ ...whole, query: queryOf(own) || null });
  else search(own);
}

/** Draws the search summary, which is that of the shown cards, and the buttons of the requested search. */
function drawSearch() {
  const isLoaded = model.shelf !== null;
  const { missing = [], did_you_mean: correction = null } = (isLoaded && model.search) || {};
  const said = isLoaded && model.shown.query ? [text("searchedFor", model.shown.query, model.shelf.title), missing.length && text("missing", missing)] : [];
  const summary = said.filter(Boolean).join(" ");
  // The same text would be read out again.
  if (find("search-text").textContent !== summary) find("search-text").textContent = summary;
  find("searched").hidden = !view.query;
  find("widen").hidden = view.isWhole;
  find("correct").hidden = correction === null;
  find("correct").textContent = correction === null ? "" : text("didYouMean", correction);
  find("correct").value = correction ?? "";
}

/** Draws the button that combines variants, if there are any. */
function drawGroupButton() {
  const hasGroups = view.collapse !== null || isGrouped() || [...grid.children].some(({ product }) => product?.group);
  find("collapse").hidden = !hasGroups || device !== null;
  find("collapse").setAttribute("aria-pressed", String(isGrouped()));
}

// MARK: - Rendering

/** Returns the sorts of the picker, with the one that is shown. */
function sortOptions(shown) {
  const options = model.shelf.sort_options.filter(({ sort }) => sort !== relevance);
  if (view.query) options.unshift({ sort: relevance, title: text("relevance") });
  return options.some(({ sort }) => sort === shown) ? options : [...options, { sort: shown, title: shown }];
}

function render() {
  translate();
  drawSearch();
  if (!model.shelf) return;
  document.title = `${model.shelf.title} · Aisle`;
  find("title").textContent = model.shelf.title;
  // The label says how the shown cards are sorted, also while another sort waits for the server.
  const shown = model.shownSort;
  const options = sortOptions(shown);
  find("sort-title").textContent = options.find((option) => option.sort === shown).title;
  const focused = document.activeElement?.closest("#sorts")?.contains(document.activeElement) && document.activeElement.value;
  find("sorts").replaceChildren(...options.map((option) => {
    const button = make("button", { type: "button", value: option.sort, "aria-pressed": String(option.sort === shown) }, option.title);
    button.addEventListener("click", () => {
      find("sort-sheet").close();
      resort(option.sort);
    });
    return make("li", {}, button);
  }));
  if (focused) find("sorts").querySelector(`[value="${CSS.escape(focused)}"]`)?.focus();
  find("turn").disabled = shown === "position" || shown.includes(relevance);
  drawGroupButton();
  find("devices").hidden = !model.session || device !== null;
  find("storm").hidden = !(model.session?.isDemo && model.session.storms.includes(view.store)) || device !== null;
  find("offline").hidden = !model.settings || device === null;
  find("show").textContent = text("show", total());
  find("filter-count").textContent = filterCount() ? String(filterCount()) : "";
  if (find("pending").textContent) renderPending();
  if (model.facets) renderFilters();
}

function applyFilter(filter) {
  view.filter = filter;
  updateURL();
  render();
  return open({ keepsCards: model.shelf !== null });
}

function renderFilters() {
  const { currency } = storeOf();
  const all = {
    filter: view.filter, facets: model.facets, options: model.shelf.filter_options, currency, place: `${view.store}/${view.shelf}`,
    apply: (change) => applyFilter(change(view.filter)),
  };
  drawFacets(all);
  drawChips(all);
}

// MARK: - Setup

find("sort").addEventListener("click", () => {
  find("sort-sheet").showModal();
  find("sorts").querySelector("[aria-pressed=true]")?.focus();
});
find("filter").addEventListener("click", () => find("filter-sheet").showModal());
for (const id of ["clear", "clear-filters"]) {
  find(id).addEventListener("click", () => {
    applyFilter({});
    if (id === "clear-filters") find("title").focus({ preventScroll: true });
  });
}
find("clear-search").addEventListener("click", () => {
  search("");
  find("query").focus();
});
find("widen").addEventListener("click", () => {
  show({ store: view.store, isWhole: true, query: view.query });
  find("title").focus({ preventScroll: true });
});
find("correct").addEventListener("click", () => {
  search(find("correct").value);
  find("query").focus();
});
find("collapse").addEventListener("click", () => {
  view.collapse = !isGrouped();
  updateURL();
  drawGroupButton();
  open({ keepsCards: model.shelf !== null });
});
searchBox({ read: (typed, signal) => aisle.suggestions(view.store, typed, suggestionLimit, signal), search, choose: takeSuggestion });
find("turn").addEventListener("click", () => model.shelf && resort(model.shownSort.split(",").map((key) => (key.startsWith("-") ? key.slice(1) : `-${key}`)).join(",")));
find("devices").addEventListener("click", () => location.assign(withUser("/devices", { store: view.store, shelf: view.shelf })));
find("storm").addEventListener("click", async () => {
  find("storm").disabled = true;
  const played = await attempt(() => storm(view.store));
  find("storm").disabled = false;
  if (!played) return;
  find("day").textContent = `${played.day}/${played.days}`;
  announce(text("stormed", played.day, played.days, played.changed));
});
find("offline").addEventListener("click", () => {
  aisle.isOffline = !aisle.isOffline;
  find("offline").setAttribute("aria-pressed", String(aisle.isOffline));
  const own = ++generation.now;
  model.isLoading = model.isUpdating = false;
  model.closeStream();
  model.closeSettingsStream();
  pinMessage(aisle.isOffline ? text("isOffline") : null);
  if (aisle.isOffline) return;
  // Sends local changes and receives later ones from other devices, which update the view.
  followSettings();
  if (!model.shelf) return open();
  updateOrder().then(() => own === generation.now && follow(own));
});
onLanguage(() => open({ keepsCards: model.shelf !== null }));
onEndNear(more);
onNavigate((parts) => {
  readURL(parts);
  open();
});
readURL(parameters);
translate();
open();
