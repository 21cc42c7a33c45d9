/** The header of the pages: links, who is signed in, the language. */
import { find, make } from "/dom.js";
import { language, setLanguage, text, translate } from "/language.js";
import { device, onSession, people, session, tokenName, withUser } from "/session.js";
import { keep } from "/storage.js";

/** The form to paste a token, which is kept until the tab is closed. For servers that are not a demonstration. */
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

/** Draws the header: the pages, who is signed in, the language; a page that is one of several has none. */
function bar() {
  find("bar").hidden = device !== null;
  const links = [["/", "shop"], ["/lists", "lists"], ["/merchandise", "merchandise"], ["/docs", "docs"]].map(([href, name]) =>
    make("a", { href: withUser(href), "aria-current": location.pathname === href ? "page" : null, "data-text": name }, text(name)));
  const choose = (label, options, value, change) => {
    const select = make("select", { "aria-label": text(label), "data-label": label, id: label }, ...options.map(([value, title]) => make("option", { value }, title)));
    select.value = value;
    select.addEventListener("change", () => change(select.value));
    return select;
  };
  const languages = choose("language", [["en", "English"], ["ru", "Русский"]], language.now, setLanguage);
  const { scope, demo, user } = session;
  const names = user && !people[scope].includes(user) ? [...people[scope], user] : people[scope];
  const users = demo?.sessions ? choose("user", names.map((name) => [name, name]), user, (chosen) => {
    keep(`aisle.user.${scope}`, chosen);
    const next = new URLSearchParams(location.search);
    next.delete("user");
    if (location.search === `?${next}` || (!location.search && !next.size)) location.reload();
    else location.search = next;
  }) : demo && signInForm();
  find("bar").replaceChildren(make("a", { class: "skip", href: "#content", "data-text": "skip" }, text("skip")), make("a", { class: "brand", href: "/" }, "Aisle"),
    make("nav", { class: "pages", "aria-label": text("pages"), "data-label": "pages" }, ...links), make("div", { class: "choosers" }, users, languages));
  translate();
}

onSession(bar);
bar();
