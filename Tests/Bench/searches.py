"""Searches relative to plain pages of the same size, and the latency of suggestions."""
import http.client, random, statistics

import pages, worded
from harness import *
from shelf_bases import SECONDS_EACH, send, write_paths

# The number of searches that are measured at once, each with other words: the server keeps what it has found.
SEARCHES, PAGES, TYPED = 200, 6000, 2000
# Of each search: the path, the plain page that it is compared with, and the aim.
PLACES = {
    "a shelf of 7,000": ("words", "/shelves/small", "/shelves/small", "≤ 3"),
    "a shelf of 100,000": ("words", "/shelves/large", "/shelves/large", "≤ 15"),
    "a store of 30,000": ("market", "", "/shelves/shelf-0", "≤ 10"),
}


def spent(server, paths):
    """Returns the processor time per request of the server and PostgreSQL together, in microseconds, over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    before = sum(processor_times(server).values())
    for path in paths:
        send(connection, "GET", path)
    after = sum(processor_times(server).values())
    connection.close()
    return (after - before) / len(paths) * 1e6


def costs():
    """Compares searches of two words, each for the first time, with a page of the same shelf, or of a shelf of the store."""
    times = {place: {"search": [], "again": [], "page": []} for place in PLACES}
    for turn in range(ROUNDS):
        with served(worded.DATABASE, AISLE_PAGE_CACHE_MB="0") as server:
            for place, (store, searched, shelf, _) in PLACES.items():
                base = f"/v1/stores/{store}"
                found = [f"{base}{searched}/products?limit=24&q={query}" for query in worded.queries(store, SEARCHES + 1, turn)]
                page = f"{base}{shelf}/products?limit=24&sort=price"
                # The first search builds the index, and the first page reads the shelf.
                spent(server, [page, found[0]])
                times[place]["search"].append(spent(server, found[1:]))
                times[place]["again"].append(spent(server, found[-1:] * (PAGES // 10)))
                times[place]["page"].append(spent(server, [page] * PAGES))
    for place, found in times.items():
        median = {name: statistics.median(values) for name, values in found.items()}
        show(f"a search of two words on {place} ÷ a page, processor µs", median["search"], median["page"], PLACES[place][3])
        show("    the same search again ÷ a page, processor µs", median["again"], median["page"], "")


def suggestions():
    """Measures the latencies of suggestions for a store of 30,000 products in an open loop, at 70 % of the capacity."""
    chosen, typed = random.Random(worded.SEED), {}
    words = [word for shelf in worded.STORES["market"] for name in worded.names("market", shelf) for word in name.lower().split()]
    while len(typed) < TYPED:
        typed[chosen.choice(words)[:chosen.randrange(2, 7)]] = None
    write_paths("suggest", [f"/v1/stores/market/suggest?limit=8&q={text}" for text in typed])
    runs = []
    for _ in range(ROUNDS):
        with served(worded.DATABASE):
            capacity = pages.load(seconds=SECONDS_EACH, paths="suggest", warm_up=3)["rate"]
            runs.append(pages.load(seconds=2 * SECONDS_EACH, rate=0.7 * capacity, paths="suggest") | {"capacity": capacity})
    # A pause of the machine changes the percentiles of a whole run.
    report = sorted(runs, key=lambda report: report["p99"])[len(runs) // 2]
    print(f"suggestions for a store of 30,000 at 70 % of the capacity ({report['capacity']:,.0f} per second): p50 {report['p50'] / 1000:.1f}, "
          f"p99 {report['p99'] / 1000:.1f} ms (aim: p99 ≤ 10){', overloaded' if report['overloaded'] else ''}", flush=True)


def all():
    worded.build()
    costs()
    suggestions()
