/** Local storage; values are not kept if the browser blocks it. */

export const loadValue = (name, fallback) => {
  try { return localStorage.getItem(name) ?? fallback; } catch { return fallback; }
};
export const storeValue = (name, value) => {
  try { localStorage.setItem(name, value); } catch { /* The value is not stored. */ }
};
