/** Drag arithmetic as pure functions of ids, boxes and points. */

/** @typedef {{after?: string, before?: string, place?: "first"|"last"}} Place */

/** The distance from the window's edge at which a drag scrolls, in pixels. */
const edge = 70;

/** Returns the number of items per row, from the top offsets of all items in order. @param {number[]} tops */
export function columnCount(tops) {
  const wrapped = tops.findIndex((top) => top > tops[0]);
  return wrapped < 0 ? Math.max(1, tops.length) : wrapped;
}

/**
 * Returns the target of a keyboard move: by one position, by a row, or to an end.
 * @param {string[]} all the ids in order
 * @param {string[]} ids the ids to move, in order
 * @param {"up"|"down"|"left"|"right"|"first"|"last"} direction
 * @param {number} columns the number of items per row
 * @returns {Place|null} null if nothing would move
 */
export function keyboardPlace(all, ids, direction, columns) {
  if (!ids.length) return null;
  if (direction === "first" || direction === "last") return { place: direction };
  const moving = new Set(ids);
  const left = all.filter((id) => !moving.has(id));
  const at = all.slice(0, all.indexOf(ids[0])).filter((id) => !moving.has(id)).length;
  const by = { left: -1, right: 1, up: -columns, down: columns }[direction];
  const to = Math.max(0, Math.min(left.length, at + by));
  if (!left.length || (to === at && ids.length === 1)) return null;
  return to ? { after: left[to - 1] } : { before: left[0] };
}

/**
 * Returns the item nearest to a point, and the side of it. Vertical distance counts more than horizontal.
 * @template {{left: number, right: number, top: number, bottom: number, width: number, height: number}} Box
 * @param {[string, Box][]} boxes by id
 * @param {boolean} isColumn whether the items are in one column
 * @returns {{id: string, box: Box, isBefore: boolean}|null}
 */
export function nearestPlace(boxes, x, y, isColumn) {
  let [nearest, minimumDistance] = [null, Infinity];
  for (const [id, box] of boxes) {
    const [across, down] = [Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom)];
    const distance = across * across + down * down * 4;
    if (distance < minimumDistance) [nearest, minimumDistance] = [{ id, box }, distance];
  }
  if (!nearest) return null;
  const { box } = nearest;
  return { ...nearest, isBefore: isColumn ? y < box.top + box.height / 2 : x < box.left + box.width / 2 };
}

/** Returns the box of the drop marker, in pixels. @returns {{x: number, y: number, width: number, height: number}} */
export function markerBox({ box, isBefore }, isColumn) {
  const gap = isBefore ? -6 : 3;
  return isColumn
    ? { x: box.left, y: (isBefore ? box.top : box.bottom) + gap, width: box.width, height: 3 }
    : { x: (isBefore ? box.left : box.right) + gap, y: box.top, width: 3, height: box.height };
}

/** Returns the pixels to scroll per frame for a pointer at `y` in a window of a height; 0 away from the edges. */
export function scrollStep(y, height) {
  const by = y < edge ? y - edge : y > height - edge ? y - height + edge : 0;
  return Math.max(-edge, Math.min(edge, by)) / 4;
}
