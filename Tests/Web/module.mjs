// Loads a module of the pages without a browser, from its text, because server modules have no file URLs.
import { readFileSync } from "node:fs";

const folder = new URL("../../Sources/CatalogHTTP/Pages/Web/", import.meta.url);

// Node 18 has no CustomEvent.
globalThis.CustomEvent ??= class extends Event {
  constructor(name, { detail } = {}) {
    super(name);
    this.detail = detail;
  }
};

/** @param {string} name @returns {Promise<any>} */
export function load(name) {
  const text = readFileSync(new URL(name, folder), "utf8");
  return import(`data:text/javascript;charset=utf-8,${encodeURIComponent(text)}`);
}
