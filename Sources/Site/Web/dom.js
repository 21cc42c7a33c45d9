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

const keyOf = (element) => element.dataset.key ?? (element.className || element.localName);

/**
 * Changes the content of an element into that of another one. Elements of both with the same `data-key`, class or name stay, with the
 * listeners that they have, so that the focus, a text that is being typed and a click in progress are not lost. If the focused control
 * is gone, the next one of its group has the focus.
 */
export function updateContent(element, fresh) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const controlsOf = (group) => [...group.querySelectorAll("input, button")].filter((control) => !control.closest("[hidden]"));
  const group = focused?.closest("fieldset");
  const at = focused && controlsOf(group ?? element).indexOf(focused);
  change(element, fresh, focused);
  if (!focused) return;
  if (focused.isConnected) return focused.focus({ preventScroll: true });
  // Another group has the focus if the whole group is gone.
  const controls = controlsOf(group?.isConnected ? group : element);
  controls[Math.min(Math.max(at, 0), controls.length - 1)]?.focus({ preventScroll: true });
}

function change(element, fresh, focused) {
  const known = new Map([...element.children].map((child) => [keyOf(child), child]));
  const nodes = [...fresh.childNodes].map((node) => {
    const old = node.nodeType === Node.ELEMENT_NODE ? known.get(keyOf(node)) : undefined;
    if (!old) return node;
    known.delete(keyOf(node));
    // A text that differs from the one that was drawn is being typed.
    const isTyped = old === focused && old.value !== (old.getAttribute("value") ?? "");
    for (const { name } of [...old.attributes]) if (!node.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of node.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    if ("checked" in old) old.checked = node.checked;
    if ("value" in old && old.value !== node.value && !isTyped) old.value = node.value;
    change(old, node, focused);
    return old;
  });
  const staying = new Set(nodes);
  for (const child of [...element.childNodes]) if (!staying.has(child)) child.remove();
  let next = null;
  for (const node of nodes.reverse()) {
    if (node.parentNode !== element || node.nextSibling !== next) element.insertBefore(node, next);
    next = node;
  }
}

// A click outside closes a sheet.
for (const sheet of document.querySelectorAll("dialog")) sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
