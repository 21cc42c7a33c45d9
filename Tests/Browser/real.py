"""Tests of the pages with real catalogs of thousands of products per shelf."""
import os, re, time

from harness import AWAY, Tab
from merchandise import moved


def imports(data):
    return [os.path.join(data, name) for name in ("konzum-hr.csv", "spar-at.csv")]


def largest(server, prefix=""):
    """Returns the largest shelf of the stores with a key prefix, as STORE/SHELF, and its size."""
    found = []
    for store in server.get("/v1/stores")["stores"]:
        cursor = "" if store["key"].startswith(prefix) else None
        while cursor is not None:
            page = server.get(f"/v1/stores/{store['key']}/shelves?limit=100{cursor and '&cursor=' + cursor}")
            found += [(shelf["product_count"], f"{store['key']}/{shelf['key']}") for shelf in page["shelves"]]
            cursor = page["page"]["next_cursor"]
    count, shelf = max(found)
    return shelf, count


def address(server, shelf, page="", **parts):
    store, key = shelf.split("/")
    return f"{server.base}/{page}?store={store}&shelf={key}" + "".join(f"&{name}={value}" for name, value in parts.items())


def scroll(tab, count):
    """Scrolls down until a number of products is shown."""
    while (shown := len(tab.ids())) < count:
        tab.page.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
        tab.wait("(shown) => document.querySelectorAll('#products > [data-id]').length > shown", shown)


def sixty_and_three_hundred_cards_glide_to_their_places(server, browser):
    shelf, _ = largest(server, "konzum")
    tab = Tab(browser).open(address(server, shelf, sort="price"))
    for count in (60, 300):
        scroll(tab, count)
        tab.page.evaluate("() => scrollTo(0, 0)")
        for sort in ("-price", "unit_price", "brand", "price"):
            shown = min(len(tab.ids()), 300)
            tab.sort(sort)
            tab.shows(server.order(shelf, f"sort={sort}")[:shown])
    return tab


def only_visible_cards_animate_even_while_scrolling(server, browser):
    shelf, _ = largest(server, "spar")
    tab = Tab(browser).open(address(server, shelf, sort="price"))
    scroll(tab, 300)
    tab.page.evaluate("() => scrollTo(0, 0)")
    # The start and end of each animated card.
    tab.page.evaluate("""() => {
        window.far = [];
        window.count = 0;
        const play = Element.prototype.animate;
        Element.prototype.animate = function (frames, options) {
            const box = this.getBoundingClientRect();
            const from = /,\\s*(-?[0-9.]+)px/.exec(frames.transform?.[0] ?? "")?.[1] ?? 0;
            const isSeen = (top) => top < innerHeight * 1.3 && top + box.height > -innerHeight * 0.3;
            window.count += 1;
            if (!isSeen(box.top) && !isSeen(box.top + Number(from))) window.far.push(this.dataset.id);
            return play.call(this, frames, options);
        };
    }""")
    for sort in ("-price", "name", "unit_price"):
        tab.sort(sort)
        # The user continues to scroll during the animation, which loads more products.
        for _ in range(8):
            tab.page.mouse.wheel(0, 900)
            tab.page.wait_for_timeout(15)
        tab.wait("() => document.getAnimations().length === 0")
        tab.page.evaluate("() => scrollTo(0, 0)")
        order = server.order(shelf, f"sort={sort}")
        tab.wait("(ids) => { const cards = [...document.querySelectorAll('#products > [data-id]')]; return cards.length > 100 && cards.every((card, index) => card.dataset.id === ids[index]); }", order)
        assert tab.page.is_hidden("#away"), tab.text("#away")
    assert tab.page.evaluate("() => window.count") > 30
    assert tab.page.evaluate("() => window.far") == []
    return tab


def a_shelf_of_thousands_is_scrolled_to_its_end(server, browser):
    shelf, size = largest(server, "spar")
    tab = Tab(browser).open(address(server, shelf, sort="-unit_price"))
    order = server.order(shelf, "sort=-unit_price")
    assert len(order) == size > 7_000
    start = time.time()
    scroll(tab, size)
    print(f"  {size} products scrolled to the end in {time.time() - start:.1f} s", flush=True)
    tab.shows(order)
    # From there, after a change of sort, no page is lost up to the end, and each page is read from a cursor.
    read = []
    tab.page.on("request", lambda request: read.append(request.url) if re.search(r"/shelves/[^/]+/products\?(?!.*facets=)", request.url) else None)
    tab.sort("name")
    tab.shows(server.order(shelf, "sort=name")[:300])
    scroll(tab, 1_000)
    assert tab.ids() == server.order(shelf, "sort=name")[:len(tab.ids())]
    assert read and all("cursor=" in url for url in read), read
    return tab


def scrolling_resumes_after_a_server_restart(server, browser):
    shelf, _ = largest(server, "spar")
    tab = Tab(browser).open(address(server, shelf, sort="price"))
    scroll(tab, 400)
    server.stop()
    tab.page.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
    tab.page.wait_for_selector("#away:not([hidden])")
    server.start()
    tab.page.wait_for_selector("#away", state="hidden")
    scroll(tab, 1_000)
    assert tab.ids() == server.order(shelf, "sort=price")[:len(tab.ids())]
    tab.ignores_errors(*AWAY)
    return tab


def prices_that_change_move_a_large_shelf(server, browser):
    shelf, _ = largest(server, "konzum")
    store = shelf.split("/")[0]
    token = server.token("mia", "catalog:write")
    tab = Tab(browser).open(address(server, shelf, sort="price"))
    tab.shows(server.order(shelf, "sort=price")[:60])
    # Within the visible area, out of it, and into it.
    ids = tab.ids()
    far = server.order(shelf, "sort=price")[-1]
    products = {one["sku"]: one["price_minor"] for one in server.get(f"/v1/stores/{store}/products?" + "&".join(f"sku={sku}" for sku in (ids[0], ids[5], far)))["products"]}
    for sku, price in ((ids[5], products[ids[0]]), (ids[0], 99_999), (far, 1)):
        server.send("POST", f"/v1/stores/{store}/prices", [{"sku": sku, "price_minor": price}], token)
        tab.shows(server.order(shelf, "sort=price")[:60])
    return tab


def a_second_device_follows_on_a_real_shelf(server, browser):
    shelf, _ = largest(server, "konzum")
    one, two = (Tab(browser).open(address(server, shelf, user="vera", device=device)) for device in ("phone", "tablet"))
    for sort in ("-price", "brand"):
        one.sort(sort)
        two.shows(server.order(shelf, f"sort={sort}")[:60])
    return [one, two]


def two_merchandisers_arrange_a_real_shelf(server, browser):
    shelf, size = largest(server, "konzum")
    mia, tom = (Tab(browser).open(address(server, shelf, "merchandise", user=user)) for user in ("mia", "tom"))
    ids = server.order(shelf, "sort=position")
    for tab in (mia, tom):
        tab.shows(ids[:100])

    def expect_order(ids):
        for tab in (mia, tom):
            tab.shows(ids[:len(tab.ids())])
        assert server.order(shelf, "sort=position") == ids

    mia.page.focus(f"[data-id='{ids[40]}']")
    mia.page.keyboard.press("Alt+Home")
    ids = moved(ids, [ids[40]], 0)
    expect_order(ids)
    tom.page.focus(f"[data-id='{ids[50]}']")
    tom.page.keyboard.press("Alt+ArrowRight")
    ids = moved(ids, [ids[50]], 51)
    expect_order(ids)
    assert f"position 52 of {size}" in tom.page.evaluate("document.querySelector('#announcements').textContent")
    # The last position is also after the products that are not loaded.
    tom.page.focus(f"[data-id='{ids[3]}']")
    tom.page.keyboard.press("Alt+End")
    ids = moved(ids, [ids[3]], size)
    tom.wait("(id) => !document.querySelector(`#products > [data-id='${id}']`)", ids[-1])
    mia.wait("(id) => !document.querySelector(`#products > [data-id='${id}']`)", ids[-1])
    tom.page.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
    tom.wait("() => document.querySelectorAll('#products > [data-id]').length > 150")
    expect_order(ids)
    tom.page.click("#undo")
    ids = moved(ids, [ids[-1]], 3)
    expect_order(ids)
    return [mia, tom]


TESTS = [
    sixty_and_three_hundred_cards_glide_to_their_places, only_visible_cards_animate_even_while_scrolling,
    a_shelf_of_thousands_is_scrolled_to_its_end,
    scrolling_resumes_after_a_server_restart, prices_that_change_move_a_large_shelf, a_second_device_follows_on_a_real_shelf,
    two_merchandisers_arrange_a_real_shelf,
]
