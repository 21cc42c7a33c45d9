"""Pages by attributes and pages of groups relative to plain pages, and the memory and imports with attributes relative to those without."""
import contextlib, http.client, os, time

import worded
from harness import *
from shelf_bases import ADMIN_PORT, compare, metrics, send
from shelves import cost

SHELF = "/v1/stores/words/shelves/large/products?limit=24"
# The database without attributes.
PLAIN = "worded_plain"
# The kinds of memory without those that only requests need.
KINDS = ("shelves", "attributes", "indexes")


def read_all(paths):
    """Requests every path once, so that shelves, columns of attributes and groups are in memory."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)) as connection:
        for path in paths:
            send(connection, "GET", path)


def page_costs():
    """Compares the processor times of pages in memory."""
    paths = {"price": f"{SHELF}&sort=price", "groups": f"{SHELF}&sort=price&collapse=true"} | {key: f"{SHELF}&sort={key}" for key in worded.SORTS}
    times = {name: [] for name in paths}
    for turn in range(ROUNDS):
        with served(worded.DATABASE, AISLE_PAGE_CACHE_MB="0") as server:
            read_all(paths.values())
            for name, path in list(paths.items())[::-1 if turn % 2 else 1]:
                times[name].append(cost(server, path))
    for key in worded.SORTS:
        compare(f"a page by the attribute {key.lstrip('-')} ÷ by price, processor µs", times[key], times["price"], "≤ 1.05")
    compare("a page of groups of four ÷ of products, processor µs", times["groups"], times["price"], "≤ 1.3")


def memory_after(database, paths):
    """Returns the megabytes of shelves, columns and indexes of a server after requests."""
    with served(database, AISLE_PAGE_CACHE_MB="0", AISLE_ADMIN_PORT=str(ADMIN_PORT)):
        read_all(paths)
        found = metrics()
        return sum(found[f'aisle_shelf_memory_bytes{{kind="{kind}"}}'] for kind in KINDS) / (1 << 20)


def memory_use():
    """Compares the memory of a shelf after sorts by all attributes and a search with that of the same products without attributes."""
    worded.build(PLAIN, ["words"], has_attributes=False)
    paths = [f"{SHELF}&sort=price"]
    alone = memory_after(PLAIN, paths)
    paths += [f"{SHELF}&sort={key}" for key in worded.SORTS]
    paths += [f"{SHELF}&sort=price&allergens_none=nuts", f"{SHELF}&q={worded.queries('words', ['large'], 1, 1)[0]}"]
    show("memory of a shelf with eight attributes and its words ÷ without, MB", memory_after(worded.DATABASE, paths), alone, "≤ 2")


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
    compare("an import of 30,000 products with eight attributes ÷ without, s", times[True], times[False], "≤ 1.2")


def all():
    worded.build()
    page_costs()
    memory_use()
    imports()
