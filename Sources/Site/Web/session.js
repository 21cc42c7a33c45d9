/** The signed-in user and the API client of all pages. */
import { Aisle } from "/aisle.js";
import { language, onLanguage } from "/language.js";
import { loadValue } from "/storage.js";

export const parameters = new URLSearchParams(location.search);
/** The device name, if the page is inside the two-device view. */
export const device = parameters.get("device");

/** The demo users, by the scope that a page requires. */
export const demoUsers = { "": ["ann", "ben"], "catalog:write": ["mia", "tom"] };

/** The session of this page. */
export const session = {
  /** The scope that this page requires. */
  scope: "",
  /** The server's demo features; null until they are loaded. */
  demo: null,
  token: null,
  user: null,
  /** The promise of a new token. */
  renewing: null,
};

/** The API client of all pages. It renews its token when the server rejects it. */
export const aisle = new Aisle({ language: language.now, token: (isRefused) => (isRefused && session.demo?.sessions ? renew() : session.token) });
onLanguage(() => (aisle.language = language.now));
/** A client without a session. */
const anonymousClient = new Aisle();

/** Requests a new token, once for concurrent callers. */
const renew = () => (session.renewing ??= newToken().finally(() => (session.renewing = null)));

async function newToken() {
  if (!session.demo?.sessions) return (session.token = sessionStorage.getItem(tokenName()));
  const { value } = await anonymousClient.send("/demo/tokens", { method: "POST", body: { user: session.user, scope: session.scope || null } });
  return (session.token = value.token);
}

/** Returns the storage key of a pasted token. */
export const tokenName = () => `aisle.token.${session.scope}`;

/** Returns the subject of a token, without verifying it. */
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
 * Starts a session, if the server has demo users or a token is stored.
 * @param {string} [wanted] the scope that the page requires
 * @returns {Promise<{user: string, isDemo: boolean, storms: string[]}|null>} null if no user is signed in
 */
export async function signIn(wanted = "") {
  session.scope = wanted;
  session.demo ??= (await anonymousClient.send("/demo")).value;
  session.user = parameters.get("user") || loadValue(`aisle.user.${wanted}`, demoUsers[wanted][0]);
  await renew();
  for (const listener of listeners) listener();
  return session.token ? { user: subjectOf(session.token), isDemo: session.demo.sessions, storms: session.demo.storms } : null;
}

/** Returns a link to another page that keeps the user of the URL. Parts that are null are omitted. */
export function withUser(path, parts = {}) {
  const named = parameters.get("user");
  const given = Object.entries(parts).filter(([, value]) => value !== null);
  const query = new URLSearchParams([...given, ...(named ? [["user", named]] : [])]);
  return query.size ? `${path}?${query}` : path;
}

/** Applies the next day of demo prices to a store. @returns {Promise<{day: number, days: number, changed: number}>} */
export async function storm(store) {
  const { value: { token } } = await anonymousClient.send("/demo/tokens", { method: "POST", body: { user: demoUsers["catalog:write"][0], scope: "catalog:write" } });
  return (await new Aisle({ token }).send(`/demo/stores/${store}/storm`, { method: "POST" })).value;
}
