/**
 * Aisle's client: pages of shelves, the moves between two orders, settings that sync, and events. No dependency.
 *
 *     import { Aisle, animate } from "/aisle.js";
 *     const aisle = new Aisle();
 *     const page = await aisle.page("corner", "dairy", { sort: "price", limit: 24 });
 *     page.products.forEach((product) => grid.append(card(product)));          // each with data-id = its sku
 *     const diff = await aisle.diff("corner", "dairy", { from_sort: "price", to_sort: "-unit_price", limit: 24 });
 *     await animate(grid, diff, (insert) => card(insert.product));
 *     const settings = new Settings(aisle);
 *     settings.set("stores/corner/shelves/dairy/sort", "-unit_price");        // kept while offline, sent when back
 *     aisle.follow("/v1/me/events", { event: (event) => settings.take(event) });
 *
 * @module aisle
 */

/**
 * A move diff in batch form: `from` counts in the old list, `to` in the new one.
 * @typedef {{id: string, from: number}} Delete
 * @typedef {{id: string, to: number, after?: string|null, product?: any}} Insert
 * @typedef {{id: string, from: number, to: number, after?: string|null}} Move
 * @typedef {{from_version: number|null, to_version: number|null, mode: string, ids?: string[], old_count: number,
 *   new_count: number, deletes: Delete[], inserts: Insert[], moves: Move[], changed: {id: string, at: number}[]}} Diff
 */

/** What went wrong, as the server says (RFC 9457); status 0 where it cannot be reached. */
export class Problem extends Error {
  /** @param {number} status @param {any} [body] */
  constructor(status, body) {
    super(body?.detail ?? (status ? `status ${status}` : "the server cannot be reached"));
    this.status = status;
    this.body = body ?? {};
  }
}

/** The calls of the API that a storefront makes. */
export class Aisle {
  /** @param {{base?: string, token?: string|null, language?: string}} [options] */
  constructor({ base = "", token = null, language } = {}) {
    Object.assign(this, { base, token, language });
  }

  /**
   * One call. Throws a `Problem` for every status that is not 2xx.
   * @param {string} path @param {{method?: string, query?: Record<string, any>, body?: any, headers?: any, signal?: AbortSignal}} [call]
   * @returns {Promise<{value: any, bytes: number, response: Response}>}
   */
  async send(path, { method = "GET", query = {}, body, headers = {}, signal } = {}) {
    let response, buffer;
    try {
      const [type, text] = body === undefined ? [{}] : [{ "content-type": "application/json" }, JSON.stringify(body)];
      response = await this.#fetch(path, query, { ...headers, ...type }, { method, body: text, signal });
      buffer = await response.arrayBuffer();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem(0);
    }
    const type = response.headers.get("content-type") ?? "";
    const value = type.includes("json") && buffer.byteLength ? JSON.parse(new TextDecoder().decode(buffer)) : buffer;
    if (!response.ok) throw new Problem(response.status, value);
    return { value, bytes: buffer.byteLength, response };
  }

  /** @param {Record<string, any>} query values, or arrays of them; what is undefined or null is left out */
  #fetch(path, query, headers, options) {
    const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
    const parameters = new URLSearchParams(pairs.filter(([, value]) => value !== undefined && value !== null));
    const sent = { ...headers };
    if (this.token) sent.authorization = `Bearer ${this.token}`;
    if (this.language) sent["accept-language"] = this.language;
    return fetch(`${this.base}${path}${parameters.size ? `?${parameters}` : ""}`, { ...options, headers: sent });
  }

  async stores() { return (await this.send("/v1/stores")).value.stores; }

  /** All shelves of a store, in their manual order. */
  async shelves(store) {
    const shelves = [];
    let cursor;
    do {
      const { value } = await this.send(`/v1/stores/${store}/shelves`, { query: { limit: 100, cursor } });
      shelves.push(...value.shelves);
      cursor = value.page.next_cursor;
    } while (cursor);
    return shelves;
  }

  /** A shelf with its `sort_options` and `filter_options`. */
  async shelf(store, shelf) { return (await this.send(`/v1/stores/${store}/shelves/${shelf}`)).value; }

  /** A page of products. @param {Record<string, any>} [query] sort, limit, cursor, facets and filters */
  async page(store, shelf, query = {}, signal) {
    return (await this.send(`/v1/stores/${store}/shelves/${shelf}/products`, { query, signal })).value;
  }

  /** The diff between two sorts of a shelf. @returns {Promise<Diff & {bytes: number}>} */
  async diff(store, shelf, query = {}) {
    const { value, bytes } = await this.send(`/v1/stores/${store}/shelves/${shelf}/order/diff`, { query });
    return { ...value, bytes };
  }

  /** The diff from what is shown to a shelf's order now. @param {string[]} ids @returns {Promise<Diff & {bytes: number}>} */
  async diffFrom(store, shelf, ids, { sort, limit, filter = {} } = {}) {
    const body = { from: ids, ...(sort ? { to_sort: sort } : {}), ...(limit ? { limit } : {}) };
    const { value, bytes } = await this.send(`/v1/stores/${store}/shelves/${shelf}/order/diff`, { method: "POST", query: filter, body });
    return { ...value, bytes };
  }

  /**
   * Follows a stream of Server-Sent Events, and goes on from the last one where the connection is lost.
   * @param {string} path
   * @param {{event?: (event: {name: string, id: string, data: any}) => void, state?: (isOpen: boolean) => void,
   *   query?: Record<string, any>, since?: string}} listener
   * @returns {() => void} ends it
   */
  follow(path, { event = () => {}, state = () => {}, query = {}, since } = {}) {
    const ending = new AbortController();
    let last = since;
    let retry = 2000;
    const run = async () => {
      while (!ending.signal.aborted) {
        try {
          const headers = { accept: "text/event-stream", ...(last ? { "last-event-id": last } : {}) };
          const response = await this.#fetch(path, query, headers, { signal: ending.signal, cache: "no-store" });
          if (!response.ok) throw new Problem(response.status);
          state(true);
          let rest = "";
          for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
            rest += text;
            let end;
            while ((end = rest.indexOf("\n\n")) >= 0) {
              const found = { name: "message", id: last, data: "" };
              for (const line of rest.slice(0, end).split("\n")) {
                const [, field, value] = /^([a-z]*): ?(.*)$/.exec(line) ?? [];
                if (field === "event") found.name = value;
                else if (field === "id") found.id = last = value;
                else if (field === "data") found.data += value;
                else if (field === "retry") retry = Number(value) || retry;
              }
              rest = rest.slice(end + 2);
              if (found.data) event({ ...found, data: JSON.parse(found.data) });
            }
          }
        } catch (error) {
          if (ending.signal.aborted) return;
          // What cannot be followed at all is not asked for again and again.
          if (error.status >= 400 && error.status < 500 && error.status !== 429) return state(false);
        }
        state(false);
        await new Promise((done) => setTimeout(done, retry));
      }
    };
    run();
    return () => ending.abort();
  }
}

/**
 * The ids in their new order.
 * @param {string[]} ids @param {Diff} diff @returns {string[]}
 */
export function applyDiff(ids, diff) {
  if (diff.mode === "order") return [...diff.ids];
  if (ids.length !== diff.old_count) throw new RangeError("the diff is of another list");
  const gone = new Set([...diff.deletes, ...diff.moves].map((part) => part.from));
  const staying = ids.filter((_, index) => !gone.has(index));
  const moves = diff.moves.map((move) => ({ id: ids[move.from], to: move.to }));
  return fill(diff.new_count, [...diff.inserts, ...moves], staying);
}

/** A list of `count` ids: some at their places, the rest in their order in what is left. */
function fill(count, placed, rest) {
  const coming = new Map(placed.map((one) => [one.to, one.id]));
  let next = 0;
  return Array.from({ length: count }, (_, index) => (coming.has(index) ? coming.get(index) : rest[next++]));
}

/** The media type of the wire form. */
export const wireType = "application/vnd.aisle.diff";

/**
 * Reads the wire form of a diff of `ids`: the same as its JSON, without products.
 * @param {ArrayBuffer} buffer @param {string[]} ids @returns {Diff}
 */
export function decodeWire(buffer, ids) {
  const bytes = new Uint8Array(buffer);
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (at >= bytes.length) throw new RangeError("the diff ends too early");
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const number = () => Number(varint());
  const bits = (bound) => (bound <= 1 ? 0 : 32 - Math.clz32(bound - 1));
  const ranges = () => {
    const found = [];
    let end = -1;
    for (let count = number(); count > 0; count--) {
      const start = end + 1 + number();
      end = start + number() + 1;
      for (let index = start; index < end; index++) found.push(index);
    }
    return found;
  };
  const packed = (count, width) => {
    let [pending, filled] = [0, 0];
    return Array.from({ length: count }, () => {
      while (filled < width) {
        pending += bytes[at++] * 2 ** filled;
        filled += 8;
      }
      const value = pending % 2 ** width;
      pending = Math.floor(pending / 2 ** width);
      filled -= width;
      return value;
    });
  };
  if (bytes[at++] !== 1) throw new RangeError("the diff is of a version that is not known");
  const flags = number();
  const oldCount = number();
  const newCount = flags & 1 ? number() : oldCount;
  let [from, to] = [null, null];
  if (flags & 64) {
    from = varint();
    const growth = varint();
    to = Number(from + (growth & 1n ? -(growth >> 1n) - 1n : growth >> 1n));
    from = Number(from) || null;
  }
  const deletes = flags & 2 ? ranges() : [];
  const places = flags & 4 ? ranges() : [];
  const inserts = places.map((place) => {
    const length = number();
    at += length;
    return { id: new TextDecoder().decode(bytes.subarray(at - length, at)), to: place };
  });
  let moves = [];
  if (flags & 8) {
    let end = 0;
    const targets = Array.from({ length: number() }, () => (end = end + number() + 1) - 1);
    const sources = packed(targets.length, bits(oldCount));
    moves = targets.map((target, index) => ({ from: sources[index], to: target }));
  }
  if (flags & 16) {
    let end = 0;
    for (let count = number(); count > 0; count--) {
      const [target, source, shape] = [end + number(), number(), number()];
      const length = (shape >> 1) + 3;
      end = target + length;
      for (let offset = 0; offset < length; offset++) moves.push({ from: shape & 1 ? source - offset : source + offset, to: target + offset });
    }
    moves.sort((a, b) => a.to - b.to);
  }
  const version = { from_version: from, to_version: to, old_count: oldCount, new_count: newCount };
  if (flags & 32) {
    const common = oldCount - deletes.length;
    const gone = new Set(deletes);
    const kept = ids.filter((_, index) => !gone.has(index));
    const order = packed(common, bits(common)).map((place) => kept[place]);
    return { ...version, mode: "order", ids: fill(newCount, inserts, order), deletes: [], inserts: [], moves: [], changed: [] };
  }
  const diff = {
    ...version,
    mode: "moves",
    deletes: deletes.map((index) => ({ id: ids[index], from: index })),
    inserts,
    moves: moves.map((move) => ({ id: ids[move.from], ...move })),
    changed: [],
  };
  const after = applyDiff(ids, diff);
  diff.changed = (flags & 128 ? ranges() : []).map((index) => ({ id: after[index], at: index }));
  return diff;
}

/**
 * Brings the children of an element, each with `data-id`, into the diff's new order, and lets those that are seen before or
 * after glide there (FLIP, by the Web Animations API). What leaves and what comes fades; reduced motion is honoured.
 * @param {HTMLElement} container @param {Diff} diff
 * @param {(insert: Insert) => HTMLElement} make an element for what comes in
 * @param {{duration?: number, easing?: string}} [options]
 * @returns {Promise<{script: number, animated: number}>} the milliseconds of script before the first frame, once all stand
 */
export async function animate(container, diff, make, { duration = 450, easing = "cubic-bezier(.2,.8,.2,1)" } = {}) {
  const start = performance.now();
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const height = innerHeight;
  const isSeen = (box) => box.bottom > -height / 4 && box.top < height * 1.25;
  const elements = new Map([...container.children].filter((child) => child.dataset.id).map((child) => [child.dataset.id, child]));
  const ids = [...elements.keys()];
  // All reading before all writing: one layout each.
  const boxes = new Map(ids.map((id) => [id, elements.get(id).getBoundingClientRect()]));
  const order = applyDiff(ids, diff);
  const incoming = new Map(diff.inserts.map((insert) => [insert.id, insert]));
  const staying = new Set(order);
  const frame = container.getBoundingClientRect();
  const ghosts = [];
  for (const id of ids.filter((id) => !staying.has(id))) {
    const element = elements.get(id);
    const box = boxes.get(id);
    element.remove();
    if (still || !isSeen(box)) continue;
    Object.assign(element.style, {
      position: "absolute", left: `${box.left - frame.left}px`, top: `${box.top - frame.top}px`, width: `${box.width}px`, height: `${box.height}px`,
      pointerEvents: "none",
    });
    element.inert = true;
    ghosts.push(element);
  }
  const fresh = new Set();
  // From the back on: whoever stands right already is not touched.
  let next = null;
  for (let index = order.length - 1; index >= 0; index--) {
    let element = elements.get(order[index]);
    if (!element) {
      element = make(incoming.get(order[index]) ?? { id: order[index], to: index });
      element.dataset.id = order[index];
      fresh.add(element);
      elements.set(order[index], element);
    }
    const isThere = element.parentNode === container && element.nextElementSibling === next;
    if (!isThere) container.insertBefore(element, next);
    next = element;
  }
  const running = [];
  if (!still) {
    const after = order.map((id) => [elements.get(id), boxes.get(id), elements.get(id).getBoundingClientRect()]);
    for (const ghost of ghosts) {
      ghost.removeAttribute("data-id");
      container.append(ghost);
      const fading = ghost.animate({ opacity: [1, 0], scale: [1, 0.9] }, { duration: duration / 2, easing, fill: "forwards" });
      running.push(fading.finished.finally(() => ghost.remove()));
    }
    for (const [element, old, box] of after) {
      if (fresh.has(element)) {
        if (isSeen(box)) running.push(element.animate({ opacity: [0, 1], scale: [0.9, 1] }, { duration, easing }).finished);
      } else if ((old.left !== box.left || old.top !== box.top) && (isSeen(old) || isSeen(box))) {
        // From just outside of what is seen, where it comes from far away.
        const distance = Math.max(-height, Math.min(height, old.top - box.top));
        const glide = [{ transform: `translate(${old.left - box.left}px, ${distance}px)` }, { transform: "none" }];
        running.push(element.animate(glide, { duration, easing }).finished);
      }
    }
  }
  const script = performance.now() - start;
  await Promise.allSettled(running);
  return { script, animated: running.length };
}

/**
 * A user's settings on this device: they are there at once, kept while offline, and sent when the server can be reached; of
 * two changes the later wins, whichever device made it.
 */
export class Settings extends EventTarget {
  /** @param {Aisle} aisle @param {{storage?: Storage, name?: string}} [options] */
  constructor(aisle, { storage = localStorage, name = "aisle.settings" } = {}) {
    super();
    Object.assign(this, { aisle, storage, name, isOffline: false, sending: null });
    const kept = JSON.parse(storage.getItem(name) ?? "null");
    this.revision = kept?.revision ?? 0;
    /** @type {Record<string, any>} */
    this.values = kept?.values ?? {};
    /** @type {Record<string, {value?: any, deleted?: boolean, modified_at: string}>} */
    this.queue = kept?.queue ?? {};
  }

  get(key) { return this.values[key]; }

  /** @param {any} value undefined takes the setting away */
  set(key, value) {
    const change = { modified_at: new Date().toISOString() };
    if (value === undefined) change.deleted = true;
    else change.value = value;
    this.queue[key] = change;
    this.#keep(key, value);
    return this.sync().catch(() => {});
  }

  /** Sends what waits, and takes in what changed elsewhere. Throws where the server cannot be reached; what waits stays. */
  async sync() {
    if (this.isOffline) return;
    // One at a time; what comes in meanwhile goes with the next.
    if (this.sending) return this.sending.then(() => (Object.keys(this.queue).length ? this.sync() : undefined));
    this.sending = this.#exchange();
    try { await this.sending; } finally { this.sending = null; }
  }

  async #exchange() {
    const waiting = Object.entries(this.queue).slice(0, 500);
    if (waiting.length) {
      const settings = waiting.map(([key, change]) => ({ key, ...change }));
      await this.aisle.send("/v1/me/settings", { method: "PUT", body: { settings } });
      for (const [key, change] of waiting) if (this.queue[key] === change) delete this.queue[key];
    }
    const { value } = await this.aisle.send("/v1/me/settings", { query: { since: this.revision } });
    if (value.resync) for (const key of Object.keys(this.values)) if (!this.queue[key]) delete this.values[key];
    for (const setting of value.settings) this.#hear(setting);
    this.revision = Math.max(this.revision, value.revision);
    this.#store();
  }

  /** What a stream of the user's events brings. */
  take(event) {
    if (this.isOffline) return;
    if (event.name === "gap") this.sync().catch(() => {});
    if (event.name !== "setting") return;
    this.#hear(event.data);
    // Only a stream that began here tells of everything.
    if (event.data.revision > this.revision && this.revision > 0) this.revision = event.data.revision;
    this.#store();
  }

  #hear(setting) {
    // What was changed here since is sent, and the later of both comes back.
    if (!this.queue[setting.key]) this.#keep(setting.key, setting.deleted ? undefined : setting.value);
  }

  #keep(key, value) {
    const isNew = JSON.stringify(this.values[key]) !== JSON.stringify(value);
    if (value === undefined) delete this.values[key];
    else this.values[key] = value;
    this.#store();
    if (isNew) this.dispatchEvent(new CustomEvent("change", { detail: { key, value } }));
  }

  #store() {
    const { revision, values, queue } = this;
    try { this.storage.setItem(this.name, JSON.stringify({ revision, values, queue })); } catch { /* Private mode: for as long as the page lives. */ }
  }
}
