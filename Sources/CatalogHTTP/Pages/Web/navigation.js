/** The views of a page: each has an address. */
import { make } from "/dom.js";

/** What the address named last. */
const shown = { search: location.search };

/** Another view of this page: the address tells it. */
export function navigate(path, { replaces = false } = {}) {
  history[replaces ? "replaceState" : "pushState"](null, "", path);
  shown.search = location.search;
}

/** Calls when one goes back or forth to another view; going to a part of this one is none. */
export function onNavigate(listener) {
  addEventListener("popstate", () => {
    if (location.search === shown.search) return;
    shown.search = location.search;
    listener(new URLSearchParams(shown.search));
  });
}

/** A link to another view of this page, with a count. A plain click shows the view without reloading the page. */
export function viewLink(href, isCurrent, title, count, go) {
  const link = make("a", { href, "aria-current": isCurrent ? "page" : null }, title, make("span", {}, String(count)));
  link.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go();
  });
  return link;
}
