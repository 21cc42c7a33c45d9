/** The page header: links, the signed-in user and the language. */
import { find, make } from "/dom.js";
import { language, setLanguage, text, translate } from "/language.js";
import { device, onSession, demoUsers, session, tokenName, withUser } from "/session.js";
import { storeValue } from "/storage.js";

/** The sign-in form of servers without demo users. The token is stored until the tab is closed. */
function signInForm() {
  const input = make("input", { type: "text", id: "pasted", autocomplete: "off", required: true, "data-label": "token" });
  const form = session.token ? make("form", { id: "sign-out" }, make("button", { "data-text": "signOut" })) : make("form", { id: "sign-in" }, input, " ", make("button", { "data-text": "useToken" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (session.token) sessionStorage.removeItem(tokenName());
    else sessionStorage.setItem(tokenName(), input.value.trim());
    location.reload();
  });
  return form;
}

/** Draws the header: links, user and language. The pages inside the two-device view have no header. */
function renderHeader() {
  find("bar").hidden = device !== null;
  const links = [["/", "shop"], ["/lists", "lists"], ["/merchandise", "merchandise"], ["/devices", "devices"], ["/docs", "docs"]].map(([href, name]) =>
    make("a", { href: withUser(href), "aria-current": location.pathname === href ? "page" : null, "data-text": name }, text(name)));
  const makeSelect = (label, options, value, change) => {
    const select = make("select", { "aria-label": text(label), "data-label": label, id: label }, ...options.map(([value, title]) => make("option", { value }, title)));
    select.value = value;
    select.addEventListener("change", () => change(select.value));
    return select;
  };
  const languages = makeSelect("language", [["en", "English"], ["ru", "Русский"]], language.now, setLanguage);
  const { scope, demo, user } = session;
  const names = user && !demoUsers[scope].includes(user) ? [...demoUsers[scope], user] : demoUsers[scope];
  const users = demo?.sessions ? makeSelect("user", names.map((name) => [name, name]), user, (chosen) => {
    storeValue(`aisle.user.${scope}`, chosen);
    const next = new URLSearchParams(location.search);
    next.delete("user");
    if (location.search === `?${next}` || (!location.search && !next.size)) location.reload();
    else location.search = next;
  }) : demo && signInForm();
  find("bar").replaceChildren(make("a", { class: "skip", href: "#content", "data-text": "skip" }, text("skip")), make("a", { class: "brand", href: "/" }, "Aisle"),
    make("nav", { class: "pages", "aria-label": text("pages"), "data-label": "pages" }, ...links), make("div", { class: "choosers" }, users, languages));
  translate();
  // On narrow screens, the bar is one line, of which the current page must be visible.
  const current = find("bar").querySelector("[aria-current]")?.getBoundingClientRect();
  if (current && current.right > innerWidth) find("bar").scrollLeft += current.right - innerWidth + 16;
}

onSession(renderHeader);
renderHeader();
