/** The filters of the shop: facets in the rail or in the sheet, and chips of the active filters. */
import { amount } from "/cards.js";
import { find, make, updateContent } from "/dom.js";
import { attributesOf, attributeTitle, chipsOf, contains, facetOf, fullName, limitOf, valuesOf, withChosen, withEnd, withRange, withValue, withValues, without } from "/facets.js";
import { filters } from "/filters.js";
import { dateText, numberText } from "/format.js";
import { language, text } from "/language.js";

const [container, chips] = [find("filters"), find("chips")];
/** The number of values from which a facet has a search. */
const searchThreshold = 10;
/** The filters with amounts in the store's currency. */
const priceRange = ["price_min", "price_max"];
/** The greatest end of a range. */
const limit = 999_999_999_999;
/** The texts that search the values of facets, by the name of the filter, and the place whose facets they search. */
const searches = new Map();
let searchedPlace = null;

/**
 * The state that the filters depend on.
 * @typedef {{filter: Record<string, string[]>, facets: any, options: any[], currency: string, place: string,
 *   apply: (change: (filter: Record<string, string[]>) => Record<string, string[]>) => void}} View `place`: the store and shelf; `apply`
 *   applies a change to the current filter, and draws it
 */

// MARK: - Texts

/** Formats a limit or a value of an attribute for people. */
function valueText(type, value, currency) {
  if (type === "amount") return amount(value, currency);
  if (type === "dimension") return text("dimensions")[value] ?? value;
  if (type === "boolean") return text(value === "true" ? "yes" : "no");
  if (type === "date" || type === "time") return dateText(language.locale, value);
  return ["number", "ratio"].includes(type) ? numberText(language.locale, value) : value;
}

/** Formats a filter with one value, such as “Brand: Alma” or “Price up to €5”. */
function chipText({ options, currency }, name, value) {
  const option = options.find((option) => fullName(option.filter, filters) === name);
  if (!option) return `${name}: ${value}`;
  if (name === "in_stock") return text(value === "true" ? "inStock" : "soldOut");
  if (option.type === "set" && value === "") {
    const attribute = attributesOf(options, filters).find((one) => Object.keys(one.titles).some((ending) => one.name + ending === name));
    return `${attributeTitle(attribute)}: ${text("emptySet")}`;
  }
  const known = option.values?.find((other) => other.value === value)?.title ?? valueText(option.type, value, currency);
  const shown = value !== "" ? known : text(filters.includes(name) ? "without" : "unknown");
  const isPhrase = ["amount", "amount_per_quantity", "time"].includes(option.type) || (!filters.includes(name) && /_(min|max|any|all|none)$/.test(name));
  return `${option.title}${isPhrase ? "" : ":"} ${shown}`;
}

// MARK: - Facets

/** Creates the group of a facet. */
const group = (key, title, ...children) => make("fieldset", { "data-key": key }, make("legend", {}, title), ...children);

/** Creates a choice. @param {{name: string, value: string, title: string, count?: number, isChosen: boolean}} how */
function choice(type, { name, value, title, count, isChosen }, change) {
  const input = make("input", { type, name, value });
  input.checked = isChosen;
  input.addEventListener("change", () => change(input.checked));
  return make("label", { "data-key": `=${value}` }, input, make("span", { class: "value" }, title), make("span", { class: "n" }, count === undefined ? "" : String(count)));
}

/** Shows the values of a facet that contain the searched text, and those that are chosen. */
function narrow(key, labels) {
  const part = searches.get(key) ?? "";
  for (const label of labels) label.hidden = !label.control.checked && !contains(label.querySelector(".value").textContent, part);
}

/** Creates the box that searches the values of a facet. */
function searchOf(key, title) {
  const label = text("findValue", title);
  const input = make("input", { type: "search", class: "find", autocomplete: "off", "aria-label": label, placeholder: label, value: searches.get(key) });
  input.addEventListener("input", () => {
    searches.set(key, input.value);
    // The values may have been drawn again since.
    narrow(key, input.parentElement.querySelectorAll(".long > label"));
  });
  // Enter would close the sheet.
  input.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
  return input;
}

/**
 * Creates the choices of a filter that may have several values.
 * @param {{key: string, title: string, values: {value: string, title: string, count?: number}[], more?: number, unknown?: number}} how
 */
function valueGroup({ filter, apply }, { key, title, values, more = 0, unknown = 0 }) {
  const chosen = valuesOf(filter, key);
  const draw = (one) => choice("checkbox", { ...one, name: key, isChosen: chosen.includes(one.value) }, (isOn) => apply((filter) => withValue(filter, key, one.value, isOn)));
  const isLong = values.length > searchThreshold;
  const labels = values.map(draw);
  const parts = [make("div", { class: isLong ? "choices long" : "choices" }, ...labels)];
  if (isLong) {
    narrow(key, labels);
    parts.unshift(searchOf(key, title));
  }
  if (more) parts.push(make("p", { class: "quiet" }, text("moreValues", more)));
  if (unknown || (chosen.includes("") && !values.some(({ value }) => value === ""))) parts.push(make("div", { class: "choices apart" }, draw({ value: "", title: text("unknown"), count: unknown })));
  return group(key, title, ...parts);
}

/**
 * Creates the choices of a range: round ranges, and its ends as texts.
 * @param {{key: string, title: string, names: [string, string], labels: [string, string], type: string, min: string|null, max: string|null,
 *   buckets: {from: string|null, to: string|null, count: number}[], unknown?: number}} how `unknown`: the number of products without a
 *   value, if the filter `key` can ask for them
 */
function rangeGroup({ filter, currency, apply }, { key, title, names, labels, type, min, max, buckets, unknown }) {
  const ends = names.map((name) => valuesOf(filter, name)[0] ?? null);
  const isUnknown = valuesOf(filter, key).includes("");
  const limitText = (name, value) => value !== null && `${text(name)} ${valueText(type, value, currency)}`;
  const radio = (from, to, count) => choice("radio", {
    name: key, value: `${from ?? ""}…${to ?? ""}`, count, isChosen: !isUnknown && ends[0] === from && ends[1] === to,
    title: [limitText("from", from), limitText("upTo", to)].filter(Boolean).join(" ") || text("any"),
  }, () => apply((filter) => withRange(without(filter, key), names, [from, to])));
  const radios = [radio(null, null), ...buckets.map(({ from, to, count }) => radio(from, to, count))];
  const known = [min, max, ...buckets.flatMap(({ from, to }) => [from, to])];
  const inputs = names.map((name, index) => {
    const kind = type === "date" ? { type } : { type: "number", step: "any", min: type === "amount" ? 0 : -limit, max: limit };
    const input = make("input", { ...kind, name, value: ends[index], placeholder: [min, max][index] });
    input.addEventListener("change", () => {
      if (!input.validity.valid) return void input.reportValidity();
      // Browsers accept exponents and any number of decimals, the server does not.
      if (type !== "date" && input.value !== "") input.value = limitOf(input.value, known);
      const { value } = input;
      apply((filter) => withEnd(without(filter, key), names, name, value));
    });
    return make("label", { "data-key": name }, make("span", {}, labels[index]), input);
  });
  const apart = unknown || isUnknown ? choice("radio", { name: key, value: "", title: text("unknown"), count: unknown, isChosen: isUnknown },
    () => apply((filter) => withValues(without(filter, ...names), key, [""]))) : null;
  return group(`${key} ${type}`, title, make("div", { class: "choices" }, ...radios), make("div", { class: "limits" }, ...inputs), apart && make("div", { class: "choices apart" }, apart));
}

/** Creates the groups of a declared attribute. */
function attributeGroups(view, attribute) {
  const { name, type, titles, values: declared } = attribute;
  const facet = facetOf(view.facets, name);
  if (!facet) return [];
  // A filter stays visible while it is set, even if no product is left.
  const isSet = Object.keys(titles).some((ending) => valuesOf(view.filter, name + ending).length);
  if (facet.buckets) {
    if (facet.min === null && !isSet) return [];
    const buckets = facet.buckets.map(({ min, max, count }) => ({ from: min, to: max, count }));
    return [rangeGroup(view, {
      key: name, title: attributeTitle(attribute), names: [`${name}_min`, `${name}_max`], labels: [titles._min, titles._max], type, buckets,
      min: facet.min, max: facet.max, unknown: titles[""] === undefined ? undefined : facet.unknown,
    })];
  }
  const titleOf = (value) => (value === "" ? text("emptySet") : declared.find((one) => one.value === value)?.title ?? valueText(type, value));
  const titled = (values) => values.map((one) => ({ ...one, title: titleOf(one.value) }));
  const { more, values: counted } = facet;
  if (type !== "set") {
    // Values without products only matter if they are chosen. Unknown values are apart.
    const chosen = valuesOf(view.filter, name).filter((value) => value !== "");
    const values = titled(withChosen(counted.filter(({ value, count }) => count || chosen.includes(value)), chosen));
    return values.length + Math.sign(facet.unknown) > 1 || isSet ? [valueGroup(view, { key: name, title: titles[""], values, more, unknown: facet.unknown })] : [];
  }
  if (!counted.length && !isSet) return [];
  const [any, none] = ["_any", "_none"].map((ending) => valuesOf(view.filter, name + ending));
  const included = titled(withChosen(counted, any));
  // The counts are of products that pass, so they lack the values that are excluded.
  const known = counted.map(({ value }) => value).filter((value) => value !== "");
  const values = declared.length ? [...declared.map(({ value }) => value), ...known, ...none] : [...known, ...none].sort((a, b) => a.localeCompare(b, language.now));
  const excluded = titled([...new Set(values)].map((value) => ({ value })));
  return [
    ...(included.length ? [valueGroup(view, { key: `${name}_any`, title: titles._any, values: included, more })] : []),
    ...(excluded.length ? [valueGroup(view, { key: `${name}_none`, title: titles._none, values: excluded, more })] : []),
  ];
}

/** Draws the facets. @param {View} view */
export function drawFacets(view) {
  const { facets, options, filter } = view;
  if (searchedPlace !== view.place) searches.clear();
  searchedPlace = view.place;
  const title = (name) => options.find((option) => option.filter === name)?.title ?? name;
  const { price, in_stock } = facets;
  const groups = [
    valueGroup(view, { key: "in_stock", title: title("in_stock"), values: [{ value: "true", count: in_stock.values[0].count, title: text("inStock") }] }),
    rangeGroup(view, {
      key: "price", title: text("price"), names: priceRange, labels: priceRange.map(title), type: "amount", min: price.min, max: price.max,
      buckets: price.buckets.map(({ price_min, price_max, count }) => ({ from: price_min, to: price_max, count })),
    }),
  ];
  for (const key of ["tag", "brand"]) {
    const values = withChosen(facets[key].values, valuesOf(filter, key)).map((one) => ({ ...one, title: one.value || text("without") }));
    if (values.length > 1 || valuesOf(filter, key).length) groups.push(valueGroup(view, { key, title: title(key), values, more: facets[key].more }));
  }
  groups.push(...attributesOf(options, filters).flatMap((attribute) => attributeGroups(view, attribute)));
  updateContent(container, make("div", {}, ...groups));
}

// MARK: - Chips

/** Removes the facets and the chips, for example while another shelf loads. */
export function clearFilters() {
  container.replaceChildren();
  find("active").replaceChildren();
  chips.hidden = true;
}

/** Draws the chips of the active filters, each of which removes its filter. @param {View} view */
export function drawChips(view) {
  const items = chipsOf(view.filter).map(({ name, value }) => {
    const shown = chipText(view, name, value);
    const button = make("button", { type: "button", class: "chip", "aria-label": text("removeFilter", shown) }, shown, make("span", { "aria-hidden": "true" }, "×"));
    button.addEventListener("click", () => {
      const index = [...chips.querySelectorAll(".chip")].indexOf(button);
      view.apply((filter) => withValue(filter, name, value, false));
      // The next chip takes its place.
      const left = chips.querySelectorAll(".chip");
      (left[Math.min(index, left.length - 1)] ?? find("title")).focus({ preventScroll: true });
    });
    return make("li", { "data-key": `${name}=${value}` }, button);
  });
  updateContent(find("active"), make("ul", {}, ...items));
  chips.hidden = !items.length;
}

// MARK: - Places

/** The width from which the facets are beside the products. */
const isWide = matchMedia("(min-width: 75rem)");

/** Moves the facets to the rail of a wide screen, or to the sheet of a narrow one. */
function place() {
  find(isWide.matches ? "rail" : "facets").append(container);
  if (isWide.matches) find("filter-sheet").close();
}

isWide.addEventListener("change", place);
place();
