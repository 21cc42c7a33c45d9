/** The guides, and the API reference, rendered from the OpenAPI document, with a form to try each endpoint. */
import { attempt, problemText } from "/alerts.js";
import { find, make } from "/dom.js";
import { byteText } from "/format.js";
import { guides } from "/guides.js";
import "/header.js";
import { onLanguage, text, translate } from "/language.js";
import { inline, render as renderMarkdown } from "/markdown.js";
import { aisle, signIn } from "/session.js";

const methods = ["get", "post", "put", "patch", "delete"];
/** The name of the shown guide; undefined for the API reference. */
const guideName = /^\/docs\/([^/]+)$/.exec(location.pathname)?.[1];
/** The state of the page. */
const model = {
  api: null,
  guide: null,
};

/** Returns the nodes of a description in the OpenAPI document, which is Markdown. */
const described = (description) => inline(description ?? "", guideAddress);
const resolve = (value) => (value?.$ref ? value.$ref.slice(2).split("/").reduce((found, name) => found[name.replaceAll("~1", "/")], model.api) : value);

/** Returns a short outline of a schema: names, types, and optional fields marked with “?”. */
function outline(schema, depth = 0) {
  const name = schema?.$ref?.split("/").at(-1);
  const found = resolve(schema) ?? {};
  if (depth > 3) return name ?? "…";
  if (found.const !== undefined) return JSON.stringify(found.const);
  if (found.enum) return found.enum.map((value) => JSON.stringify(value)).join(" | ");
  const several = found.oneOf ?? found.anyOf;
  if (several) return several.map((one) => outline(one, depth + 1)).join(" | ");
  if (found.allOf) return found.allOf.map((one) => outline(one, depth)).join(" & ");
  if (found.properties) {
    const [pad, end] = ["  ".repeat(depth + 1), "  ".repeat(depth)];
    const lines = Object.entries(found.properties).map(([key, value]) => {
      const note = resolve(value)?.description;
      return `${pad}${key}${found.required?.includes(key) ? "" : "?"}: ${outline(value, depth + 1)}${note ? `  // ${note}` : ""}`;
    });
    return `{\n${lines.join("\n")}\n${end}}`;
  }
  if (found.items) return `[${outline(found.items, depth)}]`;
  return [found.type ?? name ?? "any"].flat().join(" | ");
}

/** Returns a sample body. */
function sample(schema, depth = 0) {
  const found = resolve(schema) ?? {};
  if (found.example !== undefined) return found.example;
  if (found.examples?.length) return found.examples[0];
  if (found.default !== undefined) return found.default;
  if (found.const !== undefined) return found.const;
  if (found.enum) return found.enum[0];
  const several = found.oneOf ?? found.anyOf;
  if (several) return sample(several[0], depth);
  if (found.properties) {
    const wanted = found.required ?? Object.keys(found.properties).slice(0, 1);
    return Object.fromEntries(wanted.map((key) => [key, depth > 3 ? null : sample(found.properties[key], depth + 1)]));
  }
  if (found.items) return [sample(found.items, depth + 1)];
  const type = [found.type].flat()[0];
  return { integer: 0, number: 0, boolean: true, object: {}, array: [] }[type] ?? "";
}

/** Default values of path parameters, from the seed catalog. */
const defaultParameters = { store: "corner", shelf: "dairy", sku: "C1010" };

function operation(path, method, call, shared) {
  const id = call.operationId;
  const parts = [...(shared ?? []), ...(call.parameters ?? [])].map(resolve);
  const section = make("section", { id, class: "call" });
  section.append(make("h3", {}, make("span", { class: `method ${method}` }, method.toUpperCase()), " ", make("code", {}, path)), make("p", {}, ...described(call.summary)));
  if (call.description) section.append(make("p", { class: "quiet" }, ...described(call.description)));
  const fields = parts.map((part) => {
    const field = make("input", { type: "text", id: `${id}-${part.in}-${part.name}`, autocomplete: "off", value: part.in === "path" ? defaultParameters[part.name] : null });
    const label = make("label", { for: field.id }, make("code", {}, part.name), ` ${text("in")} ${part.in}`);
    return { part, field, row: make("div", { class: "field" }, label, field, part.description ? make("p", { class: "quiet" }, ...described(part.description)) : null) };
  });
  const optional = fields.filter((field) => !field.part.required).map((field) => field.row);
  const types = Object.entries(resolve(call.requestBody)?.content ?? {});
  const [type, content] = types[0] ?? [];
  const body = type && make("textarea", { id: `${id}-body`, rows: "5", spellcheck: "false" });
  if (body) body.value = content.example !== undefined ? JSON.stringify(content.example, null, 1) : type.includes("json") ? JSON.stringify(sample(content.schema), null, 1) : "";
  const answers = Object.entries(call.responses).map(([status, answer]) => {
    const found = resolve(answer);
    const shape = Object.values(found.content ?? {})[0]?.schema;
    const isProblem = shape?.$ref?.endsWith("/Problem");
    return make("details", {}, make("summary", {}, make("b", {}, status), " ", ...described(found.description)), shape && !isProblem ? make("pre", { tabindex: "0", role: "group", "aria-label": `${status} ${id}` }, outline(shape)) : null);
  });
  const result = make("div", { class: "result", "aria-live": "polite" });
  const form = make("form", {}, ...fields.filter((field) => field.part.required).map((field) => field.row),
    body ? make("div", { class: "field" }, make("label", { for: body.id }, `${text("body")}, ${type}`), body, make("details", {}, make("summary", {}, text("body")), make("pre", { tabindex: "0", role: "group", "aria-label": `${text("body")} ${id}` }, outline(content.schema)))) : null,
    optional.length ? make("details", { class: "optional" }, make("summary", {}, text("optionalFields")), ...optional) : null,
    make("button", {}, text("send")), result);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(path, method, fields, type, body, result);
  });
  section.append(make("details", { class: "try" }, make("summary", {}, text("try")), form), make("h4", {}, text("answers")), ...answers);
  return section;
}

/** Sends the form's request and shows the response; a stream is read for three seconds. */
async function send(path, method, fields, type, body, result) {
  const [query, headers] = [new URLSearchParams(), {}];
  let target = path;
  for (const { part, field } of fields) {
    if (part.in === "path") target = target.replace(`{${part.name}}`, part.name === "key" ? field.value : encodeURIComponent(field.value));
    else if (!field.value) continue;
    else if (part.in === "query") for (const value of part.schema?.type === "array" ? field.value.split(",") : [field.value]) query.append(part.name, value);
    else headers[part.name] = field.value;
  }
  if (find("token").value) headers.authorization = `Bearer ${find("token").value.trim()}`;
  if (body?.value) headers["content-type"] = type;
  const url = `${target}${query.size ? `?${query}` : ""}`;
  const quoted = (words) => `'${words.replaceAll("'", "'\\''")}'`;
  const sent = Object.entries(headers).map(([name, value]) => (name === "authorization" ? '-H "authorization: Bearer $TOKEN"' : `-H ${quoted(`${name}: ${value}`)}`));
  const curl = [`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}${quoted(location.origin + url)}`, ...sent, ...(body?.value ? [`-d ${quoted(body.value)}`] : [])].join(" \\\n  ");
  const controller = new AbortController();
  const start = performance.now();
  let received = "";
  let head = "";
  try {
    const response = await fetch(url, { method: method.toUpperCase(), headers, body: body?.value || undefined, signal: controller.signal });
    head = `${response.status} ${response.statusText} · ${Math.round(performance.now() - start)} ms`;
    const isStream = response.headers.get("content-type")?.includes("event-stream");
    if (isStream) setTimeout(() => controller.abort(), 3000);
    try {
      for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) received += part;
    } catch (error) { if (!isStream) throw error; }
    head += ` · ${byteText(new TextEncoder().encode(received).length)}`;
    if (response.headers.get("content-type")?.includes("json") && received.length < 200_000) received = JSON.stringify(JSON.parse(received), null, 1);
    const tag = response.headers.get("etag");
    if (tag) head += ` · ETag ${tag}`;
  } catch (error) {
    head = problemText(error);
  }
  result.replaceChildren(make("pre", { tabindex: "0", role: "group", "aria-label": text("request") }, curl), make("p", {}, make("b", {}, head)),
    received ? make("pre", { tabindex: "0", role: "group", "aria-label": text("answers") }, received.slice(0, 100_000)) : "");
}

function render() {
  translate();
  find("title").textContent = `${model.api.info.title} ${model.api.info.version}`;
  find("description").replaceChildren(...described(model.api.info.description));
  const all = Object.entries(model.api.paths).flatMap(([path, item]) => methods.filter((method) => item[method]).map((method) => [path, method, item[method], item.parameters]));
  const groups = model.api.tags.map((tag) => [tag, all.filter(([, , call]) => call.tags[0] === tag.name)]);
  const link = (href, title, words, isCurrent) => make("li", { "data-words": words.toLowerCase() }, make("a", { href, "aria-current": isCurrent && "page" }, title));
  find("calls").replaceChildren(
    make("section", {}, make("h2", {}, text("guides")), make("ul", {}, ...Object.entries(guides).map(([name, title]) => link(`/docs/${name}`, title, `${title} ${name}`, name === guideName)))),
    ...groups.map(([tag, calls]) => make("section", {}, make("h2", {}, tag.name),
      make("ul", {}, ...calls.map(([path, method, call]) => link(`/docs#${call.operationId}`, call.summary, [tag.name, method, path, call.operationId, call.summary, call.description].join(" ")))))));
  find("guide").hidden = !model.guide;
  find("reference").hidden = Boolean(model.guide);
  if (model.guide) {
    find("guide").replaceChildren(...renderMarkdown(model.guide, guideAddress));
    document.title = `${guides[guideName]} · Aisle`;
  } else {
    find("operations").replaceChildren(...groups.map(([tag, calls]) => make("section", { class: "group" }, make("h2", {}, tag.name), make("p", { class: "quiet" }, ...described(tag.description)), ...calls.map((call) => operation(...call)))));
  }
  search();
  if (location.hash) find(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

/** Returns the address of a guide's link or diagram; null for a page that the server does not have. */
function guideAddress(target) {
  const [, diagram] = /^(?:\.\.\/)?images\/(diff|sync|system)\.svg$/.exec(target) ?? [];
  if (diagram) return `/diagrams/${diagram}.svg`;
  const [, name, rest] = /([^/]*?)\.md(#.*)?$/.exec(target) ?? [];
  if (name === undefined) return /^(https?:|#)/.test(target) ? target : null;
  return name in guides ? `/docs/${name}${rest ?? ""}` : name === "api" ? "/docs" : null;
}

/** Shows the guides and endpoints that contain every word of the search. */
function search() {
  const words = find("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const group of find("calls").children) {
    const items = [...group.querySelectorAll("li")];
    for (const item of items) item.hidden = !words.every((word) => item.dataset.words.includes(word));
    const shown = items.filter((item) => !item.hidden).length;
    group.hidden = !shown;
    count += shown;
  }
  const links = [...find("calls").querySelectorAll("li:not([hidden]) a")].map((link) => link.hash.slice(1));
  for (const call of document.querySelectorAll(".call")) call.hidden = words.length > 0 && !links.includes(call.id);
  for (const group of document.querySelectorAll(".group")) group.hidden = !group.querySelector(".call:not([hidden])");
  find("nothing").textContent = count ? "" : text("nothingFound");
}

// On narrow screens, the contents are folded, so that the page is in the first screen.
const narrow = matchMedia("(max-width: 48rem)");
const fold = () => (find("contents").open = !narrow.matches);
narrow.addEventListener("change", fold);
fold();
find("calls").addEventListener("click", (event) => event.target.closest("a") && fold());
find("search").addEventListener("input", search);
find("merchandiser").addEventListener("click", async () => { find("token").value = await aisle.token(false); });
onLanguage(() => model.api && render());
translate();
attempt(async () => {
  // The examples of the guides are for a server at its usual address.
  if (guideName) model.guide = (await (await fetch(`/docs/${guideName}/markdown`)).text()).replaceAll("http://127.0.0.1:8080", location.origin);
  model.api = (await aisle.send("/openapi.json")).value;
  const session = await signIn("catalog:write");
  find("merchandiser").hidden = !session?.isDemo;
  render();
});
