"""Pages over HTTP: their rate and processor time relative to pgbench with the frozen statements of baseline.sql, and their latencies."""
import contextlib, itertools, json, os, platform, random, resource, statistics, subprocess, threading, time, urllib.request

import users
from harness import *

SORTS = ["price", "-price", "unit_price", "-unit_price", "-popularity", "popularity", "brand", "name", "-created", "tags"]
SHELVES, SKEW, SEED, CLIENTS = 250, 1.1, 1, 32
PAGE_ROUNDS = int(os.environ.get("AISLE_BENCH_ROUNDS", 5))
LOAD = os.path.join(os.path.dirname(AISLE), "PageLoad")
BASELINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "baseline.sql")
# The modes of the server: pages are rendered for each request, or remembered.
MODES = {"rendered": "0", "remembered": "32"}


def write_paths(shelves=SHELVES):
    """Writes the paths of the pages, from the most to the least popular, as baseline.sql ranks them."""
    ranks = range(shelves * len(SORTS))
    paths = [f"/v1/stores/generated/shelves/shelf-{1 + (77 + rank // 10 * 7919) % shelves}/products?limit=24&sort={SORTS[(rank + rank // 10) % 10]}" for rank in ranks]
    assert len(set(paths)) == len(ranks)
    with open(f"{FOLDER}/paths", "w") as file:
        file.write("\n".join(paths))


def load(seconds=SECONDS, clients=CLIENTS, rate=None, warm_up=1, seed=SEED, port=PORT, paths="paths"):
    """Runs the load generator, and returns its report; with a rate, requests are sent at fixed times."""
    words = [LOAD, "--port", str(port), "--paths", f"{FOLDER}/{paths}", "--skew", str(SKEW), "--seed", str(seed), "--connections", str(clients),
             "--seconds", str(seconds), "--warm-up", str(warm_up)] + (["--rate", str(rate)] if rate else [])
    report = json.loads(run(*words).stdout)
    assert set(report["statuses"]) <= {"200"} and report["lost"] == 0, report
    # A server that does not keep up: its latencies grow with the duration of the run.
    report["overloaded"] = bool(rate) and report["unanswered"] > rate / 10
    return report


def measured(server, **options):
    """Returns the report of the load generator, with the processor time per page of the server and of PostgreSQL in microseconds.

    That of opening the connections is included.
    """
    before = processor_times(server)
    report = load(**options)
    after = processor_times(server)
    return report | {name: (after[name] - before[name]) / report["completed"] * 1e6 for name in after}


def baseline(seconds=SECONDS):
    """Runs pgbench with the frozen statements, and returns its rate, and the processor time of PostgreSQL and pgbench per page."""
    store = sql("big", "SELECT store_id FROM store")
    variables = {"store": store, "first": sql("big", "SELECT min(shelf_id) FROM shelf"), "shelves": SHELVES, "skew": SKEW}
    words = ["pgbench", "-h", SOCKET, "-U", "aisle", "big", "-n", "-M", "prepared", "-c", "8", "-j", "2", "-T", str(seconds), f"--random-seed={SEED}", "-f", BASELINE]
    words += itertools.chain.from_iterable(("-D", f"{name}={value}") for name, value in variables.items())
    options = {**os.environ, "PGOPTIONS": "-c plan_cache_mode=force_generic_plan -c jit=off -c max_parallel_workers_per_gather=0"}
    # Like the load generator, pgbench has a second to warm up.
    run(*[word if word != str(seconds) else "1" for word in words], env=options)
    before, client = processor_times(None), children_time()
    output = run(*words, env=options).stdout
    count = rate(output, r"number of transactions actually processed: (\d+)")
    return {
        "rate": rate(output, r"tps = ([\d.]+)"), "postgres": (processor_times(None)["postgres"] - before["postgres"]) / count * 1e6,
        "generator": (children_time() - client) / count * 1e6,
    }


def children_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def median(reports):
    """Returns the median of each figure."""
    return {name: statistics.median(report[name] for report in reports) for name in reports[0] if isinstance(reports[0][name], (int, float))}


def baseline_tables():
    """Creates what the frozen statements read, unless an earlier run has."""
    if sql("big", "SELECT 1 FROM pg_namespace WHERE nspname = 'baseline'") != "1":
        run("psql", f"{DSN} dbname=big", "-qX", "-v", "ON_ERROR_STOP=1", "-f", os.path.join(os.path.dirname(BASELINE), "baseline_tables.sql"))


def throughput():
    """Compares pages with pgbench, in interleaved rounds."""
    runs = {name: [] for name in (*MODES, "pgbench")}
    baseline_tables()
    for _ in range(PAGE_ROUNDS):
        for name, cache in MODES.items():
            with served("big", AISLE_PAGE_CACHE_MB=cache) as server:
                runs[name].append(measured(server))
        runs["pgbench"].append(baseline())
    result = {name: median(reports) for name, reports in runs.items()}
    for name in MODES:
        result[name]["ratio"] = statistics.median(ours["rate"] / theirs["rate"] for ours, theirs in zip(runs[name], runs["pgbench"]))
        show(f"pages of 24 per second, {name}, ÷ pgbench", result[name]["rate"], result["pgbench"]["rate"], {"rendered": "≥ 0.60", "remembered": "≥ 1.2"}[name])
        print(f"    processor time per page: server {result[name]['server']:.0f}, PostgreSQL {result[name]['postgres']:.0f}, load generator {result[name]['generator']:.0f} µs")
    print(f"    pgbench: PostgreSQL {result['pgbench']['postgres']:.0f}, pgbench {result['pgbench']['generator']:.0f} µs", flush=True)
    return result


def latencies(capacity):
    """Measures latencies in an open loop at parts of the capacity, without and with price changes."""
    runs = {part: [] for part in (0.5, 0.7, 0.9)}
    for _ in range(ROUNDS):
        for part in runs:
            with served("big") as server:
                runs[part].append(measured(server, rate=capacity * part, seconds=8, warm_up=3))
    # A pause of the machine changes the percentiles of a whole run.
    result = {f"{part:.0%} of the capacity": sorted(reports, key=lambda report: report["p99"])[ROUNDS // 2] for part, reports in runs.items()}
    with served("big") as server, price_changes():
        result["70% of the capacity, with price changes"] = measured(server, rate=capacity * 0.7, seconds=8, warm_up=3)
    for name, report in result.items():
        aim = " (aim: p99 ≤ 5 × p50)" if name == "70% of the capacity" else ""
        print(f"latency at {name} ({capacity:,.0f} pages/s): p50 {report['p50']}, p99 {report['p99']}, p99.9 {report['p999']} µs; p99 ÷ p50 = {report['p99'] / report['p50']:.1f}{aim}{', overloaded' if report['overloaded'] else ''}", flush=True)
    return result


@contextlib.contextmanager
def price_changes(per_second=20, size=50):
    """Changes prices on the most popular shelves while the block runs."""
    with open(f"{FOLDER}/paths") as file:
        shelves = {line.split("/")[5] for line in file.readlines()[:500]}
    names = ",".join(f"'{name}'" for name in shelves)
    skus = sql("big", f"SELECT DISTINCT p.sku FROM placement p JOIN shelf s USING (store_id, shelf_id) WHERE s.key IN ({names})").split()
    writer = {"content-type": "application/json", "authorization": f"Bearer {token('writer', 'prices:write')}"}
    stop, failures, changes = threading.Event(), [], 0

    def change():
        nonlocal changes
        chosen = random.Random(SEED)
        while not stop.wait(1 / per_second):
            rows = [{"sku": sku, "price_minor": chosen.randrange(100, 1000)} for sku in chosen.sample(skus, size)]
            request = urllib.request.Request(f"{BASE}/v1/stores/generated/prices", json.dumps(rows).encode(), writer, method="POST")
            try:
                urllib.request.urlopen(request, timeout=30).read()
                changes += size
            except OSError as error:
                failures.append(error)
                return

    thread, begin = threading.Thread(target=change), time.perf_counter()
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        assert not failures, failures
        print(f"    {changes / (time.perf_counter() - begin):,.0f} prices changed per second, on {len(shelves)} popular shelves", flush=True)


def connections(capacity):
    """Measures latencies by the number of connections, at half the capacity."""
    result = {}
    for count in (100, 1000, 10_000):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 40_000), hard))
        with served("big", AISLE_CONNECTIONS="20000") as server:
            result[str(count)] = measured(server, rate=capacity * 0.5, clients=count, seconds=6, warm_up=4) | {"memory": memory(server)}
        report = result[str(count)]
        print(f"{count:,} connections, 50% of the capacity: p50 {report['p50']}, p99 {report['p99']} µs; server {report['server']:.0f} µs per page, {report['memory']:.0f} MB", flush=True)
    return result


def event_loops():
    """Compares the processor time of pages with four event loops and with one."""
    runs = {(mode, count): [] for mode in MODES for count in (1, 4)}
    for _ in range(ROUNDS):
        for mode, count in runs:
            with served("big", AISLE_PAGE_CACHE_MB=MODES[mode], AISLE_EVENT_LOOPS=str(count)) as server:
                report = measured(server)
                runs[mode, count].append(report["server"] + report["postgres"])
    result = {mode: {"one": statistics.median(runs[mode, 1]), "four": statistics.median(runs[mode, 4])} for mode in MODES}
    for mode, one in result.items():
        show(f"processor time of a page with 4 event loops ÷ with 1, {mode}, µs", one["four"], one["one"], "≤ 1.1")
    return result


def depth():
    """Compares a page at the end of the shelf of 100,000 products with the first one."""
    shelf = "/v1/stores/generated/shelves/shelf-1/products?sort=price"
    deep, top = [], []
    with served("big") as server:
        path = f"{shelf}&limit=100"
        for _ in range(990):
            with urllib.request.urlopen(BASE + path) as answer:
                path = re.search(r"<(.*?)>", answer.headers["Link"]).group(1)
        for _ in range(PAGE_ROUNDS):
            for found, address in ((top, f"{shelf}&limit=24"), (deep, path.replace("limit=100", "limit=24"))):
                before = processor_times(server)
                count = wrk(BASE + address, seconds=3) * 3
                found.append(sum(processor_times(server).values()) - sum(before.values()))
                found[-1] *= 1e6 / count
    result = {"deep": statistics.median(deep), "first": statistics.median(top)}
    show("a page at depth 99,000 ÷ the first page, processor µs", result["deep"], result["first"], "≤ 1.1")
    return result


def first_page():
    """Compares the first page after a restart of the server with a warm one."""
    cold, warm = [], []
    with open(f"{FOLDER}/paths") as file:
        path = BASE + file.readline().strip()
    for _ in range(PAGE_ROUNDS):
        with served("big"):
            times = []
            for _ in range(200):
                begin = time.perf_counter()
                urllib.request.urlopen(path).read()
                times.append((time.perf_counter() - begin) * 1e6)
            cold.append(times[0])
            warm.append(statistics.median(times[100:]))
    result = {"cold": statistics.median(cold), "warm": statistics.median(warm)}
    show("the first page after a restart ÷ a warm page, µs", result["cold"], result["warm"], "≤ 3")
    return result


def growth_of_memory(pages):
    """Measures the server's memory after many pages."""
    with served("big") as server:
        count = 0
        while count < pages:
            count += load(seconds=20, warm_up=0, seed=count)["requests"]
        result = {"pages": count, "memory": memory(server)}
    print(f"memory of the server after {count:,} pages: {result['memory']:.0f} MB (aim: ≤ 120)", flush=True)
    return result


def settings():
    """Returns the conditions of the measurement."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=os.path.dirname(BASELINE)).stdout.strip()
    with open("/proc/cpuinfo") as file:
        processor = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    return {
        "commit": commit, "date": time.strftime("%Y-%m-%d", time.gmtime()), "processor": processor, "processors": os.cpu_count(),
        "kernel": platform.release(), "postgres": sql("big", "SHOW server_version"), "shared_buffers": sql("big", "SHOW shared_buffers"),
        "products": int(sql("big", "SELECT count(*) FROM product")), "shelves": int(sql("big", "SELECT count(*) FROM shelf")), "pages": SHELVES * len(SORTS), "skew": SKEW, "seed": SEED,
        "rounds": PAGE_ROUNDS, "seconds": SECONDS, "connections": CLIENTS,
    }


def all():
    """Runs all measurements, and writes the results to pages.json."""
    big()
    write_paths()
    results = {"settings": settings(), "throughput": throughput()}
    capacity = results["throughput"]["remembered"]["rate"]
    results["latency"] = latencies(capacity)
    results["connections"] = connections(capacity)
    results["event_loops"] = event_loops()
    results["depth"] = depth()
    results["restart"] = first_page()
    results["users"] = {"writes": users.remembered(), "pages": users.pages_by_users()}
    results["memory"] = growth_of_memory(int(os.environ.get("AISLE_BENCH_PAGES", 1_000_000)))
    with open(f"{FOLDER}/pages.json", "w") as file:
        json.dump(results, file, indent=1, sort_keys=True)
    print(f"results: {FOLDER}/pages.json")
