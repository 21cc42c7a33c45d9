/** Navigation between the views of a page; each view has a URL. */
import { make } from "/dom.js";

/** The query string of the shown view. */
const shown = { search: location.search };

/** Sets the URL of another view of this page. */
export function navigate(path, { replaces = false } = {}) {
  history[replaces ? "replaceState" : "pushState"](null, "", path);
  shown.search = location.search;
}

/** Calls the listener after back or forward navigation to another view; a change of the fragment does not count. */
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
