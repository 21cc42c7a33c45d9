/** Who is signed in, and the client of all pages. */
import { Aisle } from "/aisle.js";
import { language, onLanguage } from "/language.js";
import { kept } from "/storage.js";

export const parameters = new URLSearchParams(location.search);
/** The name of this session's device, where the page is one of several. */
export const device = parameters.get("device");

/** The users that a demonstration offers, by the scope that a page needs. */
export const people = { "": ["ann", "ben"], "catalog:write": ["mia", "tom"] };

/** The session of this page. */
export const session = {
  /** What this page may do beyond the user's own. */
  scope: "",
  /** What the server offers as a demonstration; null until it was asked. */
  demo: null,
  token: null,
  user: null,
  /** The token that is on its way. */
  renewing: null,
};

/** The client of all pages; its token is renewed where the server refuses it. */
export const aisle = new Aisle({ language: language.now, token: (isRefused) => (isRefused && session.demo?.sessions ? renew() : session.token) });
onLanguage(() => (aisle.language = language.now));
/** Without a session. */
const nobody = new Aisle();

/** One new token, however many ask for it. */
const renew = () => (session.renewing ??= newToken().finally(() => (session.renewing = null)));

async function newToken() {
  if (!session.demo?.sessions) return (session.token = sessionStorage.getItem(tokenName()));
  const { value } = await nobody.send("/demo/tokens", { method: "POST", body: { user: session.user, scope: session.scope || null } });
  return (session.token = value.token);
}

/** Where a token that somebody pasted is kept. */
export const tokenName = () => `aisle.token.${session.scope}`;

/** Whom a token is of; nothing is proved by this. */
function subjectOf(token) {
  try {
    const bytes = Uint8Array.from(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)).sub ?? null;
  } catch { return null; }
}

const listeners = [];

/** Calls the listener after each sign-in attempt. */
export const onSession = (listener) => listeners.push(listener);

/**
 * Begins a session, where the server is a demonstration or a token was given before.
 * @param {string} [wanted] the scope that the page needs
 * @returns {Promise<{user: string, isDemo: boolean, storms: string[]}|null>} null where nobody is signed in
 */
export async function signIn(wanted = "") {
  session.scope = wanted;
  session.demo ??= (await nobody.send("/demo")).value;
  session.user = parameters.get("user") || kept(`aisle.user.${wanted}`, people[wanted][0]);
  await renew();
  for (const listener of listeners) listener();
  return session.token ? { user: subjectOf(session.token), isDemo: session.demo.sessions, storms: session.demo.storms } : null;
}

/** A link within the pages: whom the address names stays signed in. */
export function withUser(path, parts = {}) {
  const named = parameters.get("user");
  const query = new URLSearchParams({ ...parts, ...(named && { user: named }) });
  return query.size ? `${path}?${query}` : path;
}

/** Plays the next day of a store's prices, where the server is a demonstration. @returns {Promise<{day: number, days: number, changed: number}>} */
export async function storm(store) {
  const { value: { token } } = await nobody.send("/demo/tokens", { method: "POST", body: { user: people["catalog:write"][0], scope: "catalog:write" } });
  return (await new Aisle({ token }).send(`/demo/stores/${store}/storm`, { method: "POST" })).value;
}
