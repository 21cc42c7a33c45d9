/** Renders the subset of Markdown that the guides use: headings, paragraphs, lists, tables, code, links, images, emphasis and quotes. */
import { make } from "/dom.js";

const inlinePattern = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s](?:[^*]*[^*\s])?)\*|!?\[([^\]]*)\]\(([^)\s]+)\)/g;

/** Returns the anchor of a heading, as GitHub makes it. */
export const anchor = (title) => title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s/g, "-");

/** Returns the nodes of a line of text. @param {(target: string) => string|null} address as in `render` */
export function inline(line, address) {
  const nodes = [];
  let end = 0;
  for (const match of line.matchAll(inlinePattern)) {
    nodes.push(line.slice(end, match.index));
    end = match.index + match[0].length;
    const [, code, strong, emphasis, label, target] = match;
    if (code !== undefined) nodes.push(make("code", {}, code));
    else if (strong !== undefined) nodes.push(make("strong", {}, ...inline(strong, address)));
    else if (emphasis !== undefined) nodes.push(make("em", {}, ...inline(emphasis, address)));
    else {
      const href = address(target);
      if (match[0].startsWith("!")) nodes.push(href ? make("img", { src: href, alt: label }) : label);
      else nodes.push(href ? make("a", { href }, ...inline(label, address)) : label);
    }
  }
  return [...nodes, line.slice(end)].filter((node) => node !== "");
}

const cells = (row) => row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
const itemPattern = /^(-|\d+\.) +/;
const startsBlock = (line) => /^(#+ |```|\||>|\s*$)/.test(line) || itemPattern.test(line);

/**
 * Returns the elements of a text.
 *
 * @param {string} markdown
 * @param {(target: string) => string|null} address the address of a link or image; null for one that is shown as text
 */
export function render(markdown, address) {
  const lines = markdown.split("\n");
  const elements = [];
  let index = 0;
  /** Takes the lines of a block: the next one, and those that follow while a condition holds. */
  const take = (condition) => {
    const start = index++;
    while (index < lines.length && condition(lines[index])) index++;
    return lines.slice(start, index);
  };
  while (index < lines.length) {
    const line = lines[index];
    const heading = /^(#+) +(.*)$/.exec(line);
    if (!line.trim()) index++;
    else if (line.startsWith("```")) {
      const code = take((next) => !next.startsWith("```")).slice(1);
      index++;
      elements.push(make("pre", { tabindex: "0" }, make("code", {}, code.join("\n"))));
    } else if (heading) {
      index++;
      elements.push(make(`h${heading[1].length}`, { id: anchor(heading[2]) }, ...inline(heading[2], address)));
    } else if (line.startsWith("|")) {
      const [head, , ...rows] = take((next) => next.startsWith("|")).map(cells);
      const row = (tag, values) => make("tr", {}, ...values.map((value) => make(tag, tag === "th" ? { scope: "col" } : {}, ...inline(value, address))));
      elements.push(make("table", {}, make("thead", {}, row("th", head)), make("tbody", {}, ...rows.map((values) => row("td", values)))));
    } else if (itemPattern.test(line)) {
      const items = [];
      while (index < lines.length && itemPattern.test(lines[index])) {
        items.push(take((next) => next.trim() && /^\s/.test(next)).map((part) => part.trim()).join(" ").replace(itemPattern, ""));
      }
      elements.push(make(line.startsWith("-") ? "ul" : "ol", {}, ...items.map((item) => make("li", {}, ...inline(item, address)))));
    } else if (line.startsWith(">")) {
      const quote = take((next) => next.startsWith(">")).map((part) => part.replace(/^> ?/, "")).join(" ");
      elements.push(make("blockquote", {}, ...inline(quote, address)));
    } else {
      elements.push(make("p", {}, ...inline(take((next) => !startsBlock(next)).join(" "), address)));
    }
  }
  return elements;
}
