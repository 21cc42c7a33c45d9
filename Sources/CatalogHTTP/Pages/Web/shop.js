/** The shop: a shelf's products, sorted, narrowed down, live. */
import { Settings, animate } from "/aisle.js";
import {
  aisle, alarm, amount, announce, appendPage, attempt, card, device, drawShelves, find, idsOf, isEndNear, make, navigate, onEndNear, onLanguage,
  onNavigate, parameters, problemText, readStores, refreshCards, settle, signIn, stand, storm, tellWire, text, translate, turn, withUser,
} from "/ui.js";

const [grid, state] = [find("products"), find("state")];
const pageSize = 60;
/** As many are brought into another sort at once; what was read beyond them is read again when it is scrolled to. */
const movable = 300;
/** As many are brought into the order of now, where others change it; and followed at most. */
const [correctable, followable] = [10_000, 100];
const filters = [
  "brand", "tag", "in_stock", "price_min", "price_max", "unit_price_max", "created_after", "created_before", "modified_after", "modified_before", "dimension",
];

/** What is wanted: it stands in the address, so that a link and the back button bring it back. */
const view = { store: null, shelf: null, sort: null, filter: {} };
let stores = [];
let session;
/** The user's settings on this device; null where nobody is signed in. */
let settings = null;
/** The shelf that is shown, the sort that its cards stand in, and its version; null while it is read. */
let shelf = null;
let shownSort = null;
let shownVersion = 0;
/** The latest version that was told of. */
let latest = 0;
/** The cursor behind what is shown; null at the end, undefined where it is not known. */
let next = null;
let isLoading = false;
let isBringing = false;
/** Whether prices and counts may have changed since they were read. */
let mustRecount = false;
let facets = null;
/** How many are followed, and what ends that. */
let followed = 0;
let ending = () => {};
let endingSettings = () => {};

// MARK: - Reading

const query = () => ({ ...view.filter, ...(view.sort ? { sort: view.sort } : {}) });
const settingKey = () => `stores/${view.store}/shelves/${view.shelf}/sort`;
/** The sort of a remembered view, which may have a filter too. */
const sortOf = (value) => value?.sort ?? value;

let beginning = null;

/** Who is signed in; asked once, however often the page is opened meanwhile. */
const begin = () => (beginning ??= signIn().then((found) => {
  session = found;
  if (!session) return;
  settings = new Settings(aisle, { name: `aisle.settings.${[session.user, device].filter(Boolean).join(".")}` });
  settings.addEventListener("refused", ({ detail: { error } }) => alarm(problemText(error)));
  settings.addEventListener("change", ({ detail: { key, value } }) => {
    if (key !== settingKey() || !shelf) return;
    if (value === undefined) {
      view.sort = null;
      open({ isAgain: true });
    } else if (sortOf(value) !== view.sort) {
      resort(sortOf(value), { isHeard: true });
    }
  });
  followSettings();
}).catch((error) => {
  beginning = null;
  throw error;
}));

function followSettings() {
  endingSettings();
  endingSettings = settings.follow();
}

async function open({ isAgain = false } = {}) {
  const own = ++turn.now;
  ending();
  isLoading = isBringing = false;
  if (!isAgain) shelf = null;
  state.textContent = isAgain ? "" : text("loading");
  let refused = null;
  await attempt(async () => {
    await begin();
    if (!stores.length) stores = await readStores();
    if (own !== turn.now) return;
    settle(view, stores);
    drawShelves(view, stores, choose);
    if (!view.shelf) return (state.textContent = text("noStores"));
    const [found, page] = await Promise.all([
      aisle.shelf(view.store, view.shelf), aisle.page(view.store, view.shelf, { ...query(), limit: pageSize, facets: "brand,tag,in_stock,price" }),
    ]);
    if (own !== turn.now) return;
    shelf = found;
    shownSort = view.sort = page.sort.keys;
    shownVersion = page.version;
    grid.replaceChildren(...page.products.map(cardOf));
    take(page);
    render();
    follow(own);
  }, {
    // A sort or a filter that cannot be is left out, and told.
    isRefused: (error) => {
      if (error.status !== 400 || !(view.sort || Object.keys(view.filter).length)) return false;
      refused = error;
      Object.assign(view, { sort: null, filter: {} });
      address({ replaces: true });
      return true;
    },
  });
  if (own === turn.now && refused) alarm(problemText(refused));
  if (own === turn.now && shelf && next && isEndNear()) more();
  if (own === turn.now && state.textContent === text("loading")) state.textContent = "";
}

function take(page) {
  next = page.page.next_cursor;
  facets = page.facets ?? facets;
  tellCount();
}

function tellCount() {
  const isOwn = settings && sortOf(settings.get(settingKey())) === view.sort;
  find("count").textContent = [text("products", total(), shelf.product_count), isOwn && text("yours")].filter(Boolean).join(" · ");
  state.textContent = grid.childElementCount ? "" : text(shelf.product_count ? "empty" : "emptyShelf");
}

const total = () => facets?.total ?? shelf.product_count;

async function more() {
  if (isLoading || isBringing || next === null || !shelf) return;
  isLoading = true;
  const own = turn.now;
  state.textContent = text("more");
  const read = await attempt(() => appendPage(grid, view, query(), next, cardOf));
  if (own !== turn.now) return;
  isLoading = false;
  if (read) next = read.next;
  tellCount();
  if (read && followed < followable) follow(own);
  if (latest > shownVersion) return catchUp();
  // As long as the end is in sight; what was refused is not asked for again.
  if (read !== undefined && next !== null && isEndNear()) more();
}

// MARK: - Sorting

/** Another sort of the same products. @param {{isHeard?: boolean}} [how] whether another device chose it */
async function resort(sort, { isHeard = false } = {}) {
  if (sort === view.sort) return;
  view.sort = sort;
  address({ replaces: isHeard });
  if (!isHeard) settings?.set(settingKey(), sort);
  // Before the shelf itself is there, it comes so.
  if (!shelf) return open();
  turn.now += 1;
  ending();
  isLoading = false;
  if (next !== null) next = undefined;
  render();
  await bring({ isResort: true });
}

/** How many are compared: all that is shown, and somewhat more where that is all there is. */
const room = (ids, isAll = next === null) => Math.min(Math.max(isAll ? ids.length + 20 : ids.length, pageSize), correctable);

/**
 * Brings what is shown into the order that is wanted, and again where others change it meanwhile.
 * @param {{isResort?: boolean}} [how] whether it was in order until now, and what is wanted is another
 */
async function bring({ isResort = false } = {}) {
  const own = turn.now;
  isBringing = true;
  const isBrought = await attempt(async () => {
    // What is not of what is shown any more is asked for again.
    for (let isKnown = isResort; own === turn.now && !(await step(own, { isResort, isKnown })); isKnown = false);
    if (own === turn.now && mustRecount) await recount(own);
    return own === turn.now;
  });
  if (own !== turn.now) return;
  isBringing = false;
  if (!isBrought && view.sort !== shownSort) {
    // What was refused is not wanted any more.
    view.sort = shownSort;
    address({ replaces: true });
    render();
  }
  tellCount();
  if (isResort || !isBrought) follow(own);
  if (!isBrought) return;
  // What changed while the counts were read.
  if (latest > shownVersion) setTimeout(catchUp, 200);
  else if (next !== null && isEndNear()) more();
}

/**
 * One diff, animated.
 * @param {{isResort: boolean, isKnown: boolean}} how whether it goes on at the top; whether the server knows what is shown by its sort
 * @returns {Promise<boolean>} whether it was of what is shown
 */
async function step(own, { isResort, isKnown }) {
  const shown = () => idsOf(grid).slice(0, isResort ? movable : correctable);
  const ids = shown();
  const isAll = next === null && ids.length === idsOf(grid).length;
  const [limit, start] = [room(ids, isAll), performance.now()];
  const diff = isKnown
    ? await aisle.diff(view.store, view.shelf, { ...view.filter, from_sort: shownSort, to_sort: view.sort, limit })
    : await aisle.diffFrom(view.store, view.shelf, ids, { sort: view.sort, limit, filter: view.filter });
  if (own !== turn.now || !fits(diff, ids) || shown().join("/") !== ids.join("/")) return false;
  const beyond = [...grid.children].filter((child) => child.dataset.id).slice(ids.length);
  beyond.forEach((element) => element.remove());
  if (isResort) scrollTo({ top: Math.min(scrollY, grid.offsetTop - 80) });
  mustRecount ||= !isResort || diff.to_version > shownVersion;
  [shownSort, shownVersion] = [view.sort, Math.max(shownVersion, diff.to_version)];
  next = isAll && diff.new_count < limit ? null : undefined;
  tellWire(diff, diff.bytes, Math.round(performance.now() - start));
  await glide(diff);
  return true;
}

/** Whether a diff is of these. */
const fits = (diff, ids) => diff.old_count === ids.length && (diff.mode === "order" || [...diff.moves, ...diff.deletes].every((part) => ids[part.from] === part.id));

async function glide(diff) {
  const ended = await animate(grid, diff, (insert) => cardOf(insert.product));
  document.documentElement.dataset.script = ended.script.toFixed(1);
}

// MARK: - What others change

/** Reads anew what others may have changed beside the order: what is followed of the cards, and the counts. */
async function recount(own) {
  const [found, page] = await Promise.all([
    aisle.shelf(view.store, view.shelf), aisle.page(view.store, view.shelf, { ...query(), limit: 1, facets: "brand,tag,in_stock,price" }),
    refreshCards(grid, view.store, idsOf(grid).slice(0, followable), cardOf),
  ]);
  if (own !== turn.now) return;
  mustRecount = false;
  [shelf, facets] = [found, page.facets ?? facets];
  tellCount();
  render();
}

/** Brings what is shown into the order of now, where that is another. */
function catchUp() {
  if (shelf && !isBringing && !isLoading && latest > shownVersion && idsOf(grid).length <= correctable) bring();
}

/** The shelf as others change it. */
function follow(own) {
  ending();
  followed = Math.min(followable, Math.max(room(idsOf(grid)), 1));
  const event = ({ name, id, data, bytes }) => {
    if (own !== turn.now) return;
    if (name === "gone") return alarm(text("closedShelf"));
    if (name !== "order" || Number(id) <= shownVersion) return;
    latest = Number(id);
    const ids = idsOf(grid);
    // All that is shown, and nothing else is under way: the event says it all.
    const isAll = data.mode !== "order" && ids.length === data.old_count && data.from_version === shownVersion && fits(data, ids) && data.new_count < followed;
    if (!isAll || isBringing || isLoading) return catchUp();
    shownVersion = latest;
    tellWire(data, bytes);
    if (data.moves.length + data.inserts.length + data.deletes.length) glide(data);
    const isCounted = data.inserts.length + data.deletes.length > 0;
    attempt(() => (isCounted ? recount(own) : refreshCards(grid, view.store, data.changed.map((change) => change.id), cardOf)));
  };
  ending = aisle.follow(`/v1/stores/${view.store}/shelves/${view.shelf}/events`, { query: { ...query(), limit: followed }, since: String(shownVersion), event });
}

// MARK: - Lists

const cardOf = (product) => card(product, session && !device ? make("button", { type: "button", class: "plus", "aria-label": text("addToList", product.name) }, "+") : null);

/** Things are put on the list one after another, so that one is made at most. */
let adding = Promise.resolve();

/** The list that was changed last, or a first one. */
async function currentList(key) {
  const { value } = await aisle.send("/v1/me/lists", { query: { sort: "last-modified" } });
  const list = value.lists.find((list) => list.role !== "reader");
  return list ?? (await aisle.send("/v1/me/lists", { method: "POST", body: { name: text("firstList") }, headers: { "idempotency-key": key } })).value;
}

grid.addEventListener("click", (event) => {
  const element = event.target.closest(".plus")?.closest("[data-id]");
  // While another shelf is read, what is seen is of the last.
  if (!element || !shelf) return;
  const [product, store, keys] = [element.product, view.store, [crypto.randomUUID(), crypto.randomUUID()]];
  adding = adding.then(() => attempt(async () => {
    const list = await currentList(keys[0]);
    const items = [{ store, sku: product.sku }];
    await aisle.send(`/v1/me/lists/${list.id}/items`, { method: "POST", body: { items }, headers: { "idempotency-key": keys[1] } });
    const message = text("added", product.name, list.name);
    find("wire").value = message;
    announce(message);
  }, { isKept: true }));
});

// MARK: - The address

function read(parts) {
  [view.store, view.shelf, view.sort] = [parts.get("store"), parts.get("shelf"), parts.get("sort")];
  view.filter = {};
  for (const name of filters) if (parts.has(name)) view.filter[name] = parts.getAll(name);
}

function address({ replaces = false } = {}) {
  const parts = new URLSearchParams({ store: view.store, shelf: view.shelf, ...(view.sort ? { sort: view.sort } : {}) });
  for (const [name, values] of Object.entries(view.filter)) for (const value of [values].flat()) parts.append(name, value);
  for (const name of ["device", "user"]) if (parameters.get(name)) parts.set(name, parameters.get(name));
  navigate(`?${parts}`, { replaces });
}

function choose(store, shelf) {
  Object.assign(view, { store, shelf, sort: null, filter: {} });
  address();
  scrollTo({ top: 0 });
  open().then(() => find("title").focus({ preventScroll: true }));
}

// MARK: - Rendering

function render() {
  translate();
  if (!shelf) return;
  document.title = `${shelf.title} · Aisle`;
  find("title").textContent = shelf.title;
  const options = shelf.sort_options.some((option) => option.sort === view.sort) ? shelf.sort_options : [...shelf.sort_options, { sort: view.sort, title: view.sort }];
  find("sort-title").textContent = options.find((option) => option.sort === view.sort).title;
  const focused = document.activeElement?.closest("#sorts")?.contains(document.activeElement) && document.activeElement.value;
  find("sorts").replaceChildren(...options.map((option) => {
    const button = make("button", { type: "button", value: option.sort, "aria-pressed": String(option.sort === view.sort) }, option.title);
    button.addEventListener("click", () => {
      find("sort-sheet").close();
      resort(option.sort);
    });
    return make("li", {}, button);
  }));
  if (focused) find("sorts").querySelector(`[value="${CSS.escape(focused)}"]`)?.focus();
  find("turn").disabled = view.sort === "position";
  find("devices").hidden = !session || device !== null;
  find("storm").hidden = !(session?.isDemo && session.storms.includes(view.store)) || device !== null;
  find("offline").hidden = !settings || device === null;
  const count = Object.values(view.filter).flat().length;
  find("filter-count").textContent = count ? String(count) : "";
  if (facets) renderFilters();
}

function narrow(filter) {
  view.filter = filter;
  address();
  return open({ isAgain: true });
}

function renderFilters() {
  const title = (key) => shelf.filter_options.find((option) => option.filter === key)?.title ?? key;
  const group = (legend, name, choices, isMany) => make("fieldset", {}, make("legend", {}, legend), make("div", { class: "choices" }, ...choices.map((choice) => {
    const input = make("input", { type: isMany ? "checkbox" : "radio", name, value: choice.value });
    input.checked = choice.isChosen;
    input.addEventListener("change", () => narrow(choice.filter(input.checked)));
    return make("label", {}, input, choice.title, make("span", { class: "n" }, choice.count ?? ""));
  })));
  const values = (key) => [view.filter[key] ?? []].flat();
  const many = (key) => facets[key].values.slice(0, 30).map(({ value, count }) => ({
    value, count, title: value || text("without"), isChosen: values(key).includes(value),
    filter: (isOn) => ({ ...view.filter, [key]: isOn ? [...values(key), value] : values(key).filter((other) => other !== value) }),
  }));
  // What is chosen beside: as it is when one chooses, not as it was when this was drawn.
  const without = (...keys) => Object.fromEntries(Object.entries(view.filter).filter(([key]) => !keys.includes(key)));
  const { price_min, price_max, in_stock } = view.filter;
  const currency = stores.find((store) => store.key === view.store).currency;
  const bound = (name, value) => value && `${text(name)} ${amount(value, currency)}`;
  const only = (values) => String([values ?? []].flat()[0] ?? null);
  const ranges = [{ price_min: null, price_max: null, count: null }, ...facets.price.buckets].map((bucket) => ({
    value: `${bucket.price_min}-${bucket.price_max}`, count: bucket.count,
    title: [bound("from", bucket.price_min), bound("upTo", bucket.price_max)].filter(Boolean).join(" ") || text("any"),
    isChosen: only(price_min) === String(bucket.price_min) && only(price_max) === String(bucket.price_max),
    filter: () => ({ ...without("price_min", "price_max"), ...(bucket.price_min ? { price_min: bucket.price_min } : {}), ...(bucket.price_max ? { price_max: bucket.price_max } : {}) }),
  }));
  const stock = [{
    value: "true", count: facets.in_stock.values[0].count, title: text("inStock"), isChosen: String(in_stock) === "true",
    filter: (isOn) => ({ ...without("in_stock"), ...(isOn ? { in_stock: "true" } : {}) }),
  }];
  const groups = [group(title("in_stock"), "in_stock", stock, true), group(text("price"), "price", ranges, false)];
  for (const key of ["tag", "brand"]) if (facets[key].values.length > 1) groups.push(group(title(key), key, many(key), true));
  const focused = document.activeElement?.closest("#filters") && [document.activeElement.name, document.activeElement.value];
  find("filters").replaceChildren(...groups);
  if (focused) find("filters").querySelector(`[name="${focused[0]}"][value="${CSS.escape(focused[1])}"]`)?.focus();
}

// MARK: - Beginning

find("sort").addEventListener("click", () => {
  find("sort-sheet").showModal();
  find("sorts").querySelector("[aria-pressed=true]")?.focus();
});
find("filter").addEventListener("click", () => find("filter-sheet").showModal());
find("clear").addEventListener("click", () => narrow({}));
find("turn").addEventListener("click", () => shelf && resort(view.sort.split(",").map((key) => (key.startsWith("-") ? key.slice(1) : `-${key}`)).join(",")));
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
  const own = ++turn.now;
  isLoading = isBringing = false;
  ending();
  endingSettings();
  stand(aisle.isOffline ? text("isOffline") : null);
  if (aisle.isOffline) return;
  // What was chosen here is sent; what was chosen later elsewhere comes, and is brought by itself.
  followSettings();
  if (!shelf) return open();
  bring().then(() => own === turn.now && follow(own));
});
onLanguage(() => open({ isAgain: shelf !== null }));
onEndNear(more);
onNavigate((parts) => {
  read(parts);
  open();
});
read(parameters);
translate();
open();
