/**
 * Decodes the compact binary form of a diff, for clients that request it; `/aisle.js` uses JSON.
 *
 *     const { value } = await aisle.send("/v1/order/diff", { method: "POST", body, headers: { accept: wireType } });
 *     const diff = decodeWire(value, ids);
 *
 * @module wire
 */
import { applyDiff, fill } from "/aisle.js";

/** @typedef {import("/aisle.js").Diff} Diff */

/** The media type of the wire form. */
export const wireType = "application/vnd.aisle.diff";

/**
 * Decodes the wire form of a diff of `ids`; the result equals the JSON form without products.
 * @param {ArrayBuffer} buffer @param {string[]} ids @returns {Diff}
 */
export function decodeWire(buffer, ids) {
  const bytes = new Uint8Array(buffer);
  let at = 0;
  const varint = () => {
    for (let [value, shift] = [0n, 0n]; ; shift += 7n) {
      if (at >= bytes.length) throw new RangeError("the diff is cut off");
      value |= BigInt(bytes[at] & 127) << shift;
      if (bytes[at++] < 128) return value;
    }
  };
  const number = () => Number(varint());
  const bits = (bound) => (bound <= 1 ? 0 : 32 - Math.clz32(bound - 1));
  const ranges = () => {
    const found = [];
    for (let [count, end] = [number(), -1]; count > 0; count--) {
      const start = end + 1 + number();
      end = start + number() + 1;
      for (let index = start; index < end; index++) found.push(index);
    }
    return found;
  };
  const packed = (count, width) => {
    let [pending, filled] = [0, 0];
    return Array.from({ length: count }, () => {
      for (; filled < width; filled += 8) pending += bytes[at++] * 2 ** filled;
      const value = pending % 2 ** width;
      pending = Math.floor(pending / 2 ** width);
      filled -= width;
      return value;
    });
  };
  if (bytes[at++] !== 1) throw new RangeError("the diff's version is not known");
  const flags = number();
  const old_count = number();
  const new_count = flags & 1 ? number() : old_count;
  let [from_version, to_version] = [null, null];
  if (flags & 64) {
    const [from, growth] = [varint(), varint()];
    to_version = Number(from + (growth & 1n ? -(growth >> 1n) - 1n : growth >> 1n));
    from_version = Number(from) || null;
  }
  const deletes = flags & 2 ? ranges() : [];
  const inserts = (flags & 4 ? ranges() : []).map((to) => {
    const length = number();
    at += length;
    return { id: new TextDecoder().decode(bytes.subarray(at - length, at)), to };
  });
  const moves = [];
  if (flags & 8) {
    let end = 0;
    const targets = Array.from({ length: number() }, () => (end += number() + 1) - 1);
    packed(targets.length, bits(old_count)).forEach((from, index) => moves.push({ from, to: targets[index] }));
  }
  if (flags & 16) {
    for (let [count, end] = [number(), 0]; count > 0; count--) {
      const [to, from, shape] = [end + number(), number(), number()];
      const length = (shape >> 1) + 3;
      end = to + length;
      for (let step = 0; step < length; step++) moves.push({ from: shape & 1 ? from - step : from + step, to: to + step });
    }
    moves.sort((a, b) => a.to - b.to);
  }
  const head = { from_version, to_version, old_count, new_count };
  if (flags & 32) {
    const gone = new Set(deletes);
    const kept = ids.filter((_, index) => !gone.has(index));
    const order = packed(kept.length, bits(kept.length)).map((place) => kept[place]);
    return { ...head, mode: "order", ids: fill(new_count, inserts, order), deletes: [], inserts: [], moves: [], changed: [] };
  }
  const named = (part) => ({ id: ids[part.from], ...part });
  const diff = { ...head, mode: "moves", deletes: deletes.map((from) => named({ from })), inserts, moves: moves.map(named) };
  const after = applyDiff(ids, diff);
  return { ...diff, changed: (flags & 128 ? ranges() : []).map((index) => ({ id: after[index], at: index })) };
}
