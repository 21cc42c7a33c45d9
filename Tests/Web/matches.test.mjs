import assert from "node:assert/strict";
import test from "node:test";
import "./element.mjs";
import { load } from "./module.mjs";

const { marked, partsOf, queryOf } = await load("matches.js");
const shown = (text, ranges) => marked(text, ranges).map(String).join("");

test("matches are marked, and the other parts are not", () => {
  assert.equal(shown("Semi-skimmed Milk", [{ from: 13, to: 16 }]), "Semi-skimmed <mark>Mil</mark>k");
  assert.equal(shown("Milk", [{ from: 0, to: 4 }]), "<mark>Milk</mark>");
  assert.equal(shown("Milk", []), "Milk");
  assert.equal(shown("Milk"), "Milk");
});

test("matches may overlap and have any order", () => {
  assert.equal(shown("abcdef", [{ from: 3, to: 5 }, { from: 0, to: 2 }, { from: 1, to: 4 }]), "<mark>ab</mark><mark>cd</mark><mark>e</mark>f");
});

test("matches beyond the text are cut, and empty ones are ignored", () => {
  assert.equal(shown("abc", [{ from: 2, to: 9 }]), "ab<mark>c</mark>");
  assert.equal(shown("abc", [{ from: 1, to: 1 }, { from: 3, to: 9 }]), "abc");
  assert.equal(shown("", [{ from: 0, to: 4 }]), "");
});

test("the parts of a text are the text, whatever the matches", () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 300; round++) {
    const text = "🥛 Käse <b>x</b>".slice(random(4));
    const ranges = Array.from({ length: random(4) }, () => ({ from: random(20), to: random(24) }));
    const parts = partsOf(text, ranges);
    assert.equal(parts.map((part) => part.text).join(""), text);
    assert.ok(parts.every((part) => part.text));
  }
});

test("markup in a text is text", () => {
  const [mark, rest] = marked("<img src=x onerror=alert(1)>", [{ from: 0, to: 4 }]);
  assert.deepEqual(mark.children, ["<img"]);
  assert.equal(rest, " src=x onerror=alert(1)>");
});

test("a query has at most 8 words and 100 characters of a name", () => {
  assert.equal(queryOf("  Greek   Yoghurt 10% "), "Greek Yoghurt 10%");
  assert.equal(queryOf("a b c d e f g h i"), "a b c d e f g h");
  assert.equal(queryOf("a & b – c"), "a b c");
  assert.equal(queryOf(`${"x".repeat(60)} ${"y".repeat(60)}`), "x".repeat(60));
  assert.equal(queryOf("& – %"), "");
  assert.equal(queryOf("молоко 3,2%"), "молоко 3,2%");
});

test("a word that is too long for a query is cut", () => {
  assert.equal(queryOf("x".repeat(101)), "x".repeat(100));
  assert.equal(queryOf("🥛".repeat(99) + "xyz"), "🥛".repeat(99) + "x");
  assert.equal(queryOf("&".repeat(100) + "x"), "");
  assert.equal(queryOf(`${"x".repeat(120)} y`), "x".repeat(100));
});

test("a query has at most 32 words if letters and digits are split", () => {
  assert.equal(queryOf("a1".repeat(20)), "a1".repeat(16));
  assert.equal(queryOf(`${"a1".repeat(15)} b c d`), `${"a1".repeat(15)} b c`);
  assert.equal(queryOf(`${"a1".repeat(15)} b2c`), "a1".repeat(15));
  assert.equal(queryOf("l’été ".repeat(4)), "l’été l’été l’été l’été");
});
