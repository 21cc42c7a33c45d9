"""The costs of shelves relative to those of other pages and of another program, and the behaviour of servers with shelves in memory.

AISLE_BENCH_OTHER is the path of another release executable. With it, each figure is measured with both programs in turn, each on databases
of its own. AISLE_BENCH_PARTS names the parts to measure, AISLE_BENCH_ROUNDS how often, and AISLE_BENCH_SECONDS how long each measurement takes.
AISLE_BENCH_EVICTION_SECONDS is how long `memory` lets shelves leave the memory for others. The results are in shelves.json. The parts:

- `kinds`: pages, orders and diffs of each kind ÷ a plain page of the same shelf, warm and first on a version.
- `cold`: the first page of shelves that are not in memory. `long_tail`: pages of many shelves, with memory for a part of them.
- `warm`: a page ÷ one of the other program, without and with a cache of whole pages, and pages per second ÷ pgbench.
- `derivation`: the first page after a move, a placement and a removal ÷ a full read of the shelf.
- `writes`: the log of a night's scores, and the time of first imports, ÷ those of the other program.
- `storm`, `load` and `imports`: latencies while prices change, while large shelves are read, and during imports.
- `capacity`: p99 ÷ p50 at 70 % of the capacity. `restart`: the first page after a restart ÷ a warm one.
- `memory`: bytes per placement, and the resident memory after many evictions ÷ the limit.
"""
import contextlib, http.client, itertools, json, os, random, statistics, subprocess, time

import resort, shelf_servers
from shelf_bases import *

# For each part of the shelves of `tail` that has memory, the variables of a server, as texts. The other program has its defaults.
MEMORY = json.loads(os.environ.get("AISLE_BENCH_MEMORY", '{"default": {}}'))
SIZES = {"7,000": 7000, "100,000": 100_000}
# The catalogs whose first import is measured, if they exist.
REAL_CATALOG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/data/konzum-hr.csv")


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


def spent(server, changes, path=None):
    """Makes changes for a while, each followed by a page if there is a path.

    Returns the number of changes, and in microseconds the processor time of each, with that of its page, and the median time of a page.
    """
    connection, times, count = http.client.HTTPConnection("127.0.0.1", PORT), [], 0
    if path:
        # So that each page differs by one change from the one before.
        send(connection, "GET", path)
    before, end = processor_times(server), time.monotonic() + SECONDS_EACH
    for change in changes:
        send(connection, *change)
        count += 1
        if path:
            times.append(timed(connection, path))
        # Long enough that the ticks of the clock do not count.
        if time.monotonic() >= end:
            break
    processor = (sum(processor_times(server).values()) - sum(before.values())) / count * 1e6
    connection.close()
    return {"count": count, "processor": processor, "page": statistics.median(times) if times else None}


def first(server, path, sku):
    """Returns the processor time of a request after a changed price, without that of the change."""
    prices = (("PATCH", f"/v1/stores/generated/products/{sku}", {"price_minor": 100 + number % 5000}) for number in itertools.count())
    changes, both = spent(server, prices), spent(server, prices, path)
    return both["processor"] - changes["processor"]


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


def warm(rounds):
    """Compares pages of the usual mix with those of the other program, without and with a cache of whole pages, and with pgbench."""
    pages.write_paths()
    pages.baseline_tables()
    runs, result = {}, {}
    for turn in range(rounds):
        for name, program in turns(turn):
            base = database("big", name)
            for mode, cache in pages.MODES.items():
                with served(base, program=program, AISLE_PAGE_CACHE_MB=cache) as server:
                    read_in_turn("paths")
                    settle(base, lambda: pages.load(seconds=SECONDS_EACH))
                    report = pages.measured(server, seconds=2 * SECONDS_EACH)
                    runs.setdefault((name, mode), []).append({"rate": report["rate"], "processor": report["server"] + report["postgres"], "server": report["server"]})
        runs.setdefault("pgbench", []).append(pages.baseline(max(1, round(2 * SECONDS_EACH))))

    def of(figure, *case):
        return [run[figure] for run in runs[case[0] if len(case) == 1 else case]]

    for mode, aim in (("rendered", "≤ 0.6"), ("remembered", "≤ 1.05")):
        if "other" in PROGRAMS:
            result[f"page, {mode}"] = compare(f"a warm page, {mode} ÷ {mode} by the other program, processor µs", of("processor", "this", mode), of("processor", "other", mode), aim)
    for name in PROGRAMS:
        result[f"pages ÷ pgbench, {name}"] = compare(f"pages of 24 per second, rendered, {name} ÷ pgbench", of("rate", name, "rendered"), of("rate", "pgbench"), "≥ 0.70")
    return result | {"runs": {", ".join(case) if case != "pgbench" else case: found for case, found in runs.items()}}


def derivation(rounds, full_reads=3):
    """Compares the first page after a change of a shelf of 100,000 with the first page of that shelf without image and memory."""
    base, random_products, runs = "big", random.Random(1), []
    shelf = shelf_near(base, SIZES["100,000"])
    elsewhere = sql(base, f"SELECT sku FROM product WHERE sku NOT IN (SELECT sku FROM placement JOIN shelf USING (store_id, shelf_id) WHERE key = '{shelf}') ORDER BY sku LIMIT 20000").split()
    by_position, by_price = (f"{STORE}/{shelf}/products?limit=24&sort={order}" for order in ("position", "price"))
    for _ in range(rounds):
        with served(base, AISLE_PAGE_CACHE_MB="0", AISLE_ADMIN_PORT=str(ADMIN_PORT)) as server:
            connection = http.client.HTTPConnection("127.0.0.1", PORT)
            ids = json.loads(send(connection, "GET", f"{STORE}/{shelf}/order?sort=position"))["ids"]

            def read_in_full(path):
                sql(base, unrecorded(shelf))
                count, before = shelf_reads("whole"), sum(processor_times(server).values())
                page = timed(connection, path)
                processor = (sum(processor_times(server).values()) - before) * 1e6
                assert shelf_reads("whole") == count + 1, metrics()
                return {"page": page, "processor": processor}

            read_in_full(by_position)
            # The server stores the image, and not again within ten minutes.
            wait_until(lambda: sql(base, f"SELECT i.version = s.version FROM shelf_image i JOIN shelf s USING (store_id, shelf_id) WHERE key = '{shelf}'") == "t")
            time.sleep(1)
            full = {path: pages.median([read_in_full(path) for _ in range(full_reads)]) for path in (by_position, by_price)}
            moves = (("POST", f"{STORE}/{shelf}/order/moves", {"moves": [{"ids": [moved], "after": after}]}) for moved, after in iter(lambda: random_products.sample(ids, 2), None))
            place, remove = ([(method, f"{STORE}/{shelf}/products/{sku}") for sku in elsewhere] for method in ("PUT", "DELETE"))
            alone = {"move": spent(server, moves), "placement": spent(server, place)}
            placed = alone["placement"]["count"]
            alone["removal"] = spent(server, remove[:placed])
            send_all(connection, remove[alone["removal"]["count"]:placed])
            # Changes without pages may be too many to follow.
            for path in full:
                send(connection, "GET", path)
            whole, both = shelf_reads("whole"), {"move": spent(server, moves, by_position), "placement": spent(server, place, by_price)}
            placed = both["placement"]["count"]
            both["removal"] = spent(server, remove[:placed], by_price)
            assert shelf_reads("whole") == whole, metrics()
            send_all(connection, remove[both["removal"]["count"]:placed])
            connection.close()
        runs.append({change: {"page": found["page"], "processor": found["processor"] - alone[change]["processor"], "count": found["count"],
                              "change": alone[change]["processor"], "full": full[by_position if change == "move" else by_price]} for change, found in both.items()})
    result = {}
    for change, (figure, unit) in itertools.product(runs[0], (("page", "time"), ("processor", "processor time"))):
        ours, theirs = ([one[figure] / 1000 for one in found] for found in ([run[change] for run in runs], [run[change]["full"] for run in runs]))
        result[f"{change}, {figure}"] = compare(f"the first page after a {change} on a shelf of 100,000 ÷ a full read, {unit}, ms", ours, theirs, "≤ 0.1")
    return result | {"runs": runs}


def send_all(connection, requests):
    for request in requests:
        send(connection, *request)


@contextlib.contextmanager
def steady_log():
    """Keeps autovacuum and copies of whole pages, whose number depends on checkpoints, out of the log."""
    settings = ("full_page_writes", "autovacuum")
    try:
        for setting in settings:
            sql("postgres", f"ALTER SYSTEM SET {setting} = off")
        sql("postgres", "SELECT pg_reload_conf()")
        yield
    finally:
        for setting in settings:
            sql("postgres", f"ALTER SYSTEM RESET {setting}")
        sql("postgres", "SELECT pg_reload_conf()")


def night_of_scores(program, base, seed):
    """Folds and scores purchases of a twentieth of a million products; returns the seconds, the bytes of log, also without those of folding, and the report.

    The same purchases as before, of the same customers on the same days, would change no score.
    """
    night = resort.Night(base, program)
    night.is_new = sql(base, "SELECT to_regclass('purchase_cell') IS NOT NULL") == "t"
    # Earlier purchases, and those of an earlier run that was interrupted.
    night.resort(2)
    night.reports = seed
    night.report(150_000, 20)
    sql(base, "VACUUM ANALYZE")
    start = sql(base, "SELECT pg_current_wal_insert_lsn()")
    seconds, log, (_, report) = night.measured(night.resort)
    assert "scored 0 products" not in report, report
    tables = log_by_table(base, start)
    purchases = sum(size for table, size in tables.items() if table.startswith("purchase_"))
    return {"seconds": seconds, "log": log, "log without purchases": log - purchases, "tables": tables, "report": report}


def log_by_table(base, start):
    """Returns the bytes of log since a position, by the table that they change, with its indexes, from the largest."""
    sql(base, "CREATE EXTENSION IF NOT EXISTS pg_walinspect")
    found = sql(base, f"""SELECT coalesce(t.relname, c.relname), sum(w.record_length) FROM (
            SELECT record_length, substring(block_ref FROM 'rel [0-9]+/[0-9]+/([0-9]+)')::oid AS node
            FROM pg_get_wal_records_info_till_end_of_wal('{start}')) w
        JOIN pg_class c ON c.relfilenode = w.node LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = i.indrelid
        GROUP BY 1 ORDER BY 2 DESC""")
    return {table: int(size) for table, size in (line.split("|") for line in found.split("\n"))}


def first_import(program, path, base):
    """Imports a file into an empty database; returns the seconds, and the processor time of the command and PostgreSQL."""
    fresh(base, program)
    sql("postgres", "CHECKPOINT")
    before, client, start = processor_times(None)["postgres"], pages.children_time(), time.perf_counter()
    subprocess.run(import_words(program, path, base), check=True, capture_output=True)
    seconds, importer = time.perf_counter() - start, pages.children_time() - client
    postgres = processor_times(None)["postgres"] - before
    rows = int(sql(base, "SELECT count(*) FROM placement"))
    sql("postgres", f"DROP DATABASE {base} WITH (FORCE)")
    return {"seconds": seconds, "importer": importer, "postgres": postgres, "processor": importer + postgres, "placements": rows}


def writes(rounds):
    """Measures the log of a night's scores, and first imports of a real catalog and of a million generated rows."""
    million, runs, result = f"{FOLDER}/tail.csv", {}, {}
    catalog_file(million, TAIL_SHELVES, TAIL_SIZE)
    files = {"the real catalog": REAL_CATALOG, "1,000,000 rows": million}
    if not os.path.exists(REAL_CATALOG):
        print(f"no catalog in {REAL_CATALOG}: its import is left out", flush=True)
        del files["the real catalog"]
    for name, program in PROGRAMS.items():
        big(database("scores", name), program)
    for turn in range(rounds):
        seed = random.randrange(90)
        for name, program in turns(turn):
            with steady_log():
                runs.setdefault(("night", name), []).append(night_of_scores(program, database("scores", name), seed))
            for what, path in files.items():
                runs.setdefault((what, name), []).append(first_import(program, path, database("imported", name)))
    os.remove(million)
    for (what, name), found in runs.items():
        print(f"    {what}, {name}: {found[-1]}", flush=True)

    def of(figure, *case, divisor=1):
        return [run[figure] / divisor for run in runs[case]]

    if "other" in PROGRAMS:
        for figure, what in (("log", "with purchases"), ("log without purchases", "without purchases")):
            ours, theirs = (of(figure, "night", name, divisor=1e6) for name in PROGRAMS)
            result[f"night, log, {what}"] = compare(f"log of a night's scores, {what}, ÷ the other program, MB", ours, theirs, "≤ 0.5")
        result["night, seconds"] = compare("a night's scores ÷ the other program, s", of("seconds", "night", "this"), of("seconds", "night", "other"), "")
        for what in files:
            for figure, unit in (("seconds", "s"), ("processor", "processor s")):
                result[f"{what}, {figure}"] = compare(f"first import of {what} ÷ the other program, {unit}", of(figure, what, "this"), of(figure, what, "other"), "≤ 0.7")
    return result | {"runs": {", ".join(case): found for case, found in runs.items()}}


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
    measured = {
        "kinds": warm_and_first, "storm": shelf_servers.storm, "cold": cold, "long_tail": long_tail, "load": shelf_servers.load, "imports": shelf_servers.imports,
        "capacity": shelf_servers.capacity, "warm": warm, "restart": shelf_servers.restart, "memory": shelf_servers.memory_use, "writes": writes, "derivation": derivation,
    }
    # The parts to measure, if not all.
    parts = os.environ.get("AISLE_BENCH_PARTS", ",".join(measured)).split(",")
    results = {"settings": pages.settings() | settings} | {part: measured[part](rounds) for part in parts}
    with open(f"{FOLDER}/shelves.json", "w") as file:
        json.dump(results, file, indent=1, sort_keys=True)
    print(f"results: {FOLDER}/shelves.json")
