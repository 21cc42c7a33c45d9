/** The shop: a shelf's products, sorted, narrowed down, live. */
import { Settings, animate, applyDiff } from "/aisle.js";
import {
  aisle, amount, announce, attempt, byteText, card, device, drawShelves, find, idsOf, isEndNear, make, onEndNear, onLanguage, parameters, readStores, refreshCards, settle, signIn, stand,
  storm, text, translate, turn, withUser,
} from "/ui.js";

const [grid, state] = [find("products"), find("state")];
const pageSize = 60;
/** As many as are brought into another order at once; what was read beyond them is read again when it is scrolled to. */
const movable = 300;

/** What is wanted: it stands in the address, so that a link and the back button bring it back. */
const view = { store: null, shelf: null, sort: null, filter: {} };
/** The sort that the cards stand in. */
let shownSort = null;
let stores = [];
let shelf = null;
let session;
/** The user's settings on this device; null where nobody is signed in. */
let settings = null;
/** The cursor behind what is shown; null at the end, undefined where it is not known since another sort came. */
let next = null;
let isLoading = false;
let facets = null;
let ending = () => {};
let endingSettings = () => {};

// MARK: - Reading

const query = () => ({ ...view.filter, ...(view.sort ? { sort: view.sort } : {}) });
const settingKey = () => `stores/${view.store}/shelves/${view.shelf}/sort`;
/** The sort of a remembered view, which may have a filter too. */
const sortOf = (value) => value?.sort ?? value;

async function begin() {
  session = await signIn();
  if (!session) return;
  settings = new Settings(aisle, { name: `aisle.settings.${[session.user, device].filter(Boolean).join(".")}` });
  settings.addEventListener("change", ({ detail: { key, value } }) => {
    if (key !== settingKey() || !shelf) return;
    if (value === undefined) {
      view.sort = null;
      open({ isAgain: true });
    } else if (sortOf(value) !== view.sort) {
      resort(sortOf(value), { isHeard: true });
    }
  });
  await settings.sync();
  followSettings();
}

function followSettings() {
  endingSettings = aisle.follow("/v1/me/events", { event: (event) => settings.take(event), since: settings.revision ? String(settings.revision) : undefined });
}

async function open({ isAgain = false } = {}) {
  const own = ++turn.now;
  ending();
  if (!isAgain) state.textContent = text("loading");
  await attempt(async () => {
    if (session === undefined) await begin();
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
    grid.replaceChildren(...page.products.map(cardOf));
    take(page);
    render();
    follow(own);
  });
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
  if (isLoading || next === null || settings?.isOffline) return;
  isLoading = true;
  const own = turn.now;
  state.textContent = text("more");
  await attempt(async () => {
    if (next === undefined) await seek(own);
    if (own !== turn.now) return;
    if (next === null) return (state.textContent = "");
    const page = await aisle.page(view.store, view.shelf, { ...query(), cursor: next, limit: 100 });
    if (own !== turn.now) return;
    // One that moved here meanwhile is here already.
    const known = new Set(idsOf(grid));
    grid.append(...page.products.filter((product) => !known.has(product.sku)).map(cardOf));
    take(page);
  });
  isLoading = false;
  // As long as the end is in sight.
  if (own === turn.now && next && isEndNear()) more();
}

/** The cursor behind what is shown, by the sort that is shown now. */
async function seek(own) {
  let [left, cursor] = [idsOf(grid).length, undefined];
  while (left > 0) {
    const found = await aisle.page(view.store, view.shelf, { ...query(), cursor, limit: Math.min(left, 100) });
    if (own !== turn.now) return;
    left -= found.products.length;
    cursor = found.page.next_cursor;
    if (!cursor) break;
  }
  next = cursor ?? null;
}

// MARK: - Sorting

/** Another sort of the same products. @param {{isHeard?: boolean}} [how] whether another device chose it */
async function resort(sort, { isHeard = false } = {}) {
  if (sort === view.sort) return;
  turn.now += 1;
  ending();
  view.sort = sort;
  address({ replaces: isHeard });
  if (!isHeard) settings?.set(settingKey(), sort);
  render();
  if (!settings?.isOffline) await attempt(bring);
}

/** Brings what is shown into the order that is wanted: by the server's diff, animated. */
async function bring({ isAnew = false } = {}) {
  const own = turn.now;
  [...grid.children].slice(movable).forEach((element) => element.remove());
  const ids = idsOf(grid);
  const limit = Math.max(ids.length, Math.min(pageSize, total()), 1);
  const start = performance.now();
  let diff;
  if (!isAnew && shownSort) diff = await aisle.diff(view.store, view.shelf, { ...view.filter, from_sort: shownSort, to_sort: view.sort, limit });
  // What was changed since it was read: from what is shown, then.
  const isOfThis = diff && diff.old_count === ids.length && (diff.mode === "order" || [...diff.moves, ...diff.deletes].every((part) => ids[part.from] === part.id));
  if (!isOfThis) diff = await aisle.diffFrom(view.store, view.shelf, ids, { sort: view.sort, limit, filter: view.filter });
  const time = Math.round(performance.now() - start);
  if (own !== turn.now) return;
  scrollTo({ top: Math.min(scrollY, grid.offsetTop - 80) });
  shownSort = view.sort;
  await glide(diff, time);
  if (own !== turn.now) return;
  next = idsOf(grid).length < total() ? undefined : null;
  tellCount();
  follow(own);
  if (isEndNear()) more();
}

async function glide(diff, time) {
  find("wire").value = text("moves", diff.moves.length + diff.inserts.length, diff.new_count, byteText(diff.bytes), time);
  const ended = await animate(grid, diff, (insert) => cardOf(insert.product));
  document.documentElement.dataset.script = ended.script.toFixed(1);
}

/** The shelf as others change it. */
function follow(own) {
  ending();
  const limit = Math.min(100, Math.max(idsOf(grid).length, 1));
  const event = async ({ name, data }) => {
    if (own !== turn.now || name !== "order") return;
    const ids = idsOf(grid);
    const seen = ids.slice(0, data.mode === "order" ? data.ids.length : data.old_count);
    if (data.mode === "order") {
      // What was changed between the page and the stream.
      return seen.join("/") === data.ids.join("/") ? undefined : open({ isAgain: true });
    }
    if (seen.length !== data.old_count) return open({ isAgain: true });
    attempt(() => refreshCards(grid, view.store, data.changed.map((change) => change.id), cardOf));
    const count = data.moves.length + data.inserts.length;
    if (!count && !data.deletes.length) return;
    // What leaves the stream's window, or comes in, stands elsewhere among what is shown.
    if (ids.length > limit && data.inserts.length + data.deletes.length) return attempt(() => bring({ isAnew: true }));
    const bytes = JSON.stringify(data).length;
    if (ids.length === seen.length) return glide({ ...data, bytes }, 0);
    const order = { ...data, mode: "order", ids: [...applyDiff(seen, data), ...ids.slice(seen.length)], bytes };
    await glide(order, 0);
  };
  ending = aisle.follow(`/v1/stores/${view.store}/shelves/${view.shelf}/events`, { query: { ...query(), limit }, event });
}

// MARK: - Lists

const cardOf = (product) => card(product, session && !device ? make("button", { type: "button", class: "plus", "aria-label": text("addToList", product.name) }, "+") : null);

/** The list that things are put on: the one that was changed last, or a first one. */
async function currentList() {
  const { value } = await aisle.send("/v1/me/lists");
  const list = value.lists.find((list) => list.role !== "reader");
  return list ?? (await aisle.send("/v1/me/lists", { method: "POST", body: { name: text("firstList") } })).value;
}

grid.addEventListener("click", (event) => {
  const button = event.target.closest(".plus");
  if (!button) return;
  const element = button.closest("[data-id]");
  attempt(async () => {
    const list = await currentList();
    await aisle.send(`/v1/me/lists/${list.id}/items`, { method: "POST", body: { items: [{ store: view.store, sku: element.dataset.id }] }, headers: { "idempotency-key": crypto.randomUUID() } });
    const message = text("added", element.querySelector("h2").textContent, list.name);
    find("wire").value = message;
    announce(message);
  }, { isOnce: true });
});

// MARK: - The address

function read() {
  const parts = new URLSearchParams(location.search);
  [view.store, view.shelf, view.sort] = [parts.get("store"), parts.get("shelf"), parts.get("sort")];
  view.filter = {};
  for (const name of new Set(parts.keys())) if (!["store", "shelf", "sort", "device", "user"].includes(name)) view.filter[name] = parts.getAll(name);
}

function address({ replaces = false } = {}) {
  const parts = new URLSearchParams({ store: view.store, shelf: view.shelf, ...(view.sort ? { sort: view.sort } : {}) });
  for (const [name, values] of Object.entries(view.filter)) for (const value of [values].flat()) parts.append(name, value);
  for (const name of ["device", "user"]) if (parameters.get(name)) parts.set(name, parameters.get(name));
  history[replaces ? "replaceState" : "pushState"](null, "", `?${parts}`);
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
  find("sorts").replaceChildren(...options.map((option) => {
    const input = make("input", { type: "radio", name: "sort", value: option.sort });
    input.checked = option.sort === view.sort;
    input.addEventListener("change", () => {
      find("sort-sheet").close();
      resort(option.sort);
    });
    return make("label", {}, input, option.title);
  }));
  find("turn").disabled = view.sort === "position";
  find("devices").hidden = !session?.user || device !== null;
  find("storm").hidden = !session?.storms.includes(view.store) || device !== null;
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
  const { price_min, price_max, ...rest } = view.filter;
  const currency = stores.find((store) => store.key === view.store).currency;
  const bound = (name, value) => value && `${text(name)} ${amount(value, currency)}`;
  const only = (values) => String([values ?? []].flat()[0] ?? null);
  const ranges = [{ price_min: null, price_max: null, count: null }, ...facets.price.buckets].map((bucket) => ({
    value: `${bucket.price_min}-${bucket.price_max}`, count: bucket.count,
    title: [bound("from", bucket.price_min), bound("upTo", bucket.price_max)].filter(Boolean).join(" ") || text("any"),
    isChosen: only(price_min) === String(bucket.price_min) && only(price_max) === String(bucket.price_max),
    filter: () => ({ ...rest, ...(bucket.price_min ? { price_min: bucket.price_min } : {}), ...(bucket.price_max ? { price_max: bucket.price_max } : {}) }),
  }));
  const { in_stock, ...others } = view.filter;
  const stock = [{
    value: "true", count: facets.in_stock.values[0].count, title: text("inStock"), isChosen: String(in_stock) === "true",
    filter: (isOn) => (isOn ? { ...others, in_stock: "true" } : others),
  }];
  const groups = [group(title("in_stock"), "in_stock", stock, true), group(text("price"), "price", ranges, false)];
  for (const key of ["tag", "brand"]) if (facets[key].values.length > 1) groups.push(group(title(key), key, many(key), true));
  const focused = document.activeElement?.closest("#filters") && [document.activeElement.name, document.activeElement.value];
  find("filters").replaceChildren(...groups);
  if (focused) find("filters").querySelector(`[name="${focused[0]}"][value="${CSS.escape(focused[1])}"]`)?.focus();
}

// MARK: - Beginning

find("sort").addEventListener("click", () => find("sort-sheet").showModal());
find("filter").addEventListener("click", () => find("filter-sheet").showModal());
find("clear").addEventListener("click", () => narrow({}));
find("turn").addEventListener("click", () => resort(view.sort.split(",").map((key) => (key.startsWith("-") ? key.slice(1) : `-${key}`)).join(",")));
find("devices").addEventListener("click", () => location.assign(withUser("/devices", { store: view.store, shelf: view.shelf })));
find("storm").addEventListener("click", () => attempt(async () => {
  const played = await storm(view.store);
  announce((find("wire").value = text("stormed", played.day, played.days, played.changed)));
}, { isOnce: true }));
find("offline").addEventListener("click", async () => {
  settings.isOffline = !settings.isOffline;
  find("offline").setAttribute("aria-pressed", String(settings.isOffline));
  turn.now += 1;
  if (settings.isOffline) {
    ending();
    endingSettings();
    return stand(text("isOffline"));
  }
  stand(null);
  await attempt(async () => {
    // What was chosen here is sent; what was chosen later elsewhere comes, and is brought by itself.
    const own = turn.now;
    await settings.sync();
    followSettings();
    if (own === turn.now) await bring({ isAnew: true });
  });
});
onLanguage(() => open({ isAgain: true }));
onEndNear(more);
addEventListener("popstate", () => {
  read();
  open();
});
read();
translate();
open();
