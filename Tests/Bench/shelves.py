"""The costs of pages, orders and diffs of each kind, relative to a plain page of the same shelf, and of shelves that are rarely read.

AISLE_BENCH_OTHER is the path of another release executable. With it, each figure is measured with both programs in turn, each on databases
of its own. The results are in shelves.json.
"""
import concurrent.futures, contextlib, http.client, json, os, statistics, threading, time

import pages
from harness import *

PROGRAMS = {"this": AISLE} | ({"other": os.path.abspath(os.environ["AISLE_BENCH_OTHER"])} if "AISLE_BENCH_OTHER" in os.environ else {})
SECONDS_EACH = float(os.environ.get("AISLE_BENCH_SECONDS", 3))
# For each part of the shelves of `tail` that has memory, the variables of a server, as texts. The other program has its defaults.
MEMORY = json.loads(os.environ.get("AISLE_BENCH_MEMORY", '{"default": {}}'))
TAIL_SHELVES, TAIL_SIZE = 10_000, 100
SIZES = {"7,000": 7000, "100,000": 100_000}
STORE = "/v1/stores/generated/shelves"


def database(name, program):
    return name if program == "this" else f"{name}_{program}"


def shelf_near(name, size):
    """Returns the shelf of the store whose number of products is nearest to a size."""
    return sql(name, f"SELECT key FROM shelf ORDER BY abs(product_count - {size}), key LIMIT 1")


def send(connection, method, path, body=None):
    """Sends a request of a writer, and reads the whole response."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {token('writer', 'products:write')}"} if body else {}
    connection.request(method, path, json.dumps(body) if body else None, headers)
    answer = connection.getresponse()
    assert answer.read() and answer.status == 200, (method, path, answer.status)


def cost(server, path):
    """Returns the processor time per request of the server and PostgreSQL together, in microseconds."""
    with open(f"{FOLDER}/kinds", "w") as file:
        file.write(path)
    report = pages.measured(server, paths="kinds", clients=4, seconds=SECONDS_EACH)
    return report["server"] + report["postgres"]


def kinds(shelf, price, brand):
    """Returns the requests that are compared with a plain page."""
    products, order = f"{STORE}/{shelf}/products?limit=24", f"{STORE}/{shelf}/order"
    return {
        "plain page": f"{products}&sort=price",
        "page by three keys": f"{products}&sort=brand,-price,name",
        "page with three filters": f"{products}&sort=price&in_stock=true&price_max={price}&tag=organic",
        "page with tag and price facets": f"{products}&sort=price&facets=tag,price",
        "page with all facets": f"{products}&sort=price&facets=brand,tag,in_stock,price",
        "page of a brand": f"{products}&sort=price&brand={brand}",
        "whole order": f"{order}?sort=price",
        "diff of two sorts": f"{order}/diff?from_sort=price&to_sort=-popularity",
    }


def warm_and_first(rounds):
    """Measures each kind on a version that was read before, and right after a price has changed."""
    result = {}
    for label, size in SIZES.items():
        runs = {name: {} for name in PROGRAMS}
        for _ in range(rounds):
            for name, program in PROGRAMS.items():
                base = database("big", name)
                shelf = shelf_near(base, size)
                sku = sql(base, f"SELECT p.sku FROM placement p JOIN shelf s USING (store_id, shelf_id) WHERE s.key = '{shelf}' ORDER BY p.sku LIMIT 1")
                with served(base, program=program, AISLE_PAGE_CACHE_MB="0") as server:
                    for kind, path in kinds(shelf, "15.00", "Brand%201").items():
                        found = runs[name].setdefault(kind, {"warm": [], "first": []})
                        found["warm"].append(cost(server, path))
                        found["first"].append(first(server, path, sku))
        result[label] = {name: {kind: {when: statistics.median(values) for when, values in found.items()} for kind, found in run.items()} for name, run in runs.items()}
        for name, found in result[label].items():
            plain = found["plain page"]["warm"]
            print(f"a shelf of {label}, {name}: plain page {plain:.0f} µs")
            for kind, times in found.items():
                print(f"    {kind:32}{times['warm'] / plain:10.2f} × warm{times['first'] / plain:12.2f} × first time on a version", flush=True)
    return result


def first(server, path, sku):
    """Returns the processor time of a request after a changed price, without that of the change."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    price = 100

    def spent(reads):
        """Returns the processor time per change, for long enough that the ticks of the clock do not count."""
        nonlocal price
        before, end, changes = processor_times(server), time.monotonic() + SECONDS_EACH, 0
        while time.monotonic() < end:
            price = 100 + (price - 99) % 5000
            changes += 1
            send(connection, "PATCH", f"/v1/stores/generated/products/{sku}", {"price_minor": price})
            if reads:
                send(connection, "GET", path)
        return (sum(processor_times(server).values()) - sum(before.values())) / changes * 1e6

    changes, both = spent(False), spent(True)
    connection.close()
    return both - changes


def tail(name, program):
    """Creates a million products on 10,000 shelves of 100."""
    base = database("tail", name)
    if exists(base):
        run(program, "db", "migrate", "--dsn", f"{DSN} dbname={base}")
        return base
    path = f"{FOLDER}/tail.csv"
    with open(path, "w") as file:
        file.write("store,shelf,sku,name,brand,price,currency,size,popularity,tags,barcode,image_url\n")
        for number in range(TAIL_SHELVES * TAIL_SIZE):
            file.write(f"generated,Shelf {number // TAIL_SIZE},g{number},Fresh Cheese {number * 7919 % 999983},Brand {number % 3000},{number % 97}.{number % 90 + 10},EUR,"
                       f"{number % 900 + 100} g,{number * 31 % 5000},organic,{4000000000000 + number},https://images.example.com/products/{number}-front.webp\n")
    fresh(base, program)
    try:
        run(program, "import", path, "--create-store", "--max-new-shelves", str(TAIL_SHELVES), "--dsn", f"{DSN} dbname={base}")
        sql(base, "VACUUM ANALYZE")
    except BaseException:
        sql("postgres", f"DROP DATABASE {base} WITH (FORCE)")
        raise
    os.remove(path)
    return base


def image_count(base):
    """Returns the number of stored images of shelves; 0 with a program that stores none."""
    exists = sql(base, "SELECT to_regclass('shelf_image') IS NOT NULL") == "t"
    return int(sql(base, "SELECT count(*) FROM shelf_image")) if exists else 0


def settle(base, load):
    """Repeats a load until hardly any shelf is without its image."""
    before = -1
    while (found := image_count(base)) > before * 1.01:
        before = found
        load()


def long_tail(rounds):
    """Measures pages of many shelves, of which popular ones are read more often, with memory for a part of them."""
    bases = {name: tail(name, program) for name, program in PROGRAMS.items()}
    with open(f"{FOLDER}/tail", "w") as file:
        for rank in range(TAIL_SHELVES * len(pages.SORTS)):
            file.write(f"{STORE}/shelf-{(77 + rank // 10 * 7919) % TAIL_SHELVES}/products?limit=24&sort={pages.SORTS[(rank + rank // 10) % 10]}\n")
    runs = {}
    for _ in range(rounds):
        for name, program in PROGRAMS.items():
            for part, settings in (MEMORY.items() if name == "this" else [("default", {})]):
                with served(bases[name], program=program, **settings) as server:
                    settle(bases[name], lambda: pages.load(seconds=10 * SECONDS_EACH, warm_up=0, paths="tail", seed=2))
                    report = pages.measured(server, seconds=3 * SECONDS_EACH, paths="tail")
                    runs.setdefault(f"{name}, {part}", []).append({"server": report["server"], "postgres": report["postgres"], "memory": memory(server)})
    result = {name: pages.median(found) for name, found in runs.items()}
    for name, found in result.items():
        print(f"long tail, {name}: server {found['server']:.0f}, PostgreSQL {found['postgres']:.0f} µs per page; {found['memory']:.0f} MB", flush=True)
    return result


def cold(rounds):
    """Measures the first page of shelves of 100 that are not in memory, without and with images, relative to the second one."""
    runs, count = {}, 2000
    for _ in range(rounds):
        for name, program in PROGRAMS.items():
            base = tail(name, program)
            for way in ("in full", "by image") if name == "this" else ("by index",):
                if way == "in full":
                    sql(base, "DELETE FROM shelf_image")
                # A starting server reads shelves from images, which the memory limits.
                with served(base, program=program, AISLE_PAGE_CACHE_MB="0", **({"AISLE_SHELF_MEMORY": "16"} if way == "by image" else {})) as server:
                    connection = http.client.HTTPConnection("127.0.0.1", PORT)
                    for when in ("first", "second") if way != "by image" else ("first",):
                        before = processor_times(server)
                        for number in range(count):
                            send(connection, "GET", f"{STORE}/shelf-{number * 5 + 3}/products?limit=24&sort=price")
                        after = processor_times(server)
                        runs.setdefault((name, way, when), []).append({what: (after[what] - before[what]) / count * 1e6 for what in after})
                    connection.close()
                    end = time.monotonic() + 300
                    while way == "in full" and image_count(base) < count:
                        assert time.monotonic() < end, f"{image_count(base)} of {count} images are stored"
                        time.sleep(1)
    result = {f"{name}, {way}, {when}": pages.median(found) for (name, way, when), found in runs.items()}
    for case, found in result.items():
        print(f"a shelf of 100 that nobody has read, {case}: server {found['server']:.0f}, PostgreSQL {found['postgres']:.0f} µs", flush=True)
    return result


@contextlib.contextmanager
def price_changes(base, shelf, per_second):
    """Changes one price after another on a shelf while the block runs; yields the number of changes so far."""
    skus = sql(base, f"SELECT p.sku FROM placement p JOIN shelf s USING (store_id, shelf_id) WHERE s.key = '{shelf}' ORDER BY p.sku LIMIT 2000").split()
    stop, failures, done = threading.Event(), [], [0]

    def change():
        connection, start = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30), time.monotonic()
        try:
            while not stop.wait(max(0, start + done[0] / per_second - time.monotonic())):
                send(connection, "PATCH", f"/v1/stores/generated/products/{skus[done[0] % len(skus)]}", {"price_minor": 100 + done[0] % 900})
                done[0] += 1
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield done
    finally:
        stop.set()
        thread.join()
        assert not failures, failures


def storm(rounds, servers=4, pages_per_second=100, changes_per_second=100):
    """Compares pages of a shelf of 30,000 from four servers while its prices change with pages of a quiet shelf."""
    runs = {name: {"quiet": [], "changing": []} for name in PROGRAMS}
    for turn in range(rounds):
        for name, program in PROGRAMS.items():
            base = database("big", name)
            shelf = shelf_near(base, 30_000)
            with open(f"{FOLDER}/storm", "w") as file:
                file.write("\n".join(f"{STORE}/{shelf}/products?limit=24&sort={order}" for order in pages.SORTS))
            with contextlib.ExitStack() as stack:
                for number in range(servers):
                    stack.enter_context(served(base, program=program, port=PORT + number))

                def loaded(port):
                    return pages.load(seconds=2 * SECONDS_EACH, clients=8, rate=pages_per_second, port=port, paths="storm", warm_up=4)

                for when in list(runs[name])[::-1 if turn % 2 else 1]:
                    with price_changes(base, shelf, changes_per_second) if when == "changing" else contextlib.nullcontext([0]) as done:
                        before, start = processor_times(None)["postgres"], time.monotonic()
                        with concurrent.futures.ThreadPoolExecutor(servers) as executor:
                            reports = list(executor.map(loaded, range(PORT, PORT + servers)))
                        seconds = time.monotonic() - start
                        runs[name][when].append({
                            "p99": max(report["p99"] for report in reports), "changes": done[0] / seconds,
                            "postgres": (processor_times(None)["postgres"] - before) / seconds,
                        })
    result = {name: {when: pages.median(found) for when, found in run.items()} for name, run in runs.items()}
    for name, found in result.items():
        quiet, changing = found["quiet"], found["changing"]
        print(f"{changing['changes']:.0f} price changes per second on a shelf of 30,000, {servers} servers, {name}: p99 {changing['p99']} ÷ {quiet['p99']} µs = "
              f"{changing['p99'] / quiet['p99']:.1f}; PostgreSQL {changing['postgres']:.2f} ÷ {quiet['postgres']:.2f} processors", flush=True)
    return result


def all():
    """Runs all measurements, and writes the results to shelves.json."""
    for name, program in PROGRAMS.items():
        big(database("big", name), program)
    rounds = int(os.environ.get("AISLE_BENCH_ROUNDS", 3))
    sizes = {size: int(sql("big", f"SELECT product_count FROM shelf WHERE key = '{shelf_near('big', size)}'")) for size in (7000, 30_000, 100_000)}
    settings = {
        "rounds": rounds, "seconds": SECONDS_EACH, "connections": 4, "sizes": sizes,
        "programs": {name: run(program, "--version").stdout.strip() for name, program in PROGRAMS.items()},
    }
    # The parts to measure, if not all.
    parts = os.environ.get("AISLE_BENCH_PARTS", "kinds,storm,cold,long_tail").split(",")
    measured = {"kinds": warm_and_first, "storm": storm, "cold": cold, "long_tail": long_tail}
    results = {"settings": pages.settings() | settings} | {part: measured[part](rounds) for part in parts}
    with open(f"{FOLDER}/shelves.json", "w") as file:
        json.dump(results, file, indent=1, sort_keys=True)
    print(f"results: {FOLDER}/shelves.json")
