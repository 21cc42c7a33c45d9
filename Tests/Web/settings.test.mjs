import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./module.mjs";

const { Problem, Settings } = await load("aisle.js");

/** An in-memory storage. */
function storage() {
  const items = new Map();
  return { getItem: (name) => items.get(name) ?? null, setItem: (name, value) => items.set(name, value) };
}

/** A fake server that stores settings and can be unreachable or reject a key. */
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

test("a setting applies immediately and is sent", async () => {
  const server = new Server();
  const settings = new Settings(server, { storage: storage() });
  const sent = settings.set("theme", "dark");
  assert.equal(settings.get("theme"), "dark");
  await sent;
  assert.equal(server.settings.get("theme").value, "dark");
  assert.deepEqual(settings.queue, {});
});

test("setting a value reports whether the server has it", async () => {
  const server = new Server();
  const settings = new Settings(server, { storage: storage() });
  assert.equal(await settings.set("theme", "dark"), "saved");
  server.refused.add("wrong");
  assert.equal(await settings.set("wrong", 1), "refused");
  server.isAway = true;
  // A change that is replaced before it is sent was never saved.
  assert.deepEqual(await Promise.all([settings.set("theme", "light"), settings.set("theme", "blue")]), ["waiting", "waiting"]);
  clearTimeout(settings.timer);
});

test("a device knows when it has read the settings, now or earlier", async () => {
  const server = new Server();
  const kept = storage();
  await new Settings(server, { storage: storage() }).set("theme", "dark");
  const isRead = (settings) => Promise.race([settings.whenRead.then(() => true), new Promise((done) => setImmediate(() => done(false)))]);
  server.isAway = true;
  const settings = new Settings(server, { storage: kept });
  await settings.set("size", 1);
  clearTimeout(settings.timer);
  assert.equal(await isRead(settings), false);
  assert.equal(await isRead(new Settings(server, { storage: kept })), false);
  server.isAway = false;
  await settings.sync();
  assert.equal(await isRead(settings), true);
  assert.equal(settings.get("theme"), "dark");
  server.isAway = true;
  assert.equal(await isRead(new Settings(server, { storage: kept })), true);
});

test("an offline change survives a reload and is sent on reconnect", async () => {
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

test("a change from another device is applied and announced", async () => {
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

test("a pending change is not overwritten by an older remote one", async () => {
  const server = new Server();
  server.isAway = true;
  const settings = new Settings(server, { storage: storage() });
  await settings.set("theme", "mine");
  clearTimeout(settings.timer);
  settings.take({ name: "setting", data: { key: "theme", value: "theirs", revision: 9 } });
  assert.equal(settings.get("theme"), "mine");
});

test("a rejected setting does not block the others and is announced", async () => {
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

test("deleting a setting sends a deletion", async () => {
  const server = new Server();
  const settings = new Settings(server, { storage: storage() });
  await settings.set("theme", "dark");
  await new Promise((resolve) => setImmediate(resolve));
  server.settings.get("theme").modified_at = "2000";
  await settings.set("theme", undefined);
  assert.equal(server.settings.get("theme").deleted, true);
  assert.equal(settings.get("theme"), undefined);
});

test("unreadable storage is replaced by the server's settings", async () => {
  const kept = storage();
  kept.setItem("aisle.settings", "{broken");
  const server = new Server();
  await server.send("", { method: "PUT", body: { settings: [{ key: "theme", value: "dark", modified_at: "2026" }] } });
  const settings = new Settings(server, { storage: kept });
  await settings.sync();
  assert.equal(settings.get("theme"), "dark");
});

test("a change found by the first sync is marked as initial", async () => {
  const server = new Server();
  await server.send("", { method: "PUT", body: { settings: [{ key: "theme", value: "dark", modified_at: "2025" }] } });
  const settings = new Settings(server, { storage: storage() });
  const heard = [];
  settings.addEventListener("change", ({ detail }) => heard.push([detail.value, detail.isInitial]));
  await settings.sync();
  await server.send("", { method: "PUT", body: { settings: [{ key: "theme", value: "light", modified_at: "2026" }] } });
  await settings.sync();
  settings.take({ name: "setting", data: { key: "theme", value: "blue", revision: 9 } });
  assert.deepEqual(heard, [["dark", true], ["light", false], ["blue", false]]);
});
