/**
 * Rearranging the children of a list, each with `data-id`, by pointer, touch and keyboard.
 *
 * A child is held by its grip: itself, or a part of it. A mouse takes hold by moving, a finger by resting; Escape lets go.
 * On a grip, Alt and an arrow move by one place or a row, Alt+Home and Alt+End to the ends.
 */

import { columnCount, keyboardPlace, markerBox, nearestPlace, scrollStep } from "/drag.js";

/** How far a mouse goes before it drags, in pixels; how long a finger rests, in milliseconds. */
const [slack, rest] = [6, 280];

/**
 * @typedef {import("/drag.js").Place} Place
 * @param {HTMLElement} container
 * @param {{grip?: string, selected?: () => string[], move: (ids: string[], place: Place) => void, isClosed?: () => boolean,
 *   held?: (isHeld: boolean) => void, ready?: () => Promise<any>}} options `grip` is a selector within a child; `selected` are moved together where one
 *   of them is held; `isClosed` tells that nothing may be moved now
 * @returns {{move: (ids: string[], direction: "up"|"down"|"left"|"right"|"first"|"last") => void, cancel: () => void}} moves by a
 *   key's direction, and lets go of what is held
 */
export function sortable(container, { grip, selected = () => [], move, isClosed = () => false, held = () => {}, ready }) {
  const items = () => [...container.children].filter((child) => child.dataset.id);
  const itemOf = (target) => items().find((item) => item.contains(target));
  const together = (id) => {
    const chosen = new Set(selected());
    return chosen.has(id) ? items().map((item) => item.dataset.id).filter((id) => chosen.has(id)) : [id];
  };

  // MARK: - Keyboard

  function step(ids, direction) {
    if (isClosed()) return;
    const all = items();
    const place = keyboardPlace(all.map((item) => item.dataset.id), ids, direction, columnCount(all.map((item) => item.offsetTop)));
    if (place) move(ids, place);
  }

  container.addEventListener("keydown", (event) => {
    if (!event.altKey || event.ctrlKey || event.metaKey) return;
    const direction = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", Home: "first", End: "last" }[event.key];
    const item = direction && itemOf(event.target);
    if (!item || (grip && !event.target.closest(grip))) return;
    event.preventDefault();
    const go = () => step(together(item.dataset.id), direction);
    // Where moves are shown once they are made, each counts from the one before.
    if (ready) ready().then(go);
    else go();
  });

  // MARK: - Pointer and touch

  let drag = null;

  container.addEventListener("dragstart", (event) => event.preventDefault());
  container.addEventListener("pointerdown", (event) => {
    if (drag || event.button !== 0 || isClosed()) return;
    const item = itemOf(event.target);
    if (!item || (grip && !event.target.closest(grip)) || (!grip && event.target.closest("button, a, input"))) return;
    drag = { id: item.dataset.id, pointer: event.pointerId, x: event.clientX, y: event.clientY, isHeld: false, isTouch: event.pointerType === "touch" };
    if (!drag.isTouch) return;
    if (grip) take();
    else drag.timer = setTimeout(take, rest);
  });

  /** Takes hold: what is dragged floats, and what it leaves stays faint. */
  function take() {
    const ids = together(drag.id);
    const own = items().filter((item) => ids.includes(item.dataset.id));
    const source = own.find((item) => item.dataset.id === drag.id);
    if (!source) return end(false);
    const box = source.getBoundingClientRect();
    const float = source.cloneNode(true);
    float.removeAttribute("data-id");
    float.removeAttribute("tabindex");
    float.classList.add("float");
    float.inert = true;
    if (ids.length > 1) float.dataset.count = String(ids.length);
    Object.assign(float.style, { width: `${box.width}px`, height: `${box.height}px` });
    const marker = document.createElement("div");
    marker.className = "marker";
    marker.ariaHidden = "true";
    document.body.append(float, marker);
    for (const item of own) item.classList.add("lifted");
    Object.assign(drag, { ids, items: own, float, marker, isHeld: true, place: null, dx: drag.x - box.left, dy: drag.y - box.top });
    document.body.classList.add("dragging");
    held(true);
    follow();
    scrolling();
  }

  /** Where it would stand if it was let go here. */
  function follow() {
    const { float, marker, x, y, dx, dy, items: own } = drag;
    float.style.translate = `${x - dx}px ${y - dy}px`;
    const boxes = items().filter((item) => !own.includes(item)).map((item) => [item.dataset.id, item.getBoundingClientRect()]);
    const isColumn = getComputedStyle(container).gridTemplateColumns.split(" ").length < 2;
    const nearest = nearestPlace(boxes, x, y, isColumn);
    drag.place = nearest && (nearest.isBefore ? { before: nearest.id } : { after: nearest.id });
    if (!nearest) return;
    const box = markerBox(nearest, isColumn);
    Object.assign(marker.style, { translate: `${box.x}px ${box.y}px`, width: `${box.width}px`, height: `${box.height}px` });
  }

  /** Scrolls where it is held near an edge. */
  function scrolling() {
    if (!drag?.isHeld) return;
    const by = scrollStep(drag.y, innerHeight);
    if (by) {
      scrollBy(0, by);
      follow();
    }
    requestAnimationFrame(scrolling);
  }

  function end(isDropped) {
    if (!drag) return;
    clearTimeout(drag.timer);
    const ended = drag;
    drag = null;
    if (!ended.isHeld) return;
    ended.float.remove();
    ended.marker.remove();
    for (const item of ended.items) item.classList.remove("lifted");
    document.body.classList.remove("dragging");
    // What a press would do to the card that is let go is not meant.
    addEventListener("click", (event) => event.stopPropagation(), { capture: true, once: true });
    setTimeout(() => dispatchEvent(new Event("click")), 0);
    held(false);
    if (isDropped && ended.place && !isClosed()) move(ended.ids, ended.place);
  }

  addEventListener("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.pointer) return;
    const isFar = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > slack;
    if (!drag.isHeld && drag.isTouch && isFar) return end(false);
    if (!drag.isHeld && isFar) take();
    if (!drag.isHeld) return;
    [drag.x, drag.y] = [event.clientX, event.clientY];
    follow();
  });
  addEventListener("pointerup", (event) => event.pointerId === drag?.pointer && end(true));
  addEventListener("pointercancel", (event) => event.pointerId === drag?.pointer && end(false));
  addEventListener("keydown", (event) => event.key === "Escape" && end(false));
  addEventListener("blur", () => end(false));
  // A finger that holds something does not scroll.
  addEventListener("touchmove", (event) => drag?.isHeld && event.preventDefault(), { passive: false });
  container.addEventListener("contextmenu", (event) => drag && event.preventDefault());

  return { move: step, cancel: () => end(false) };
}
