/** The parts of texts that match a search. */
import { make } from "/dom.js";

/**
 * Splits a text into parts that match and parts between them.
 * @param {{from: number, to: number}[]} ranges in UTF-16 units; they may overlap, and parts beyond the text are ignored
 * @returns {{text: string, isMatch: boolean}[]}
 */
export function partsOf(text, ranges) {
  const parts = [];
  let end = 0;
  const add = (to, isMatch) => {
    if (to > end) parts.push({ text: text.slice(end, to), isMatch });
    end = Math.max(end, to);
  };
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    if (to <= end || from >= text.length) continue;
    add(from, false);
    add(Math.min(to, text.length), true);
  }
  add(text.length, false);
  return parts;
}

/** Returns the nodes of a text whose matches are marked. */
export const marked = (text, ranges = []) => partsOf(text, ranges).map((part) => (part.isMatch ? make("mark", {}, part.text) : part.text));

/** The maximum numbers of characters of a query, of its words between white space, and of its words if letters and digits are split. */
const [characterLimit, wordLimit, partLimit] = [100, 8, 32];
const hasLetterOrDigit = /[\p{L}\p{N}]/u;
const partPattern = /\p{L}[\p{L}\p{M}'’]*|\p{N}+/gu;

/** Returns the beginning of a text that is a valid query; it is empty for a text without a letter or a digit. */
export function queryOf(text) {
  const words = [];
  let [characters, parts] = [0, 0];
  for (const word of text.split(/\s+/).filter((word) => hasLetterOrDigit.test(word)).slice(0, wordLimit)) {
    const end = words.length ? word.length : endOf(word);
    characters += [...word.slice(0, end)].length + 1;
    parts += [...word.slice(0, end).matchAll(partPattern)].length;
    if (characters > characterLimit + 1 || parts > partLimit) break;
    words.push(word.slice(0, end));
    if (end < word.length) break;
  }
  return words.filter((word) => hasLetterOrDigit.test(word)).join(" ");
}

/** Returns where to cut a word that is too long for a query. */
function endOf(word) {
  const next = [...word.matchAll(partPattern)][partLimit];
  return Math.min([...word].slice(0, characterLimit).join("").length, next?.index ?? word.length);
}
