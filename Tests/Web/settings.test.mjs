import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./module.mjs";

const { Problem, Settings } = await load("aisle.js");

/** A storage in memory. */
function storage() {
  const items = new Map();
  return { getItem: (name) => items.get(name) ?? null, setItem: (name, value) => items.set(name, value) };
}

/** A server that keeps settings, and can be away or refuse a key. */
class Server {
  settings = new Map();
  revision = 0;
  isAway = false;
  refused = new Set();
  requests = [];

  async send(path, { method = "GET", query, body } = {}) {
    if (this.isAway) throw new Problem(0);
    this.requests.push([method, body?.settings.map(({ key }) => key)]);
    if (method === "PUT") {
      if (body.settings.some(({ key }) => this.refused.has(key))) throw new Problem(422, { detail: "no" });
      for (const { key, value, deleted, modified_at } of body.settings) {
        const known = this.settings.get(key);
        if (known && known.modified_at >= modified_at) continue;
        this.settings.set(key, { key, ...(deleted ? { deleted } : { value }), modified_at, revision: ++this.revision });
      }
      return { value: {} };
    }
    const settings = [...this.settings.values()].filter(({ revision }) => revision > query.since);
    return { value: { settings, revision: this.revision } };
  }
}

test("a setting is there at once, and sent", async () => {
  const server = new Server();
  const settings = new Settings(server, { storage: storage() });
  const sent = settings.set("theme", "dark");
  assert.equal(settings.get("theme"), "dark");
  await sent;
  assert.equal(server.settings.get("theme").value, "dark");
  assert.deepEqual(settings.queue, {});
});

test("a change made offline is kept over a reload, and sent when the server is back", async () => {
  const [server, kept] = [new Server(), storage()];
  server.isAway = true;
  const before = new Settings(server, { storage: kept });
  await before.set("theme", "dark");
  clearTimeout(before.timer);
  const after = new Settings(server, { storage: kept });
  assert.equal(after.get("theme"), "dark");
  server.isAway = false;
  await after.sync();
  assert.equal(server.settings.get("theme").value, "dark");
});

test("a change from another device is taken in and announced", async () => {
  const server = new Server();
  const settings = new Settings(server, { storage: storage() });
  await settings.sync();
  const heard = [];
  settings.addEventListener("change", ({ detail }) => heard.push([detail.key, detail.value]));
  settings.take({ name: "setting", data: { key: "theme", value: "light", revision: 5 } });
  settings.take({ name: "setting", data: { key: "theme", value: "old", revision: 4 } });
  assert.deepEqual(heard, [["theme", "light"]]);
  assert.equal(settings.revision, 5);
});

test("a change that waits here is not overwritten by an older one from elsewhere", async () => {
  const server = new Server();
  server.isAway = true;
  const settings = new Settings(server, { storage: storage() });
  await settings.set("theme", "mine");
  clearTimeout(settings.timer);
  settings.take({ name: "setting", data: { key: "theme", value: "theirs", revision: 9 } });
  assert.equal(settings.get("theme"), "mine");
});

test("a refused setting does not hold up the others, and is announced", async () => {
  const server = new Server();
  server.isAway = true;
  server.refused.add("bad");
  const settings = new Settings(server, { storage: storage() });
  await settings.set("bad", 1);
  await settings.set("good", 2);
  clearTimeout(settings.timer);
  const refused = [];
  settings.addEventListener("refused", ({ detail }) => refused.push(detail.key));
  server.isAway = false;
  await settings.sync();
  assert.deepEqual(refused, ["bad"]);
  assert.equal(server.settings.get("good").value, 2);
  assert.equal(settings.get("bad"), undefined);
});

test("deleting a setting is sent as a deletion", async () => {
  const server = new Server();
  const settings = new Settings(server, { storage: storage() });
  await settings.set("theme", "dark");
  await new Promise((resolve) => setImmediate(resolve));
  server.settings.get("theme").modified_at = "2000";
  await settings.set("theme", undefined);
  assert.equal(server.settings.get("theme").deleted, true);
  assert.equal(settings.get("theme"), undefined);
});

test("what cannot be read in the storage is read from the server", async () => {
  const kept = storage();
  kept.setItem("aisle.settings", "{broken");
  const server = new Server();
  await server.send("", { method: "PUT", body: { settings: [{ key: "theme", value: "dark", modified_at: "2026" }] } });
  const settings = new Settings(server, { storage: kept });
  await settings.sync();
  assert.equal(settings.get("theme"), "dark");
});
