"""Tests of the API documentation and the problem pages."""
import re, urllib.error, urllib.request

from harness import Tab


def every_call_is_explained_and_can_be_tried(server, browser):
    tab = Tab(browser).open(server.base + "/docs", ".call")
    api = server.get("/openapi.json")
    calls = [call["operationId"] for tag in api["tags"] for item in api["paths"].values() for method, call in item.items()
             if method in ("get", "post", "put", "patch", "delete") and call["tags"] == [tag["name"]]]
    assert tab.page.evaluate("() => [...document.querySelectorAll('.call')].map((call) => call.id)") == calls
    tab.is_accessible()
    # A page of products.
    tab.page.click("#listShelfProducts .try > summary")
    tab.page.click("#listShelfProducts .optional > summary")
    tab.page.fill("#listShelfProducts-query-sort", "-unit_price")
    tab.page.fill("#listShelfProducts-query-limit", "2")
    tab.page.click("#listShelfProducts .try form > button")
    tab.wait("() => document.querySelector('#listShelfProducts .result')?.textContent.includes('200 OK')")
    said = tab.text("#listShelfProducts .result")
    assert "sort=-unit_price&limit=2" in said and all(sku in said for sku in server.order("corner/dairy", "sort=-unit_price")[:2])
    # A write requires a token.
    tab.page.click("#undoOrderChange .try > summary")
    tab.page.fill("#undoOrderChange-body", "")
    tab.page.click("#undoOrderChange .try form > button")
    tab.wait("() => document.querySelector('#undoOrderChange .result')?.textContent.includes('401')")
    tab.page.click("#merchandiser")
    tab.page.fill("#undoOrderChange-path-shelf", "cheese")
    tab.page.click("#undoOrderChange .try form > button")
    tab.wait("() => document.querySelector('#undoOrderChange .result')?.textContent.includes('409')")
    # A stream shows the events of a few seconds.
    tab.page.click("#streamShelfEvents .try > summary")
    tab.page.click("#streamShelfEvents .try form > button")
    tab.wait("() => document.querySelector('#streamShelfEvents .result')?.textContent.includes('event: order')")
    tab.ignores_errors("401", "409")
    return tab


def documentation_is_searched_and_has_guides(server, browser):
    tab = Tab(browser).open(server.base + "/docs", ".call")
    shown = "() => [...document.querySelectorAll('.call')].filter((call) => call.offsetParent).map((call) => call.id)"
    tab.page.fill("#search", "POST undo")
    assert tab.page.evaluate(shown) == ["undoOrderChange"], tab.page.evaluate(shown)
    tab.page.fill("#search", "no such call")
    assert tab.page.evaluate(shown) == [] and tab.text("#nothing") != ""
    tab.page.fill("#search", "unit pric")
    tab.page.click("#calls a[href='/docs/sorting']")
    tab.wait("() => document.querySelector('#guide h1') && document.title.includes('Aisle')")
    assert tab.page.evaluate("() => document.querySelector('#guide').innerText.includes('```')") is False
    tab.is_accessible()
    # Every guide is rendered, and each link leads to a page and a heading that exist.
    names = tab.page.evaluate("() => [...document.querySelectorAll(\"#calls a[href^='/docs/']\")].map((link) => link.pathname)")
    assert len(names) > 10
    for name in names:
        tab.open(server.base + name, "#guide h1")
        links = tab.page.evaluate("() => [...document.querySelectorAll('#guide a')].map((link) => link.href)")
        for link in links:
            address, _, heading = link.partition("#")
            if not address.startswith(server.base):
                continue
            tab.open(link, "#guide h1" if "/docs/" in address else ".call")
            assert not heading or tab.page.evaluate("(id) => document.getElementById(id) !== null", heading), f"{name}: {link}"
        tab.open(server.base + name, "#guide h1")
        # No markup is left, and the examples are for this server.
        prose = tab.page.evaluate("""() => {
            const copy = document.querySelector("#guide").cloneNode(true);
            for (const code of copy.querySelectorAll("code")) code.remove();
            return copy.textContent;
        }""")
        assert not re.search(r"[*`]", prose), f"{name}: {re.search(r'.*[*`].*', prose)[0]}"
        assert "127.0.0.1:8080" not in tab.text("#guide"), name
    try:
        urllib.request.urlopen(server.base + "/docs/none")
        assert False, "an unknown guide is found"
    except urllib.error.HTTPError as error:
        assert error.code == 404
    return tab


def a_phone_shows_the_documentation_in_its_first_screen(server, browser):
    tab = Tab(browser, viewport={"width": 390, "height": 844}, has_touch=True)
    for path, heading in (("/docs", "#title"), ("/docs/sorting", "#guide h1")):
        tab.open(server.base + path, heading)
        assert tab.page.locator(heading).bounding_box()["y"] < 200, path
        assert not tab.page.is_visible("#search") and not tab.page.is_visible("#calls a")
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    # The contents unfold as a list, which is searched, and fold again when a page is chosen.
    tab.page.click("#contents > summary")
    tab.page.fill("#search", "undo")
    boxes = tab.page.evaluate("() => [...document.querySelectorAll('#calls li:not([hidden]) a')].map((link) => link.getBoundingClientRect()).map((box) => [box.left, box.right, box.top])")
    assert len(boxes) > 1 and len({left for left, _, _ in boxes}) == 1 and all(right <= 390 for _, right, _ in boxes), boxes
    assert [top for _, _, top in boxes] == sorted({top for _, _, top in boxes})
    tab.is_accessible()
    tab.page.click("#calls a[href='/docs#undoOrderChange']")
    tab.wait("() => document.querySelector('#undoOrderChange') && !document.querySelector('#contents').open")
    return tab


def unknown_pages_are_explained(server, browser):
    tab = Tab(browser)
    for path in ("/nowhere", "/docs/none", "/%3Cb%3Enone"):
        assert tab.page.goto(server.base + path).status == 404
        assert tab.text("h1") == "Page not found" and path in tab.page.content()
        tab.is_accessible()
    tab.page.click("main a[href='/docs']")
    tab.page.wait_for_selector(".call")
    tab.ignores_errors("404")
    return tab


def problems_have_pages(server, browser):
    tab = Tab(browser).open(server.base + "/problems/stale", "h1")
    assert "412" in tab.text("main")
    links = tab.page.evaluate("() => [...document.querySelectorAll('.shelves a')].map((link) => link.href)")
    assert len(links) > 10
    for link in links:
        tab.open(link, "h1")
    tab.is_accessible()
    return tab


def the_client_is_small_and_the_pages_are_closed_to_others(server, browser):
    with urllib.request.urlopen(server.base + "/aisle.js") as answer:
        source = answer.read()
        tag = answer.headers["etag"]
    # Without comments.
    code = re.sub(rb"^\s*//.*\n", b"", re.sub(rb"/\*\*.*?\*/\n?", b"", source, flags=re.S), flags=re.M)
    code = re.sub(rb"^\s+", b"", code, flags=re.M)
    assert len(code) < 15_000, len(code)
    request = urllib.request.Request(server.base + "/aisle.js", headers={"if-none-match": tag})
    try:
        urllib.request.urlopen(request)
        raise AssertionError("it is sent again")
    except urllib.error.HTTPError as error:
        assert error.code == 304
    tab = Tab(browser).open(server.base + "/")
    # Foreign scripts and resources are neither run nor loaded.
    ran = tab.page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.body.append(script);
        return window.ran ?? false;
    }""")
    assert not ran
    tab.ignores_errors("Content Security Policy")
    return tab


TESTS = [every_call_is_explained_and_can_be_tried, documentation_is_searched_and_has_guides,
         a_phone_shows_the_documentation_in_its_first_screen, unknown_pages_are_explained, problems_have_pages, the_client_is_small_and_the_pages_are_closed_to_others]
