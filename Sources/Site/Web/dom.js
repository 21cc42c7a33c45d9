/** DOM helpers: finding and creating elements, and children identified by `data-id`. */

export const find = (id) => document.getElementById(id);

/** Creates an element. Attributes that are undefined, null or false are omitted. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Returns the ids of an element's children, in order. */
export const idsOf = (container) => [...container.children].filter((child) => child.dataset.id).map((child) => child.dataset.id);

/** Returns the child with an id. @returns {HTMLElement|null} */
export const childOf = (container, id) => container.querySelector(`:scope > [data-id="${CSS.escape(id ?? "")}"]`);

/** Returns the id of the next sibling, or of the previous one at the end. */
export const neighborID = (child) => [child.nextElementSibling, child.previousElementSibling].find((other) => other?.dataset.id)?.dataset.id;

/** Saves the focused control; the returned function restores the focus after its row or card was redrawn. @returns {() => void} */
export function saveFocus(container) {
  const focused = document.activeElement;
  const child = [...container.children].find((child) => child.contains(focused));
  const [id, control, value] = [child?.dataset.id, focused?.classList[0], focused?.value];
  return () => {
    if (!id || focused.isConnected) return;
    const found = [...container.children].find((child) => child.dataset.id === id);
    if (!found) return;
    const controls = [...found.querySelectorAll(`.${control}`)];
    (child === focused ? found : controls.find((one) => one.value === value) ?? controls[0])?.focus({ preventScroll: true });
  };
}

/**
 * Replaces the children of an element by those of another one, except a focused control: removing it would end what the user types.
 * The elements around it are recognized by `data-key`, class or name.
 */
export function replaceContent(element, fresh) {
  const focused = document.activeElement;
  const keyOf = (child) => child.dataset.key ?? (child.className || child.localName);
  const kept = [...element.children].find((child) => child.contains(focused));
  const twin = kept && [...fresh.children].find((child) => keyOf(child) === keyOf(kept));
  if (!twin) return element.replaceChildren(...fresh.childNodes);
  const nodes = [...fresh.childNodes];
  const place = nodes.indexOf(twin);
  for (const node of [...element.childNodes]) if (node !== kept) node.remove();
  kept.before(...nodes.slice(0, place));
  kept.after(...nodes.slice(place + 1));
  if (kept !== focused) replaceContent(kept, twin);
  else if ("checked" in kept) kept.checked = twin.checked;
}

// A click outside closes a sheet.
for (const sheet of document.querySelectorAll("dialog")) sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
