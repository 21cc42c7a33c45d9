/** The stores and their shelves: reading, choosing and drawing them. */
import { find, make } from "/dom.js";
import { language, text } from "/language.js";
import { viewLink } from "/navigation.js";
import { aisle, withUser } from "/session.js";

/** Loads all stores with their shelves, in their manual order. */
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

/**
 * Replaces a missing or unknown store or shelf of a view by an existing one, and formats amounts and dates as the store does. A view of
 * the whole store (`isWhole`) has no shelf.
 * @returns {string|null} the key of the store or shelf that does not exist
 */
export function resolveView(view, stores) {
  const store = stores.find((store) => store.key === view.store) ?? stores[0];
  const shelf = view.isWhole ? null : store?.shelves.find((shelf) => shelf.key === view.shelf) ?? store?.shelves.find((shelf) => shelf.product_count) ?? store?.shelves[0];
  const unknown = view.store && store?.key !== view.store ? view.store : view.shelf && shelf?.key !== view.shelf ? view.shelf : null;
  language.store = store?.locale;
  [view.store, view.shelf] = [store?.key ?? null, shelf?.key ?? null];
  return unknown;
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
  // On narrow screens, one store is shown at a time.
  const select = make("select", { id: "store", "aria-label": text("store"), "data-label": "store" }, ...stores.map((store) => make("option", { value: store.key }, store.title)));
  select.value = view.store;
  select.addEventListener("change", () => choose(select.value, null));
  const nav = find("shelves");
  nav.replaceChildren(...(stores.length > 1 ? [select] : []), ...lists);
  const current = nav.querySelector("[aria-current]");
  if (!current) return;
  const [inner, outer] = [current.getBoundingClientRect(), nav.getBoundingClientRect()];
  if (inner.bottom > outer.bottom || inner.top < outer.top) nav.scrollTop += inner.top - outer.top - outer.height / 3;
  // On narrow screens, the list is a row, whose current shelf comes to its middle.
  const row = current.closest("ul");
  const frame = row.getBoundingClientRect();
  row.scrollLeft += inner.left + inner.width / 2 - frame.left - frame.width / 2;
}

/** Shows the title of a shelf that is going to be loaded, without products: those of another shelf would have the wrong name above them. */
export function clearShelf(view, stores) {
  const store = stores.find((store) => store.key === view.store);
  const { title } = (view.isWhole ? store : store?.shelves.find((shelf) => shelf.key === view.shelf)) ?? {};
  find("title").textContent = title ?? "\u00a0";
  document.title = title ? `${title} · Aisle` : "Aisle";
  find("count").textContent = "";
  find("products").replaceChildren();
}
