import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./module.mjs";

const facets = await load("facets.js");
const builtIn = ["brand", "tag", "price_min", "price_max"];
const option = (filter, title, type, values) => ({ filter, title, type, ...(values && { values }) });
const options = [
  option("brand", "Brand", "text"), option("price_min", "Price from", "amount"), option("rating", "Rating", "number"), option("rating_min", "Rating from", "number"),
  option("rating_max", "Rating up to", "number"), option("attributes.brand", "Maker", "text"), option("protein_min", "Protein price from", "ratio"),
  option("protein_max", "Protein price up to", "ratio"), option("allergens_any", "Allergens: any of", "set", [{ value: "nuts", title: "Nuts" }]),
];

test("attributes have full names in addresses, and built-in filters have short ones", () => {
  assert.deepEqual(["brand", "rating_min", "attributes.brand"].map((name) => facets.fullName(name, builtIn)), ["brand", "attributes.rating_min", "attributes.brand"]);
  assert.ok(facets.isAttribute("attributes.rating") && !facets.isAttribute("rating"));
});

test("the options of a picker are grouped by attribute", () => {
  const found = facets.attributesOf(options, builtIn);
  assert.deepEqual(found.map(({ name, type }) => [name, type]), [["attributes.rating", "number"], ["attributes.brand", "text"], ["attributes.protein", "ratio"], ["attributes.allergens", "set"]]);
  assert.deepEqual(found[0].titles, { "": "Rating", _min: "Rating from", _max: "Rating up to" });
  assert.deepEqual(found[3].values, [{ value: "nuts", title: "Nuts" }]);
  assert.deepEqual(found.slice(0, 3).filter(({ type }) => type !== "text").map(facets.attributeTitle), ["Rating", "Protein price"]);
});

test("an attribute without a title has the common prefix of the titles of its filters", () => {
  const title = (titles) => facets.attributeTitle({ titles });
  assert.equal(title({ _min: "от 5", _max: "до 5" }), "от 5");
  assert.equal(title({ _min: "Цена белка от", _max: "Цена белка до" }), "Цена белка");
  assert.equal(title({ _any: "Allergens: any of", _all: "Allergens: all of", _none: "Allergens: none of" }), "Allergens");
  assert.equal(title({ _any: "Allergens: any of" }), "Allergens: any of");
});

test("chosen values are among those of a facet, also without a count", () => {
  assert.deepEqual(facets.withChosen([{ value: "a", count: 2 }], ["b", "a"]), [{ value: "a", count: 2 }, { value: "b" }]);
  assert.deepEqual(facets.withChosen([], ["nuts"]), [{ value: "nuts" }]);
  assert.deepEqual(facets.withChosen([{ value: "", count: 1 }], []), [{ value: "", count: 1 }]);
});

test("a typed limit becomes a plain decimal with at most six digits after the point", () => {
  const typed = { 1.5: "1.5", "1.50": "1.5", 100: "100", "1e3": "1000", "1e-7": "0", "-1e-7": "0", 1.1234567: "1.123457", 999999999999: "999999999999", "-0.25": "-0.25" };
  assert.deepEqual(Object.keys(typed).map((one) => facets.limitOf(one)), Object.values(typed));
});

test("a typed limit may have as many digits after the point as a known limit", () => {
  const known = ["-0.5", null, "0.299999999"];
  const typed = { "1e-7": "0.0000001", 0.123456789: "0.123456789", "0.1234567891": "0.123456789", 100: "100", 1.5: "1.5", "-1e-10": "0" };
  assert.deepEqual(Object.keys(typed).map((one) => facets.limitOf(one, known)), Object.values(typed));
  assert.equal(facets.limitOf("0.12345678", ["1", "2.5"]), "0.123457");
});

test("a rejected request loses only the parameter that the server rejects", () => {
  const view = { query: "milk", sort: "price", filter: { brand: ["Alma"], "attributes.rating_min": ["x"] }, collapse: true };
  const left = (parameter) => facets.withoutRejected({ ...view, store: "corner" }, parameter, builtIn);
  assert.deepEqual(left("q"), { ...view, query: null });
  assert.deepEqual(left("sort"), { ...view, sort: null });
  assert.deepEqual(left("brand"), { ...view, filter: { "attributes.rating_min": ["x"] } });
  for (const name of ["rating_min", "attributes.rating_min"]) assert.deepEqual(left(name), { ...view, filter: { brand: ["Alma"] } });
});

test("a rejected request loses its sort and filters if the server names no parameter", () => {
  const view = { query: "milk", sort: "price", filter: { brand: ["Alma"] }, collapse: true };
  assert.deepEqual(facets.withoutRejected(view, undefined, builtIn), { query: "milk", sort: null, filter: {}, collapse: null });
});

test("another sort keeps the rest of a remembered view", () => {
  const value = { sort: "price", filter: { brand: ["Alma"], allergens_none: "nuts" }, collapse: true, remember_attributes: true };
  const options = ["brand", "in_stock", "allergens_none"].map((filter) => ({ filter }));
  for (const known of [options, undefined]) assert.deepEqual(facets.withSort(value, "-rating", known, builtIn), { ...value, sort: "-rating" });
  assert.equal(value.sort, "price");
  for (const known of ["price", undefined, null]) assert.equal(facets.withSort(known, "-rating", options, builtIn), "-rating");
  assert.deepEqual([value, "price", undefined].map((known) => facets.sortOf(known)), ["price", "price", undefined]);
});

test("another sort drops the filters that a shelf no longer has", () => {
  const value = { sort: "price", filter: { brand: ["Alma"], "attributes.rating_min": 4, allergens_none: "nuts" }, collapse: false };
  const withSort = (...names) => facets.withSort(value, "name", names.map((filter) => ({ filter })), builtIn);
  assert.deepEqual(withSort("brand", "allergens_any"), { sort: "name", filter: { brand: ["Alma"] }, collapse: false });
  assert.deepEqual(withSort("rating_min"), { sort: "name", filter: { "attributes.rating_min": 4 }, collapse: false });
  assert.deepEqual(withSort("attributes.brand"), { sort: "name", collapse: false });
  assert.deepEqual(Object.keys(value.filter).length, 3);
});

test("a request is not repeated unless it loses something", () => {
  const view = { query: null, sort: null, filter: { brand: ["Alma"] }, collapse: null };
  for (const parameter of ["q", "sort", "collapse", "tag", "facets"]) assert.equal(facets.withoutRejected(view, parameter, builtIn), null);
  assert.equal(facets.withoutRejected({ ...view, filter: {} }, undefined, builtIn), null);
});

test("the counts of an attribute are found by its short or its full name", () => {
  const counts = { brand: 1, rating: 2, "attributes.brand": 3 };
  assert.deepEqual(["brand", "attributes.rating", "attributes.brand", "attributes.none", "none"].map((name) => facets.facetOf(counts, name)), [1, 2, 3, undefined, undefined]);
});

test("a request has at most eight facets", () => {
  const names = Array.from({ length: 17 }, (_, index) => `n${index}`);
  const requests = facets.facetRequests(names);
  assert.deepEqual(requests.map((request) => request.split(",").length), [8, 8, 1]);
  assert.deepEqual(requests.flatMap((request) => request.split(",")), names);
  assert.deepEqual(facets.facetRequests([]), []);
});

test("a filter of a response gets names and texts as in addresses", () => {
  assert.deepEqual(facets.filterOf({ brand: ["Alma", ""], rating_min: 4, in_stock: true }, [...builtIn, "in_stock"]),
    { brand: ["Alma", ""], "attributes.rating_min": ["4"], in_stock: ["true"] });
});

test("a value is added once and removed, and a name without values is dropped", () => {
  const one = facets.withValue({ tag: ["x"] }, "brand", "Alma", true);
  assert.deepEqual(facets.withValue(one, "brand", "Alma", true), { tag: ["x"], brand: ["Alma"] });
  assert.deepEqual(facets.withValue(one, "brand", "Alma", false), { tag: ["x"] });
  assert.deepEqual(facets.withValue(one, "brand", "", true).brand, ["Alma", ""]);
});

test("a range replaces both ends", () => {
  const names = ["price_min", "price_max"];
  assert.deepEqual(facets.withRange({ price_min: ["1"], tag: ["x"] }, names, [null, "5"]), { tag: ["x"], price_max: ["5"] });
  assert.deepEqual(facets.withRange({ price_min: ["1"], price_max: ["2"] }, names, [null, null]), {});
});

test("an end of a range that would make it empty drops the other end", () => {
  const names = ["a_min", "a_max"];
  assert.deepEqual(facets.withEnd({ a_max: ["10"] }, names, "a_min", "9"), { a_max: ["10"], a_min: ["9"] });
  assert.deepEqual(facets.withEnd({ a_max: ["10"] }, names, "a_min", "10.5"), { a_min: ["10.5"] });
  assert.deepEqual(facets.withEnd({ a_min: ["10"] }, names, "a_max", "9"), { a_max: ["9"] });
  assert.deepEqual(facets.withEnd({ a_min: ["2026-03-01"] }, names, "a_max", "2026-02-28"), { a_max: ["2026-02-28"] });
  assert.deepEqual(facets.withEnd({ a_min: ["1"], a_max: ["2"] }, names, "a_min", ""), { a_max: ["2"] });
});

test("each value is a chip", () => {
  const filter = { brand: ["Alma", ""], price_max: ["5"] };
  assert.deepEqual(facets.chipsOf(filter), [{ name: "brand", value: "Alma" }, { name: "brand", value: "" }, { name: "price_max", value: "5" }]);
  assert.deepEqual(facets.chipsOf({}), []);
});

test("values are searched without case and accents", () => {
  assert.ok(facets.contains("Crème fraîche", "creme FR") && facets.contains("Ärla Gård", " ärla ") && facets.contains("Кубань", "куб"));
  assert.ok(!facets.contains("Milk", "oat"));
  assert.ok(facets.contains("Milk", ""));
});
