/** The shop: a shelf's products, sorted, narrowed down, live. */
import { Settings, animate } from "/aisle.js";
import { alarm, announce, attempt, problemText, stand, turn } from "/alerts.js";
import { amount, appendPage, card, isEndNear, onEndNear, refreshCards } from "/cards.js";
import { find, idsOf, make } from "/dom.js";
import { filters } from "/filters.js";
import { transferText } from "/format.js";
import "/header.js";
import { onLanguage, text, translate } from "/language.js";
import { navigate, onNavigate } from "/navigation.js";
import { aisle, device, parameters, signIn, storm, withUser } from "/session.js";
import { drawShelves, readStores, resolveView } from "/shelves.js";

const [grid, state] = [find("products"), find("state")];
const pageSize = 60;
/** As many are brought into another sort at once; what was read beyond them is read again when it is scrolled to. */
const movable = 300;
/** As many are brought into the order of now, where others change it; and followed at most. */
const [correctable, followable] = [10_000, 100];

/** What is wanted: it stands in the address, so that a link and the back button bring it back. */
const view = { store: null, shelf: null, sort: null, filter: {} };
/** What the page shows, and what it waits for. */
const model = {
  stores: [],
  session: null,
  /** The user's settings on this device; null where nobody is signed in. */
  settings: null,
  /** The shelf that is shown, the sort that its cards stand in, and its version; null while it is read. */
  shelf: null,
  shownSort: null,
  shownVersion: 0,
  /** The latest version that was told of. */
  latest: 0,
  /** The cursor behind what is shown; null at the end, undefined where it is not known. */
  next: null,
  isLoading: false,
  isBringing: false,
  /** Whether prices and counts may have changed since they were read. */
  mustRecount: false,
  facets: null,
  /** How many are followed, and what ends that. */
  followed: 0,
  ending: () => {},
  endingSettings: () => {},
  beginning: null,
  /** Things are put on the list one after another, so that one is made at most. */
  adding: Promise.resolve(),
};

// MARK: - Reading

const query = () => ({ ...view.filter, ...(view.sort ? { sort: view.sort } : {}) });
const settingKey = () => `stores/${view.store}/shelves/${view.shelf}/sort`;
/** The sort of a remembered view, which may have a filter too. */
const sortOf = (value) => value?.sort ?? value;

/** Who is signed in; asked once, however often the page is opened meanwhile. */
const begin = () => (model.beginning ??= signIn().then((found) => {
  model.session = found;
  if (!model.session) return;
  model.settings = new Settings(aisle, { name: `aisle.settings.${[model.session.user, device].filter(Boolean).join(".")}` });
  model.settings.addEventListener("refused", ({ detail: { error } }) => alarm(problemText(error)));
  model.settings.addEventListener("change", ({ detail: { key, value } }) => {
    if (key !== settingKey() || !model.shelf) return;
    if (value === undefined) {
      view.sort = null;
      open({ isAgain: true });
    } else if (sortOf(value) !== view.sort) {
      resort(sortOf(value), { isHeard: true });
    }
  });
  followSettings();
}).catch((error) => {
  model.beginning = null;
  throw error;
}));

function followSettings() {
  model.endingSettings();
  model.endingSettings = model.settings.follow();
}

async function open({ isAgain = false } = {}) {
  const own = ++turn.now;
  model.ending();
  model.isLoading = model.isBringing = false;
  if (!isAgain) model.shelf = null;
  state.textContent = isAgain ? "" : text("loading");
  let refused = null;
  await attempt(async () => {
    await begin();
    if (!model.stores.length) model.stores = await readStores();
    if (own !== turn.now) return;
    resolveView(view, model.stores);
    drawShelves(view, model.stores, choose);
    if (!view.shelf) return (state.textContent = text("noStores"));
    const [found, page] = await Promise.all([
      aisle.shelf(view.store, view.shelf), aisle.page(view.store, view.shelf, { ...query(), limit: pageSize, facets: "brand,tag,in_stock,price" }),
    ]);
    if (own !== turn.now) return;
    model.shelf = found;
    model.shownSort = view.sort = page.sort.keys;
    model.shownVersion = page.version;
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
  if (own === turn.now && model.shelf && model.next && isEndNear()) more();
  if (own === turn.now && state.textContent === text("loading")) state.textContent = "";
}

function take(page) {
  model.next = page.page.next_cursor;
  model.facets = page.facets ?? model.facets;
  tellCount();
}

function tellCount() {
  const isOwn = model.settings && sortOf(model.settings.get(settingKey())) === view.sort;
  find("count").textContent = [text("products", total(), model.shelf.product_count), isOwn && text("yours")].filter(Boolean).join(" · ");
  state.textContent = grid.childElementCount ? "" : text(model.shelf.product_count ? "empty" : "emptyShelf");
}

const total = () => model.facets?.total ?? model.shelf.product_count;

async function more() {
  if (model.isLoading || model.isBringing || model.next === null || !model.shelf) return;
  model.isLoading = true;
  const own = turn.now;
  state.textContent = text("more");
  const read = await attempt(() => appendPage(grid, view, query(), model.next, cardOf));
  if (own !== turn.now) return;
  model.isLoading = false;
  if (read) model.next = read.next;
  tellCount();
  if (read && model.followed < followable) follow(own);
  if (model.latest > model.shownVersion) return catchUp();
  // As long as the end is in sight; what was refused is not asked for again.
  if (read !== undefined && model.next !== null && isEndNear()) more();
}

// MARK: - Sorting

/** Another sort of the same products. @param {{isHeard?: boolean}} [how] whether another device chose it */
async function resort(sort, { isHeard = false } = {}) {
  if (sort === view.sort) return;
  view.sort = sort;
  address({ replaces: isHeard });
  if (!isHeard) model.settings?.set(settingKey(), sort);
  // Before the shelf itself is there, it comes so.
  if (!model.shelf) return open();
  turn.now += 1;
  model.ending();
  model.isLoading = false;
  if (model.next !== null) model.next = undefined;
  render();
  await bring({ isResort: true });
}

/** How many are compared: all that is shown, and somewhat more where that is all there is. */
const room = (ids, isAll = model.next === null) => Math.min(Math.max(isAll ? ids.length + 20 : ids.length, pageSize), correctable);

/**
 * Brings what is shown into the order that is wanted, and again where others change it meanwhile.
 * @param {{isResort?: boolean}} [how] whether it was in order until now, and what is wanted is another
 */
async function bring({ isResort = false } = {}) {
  const own = turn.now;
  model.isBringing = true;
  const isBrought = await attempt(async () => {
    // What is not of what is shown any more is asked for again.
    for (let isKnown = isResort; own === turn.now && !(await step(own, { isResort, isKnown })); isKnown = false);
    if (own === turn.now && model.mustRecount) await recount(own);
    return own === turn.now;
  });
  if (own !== turn.now) return;
  model.isBringing = false;
  if (!isBrought && view.sort !== model.shownSort) {
    // What was refused is not wanted any more.
    view.sort = model.shownSort;
    address({ replaces: true });
    render();
  }
  tellCount();
  if (isResort || !isBrought) follow(own);
  if (!isBrought) return;
  // What changed while the counts were read.
  if (model.latest > model.shownVersion) setTimeout(catchUp, 200);
  else if (model.next !== null && isEndNear()) more();
}

/**
 * One diff, animated.
 * @param {{isResort: boolean, isKnown: boolean}} how whether it goes on at the top; whether the server knows what is shown by its sort
 * @returns {Promise<boolean>} whether it was of what is shown
 */
async function step(own, { isResort, isKnown }) {
  const shown = () => idsOf(grid).slice(0, isResort ? movable : correctable);
  const ids = shown();
  const isAll = model.next === null && ids.length === idsOf(grid).length;
  const [limit, start] = [room(ids, isAll), performance.now()];
  const diff = isKnown
    ? await aisle.diff(view.store, view.shelf, { ...view.filter, from_sort: model.shownSort, to_sort: view.sort, limit })
    : await aisle.diffFrom(view.store, view.shelf, ids, { sort: view.sort, limit, filter: view.filter });
  if (own !== turn.now || !fits(diff, ids) || shown().join("/") !== ids.join("/")) return false;
  const beyond = [...grid.children].filter((child) => child.dataset.id).slice(ids.length);
  beyond.forEach((element) => element.remove());
  if (isResort) scrollTo({ top: Math.min(scrollY, grid.offsetTop - 80) });
  model.mustRecount ||= !isResort || diff.to_version > model.shownVersion;
  [model.shownSort, model.shownVersion] = [view.sort, Math.max(model.shownVersion, diff.to_version)];
  model.next = isAll && diff.new_count < limit ? null : undefined;
  find("wire").value = transferText(text, diff, diff.bytes, Math.round(performance.now() - start));
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
  model.mustRecount = false;
  [model.shelf, model.facets] = [found, page.facets ?? model.facets];
  tellCount();
  render();
}

/** Brings what is shown into the order of now, where that is another. */
function catchUp() {
  if (model.shelf && !model.isBringing && !model.isLoading && model.latest > model.shownVersion && idsOf(grid).length <= correctable) bring();
}

/** The shelf as others change it. */
function follow(own) {
  model.ending();
  model.followed = Math.min(followable, Math.max(room(idsOf(grid)), 1));
  const event = ({ name, id, data, bytes }) => {
    if (own !== turn.now) return;
    if (name === "gone") return alarm(text("closedShelf"));
    if (name !== "order" || Number(id) <= model.shownVersion) return;
    model.latest = Number(id);
    const ids = idsOf(grid);
    // All that is shown, and nothing else is under way: the event says it all.
    const isAll = data.mode !== "order" && ids.length === data.old_count && data.from_version === model.shownVersion && fits(data, ids) && data.new_count < model.followed;
    if (!isAll || model.isBringing || model.isLoading) return catchUp();
    model.shownVersion = model.latest;
    find("wire").value = transferText(text, data, bytes);
    if (data.moves.length + data.inserts.length + data.deletes.length) glide(data);
    const isCounted = data.inserts.length + data.deletes.length > 0;
    attempt(() => (isCounted ? recount(own) : refreshCards(grid, view.store, data.changed.map((change) => change.id), cardOf)));
  };
  model.ending = aisle.follow(`/v1/stores/${view.store}/shelves/${view.shelf}/events`, { query: { ...query(), limit: model.followed }, since: String(model.shownVersion), event });
}

// MARK: - Lists

const cardOf = (product) => card(product, model.session && !device ? make("button", { type: "button", class: "plus", "aria-label": text("addToList", product.name) }, "+") : null);

/** The list that was changed last, or a first one. */
async function currentList(key) {
  const { value } = await aisle.send("/v1/me/lists", { query: { sort: "last-modified" } });
  const list = value.lists.find((list) => list.role !== "reader");
  return list ?? (await aisle.send("/v1/me/lists", { method: "POST", body: { name: text("firstList") }, headers: { "idempotency-key": key } })).value;
}

grid.addEventListener("click", (event) => {
  const element = event.target.closest(".plus")?.closest("[data-id]");
  // While another shelf is read, what is seen is of the last.
  if (!element || !model.shelf) return;
  const [product, store, keys] = [element.product, view.store, [crypto.randomUUID(), crypto.randomUUID()]];
  model.adding = model.adding.then(() => attempt(async () => {
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
  if (!model.shelf) return;
  document.title = `${model.shelf.title} · Aisle`;
  find("title").textContent = model.shelf.title;
  const options = model.shelf.sort_options.some((option) => option.sort === view.sort) ? model.shelf.sort_options : [...model.shelf.sort_options, { sort: view.sort, title: view.sort }];
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
  find("devices").hidden = !model.session || device !== null;
  find("storm").hidden = !(model.session?.isDemo && model.session.storms.includes(view.store)) || device !== null;
  find("offline").hidden = !model.settings || device === null;
  const count = Object.values(view.filter).flat().length;
  find("filter-count").textContent = count ? String(count) : "";
  if (model.facets) renderFilters();
}

function narrow(filter) {
  view.filter = filter;
  address();
  return open({ isAgain: true });
}

function renderFilters() {
  const title = (key) => model.shelf.filter_options.find((option) => option.filter === key)?.title ?? key;
  const group = (legend, name, choices, isMany) => make("fieldset", {}, make("legend", {}, legend), make("div", { class: "choices" }, ...choices.map((choice) => {
    const input = make("input", { type: isMany ? "checkbox" : "radio", name, value: choice.value });
    input.checked = choice.isChosen;
    input.addEventListener("change", () => narrow(choice.filter(input.checked)));
    return make("label", {}, input, choice.title, make("span", { class: "n" }, choice.count ?? ""));
  })));
  const values = (key) => [view.filter[key] ?? []].flat();
  const many = (key) => model.facets[key].values.slice(0, 30).map(({ value, count }) => ({
    value, count, title: value || text("without"), isChosen: values(key).includes(value),
    filter: (isOn) => ({ ...view.filter, [key]: isOn ? [...values(key), value] : values(key).filter((other) => other !== value) }),
  }));
  // What is chosen beside: as it is when one chooses, not as it was when this was drawn.
  const without = (...keys) => Object.fromEntries(Object.entries(view.filter).filter(([key]) => !keys.includes(key)));
  const { price_min, price_max, in_stock } = view.filter;
  const currency = model.stores.find((store) => store.key === view.store).currency;
  const bound = (name, value) => value && `${text(name)} ${amount(value, currency)}`;
  const only = (values) => String([values ?? []].flat()[0] ?? null);
  const ranges = [{ price_min: null, price_max: null, count: null }, ...model.facets.price.buckets].map((bucket) => ({
    value: `${bucket.price_min}-${bucket.price_max}`, count: bucket.count,
    title: [bound("from", bucket.price_min), bound("upTo", bucket.price_max)].filter(Boolean).join(" ") || text("any"),
    isChosen: only(price_min) === String(bucket.price_min) && only(price_max) === String(bucket.price_max),
    filter: () => ({ ...without("price_min", "price_max"), ...(bucket.price_min ? { price_min: bucket.price_min } : {}), ...(bucket.price_max ? { price_max: bucket.price_max } : {}) }),
  }));
  const stock = [{
    value: "true", count: model.facets.in_stock.values[0].count, title: text("inStock"), isChosen: String(in_stock) === "true",
    filter: (isOn) => ({ ...without("in_stock"), ...(isOn ? { in_stock: "true" } : {}) }),
  }];
  const groups = [group(title("in_stock"), "in_stock", stock, true), group(text("price"), "price", ranges, false)];
  for (const key of ["tag", "brand"]) if (model.facets[key].values.length > 1) groups.push(group(title(key), key, many(key), true));
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
find("turn").addEventListener("click", () => model.shelf && resort(view.sort.split(",").map((key) => (key.startsWith("-") ? key.slice(1) : `-${key}`)).join(",")));
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
  model.isLoading = model.isBringing = false;
  model.ending();
  model.endingSettings();
  stand(aisle.isOffline ? text("isOffline") : null);
  if (aisle.isOffline) return;
  // What was chosen here is sent; what was chosen later elsewhere comes, and is brought by itself.
  followSettings();
  if (!model.shelf) return open();
  bring().then(() => own === turn.now && follow(own));
});
onLanguage(() => open({ isAgain: model.shelf !== null }));
onEndNear(more);
onNavigate((parts) => {
  read(parts);
  open();
});
read(parameters);
translate();
open();
