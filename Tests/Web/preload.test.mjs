import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import test from "node:test";

const folder = new URL("../../Sources/Site/Web/", import.meta.url);
// Made by the server: the table of filters, the list of guides and the allowed image origins.
const generated = new Set(["/filters.js", "/guides.js", "/images.js"]);

/** Returns the paths that a module imports. */
async function imports(path) {
  if (generated.has(path)) return [];
  const source = await readFile(new URL(`.${path}`, folder), "utf8");
  return [...source.matchAll(/^import [^;]*?"(\/[^"]+)";/gm)].map((match) => match[1]);
}

/** Returns all modules that a module needs, without itself. */
async function needed(path, found = new Set()) {
  for (const each of await imports(path)) {
    if (found.has(each)) continue;
    found.add(each);
    await needed(each, found);
  }
  return found;
}

for (const page of (await readdir(folder)).filter((name) => name.endsWith(".html"))) {
  const html = await readFile(new URL(page, folder), "utf8");
  const preloads = [...html.matchAll(/<link rel="modulepreload" href="([^"]+)">/g)].map((match) => match[1]);
  if (preloads.length === 0) continue;
  test(`${page} preloads exactly the modules that it needs`, async () => {
    const entry = html.match(/<script type="module" src="([^"]+)"/)[1];
    assert.deepEqual([...preloads].sort(), [...await needed(entry)].sort());
  });
}
