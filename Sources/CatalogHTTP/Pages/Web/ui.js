/** What the pages share: texts, the header, who is signed in, money and product cards. */
import { Aisle, Problem } from "/aisle.js";
import { texts } from "/texts.js";

export const find = (id) => document.getElementById(id);
export const parameters = new URLSearchParams(location.search);
/** The name of this session's device, where the page is one of several. */
export const device = parameters.get("device");

const kept = (name, fallback) => {
  try { return localStorage.getItem(name) ?? fallback; } catch { return fallback; }
};
const keep = (name, value) => {
  try { localStorage.setItem(name, value); } catch { /* For as long as the page lives. */ }
};

// MARK: - Texts

let language = kept("aisle.language", navigator.language.startsWith("ru") ? "ru" : "en");
const languageListeners = [];

/** Calls when another language is chosen. */
export const onLanguage = (listener) => languageListeners.push(listener);
export const text = (name, ...values) => (typeof texts[language][name] === "function" ? texts[language][name](...values) : texts[language][name]);

/** Sets the texts of elements that name theirs by `data-text`, and labels by `data-label`. */
export function translate(root = document) {
  document.documentElement.lang = language;
  for (const element of root.querySelectorAll("[data-text]")) element.textContent = text(element.dataset.text);
  for (const element of root.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", text(element.dataset.label));
    if (element.matches("input")) element.placeholder = text(element.dataset.label);
  }
}

/** An element. Attributes that are undefined, null or false are left out. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// MARK: - Sessions

const people = { "": ["ann", "ben"], "catalog:write": ["mia", "tom"] };
/** What this page may do beyond the user's own; its session is for that. */
let scope = "";
let demo = null;
let token = null;
let user = null;

/** The client of all pages; its token is renewed where the server refuses it. */
export const aisle = new Aisle({ language, token: (isRefused) => (isRefused && demo?.sessions ? renew() : token) });
/** Without a session. */
const nobody = new Aisle();
let renewing = null;

/** One new token, however many ask for it. */
const renew = () => (renewing ??= newToken().finally(() => (renewing = null)));

async function newToken() {
  if (!demo?.sessions) return (token = sessionStorage.getItem(`aisle.token.${scope}`));
  const { value } = await nobody.send("/demo/tokens", { method: "POST", body: { user, scope: scope || null } });
  return (token = value.token);
}

/** Whom a token is of; nothing is proved by this. */
function subjectOf(token) {
  try {
    const bytes = Uint8Array.from(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)).sub ?? null;
  } catch { return null; }
}

/**
 * Begins a session, where the server is a demonstration or a token was given before.
 * @param {string} [wanted] the scope that the page needs
 * @returns {Promise<{user: string, isDemo: boolean, storms: string[]}|null>} null where nobody is signed in
 */
export async function signIn(wanted = "") {
  scope = wanted;
  demo ??= (await nobody.send("/demo")).value;
  user = parameters.get("user") || kept(`aisle.user.${scope}`, people[scope][0]);
  await renew();
  bar();
  return token ? { user: subjectOf(token), isDemo: demo.sessions, storms: demo.storms } : null;
}

/** Where nobody is signed in by itself: a token that somebody pastes, for as long as the tab lives. */
function signInForm() {
  const name = `aisle.token.${scope}`;
  const input = make("input", { type: "text", id: "pasted", autocomplete: "off", required: true, "data-label": "token" });
  const form = token ? make("form", { id: "sign-out" }, make("button", { "data-text": "signOut" })) : make("form", { id: "sign-in" }, input, " ", make("button", { "data-text": "useToken" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (token) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, input.value.trim());
    location.reload();
  });
  return form;
}

/** A link within the pages: whom the address names stays signed in. */
export function withUser(path, parts = {}) {
  const named = parameters.get("user");
  const query = new URLSearchParams({ ...parts, ...(named && { user: named }) });
  return query.size ? `${path}?${query}` : path;
}

// MARK: - The header

/** Draws the header: the pages, who is signed in, the language; a page that is one of several has none. */
function bar() {
  find("bar").hidden = device !== null;
  const links = [["/", "shop"], ["/lists", "lists"], ["/merchandise", "merchandise"], ["/docs", "docs"]].map(([href, name]) =>
    make("a", { href: withUser(href), "aria-current": location.pathname === href ? "page" : null, "data-text": name }, text(name)));
  const choose = (label, options, value, change) => {
    const select = make("select", { "aria-label": text(label), "data-label": label, id: label }, ...options.map(([value, title]) => make("option", { value }, title)));
    select.value = value;
    select.addEventListener("change", () => change(select.value));
    return select;
  };
  const languages = choose("language", [["en", "English"], ["ru", "Русский"]], language, (chosen) => {
    aisle.language = language = chosen;
    keep("aisle.language", chosen);
    translate();
    for (const listener of languageListeners) listener();
  });
  const names = user && !people[scope].includes(user) ? [...people[scope], user] : people[scope];
  const users = demo?.sessions ? choose("user", names.map((name) => [name, name]), user, (chosen) => {
    keep(`aisle.user.${scope}`, chosen);
    const next = new URLSearchParams(location.search);
    next.delete("user");
    if (location.search === `?${next}` || (!location.search && !next.size)) location.reload();
    else location.search = next;
  }) : demo && signInForm();
  find("bar").replaceChildren(make("a", { class: "skip", href: "#content", "data-text": "skip" }, text("skip")), make("a", { class: "brand", href: "/" }, "Aisle"),
    make("nav", { class: "pages", "aria-label": text("pages"), "data-label": "pages" }, ...links), make("div", { class: "choosers" }, users, languages));
  translate();
}

// MARK: - What may go wrong

let standing = null;
/** Whether it is told that the server is away; and what takes another message back after a while. */
let [isTold, passing] = [false, null];

/** Tells what went wrong, or nothing but what stands anyway. It is there for some seconds. */
export function alarm(message) {
  clearTimeout(passing);
  isTold = message === text("away") || message === text("waiting");
  if (message && !isTold) passing = setTimeout(() => alarm(null), 10_000);
  const said = standing ?? message;
  find("away").hidden = !said;
  find("away").textContent = said ?? "";
}

/** The server is there again. */
export const relieve = () => isTold && alarm(null);

/** What is told before all else, for as long as it stands. */
export function stand(message) {
  standing = message;
  alarm(null);
}

/** Grows with every change of what a page shows: what was asked for before is of no account. */
export const turn = { now: 0 };

/**
 * Does something that asks the server, tells what goes wrong, and tries again for as long as the server is away.
 * @param {() => Promise<any>} work
 * @param {{isKept?: boolean, isRefused?: (error: Problem) => boolean}} [how] whether it is to be done even when another turn has
 *   begun, as what the user wrote is; who mends what was refused, so that it is tried again
 * @returns {Promise<any>} what came; undefined where nothing did, or another turn began
 */
export async function attempt(work, { isKept = false, isRefused = () => false } = {}) {
  for (const own = turn.now; isKept || own === turn.now; ) {
    try {
      const value = await work();
      if (isKept || own === turn.now) relieve();
      return value;
    } catch (error) {
      if (!isKept && own !== turn.now) return;
      if (error instanceof Problem && isRefused(error)) continue;
      alarm(problemText(error));
      if (!(error instanceof Problem)) console.error(error);
      if (!isAway(error)) return;
      await new Promise((done) => setTimeout(done, 2000));
    }
  }
}

/** Whether nothing is wrong with the request: the server cannot be reached for now, is busy, or has a fault. */
export const isAway = (error) => error instanceof Problem && (error.status === 0 || error.status === 429 || error.status >= 500);
export const problemText = (error) => (isAway(error) ? text("away") : `${text("wrong")} ${error.message}`);

/** Says something to who listens, without showing it. */
export function announce(message) {
  const live = find("announcements");
  live.textContent = live.textContent === message ? `${message}\u00a0` : message;
}

// MARK: - Products

const formats = new Map();

function format(currency, most) {
  const key = `${language} ${currency} ${most}`;
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat(language, { style: "currency", currency, ...(most && { maximumFractionDigits: most }) }));
  return formats.get(key);
}

export const amount = (value, currency, most) => format(currency, most).format(value);
export const money = (minor, currency) => amount(minor / 10 ** format(currency).resolvedOptions().maximumFractionDigits, currency);
export const byteText = (count) => (count < 1000 ? `${count} B` : `${(count / 1000).toFixed(1)} kB`);

function sizeText(product) {
  if (!product.size) return null;
  const { packs, amount, unit, approximate } = product.size;
  return `${approximate ? "≈ " : ""}${packs > 1 ? `${packs} × ` : ""}${quantityText(amount, unit)}`;
}

const quantityText = (amount, unit) => `${amount} ${text("units")[unit]?.(amount) ?? unit}`;

const unitPriceText = (product) => product.unit_price && `${amount(product.unit_price.value, product.currency, 4)} / ${quantityText(...product.unit_price.per.split(" "))}`;

const blank = document.createElement("template");
blank.innerHTML = '<li class="card"><div class="picture"></div><h2></h2><p class="facts"></p><p class="price"></p><p class="unit"></p></li>';

/**
 * A product's card, with a drawn placeholder as its picture, always the same for a product: none is loaded from anywhere.
 * @param {any} product @param {HTMLElement|null} [tool] a button of its own
 */
export function card(product, tool) {
  const element = blank.content.firstChild.cloneNode(true);
  const [picture, name, facts, price, unit] = element.children;
  element.dataset.id = product.sku;
  element.product = product;
  let hash = 0;
  for (const letter of product.sku + product.name) hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  const drawn = { hue: hash % 360, width: `${30 + ((hash >>> 9) % 25)}%`, height: `${45 + ((hash >>> 13) % 35)}%`, round: `${(hash >>> 17) % 14}px` };
  for (const [key, value] of Object.entries(drawn)) picture.style.setProperty(`--${key}`, value);
  name.textContent = product.name;
  facts.textContent = [product.brand, sizeText(product)].filter(Boolean).join(" · ");
  price.textContent = product.price_minor === null ? text("noPrice") : money(product.price_minor, product.currency);
  if (product.regular_price_minor > product.price_minor) price.append(make("s", {}, money(product.regular_price_minor, product.currency)));
  if (!product.in_stock) {
    element.classList.add("out");
    unit.append(make("b", {}, text("soldOut")), " ");
  }
  unit.append(unitPriceText(product) ?? "");
  if (tool) element.append(tool);
  return element;
}

/** The ids of an element's children, in order. */
export const idsOf = (container) => [...container.children].filter((child) => child.dataset.id).map((child) => child.dataset.id);

/** The child of an element that has an id. @returns {HTMLElement|null} */
export const childOf = (container, id) => container.querySelector(`:scope > [data-id="${CSS.escape(id ?? "")}"]`);

/** The id of the child that stands behind another, or else before it. */
export const besideOf = (child) => [child.nextElementSibling, child.previousElementSibling].find((other) => other?.dataset.id)?.dataset.id;

/** A link to another view of this page, with a number: a plain press goes there without loading the page anew. */
export function viewLink(href, isCurrent, title, count, go) {
  const link = make("a", { href, "aria-current": isCurrent ? "page" : null }, title, make("span", {}, String(count)));
  link.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go();
  });
  return link;
}

/** Gives the focus back to the control that had it, where its row or card was drawn anew. @returns {() => void} */
export function keepingFocus(container) {
  const focused = document.activeElement;
  const child = [...container.children].find((child) => child.contains(focused));
  const [id, control] = [child?.dataset.id, focused?.classList[0]];
  return () => {
    if (!id || focused.isConnected) return;
    const found = [...container.children].find((child) => child.dataset.id === id);
    (found === undefined ? null : child === focused ? found : found.querySelector(`.${control}`))?.focus({ preventScroll: true });
  };
}

/** Draws a card anew, in its place. */
function redraw(element, fresh) {
  element.product = fresh.product;
  element.classList.toggle("out", fresh.classList.contains("out"));
  element.replaceChildren(...fresh.children);
}

/** Draws all cards anew, in another language. @param {(product: any) => HTMLElement} draw */
export function redrawCards(container, draw) {
  for (const child of container.children) if (child.product) redraw(child, draw(child.product));
}

/** Reads products again, and draws the cards that show them anew. @param {string[]} ids @param {(product: any) => HTMLElement} draw */
export async function refreshCards(container, store, ids, draw) {
  const own = turn.now;
  for (let at = 0; at < ids.length; at += 100) {
    const { value } = await aisle.send(`/v1/stores/${store}/products`, { query: { sku: ids.slice(at, at + 100) } });
    if (own !== turn.now) return;
    const fresh = new Map(value.products.map((product) => [product.sku, product]));
    const restore = keepingFocus(container);
    for (const child of container.children) if (fresh.has(child.dataset.id)) redraw(child, draw(fresh.get(child.dataset.id)));
    restore();
  }
}

/**
 * Reads the products behind those that are shown, and appends their cards.
 * @param {{store: string, shelf: string}} view @param {string|undefined} next their cursor, where it is known
 * @param {(product: any) => HTMLElement} draw
 * @returns {Promise<{next: string|null}|null>} the cursor behind them; null where what is shown changed meanwhile
 */
export async function appendPage(container, { store, shelf }, query, next, draw) {
  const [own, ids] = [turn.now, idsOf(container)];
  const cursor = next ?? (await cursorBehind(store, shelf, query, ids.length));
  const page = cursor && (await aisle.page(store, shelf, { ...query, cursor, limit: 100 }));
  if (own !== turn.now || idsOf(container).join("/") !== ids.join("/")) return null;
  if (!page) return { next: null };
  // One that moved here meanwhile is here already.
  const known = new Set(ids);
  container.append(...page.products.filter((product) => !known.has(product.sku)).map(draw));
  return { next: page.page.next_cursor };
}

/** The cursor behind the first so many products; null where there are no more. */
async function cursorBehind(store, shelf, query, count) {
  let cursor;
  for (let left = count; left > 0 && cursor !== null; ) {
    const page = await aisle.page(store, shelf, { ...query, cursor, limit: Math.min(left, 100) });
    left -= page.products.length;
    cursor = page.page.next_cursor;
  }
  return cursor ?? null;
}

/** Whether the end of what is shown is in sight, or soon. */
export const isEndNear = () => find("end").getBoundingClientRect().top < innerHeight * 2;

/** Calls whenever the end may have come near. */
export function onEndNear(more) {
  for (const name of ["scroll", "resize"]) addEventListener(name, () => isEndNear() && more(), { passive: true });
}

// MARK: - Stores and shelves

/** All stores with their shelves, in their manual order. */
export async function readStores() {
  const { value: { stores } } = await aisle.send("/v1/stores");
  await Promise.all(stores.map(async (store) => {
    store.shelves = [];
    for (let cursor; cursor !== null; ) {
      const { value } = await aisle.send(`/v1/stores/${store.key}/shelves`, { query: { limit: 100, cursor } });
      store.shelves.push(...value.shelves);
      cursor = value.page.next_cursor;
    }
  }));
  return stores;
}

/** A store and a shelf that there are, where a view names none. */
export function settle(view, stores) {
  const store = stores.find((store) => store.key === view.store) ?? stores[0];
  const shelf = store?.shelves.find((shelf) => shelf.key === view.shelf) ?? store?.shelves.find((shelf) => shelf.product_count) ?? store?.shelves[0];
  [view.store, view.shelf] = [store?.key ?? null, shelf?.key ?? null];
}

/** Draws the stores and their shelves as links. @param {(store: string, shelf: string) => void} choose */
export function drawShelves(view, stores, choose) {
  const lists = stores.map((store) => {
    const list = make("ul", {}, ...store.shelves.map((shelf) => {
      const isCurrent = store.key === view.store && shelf.key === view.shelf;
      const href = withUser(location.pathname, { store: store.key, shelf: shelf.key });
      return make("li", {}, viewLink(href, isCurrent, shelf.title, shelf.product_count, () => choose(store.key, shelf.key)));
    }));
    return make("section", { class: store.key === view.store ? null : "other" }, make("h2", {}, store.title), list);
  });
  // Where there is little room, one store is shown at a time.
  const select = make("select", { id: "store", "aria-label": text("store"), "data-label": "store" }, ...stores.map((store) => make("option", { value: store.key }, store.title)));
  select.value = view.store;
  select.addEventListener("change", () => choose(select.value, null));
  const nav = find("shelves");
  nav.replaceChildren(...(stores.length > 1 ? [select] : []), ...lists);
  const current = nav.querySelector("[aria-current]");
  if (!current) return;
  const [inner, outer] = [current.getBoundingClientRect(), nav.getBoundingClientRect()];
  if (inner.bottom > outer.bottom || inner.top < outer.top) nav.scrollTop += inner.top - outer.top - outer.height / 3;
  const row = current.closest("ul");
  row.scrollLeft += inner.left - row.getBoundingClientRect().left - 16;
}

// MARK: - The address

let address = location.search;

/** Another view of this page: the address tells it. */
export function navigate(path, { replaces = false } = {}) {
  history[replaces ? "replaceState" : "pushState"](null, "", path);
  address = location.search;
}

/** Calls when one goes back or forth to another view; going to a part of this one is none. */
export function onNavigate(listener) {
  addEventListener("popstate", () => {
    if (location.search === address) return;
    address = location.search;
    listener(new URLSearchParams(address));
  });
}

/** What a change took, in short. */
export const tellWire = (diff, bytes, time) => {
  const count = diff.mode === "order" ? null : diff.moves.length + diff.inserts.length;
  find("wire").value = [count === null ? null : text("moves", count, diff.new_count), byteText(bytes), time === undefined ? null : text("time", time)].filter(Boolean).join(", ");
};

// A sheet closes where one clicks beside it.
for (const sheet of document.querySelectorAll("dialog")) sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());

/** Plays the next day of a store's prices, where the server is a demonstration. @returns {Promise<{day: number, days: number, changed: number}>} */
export async function storm(store) {
  const { value: { token } } = await nobody.send("/demo/tokens", { method: "POST", body: { user: people["catalog:write"][0], scope: "catalog:write" } });
  return (await new Aisle({ token }).send(`/demo/stores/${store}/storm`, { method: "POST" })).value;
}

bar();
