import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./module.mjs";

const { texts } = await load("texts.js");

test("every language has the same texts with the same types", () => {
  const kinds = (language) => Object.fromEntries(Object.entries(texts[language]).map(([name, text]) => [name, typeof text]).sort());
  for (const language of Object.keys(texts)) assert.deepEqual(kinds(language), kinds("en"), language);
});

test("no text is empty", () => {
  for (const [language, all] of Object.entries(texts)) {
    for (const [name, text] of Object.entries(all)) if (typeof text === "string") assert.ok(text.trim(), `${language}.${name}`);
  }
});
