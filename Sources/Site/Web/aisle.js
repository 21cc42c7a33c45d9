/**
 * Aisle's client: pages of shelves, the moves between two orders, settings that sync, and events. No dependency.
 *
 *     import { Aisle, Settings, animate } from "/aisle.js";
 *     const aisle = new Aisle({ token });
 *     const { products } = await aisle.page("corner", "dairy", { sort: "price", limit: 24 });
 *     grid.append(...products.map(card));                                     // each with data-id = its sku
 *     const diff = await aisle.diff("corner", "dairy", { from_sort: "price", to_sort: "-unit_price", limit: 24 });
 *     await animate(grid, diff, (insert) => card(insert.product));
 *     const settings = new Settings(aisle);
 *     settings.set("stores/corner/shelves/dairy/sort", "-unit_price");        // stored while offline, sent when online
 *     settings.follow();                                                      // changes by other devices
 *
 * @module aisle
 */

/**
 * A move diff in batch form: `from` counts in the old list, `to` in the new one.
 * @typedef {{id: string, to: number, product?: any}} Insert
 * @typedef {{from_version: number|null, to_version: number|null, mode: string, ids?: string[], old_count: number,
 *   new_count: number, deletes: {id: string, from: number}[], inserts: Insert[],
 *   moves: {id: string, from: number, to: number}[], changed: {id: string, at: number}[], next_cursor?: string|null}} Diff
 */

/** Whether the server has rejected a request, so that a repetition would fail as well. */
const isRejection = ({ status }) => status >= 400 && status < 500 && status !== 429;

/** An error response (RFC 9457 problem details); status 0 if the server cannot be reached. */
export class Problem extends Error {
  name = "Problem";

  /** @param {number} status @param {any} [body] the problem details @param {string} [address] the address that responded otherwise */
  constructor(status, body, address) {
    super(body?.detail ?? (status ? `status ${status} from ${address ?? "the server"}; is that Aisle?` : "the server cannot be reached"));
    Object.assign(this, { status, body: body ?? {} });
  }
}

/** The number of writes whose positions later requests send: as many as are in progress at the same time. */
const seenLimit = 4;

/** A client of the API calls that a storefront makes. */
export class Aisle {
  /** The positions of the last writes: later reads include them, whatever server or replica answers. */
  #seen = [];

  /**
   * `base` is the address of the server if the page comes from another one, which then needs AISLE_CORS_ORIGINS.
   * @param {{base?: string, language?: string, token?: string|null|((isRefused: boolean) => Promise<string|null>)}} [options]
   *   a token, or a function that returns one; it is called again if the server refuses the token
   */
  constructor({ base = "", token = null, language } = {}) {
    Object.assign(this, { base: base.replace(/\/+$/, ""), token, language });
    /** Whether requests fail at once, as if the server could not be reached. */
    this.isOffline = false;
  }

  /**
   * Sends a request. Throws a `Problem` for every status other than 2xx.
   * @param {string} path
   * @param {{method?: string, query?: Record<string, any>, body?: any, headers?: any, signal?: AbortSignal}} [call]
   * @returns {Promise<{value: any, bytes: number, response: Response}>}
   */
  async send(path, { method = "GET", query, body, headers, signal } = {}) {
    const [type, text] = body === undefined ? [{}] : [{ "content-type": "application/json" }, JSON.stringify(body)];
    let response, buffer;
    try {
      response = await this.#fetch(path, query, { ...headers, ...type }, { method, body: text, signal });
      buffer = await response.arrayBuffer();
    } catch (error) {
      if (error.name === "AbortError" || error instanceof Problem) throw error;
      // To a page, a server that cannot be reached looks like one that does not allow the page's origin.
      throw new Problem(0, this.base ? { detail: `${this.base} cannot be reached, or does not allow this page's origin (AISLE_CORS_ORIGINS)` } : null);
    }
    const isJSON = buffer.byteLength && response.headers.get("content-type")?.includes("json");
    const value = isJSON ? JSON.parse(new TextDecoder().decode(buffer)) : buffer;
    if (!response.ok) throw new Problem(response.status, isJSON ? value : null, response.url);
    return { value, bytes: buffer.byteLength, response };
  }

  /** @param {Record<string, any>} [query] values or arrays of values; undefined and null are omitted */
  async #fetch(path, query = {}, headers, options, isRefused = false) {
    if (this.isOffline) throw new Problem(0);
    const parameters = new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one])).filter(([, value]) => value != null),
    );
    const isGiven = typeof this.token === "function";
    const token = isGiven ? await this.token(isRefused) : this.token;
    const sent = { ...headers };
    if (token) sent.authorization = `Bearer ${token}`;
    if (this.language) sent["accept-language"] = this.language;
    if (this.#seen.length) sent["aisle-seen"] = this.#seen.join(", ");
    const response = await fetch(`${this.base}${path}${parameters.size ? `?${parameters}` : ""}`, { ...options, headers: sent });
    const seen = response.headers.get("aisle-seen");
    if (seen) this.#seen = [seen, ...this.#seen.filter((one) => one !== seen)].slice(0, seenLimit);
    return response.status === 401 && isGiven && !isRefused ? this.#fetch(path, query, headers, options, true) : response;
  }

  /** Reads a shelf with its `sort_options` and `filter_options`. */
  async shelf(store, shelf) { return (await this.send(`/v1/stores/${store}/shelves/${shelf}`)).value; }

  /**
   * Reads a page of the products of a shelf, or of the store if the shelf is null.
   * @param {Record<string, any>} [query] sort, limit, cursor, facets, filters and `q`
   */
  async page(store, shelf, query, signal) {
    return (await this.send(`/v1/stores/${store}${shelf === null ? "" : `/shelves/${shelf}`}/products`, { query, signal })).value;
  }

  /** Reads suggestions for a text that the user has typed, in the order in which to show them. */
  async suggestions(store, q, limit, signal) {
    return (await this.send(`/v1/stores/${store}/suggest`, { query: { q, limit }, signal })).value.suggestions;
  }

  /** Reads the pages of a shelf one after another: `for await (const { products } of aisle.pages("corner", "dairy"))`. */
  async *pages(store, shelf, query) {
    for (let cursor; cursor !== null; ) {
      const page = await this.page(store, shelf, { ...query, cursor });
      yield page;
      cursor = page.page.next_cursor;
    }
  }

  /** Reads the diff between two sorts of a shelf. @returns {Promise<Diff & {bytes: number}>} */
  diff(store, shelf, query) { return this.#diff(store, shelf, { query }); }

  /** Reads the diff from the shown ids to a shelf's current order. @param {string[]} ids @returns {Promise<Diff & {bytes: number}>} */
  diffFrom(store, shelf, ids, { sort, limit, filter } = {}) {
    return this.#diff(store, shelf, { method: "POST", query: filter, body: { from: ids, to_sort: sort, limit } });
  }

  async #diff(store, shelf, call) {
    const { value, bytes } = await this.send(`/v1/stores/${store}/shelves/${shelf}/order/diff`, call);
    return { ...value, bytes };
  }

  /**
   * Follows a stream of server-sent events and resumes after the last one if the connection is lost. A hidden page closes its
   * connection, because browsers allow six per server. A request that the server rejects is not repeated: `error` gets the problem.
   * @param {string} path
   * @param {{event?: (event: {name: string, id: string, data: any, bytes: number}) => void, state?: (isOpen: boolean) => void,
   *   error?: (problem: Problem) => void, query?: Record<string, any>, since?: string}} listener
   * @returns {() => void} stops following
   */
  follow(path, { event, state, error: reject, query, since } = {}) {
    let [last, retry, connection, wake, silence, isEnded] = [since, 2000, null, null, null, false];
    const seen = () => (document.hidden ? connection?.abort() : wake?.());
    const wait = (start) => new Promise((done) => start((wake = done)));
    const take = (block) => {
      const found = { name: "message", data: "" };
      for (const line of block.split("\n")) {
        const [, field, value] = /^([a-z]*): ?(.*)$/.exec(line) ?? [];
        if (field === "event") found.name = value;
        else if (field === "id") last = value;
        else if (field === "data") found.data += value;
        else if (field === "retry") retry = Number(value) || retry;
      }
      if (!found.data) return;
      const item = { name: found.name, id: last, data: JSON.parse(found.data), bytes: new Blob([block]).size };
      // An error in the listener must not close the connection.
      queueMicrotask(() => isEnded || event?.(item));
    };
    // The server sends a heartbeat every 15 s; after a longer silence the connection is dead.
    const hear = () => {
      clearTimeout(silence);
      silence = setTimeout(() => connection.abort(), 40_000);
    };
    const run = async () => {
      while (!isEnded) {
        if (document.hidden) await wait(() => {});
        if (isEnded) break;
        connection = new AbortController();
        try {
          const headers = { accept: "text/event-stream", ...(last && { "last-event-id": last }) };
          const response = await this.#fetch(path, query, headers, { signal: connection.signal, cache: "no-store" });
          if (!response.ok) throw new Problem(response.status, await response.json().catch(() => null), response.url);
          state?.(true);
          hear();
          let rest = "";
          for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
            hear();
            const blocks = (rest + text).split("\n\n");
            rest = blocks.pop();
            blocks.forEach(take);
          }
        } catch (error) {
          if (isRejection(error)) {
            isEnded = true;
            queueMicrotask(() => reject?.(error));
          }
        }
        clearTimeout(silence);
        state?.(false);
        if (!isEnded && !document.hidden) await wait((done) => setTimeout(done, retry));
      }
      document.removeEventListener("visibilitychange", seen);
    };
    document.addEventListener("visibilitychange", seen);
    run();
    return () => {
      isEnded = true;
      connection?.abort();
      wake?.();
    };
  }
}

/** Whether a diff is of a list of ids. @param {Diff} diff @param {string[]} ids */
export const appliesTo = (diff, ids) =>
  diff.old_count === ids.length && (diff.mode === "order" || [...diff.deletes, ...diff.moves].every(({ id, from }) => ids[from] === id));

/** Returns the ids in their new order. @param {string[]} ids @param {Diff} diff @returns {string[]} */
export function applyDiff(ids, diff) {
  if (diff.mode === "order") return [...diff.ids];
  if (!appliesTo(diff, ids)) throw new RangeError("the diff is of another list");
  const gone = new Set([...diff.deletes, ...diff.moves].map((part) => part.from));
  const moves = diff.moves.map((move) => ({ id: ids[move.from], to: move.to }));
  return fill(diff.new_count, [...diff.inserts, ...moves], ids.filter((_, index) => !gone.has(index)));
}

/** Returns a list of `count` ids: some at given positions, the others in order in the remaining ones. */
export function fill(count, placed, rest) {
  const coming = new Map(placed.map((one) => [one.to, one.id]));
  let next = 0;
  return Array.from({ length: count }, (_, index) => (coming.has(index) ? coming.get(index) : rest[next++]));
}

/**
 * Reorders the children of an element, each with `data-id`, by a diff, and animates those that are visible before or after
 * (FLIP, with the Web Animations API). Removed and inserted children fade. Reduced motion is respected.
 * Removed children fade in place, so a container with the `position` `static` gets `relative`.
 * @param {HTMLElement} container @param {Diff} diff
 * @param {(insert: Insert) => HTMLElement} make returns the element of an inserted id
 * @param {{duration?: number, easing?: string}} [options]
 * @returns {Promise<{script: number, animated: number}>} the script's time before the first frame, in milliseconds; resolves at the end
 */
export async function animate(container, diff, make, { duration = 450, easing = "cubic-bezier(.2,.8,.2,1)" } = {}) {
  const start = performance.now();
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const isSeen = (box) => box.bottom > -innerHeight / 4 && box.top < innerHeight * 1.25;
  const elements = new Map([...container.children].filter((child) => child.dataset.id).map((child) => [child.dataset.id, child]));
  const ids = [...elements.keys()];
  // Read all positions before writing any, so that there is one layout each. A running animation continues from its current frame.
  const boxes = new Map(ids.map((id) => [id, elements.get(id).getBoundingClientRect()]));
  const frame = container.getBoundingClientRect();
  if (getComputedStyle(container).position === "static") container.style.position = "relative";
  for (const running of container.getAnimations({ subtree: true })) running.cancel();
  for (const ghost of container.querySelectorAll(":scope > [data-ghost]")) ghost.remove();
  const order = applyDiff(ids, diff);
  const [staying, focused] = [new Set(order), document.activeElement];
  const ghosts = ids.filter((id) => !staying.has(id)).map((id) => elements.get(id));
  for (const ghost of ghosts) ghost.remove();
  // Do not touch children that keep their place.
  for (const { id } of diff.mode === "order" ? [] : diff.moves) elements.get(id).remove();
  const incoming = new Map(diff.inserts?.map((insert) => [insert.id, insert]));
  let next = null;
  for (let to = order.length - 1; to >= 0; to--) {
    const id = order[to];
    let element = elements.get(id);
    if (!element) {
      element = make(incoming.get(id) ?? { id, to });
      element.dataset.id = id;
      elements.set(id, element);
    }
    if (element.parentNode !== container || element.nextElementSibling !== next) container.insertBefore(element, next);
    next = element;
  }
  if (container.contains(focused)) focused.focus({ preventScroll: true });
  const running = [];
  const play = (element, frames, options) => running.push(element.animate(frames, { duration, easing, ...options }).finished);
  if (!isStill) {
    const after = order.map((id) => [elements.get(id), boxes.get(id), elements.get(id).getBoundingClientRect()]);
    for (const [element, old, box] of after) {
      if (!old) {
        if (isSeen(box)) play(element, { opacity: [0, 1], scale: [0.9, 1] });
      } else if ((old.left !== box.left || old.top !== box.top) && (isSeen(old) || isSeen(box))) {
        // A child that comes from far away starts just outside the visible area.
        const distance = Math.max(-innerHeight, Math.min(innerHeight, old.top - box.top));
        play(element, { transform: [`translate(${old.left - box.left}px, ${distance}px)`, "none"] });
      }
    }
    for (const ghost of ghosts) {
      const box = boxes.get(ghost.dataset.id);
      if (!isSeen(box)) continue;
      ghost.removeAttribute("data-id");
      ghost.dataset.ghost = "";
      ghost.inert = true;
      const [left, top, width, height] = [box.left - frame.left, box.top - frame.top, box.width, box.height].map((length) => `${length}px`);
      Object.assign(ghost.style, { position: "absolute", left, top, width, height });
      container.append(ghost);
      play(ghost, { opacity: [1, 0], scale: [1, 0.9] }, { duration: duration / 2, fill: "forwards" });
      running.push(running.pop().finally(() => ghost.remove()));
    }
  }
  const script = performance.now() - start;
  await Promise.allSettled(running);
  return { script, animated: running.length };
}

/**
 * A user's settings on this device. Changes apply immediately, are stored while offline, and are sent when the server can be
 * reached. The latest change wins, on whatever device. Each change, local or remote, dispatches a `change` event; its `detail`
 * has the `key`, the `value`, and `isInitial`: whether the first sync found the change, which may then be old. A change that the
 * server rejects dispatches `refused` with the `key` and the `error`; without a `key`, the server rejects all of the user's events.
 */
export class Settings extends EventTarget {
  /** The outcomes of the changes that were sent. */
  #outcomes = new WeakMap();
  #reportRead;
  /** Resolves when this device has read the user's settings, now or earlier. */
  whenRead = new Promise((done) => (this.#reportRead = done));

  /** @param {Aisle} aisle @param {{storage?: Storage, name?: string}} [options] */
  constructor(aisle, { storage = localStorage, name = "aisle.settings" } = {}) {
    super();
    let kept;
    try { kept = JSON.parse(storage.getItem(name)); } catch { /* Invalid storage is read from the server again. */ }
    const empty = { revision: 0, values: {}, revisions: {}, queue: {}, sent: {} };
    Object.assign(this, { aisle, storage, name }, empty, kept);
    if (this.revision > 0) this.#reportRead();
  }

  get(key) { return this.values[key]; }

  /**
   * @param {any} value undefined deletes the setting
   * @returns {Promise<"saved"|"waiting"|"refused">} whether the server got the change, has not got it (yet, or because another change
   *   replaced it), or rejected it
   */
  async set(key, value) {
    const change = { ...(value === undefined ? { deleted: true } : { value }), modified_at: new Date().toISOString() };
    this.queue[key] = change;
    this.#keep(key, value);
    await this.#try();
    return this.#outcomes.get(change) ?? "waiting";
  }

  /** Syncs; retries later if the server cannot be reached or is busy. */
  #try() {
    clearTimeout(this.timer);
    return this.sync().catch((error) => {
      if (isRejection(error)) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.#try(), 5000);
    });
  }

  /**
   * Follows changes on other devices, and sends pending changes whenever the server can be reached again.
   * @returns {() => void} stops following
   */
  follow() {
    const state = (isOpen) => {
      this.isCurrent = false;
      if (isOpen) this.#try();
    };
    const error = (problem) => this.dispatchEvent(new CustomEvent("refused", { detail: { error: problem } }));
    const end = this.aisle.follow("/v1/me/events", { event: (event) => this.take(event), state, error });
    return () => {
      this.isCurrent = false;
      end();
    };
  }

  /** Sends pending changes and reads those of other devices. Throws if the server cannot be reached; pending changes remain. */
  async sync() {
    // One sync at a time; changes made in the meantime go with the next one.
    if (this.sending) return this.sending.then(() => Object.keys(this.queue).length && this.sync());
    this.sending = this.#exchange();
    try { await this.sending; } finally { this.sending = null; }
  }

  async #exchange() {
    for (let waiting; (waiting = Object.entries(this.queue).slice(0, 500)).length; ) await this.#send(waiting);
    const { value } = await this.aisle.send("/v1/me/settings", { query: { since: this.revision } });
    this.isInitial ??= true;
    if (value.resync) {
      const there = new Set(value.settings.map((setting) => setting.key));
      for (const key of Object.keys(this.values)) if (!there.has(key)) this.#hear({ key, deleted: true, revision: value.revision });
    }
    for (const setting of value.settings) this.#hear(setting);
    this.isInitial = false;
    this.revision = Math.max(this.revision, value.revision);
    this.isCurrent = true;
    this.#store();
    this.#reportRead();
  }

  async #send(waiting) {
    const settings = waiting.map(([key, change]) => ({ key, ...change }));
    try {
      await this.aisle.send("/v1/me/settings", { method: "PUT", body: { settings } });
      for (const [, change] of waiting) this.#outcomes.set(change, "saved");
    } catch (error) {
      if (![400, 413, 422].includes(error.status)) throw error;
      // An invalid change must not block the others.
      if (waiting.length > 1) {
        for (const one of waiting) await this.#send([one]);
        return;
      }
      // Read the server's value instead.
      const [key, change] = waiting[0];
      const { modified_at } = change;
      this.#outcomes.set(change, "refused");
      if (this.queue[key] === change) delete this.queue[key];
      [this.revision, this.revisions, this.sent[key]] = [0, {}, modified_at];
      this.#keep(key, undefined);
      this.dispatchEvent(new CustomEvent("refused", { detail: { key, error } }));
    }
    for (const [key, change] of waiting) {
      this.sent[key] = change.modified_at;
      if (this.queue[key] === change) delete this.queue[key];
    }
  }

  /** Handles an event of the user's stream. */
  take({ name, data }) {
    if (name === "gap") this.sync().catch(() => {});
    if (name !== "setting") return;
    this.#hear(data);
    // Without a sync since the stream began, earlier changes may be missing.
    if (this.isCurrent) this.revision = Math.max(this.revision, data.revision);
    this.#store();
  }

  #hear({ key, value, deleted, revision }) {
    // A pending local change is sent, and the server returns the later of both; an earlier revision is not news.
    if (this.queue[key] || revision < (this.revisions[key] ?? 0)) return;
    this.revisions[key] = revision;
    this.#keep(key, deleted ? undefined : value);
  }

  #keep(key, value) {
    const isNew = JSON.stringify(this.values[key]) !== JSON.stringify(value);
    if (value === undefined) delete this.values[key];
    else this.values[key] = value;
    this.#store();
    if (isNew) this.dispatchEvent(new CustomEvent("change", { detail: { key, value, isInitial: this.isInitial } }));
  }

  #store() {
    const { revision, values, revisions, queue, sent } = this;
    try {
      // Keep the pending changes of other tabs.
      const others = JSON.parse(this.storage.getItem(this.name))?.queue ?? {};
      for (const [key, change] of Object.entries(others)) if (!queue[key] && change.modified_at > (sent[key] ?? "")) queue[key] = change;
      this.storage.setItem(this.name, JSON.stringify({ revision, values, revisions, queue, sent }));
    } catch { /* For as long as the page lives. */ }
  }
}
