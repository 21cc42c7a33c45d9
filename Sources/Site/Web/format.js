/** Formatting of amounts, sizes and prices as pure functions of a language and its unit names. */

/** Returns the locale for amounts and dates: the store's if it is in the language, otherwise the language with the store's region. */
export function formatLocale(language, store) {
  try {
    const own = new Intl.Locale(store);
    return own.language === language ? own.toString() : new Intl.Locale(language, { region: own.region }).toString();
  } catch {
    return language;
  }
}

const formats = new Map();

/** Returns a cached number format of a currency with at most `maximumDecimals` decimals. */
function format(language, currency, maximumDecimals) {
  const key = `${language} ${currency} ${maximumDecimals}`;
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat(language, { style: "currency", currency, ...(maximumDecimals && { maximumFractionDigits: maximumDecimals }) }));
  return formats.get(key);
}

/** Formats an amount of a currency with at most `maximumDecimals` decimals. */
export const amountText = (language, value, currency, most) => format(language, currency, most).format(value);

/** Formats an amount in minor units. */
export const moneyText = (language, minor, currency) =>
  amountText(language, minor / 10 ** format(language, currency).resolvedOptions().maximumFractionDigits, currency);

/** Formats a decimal, given as text. */
export const numberText = (language, value) => new Intl.NumberFormat(language, { maximumFractionDigits: 9 }).format(value);

/** Formats a day or an RFC 3339 time as a day in UTC; other texts are returned as they are. */
export function dateText(language, value) {
  const date = new Date(value);
  return Number.isNaN(date.valueOf()) ? value : new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" }).format(date);
}

/** Formats a number of bytes. */
export const byteText = (count) => (count < 1000 ? `${count} B` : `${(count / 1000).toFixed(1)} kB`);

/** Formats an amount with its unit, whose name may depend on the amount. @param {Record<string, (amount: string) => string>} units */
export const quantityText = (units, amount, unit) => `${amount} ${units[unit]?.(amount) ?? unit}`;

/** Formats a product's size; null if it has none. */
export function sizeText(units, size) {
  if (!size) return null;
  return `${size.approximate ? "≈ " : ""}${size.packs > 1 ? `${size.packs} × ` : ""}${quantityText(units, size.amount, size.unit)}`;
}

/** Formats a product's unit price; null if it has none, or if it rounds to zero. */
export const unitPriceText = (language, units, price, currency) =>
  Number(price?.value) ? `${amountText(language, price.value, currency, 4)} / ${quantityText(units, ...price.per.split(" "))}` : null;

/** Summarizes the cost of a diff: moves, bytes and time. @param {(name: string, ...values: any[]) => string} text */
export function transferText(text, diff, bytes, time) {
  const count = diff.mode === "order" ? null : diff.moves.length + diff.inserts.length;
  return [count === null ? null : text("moves", count, diff.new_count), byteText(bytes), time === undefined ? null : text("time", time)].filter(Boolean).join(", ");
}

/** Returns the style of a product's placeholder picture; it depends only on the product. @returns {Record<string, string|number>} */
export function placeholder(product) {
  let hash = 0;
  for (const letter of product.sku + product.name) hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  return { hue: hash % 360, width: `${30 + ((hash >>> 9) % 25)}%`, height: `${45 + ((hash >>> 13) % 35)}%`, round: `${(hash >>> 17) % 14}px` };
}
