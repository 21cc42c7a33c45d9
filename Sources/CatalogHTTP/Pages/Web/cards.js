/** Products as cards, and the pages of a shelf. */
import { turn } from "/alerts.js";
import { find, idsOf, keepingFocus, make } from "/dom.js";
import { amountText, moneyText, placeholder, sizeText, unitPriceText } from "/format.js";
import { language, text } from "/language.js";
import { aisle } from "/session.js";

/** An amount of a currency in the current language, with at most so many decimals. */
export const amount = (value, currency, most) => amountText(language.now, value, currency, most);
/** An amount in minor units in the current language. */
export const money = (minor, currency) => moneyText(language.now, minor, currency);

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
  for (const [key, value] of Object.entries(placeholder(product))) picture.style.setProperty(`--${key}`, value);
  name.textContent = product.name;
  facts.textContent = [product.brand, sizeText(text("units"), product.size)].filter(Boolean).join(" · ");
  price.textContent = product.price_minor === null ? text("noPrice") : money(product.price_minor, product.currency);
  if (product.regular_price_minor > product.price_minor) price.append(make("s", {}, money(product.regular_price_minor, product.currency)));
  if (!product.in_stock) {
    element.classList.add("out");
    unit.append(make("b", {}, text("soldOut")), " ");
  }
  unit.append(unitPriceText(language.now, text("units"), product.unit_price, product.currency) ?? "");
  if (tool) element.append(tool);
  return element;
}

/** Updates a card in place. */
function redraw(element, fresh) {
  element.product = fresh.product;
  element.classList.toggle("out", fresh.classList.contains("out"));
  element.replaceChildren(...fresh.children);
}

/** Redraws all cards, in another language. @param {(product: any) => HTMLElement} draw */
export function redrawCards(container, draw) {
  for (const child of container.children) if (child.product) redraw(child, draw(child.product));
}

/** Reads products again, and redraws their cards. @param {string[]} ids @param {(product: any) => HTMLElement} draw */
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

/** The cursor after the first `count` products; null if there are no more. */
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
