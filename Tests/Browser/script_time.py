#!/usr/bin/env python3
"""Measures the script time before a change of sort becomes visible. Usage: script_time.py AISLE [CSV]; CSV is an additional catalog.

In one run: the time from the diff to the start of the last animation, compared with a new layout of the same cards, which no
page can avoid."""
import statistics, sys

import harness, real

SORTS = ["-price", "unit_price", "brand", "-unit_price", "name", "price"]

with harness.browser() as browser:
    server = harness.Server(sys.argv[1], sys.argv[2:])
    try:
        shelf, size = real.largest(server)
        print(f"shelf {shelf}, {size} products; milliseconds, of {3 * len(SORTS)} re-sorts")
        for count in (60, 300):
            tab = harness.Tab(browser).open(real.address(server, shelf, sort="price"))
            real.scroll(tab, min(count, size))
            tab.page.evaluate("() => scrollTo(0, 0)")
            times, moved = [], []
            for sort in SORTS * 3:
                if len(tab.ids()) > count:
                    tab.page.evaluate("(count) => [...document.querySelectorAll('#products > [data-id]')].slice(count).forEach((card) => card.remove())", count)
                shown = len(tab.ids())
                tab.page.evaluate("() => delete document.documentElement.dataset.script")
                tab.sort(sort)
                tab.shows(server.order(shelf, f"sort={sort}")[:shown])
                tab.wait("() => document.documentElement.dataset.script")
                times.append(float(tab.page.evaluate("document.documentElement.dataset.script")))
            laid = tab.page.evaluate("""() => {
                const grid = document.querySelector("#products");
                const cards = [...grid.children].map((card) => card.cloneNode(true));
                const start = performance.now();
                grid.replaceChildren(...cards);
                grid.lastElementChild.getBoundingClientRect();
                return performance.now() - start;
            }""")
            times.sort()
            print(f"{count:4} cards: median {statistics.median(times):.1f}, most {times[-1]:.1f}; cloning and laying out as many {laid:.1f}")
            tab.close()
    finally:
        server.close()
