/** The search box: a combobox whose list suggests searches, shelves, brands and products. */
import { announce } from "/alerts.js";
import { find, make } from "/dom.js";
import { text } from "/language.js";
import { marked, queryOf } from "/matches.js";

const [form, input, list] = ["search", "query", "suggestions"].map(find);
/** The time without typing after which suggestions are requested, in milliseconds. */
const delay = 150;
const state = {
  /** The suggestions of the open list; empty if it is closed. */
  suggestions: [],
  /** The index of the suggestion that Enter chooses; −1 for the typed text. */
  active: -1,
  timer: null,
  /** Aborts the request in progress. */
  request: null,
};

/** Shows a query in the box. */
export function showQuery(query) {
  close();
  input.setCustomValidity("");
  input.value = query ?? "";
}

/** Drops suggestions that have not arrived yet. */
function drop() {
  clearTimeout(state.timer);
  state.request?.abort();
}

/** Closes the list. */
function close() {
  drop();
  state.suggestions = [];
  list.replaceChildren();
  list.hidden = true;
  input.setAttribute("aria-expanded", "false");
  activate(-1);
}

/** Selects the suggestion that Enter chooses; −1 for none. */
function activate(index) {
  state.active = index;
  [...list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === index)));
  const option = list.children[index];
  if (option) input.setAttribute("aria-activedescendant", option.id);
  else input.removeAttribute("aria-activedescendant");
  option?.scrollIntoView({ block: "nearest" });
}

function show(suggestions) {
  if (!suggestions.length) return close();
  state.suggestions = suggestions;
  list.replaceChildren(...suggestions.map(({ kind, text: own, matches }, index) => make("li", { role: "option", id: `suggestion-${index}`, "aria-selected": "false" },
    make("span", {}, ...marked(own, matches)), " ", kind === "word" ? null : make("span", { class: "kind" }, text(kind)))));
  list.hidden = false;
  input.setAttribute("aria-expanded", "true");
  activate(-1);
  announce(text("suggested", suggestions.length));
}

/**
 * Starts the search box.
 * @param {{read: (query: string, signal: AbortSignal) => Promise<any[]>, search: (query: string) => void, choose: (suggestion: any) => void}} how
 *   `read` returns the suggestions for a text; `search` searches for a text; `choose` goes to a suggestion
 */
export function searchBox({ read, search, choose }) {
  /** The typed text. A space at its end completes the last word, which has other suggestions. */
  const typed = () => input.value.trimStart();

  /** Requests suggestions. Those that are shown stay until the others replace them. */
  async function ask() {
    drop();
    const query = typed();
    if (!query) return close();
    const request = (state.request = new AbortController());
    // Without suggestions, the search works as well.
    const suggestions = await read(query, request.signal).catch(() => []);
    // An answer for an earlier text comes too late.
    if (!request.signal.aborted && query === typed() && document.activeElement === input) show(suggestions);
  }

  function take(index) {
    const suggestion = state.suggestions[index];
    close();
    choose(suggestion);
  }

  input.addEventListener("input", () => {
    input.setCustomValidity("");
    drop();
    // The shown suggestions are for an earlier text, so Enter searches for the typed one.
    activate(-1);
    if (typed()) state.timer = setTimeout(ask, delay);
    else close();
  });
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const [last, isOpen] = [state.suggestions.length - 1, state.suggestions.length > 0];
    const places = { ArrowDown: state.active === last ? -1 : state.active + 1, ArrowUp: state.active === -1 ? last : state.active - 1 };
    // In the typed text, these keys move the cursor.
    if (state.active !== -1) Object.assign(places, { Home: 0, End: last });
    if (event.key in places) {
      if (isOpen) activate(places[event.key]);
      else if (event.key.startsWith("Arrow")) ask();
      else return;
    } else if (event.key === "Enter" && state.active !== -1) take(state.active);
    else if (event.key === "Escape" && isOpen) close();
    else return;
    event.preventDefault();
  });
  input.addEventListener("blur", close);
  // The focus stays in the box, which would close the list before the click.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) take([...list.children].indexOf(option));
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    close();
    // The text stays in the box, where it can be corrected.
    if (typed() && !queryOf(typed())) {
      input.setCustomValidity(text("noWord"));
      return void input.reportValidity();
    }
    // On touch screens, the keyboard would cover the results.
    if (matchMedia("(pointer: coarse)").matches) input.blur();
    search(typed());
  });
}
