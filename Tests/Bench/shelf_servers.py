"""The latencies of servers with shelves in memory under load, and their memory."""
import concurrent.futures, contextlib, http.client, math, os, random, statistics, threading, time

from shelf_bases import *

# How long shelves leave the memory for others, in seconds.
EVICTION_SECONDS = float(os.environ.get("AISLE_BENCH_EVICTION_SECONDS", 60))
# The memory for shelves meanwhile, in MB.
LIMIT = 128


@contextlib.contextmanager
def repeated(work, per_second=math.inf):
    """Repeats work, which receives the number of times before, while the block runs; yields the list of the seconds that each time took."""
    stop, failures, times = threading.Event(), [], []

    def repeat():
        began = time.perf_counter()
        try:
            while not stop.wait(max(0, began + len(times) / per_second - time.perf_counter())):
                start = time.perf_counter()
                work(len(times))
                times.append(time.perf_counter() - start)
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield times
    finally:
        stop.set()
        thread.join()
        assert not failures, failures


@contextlib.contextmanager
def price_changes(base, shelf, per_second):
    """Changes one price after another on a shelf while the block runs; yields the list of the seconds that each change took."""
    skus = sql(base, f"SELECT p.sku FROM placement p JOIN shelf s USING (store_id, shelf_id) WHERE s.key = '{shelf}' ORDER BY p.sku LIMIT 2000").split()
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    # Other prices than in earlier runs: setting the same price again changes nothing.
    shift = int(time.time())

    def change(number):
        send(connection, "PATCH", f"/v1/stores/generated/products/{skus[number % len(skus)]}", {"price_minor": 100 + (number + shift) % 900})

    with contextlib.closing(connection), repeated(change, per_second) as times:
        yield times


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
                    with price_changes(base, shelf, changes_per_second) if when == "changing" else contextlib.nullcontext([]) as changes:
                        before, start = processor_times(None)["postgres"], time.monotonic()
                        with concurrent.futures.ThreadPoolExecutor(servers) as executor:
                            reports = list(executor.map(loaded, range(PORT, PORT + servers)))
                        seconds = time.monotonic() - start
                        runs[name][when].append({
                            "p99": max(report["p99"] for report in reports), "changes": len(changes) / seconds,
                            "postgres": (processor_times(None)["postgres"] - before) / seconds,
                        })
    result = {name: {when: pages.median(found) for when, found in run.items()} for name, run in runs.items()}
    for name, found in result.items():
        quiet, changing = found["quiet"], found["changing"]
        print(f"{changing['changes']:.0f} price changes per second on a shelf of 30,000, {servers} servers, {name}: p99 {changing['p99']} ÷ {quiet['p99']} µs = "
              f"{changing['p99'] / quiet['p99']:.1f}; PostgreSQL {changing['postgres']:.2f} ÷ {quiet['postgres']:.2f} processors", flush=True)
    return result


def describe(found):
    """Returns the latencies of a run as text."""
    return f"p50 {found['p50']}, p99 {found['p99']} µs{', overloaded' if found['overloaded'] else ''}"


def load(rounds):
    """Compares pages of shelves in memory while a shelf of 30,000 is read in full again and again with such pages alone."""
    runs = {name: [] for name in PROGRAMS}
    for turn in range(rounds):
        for name, program in turns(turn):
            base = database("big", name)
            shelf = shelf_near(base, 30_000)
            write_paths("others", sorted_pages(shelves_near(base, 120, 60)))
            with served(base, program=program, AISLE_ADMIN_PORT=str(ADMIN_PORT)), session(base) as execute:
                connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)

                def read_large(number):
                    execute(unrecorded(shelf))
                    send(connection, "GET", f"{STORE}/{shelf}/products?limit=24&sort={pages.SORTS[number % 10]}")

                read_in_turn("others")
                # Afterwards, the server does not store the image of the shelf again within ten minutes.
                read_large(0)
                settle(base, lambda: pages.load(seconds=SECONDS_EACH, paths="others"))
                capacity = pages.load(seconds=SECONDS_EACH, paths="others")["rate"]
                found = {"capacity": capacity}
                for when in ("quiet", "loading")[::-1 if turn % 2 else 1]:
                    reads = shelf_reads("whole")
                    with repeated(read_large) if when == "loading" else contextlib.nullcontext([]) as times:
                        found[when] = pages.load(seconds=2 * SECONDS_EACH, rate=0.3 * capacity, paths="others")
                    found[when] |= {"times": len(times), "whole reads": shelf_reads("whole") - reads, "seconds": statistics.median(times) if times else None}
                connection.close()
                if name == "this":
                    assert found["quiet"]["whole reads"] == 0 and found["loading"]["whole reads"] >= found["loading"]["times"], found
            runs[name].append(found)
    result = {}
    for name, found in runs.items():
        last = found[-1]["loading"]
        print(f"    {name}: quiet {describe(found[-1]['quiet'])}; {last['times']} pages of the large shelf, each in {last['seconds'] * 1000:.0f} ms, {last['whole reads']:.0f} full reads: "
              f"{describe(last)}; {found[-1]['capacity']:,.0f} pages per second", flush=True)
        result[name] = compare(f"p99 of other pages at 30 % of the capacity while a shelf of 30,000 loads ÷ quiet, {name}, µs",
                               [one["loading"]["p99"] for one in found], [one["quiet"]["p99"] for one in found], "≤ 1.5")
    return result | {"runs": runs}


def imports(rounds, shelves=200, size=100):
    """Compares pages of a store while its 20,000 products are imported again and again, each time with other prices, with those of the other program."""
    runs, capacities = {name: [] for name in PROGRAMS}, {}
    for shift in range(2):
        catalog_file(f"{FOLDER}/store-{shift}.csv", shelves, size, shift)
    write_paths("store", sorted_pages(f"shelf-{number}" for number in range(shelves)))

    @contextlib.contextmanager
    def warm_server(name, program):
        with served(database("import", name), program=program):
            pages.load(seconds=SECONDS_EACH, paths="store")
            yield

    for turn in range(rounds):
        for name, program in turns(turn):
            base = database("import", name)
            # Old versions of rows would make later rounds slower.
            fresh(base, program)
            run(*import_words(program, f"{FOLDER}/store-0.csv", base))
            sql(base, "VACUUM ANALYZE")
            if name not in capacities:
                with warm_server(name, program):
                    capacities[name] = pages.load(seconds=SECONDS_EACH, paths="store")["rate"]
        # The same for both programs.
        rate = 0.3 * min(capacities.values())
        for name, program in turns(turn):
            base = database("import", name)
            with warm_server(name, program):
                found = {"quiet": pages.load(seconds=SECONDS_EACH, rate=rate, paths="store")}
                with repeated(lambda number: run(*import_words(program, f"{FOLDER}/store-{(number + 1) % 2}.csv", base))) as times:
                    found["importing"] = pages.load(seconds=3 * SECONDS_EACH, rate=rate, paths="store")
                found["importing"] |= {"times": len(times), "seconds": statistics.median(times)}
            assert int(sql(base, "SELECT count(*) FROM placement")) == shelves * size
            runs[name].append(found)
    result = {}
    for name, found in runs.items():
        last = found[-1]["importing"]
        print(f"    {name}, {rate:,.0f} pages per second: quiet {describe(found[-1]['quiet'])}; {last['times']} imports, each in {last['seconds']:.1f} s: {describe(last)}", flush=True)
        result[f"{name} ÷ quiet"] = compare(f"p99 of pages during imports of their store ÷ quiet, {name}, µs", [one["importing"]["p99"] for one in found], [one["quiet"]["p99"] for one in found], "")
    if "other" in PROGRAMS:
        result["÷ other"] = compare("p99 of pages during imports of their store ÷ the other program, µs", *([one["importing"]["p99"] for one in found] for found in runs.values()), "≤ 1.5")
    return result | {"runs": runs}


def capacity(rounds):
    """Compares p99 with p50 at 70 % of the capacity of pages in ten sorts."""
    runs = {name: [] for name in PROGRAMS}
    pages.write_paths()
    for turn in range(rounds):
        for name, program in turns(turn):
            base = database("big", name)
            with served(base, program=program):
                read_in_turn("paths")
                settle(base, lambda: pages.load(seconds=SECONDS_EACH))
                rate = pages.load(seconds=2 * SECONDS_EACH)["rate"]
                runs[name].append({"capacity": rate} | pages.load(seconds=3 * SECONDS_EACH, rate=0.7 * rate))
    result = {}
    for name, found in runs.items():
        print(f"    {name}, {found[-1]['capacity']:,.0f} pages per second, at 70 %: {describe(found[-1])}", flush=True)
        result[name] = compare(f"p99 ÷ p50 at 70 % of the capacity, {name}, µs", [math.inf if one["overloaded"] else one["p99"] for one in found], [one["p50"] for one in found], "≤ 5")
    return result | {"runs": runs}


def restart(rounds, restarts=5):
    """Compares the first page after a restart with warm ones, over one connection that was opened before."""
    runs = {name: [] for name in PROGRAMS}
    pages.write_paths()
    with open(f"{FOLDER}/paths") as file:
        # The most popular page of each of the most popular shelves.
        paths = file.read().split()[:10 * restarts:10]
    for turn in range(rounds):
        for name, program in turns(turn):
            base = database("big", name)
            with served(base, program=program):
                read_in_turn("paths")
                settle(base, lambda: pages.load(seconds=SECONDS_EACH))
            for path in paths:
                with served(base, program=program, interval=0.005):
                    connection = http.client.HTTPConnection("127.0.0.1", PORT)
                    send(connection, "GET", "/livez")
                    times = [timed(connection, path) for _ in range(200)]
                    connection.close()
                runs[name].append({"first": times[0], "second": times[1], "warm": statistics.median(times[100:])})
    result = {name: compare(f"the first page after a restart ÷ a warm one, {name}, µs", [one["first"] for one in found], [one["warm"] for one in found], "≤ 3") for name, found in runs.items()}
    return result | {"runs": runs}


def memory_use(rounds, count=2000):
    """Measures the bytes per placement of shelves of 100, and the resident memory after many evictions relative to the limit."""
    runs, bytes_each, result, program = [], [], {}, PROGRAMS["this"]
    base, empty = tail("this", program), database("empty", "this")
    for _ in range(rounds):
        bytes_each.append(bytes_per_placement(base, count))
        if exists(empty):
            run(program, "db", "migrate", "--dsn", f"{DSN} dbname={empty}")
        else:
            fresh(empty, program)
        settings = {"AISLE_SHELF_MEMORY": str(LIMIT), "AISLE_PAGE_CACHE_MB": "0", "AISLE_ADMIN_PORT": str(ADMIN_PORT)}
        with served(empty, program=program, **settings) as server:
            write_paths("churn", ["/livez"])
            pages.load(seconds=SECONDS_EACH, paths="churn")
            found = {"empty": memory(server)}
        with served(base, program=program, **settings) as server:
            sizes = evict(server, EVICTION_SECONDS)
            found |= {"resident": sizes[-1], "largest": max(sizes), "sizes": sizes}
            found |= {metric: value for metric, value in metrics().items() if metric.startswith(("aisle_shelf_evictions_total", "aisle_shelf_memory_bytes"))}
        runs.append(found)
    last = runs[-1]
    evictions = sum(value for metric, value in last.items() if metric.startswith("aisle_shelf_evictions_total"))
    print(f"    {last['empty']:.0f} MB without shelves; {last['resident']:.0f} MB, at most {last['largest']:.0f} MB, after {EVICTION_SECONDS:.0f} s with {evictions:,.0f} evictions", flush=True)
    placed = {figure: [one[figure] for one in bytes_each] for figure in ("bytes", "placements")}
    result["bytes per placement"] = compare("bytes of shelves of 100 ÷ placements", placed["bytes"], placed["placements"], "≤ 240")
    for figure in ("resident", "largest"):
        result[f"{figure} ÷ limit"] = compare(f"{figure} memory beyond that without shelves ÷ AISLE_SHELF_MEMORY, MB", [one[figure] - one["empty"] for one in runs],
                                              [LIMIT] * len(runs), "≤ 1.25" if figure == "resident" else "")
    return result | {"runs": runs, "shelves": bytes_each}


def bytes_per_placement(base, count):
    """Reads shelves of 100 into memory; returns the size of all shelves, and the number of their placements."""
    with served(base, AISLE_PAGE_CACHE_MB="0", AISLE_ADMIN_PORT=str(ADMIN_PORT)):
        connection = http.client.HTTPConnection("127.0.0.1", PORT)
        for number in range(count):
            send(connection, "GET", f"{STORE}/shelf-{number}/products?limit=24&sort=price")
        connection.close()
        found = metrics()
    assert found["aisle_shelves_in_memory"] >= count, found["aisle_shelves_in_memory"]
    return {"bytes": found['aisle_shelf_memory_bytes{kind="shelves"}'], "placements": found["aisle_shelves_in_memory"] * TAIL_SIZE,
            "views": found['aisle_shelf_memory_bytes{kind="views"}'], "facets": found['aisle_shelf_memory_bytes{kind="facets"}']}


def evict(server, seconds):
    """Reads pages of the shelves of `tail`, others of which are popular every few seconds; returns the resident memory after each time."""
    end, sizes, chosen = time.monotonic() + seconds, [], random.Random(1)
    while time.monotonic() < end:
        paths = sorted_pages(f"shelf-{number}" for number in range(TAIL_SHELVES))
        chosen.shuffle(paths)
        write_paths("churn", paths)
        pages.load(seconds=min(2 * SECONDS_EACH, 5), paths="churn", seed=len(sizes), warm_up=0)
        sizes.append(memory(server))
    return sizes
