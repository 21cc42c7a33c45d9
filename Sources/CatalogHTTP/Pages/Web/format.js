/** Amounts, sizes and prices as texts. Pure: the language and its words are given. */

const formats = new Map();

/** The format of a currency's amounts, with at most so many decimals. */
function format(language, currency, most) {
  const key = `${language} ${currency} ${most}`;
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat(language, { style: "currency", currency, ...(most && { maximumFractionDigits: most }) }));
  return formats.get(key);
}

/** An amount of a currency, with at most so many decimals. */
export const amountText = (language, value, currency, most) => format(language, currency, most).format(value);

/** An amount in minor units. */
export const moneyText = (language, minor, currency) =>
  amountText(language, minor / 10 ** format(language, currency).resolvedOptions().maximumFractionDigits, currency);

/** A number of bytes. */
export const byteText = (count) => (count < 1000 ? `${count} B` : `${(count / 1000).toFixed(1)} kB`);

/** An amount of a unit, whose word may depend on the amount. @param {Record<string, (amount: string) => string>} units */
export const quantityText = (units, amount, unit) => `${amount} ${units[unit]?.(amount) ?? unit}`;

/** A product's size; null where it has none. */
export function sizeText(units, size) {
  if (!size) return null;
  return `${size.approximate ? "≈ " : ""}${size.packs > 1 ? `${size.packs} × ` : ""}${quantityText(units, size.amount, size.unit)}`;
}

/** A product's unit price; null where it has none. */
export const unitPriceText = (language, units, price, currency) =>
  price ? `${amountText(language, price.value, currency, 4)} / ${quantityText(units, ...price.per.split(" "))}` : null;

/** What a diff took to send and to apply, in short. @param {(name: string, ...values: any[]) => string} text */
export function transferText(text, diff, bytes, time) {
  const count = diff.mode === "order" ? null : diff.moves.length + diff.inserts.length;
  return [count === null ? null : text("moves", count, diff.new_count), byteText(bytes), time === undefined ? null : text("time", time)].filter(Boolean).join(", ");
}

/** How a product without a picture is drawn: always the same for a product. @returns {Record<string, string|number>} */
export function placeholder(product) {
  let hash = 0;
  for (const letter of product.sku + product.name) hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  return { hue: hash % 360, width: `${30 + ((hash >>> 9) % 25)}%`, height: `${45 + ((hash >>> 13) % 35)}%`, round: `${(hash >>> 17) % 14}px` };
}
