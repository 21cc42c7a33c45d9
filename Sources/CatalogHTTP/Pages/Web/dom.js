/** Elements: finding, making and telling apart the children of lists that have ids. */

export const find = (id) => document.getElementById(id);

/** An element. Attributes that are undefined, null or false are left out. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** The ids of an element's children, in order. */
export const idsOf = (container) => [...container.children].filter((child) => child.dataset.id).map((child) => child.dataset.id);

/** The child of an element that has an id. @returns {HTMLElement|null} */
export const childOf = (container, id) => container.querySelector(`:scope > [data-id="${CSS.escape(id ?? "")}"]`);

/** The id of the child that stands behind another, or else before it. */
export const besideOf = (child) => [child.nextElementSibling, child.previousElementSibling].find((other) => other?.dataset.id)?.dataset.id;

/** Remembers the focused control; the returned function focuses it again after its row or card was redrawn. @returns {() => void} */
export function keepingFocus(container) {
  const focused = document.activeElement;
  const child = [...container.children].find((child) => child.contains(focused));
  const [id, control] = [child?.dataset.id, focused?.classList[0]];
  return () => {
    if (!id || focused.isConnected) return;
    const found = [...container.children].find((child) => child.dataset.id === id);
    (found === undefined ? null : child === focused ? found : found.querySelector(`.${control}`))?.focus({ preventScroll: true });
  };
}

// A sheet closes where one clicks beside it.
for (const sheet of document.querySelectorAll("dialog")) sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
