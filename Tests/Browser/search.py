"""Tests of the shop's search, facets and groups with the seed catalog."""
import contextlib, urllib.parse

from playwright.sync_api import expect

from harness import AWAY, Tab, wait_until
from shop import NARROW, SHELF

# A user without a remembered sort, and one whose sorts are remembered.
PLACE = "/?store=corner&shelf=dairy&user=sue"
SORTED = "/?store=corner&shelf=dairy&user=tess"
PHONE = {"width": 390, "height": 844}
OPTIONS = "#suggestions [role=option]"


def suggestions(server, query):
    return server.get(f"/v1/stores/corner/suggest?q={urllib.parse.quote(query)}&limit=8")["suggestions"]


def shown_suggestions(tab):
    return tab.page.evaluate("() => [...document.querySelectorAll('#suggestions [role=option] > :first-child')].map((option) => option.textContent)")


def types(tab, server, text):
    """Types a text, and waits for its suggestions."""
    tab.page.fill("#query", "")
    tab.page.focus("#query")
    tab.page.keyboard.type(text)
    found = suggestions(server, text)
    assert found, text
    wait_until(tab.page, lambda: shown_suggestions(tab) == [one["text"] for one in found], message=lambda: f"{shown_suggestions(tab)}\n{found}")
    return found


def chosen(tab):
    """Returns the index of the suggestion that Enter chooses; None for the typed text."""
    active = tab.page.get_attribute("#query", "aria-activedescendant")
    selected = tab.page.evaluate("() => [...document.querySelectorAll('#suggestions [aria-selected=true]')].map((option) => option.id)")
    assert selected == ([active] if active else [])
    return int(active.removeprefix("suggestion-")) if active else None


def whole_store(server, query):
    return [product["sku"] for product in server.get(f"/v1/stores/corner/products?limit=100&{query}")["products"]]


@contextlib.contextmanager
def changed(server, changes):
    """Changes products of the corner shop, and restores them."""
    token = server.token("mia", "catalog:write")
    before = {sku: server.get(f"/v1/stores/corner/products/{sku}") for sku in changes}
    try:
        for sku, values in changes.items():
            server.send("PATCH", f"/v1/stores/corner/products/{sku}", values, token)
        yield token
    finally:
        for sku, values in changes.items():
            restored = {name: before[sku].get(name) for name in values if name != "attributes"}
            if "attributes" in values:
                restored["attributes"] = {**{name: None for name in values["attributes"]}, **before[sku]["attributes"]}
            server.send("PATCH", f"/v1/stores/corner/products/{sku}", restored, token)


def suggestions_are_chosen_by_keyboard(server, browser):
    tab = Tab(browser).open(server.base + PLACE)
    box = tab.page.get_by_role("combobox", name="Search products")
    assert box.get_attribute("aria-expanded") == "false"
    found = types(tab, server, "mil")
    assert box.get_attribute("aria-expanded") == "true" and box.get_attribute("aria-controls") == "suggestions"
    assert tab.page.get_by_role("listbox", name="Suggestions").get_by_role("option").count() == len(found) > 1
    tab.is_accessible()
    # The keys go around the list, and the typed text is a part of it.
    last = len(found) - 1
    assert chosen(tab) is None
    for key, index in (("ArrowDown", 0), ("ArrowDown", 1), ("End", last), ("ArrowDown", None), ("ArrowUp", last), ("Home", 0), ("ArrowUp", None)):
        tab.page.keyboard.press(key)
        assert chosen(tab) == index, key
    # Escape closes the list, and keeps the text. An arrow opens it again.
    tab.page.keyboard.press("Escape")
    assert box.get_attribute("aria-expanded") == "false" and tab.page.locator(OPTIONS).count() == 0 and box.input_value() == "mil"
    tab.page.keyboard.press("ArrowDown")
    tab.page.wait_for_selector(OPTIONS)
    # A completed word is searched on the shelf.
    place = next(index for index, one in enumerate(found) if one["kind"] == "word")
    for _ in range(place + 1):
        tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Enter")
    word = found[place]["text"]
    tab.shows(server.order(SHELF, "q=" + urllib.parse.quote(word)))
    assert box.input_value() == word and box.get_attribute("aria-expanded") == "false"
    assert tab.page.evaluate("document.activeElement.id") == "query"
    # Leaving the box closes the list.
    types(tab, server, "but")
    tab.page.keyboard.press("ArrowDown")
    assert chosen(tab) == 0
    # Enter does not take a suggestion for an earlier text.
    tab.page.keyboard.type("t")
    assert chosen(tab) is None
    tab.page.keyboard.press("Tab")
    tab.page.wait_for_selector(OPTIONS, state="detached")
    return tab


def suggestions_lead_to_shelves_brands_and_products(server, browser):
    tab = Tab(browser, has_touch=True).open(server.base + PLACE)

    def take(text, kind):
        found = types(tab, server, text)
        index = next(index for index, one in enumerate(found) if one["kind"] == kind)
        tab.page.tap(f"#suggestion-{index}")
        return found[index]

    brand = take("almg", "brand")
    tab.shows(whole_store(server, "brand=" + urllib.parse.quote(brand["text"])))
    assert "scope=store" in tab.page.url and tab.page.locator("#active .chip").get_attribute("aria-label") == f"Remove filter: Brand: {brand['text']}"
    product = take("skyr", "product")
    tab.shows(whole_store(server, "q=" + urllib.parse.quote(product["text"])))
    assert tab.ids()[0] == product["sku"] and tab.text("#active") == ""
    shelf = take("chees", "shelf")
    tab.shows(server.order(f"corner/{shelf['shelf']}", ""))
    assert "scope" not in tab.page.url and tab.page.input_value("#query") == "" and tab.page.is_hidden("#searched")
    return tab


def a_search_is_a_view_whose_sorts_glide(server, browser):
    tab = Tab(browser).open(server.base + PLACE)
    everything, found = server.order(SHELF, ""), server.order(SHELF, "q=milk")
    assert 1 < len(found) < len(everything)
    tab.shows(everything)
    tab.page.fill("#query", "  milk ")
    tab.page.click("#search button")
    tab.shows(found)
    assert "q=milk" in tab.page.url and tab.text("#sort-title") == "Relevance" and tab.page.is_disabled("#turn")
    assert tab.text("#search-text") == "Results for “milk” in Dairy."
    assert tab.text("#count") == f"{len(found)} of {len(everything)} products"
    names = tab.page.evaluate("() => [...document.querySelectorAll('.card h2')].map((name) => [name.textContent, [...name.querySelectorAll('mark')].map((mark) => mark.textContent)])")
    assert ["Semi-skimmed Milk", ["Milk"]] in names, names
    assert all(marks for name, marks in names if "milk" in name.lower()), names
    # A sort applies the diff of the search.
    tab.sort("price")
    tab.shows(server.order(SHELF, "q=milk&sort=price"))
    assert f"of {len(found)} " in tab.page.evaluate("document.querySelector('#wire').value")
    tab.page.click("#turn")
    tab.shows(server.order(SHELF, "q=milk&sort=-price"))
    # Back and forward restore the text and the products.
    for _ in range(2):
        tab.page.go_back()
    tab.shows(found)
    assert tab.page.input_value("#query") == "milk"
    tab.page.go_back()
    tab.shows(everything)
    assert tab.page.input_value("#query") == "" and tab.page.is_hidden("#searched")
    tab.page.go_forward()
    tab.shows(found)
    tab.page.reload()
    tab.shows(found)
    assert tab.page.input_value("#query") == "milk"
    # Changes by others keep the search.
    first = server.get(f"/v1/stores/corner/products/{found[0]}")["price_minor"]
    with changed(server, {found[0]: {"price_minor": first + 4000}}):
        tab.wait("([id, price]) => document.querySelector(`[data-id='${id}']`).product.price_minor === price", [found[0], first + 4000])
        assert tab.ids() == found and tab.page.locator(f"[data-id='{found[0]}'] mark").count()
    # A product that a diff inserts gets its highlights.
    other = next(sku for sku in everything if sku not in found)
    with changed(server, {other: {"name": "Milk of another kind"}}):
        tab.shows(server.order(SHELF, "q=milk"))
        tab.page.wait_for_selector(f"[data-id='{other}'] h2 mark")
    tab.shows(found)
    tab.page.click("#widen")
    tab.shows(whole_store(server, "q=milk"))
    assert "scope=store" in tab.page.url and "shelf=" not in tab.page.url and tab.page.is_hidden("#widen")
    tab.sort("-price")
    tab.shows(whole_store(server, "q=milk&sort=-price"))
    tab.page.go_back()
    tab.page.go_back()
    tab.shows(found)
    # The same search again changes nothing.
    tab.sort("price")
    tab.shows(server.order(SHELF, "q=milk&sort=price"))
    tab.page.focus("#query")
    tab.page.keyboard.press("Enter")
    assert "sort=price" in tab.page.url and tab.text("#sort-title") == "Price: low to high"
    tab.page.click("#clear-search")
    tab.shows(everything)
    assert "q=" not in tab.page.url and tab.page.evaluate("document.activeElement.id") == "query"
    return tab


def a_search_without_results_offers_a_correction(server, browser):
    said = server.get("/v1/stores/corner/shelves/dairy/products?q=mlik")["q"]
    assert said["missing"] == ["mlik"] and said["did_you_mean"], said
    correction = said["did_you_mean"]
    tab = Tab(browser).open(f"{server.base}{PLACE}&q=mlik", "#correct:not([hidden])")
    assert tab.text("#search-text") == "Results for “mlik” in Dairy. No product matches “mlik”."
    assert tab.text("#state") == "No products match the search."
    tab.is_accessible()
    tab.page.get_by_role("button", name=f"Did you mean “{correction}”?").click()
    tab.shows(server.order(SHELF, "q=" + urllib.parse.quote(correction)))
    assert tab.page.is_hidden("#correct") and tab.page.input_value("#query") == correction
    # The summary follows changes: a product with the word comes, and goes.
    tab.open(f"{server.base}{PLACE}&q=mlik", "#correct:not([hidden])")
    with changed(server, {"C1003": {"name": "Mlik"}}):
        tab.shows(["C1003"])
        tab.wait("() => document.querySelector('#search-text').textContent === 'Results for “mlik” in Dairy.'")
        tab.page.wait_for_selector("#correct", state="hidden")
    tab.page.wait_for_selector("#correct:not([hidden])")
    return tab


def a_hostile_correction_is_a_text(server, browser):
    tab = Tab(browser)
    hostile = "<img src=x onerror='window.ran=1'>"

    def change(route):
        answer = route.fetch()
        body = answer.json()
        route.fulfill(json={**body, "q": {**body["q"], "did_you_mean": hostile}})

    tab.page.route("**/shelves/dairy/products?*mlik*", change)
    # Events have the correction, too, so none arrives.
    tab.page.route("**/shelves/dairy/events?*", lambda route: None)
    tab.open(f"{server.base}{PLACE}&q=%3Cb%3Emlik", "#correct:not([hidden])")
    assert tab.text("#search-text").startswith("Results for “<b>mlik” in Dairy.")
    assert tab.page.locator("#correct").text_content() == f"Did you mean “{hostile}”?"
    assert tab.page.locator("#correct > *, #search-text > *").count() == 0 and tab.page.evaluate("() => window.ran") is None
    return tab


def an_invalid_search_is_reported(server, browser):
    tab = Tab(browser).open(f"{server.base}{PLACE}&sort=price&in_stock=true&q=%26%26")
    tab.page.wait_for_selector("#away:not([hidden])")
    # The sort and the filter stay, and so does the text.
    tab.shows(server.order(SHELF, "sort=price&in_stock=true"))
    assert "q=" not in tab.page.url and tab.page.input_value("#query") == "&&"
    tab.page.fill("#query", "& %")
    tab.page.keyboard.press("Enter")
    assert tab.page.evaluate("document.querySelector('#query').validationMessage") == "Type a word or a number."
    assert "q=" not in tab.page.url and tab.page.input_value("#query") == "& %"
    # More than eight words are cut.
    tab.page.fill("#query", "milk milk milk milk milk milk milk milk milk")
    tab.page.keyboard.press("Enter")
    query = " ".join(["milk"] * 8)
    tab.shows(server.order(SHELF, f"in_stock=true&q={urllib.parse.quote(query)}"))
    assert tab.page.input_value("#query") == query
    tab.ignores_errors("400")
    return tab


def refused_suggestions_do_not_stop_a_search(server, browser):
    tab = Tab(browser).open(server.base + PLACE)
    for status in (429, 503):
        asked = []
        tab.page.route("**/suggest?*", lambda route: (asked.append(route), route.fulfill(status=status, json={"detail": "busy"})))
        tab.page.fill("#query", "")
        tab.page.focus("#query")
        tab.page.keyboard.type("milk" if status == 429 else "butter")
        wait_until(tab.page, lambda: asked)
        tab.page.keyboard.press("Enter")
        tab.shows(server.order(SHELF, "q=milk" if status == 429 else "q=butter"))
        assert tab.page.locator(OPTIONS).count() == 0 and tab.page.is_hidden("#away")
        tab.page.unroute("**/suggest?*")
    tab.ignores_errors("429", "503")
    return tab


def an_offline_search_waits(server, browser):
    tab = Tab(browser).open(server.base + PLACE)
    before = tab.ids()
    server.stop()
    tab.page.fill("#query", "milk")
    tab.page.keyboard.press("Enter")
    tab.wait("() => document.querySelector('#pending').textContent === 'The search for “milk” starts when you are online again.'")
    # The cards are those from before, so the summary does not name the search yet.
    assert tab.ids() == before and tab.text("#search-text") == ""
    server.start()
    tab.shows(server.order(SHELF, "q=milk"))
    assert tab.text("#pending") == "" and tab.text("#search-text") == "Results for “milk” in Dairy."
    tab.ignores_errors(*AWAY)
    return tab


def a_loading_shelf_has_no_facets_of_another_one(server, browser):
    tab = Tab(browser).open(server.base + PLACE + "&sort=price&in_stock=true")
    tab.wait("() => document.querySelectorAll('#filters fieldset').length && document.querySelectorAll('#active .chip').length")
    link = tab.page.locator("#shelves section:not(.other) a:not([aria-current])").first
    shelf = urllib.parse.parse_qs(urllib.parse.urlparse(link.get_attribute("href")).query)["shelf"][0]
    title = link.evaluate("(link) => link.firstChild.textContent")
    held = tab.holds(f"**/v1/stores/corner/shelves/{shelf}*")
    link.click()
    held.wait()
    assert tab.page.evaluate("document.activeElement.id") == "title" and tab.text("#title") == title
    assert tab.text("#filters") == tab.text("#sort-title") == tab.text("#count") == "" and tab.page.is_hidden("#chips")
    # The response does not take the focus out of the search box.
    tab.page.focus("#query")
    held.release()
    tab.shows(server.order(f"corner/{shelf}", ""))
    assert tab.page.evaluate("document.activeElement.id") == "query"
    assert tab.page.evaluate("async () => (await import('/session.js')).withUser('/devices', { store: 'corner', shelf: null })") == "/devices?store=corner&user=sue"
    return tab


def changed_content_keeps_the_focus(server, browser):
    tab = Tab(browser).open(server.base + PLACE)
    seen = tab.page.evaluate("""async () => {
        const { make, updateContent } = await import("/dom.js");
        const place = document.querySelector("main").appendChild(make("div"));
        const seen = [];
        const choices = (...names) => make("div", {}, make("fieldset", { "data-key": "f" }, ...names.map((name) => make("label", { "data-key": name }, make("input", { type: "checkbox", name })))));
        updateContent(place, choices("a", "b", "c"));
        place.querySelector("[name=b]").focus();
        for (const names of [["c", "b"], ["c"], ["c", "d"]]) {
            updateContent(place, choices(...names));
            seen.push(document.activeElement.name);
        }
        const box = (value) => make("div", {}, make("input", { type: "number", class: "box", "aria-label": "box", value }));
        updateContent(place, box("1"));
        const input = place.querySelector(".box");
        input.focus();
        updateContent(place, box("2"));
        seen.push(input.value);
        input.value = "25";
        updateContent(place, box("3"));
        seen.push(input.value);
        place.remove();
        return seen;
    }""")
    # The focus stays, and goes to the next control if its own is gone. A text that is being typed stays.
    assert seen == ["b", "c", "c", "2", "25"], seen
    return tab


def a_space_completes_the_word_of_suggestions(server, browser):
    tab = Tab(browser).open(server.base + PLACE)
    tab.page.focus("#query")
    with tab.page.expect_request(lambda request: "/suggest?q=milk+&" in request.url):
        tab.page.keyboard.type(" milk ")
    return tab


def late_suggestions_are_dropped(server, browser):
    tab = Tab(browser)
    # The suggestions for “mil” come when the test asks for them, whether or not the page has given them up.
    tab.page.add_init_script("""
        const read = window.fetch;
        window.fetch = (address, options) => {
            if (!String(address).includes("/suggest?q=mil&")) return read(address, options);
            return new Promise((done) => {
                window.late = async () => {
                    const response = await read(address, { ...options, signal: undefined });
                    done(response);
                    await response.clone().arrayBuffer();
                    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
                };
            });
        };
    """)
    tab.open(server.base + PLACE)
    tab.page.focus("#query")
    tab.page.keyboard.type("mil")
    tab.wait("() => window.late")
    assert tab.page.locator(OPTIONS).count() == 0
    tab.page.keyboard.type("k")
    expected = [one["text"] for one in suggestions(server, "milk")]
    wait_until(tab.page, lambda: shown_suggestions(tab) == expected)
    tab.page.evaluate("() => window.late()")
    assert shown_suggestions(tab) == expected
    # A search that has started has no suggestions, either.
    tab.page.fill("#query", "")
    tab.page.evaluate("() => { window.late = undefined; }")
    tab.page.keyboard.type("mil")
    tab.wait("() => window.late")
    tab.page.keyboard.press("Enter")
    tab.page.evaluate("() => window.late()")
    assert tab.page.locator(OPTIONS).count() == 0 and tab.page.get_attribute("#query", "aria-expanded") == "false"
    return tab


def hostile_names_are_texts(server, browser):
    name, brand = "<img src=x onerror=\"window.ran=1\"> \U0001f95b Zzyzx", "<b onclick=alert(1)>Zzyzx & Co</b>"
    with changed(server, {"C1003": {"name": name, "brand": brand, "tags": ["<i>zzyzx</i>"]}}):
        tab = Tab(browser).open(server.base + PLACE)
        wait_until(tab.page, lambda: any(one["text"] == name for one in suggestions(server, "zzyzx")))
        types(tab, server, "zzyzx")
        assert tab.page.evaluate("() => document.querySelectorAll('#suggestions :not(li, span, mark)').length") == 0
        tab.page.keyboard.press("Enter")
        tab.shows(["C1003"])
        card = tab.page.locator("[data-id=C1003]")
        assert card.locator("h2").text_content() == name and card.locator("h2 mark").all_text_contents() == ["Zzyzx"]
        assert card.locator(".facts").text_content().startswith(brand + " · ")
        tab.page.click("#clear-search")
        tab.shows(server.order(SHELF, ""))
        tab.page.check("#filters input[name=tag][value='<i>zzyzx</i>']")
        tab.wait("() => document.querySelectorAll('#active .chip').length === 1")
        assert tab.page.locator("#active .chip").get_attribute("aria-label") == "Remove filter: Tag: <i>zzyzx</i>"
        assert tab.page.evaluate("() => document.querySelectorAll('main img[src=x], main b[onclick], #filters i, #active i').length") == 0
        assert tab.page.evaluate("() => window.ran") is None
        return tab


def chips_remove_filters(server, browser):
    tab = Tab(browser).open(f"{server.base}{PLACE}&sort=price&brand=Olympia&brand=Almgr%C3%BCn&price_max=3&dimension=mass")
    tab.shows(server.order(SHELF, "sort=price&brand=Olympia&brand=Almgr%C3%BCn&price_max=3&dimension=mass"))
    labels = lambda: [chip.get_attribute("aria-label").removeprefix("Remove filter: ") for chip in tab.page.locator("#active .chip").all()]
    assert labels() == ["Brand: Olympia", "Brand: Almgrün", "Price up to €3.00", "Sold by: weight"], labels()
    tab.is_accessible()
    # The focus goes to the next chip.
    tab.page.focus("#active .chip >> nth=1")
    tab.page.keyboard.press("Enter")
    tab.shows(server.order(SHELF, "sort=price&brand=Olympia&price_max=3&dimension=mass"))
    assert labels() == ["Brand: Olympia", "Price up to €3.00", "Sold by: weight"]
    assert tab.page.evaluate("document.activeElement.getAttribute('aria-label')") == "Remove filter: Price up to €3.00"
    tab.page.go_back()
    tab.shows(server.order(SHELF, "sort=price&brand=Olympia&brand=Almgr%C3%BCn&price_max=3&dimension=mass"))
    tab.page.click("#clear-filters")
    tab.shows(server.order(SHELF, "sort=price"))
    assert tab.page.is_hidden("#chips") and tab.page.evaluate("document.activeElement.id") == "title"
    return tab


def ranges_are_typed(server, browser):
    tab = Tab(browser).open(server.base + PLACE + "&sort=price")
    tab.page.get_by_role("complementary", name="Filter").get_by_label("Price from").fill("1.50")
    tab.page.keyboard.press("Tab")
    tab.shows(server.order(SHELF, "sort=price&price_min=1.5"))
    # The focus has moved on, and stays.
    assert tab.page.evaluate("document.activeElement.name") == "price_max" and tab.page.input_value("[name=price_min]") in ("1.5", "1.50")
    # An end below the other one replaces it.
    tab.page.keyboard.type("1.2")
    tab.page.keyboard.press("Enter")
    tab.shows(server.order(SHELF, "sort=price&price_max=1.2"))
    assert tab.page.input_value("[name=price_min]") == "" and "price_min" not in tab.page.url
    tab.page.check("#filters [data-key='price amount'] [value='…']")
    tab.shows(server.order(SHELF, "sort=price"))
    assert tab.page.input_value("[name=price_max]") == ""
    # A number with more decimals than the server accepts is rounded.
    tab.page.fill("[name=price_min]", "1.20000004")
    tab.page.keyboard.press("Tab")
    tab.shows(server.order(SHELF, "sort=price&price_min=1.2"))
    assert "price_min=1.2&" in tab.page.url + "&" and tab.page.input_value("[name=price_min]") == "1.2" and tab.page.is_hidden("#away")
    # Navigation also changes a box with the focus.
    tab.page.focus("[name=price_min]")
    tab.page.go_back()
    tab.shows(server.order(SHELF, "sort=price"))
    assert tab.page.input_value("[name=price_min]") == ""
    return tab


ATTRIBUTES = {
    "rating": {"type": "number", "decimals": 1, "title": {"en": "Rating", "ru": "Оценка"}, "natural": "desc"},
    "origin": {"type": "text", "title": {"en": "Origin", "ru": "Происхождение"}},
    "allergens": {"type": "set", "values": [{"key": "nuts", "title": {"en": "Nuts", "ru": "Орехи"}}, {"key": "lactose", "title": {"en": "Lactose"}}], "title": {"en": "Allergens"}},
    "labels": {"type": "set", "title": {"en": "Labels"}},
}


@contextlib.contextmanager
def attributes(server):
    """Declares attributes in the corner shop, and gives values to some products of the shelf."""
    skus = server.order(SHELF, "sort=name")[:14]
    values = {
        sku: {"attributes": {"rating": round(1.5 + index / 5, 1), "origin": f"Région {index}", "labels": [["bio"], ["bio", "fair"], []][index % 3], **({"allergens": [["nuts"], ["lactose"], []][index % 3]} if index % 4 else {})}}
        for index, sku in enumerate(skus)
    }
    token = server.token("mia", "catalog:write")
    try:
        for name, declaration in ATTRIBUTES.items():
            server.send("PUT", f"/v1/stores/corner/attributes/{name}", declaration, token)
        with changed(server, values):
            yield
    finally:
        for name in ATTRIBUTES:
            server.send("DELETE", f"/v1/stores/corner/attributes/{name}?confirm={name}", None, token)


def attributes_are_sorted_filtered_and_counted(server, browser):
    with attributes(server):
        tab = Tab(browser).open(server.base + SORTED + "&sort=price")
        facet = lambda name: tab.page.locator(f"#filters fieldset:has(> legend:text-is('{name}'))")
        facet("Rating").wait_for()
        tab.is_accessible()
        tab.sort("-rating")
        tab.shows(server.order(SHELF, "sort=-rating"))
        assert tab.text("#sort-title") == "Rating: high to low"
        # A suggested range keeps as many products as it says.
        bucket = server.get("/v1/stores/corner/shelves/dairy/products?facets=rating&limit=1")["facets"]["rating"]["buckets"][1]
        query = "".join(f"&rating_{end}={bucket[end]}" for end in ("min", "max") if bucket[end])
        facet("Rating").locator("input[type=radio]").nth(2).check()
        order = server.order(SHELF, "sort=-rating" + query)
        assert len(order) == bucket["count"]
        tab.shows(order)
        assert "attributes.rating_" in tab.page.url
        tab.page.reload()
        tab.shows(order)
        facet("Rating").wait_for()
        assert facet("Rating").locator("input[type=radio]").nth(2).is_checked()
        facet("Rating").get_by_label("Rating from").fill("4")
        tab.page.keyboard.press("Tab")
        tab.wait("() => location.search.includes('attributes.rating_min=4')")
        # Unknown values are chosen apart from the others.
        facet("Rating").get_by_label("Not specified").check()
        tab.shows(server.order(SHELF, "sort=-rating&rating="))
        assert tab.page.locator("#active .chip").get_attribute("aria-label") == "Remove filter: Rating: Not specified"
        tab.page.click("#clear-filters")
        tab.shows(server.order(SHELF, "sort=-rating"))
        # A product whose allergens are unknown is not one without nuts.
        facet("Allergens: none of").get_by_label("Nuts").check()
        tab.shows(server.order(SHELF, "sort=-rating&allergens_none=nuts"))
        tab.page.click("#clear-filters")
        tab.shows(server.order(SHELF, "sort=-rating"))
        # An excluded value stays, although no shown product has it.
        facet("Labels: none of").get_by_label("bio").check()
        tab.shows(server.order(SHELF, "sort=-rating&labels_none=bio"))
        assert facet("Labels: none of").get_by_label("bio").is_checked() and tab.page.evaluate("document.activeElement.value") == "bio"
        facet("Labels: any of").get_by_label("None").check()
        tab.shows(server.order(SHELF, "sort=-rating&labels_none=bio&labels_any="))
        assert tab.page.locator("#active .chip").last.get_attribute("aria-label") == "Remove filter: Labels: None"
        facet("Labels: none of").get_by_label("bio").uncheck()
        tab.shows(server.order(SHELF, "sort=-rating&labels_any="))
        tab.page.click("#clear-filters")
        tab.shows(server.order(SHELF, "sort=-rating"))
        # Many values are searched; chosen ones stay.
        values = facet("Origin").locator(".long > label:not([hidden])")
        expect(values).to_have_count(14, timeout=20_000)
        facet("Origin").get_by_role("searchbox", name="Find in “Origin”").fill("REGION 13")
        expect(values).to_have_count(1, timeout=20_000)
        values.first.click()
        tab.shows(server.order(SHELF, "sort=-rating&origin=" + urllib.parse.quote("Région 13")))
        facet("Origin").get_by_role("searchbox").fill("nowhere")
        expect(values).to_have_count(1, timeout=20_000)
        russian = Tab(browser, locale="ru-RU", viewport=NARROW).open(server.base + SORTED + "&sort=-rating")
        assert russian.text("#sort-title") == "Оценка: по убыванию"
        russian.page.click("#filter")
        russian.page.get_by_role("dialog").get_by_role("group", name="Происхождение").wait_for()
        # The attributes are going to be deleted.
        for one in (tab, russian):
            one.page.goto("about:blank")
        return [tab, russian]


def a_phone_filters_in_a_dialog(server, browser):
    tab = Tab(browser, viewport=PHONE, has_touch=True).open(server.base + PLACE + "&sort=price")
    tab.page.tap("#filter")
    dialog = tab.page.get_by_role("dialog", name="Filter")
    dialog.get_by_role("checkbox", name="In stock").check()
    order = server.order(SHELF, "sort=price&in_stock=true")
    dialog.get_by_role("button", name=f"Show {len(order)} products").wait_for()
    tab.is_accessible()
    dialog.get_by_role("button", name=f"Show {len(order)} products").tap()
    tab.shows(order)
    assert tab.page.is_hidden("#filter-sheet") and tab.text("#filter-count") == "1"
    assert tab.page.evaluate("document.activeElement.id") == "filter"
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    tab.page.get_by_role("button", name="Remove filter: In stock").tap()
    tab.shows(server.order(SHELF, "sort=price"))
    # A wide screen has the same choices beside the products.
    tab.page.set_viewport_size({"width": 1280, "height": 900})
    tab.page.wait_for_selector("#rail #filters")
    assert tab.page.is_hidden("#filter")
    return tab


def a_phone_searches_by_touch(server, browser):
    tabs = []
    for options in ({}, {"color_scheme": "dark", "locale": "ru-RU"}, {"forced_colors": "active"}):
        tab = Tab(browser, viewport=PHONE, has_touch=True, **options).open(server.base + PLACE)
        tabs.append(tab)
        tab.page.tap("#query")
        tab.page.keyboard.type("milk")
        tab.page.wait_for_selector(OPTIONS)
        tab.is_accessible()
        box = tab.page.locator("#suggestions").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390, box
        assert all(option.bounding_box()["height"] >= 44 for option in tab.page.locator(OPTIONS).all())
        tab.page.tap("#search button")
        tab.shows(server.order(SHELF, "q=milk"))
        assert tab.page.locator(OPTIONS).count() == 0 and tab.page.evaluate("document.documentElement.scrollWidth") <= 390
        tab.is_accessible()
    return tabs


def a_group_is_one_card_with_its_sizes(server, browser):
    # Two sizes of cream, and two of yoghurt.
    with changed(server, {"C1012": {"group": "cream"}, "C1013": {"group": "cream"}, "C1007": {"group": "yoghurt"}, "C1008": {"group": "yoghurt"}}):
        tab = Tab(browser).open(server.base + SORTED + "&sort=price")
        tab.shows(server.order(SHELF, "sort=price"))
        tab.page.get_by_role("button", name="Combine variants").click()
        order = server.order(SHELF, "sort=price&collapse=true")
        assert "group/cream" in order and "group/yoghurt" in order and "C1012" not in order
        tab.shows(order)
        assert "collapse=true" in tab.page.url and tab.page.get_attribute("#collapse", "aria-pressed") == "true"
        card = tab.page.locator("[data-id='group/yoghurt']")
        sizes = card.get_by_role("list", name="Variants").get_by_role("button")
        assert sizes.count() == 2 and "2 variants" in card.locator(".facts").text_content()
        tab.is_accessible()
        # The card shows the chosen size, and its list stays where it was scrolled to.
        tab.page.evaluate("() => document.styleSheets[0].insertRule('.members { max-width: 5rem; }', document.styleSheets[0].cssRules.length)")
        card.scroll_into_view_if_needed()
        place = card.locator(".members").evaluate("(list) => (list.scrollLeft = list.scrollWidth, list.scrollLeft)")
        assert place > 0
        shown = card.locator(".member[aria-pressed=true]").get_attribute("value")
        other = next(sku for sku in ("C1007", "C1008") if sku != shown)
        card.locator(f".member[value={other}]").evaluate("(button) => button.click()")
        scroll = card.locator(".members").evaluate("(list) => [list.scrollLeft, list.scrollWidth - list.clientWidth]")
        # The chosen button has another width.
        assert scroll[0] == scroll[1] > 0, scroll
        assert card.locator(".member[aria-pressed=true]").get_attribute("value") == other
        assert tab.page.evaluate("document.activeElement.value") == other
        price = server.get(f"/v1/stores/corner/products/{other}")["price_minor"]
        assert f"{price / 100:.2f}" in card.locator(".price").text_content()
        # Sorts glide, and filters say how many variants match.
        tab.sort("-price")
        tab.shows(server.order(SHELF, "sort=-price&collapse=true"))
        tab.page.fill("#rail [name=price_max]", "4")
        tab.page.keyboard.press("Enter")
        tab.shows(server.order(SHELF, "sort=-price&collapse=true&price_max=4"))
        assert "1 of 2 variants" in tab.page.locator("[data-id='group/cream'] .facts").text_content()
        tab.page.click("#collapse")
        tab.shows(server.order(SHELF, "sort=-price&price_max=4"))
        return tab


def a_new_group_gets_its_variants(server, browser):
    tab = Tab(browser).open(server.base + SORTED + "&sort=price&collapse=true")
    before = server.order(SHELF, "sort=price&collapse=true")
    tab.shows(before)
    # Diffs have groups without their members.
    with changed(server, {"C1012": {"group": "cream"}, "C1013": {"group": "cream"}}):
        tab.shows(server.order(SHELF, "sort=price&collapse=true"))
        tab.wait("() => document.querySelectorAll(`[data-id='group/cream'] .member`).length === 2")
        assert "of" not in tab.text("#count")
    tab.shows(before)
    return tab


def a_shelf_that_combines_variants_keeps_doing_so(server, browser):
    place = "/?store=corner&shelf=dairy&user=gina"
    token = server.token("mia", "catalog:write")
    server.send("PATCH", "/v1/stores/corner/shelves/dairy", {"collapses_groups": True}, token)
    try:
        with changed(server, {"C1012": {"group": "cream"}, "C1013": {"group": "cream"}}):
            tab = Tab(browser).open(server.base + place)
            tab.shows(server.order(SHELF, ""))
            assert "group/cream" in tab.ids()
            # The shelf's default is not for a requested manual order.
            for sort in ("position", "price"):
                tab.sort(sort)
                tab.shows(server.order(SHELF, f"sort={sort}&collapse=true"))
                assert "collapse=true" in tab.page.url and tab.page.get_attribute("#collapse", "aria-pressed") == "true"
            tab.page.click("#collapse")
            tab.shows(server.order(SHELF, "sort=price&collapse=false"))
            tab.page.reload()
            tab.shows(server.order(SHELF, "sort=price&collapse=false"))
            tab.open(server.base + place + "&sort=position")
            tab.shows(server.order(SHELF, "sort=position"))
            assert "group/cream" not in tab.ids()
            tab.sort("price")
            tab.shows(server.order(SHELF, "sort=price&collapse=false"))
            return tab
    finally:
        server.send("PATCH", "/v1/stores/corner/shelves/dairy", {"collapses_groups": None}, token)


TESTS = [
    suggestions_are_chosen_by_keyboard, suggestions_lead_to_shelves_brands_and_products, a_search_is_a_view_whose_sorts_glide,
    a_search_without_results_offers_a_correction, a_hostile_correction_is_a_text, an_invalid_search_is_reported, refused_suggestions_do_not_stop_a_search,
    an_offline_search_waits, a_loading_shelf_has_no_facets_of_another_one, late_suggestions_are_dropped, a_space_completes_the_word_of_suggestions, hostile_names_are_texts, changed_content_keeps_the_focus,
    chips_remove_filters, ranges_are_typed, attributes_are_sorted_filtered_and_counted, a_phone_filters_in_a_dialog, a_phone_searches_by_touch,
    a_group_is_one_card_with_its_sizes, a_new_group_gets_its_variants, a_shelf_that_combines_variants_keeps_doing_so,
]
