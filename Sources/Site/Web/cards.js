/** Products as cards, and the pages of a shelf. */
import { generation } from "/alerts.js";
import { find, idsOf, saveFocus, make } from "/dom.js";
import { amountText, moneyText, placeholder, sizeText, unitPriceText } from "/format.js";
import { imageOrigins } from "/images.js";
import { language, text } from "/language.js";
import { aisle } from "/session.js";

/** Formats an amount in the store's locale with at most `maximumDecimals` decimals. */
export const amount = (value, currency, maximumDecimals) => amountText(language.locale, value, currency, maximumDecimals);
/** Formats an amount in minor units in the store's locale. */
export const money = (minor, currency) => moneyText(language.locale, minor, currency);

const blank = document.createElement("template");
blank.innerHTML = '<li class="card"><div class="picture"></div><h2></h2><p class="facts"></p><p class="price"></p><p class="unit"></p></li>';

/**
 * Creates a product's card. A product without a photo has a placeholder that depends only on the product.
 * @param {any} product @param {HTMLElement|null} [tool] an extra button
 */
export function card(product, tool) {
  const element = blank.content.firstChild.cloneNode(true);
  const [picture, name, facts, price, unit] = element.children;
  element.dataset.id = product.sku;
  element.product = product;
  for (const [key, value] of Object.entries(placeholder(product))) picture.style.setProperty(`--${key}`, value);
  if (product.image_url && isAllowed(product.image_url)) {
    const photo = make("img", { src: product.image_url, alt: "", loading: "lazy", width: 200, height: 160 });
    // Until it is loaded, the placeholder is shown.
    photo.addEventListener("load", () => photo.classList.add("loaded"));
    photo.addEventListener("error", () => photo.remove());
    picture.append(photo);
  }
  name.textContent = product.name;
  facts.textContent = [product.brand, sizeText(text("units"), product.size)].filter(Boolean).join(" · ");
  price.textContent = product.price_minor === null ? text("noPrice") : money(product.price_minor, product.currency);
  if (product.regular_price_minor > product.price_minor) price.append(make("s", {}, money(product.regular_price_minor, product.currency)));
  if (!product.in_stock) {
    element.classList.add("out");
    unit.append(make("b", {}, text("soldOut")), " ");
  }
  unit.append(unitPriceText(language.locale, text("units"), product.unit_price, product.currency) ?? "");
  if (tool) element.append(tool);
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
  element.classList.toggle("out", fresh.classList.contains("out"));
  // A loaded photo stays, so that it does not flicker.
  const [old, photo] = [element, fresh].map((card) => card.querySelector("img"));
  if (old && old.getAttribute("src") === photo?.getAttribute("src")) photo.replaceWith(old);
  element.replaceChildren(...fresh.children);
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
    const fresh = new Map(value.products.map((product) => [product.sku, product]));
    const restore = saveFocus(container);
    for (const child of container.children) if (fresh.has(child.dataset.id)) redraw(child, draw(fresh.get(child.dataset.id)));
    restore();
  }
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
  container.append(...page.products.filter((product) => !known.has(product.sku)).map(draw));
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
