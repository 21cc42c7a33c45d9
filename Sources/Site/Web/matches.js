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

/** The maximum number of characters of a query, and of its words between white space. */
const [characterLimit, wordLimit] = [100, 8];

/** Returns the beginning of a text that is a valid query; it is empty for a text without a letter or a digit. */
export function queryOf(text) {
  let query = "";
  for (const word of text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).slice(0, wordLimit)) {
    const longer = `${query} ${word}`.trim();
    if ([...longer].length > characterLimit) break;
    query = longer;
  }
  return query;
}
