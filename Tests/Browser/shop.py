#!/usr/bin/env python3
"""The storefront page in a real browser, on our own catalog. Usage: shop.py AISLE"""
import sys, time, traceback

from axe_playwright_python.sync_playwright import Axe

from harness import *

SHELF = "corner/dairy"
PLACE = "/?store=corner&shelf=dairy"


def sorts_glide_to_the_places_of_the_api(server, browser):
    tab = Tab(browser)
    tab.open(server.base + PLACE + "&sort=price")
    tab.shows(server.order(SHELF, "sort=price"))
    for sort in ("-unit_price", "name", "-popularity", "position", "price"):
        tab.sort(sort)
        tab.shows(server.order(SHELF, f"sort={sort}"))
        assert f"sort={sort}" in tab.page.url
        assert "of 18" in tab.page.evaluate("document.querySelector('#wire').value")
    tab.page.click("#turn")
    tab.shows(server.order(SHELF, "sort=-price"))
    # Cards that move are animated; their script stays short.
    moved = tab.page.evaluate("""async () => {
        document.querySelector("#turn").click();
        for (let frame = 0; frame < 120; frame++) {
            await new Promise(requestAnimationFrame);
            const running = document.getAnimations().filter((one) => one.effect.target.matches?.(".card")).length;
            if (running) return running;
        }
        return 0;
    }""")
    assert moved > 0
    tab.page.go_back()
    tab.shows(server.order(SHELF, "sort=-price"))
    return tab


def reduced_motion_is_honoured(server, browser):
    tab = Tab(browser, reduced_motion="reduce")
    tab.open(server.base + PLACE + "&sort=price")
    tab.page.evaluate("() => { Element.prototype.animate = () => { throw new Error('animated'); }; }")
    tab.sort("-price")
    tab.shows(server.order(SHELF, "sort=-price"))
    return tab


def filters_and_facets_narrow_the_shelf(server, browser):
    tab = Tab(browser)
    tab.open(server.base + PLACE + "&sort=price")
    tab.page.click("#filter")
    tab.page.click("#filters input[name=in_stock]")
    tab.shows(server.order(SHELF, "sort=price&in_stock=true"))
    tab.page.click("#filters input[name=price] >> nth=2")
    page = server.get("/v1/stores/corner/shelves/dairy/products?sort=price&facets=price&in_stock=true")
    bucket = page["facets"]["price"]["buckets"][1]
    query = "".join(f"&{end}={bucket[end]}" for end in ("price_min", "price_max") if bucket[end])
    left = server.order(SHELF, "sort=price&in_stock=true" + query)
    assert len(left) == bucket["count"]
    tab.shows(left)
    # The focus stays where it was, though the choices were made anew.
    assert tab.page.evaluate("document.activeElement.name") == "price"
    tab.page.click("#filter-sheet button[data-text=close]")
    tab.sort("-price")
    tab.shows(server.order(SHELF, "sort=-price&in_stock=true" + query))
    tab.page.click("#filter")
    tab.page.click("#clear")
    tab.shows(server.order(SHELF, "sort=-price"))
    tab.page.goto(server.base + PLACE + "&brand=nobody")
    tab.page.wait_for_function("() => document.querySelector('#state').textContent.includes('fits')")
    return tab


def what_others_change_arrives(server, browser):
    tab = Tab(browser)
    tab.open(server.base + PLACE + "&sort=position")
    order = server.order(SHELF, "sort=position")
    tab.shows(order)
    token = server.run("token", "--user", "mia", "--scope", "catalog:write")
    # The stream may still be opening: what happens before is found by what it tells first.
    server.send("POST", "/v1/stores/corner/shelves/dairy/order/moves", {"moves": [{"ids": [order[-1]], "place": "first"}]}, token)
    tab.shows([order[-1]] + order[:-1])
    server.send("POST", "/v1/stores/corner/shelves/dairy/order/undo", {}, token)
    tab.shows(order)
    # A price, at the card itself.
    server.send("POST", "/v1/stores/corner/prices", [{"sku": order[0], "price_minor": 4242}], token)
    tab.page.wait_for_function("(id) => document.querySelector(`[data-id='${id}'] .price`).textContent.includes('42.42')", arg=order[0])
    return tab


def a_server_that_comes_back_is_met_again(server, browser):
    tab = Tab(browser)
    tab.open(server.base + PLACE + "&sort=price")
    before = tab.ids()
    server.stop()
    tab.sort("-price")
    tab.page.wait_for_selector("#away:not([hidden])")
    assert "away" in tab.page.inner_text("#away")
    assert tab.ids() == before
    server.start()
    tab.shows(server.order(SHELF, "sort=-price"))
    tab.page.wait_for_selector("#away", state="hidden")
    # What could not be reached is told by the browser itself.
    tab.errors = [error for error in tab.errors if "ERR_CONNECTION" not in error and "ERR_INCOMPLETE" not in error and "ERR_EMPTY" not in error]
    return tab


def a_phone_shows_it_in_russian_and_by_keyboard(server, browser):
    tab = Tab(browser, viewport={"width": 390, "height": 844}, has_touch=True, locale="ru-RU", color_scheme="dark")
    tab.open(server.base + PLACE)
    assert tab.page.evaluate("document.documentElement.lang") == "ru"
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    tab.page.focus("#sort")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("#sort-sheet[open]")
    box = tab.page.locator("#sort-sheet").bounding_box()
    assert box["width"] == 390
    assert "Сначала дешёвые" in tab.page.inner_text("#sorts")
    tab.page.focus("#sorts input:checked")
    tab.page.keyboard.press("Escape")
    tab.sort("price")
    tab.shows(server.order(SHELF, "sort=price"))
    return tab


def nothing_is_barred_to_anybody(server, browser):
    for options in ({}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}):
        tab = Tab(browser, **options)
        tab.open(server.base + PLACE)
        for sheet in (None, "#sort", "#filter"):
            if sheet:
                tab.page.click(sheet)
            found = Axe().run(tab.page).response["violations"]
            assert not found, [(violation["id"], [node["html"][:120] for node in violation["nodes"][:3]]) for violation in found]
            if sheet:
                tab.page.keyboard.press("Escape")
        tab.close()
    tab = Tab(browser)
    tab.open(server.base + PLACE)
    return tab


def the_client_reads_every_form_of_a_diff(server, browser):
    tab = Tab(browser)
    tab.open(server.base + PLACE)
    wrong = tab.page.evaluate("""async () => {
        const { Aisle, applyDiff, decodeWire, wireType } = await import("/aisle.js");
        const aisle = new Aisle();
        let seed = 7;
        const random = (bound) => (seed = (seed * 48271) % 2147483647) % bound;
        const wrong = [];
        for (let round = 0; round < 120; round++) {
            const from = Array.from({ length: random(40) }, (_, index) => `p${index}é`);
            const to = from.filter(() => random(8) > 0);
            for (let step = random(4) * random(12); step > 0 && to.length > 1; step--) to.splice(random(to.length), 0, ...to.splice(random(to.length), 1 + random(3)));
            for (let step = random(3); step > 0; step--) to.splice(random(to.length + 1), 0, `new${round}-${step}`);
            if (round % 10 === 0) to.reverse();
            const body = { from, to };
            const json = (await aisle.send("/v1/order/diff", { method: "POST", body })).value;
            const wire = (await aisle.send("/v1/order/diff", { method: "POST", body, headers: { accept: wireType } })).value;
            const results = [applyDiff(from, json), applyDiff(from, decodeWire(wire, from))];
            if (results.some((result) => result.join("/") !== to.join("/"))) wrong.push({ from, to });
            const order = (await aisle.send("/v1/order/diff", { method: "POST", body, query: { mode: "order" }, headers: { accept: wireType } })).value;
            if (applyDiff(from, decodeWire(order, from)).join("/") !== to.join("/")) wrong.push({ from, to, order: true });
        }
        return wrong.slice(0, 2);
    }""")
    assert not wrong, wrong
    return tab


def settings_are_kept_while_away_and_sent_when_back(server, browser):
    tab = Tab(browser)
    tab.open(server.base + PLACE)
    token = server.run("token", "--user", "ann")
    told = tab.page.evaluate("""async (token) => {
        const { Aisle, Settings } = await import("/aisle.js");
        const aisle = new Aisle({ token });
        const [phone, watch] = [new Settings(aisle, { name: "phone" }), new Settings(aisle, { name: "watch" })];
        await watch.sync();
        const seen = [];
        watch.addEventListener("change", (event) => seen.push(event.detail.key));
        const end = aisle.follow("/v1/me/events", { event: (event) => watch.take(event) });
        phone.isOffline = true;
        phone.set("a", 1);
        phone.set("b", { x: 2 });
        await new Promise((done) => setTimeout(done, 300));
        const early = [...seen];
        // A page that is opened again has it still.
        const again = new Settings(aisle, { name: "phone" });
        await again.sync();
        for (let wait = 0; wait < 100 && seen.length < 2; wait++) await new Promise((done) => setTimeout(done, 50));
        const both = JSON.stringify([watch.get("a"), watch.get("b"), Object.keys(again.queue).length]);
        await again.set("a", undefined);
        for (let wait = 0; wait < 100 && watch.get("a") !== undefined; wait++) await new Promise((done) => setTimeout(done, 50));
        end();
        return { early, both, gone: watch.get("a") === undefined };
    }""", token)
    assert told == {"early": [], "both": '[1,{"x":2},0]', "gone": True}, told
    return tab


TESTS = [
    sorts_glide_to_the_places_of_the_api, reduced_motion_is_honoured, filters_and_facets_narrow_the_shelf, what_others_change_arrives,
    a_phone_shows_it_in_russian_and_by_keyboard, nothing_is_barred_to_anybody, the_client_reads_every_form_of_a_diff,
    settings_are_kept_while_away_and_sent_when_back, a_server_that_comes_back_is_met_again,
]

server, failed = Server(), 0
try:
    with browser() as chromium:
        for test in TESTS:
            name, start = test.__name__.replace("_", " "), time.time()
            try:
                tab = test(server, chromium)
                assert not tab.errors, tab.errors
                tab.close()
                print(f"passed: {name} ({time.time() - start:.1f} s)", flush=True)
            except Exception:
                failed += 1
                print(f"FAILED: {name}\n{traceback.format_exc()}", flush=True)
finally:
    server.close()
print(f"{len(TESTS) - failed} of {len(TESTS)} passed")
sys.exit(1 if failed else 0)
