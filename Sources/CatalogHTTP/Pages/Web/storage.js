/** What a page keeps in the browser; for as long as the page lives where storage is refused. */

export const kept = (name, fallback) => {
  try { return localStorage.getItem(name) ?? fallback; } catch { return fallback; }
};
export const keep = (name, value) => {
  try { localStorage.setItem(name, value); } catch { /* For as long as the page lives. */ }
};
