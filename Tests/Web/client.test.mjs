import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./module.mjs";

globalThis.document ??= { hidden: false, addEventListener() {}, removeEventListener() {} };
const { Aisle, Problem } = await load("aisle.js");

/** Runs a body with a `fetch` that responds by address, and returns the requested addresses. */
async function withResponses(respond, body) {
  const addresses = [];
  const original = globalThis.fetch;
  globalThis.fetch = async (address) => {
    addresses.push(address);
    return respond(address);
  };
  try { await body(); } finally { globalThis.fetch = original; }
  return addresses;
}

const json = (value, status = 200) => new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });

test("a base may end with a slash", async () => {
  const addresses = await withResponses(() => json({}), () => new Aisle({ base: "https://shop.example/" }).shelf("corner", "dairy"));
  assert.deepEqual(addresses, ["https://shop.example/v1/stores/corner/shelves/dairy"]);
});

test("pages are read to the last one", async () => {
  const shown = [];
  const respond = (address) => json(address.includes("cursor=next") ? { products: ["c"], page: { next_cursor: null } } : { products: ["a", "b"], page: { next_cursor: "next" } });
  const addresses = await withResponses(respond, async () => {
    for await (const { products } of new Aisle().pages("corner", "dairy", { sort: "price" })) shown.push(...products);
  });
  assert.deepEqual(shown, ["a", "b", "c"]);
  assert.ok(addresses.every((address) => address.includes("sort=price")));
});

test("a read sends the positions of the last writes", async () => {
  const sent = [], original = globalThis.fetch;
  globalThis.fetch = async (_, { method, headers }) => {
    sent.push(headers["aisle-seen"]);
    return new Response("{}", { status: 200, headers: { "content-type": "application/json", ...(method === "PUT" && { "aisle-seen": `position${sent.length}` }) } });
  };
  try {
    const aisle = new Aisle();
    await aisle.shelf("corner", "dairy");
    for (let write = 0; write < 5; write += 1) await aisle.send("/v1/me/settings/colour", { method: "PUT", body: { value: write } });
    await aisle.shelf("corner", "dairy");
  } finally { globalThis.fetch = original; }
  assert.deepEqual(sent.slice(0, 3), [undefined, undefined, "position2"]);
  assert.equal(sent.at(-1), "position6, position5, position4, position3");
});

test("a problem says what is wrong", async () => {
  const problem = async (aisle, respond) => {
    let found;
    await withResponses(respond, () => assert.rejects(aisle.send("/v1/stores"), (error) => Boolean((found = error))));
    assert.equal(found.name, "Problem");
    assert.ok(found instanceof Problem);
    return found;
  };
  const refused = await problem(new Aisle(), () => json({ detail: "unknown store" }, 404));
  assert.deepEqual([refused.status, refused.message], [404, "unknown store"]);
  const other = await problem(new Aisle(), () => new Response("<html>", { status: 404, headers: { "content-type": "text/html" } }));
  assert.deepEqual(other.body, {});
  assert.match(other.message, /is that Aisle/);
  const away = await problem(new Aisle({ base: "https://shop.example" }), () => { throw new TypeError("fetch failed"); });
  assert.deepEqual(away.status, 0);
  assert.match(away.message, /https:\/\/shop.example .*AISLE_CORS_ORIGINS/);
});

test("a rejected stream reports the reason and ends", async () => {
  let problem;
  const addresses = await withResponses(() => json({ detail: "no such shelf" }, 404), () => new Promise((done) => {
    new Aisle().follow("/v1/stores/corner/shelves/none/events", { error: (found) => done((problem = found)) });
  }));
  assert.equal(problem.message, "no such shelf");
  assert.equal(addresses.length, 1);
});
