/**
 * Reorders the children of a list, each with `data-id`, by mouse, touch and keyboard.
 *
 * A child is dragged by its grip: the child itself or a part of it. A drag starts on mouse move or long press; Escape cancels it.
 * On a grip, Alt and an arrow key move by one position or a row, Alt+Home and Alt+End to the ends.
 */

import { columnCount, keyboardPlace, markerBox, nearestPlace, scrollStep } from "/drag.js";

/** The mouse distance that starts a drag, in pixels, and the duration of a long press, in milliseconds. */
const [dragThreshold, longPressDuration] = [6, 280];

/**
 * @typedef {import("/drag.js").Place} Place
 * @param {HTMLElement} container
 * @param {{grip?: string, selected?: () => string[], move: (ids: string[], place: Place) => void, isDisabled?: () => boolean,
 *   onDrag?: (isDragging: boolean) => void, ready?: () => Promise<any>}} options `grip` is a selector within a child; the `selected` children move together if one
 *   of them is dragged; `isDisabled` returns whether moves are disabled
 * @returns {{move: (ids: string[], direction: "up"|"down"|"left"|"right"|"first"|"last") => void, cancel: () => void}} `move` moves in a
 *   direction, `cancel` ends a drag
 */
export function sortable(container, { grip, selected = () => [], move, isDisabled = () => false, onDrag = () => {}, ready }) {
  const items = () => [...container.children].filter((child) => child.dataset.id);
  const itemOf = (target) => items().find((item) => item.contains(target));
  const draggedIDs = (id) => {
    const chosen = new Set(selected());
    return chosen.has(id) ? items().map((item) => item.dataset.id).filter((id) => chosen.has(id)) : [id];
  };

  // MARK: - Keyboard

  function step(ids, direction) {
    if (isDisabled()) return;
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
    const go = () => step(draggedIDs(item.dataset.id), direction);
    // If moves are shown only when saved, each one starts from the result of the previous one.
    if (ready) ready().then(go);
    else go();
  });

  // MARK: - Pointer and touch

  let drag = null;

  container.addEventListener("dragstart", (event) => event.preventDefault());
  container.addEventListener("pointerdown", (event) => {
    if (drag || event.button !== 0 || isDisabled()) return;
    const item = itemOf(event.target);
    if (!item || (grip && !event.target.closest(grip)) || (!grip && event.target.closest("button, a, input"))) return;
    drag = { id: item.dataset.id, pointer: event.pointerId, x: event.clientX, y: event.clientY, isHeld: false, isTouch: event.pointerType === "touch" };
    if (!drag.isTouch) return;
    if (grip) startDrag();
    else drag.timer = setTimeout(startDrag, longPressDuration);
  });

  /** Starts a drag: a copy of the item floats, and the original is faded. */
  function startDrag() {
    const ids = draggedIDs(drag.id);
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
    onDrag(true);
    updateDrag();
    autoScroll();
  }

  /** Updates the drop target and its marker. */
  function updateDrag() {
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

  /** Scrolls while the pointer is near an edge. */
  function autoScroll() {
    if (!drag?.isHeld) return;
    const by = scrollStep(drag.y, innerHeight);
    if (by) {
      scrollBy(0, by);
      updateDrag();
    }
    requestAnimationFrame(autoScroll);
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
    // Suppress the click that follows a drop.
    addEventListener("click", (event) => event.stopPropagation(), { capture: true, once: true });
    setTimeout(() => dispatchEvent(new Event("click")), 0);
    onDrag(false);
    if (isDropped && ended.place && !isDisabled()) move(ended.ids, ended.place);
  }

  addEventListener("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.pointer) return;
    const isFar = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > dragThreshold;
    if (!drag.isHeld && drag.isTouch && isFar) return end(false);
    if (!drag.isHeld && isFar) startDrag();
    if (!drag.isHeld) return;
    [drag.x, drag.y] = [event.clientX, event.clientY];
    updateDrag();
  });
  addEventListener("pointerup", (event) => event.pointerId === drag?.pointer && end(true));
  addEventListener("pointercancel", (event) => event.pointerId === drag?.pointer && end(false));
  addEventListener("keydown", (event) => event.key === "Escape" && end(false));
  addEventListener("blur", () => end(false));
  // Do not scroll during a touch drag.
  addEventListener("touchmove", (event) => drag?.isHeld && event.preventDefault(), { passive: false });
  container.addEventListener("contextmenu", (event) => drag && event.preventDefault());

  return { move: step, cancel: () => end(false) };
}
