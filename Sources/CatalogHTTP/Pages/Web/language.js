/** The language of the pages, and its texts. */
import { kept, keep } from "/storage.js";
import { texts } from "/texts.js";

/** The chosen language. */
export const language = { now: kept("aisle.language", navigator.language.startsWith("ru") ? "ru" : "en") };
const listeners = [];

/** Calls when another language is chosen. */
export const onLanguage = (listener) => listeners.push(listener);

/** A text in the current language; texts with values are functions of them. */
export const text = (name, ...values) => {
  const found = texts[language.now][name];
  return typeof found === "function" ? found(...values) : found;
};

/** Chooses another language, and draws the texts of the page again. */
export function setLanguage(chosen) {
  language.now = chosen;
  keep("aisle.language", chosen);
  translate();
  for (const listener of listeners) listener();
}

/** Sets the texts of elements that name theirs by `data-text`, and labels by `data-label`. */
export function translate(root = document) {
  document.documentElement.lang = language.now;
  for (const element of root.querySelectorAll("[data-text]")) element.textContent = text(element.dataset.text);
  for (const element of root.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", text(element.dataset.label));
    if (element.matches("input")) element.placeholder = text(element.dataset.label);
  }
}
