import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./module.mjs";

const { amountText, byteText, dateText, formatLocale, moneyText, numberText, placeholder, quantityText, sizeText, transferText, unitPriceText } = await load("format.js");
const { texts } = await load("texts.js");
const units = texts.en.units;

/** Removes the spaces between numbers and currency signs. */
const plain = (text) => text.replaceAll(/[\u00a0\u202f]/g, " ");

test("minor units become an amount with the decimals of their currency", () => {
  assert.equal(moneyText("en", 1299, "EUR"), "€12.99");
  assert.equal(moneyText("en", 1299, "JPY"), "¥1,299");
  assert.equal(plain(moneyText("en", 1299, "KWD")), "KWD 1.299");
});

test("each language has its own format", () => assert.equal(plain(moneyText("ru", 129900, "RUB")), "1 299,00 ₽"));

test("amounts and dates follow the store's locale in the language of the page", () => {
  assert.equal(formatLocale("en", "en-IE"), "en-IE");
  assert.equal(formatLocale("en", "sv-SE"), "en-SE");
  assert.equal(formatLocale("ru", "sv"), "ru");
  for (const unknown of [undefined, "", "not a locale"]) assert.equal(formatLocale("en", unknown), "en");
  assert.equal(new Intl.DateTimeFormat(formatLocale("en", "en-IE"), { dateStyle: "short" }).format(new Date(2026, 10, 24)), "24/11/2026");
});

test("an amount has at most the requested decimals", () => {
  assert.equal(amountText("en", "1.23456", "EUR", 4), "€1.2346");
  assert.equal(amountText("en", "1.5", "EUR", 4), "€1.50");
});

test("a unit without a translation is shown unchanged", () => assert.equal(quantityText(units, "1.5", "kg"), "1.5 kg"));

test("a unit's name depends on the amount", () => {
  for (const [name, word] of Object.entries(units)) assert.equal(quantityText(units, "2", name), `2 ${word("2")}`);
});

test("a size shows its packs and whether it is approximate", () => {
  assert.equal(sizeText(units, { amount: "330", unit: "ml", packs: 6, approximate: false }), "6 × 330 ml");
  assert.equal(sizeText(units, { amount: "1", unit: "kg", packs: 1, approximate: true }), "≈ 1 kg");
  assert.equal(sizeText(units, null), null);
});

test("a unit price shows its reference quantity", () => {
  assert.equal(unitPriceText("en", units, { value: "2.5", per: "1 kg" }, "EUR"), "€2.50 / 1 kg");
  assert.equal(unitPriceText("en", units, null, "EUR"), null);
  assert.equal(unitPriceText("en", units, { value: "0.00", per: "1 kg" }, "EUR"), null);
  assert.equal(unitPriceText("en", units, { value: "0.004", per: "1 kg" }, "EUR"), "€0.004 / 1 kg");
});

test("numbers keep their decimals, and days do not depend on the time zone", () => {
  assert.equal(numberText("en", "4.5"), "4.5");
  assert.equal(plain(numberText("ru", "1234.125")), "1 234,125");
  assert.equal(dateText("en", "2026-03-01"), "Mar 1, 2026");
  assert.equal(dateText("en", "2026-03-01T23:59:59Z"), "Mar 1, 2026");
  assert.equal(dateText("en", "soon"), "soon");
});

test("bytes are formatted in units of 1000", () => {
  assert.equal(byteText(999), "999 B");
  assert.equal(byteText(1000), "1.0 kB");
});

test("a transfer shows moves, bytes and time, if known", () => {
  const text = (name, ...values) => `${name} ${values.join("/")}`;
  const moves = { mode: "moves", moves: [1, 2], inserts: [3], new_count: 9 };
  assert.equal(transferText(text, moves, 250, 12), "moves 3/9, 250 B, time 12");
  assert.equal(transferText(text, { mode: "order" }, 250), "250 B");
});

test("a placeholder depends only on the product", () => {
  const milk = { sku: "C1", name: "Milk" };
  assert.deepEqual(placeholder(milk), placeholder({ ...milk }));
  assert.notDeepEqual(placeholder(milk), placeholder({ sku: "C2", name: "Milk" }));
});

test("names with characters beyond the BMP have placeholders", () => {
  const { hue } = placeholder({ sku: "x", name: "🥛".repeat(400) });
  assert.ok(Number.isInteger(hue) && hue >= 0 && hue < 360);
});
