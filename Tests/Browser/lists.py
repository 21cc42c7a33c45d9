"""Tests of the lists page with the seed catalog."""
from harness import Tab, wait_until


def shown(server, token, name):
    """Returns a list's items from the API."""
    found = next(one for one in server.get("/v1/me/lists", token)["lists"] if one["name"] == name)
    return found, server.get(f"/v1/me/lists/{found['id']}/items", token)["items"]


def expect_order(tab, server, token, name, names):
    tab.wait("(names) => [...document.querySelectorAll('#items > [data-id] .name')].map((one) => one.textContent).join('/') === names.join('/') && !document.getAnimations().length", names)
    assert [item["name"] for item in shown(server, token, name)[1]] == names


def lists_are_kept_checked_and_arranged(server, browser):
    tab = Tab(browser).open(server.base + "/lists?user=nora", "#new-list:not([hidden])")
    token = server.token("nora")
    tab.wait("() => document.querySelector('#state').textContent.includes('no list')")
    tab.page.fill("#list-name", "Saturday")
    tab.page.keyboard.press("Enter")
    names = ["Milk", "Bread", "Candles", "Tea"]
    for name in names:
        tab.page.wait_for_selector("#new-item:not([hidden])")
        tab.page.fill("#item-text", name)
        tab.page.keyboard.press("Enter")
        tab.wait("() => document.querySelector('#item-text').value === ''")
    expect_order(tab, server, token, "Saturday", names)
    # Checked items move to the end and return to their position.
    row = lambda name, part: f"#items > li:has(.name:text-is('{name}')) {part}"
    tab.page.click(row("Bread", ".tick"))
    expect_order(tab, server, token, "Saturday", ["Milk", "Candles", "Tea", "Bread"])
    assert "1 of 4" in tab.text("#count")
    assert tab.page.evaluate("document.activeElement.ariaLabel") == "Bread", "the focus stays on the checked item"
    tab.page.click(row("Bread", ".tick"))
    expect_order(tab, server, token, "Saturday", names)
    # Manual moves by keyboard and mouse.
    tab.page.focus(row("Tea", ".grip"))
    tab.page.keyboard.press("Alt+ArrowUp")
    expect_order(tab, server, token, "Saturday", ["Milk", "Bread", "Tea", "Candles"])
    tab.wait("() => document.querySelector('#announcements').textContent === 'Tea: position 3 of 4'")
    grip, target = tab.page.locator(row("Milk", ".grip")).bounding_box(), tab.page.locator(row("Candles", ".grip")).bounding_box()
    tab.page.mouse.move(grip["x"] + 5, grip["y"] + 5)
    tab.page.mouse.down()
    tab.page.mouse.move(grip["x"] + 5, grip["y"] + 40, steps=4)
    tab.page.mouse.move(target["x"], target["y"] + target["height"], steps=4)
    tab.page.mouse.up()
    expect_order(tab, server, token, "Saturday", ["Bread", "Tea", "Candles", "Milk"])
    tab.page.select_option("#item-sort", "name")
    expect_order(tab, server, token, "Saturday", ["Bread", "Candles", "Milk", "Tea"])
    assert tab.page.locator(".grip:visible").count() == 0
    tab.page.uncheck("#sink")
    tab.page.click(row("Bread", ".tick"))
    expect_order(tab, server, token, "Saturday", ["Bread", "Candles", "Milk", "Tea"])
    tab.page.click(row("Candles", ".remove"))
    expect_order(tab, server, token, "Saturday", ["Bread", "Milk", "Tea"])
    tab.page.click("#undo")
    expect_order(tab, server, token, "Saturday", ["Bread", "Candles", "Milk", "Tea"])
    tab.is_accessible()
    return tab


def a_list_is_live_on_two_devices(server, browser):
    one = Tab(browser).open(server.base + "/lists?user=olga", "#new-list:not([hidden])")
    token = server.token("olga")
    made = server.send("POST", "/v1/me/lists", {"name": "Party"}, token)
    server.send("POST", f"/v1/me/lists/{made['id']}/items", {"items": [{"store": "corner", "sku": "C1010"}, {"text": "Ice"}, {"text": "Cups"}]}, token)
    two = Tab(browser, color_scheme="dark", locale="ru-RU", viewport={"width": 390, "height": 844}).open(server.base + "/lists?user=olga", "#items .item")
    for tab in (one, two):
        expect_order(tab, server, token, "Party", ["Skyr Natural", "Ice", "Cups"])
    two.page.click("#items .tick >> nth=0")
    for tab in (one, two):
        expect_order(tab, server, token, "Party", ["Ice", "Cups", "Skyr Natural"])
    one.page.wait_for_selector(".item.checked")
    one.page.select_option("#item-sort", "name")
    for tab in (one, two):
        expect_order(tab, server, token, "Party", ["Cups", "Ice", "Skyr Natural"])
        tab.is_accessible()
    # Input by an attacker.
    server.send("POST", f"/v1/me/lists/{made['id']}/items", {"items": [{"text": "<img src=x onerror=alert(1)>"}]}, token)
    one.wait("() => [...document.querySelectorAll('.name')].some((name) => name.textContent === '<img src=x onerror=alert(1)>')")
    return [one, two]


def rapid_input_is_not_lost(server, browser):
    tab = Tab(browser).open(server.base + "/lists?user=petra", "#new-list:not([hidden])")
    token = server.token("petra")
    tab.page.fill("#list-name", "Hurry")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("#new-item:not([hidden])")
    assert tab.page.evaluate("document.activeElement.id") == "item-text"
    names = ["Milk", "Bread", "Cheese", "Eggs", "Tea"]
    for name in names:
        tab.page.keyboard.type(name + "\n")
    expect_order(tab, server, token, "Hurry", names)
    # If another list is opened during a change, the change stays with its list.
    other = server.send("POST", "/v1/me/lists", {"name": "Other"}, token)
    server.send("POST", f"/v1/me/lists/{other['id']}/items", {"items": [{"text": "Ink"}]}, token)
    tab.page.wait_for_selector("#lists a:has-text('Other')")
    held = tab.holds("**/v1/me/lists/*/items/*")
    for nth in range(3):
        tab.page.locator("#items .tick").nth(nth).click()
    tab.page.uncheck("#sink")
    held.wait()
    tab.page.click("#lists a:has-text('Other')")
    expect_order(tab, server, token, "Other", ["Ink"])
    held.release()
    wait_until(tab.page, lambda: not shown(server, token, "Hurry")[0]["auto_sort"])
    assert shown(server, token, "Hurry")[0]["checked_count"] == 3
    assert shown(server, token, "Other")[0]["auto_sort"] and shown(server, token, "Other")[0]["checked_count"] == 0
    expect_order(tab, server, token, "Other", ["Ink"])
    # A rejected change is not shown.
    tab.page.route("**/v1/me/lists/*/items/*", lambda route: route.fulfill(status=422, json={"detail": "no"}))
    tab.page.locator("#items .tick").first.click()
    tab.page.wait_for_selector("#away:not([hidden])")
    tab.wait("() => !document.querySelector('#items .tick').checked")
    tab.ignores_errors("422")
    return tab


def a_phone_shows_every_input(server, browser):
    for locale in ("en", "ru-RU"):
        tab = Tab(browser, viewport={"width": 390, "height": 844}, has_touch=True, locale=locale)
        tab.open(f"{server.base}/lists?user=phone-{locale}", "#new-list:not([hidden])")
        for number in range(4):
            tab.page.fill("#list-name", f"A list with a long name {number}")
            tab.page.click("#new-list button")
            tab.wait("(number) => document.querySelectorAll('#lists a').length === number + 1 && document.querySelector('#list-name').value === ''", number)
        for element in ("#list-name", "#new-list button", "#sink", "#item-sort", "#item-text", "#new-item button", "#lists a[aria-current]"):
            box = tab.page.locator(element).bounding_box()
            assert 0 <= box["x"] and box["x"] + box["width"] <= 390, (element, box)
        assert tab.page.evaluate("() => document.querySelector('#tools').scrollWidth <= document.querySelector('#tools').clientWidth")
        tab.is_accessible()
    return tab


def an_unknown_list_is_reported(server, browser):
    tab = Tab(browser).open(server.base + "/lists?user=nils&list=00000000-0000-4000-8000-000000000000", "#away:not([hidden])")
    assert "does not exist" in tab.text("#away")
    return tab


TESTS = [a_phone_shows_every_input, an_unknown_list_is_reported, rapid_input_is_not_lost, lists_are_kept_checked_and_arranged, a_list_is_live_on_two_devices]
