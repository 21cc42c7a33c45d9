"""Searches relative to plain pages of the same size, and the latency of suggestions."""
import http.client, itertools, random, time

import pages, worded
from harness import *
from shelf_bases import SECONDS_EACH, compare, send, write_paths

# The maximum number of searches that are measured at once, each with other words: the server keeps what it has found.
SEARCHES, TYPED = 5000, 2000
# Of each place: the store, the shelves whose names have the words, the path, and the aim.
PLACES = {
    "a shelf of 7,000": ("words", ["small"], "/v1/stores/words/shelves/small/products?limit=24", "≤ 3"),
    "a shelf of 100,000": ("words", ["large"], "/v1/stores/words/shelves/large/products?limit=24", "≤ 15"),
    "a store of 30,000": ("market", list(worded.STORES["market"]), "/v1/stores/market/products?limit=24", "≤ 10"),
}


def spent(server, paths):
    """Requests paths for a while, or until there are none, over one connection.

    Returns the processor time per request of the server and PostgreSQL together, in microseconds, the number of requests, and that of
    pages without products.
    """
    connection, count, empty = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60), 0, 0
    before, end = sum(processor_times(server).values()), time.monotonic() + SECONDS_EACH
    for path in paths:
        empty += send(connection, "GET", path).startswith(b'{"products":[]')
        count += 1
        # Long enough that the ticks of the clock do not count.
        if time.monotonic() >= end:
            break
    processor = (sum(processor_times(server).values()) - before) / count * 1e6
    connection.close()
    return {"processor": processor, "count": count, "empty": empty}


def costs():
    """Compares searches of two words, each for the first time, with pages of the same products by price."""
    runs = {place: {} for place in PLACES}
    for turn in range(ROUNDS):
        with served(worded.DATABASE, AISLE_PAGE_CACHE_MB="0") as server:
            for place, (store, shelves, path, _) in list(PLACES.items())[::-1 if turn % 2 else 1]:
                first, *others = (f"{path}&q={query}" for query in worded.queries(store, shelves, SEARCHES + 1, turn))
                page = f"{path}&sort=price"
                kinds = {
                    "page": itertools.repeat(page), "search": others, "again": itertools.repeat(first),
                    "failing": [f"{path}&q={query}" for query in worded.failing_queries(SEARCHES, turn)],
                }
                # The first page reads the shelves, and the first search builds the index.
                spent(server, [page, first])
                for kind, paths in list(kinds.items())[::-1 if turn % 2 else 1]:
                    runs[place].setdefault(kind, []).append(spent(server, paths))
    for place, found in runs.items():
        times = {kind: [run["processor"] for run in each] for kind, each in found.items()}
        compare(f"a search of two words on {place} ÷ a page, processor µs", times["search"], times["page"], PLACES[place][3])
        compare("    the same search again ÷ a page, processor µs", times["again"], times["page"], "")
        compare("    a search that finds nothing ÷ a page, processor µs", times["failing"], times["page"], "")
        counts = {figure: sum(run[figure] for run in found["search"]) for figure in ("empty", "count")}
        print(f"    {counts['empty']:,} of {counts['count']:,} searches of two words found nothing", flush=True)
        assert not [run for run in found["failing"] if run["empty"] < run["count"]]


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
