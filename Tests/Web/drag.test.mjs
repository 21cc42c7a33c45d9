import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./module.mjs";

const { columnCount, keyboardPlace, markerBox, nearestPlace, scrollStep } = await load("drag.js");
const all = ["a", "b", "c", "d", "e", "f"];

/** Returns the order after a move. */
function moved(order, ids, place) {
  const left = order.filter((id) => !ids.includes(id));
  const at = place.place === "first" ? 0 : place.place === "last" ? left.length
    : place.after !== undefined ? left.indexOf(place.after) + 1 : left.indexOf(place.before);
  return [...left.slice(0, at), ...ids, ...left.slice(at)].join("");
}

test("a row ends before the first item that is lower", () => {
  assert.equal(columnCount([0, 0, 0, 90, 90]), 3);
  assert.equal(columnCount([0, 90, 180]), 1);
});

test("the items of a single row are the columns", () => assert.equal(columnCount([5, 5]), 2));
test("an empty grid has one column", () => assert.equal(columnCount([]), 1));

for (const [direction, ids, columns, order] of [
  ["left", ["c"], 3, "acbdef"], ["right", ["c"], 3, "abdcef"], ["up", ["e"], 3, "aebcdf"], ["down", ["a"], 3, "bcdaef"],
  ["first", ["e"], 3, "eabcdf"], ["last", ["b"], 3, "acdefb"], ["up", ["b"], 3, "bacdef"], ["down", ["e"], 3, "abcdfe"],
  ["right", ["b", "d"], 3, "acbdef"], ["left", ["b", "c"], 1, "bcadef"],
]) {
  test(`${direction} moves ${ids} to ${order}`, () => {
    assert.equal(moved(all, ids, keyboardPlace(all, ids, direction, columns)), order);
  });
}

test("an item at an end does not move further", () => {
  assert.equal(keyboardPlace(all, ["a"], "left", 3), null);
  assert.equal(keyboardPlace(all, ["f"], "right", 3), null);
});

test("separate items are grouped even at an end", () => {
  assert.equal(moved(all, ["a", "d"], keyboardPlace(all, ["a", "d"], "left", 3)), "adbcef");
});

test("moving all items or none returns null", () => {
  assert.equal(keyboardPlace(all, all, "left", 3), null);
  assert.equal(keyboardPlace(all, [], "first", 3), null);
});

const box = (left, top) => ({ left, top, width: 100, height: 50, right: left + 100, bottom: top + 50 });
const boxes = [["a", box(0, 0)], ["b", box(110, 0)], ["c", box(0, 60)]];

test("the nearest item is the one under the pointer", () => assert.equal(nearestPlace(boxes, 150, 20, false).id, "b"));
test("an item in the same row is nearer than one in another row", () => assert.equal(nearestPlace(boxes, 20, 56, false).id, "c"));

test("in a grid, the left half of an item means before it", () => {
  assert.equal(nearestPlace(boxes, 120, 20, false).isBefore, true);
  assert.equal(nearestPlace(boxes, 200, 20, false).isBefore, false);
});

test("in a column, the upper half of an item means before it", () => {
  assert.equal(nearestPlace(boxes, 90, 5, true).isBefore, true);
  assert.equal(nearestPlace(boxes, 10, 45, true).isBefore, false);
});

test("without other items, the nearest place is null", () => assert.equal(nearestPlace([], 5, 5, false), null));

test("the marker is horizontal in a column and vertical in a grid", () => {
  assert.deepEqual(markerBox({ box: box(0, 60), isBefore: true }, true), { x: 0, y: 54, width: 100, height: 3 });
  assert.deepEqual(markerBox({ box: box(0, 60), isBefore: false }, false), { x: 103, y: 60, width: 3, height: 50 });
});

test("a drag scrolls only near the edges, by at most a quarter of the edge per frame", () => {
  assert.equal(scrollStep(400, 800), 0);
  assert.equal(scrollStep(30, 800), -10);
  assert.equal(scrollStep(790, 800), 15);
  assert.equal(scrollStep(-500, 800), -17.5);
  assert.equal(scrollStep(2000, 800), 17.5);
});
