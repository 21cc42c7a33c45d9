// Loads a module of the pages without a browser, from its text, because server modules have no file URLs.
import { readFileSync } from "node:fs";

const folder = new URL("../../Sources/Site/Web/", import.meta.url);

// Node 18 has no CustomEvent.
globalThis.CustomEvent ??= class extends Event {
  constructor(name, { detail } = {}) {
    super(name);
    this.detail = detail;
  }
};

/** Returns a module's address, with those of the modules that it imports. */
function address(name) {
  const text = readFileSync(new URL(name, folder), "utf8").replaceAll(/^(import .* from )"\/([a-z]+\.js)"/gm, (_, start, imported) => `${start}"${address(imported)}"`);
  return `data:text/javascript;charset=utf-8,${encodeURIComponent(text)}`;
}

/** @param {string} name @returns {Promise<any>} */
export const load = (name) => import(address(name));
