/** The current language and its texts. */
import { formatLocale } from "/format.js";
import { loadValue, storeValue } from "/storage.js";
import { texts } from "/texts.js";

/** The chosen language, and the locale for amounts and dates. */
export const language = {
  now: loadValue("aisle.language", navigator.language.startsWith("ru") ? "ru" : "en"),
  /** The locale of the shown store; undefined if no store is shown. */
  store: undefined,
  get locale() { return formatLocale(this.now, this.store); },
};
const listeners = [];

/** Calls the listener after a change of language. */
export const onLanguage = (listener) => listeners.push(listener);

/** Returns a text in the current language; a text with values is a function of them. */
export const text = (name, ...values) => {
  const found = texts[language.now][name];
  return typeof found === "function" ? found(...values) : found;
};

/** Sets the language and redraws the page's texts. */
export function setLanguage(chosen) {
  language.now = chosen;
  storeValue("aisle.language", chosen);
  translate();
  for (const listener of listeners) listener();
}

/** Sets the texts of elements with `data-text` and the labels of elements with `data-label`. */
export function translate(root = document) {
  document.documentElement.lang = language.now;
  for (const element of root.querySelectorAll("[data-text]")) element.textContent = text(element.dataset.text);
  for (const element of root.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", text(element.dataset.label));
    if (element.matches("input")) element.placeholder = text(element.dataset.label);
  }
}
