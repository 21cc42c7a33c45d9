import assert from "node:assert/strict";
import test from "node:test";
import "./element.mjs";
import { load } from "./module.mjs";

const { anchor, render } = await load("markdown.js");
const html = (markdown) => render(markdown, (target) => (target.startsWith("secret") ? null : `/at/${target}`)).map(String).join("\n");

test("headings have the anchors that GitHub makes", () => {
  assert.equal(html("## The `default` sort"), '<h2 id="the-default-sort">The <code>default</code> sort</h2>');
  assert.equal(anchor("From 0.1 to 0.2"), "from-01-to-02");
});

test("links and images have addresses; those without one are shown as text", () => {
  assert.equal(html("See [Diffs](diffs.md)."), '<p>See <a href="/at/diffs.md">Diffs</a>.</p>');
  assert.equal(html("![A **shelf**](shelf.svg)"), '<p><img src="/at/shelf.svg" alt="A **shelf**"></img></p>');
  assert.equal(html("[This](secret.md) ![and this](secret.svg)"), "<p>This and this</p>");
});

test("lists, tables, quotes and code", () => {
  assert.equal(html("- one\n  line\n- two"), "<ul><li>one line</li><li>two</li></ul>");
  assert.equal(html("1. one\n2. two"), "<ol><li>one</li><li>two</li></ol>");
  assert.equal(html("| a | b |\n| --- | --- |\n| `x\\|y` | **z** |"),
    '<table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead><tbody><tr><td><code>x|y</code></td><td><strong>z</strong></td></tr></tbody></table>');
  assert.equal(html("> a\n> b"), "<blockquote>a b</blockquote>");
  assert.equal(html("```sh\n<b> # x\n```\nafter"), '<pre tabindex="0"><code><b> # x</code></pre>\n<p>after</p>');
});
