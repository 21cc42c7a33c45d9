"""Tests of the merchandiser's page with the seed catalog."""
from harness import AWAY, Tab, wait_until

SHELF = "corner/bread"


def place(user):
    return f"/merchandise?store=corner&shelf=bread&user={user}"


def order(server):
    return server.order(SHELF, "sort=position")


def moved(ids, moving, at):
    """Returns the expected order after a move to an index among the others."""
    left = [id for id in ids if id not in moving]
    return left[:at] + moving + left[at:]


def middle(tab, id):
    box = tab.page.locator(f"#products > [data-id='{id}']").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(tab, id, onto, side):
    """Drags a card by mouse onto the left or right half of another."""
    x, y = middle(tab, id)
    tx, ty = middle(tab, onto)
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 12, y + 4, steps=3)
    tab.page.wait_for_selector(".float")
    tab.page.mouse.move(tx + side * 30, ty, steps=6)
    tab.page.mouse.up()


def settles(tab, server, ids):
    tab.shows(ids)
    wait_until(tab.page, lambda: order(server) == ids, message=lambda: f"the API has\n{order(server)}\nand should have\n{ids}\n{tab.said()}")


def a_move_on_its_way(tab, id):
    """Moves a card to the top, and delays the request."""
    held = tab.holds("**/order/moves")
    tab.page.focus(f"[data-id='{id}']")
    tab.page.keyboard.press("Alt+Home")
    held.wait()
    return held


def cards_are_dragged_by_a_mouse(server, browser):
    tab = Tab(browser).open(server.base + place("mia"))
    ids = order(server)
    tab.shows(ids)
    drag(tab, ids[0], ids[7], 1)
    ids = moved(ids, [ids[0]], 7)
    settles(tab, server, ids)
    assert tab.page.locator("[aria-selected=true]").count() == 0, "a drag must not count as a click"
    # Several cards from any positions keep their order.
    for id in (ids[9], ids[2]):
        tab.page.click(f"[data-id='{id}']")
    several = [ids[2], ids[9]]
    drag(tab, ids[9], ids[5], -1)
    ids = moved(ids, several, 4)
    settles(tab, server, ids)
    tab.page.click("#last")
    ids = moved(ids, several, 99)
    settles(tab, server, ids)
    tab.page.click("#first")
    ids = moved(ids, several, 0)
    settles(tab, server, ids)
    # Escape cancels a drag.
    x, y = middle(tab, ids[3])
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 200, y + 100, steps=4)
    tab.page.wait_for_selector(".float")
    tab.page.keyboard.press("Escape")
    tab.page.mouse.up()
    assert tab.page.locator(".float, .marker, .lifted").count() == 0
    settles(tab, server, ids)
    return tab


def cards_are_dragged_by_a_finger(server, browser):
    tab = Tab(browser, viewport={"width": 390, "height": 844}, has_touch=True).open(server.base + place("mia"))
    ids = order(server)
    tab.shows(ids)

    def finger(kind, *points):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    # A touch that moves immediately scrolls.
    touch = tab.context.new_cdp_session(tab.page)
    x, y = middle(tab, ids[2])
    finger("touchStart", (x, y))
    for step in range(1, 8):
        finger("touchMove", (x, y - step * 25))
    finger("touchEnd")
    tab.wait("() => scrollY > 50")
    settles(tab, server, ids)
    # A long press starts a drag.
    tab.close()
    tab = Tab(browser, viewport={"width": 390, "height": 844}, has_touch=True).open(server.base + place("mia"))
    touch = tab.context.new_cdp_session(tab.page)
    tab.shows(ids)
    x, y = middle(tab, ids[0])
    tx, ty = middle(tab, ids[1])
    finger("touchStart", (x, y))
    tab.page.wait_for_selector(".float")
    for step in range(1, 6):
        finger("touchMove", (x + (tx + 30 - x) * step / 5, y + (ty - y) * step / 5))
    finger("touchEnd")
    settles(tab, server, moved(ids, [ids[0]], 1))
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    return tab


def cards_are_moved_by_keyboard_and_announced(server, browser):
    tab = Tab(browser).open(server.base + place("mia"))
    ids = order(server)
    tab.shows(ids)
    columns = tab.page.evaluate("getComputedStyle(document.querySelector('#products')).gridTemplateColumns.split(' ').length")
    one = ids[1]
    tab.page.focus(f"[data-id='{one}']")
    name = tab.text(f"[data-id='{one}'] h2")
    for key, at in (("Alt+ArrowRight", 2), ("Alt+ArrowRight", 3), ("Alt+ArrowLeft", 2), ("Alt+ArrowDown", 2 + columns), ("Alt+ArrowUp", 2), ("Alt+End", len(ids) - 1), ("Alt+Home", 0)):
        tab.page.keyboard.press(key)
        tab.wait("(said) => document.querySelector('#announcements').textContent.startsWith(said)", f"{name}: position {at + 1} of {len(ids)}")
        ids = moved(ids, [one], at)
        assert tab.page.evaluate("document.activeElement.dataset.id") == one
    settles(tab, server, ids)
    # Rapid key presses: none is lost, and they apply in order.
    for _ in range(5):
        tab.page.keyboard.press("Alt+ArrowRight")
    ids = moved(ids, [one], 5)
    settles(tab, server, ids)
    # Arrow keys alone move the focus; Space selects.
    tab.page.keyboard.press("Space")
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("Space")
    assert "2 selected" in tab.text("#count")
    tab.page.keyboard.press("Alt+Home")
    ids = moved(ids, ids[5:7], 0)
    settles(tab, server, ids)
    tab.page.keyboard.press("Escape")
    assert "none selected" in tab.text("#count")
    return tab


def changes_are_undone_and_listed_in_the_history(server, browser):
    tab = Tab(browser).open(server.base + place("tom"))
    ids = order(server)
    tab.shows(ids)
    tab.page.focus(f"[data-id='{ids[4]}']")
    tab.page.keyboard.press("Alt+Home")
    settles(tab, server, moved(ids, [ids[4]], 0))
    tab.wait("() => document.querySelector('#undo').title.startsWith('tom moved “')")
    tab.page.click("#undo")
    settles(tab, server, ids)
    tab.page.click("#history")
    tab.wait("() => document.querySelectorAll('#changes > li')[1]?.textContent.includes('undone')")
    assert tab.text("#changes > li >> nth=0").startswith("tom undid a change to “")
    tab.is_accessible()
    tab.page.click("#history-sheet button")
    # A sort is applied to the manual order, and undone by a key.
    tab.page.click("#apply-sort")
    tab.page.select_option("#applied-sort", "-price")
    tab.is_accessible()
    tab.page.click("#apply-sort-form button[value=apply]")
    settles(tab, server, server.order(SHELF, "sort=-price"))
    tab.wait("() => document.querySelector('#undo').title.startsWith('tom applied a sort')")
    tab.page.keyboard.press("Control+z")
    settles(tab, server, ids)
    return tab


def of_two_merchandisers_the_later_sees_both(server, browser):
    mia, tom = (Tab(browser).open(server.base + place(user)) for user in ("mia", "tom"))
    ids = order(server)
    for tab in (mia, tom):
        tab.shows(ids)
    # Each user sees the other's moves.
    mia.page.focus(f"[data-id='{ids[3]}']")
    mia.page.keyboard.press("Alt+Home")
    ids = moved(ids, [ids[3]], 0)
    for tab in (mia, tom):
        settles(tab, server, ids)
    # While Tom drags a card, Mia moves another: his move is neither applied nor lost.
    own, hers = ids[6], ids[9]
    x, y = middle(tom, own)
    tx, ty = middle(tom, ids[1])
    tom.page.mouse.move(x, y)
    tom.page.mouse.down()
    tom.page.mouse.move(x + 20, y + 5, steps=3)
    tom.page.wait_for_selector(".float")
    mia.page.focus(f"[data-id='{hers}']")
    mia.page.keyboard.press("Alt+Home")
    between = moved(ids, [hers], 0)
    settles(mia, server, between)
    tom.page.mouse.move(tx + 30, ty, steps=5)
    tom.page.mouse.up()
    tom.page.wait_for_selector("#conflict:not([hidden])")
    # The page shows the conflict before it has read whose move it is.
    tom.page.wait_for_selector("#conflict-text:has-text('mia moved “')")
    settles(tom, server, between)
    assert tom.page.locator(".theirs").count() == 1
    tom.is_accessible()
    tom.page.click("#again")
    both = moved(between, [own], 3)
    for tab in (tom, mia):
        settles(tab, server, both)
    assert tom.page.locator("#conflict").is_hidden()
    # If he discards it, her move stays.
    x, y = middle(tom, both[8])
    tom.page.mouse.move(x, y)
    tom.page.mouse.down()
    tom.page.mouse.move(x - 40, y - 5, steps=3)
    tom.page.wait_for_selector(".float")
    server.move(SHELF, server.token("ida", "catalog:write"), [both[0]], place="last")
    tom.page.mouse.move(*middle(tom, both[2]), steps=5)
    tom.page.mouse.up()
    tom.page.wait_for_selector("#conflict:not([hidden])")
    tom.page.click("#discard")
    for tab in (tom, mia):
        settles(tab, server, moved(both, [both[0]], 99))
    tom.ignores_errors("412")
    return [mia, tom]


def a_conflict_while_another_card_is_held_loses_neither(server, browser):
    tab = Tab(browser).open(server.base + place("tom"))
    ids = order(server)
    tab.shows(ids)
    held = a_move_on_its_way(tab, ids[4])
    # During the request, another user moves first, and a second card is being dragged.
    server.move(SHELF, server.token("mia", "catalog:write"), [ids[9]], place="first")
    tab.page.mouse.move(*middle(tab, ids[6]))
    tab.page.mouse.down()
    x, y = middle(tab, ids[7])
    tab.page.mouse.move(x + 30, y, steps=5)
    tab.page.wait_for_selector(".float")
    held.release()
    tab.page.wait_for_selector("#conflict:not([hidden])")
    tab.page.mouse.up()
    between = moved(ids, [ids[9]], 0)
    settles(tab, server, between)
    tab.page.click("#again")
    settles(tab, server, moved(between, [ids[4]], 0))
    # Immediately, before the other user's change has arrived.
    ids = moved(between, [ids[4]], 0)
    held = a_move_on_its_way(tab, ids[5])
    server.move(SHELF, server.token("mia", "catalog:write"), [ids[8]], place="first")
    held.release()
    tab.page.click("#again")
    settles(tab, server, moved(moved(ids, [ids[8]], 0), [ids[5]], 0))
    tab.ignores_errors("412")
    return tab


def pending_moves_stay_with_their_shelf(server, browser):
    tab = Tab(browser).open(server.base + place("mia"))
    ids = order(server)
    tab.shows(ids)
    held = a_move_on_its_way(tab, ids[3])
    # The move is applied in spite of a change of language and shelf.
    tab.page.select_option("#language", "ru")
    tab.page.click("#shelves a[href*='shelf=cheese'] >> nth=0")
    held.release()
    tab.shows(server.order("corner/cheese", "sort=position"))
    ids = moved(ids, [ids[3]], 0)
    assert order(server) == ids
    # Changing the shelf cancels a drag.
    cheese = server.order("corner/cheese", "sort=position")
    tab.page.mouse.move(*middle(tab, cheese[1]))
    tab.page.mouse.down()
    x, y = middle(tab, cheese[3])
    tab.page.mouse.move(x, y, steps=5)
    tab.page.wait_for_selector(".float")
    tab.page.evaluate("() => history.back()")
    tab.shows(ids)
    tab.page.mouse.up()
    settles(tab, server, ids)
    assert server.order("corner/cheese", "sort=position") == cheese and tab.page.locator(".float").count() == 0
    return tab


def offline_moves_are_sent_on_reconnect(server, browser):
    tab = Tab(browser).open(server.base + place("mia"))
    ids = order(server)
    tab.shows(ids)
    server.stop()
    tab.page.focus(f"[data-id='{ids[2]}']")
    for _ in range(3):
        tab.page.keyboard.press("Alt+ArrowRight")
    tab.page.wait_for_selector("#away:not([hidden])")
    tab.shows(moved(ids, [ids[2]], 5))
    server.start()
    tab.page.wait_for_selector("#away", state="hidden")
    settles(tab, server, moved(ids, [ids[2]], 5))
    tab.ignores_errors(*AWAY)
    return tab


def a_user_without_write_access_is_asked_to_sign_in(server, browser):
    tab = Tab(browser)
    # As on a server without demo features.
    tab.page.route("**/demo", lambda route: route.fulfill(json={"sessions": False, "storms": []}))
    tab.open(server.base + place("mia"))
    ids = tab.ids()
    tab.page.wait_for_selector("#sign-in-hint:not([hidden])")
    tab.page.focus(f"[data-id='{ids[0]}']")
    tab.page.keyboard.press("Alt+ArrowRight")
    tab.page.fill("#pasted", server.token("gus", "catalog:write"))
    tab.page.click("#sign-in button")
    tab.page.wait_for_selector("#sign-out")
    settles(tab, server, ids)
    tab.page.focus(f"[data-id='{ids[0]}']")
    tab.page.keyboard.press("Alt+ArrowRight")
    settles(tab, server, moved(ids, [ids[0]], 1))
    return tab


def the_merchandising_page_is_accessible(server, browser):
    for options in ({}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}, "locale": "ru-RU"}):
        tab = Tab(browser, **options).open(server.base + place("mia"))
        tab.page.click("#products .card >> nth=1")
        tab.is_accessible()
        tab.close()
    return Tab(browser).open(server.base + place("mia"))


TESTS = [
    cards_are_dragged_by_a_mouse, cards_are_dragged_by_a_finger, cards_are_moved_by_keyboard_and_announced, changes_are_undone_and_listed_in_the_history,
    of_two_merchandisers_the_later_sees_both, a_conflict_while_another_card_is_held_loses_neither, pending_moves_stay_with_their_shelf, offline_moves_are_sent_on_reconnect, a_user_without_write_access_is_asked_to_sign_in, the_merchandising_page_is_accessible,
]
