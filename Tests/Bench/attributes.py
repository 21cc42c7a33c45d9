"""Pages by attributes and pages of groups relative to plain pages, and the memory and imports with attributes relative to those without."""
import http.client, os, statistics, time

import worded
from harness import *
from shelf_bases import ADMIN_PORT, metrics, send
from shelves import cost

SHELF = "/v1/stores/words/shelves/large/products?limit=24"
# The kinds of memory without those that only requests need.
KINDS = ("shelves", "attributes", "indexes")


def page_costs():
    """Compares the processor times of pages in memory."""
    paths = {"price": f"{SHELF}&sort=price", "groups": f"{SHELF}&sort=price&collapse=true"} | {key: f"{SHELF}&sort={key}" for key in worded.SORTS}
    times = {name: [] for name in paths}
    for turn in range(ROUNDS):
        with served(worded.DATABASE, AISLE_PAGE_CACHE_MB="0") as server:
            for name, path in list(paths.items())[::-1 if turn % 2 else 1]:
                times[name].append(cost(server, path))
    median = {name: statistics.median(found) for name, found in times.items()}
    for key in worded.SORTS:
        show(f"a page by the attribute {key.lstrip('-')} ÷ by price, processor µs", median[key], median["price"], "≤ 1.05")
    show("a page of groups of four ÷ of products, processor µs", median["groups"], median["price"], "≤ 1.3")


def memory_use():
    """Compares the memory of a shelf after sorts by all attributes and a search with that of the shelf alone."""
    with served(worded.DATABASE, AISLE_PAGE_CACHE_MB="0", AISLE_ADMIN_PORT=str(ADMIN_PORT)):
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)

        def megabytes():
            found = metrics()
            return sum(found.get(f'aisle_shelf_memory_bytes{{kind="{kind}"}}', 0) for kind in KINDS) / (1 << 20)

        send(connection, "GET", f"{SHELF}&sort=price")
        alone = megabytes()
        for key in worded.SORTS:
            send(connection, "GET", f"{SHELF}&sort={key}")
        send(connection, "GET", f"{SHELF}&sort=price&allergens_none=nuts")
        send(connection, "GET", f"{SHELF}&q={worded.queries('words', 1, 1)[0]}")
        connection.close()
        show("memory of a shelf with eight attributes and its words ÷ without, MB", megabytes(), alone, "≤ 2")


def imports():
    """Compares first imports with eight columns of attributes with imports of the same products without them."""
    times = {True: [], False: []}
    for has_attributes in times:
        worded.write(f"{FOLDER}/import-{has_attributes}.csv", ["market"], has_attributes)
    for turn in range(ROUNDS):
        for has_attributes in (True, False)[::-1 if turn % 2 else 1]:
            fresh("imported")
            worded.declare("imported")
            start = time.perf_counter()
            run(AISLE, "import", f"{FOLDER}/import-{has_attributes}.csv", "--create-store", "--dsn", f"{DSN} dbname=imported")
            times[has_attributes].append(time.perf_counter() - start)
    for has_attributes in times:
        os.remove(f"{FOLDER}/import-{has_attributes}.csv")
    show("an import of 30,000 products with eight attributes ÷ without, s", statistics.median(times[True]), statistics.median(times[False]), "≤ 1.2")


def all():
    worded.build()
    page_costs()
    memory_use()
    imports()
