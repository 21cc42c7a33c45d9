"""Tests of the shop with the seed catalog."""
import base64, json, time, urllib.parse

from harness import AWAY, Tab, wait_until

SHELF = "corner/dairy"
PLACE = "/?store=corner&shelf=dairy"
# A screen whose filters are in a sheet.
NARROW = {"width": 1000, "height": 900}


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
    tab = Tab(browser, viewport=NARROW)
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
    # The focus stays although the choices were redrawn.
    assert tab.page.evaluate("document.activeElement.name") == "price"
    tab.page.click("#filter-sheet button[data-text=close]")
    tab.sort("-price")
    tab.shows(server.order(SHELF, "sort=-price&in_stock=true" + query))
    tab.page.click("#filter")
    tab.page.click("#clear")
    tab.shows(server.order(SHELF, "sort=-price"))
    tab.page.goto(server.base + PLACE + "&brand=nobody")
    tab.wait("() => document.querySelector('#state').textContent.includes('match')")
    return tab


def changes_by_other_users_are_shown(server, browser):
    tab = Tab(browser)
    tab.open(server.base + PLACE + "&sort=position")
    order = server.order(SHELF, "sort=position")
    tab.shows(order)
    token = server.token("mia", "catalog:write")
    # The stream may still be opening: its first event includes earlier changes.
    server.move(SHELF, token, [order[-1]], place="first")
    tab.shows([order[-1]] + order[:-1])
    server.send("POST", "/v1/stores/corner/shelves/dairy/order/undo", {}, token)
    tab.shows(order)
    # A price is updated on the card.
    server.send("POST", "/v1/stores/corner/prices", [{"sku": order[0], "price_minor": 4242}], token)
    tab.wait("(id) => document.querySelector(`[data-id='${id}'] .price`).textContent.includes('42.42')", order[0])
    return tab


def the_page_reconnects_to_a_restarted_server(server, browser):
    tab = Tab(browser)
    tab.open(server.base + PLACE + "&sort=price")
    before = tab.ids()
    server.stop()
    tab.sort("-price")
    tab.page.wait_for_selector("#away:not([hidden])")
    assert "Offline" in tab.page.inner_text("#away")
    assert tab.ids() == before
    server.start()
    tab.shows(server.order(SHELF, "sort=-price"))
    tab.page.wait_for_selector("#away", state="hidden")
    # The browser reports unreachable requests itself.
    tab.ignores_errors(*AWAY)
    return tab


def invalid_url_parameters_are_ignored_and_reported(server, browser):
    tab = Tab(browser)
    # Only the parameter that the server rejects is dropped.
    for wrong, kept in (("sort=nonsense", ""), ("price_min=abc&in_stock=true", "in_stock=true"), ("price_min=2&price_max=1", "price_min=2"), ("cursor=x", "")):
        tab.open(f"{server.base}{PLACE}&{wrong}&utm_source=letter&user=nell")
        tab.shows(server.order(SHELF, kept))
        assert tab.page.is_visible("#away") == ("cursor" not in wrong), wrong
    tab.sort("price")
    tab.shows(server.order(SHELF, "sort=price"))
    tab.ignores_errors("400")
    return tab


def an_offline_sort_choice_is_sent_on_reconnect(server, browser):
    tab = Tab(browser).open(server.base + PLACE + "&user=uma&sort=name")
    token = server.token("uma")
    tab.wait("() => !document.querySelector('#devices').hidden")
    server.stop()
    tab.sort("-price")
    tab.page.wait_for_selector("#away:not([hidden])")
    server.start()
    tab.shows(server.order(SHELF, "sort=-price"))
    wait_until(tab.page, lambda: server.get("/v1/me/settings", token)["settings"])
    assert [one["value"] for one in server.get("/v1/me/settings", token)["settings"]] == ["-price"]
    tab.ignores_errors(*AWAY)
    return tab


def prices_and_counts_are_current(server, browser):
    """Includes changes during an offline period, and products that enter or leave a filter."""
    page = "/v1/stores/harbour/shelves/dairy/products?limit=100&sort=price"
    tab = Tab(browser).open(server.base + "/?store=harbour&shelf=dairy&sort=price&price_max=20&user=zoe")
    away = Tab(browser).open(server.base + "/?store=harbour&shelf=dairy&sort=price&user=zoe&device=phone")
    away.page.click("#offline")
    for day in range(1, 4):
        tab.page.click("#storm")
        tab.wait("(day) => document.querySelector('#day').textContent.startsWith(day)", f"{day}/")
        order = server.order("harbour/dairy", "sort=price&price_max=20")
        tab.shows(order)
        tab.wait("(seen) => document.querySelector('#count').textContent.startsWith(seen)", f"{len(order)} of 18 products")
    away.page.click("#offline")
    away.shows(server.order("harbour/dairy", "sort=price"))
    prices = {one["sku"]: one["price_minor"] for one in server.get(page)["products"]}
    for shown in (tab, away):
        shown.wait("(prices) => [...document.querySelectorAll('#products > [data-id]')].every((card) => card.product.price_minor === prices[card.dataset.id])", prices)
    for _ in range(4):
        server.send("POST", "/demo/stores/harbour/storm", None, server.token("mia", "catalog:write"))
    return [tab, away]


def retries_to_a_busy_server_are_delayed(server, browser):
    tab = Tab(browser).open(server.base + PLACE + "&sort=position&user=kim")
    order = server.order(SHELF, "sort=position")
    tab.shows(order)
    asked = []
    tab.page.route("**/order/diff*", lambda route: (asked.append(time.time()), route.fulfill(status=503, json={"detail": "busy"})))
    token = server.token("mia", "catalog:write")
    # An event with the whole order requires a diff request.
    tab.sort("name")
    tab.page.wait_for_selector("#away:not([hidden])")
    server.move(SHELF, token, [order[-1]], place="first")
    wait_until(tab.page, lambda: len(asked) >= 3, seconds=60)
    # The page waits two seconds between retries.
    assert asked[2] - asked[0] > 2, asked
    tab.page.unroute("**/order/diff*")
    tab.shows(server.order(SHELF, "sort=name"))
    server.send("POST", "/v1/stores/corner/shelves/dairy/order/undo", {}, token)
    tab.ignores_errors("503")
    return tab


def an_offline_device_does_not_overwrite_newer_settings(server, browser):
    tab = Tab(browser).open(server.base + PLACE)
    token = server.token("yan")
    read = tab.page.evaluate("""async (token) => {
        const { Aisle, Settings } = await import("/aisle.js");
        const [near, far] = [new Aisle({ token }), new Aisle({ token })];
        const phone = new Settings(near, { name: "yan.phone" });
        const watch = new Settings(far, { name: "yan.watch" });
        const again = new Settings(near, { name: "yan.phone" });
        near.isOffline = true;
        phone.set("own", 1);
        again.set("other tab", 2);
        phone.set("bad", "x".repeat(5000));
        await watch.set("x", 3);
        const refused = [];
        phone.addEventListener("refused", ({ detail }) => refused.push(detail.key));
        near.isOffline = false;
        const end = phone.follow();
        for (let wait = 0; wait < 200 && !(phone.get("x") && refused.length); wait++) await new Promise((done) => setTimeout(done, 25));
        end();
        await watch.sync();
        return [phone.get("own"), phone.get("x"), phone.get("bad") ?? null, refused, watch.get("own"), watch.get("other tab"), Object.keys(phone.queue).length];
    }""", token)
    assert read == [1, 3, None, ["bad"], 1, 2, 0], read
    tab.ignores_errors("422", "413", "400")
    return tab


def the_shop_works_on_a_phone_in_russian_and_by_keyboard(server, browser):
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
    tab.page.focus("#sorts [aria-pressed=true]")
    tab.page.keyboard.press("Escape")
    tab.sort("price")
    tab.shows(server.order(SHELF, "sort=price"))
    return tab


def the_shop_is_accessible(server, browser):
    for options in ({}, {"color_scheme": "dark"}, {"viewport": NARROW}, {"viewport": {"width": 390, "height": 844}}):
        tab = Tab(browser, **options)
        tab.open(server.base + PLACE)
        for sheet in (None, "#sort", "#filter"):
            # On wide screens, the filters are beside the products.
            if sheet and tab.page.is_visible(sheet):
                tab.page.click(sheet)
            tab.is_accessible()
            if tab.page.is_visible("dialog[open]"):
                tab.page.keyboard.press("Escape")
        tab.close()
    tab = Tab(browser)
    tab.open(server.base + PLACE)
    return tab


def the_client_reads_every_form_of_a_diff(server, browser):
    tab = Tab(browser)
    tab.open(server.base + PLACE)
    wrong = tab.page.evaluate("""async () => {
        const [{ Aisle, applyDiff }, { decodeWire, wireType }] = await Promise.all([import("/aisle.js"), import("/wire.js")]);
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
    token = server.token("ann")
    seen = tab.page.evaluate("""async (token) => {
        const { Aisle, Settings } = await import("/aisle.js");
        const [near, far] = [new Aisle({ token }), new Aisle({ token })];
        const [phone, watch] = [new Settings(near, { name: "phone" }), new Settings(far, { name: "watch" })];
        await watch.sync();
        const seen = [];
        watch.addEventListener("change", (event) => seen.push(event.detail.key));
        const end = watch.follow();
        near.isOffline = true;
        phone.set("a", 1);
        phone.set("b", { x: 2 });
        await new Promise((done) => setTimeout(done, 300));
        const early = [...seen];
        // A reopened page still has the change.
        const again = new Settings(near, { name: "phone" });
        near.isOffline = false;
        await again.sync();
        for (let wait = 0; wait < 100 && seen.length < 2; wait++) await new Promise((done) => setTimeout(done, 50));
        const both = JSON.stringify([watch.get("a"), watch.get("b"), Object.keys(again.queue).length]);
        await again.set("a", undefined);
        for (let wait = 0; wait < 100 && watch.get("a") !== undefined; wait++) await new Promise((done) => setTimeout(done, 50));
        end();
        return { early, both, gone: watch.get("a") === undefined };
    }""", token)
    assert seen == {"early": [], "both": '[1,{"x":2},0]', "gone": True}, seen
    return tab


def a_sort_is_remembered_for_its_user(server, browser):
    tab = Tab(browser).open(server.base + PLACE + "&user=rita")
    default = server.order(SHELF, "")
    tab.shows(default)
    tab.sort("-unit_price")
    tab.shows(server.order(SHELF, "sort=-unit_price"))
    tab.wait("() => document.querySelector('#count').textContent.includes('your saved sort')")
    # Without a sort in the URL, the user's remembered sort applies; other users see the default.
    tab.open(server.base + PLACE + "&user=rita")
    tab.shows(server.order(SHELF, "sort=-unit_price"))
    assert "your saved sort" in tab.text("#count")
    tab.open(server.base + PLACE + "&user=sam")
    tab.shows(default)
    assert "your saved sort" not in tab.text("#count")
    return tab


def waits_for_setting(server, tab, key, token, view):
    """Waits until the sort of a remembered view is stored, and checks the rest of the view."""
    stored = lambda: server.get(f"/v1/me/settings/{key}", token)["value"]
    wait_until(tab.page, lambda: stored()["sort"] == view["sort"])
    assert stored() == view, stored()


def another_sort_keeps_the_remembered_filter(server, browser):
    key, token = "stores/corner/shelves/dairy/sort", server.token("nelly")
    view = {"sort": "price", "filter": {"in_stock": True}, "collapse": False}
    server.send("PUT", f"/v1/me/settings/{key}", {"value": view}, token)
    tab = Tab(browser).open(server.base + PLACE + "&user=nelly")
    tab.shows(server.order(SHELF, "sort=price&in_stock=true"))
    tab.wait("(key) => JSON.parse(localStorage.getItem('aisle.settings.nelly'))?.values[key]?.sort === 'price'", key)
    tab.sort("-price")
    tab.shows(server.order(SHELF, "sort=-price&in_stock=true"))
    waits_for_setting(server, tab, key, token, {**view, "sort": "-price"})
    tab.open(server.base + PLACE + "&user=nelly")
    tab.shows(server.order(SHELF, "sort=-price&in_stock=true"))
    return tab


def a_sort_on_a_new_device_keeps_the_remembered_filter(server, browser):
    key, token = "stores/corner/shelves/dairy/sort", server.token("zora")
    view = {"sort": "price", "filter": {"in_stock": True}, "collapse": False}
    server.send("PUT", f"/v1/me/settings/{key}", {"value": view}, token)
    tab = Tab(browser)
    held = tab.holds("**/v1/me/settings*")
    tab.open(server.base + PLACE + "&user=zora")
    order = server.order(SHELF, "sort=price&in_stock=true")
    tab.shows(order)
    held.wait()
    # The settings come after the choice.
    tab.sort("-price")
    order = server.order(SHELF, "sort=-price&in_stock=true")
    tab.shows(order)
    held.release()
    waits_for_setting(server, tab, key, token, {**view, "sort": "-price"})
    tab.shows(order)
    return tab


def a_sort_in_the_url_wins_over_a_remembered_one(server, browser):
    key, token = "stores/corner/shelves/dairy/sort", server.token("otto")
    server.send("PUT", f"/v1/me/settings/{key}", {"value": "-price"}, token)
    tab = Tab(browser)
    held = tab.holds("**/v1/me/settings*")
    tab.open(server.base + PLACE + "&sort=price&user=otto")
    order = server.order(SHELF, "sort=price")
    tab.shows(order)
    held.wait()
    held.release()
    tab.wait("(key) => JSON.parse(localStorage.getItem('aisle.settings.otto'))?.values[key] === '-price'", key)
    assert "sort=price" in tab.page.url, tab.page.url
    tab.shows(order)
    # A later choice of another device applies.
    server.send("PUT", f"/v1/me/settings/{key}", {"value": "name"}, token)
    tab.shows(server.order(SHELF, "sort=name"))
    return tab


def a_second_device_follows_and_catches_up(server, browser):
    tab = Tab(browser, viewport={"width": 1280, "height": 1000}).open(server.base + PLACE + "&user=dora")
    tab.page.click("#devices")
    tab.page.wait_for_selector("#watch")
    phone, watch = (tab.page.frame_locator(f"#{name}") for name in ("phone", "watch"))
    for device in (phone, watch):
        device.locator("#products .card").first.wait_for()
    phone, watch = (next(frame for frame in tab.page.frames if f"device={name}" in frame.url) for name in ("phone", "watch"))
    tokens = [frame.evaluate("() => import('/session.js').then(({ aisle }) => aisle.token(false))") for frame in (phone, watch)]
    assert all(json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))["sub"] == "dora" for token in tokens)
    for sort in ("name", "-price"):
        order = server.order(SHELF, f"sort={sort}")
        tab.sort(sort, phone)
        start = time.time()
        tab.shows(order, frame=watch)
        print(f"  the second device is up to date {time.time() - start:.2f} s after the choice, including its animation of 0.45 s", flush=True)
        tab.shows(order, frame=phone)
    # Offline choices are kept, and the latest choice wins.
    watch.click("#offline")
    assert "Offline" in watch.inner_text("#away")
    tab.sort("price", watch)
    # The label says what is shown, not what is waiting.
    assert watch.inner_text("#sort-title") == "Price: high to low"
    tab.sort("unit_price", phone)
    tab.shows(server.order(SHELF, "sort=unit_price"), frame=phone)
    tab.shows(server.order(SHELF, "sort=-price"), frame=watch)
    watch.click("#offline")
    for frame in (watch, phone):
        tab.shows(server.order(SHELF, "sort=unit_price"), frame=frame)
    watch.click("#offline")
    tab.sort("-unit_price", watch)
    watch.click("#offline")
    for frame in (watch, phone):
        tab.shows(server.order(SHELF, "sort=-unit_price"), frame=frame)
    tab.is_accessible()
    return tab


def a_storm_of_prices_moves_the_shelf_by_itself(server, browser):
    shelf, page = "harbour/dairy", "/v1/stores/harbour/shelves/dairy/products?limit=100"
    tab = Tab(browser).open(server.base + "/?store=harbour&shelf=dairy&sort=price")
    prices = {card["sku"]: card["price_minor"] for card in server.get(page)["products"]}
    orders = set()
    for day in range(1, 8):
        tab.page.click("#storm")
        tab.wait("(day) => document.querySelector('#announcements').textContent.includes(`Day ${day} of 7`)", day)
        order = server.order(shelf, "sort=price")
        tab.shows(order)
        orders.add(tuple(order))
    assert len(orders) > 2, "nothing moved"
    # The last day restores the first day's prices.
    assert {card["sku"]: card["price_minor"] for card in server.get(page)["products"]} == prices
    return tab


def products_go_on_a_list(server, browser):
    tab = Tab(browser).open(server.base + PLACE + "&sort=price&user=lena")
    token = server.token("lena")
    first = tab.ids()[:2]
    for sku in first:
        tab.page.click(f"[data-id='{sku}'] .plus")
        tab.wait("(sku) => document.querySelector('#announcements').textContent.includes(document.querySelector(`[data-id='${sku}'] h2`).textContent)", sku)
    (made,) = server.get("/v1/me/lists", token)["lists"]
    assert [item["sku"] for item in server.get(f"/v1/me/lists/{made['id']}/items", token)["items"]] == first
    return tab


def photos_are_loaded_when_they_are_near(server, browser):
    token = server.token("mia", "catalog:write")
    products = {"C1007": "https://photos.example/1.jpg", "C1008": "/pictures/none.svg"}
    before = {sku: server.get(f"/v1/stores/corner/products/{sku}")["image_url"] for sku in products}
    for sku, address in products.items():
        server.send("PATCH", f"/v1/stores/corner/products/{sku}", {"image_url": address}, token)
    try:
        tab = Tab(browser).open(server.base + PLACE + "&sort=price")
        tab.wait("() => [...document.querySelectorAll('.card img')].some((photo) => photo.naturalWidth === 400)")
        photos = tab.page.evaluate("""() => Object.fromEntries([...document.querySelectorAll(".card")].map((card) => {
            const photo = card.querySelector("img");
            return [card.dataset.id, photo && [photo.getAttribute("src"), photo.loading, photo.width > 0 && photo.height > 0]];
        }))""")
        assert photos["C1001"] == ["/pictures/carton-2f6fb0.svg", "lazy", True], photos
        # A photo of an origin that is not configured is not even requested; one that does not exist gives way to the placeholder.
        assert photos["C1007"] is None, photos
        tab.page.evaluate("document.querySelector('.card[data-id=C1008]').scrollIntoView()")
        tab.wait("() => !document.querySelector('.card[data-id=C1008] img')")
        tab.ignores_errors("404")
        return tab
    finally:
        for sku, address in before.items():
            server.send("PATCH", f"/v1/stores/corner/products/{sku}", {"image_url": address}, token)


def a_phone_shows_products_in_its_first_screen(server, browser):
    for locale in ("en", "ru-RU"):
        tab = Tab(browser, viewport={"width": 390, "height": 844}, locale=locale, has_touch=True).open(server.base + PLACE)
        boxes = tab.page.evaluate("() => [...document.querySelectorAll('.card')].map((card) => card.getBoundingClientRect()).map((box) => [box.top, box.bottom])")
        assert boxes[0][0] <= 290, boxes[0]
        # The first row of products is visible as a whole, and a part of the second.
        assert boxes[0][1] < 844 and boxes[2][0] < 844, boxes[:3]
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
        tab.is_accessible()
    return tab


def a_phone_shows_the_current_shelf_and_switches_stores(server, browser):
    tab = Tab(browser, viewport={"width": 390, "height": 844}, has_touch=True)
    for page in ("/", "/merchandise"):
        for shelf in [shelf["key"] for shelf in server.get("/v1/stores/corner/shelves?limit=100")["shelves"]]:
            tab.open(f"{server.base}{page}?store=corner&shelf={shelf}")
            box = tab.page.locator("#shelves a[aria-current]").bounding_box()
            assert 0 <= box["x"] and box["x"] + box["width"] <= 390, (page, shelf, box)
        assert tab.page.is_visible("#store")
        tab.page.select_option("#store", "harbour")
        tab.wait("() => new URLSearchParams(location.search).get('store') === 'harbour'")
        tab.page.wait_for_selector("#products .card")
        assert tab.page.evaluate("document.querySelector('#store').value") == "harbour"
        tab.is_accessible()
    return tab


def an_offline_page_shows_no_other_shelf(server, browser):
    tab = Tab(browser)
    for page in ("/", "/merchandise"):
        tab.open(f"{server.base}{page}{PLACE[1:]}")
        tab.context.set_offline(True)
        tab.page.click("#shelves a[href*='shelf=cheese'][href*='corner']")
        tab.wait("() => document.querySelector('#title').textContent === 'Cheese'")
        assert tab.ids() == [] and tab.text("#count") == ""
        assert "shelf=cheese" in tab.page.url
        # The shelf that is shown comes when the page is online again.
        tab.context.set_offline(False)
        tab.page.wait_for_selector("#products .card")
        skus = {product["sku"] for product in server.get("/v1/stores/corner/shelves/cheese/products?limit=100")["products"]}
        assert set(tab.ids()) <= skus
        tab.wait("() => document.querySelector('#away').hidden")
    tab.ignores_errors("ERR_INTERNET_DISCONNECTED", *AWAY, "TypeError", "Problem")
    return tab


def offline_choices_are_shown_until_they_apply(server, browser):
    tab = Tab(browser, viewport=NARROW).open(server.base + PLACE + "&user=olga")
    tab.context.set_offline(True)
    # Without any action, too, the page says that it is offline.
    tab.wait("() => document.querySelector('#away').textContent.includes('Offline')")
    tab.sort("-price")
    tab.wait("() => document.querySelector('#pending').textContent.includes('Price: high to low')")
    tab.page.click("#filter")
    tab.page.click("#filters input[name=in_stock]")
    tab.page.keyboard.press("Escape")
    tab.wait("() => document.querySelector('#pending').textContent.includes('filters')")
    assert "Price: high to low" in tab.text("#pending")
    tab.is_accessible()
    tab.context.set_offline(False)
    tab.shows(server.order(SHELF, "sort=-price&in_stock=true"))
    tab.wait("() => document.querySelector('#pending').textContent === '' && document.querySelector('#away').hidden")
    assert tab.text("#filter-count") == "1" and tab.text("#sort-title") == "Price: high to low"
    tab.ignores_errors("ERR_INTERNET_DISCONNECTED", *AWAY)
    return tab


def an_unknown_store_or_shelf_is_reported(server, browser):
    tab = Tab(browser)
    for page in ("/", "/merchandise"):
        for query, unknown in (("store=corner&shelf=none", "none"), ("store=nowhere&shelf=dairy", "nowhere")):
            tab.open(f"{server.base}{page}?{query}")
            tab.wait("(name) => document.querySelector('#away').textContent.includes(`“${name}” does not exist`)", unknown)
            assert unknown not in tab.page.url and "shelf=" in tab.page.url, tab.page.url
    return tab


def pictures_are_whole_and_replace_their_placeholders_when_they_are_loaded(server, browser):
    tab = Tab(browser)
    held = tab.holds("**/pictures/*")
    tab.open(server.base + PLACE)
    held.wait()
    styles = "() => [...document.querySelectorAll('.card img')].map((photo) => getComputedStyle(photo)).map((style) => [style.opacity, style.objectFit])"
    assert {tuple(style) for style in tab.page.evaluate(styles)} == {("0", "contain")}
    held.release()
    tab.wait("() => [...document.querySelectorAll('.card img')].filter((photo) => photo.naturalWidth).every((photo) => getComputedStyle(photo).opacity === '1')")
    # A changed price does not load the picture of its card again.
    tab.wait("() => document.querySelector(\".card[data-id='C1010'] img.loaded\")")
    tab.page.evaluate("() => { window.photo = document.querySelector(\".card[data-id='C1010'] img\"); }")
    token = server.token("mia", "catalog:write")
    before = server.get("/v1/stores/corner/products/C1010")["price_minor"]
    for price in (before + 1, before):
        server.send("PATCH", "/v1/stores/corner/products/C1010", {"price_minor": price}, token)
        tab.wait("(price) => document.querySelector(\".card[data-id='C1010']\").product.price_minor === price", price)
    assert tab.page.evaluate("() => document.querySelector(\".card[data-id='C1010'] img\") === window.photo")
    return tab


def two_devices_are_a_page_and_their_tools_fit(server, browser):
    tab = Tab(browser).open(server.base + PLACE + "&user=vera")
    tab.page.click("#bar a[href^='/devices']")
    tab.page.wait_for_selector("#watch")
    assert tab.page.locator("#bar [aria-current]").get_attribute("data-text") == "devices"
    watch = tab.page.frame_locator("#watch")
    watch.locator("#products .card").first.wait_for()
    watch = next(frame for frame in tab.page.frames if "device=watch" in frame.url)
    for sort in ("price", "-unit_price"):
        tab.sort(sort, watch)
        tab.shows(server.order(next(f"{q['store'][0]}/{q['shelf'][0]}" for q in [urllib.parse.parse_qs(watch.url.partition("?")[2])]), f"sort={sort}"), frame=watch)
        boxes = watch.evaluate("() => [...document.querySelectorAll('.tools > :not([hidden])')].map((tool) => tool.getBoundingClientRect()).filter((box) => box.width).map((box) => [box.left, box.right])")
        assert all(0 <= left and right <= watch.evaluate("innerWidth") for left, right in boxes), boxes
        assert watch.evaluate("() => document.querySelector('.tools').scrollWidth <= document.querySelector('.tools').clientWidth")
    return tab


TESTS = [
    a_phone_shows_the_current_shelf_and_switches_stores, an_offline_page_shows_no_other_shelf, offline_choices_are_shown_until_they_apply,
    an_unknown_store_or_shelf_is_reported, pictures_are_whole_and_replace_their_placeholders_when_they_are_loaded,
    two_devices_are_a_page_and_their_tools_fit,
    photos_are_loaded_when_they_are_near, a_phone_shows_products_in_its_first_screen,
    sorts_glide_to_the_places_of_the_api, reduced_motion_is_honoured, filters_and_facets_narrow_the_shelf, changes_by_other_users_are_shown,
    invalid_url_parameters_are_ignored_and_reported, an_offline_sort_choice_is_sent_on_reconnect, prices_and_counts_are_current,
    retries_to_a_busy_server_are_delayed, an_offline_device_does_not_overwrite_newer_settings,
    a_sort_is_remembered_for_its_user, another_sort_keeps_the_remembered_filter, a_sort_on_a_new_device_keeps_the_remembered_filter,
    a_sort_in_the_url_wins_over_a_remembered_one, a_second_device_follows_and_catches_up, a_storm_of_prices_moves_the_shelf_by_itself,
    products_go_on_a_list, the_shop_works_on_a_phone_in_russian_and_by_keyboard, the_shop_is_accessible,
    the_client_reads_every_form_of_a_diff, settings_are_kept_while_away_and_sent_when_back, the_page_reconnects_to_a_restarted_server,
]
