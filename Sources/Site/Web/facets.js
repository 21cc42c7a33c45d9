/** Filters and facets as pure functions of a filter, which maps names to texts. */

/** The beginning of the full name of an attribute. Addresses have full names, because short ones may be parameters of the page. */
const attributePrefix = "attributes.";
/** The endings of filters by attributes; the other filters by an attribute have its name. */
const endings = ["_min", "_max", "_any", "_all", "_none"];
/** The maximum number of facets in a request. */
const facetLimit = 8;

/** Whether a name is the full name of a filter by an attribute. */
export const isAttribute = (name) => name.startsWith(attributePrefix);

/** Returns the name of a filter in addresses. @param {string[]} builtIn the names of the built-in filters */
export const fullName = (name, builtIn) => (builtIn.includes(name) || isAttribute(name) ? name : attributePrefix + name);

/**
 * Returns the attributes of a picker's filter options.
 * @param {{filter: string, title: string, type: string, values?: {value: string, title: string}[]}[]} options
 * @param {string[]} builtIn the names of the built-in filters
 * @returns {{name: string, type: string, titles: Record<string, string>, values: {value: string, title: string}[]}[]} `titles` has
 *   the title of each filter by the attribute, by its ending
 */
export function attributesOf(options, builtIn) {
  const found = new Map();
  for (const option of options) {
    const full = fullName(option.filter, builtIn);
    if (!isAttribute(full)) continue;
    const ending = endings.find((ending) => full.endsWith(ending)) ?? "";
    const name = full.slice(0, full.length - ending.length);
    if (!found.has(name)) found.set(name, { name, type: option.type, titles: {}, values: option.values ?? [] });
    found.get(name).titles[ending] = option.title;
  }
  return [...found.values()];
}

/** Returns the title of an attribute: that of the filter with its name, or the common prefix of the titles of its other filters. */
export function attributeTitle({ titles }) {
  if (titles[""]) return titles[""];
  const [first, ...others] = Object.values(titles).map((title) => [...title]);
  const length = first.findIndex((letter, index) => others.some((other) => other[index] !== letter));
  return first.slice(0, length === -1 ? first.length : length).join("").replace(/[\s:]+$/, "") || first.join("");
}

/** Returns the counts of an attribute, which responses name as briefly as possible. */
export const facetOf = (facets, name) => facets[name] ?? (isAttribute(name) ? facets[name.slice(attributePrefix.length)] : undefined);

/** Returns the `facets` of the requests that count all of them. @param {string[]} names @returns {string[]} */
export const facetRequests = (names) =>
  Array.from({ length: Math.ceil(names.length / facetLimit) }, (_, index) => names.slice(index * facetLimit, (index + 1) * facetLimit).join(","));

/** Returns a filter of a response with names and texts as in addresses. */
export const filterOf = (terms, builtIn) =>
  Object.fromEntries(Object.entries(terms).map(([name, values]) => [fullName(name, builtIn), [values].flat().map(String)]));

/** Returns the values of a filter; none if it is not set. */
export const valuesOf = (filter, name) => filter[name] ?? [];

/** Returns a filter without some names. */
export const without = (filter, ...names) => Object.fromEntries(Object.entries(filter).filter(([name]) => !names.includes(name)));

/** Returns a filter with other values of a name; without the name if there are none. */
export const withValues = (filter, name, values) => (values.length ? { ...filter, [name]: values } : without(filter, name));

/** Returns a filter with a value added or removed. */
export function withValue(filter, name, value, isOn) {
  const others = valuesOf(filter, name).filter((other) => other !== value);
  return withValues(filter, name, isOn ? [...others, value] : others);
}

/** Returns a filter with a range; null means no limit. @param {[string, string]} names @param {[string|null, string|null]} ends */
export const withRange = (filter, names, ends) =>
  names.reduce((all, name, index) => withValues(all, name, ends[index] === null ? [] : [ends[index]]), filter);

/** Returns a filter with another end of a range. The opposite end is dropped if nothing would be between them. */
export function withEnd(filter, [lower, upper], changed, value) {
  const next = withValues(filter, changed, value === "" ? [] : [value]);
  const [from, to] = [lower, upper].map((name) => valuesOf(next, name)[0]);
  if (from === undefined || to === undefined) return next;
  const isEmpty = Number.isNaN(Number(from)) ? from > to : Number(from) > Number(to);
  return isEmpty ? without(next, changed === lower ? upper : lower) : next;
}

/** Returns the counted values of a facet with the chosen ones, which may have no count. @param {{value: string, count?: number}[]} counted */
export const withChosen = (counted, chosen) =>
  [...counted, ...chosen.filter((value) => !counted.some((one) => one.value === value)).map((value) => ({ value }))];

/** The maximum number of digits after the point of a limit, unless a known limit has more. */
const limitDecimals = 6;

/**
 * Returns a number that a box accepts as the decimal of a limit, with at most six digits after the point, or as many as a known limit has.
 * @param {string} typed @param {(string|null)[]} [known] limits that the server suggests
 */
export function limitOf(typed, known = []) {
  const decimals = Math.max(limitDecimals, ...known.map((limit) => limit?.split(".")[1]?.length ?? 0));
  return Number(typed).toFixed(decimals).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "").replace(/^-0$/, "0");
}

/**
 * Returns the parts of a view that a rejected request leaves.
 * @param {{query: string|null, sort: string|null, filter: Record<string, string[]>, collapse: boolean|null}} view
 * @param {string|undefined} parameter the parameter that the server rejects, if it names one; all parts are dropped without it
 * @returns {typeof view|null} null if the parameter is not of the view
 */
export function withoutRejected({ query, sort, filter, collapse }, parameter, builtIn) {
  const view = { query, sort, filter, collapse };
  const isGiven = { q: query !== null, sort: sort !== null, collapse: collapse !== null };
  if (parameter === undefined) {
    const isAny = isGiven.sort || isGiven.collapse || Object.keys(filter).length > 0;
    return isAny ? { ...view, sort: null, filter: {}, collapse: null } : null;
  }
  if (parameter in isGiven) return isGiven[parameter] ? { ...view, [parameter === "q" ? "query" : parameter]: null } : null;
  const name = fullName(parameter, builtIn);
  return name in filter ? { ...view, filter: without(filter, name) } : null;
}

/** Returns the sort of a remembered view: a sort, or an object that has one. */
export const sortOf = (value) => value?.sort ?? value;

/**
 * Returns a remembered view with another sort. The rest stays, but not filters that the shelf no longer has: the server would ignore the
 * whole view.
 * @param {any} value undefined without a view @param {{filter: string}[]|undefined} options the shelf's filter options, if they are known
 * @param {string[]} builtIn the names of the built-in filters
 */
export function withSort(value, sort, options, builtIn) {
  if (value === null || typeof value !== "object") return sort;
  const { filter, ...rest } = value;
  const known = options && new Set(options.map((option) => fullName(option.filter, builtIn)));
  const kept = Object.entries(filter ?? {}).filter(([name]) => !known || known.has(fullName(name, builtIn)));
  return { ...rest, sort, ...(kept.length && { filter: Object.fromEntries(kept) }) };
}

/** Returns the values of a filter, each with its name. @returns {{name: string, value: string}[]} */
export const chipsOf = (filter) => Object.entries(filter).flatMap(([name, values]) => values.map((value) => ({ name, value })));

/** Returns whether a text contains another one; case and accents are ignored. */
export function contains(text, part) {
  const fold = (text) => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return fold(text).includes(fold(part.trim()));
}
