/** Products as cards, and the pages of a shelf. */
import { generation } from "/alerts.js";
import { find, idsOf, saveFocus, make } from "/dom.js";
import { amountText, moneyText, placeholder, sizeText, unitPriceText } from "/format.js";
import { imageOrigins } from "/images.js";
import { language, text } from "/language.js";
import { marked } from "/matches.js";
import { aisle } from "/session.js";

/** Formats an amount in the store's locale with at most `maximumDecimals` decimals. */
export const amount = (value, currency, maximumDecimals) => amountText(language.locale, value, currency, maximumDecimals);
/** Formats an amount in minor units in the store's locale. */
export const money = (minor, currency) => moneyText(language.locale, minor, currency);

const blank = document.createElement("template");
blank.innerHTML = '<li class="card"><div class="picture"></div><h2></h2><p class="facts"></p><p class="price"></p><p class="unit"></p></li>';

/** Whether a product represents its group on a card. */
const isGroup = (product) => product.members_total !== undefined && Boolean(product.group);

/** Returns the id of a product's card in orders and diffs. */
export const cardID = (product) => (isGroup(product) ? `group/${product.group}` : product.sku);

/** Returns the product that the card of a group shows. */
export const chosenMember = (product) => (isGroup(product) && product.members?.find((member) => member.sku === product.chosen)) || product;

/** Creates the buttons of a group's members, with their sizes or names, and prices. */
function memberList(product, shown) {
  const labels = product.members.map((member) => sizeText(text("units"), member.size) ?? member.name);
  return make("ul", { class: "members", "aria-label": text("variants") }, ...product.members.map((member, index) => {
    // Members that differ in other ways than the size have their names.
    const label = labels.indexOf(labels[index]) === labels.lastIndexOf(labels[index]) ? labels[index] : member.name;
    const price = member.price_minor === null ? null : ` ${money(member.price_minor, member.currency)}`;
    return make("li", {}, make("button", { type: "button", class: "member", value: member.sku, "aria-pressed": String(member.sku === shown.sku) }, label, price));
  }));
}

/** Shows another member of a group on its card. @param {(product: any) => HTMLElement} draw */
export function showMember(element, sku, draw) {
  redraw(element, draw({ ...element.product, chosen: sku }));
  element.querySelector(`.member[value="${CSS.escape(sku)}"]`)?.focus({ preventScroll: true });
}

/**
 * Creates the card of a product or a product group. A product without a photo has a placeholder that depends only on the product.
 * @param {any} item a product, with the members of its group if it represents them @param {(product: any) => HTMLElement|null} [tool]
 *   returns an extra button for the shown product
 */
export function card(item, tool = () => null) {
  const element = blank.content.firstChild.cloneNode(true);
  const [picture, name, facts, price, unit] = element.children;
  const product = chosenMember(item);
  element.dataset.id = cardID(item);
  element.product = item;
  for (const [key, value] of Object.entries(placeholder(product))) picture.style.setProperty(`--${key}`, value);
  if (product.image_url && isAllowed(product.image_url)) {
    const photo = make("img", { src: product.image_url, alt: "", loading: "lazy", width: 200, height: 160 });
    // Until it is loaded, the placeholder is shown.
    photo.addEventListener("load", () => photo.classList.add("loaded"));
    photo.addEventListener("error", () => photo.remove());
    picture.append(photo);
  }
  const matches = (field) => (product.matches ?? []).filter((match) => match.field === field);
  name.append(...marked(product.name, matches("name")));
  if (product.brand) facts.append(...marked(product.brand, matches("brand")));
  const fact = isGroup(item) && item.members_total > 1 ? text("members", item.members_matching, item.members_total) : sizeText(text("units"), product.size);
  if (fact) facts.append(product.brand ? " · " : "", fact);
  price.textContent = product.price_minor === null ? text("noPrice") : money(product.price_minor, product.currency);
  if (product.regular_price_minor > product.price_minor) price.append(make("s", {}, money(product.regular_price_minor, product.currency)));
  if (!product.in_stock) {
    element.classList.add("out");
    unit.append(make("b", {}, text("soldOut")), " ");
  }
  unit.append(unitPriceText(language.locale, text("units"), product.unit_price, product.currency) ?? "");
  if (isGroup(item) && item.members?.length > 1) {
    element.classList.add("grouped");
    element.append(memberList(item, product));
  }
  const button = tool(product);
  if (button) element.append(button);
  return element;
}

/** Whether a photo's address is valid, and the content security policy allows it. */
function isAllowed(url) {
  if (!URL.canParse(url, location.href)) return false;
  const { origin } = new URL(url, location.href);
  return origin === location.origin || imageOrigins.includes(origin);
}

/** Updates a card in place. */
function redraw(element, fresh) {
  element.product = fresh.product;
  for (const name of ["out", "grouped"]) element.classList.toggle(name, fresh.classList.contains(name));
  // A loaded photo stays, so that it does not flicker.
  const [old, photo] = [element, fresh].map((card) => card.querySelector("img"));
  if (old && old.getAttribute("src") === photo?.getAttribute("src")) photo.replaceWith(old);
  const place = element.querySelector(".members")?.scrollLeft ?? 0;
  element.replaceChildren(...fresh.children);
  const list = element.querySelector(".members");
  if (list) list.scrollLeft = place;
}

/** Redraws all cards, for example after a change of language. @param {(product: any) => HTMLElement} draw */
export function redrawCards(container, draw) {
  for (const child of container.children) if (child.product) redraw(child, draw(child.product));
}

/** Reloads products and redraws their cards. @param {string[]} ids @param {(product: any) => HTMLElement} draw */
export async function refreshCards(container, store, ids, draw) {
  const own = generation.now;
  for (let at = 0; at < ids.length; at += 100) {
    const { value } = await aisle.send(`/v1/stores/${store}/products`, { query: { sku: ids.slice(at, at + 100) } });
    if (own !== generation.now) return;
    replaceProducts(container, value.products, draw);
  }
}

/** Redraws the cards of products that were read again. @param {(product: any) => HTMLElement} draw */
export function replaceProducts(container, products, draw) {
  const fresh = new Map(products.map((product) => [cardID(product), product]));
  const restore = saveFocus(container);
  for (const child of container.children) {
    const product = fresh.get(child.dataset.id);
    if (product) redraw(child, draw({ ...product, chosen: child.product?.chosen }));
  }
  restore();
}

/**
 * Loads the next page of products and appends their cards.
 * @param {{store: string, shelf: string}} view @param {string|undefined} next the cursor of the next page, if known
 * @param {(product: any) => HTMLElement} draw
 * @returns {Promise<{next: string|null}|null>} the cursor after that page; null if the shown products changed in the meantime
 */
export async function appendPage(container, { store, shelf }, query, next, draw) {
  const [own, ids] = [generation.now, idsOf(container)];
  const cursor = next ?? (await cursorAfter(store, shelf, query, ids.length));
  const page = cursor && (await aisle.page(store, shelf, { ...query, cursor, limit: 100 }));
  if (own !== generation.now || idsOf(container).join("/") !== ids.join("/")) return null;
  if (!page) return { next: null };
  // A product that moved in the meantime may already be shown.
  const known = new Set(ids);
  container.append(...page.products.filter((product) => !known.has(cardID(product))).map(draw));
  return { next: page.page.next_cursor };
}

/** Returns the cursor after the first `count` products; null at the end. */
async function cursorAfter(store, shelf, query, count) {
  let cursor;
  for (let left = count; left > 0 && cursor !== null; ) {
    const page = await aisle.page(store, shelf, { ...query, cursor, limit: Math.min(left, 100) });
    left -= page.products.length;
    cursor = page.page.next_cursor;
  }
  return cursor ?? null;
}

/** Whether the end of the grid is within two screen heights. */
export const isEndNear = () => find("end").getBoundingClientRect().top < innerHeight * 2;

/** Calls the listener on scroll and resize when the end is near. */
export function onEndNear(more) {
  for (const name of ["scroll", "resize"]) addEventListener(name, () => isEndNear() && more(), { passive: true });
}
