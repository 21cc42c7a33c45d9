/** Drag arithmetic: where something goes. Pure: ids, boxes and points are given. */

/** @typedef {{after?: string, before?: string, place?: "first"|"last"}} Place */

/** How near to an edge of the window a drag scrolls, in pixels. */
const edge = 70;

/** How many items stand in a row, by the tops of all in order. @param {number[]} tops */
export function columnCount(tops) {
  const wrapped = tops.findIndex((top) => top > tops[0]);
  return wrapped < 0 ? Math.max(1, tops.length) : wrapped;
}

/**
 * Where a key moves some of the items: by one place, by a row, or to an end.
 * @param {string[]} all the ids in order
 * @param {string[]} ids those that move, in order
 * @param {"up"|"down"|"left"|"right"|"first"|"last"} direction
 * @param {number} columns how many stand in a row
 * @returns {Place|null} null where nothing would move
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
 * The item that a point is nearest to, and on which side of it. Rows count more than places in a row.
 * @template {{left: number, right: number, top: number, bottom: number, width: number, height: number}} Box
 * @param {[string, Box][]} boxes by id
 * @param {boolean} isColumn whether the items stand in one column
 * @returns {{id: string, box: Box, isBefore: boolean}|null}
 */
export function nearestPlace(boxes, x, y, isColumn) {
  let [nearest, least] = [null, Infinity];
  for (const [id, box] of boxes) {
    const [across, down] = [Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom)];
    const distance = across * across + down * down * 4;
    if (distance < least) [nearest, least] = [{ id, box }, distance];
  }
  if (!nearest) return null;
  const { box } = nearest;
  return { ...nearest, isBefore: isColumn ? y < box.top + box.height / 2 : x < box.left + box.width / 2 };
}

/** Where the line stands that shows a place, in pixels. @returns {{x: number, y: number, width: number, height: number}} */
export function markerBox({ box, isBefore }, isColumn) {
  const gap = isBefore ? -6 : 3;
  return isColumn
    ? { x: box.left, y: (isBefore ? box.top : box.bottom) + gap, width: box.width, height: 3 }
    : { x: (isBefore ? box.left : box.right) + gap, y: box.top, width: 3, height: box.height };
}

/** By how many pixels a frame scrolls for a pointer at a height of the window; 0 away from its edges. */
export function scrollStep(y, height) {
  const by = y < edge ? y - edge : y > height - edge ? y - height + edge : 0;
  return Math.max(-edge, Math.min(edge, by)) / 4;
}
