import { Aisle, Problem, animate } from "/aisle.js";
import { texts } from "/texts.js";

const aisle = new Aisle();
const find = (id) => document.getElementById(id);
const [grid, state, away] = [find("products"), find("state"), find("away")];
const pageSize = 60;

/** What is shown: it stands in the address, so that a link and the back button bring it back. */
const view = { store: null, shelf: null, sort: null, filter: {} };
let language = localStorage.getItem("aisle.language") ?? (navigator.language.startsWith("ru") ? "ru" : "en");
let stores = [];
let shelf = null;
/** The cursor behind what is shown; null at the end, undefined where it is not known since another sort came. */
let next = null;
let isLoading = false;
let facets = null;
let ending = () => {};
/** Grows with every change of the view: what was asked for before is of no account. */
let turn = 0;

const text = (name, ...values) => (typeof texts[language][name] === "function" ? texts[language][name](...values) : texts[language][name]);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

// MARK: - Products

function money(minor, currency) {
  const format = new Intl.NumberFormat(language, { style: "currency", currency });
  return format.format(minor / 10 ** format.resolvedOptions().maximumFractionDigits);
}

/** A drawn placeholder, always the same for a product: no picture is loaded from anywhere. */
function picture(product) {
  let hash = 0;
  for (const letter of product.sku + product.name) hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 40 30");
  svg.setAttribute("aria-hidden", "true");
  const draw = (name, attributes) => {
    const part = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    svg.append(part);
  };
  const hue = hash % 360;
  draw("rect", { width: 40, height: 30, fill: `hsl(${hue} 45% 86%)` });
  const [width, height] = [10 + (hash >>> 9) % 9, 14 + (hash >>> 13) % 9];
  draw("rect", { x: 20 - width / 2, y: 27 - height, width, height, rx: (hash >>> 17) % 6, fill: `hsl(${hue} 42% 48%)` });
  draw("rect", { x: 20 - width / 2, y: 30 - height, width, height: 4, fill: `hsl(${(hue + 40) % 360} 60% 72%)` });
  return svg;
}

function size(product) {
  if (!product.size) return null;
  const { packs, amount, unit, approximate } = product.size;
  return `${approximate ? "≈ " : ""}${packs > 1 ? `${packs} × ` : ""}${amount} ${unit}`;
}

function card(product) {
  const price = make("p", { class: "price" }, product.price_minor === null ? text("noPrice") : money(product.price_minor, product.currency));
  if (product.regular_price_minor > product.price_minor) price.append(make("s", {}, money(product.regular_price_minor, product.currency)));
  const unit = product.unit_price && `${product.unit_price.value} / ${product.unit_price.per}`;
  const facts = [product.brand, size(product)].filter(Boolean).join(" · ");
  return make("li", { class: product.in_stock ? "card" : "card out", "data-id": product.sku }, picture(product), make("h2", {}, product.name),
    facts ? make("p", {}, facts) : null, product.in_stock ? null : make("p", { class: "out-mark" }, text("soldOut")), price, unit ? make("p", {}, unit) : null);
}

const shown = () => [...grid.querySelectorAll(":scope > [data-id]")].map((element) => element.dataset.id);

// MARK: - Reading

async function attempt(work) {
  const own = turn;
  try {
    const value = await work();
    away.hidden = true;
    return value;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (own !== turn) return;
    away.hidden = false;
    away.textContent = error.status === 0 || error.status === 503 ? text("away") : `${text("wrong")} ${error.message}`;
    if (error.status === 0 || error.status === 503) setTimeout(() => own === turn && open({ isAgain: true }), 2000);
  }
}

const query = () => ({ ...view.filter, ...(view.sort ? { sort: view.sort } : {}) });

async function open({ isAgain = false } = {}) {
  const own = ++turn;
  ending();
  if (!isAgain) state.textContent = text("loading");
  await attempt(async () => {
    if (!stores.length) {
      stores = await aisle.stores();
      for (const store of stores) store.shelves = await aisle.shelves(store.key);
    }
    if (own !== turn) return;
    settle();
    if (!view.shelf) return (state.textContent = text("noStores"));
    const [found, page] = await Promise.all([
      aisle.shelf(view.store, view.shelf), aisle.page(view.store, view.shelf, { ...query(), limit: pageSize, facets: "brand,tag,in_stock,price" }),
    ]);
    if (own !== turn) return;
    shelf = found;
    view.sort ??= page.sort.keys;
    grid.replaceChildren(...page.products.map(card));
    take(page);
    render();
    follow(own);
  });
}

function take(page) {
  next = page.page.next_cursor;
  facets = page.facets ?? facets;
  const total = facets?.total ?? shelf.product_count;
  find("count").textContent = text("products", total, shelf.product_count);
  state.textContent = grid.childElementCount ? "" : text(shelf.product_count ? "empty" : "emptyShelf");
}

async function more() {
  if (isLoading || next === null) return;
  isLoading = true;
  const own = turn;
  state.textContent = text("more");
  await attempt(async () => {
    if (next === undefined) await seek(own);
    if (own !== turn) return;
    if (next === null) return (state.textContent = "");
    const page = await aisle.page(view.store, view.shelf, { ...query(), cursor: next, limit: pageSize });
    if (own !== turn) return;
    // One that moved here meanwhile is here already.
    const known = new Set(shown());
    grid.append(...page.products.filter((product) => !known.has(product.sku)).map(card));
    take(page);
  });
  isLoading = false;
  // As long as the end is in sight.
  if (own === turn && next && isEndNear()) more();
}

const isEndNear = () => find("end").getBoundingClientRect().top < innerHeight * 2;

/** Another sort of the same products: the server's diff of what is shown, animated. */
async function resort(sort) {
  if (sort === view.sort) return;
  const own = ++turn;
  ending();
  const limit = Math.max(grid.childElementCount, pageSize);
  const from = view.sort;
  view.sort = sort;
  address();
  render();
  await attempt(async () => {
    const start = performance.now();
    const diff = await aisle.diff(view.store, view.shelf, { ...view.filter, from_sort: from, to_sort: sort, limit: Math.min(limit, 10_000) });
    const time = Math.round(performance.now() - start);
    if (own !== turn) return;
    const ids = shown();
    // What was changed since it was read is read anew.
    if (ids.length !== diff.old_count) return open();
    find("wire").value = text("moves", diff.moves.length + diff.inserts.length, diff.new_count, bytes(diff.bytes), time);
    scrollTo({ top: Math.min(scrollY, grid.offsetTop - 80) });
    const ended = await animate(grid, diff, (insert) => card(insert.product));
    if (own !== turn) return;
    document.documentElement.dataset.script = ended.script.toFixed(1);
    next = grid.childElementCount < (facets?.total ?? shelf.product_count) ? undefined : null;
    follow(own);
    if (isEndNear()) more();
  });
}

/** The cursor behind what is shown, by the sort that is shown now. */
async function seek(own) {
  let [left, cursor] = [grid.childElementCount, undefined];
  while (left > 0) {
    const found = await aisle.page(view.store, view.shelf, { ...query(), cursor, limit: Math.min(left, 100) });
    if (own !== turn) return;
    left -= found.products.length;
    cursor = found.page.next_cursor;
    if (!cursor) break;
  }
  next = cursor ?? null;
}

const bytes = (count) => (count < 1000 ? `${count} B` : `${(count / 1000).toFixed(1)} kB`);

/** The shelf as others change it. */
function follow(own) {
  const limit = Math.min(100, Math.max(grid.childElementCount, 1));
  const tell = { query: { ...query(), limit } };
  tell.event = async ({ name, data }) => {
    if (own !== turn || name !== "order") return;
    if (data.mode === "order") {
      // What was changed between the page and the stream.
      const ids = shown().slice(0, data.ids.length);
      return ids.join("/") === data.ids.join("/") ? undefined : open({ isAgain: true });
    }
    const ids = shown().slice(0, data.old_count);
    if (ids.length !== data.old_count) return open();
    const rest = [...grid.children].slice(ids.length);
    rest.forEach((element) => element.remove());
    await animate(grid, data, (insert) => card(insert.product));
    grid.append(...rest);
    if (data.changed.length) refresh(data.changed.map((change) => change.id));
    find("wire").value = text("moves", data.moves.length + data.inserts.length, data.new_count, bytes(JSON.stringify(data).length), 0);
  };
  ending = aisle.follow(`/v1/stores/${view.store}/shelves/${view.shelf}/events`, tell);
}

async function refresh(ids) {
  const { value } = await aisle.send(`/v1/stores/${view.store}/products`, { query: { sku: ids.slice(0, 100) } });
  for (const product of value.products) grid.querySelector(`[data-id="${CSS.escape(product.sku)}"]`)?.replaceWith(card(product));
}

// MARK: - The address

function read() {
  const parts = new URLSearchParams(location.search);
  [view.store, view.shelf, view.sort] = [parts.get("store"), parts.get("shelf"), parts.get("sort")];
  view.filter = {};
  for (const name of new Set(parts.keys())) if (!["store", "shelf", "sort"].includes(name)) view.filter[name] = parts.getAll(name);
}

/** A store and a shelf that there are, where the address names none. */
function settle() {
  const store = stores.find((store) => store.key === view.store) ?? stores[0];
  const found = store?.shelves.find((shelf) => shelf.key === view.shelf) ?? store?.shelves.find((shelf) => shelf.product_count) ?? store?.shelves[0];
  [view.store, view.shelf] = [store?.key ?? null, found?.key ?? null];
  renderShelves();
}

function address({ replaces = false } = {}) {
  const parts = new URLSearchParams({ store: view.store, shelf: view.shelf, ...(view.sort ? { sort: view.sort } : {}) });
  for (const [name, values] of Object.entries(view.filter)) for (const value of [values].flat()) parts.append(name, value);
  history[replaces ? "replaceState" : "pushState"](null, "", `?${parts}`);
}

// MARK: - Rendering

function renderShelves() {
  find("shelves").replaceChildren(...stores.map((store) => {
    const list = make("ul", {}, ...store.shelves.map((shelf) => {
      const isCurrent = store.key === view.store && shelf.key === view.shelf;
      const link = make("a", { href: `?store=${store.key}&shelf=${shelf.key}`, "aria-current": isCurrent ? "page" : null }, shelf.title, make("span", {}, String(shelf.product_count)));
      link.addEventListener("click", (event) => {
        if (event.metaKey || event.ctrlKey) return;
        event.preventDefault();
        Object.assign(view, { store: store.key, shelf: shelf.key, sort: null, filter: {} });
        address();
        open().then(() => find("title").focus({ preventScroll: true }));
      });
      return make("li", {}, link);
    }));
    return make("section", {}, make("h2", {}, store.title), list);
  }));
}

function render() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = text(element.dataset.text);
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", text(element.dataset.label));
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
  const amount = (value) => new Intl.NumberFormat(language, { style: "currency", currency }).format(Number(value));
  const ranges = [{ price_min: null, price_max: null, count: null }, ...facets.price.buckets].map((bucket) => ({
    value: `${bucket.price_min}-${bucket.price_max}`, count: bucket.count,
    title: [bucket.price_min && `${text("from")} ${amount(bucket.price_min)}`, bucket.price_max && `${text("upTo")} ${amount(bucket.price_max)}`].filter(Boolean).join(" ") || text("any"),
    isChosen: String([price_min ?? []].flat()[0] ?? null) === String(bucket.price_min) && String([price_max ?? []].flat()[0] ?? null) === String(bucket.price_max),
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
for (const sheet of document.querySelectorAll("dialog")) sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
find("language").value = language;
find("language").addEventListener("change", (event) => {
  language = aisle.language = event.target.value;
  localStorage.setItem("aisle.language", language);
  open({ isAgain: true });
});
aisle.language = language;
new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && more(), { rootMargin: "800px" }).observe(find("end"));
addEventListener("popstate", () => {
  read();
  open();
});
read();
render();
open();
