import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./module.mjs";

const { applyDiff } = await load("aisle.js");
const { decodeWire } = await load("wire.js");

/** Returns a minimal diff: every common id outside a longest increasing subsequence is moved. */
function naiveDiff(old, now) {
  const places = new Map(old.map((id, index) => [id, index]));
  const there = new Set(now);
  const best = [];
  now.forEach((id, index) => {
    if (!places.has(id)) return;
    const before = best.filter((run) => places.get(now[run.at(-1)]) < places.get(id));
    best.push([...(before.reduce((a, b) => (b.length > a.length ? b : a), [])), index]);
  });
  const kept = new Set(best.reduce((a, b) => (b.length > a.length ? b : a), []));
  const parts = now.map((id, to) => ({ id, to, from: places.get(id) }));
  return {
    mode: "moves", old_count: old.length, new_count: now.length,
    deletes: old.map((id, from) => ({ id, from })).filter(({ id }) => !there.has(id)),
    inserts: parts.filter(({ from }) => from === undefined).map(({ id, to }) => ({ id, to })),
    moves: parts.filter(({ from, to }) => from !== undefined && !kept.has(to)),
  };
}

test("applying a diff gives the new list", () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 300; round++) {
    const pick = () => [..."abcdefghij"].filter(() => random(3)).sort(() => random(2) - 0.5);
    const [old, now] = [pick(), pick()];
    assert.deepEqual(applyDiff(old, naiveDiff(old, now)), now);
  }
});

test("a diff is not applied twice, nor to another list of the same length", () => {
  const diff = { mode: "moves", old_count: 3, new_count: 3, deletes: [], inserts: [], moves: [{ id: "a", from: 0, to: 2 }] };
  const after = applyDiff(["a", "b", "c"], diff);
  assert.deepEqual(after, ["b", "c", "a"]);
  assert.throws(() => applyDiff(after, diff), RangeError);
});

test("a diff in order mode is the new list", () => {
  assert.deepEqual(applyDiff(["a"], { mode: "order", ids: ["c", "a"] }), ["c", "a"]);
});

test("a diff of a list of another length is rejected", () => {
  assert.throws(() => applyDiff(["a", "b"], { mode: "moves", old_count: 3, new_count: 3, deletes: [], inserts: [], moves: [] }), RangeError);
});

const wire = (...bytes) => new Uint8Array(bytes).buffer;

test("the wire format of no change, a deletion and an insertion is parsed", () => {
  assert.deepEqual(applyDiff(["a", "b", "c"], decodeWire(wire(1, 0, 3), ["a", "b", "c"])), ["a", "b", "c"]);
  assert.deepEqual(applyDiff(["a", "b", "c"], decodeWire(wire(1, 3, 3, 2, 1, 1, 0), ["a", "b", "c"])), ["a", "c"]);
  assert.deepEqual(applyDiff(["a", "b"], decodeWire(wire(1, 5, 2, 3, 1, 0, 0, 1, 0x78), ["a", "b"])), ["x", "a", "b"]);
});

test("a truncated diff or one of another version is rejected", () => {
  assert.throws(() => decodeWire(wire(2, 0, 3), []), RangeError);
  assert.throws(() => decodeWire(wire(1, 0), []), RangeError);
  assert.throws(() => decodeWire(wire(1, 0, 0x80), []), RangeError);
});
