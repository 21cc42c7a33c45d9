"""Compares the re-sort of a million products on 10,000 shelves with equivalent plain SQL."""
import os, resource, subprocess, time
from harness import *

EVENTS = int(os.environ.get("AISLE_BENCH_EVENTS", "10000000"))


def measured(work):
    """Returns the seconds and the WAL bytes of some work."""
    sql("night", "CHECKPOINT")
    start, began = sql("night", "SELECT pg_current_wal_insert_lsn()"), time.perf_counter()
    result = work()
    seconds = time.perf_counter() - began
    return seconds, int(sql("night", f"SELECT pg_current_wal_insert_lsn() - '{start}'::pg_lsn")), result


def resort(jobs=1, *words):
    """Runs the command; returns its peak memory in bytes and its last output line."""
    process = subprocess.Popen([AISLE, "resort", "--all", "--diff", "none", "--jobs", str(jobs), *words, "--dsn", f"{DSN} dbname=night"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=FOLDER)
    said = process.stderr.read().strip()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, said
    return usage.ru_maxrss * 1024, said.splitlines()[-1]


def line(what, seconds, wal, result=None):
    memory = f"{result[0] / 1e6:10.0f}" if result else f"{'':10}"
    print(f"{what:52}{seconds:10.2f}{wal / 1e6:12.1f}{memory}   {result[1] if result else ''}", flush=True)


def report(events, every):
    """Records random purchases of every `every`-th product."""
    sql("night", f"""INSERT INTO purchase_inbox (store_id, sku, day, customer, quantity)
        SELECT s.store_id, 'g' || (1 + {every} * floor({1_000_000 // every} * random() ^ 3)::int), current_date - (60 * random() ^ 2)::int,
            decode(md5((floor(200000 * random()))::text), 'hex'), 1
        FROM store s, generate_series(1, {events})""")


def sourced(sort):
    sql("night", f"UPDATE shelf SET position_source = '{sort}', version = version + 1")


def bare(rows):
    """Deletes and reinserts position rows and index entries with reversed keys."""
    sql("night", f"""DROP TABLE IF EXISTS bare; CREATE TABLE bare (LIKE placement_position INCLUDING ALL);
        INSERT INTO bare (store_id, shelf_id, sku, key) SELECT store_id, shelf_id, sku, key FROM placement_position
            WHERE NOT is_removed LIMIT {rows};
        DROP TABLE IF EXISTS turned; CREATE TABLE turned AS SELECT a.store_id, a.shelf_id, a.sku, b.key FROM
            (SELECT *, row_number() OVER (PARTITION BY shelf_id ORDER BY key) AS n FROM bare) a JOIN
            (SELECT shelf_id, key, row_number() OVER (PARTITION BY shelf_id ORDER BY key DESC) AS n FROM bare) b
            USING (shelf_id, n); VACUUM ANALYZE bare; ANALYZE turned""")
    return measured(lambda: sql("night", "BEGIN; DELETE FROM bare; INSERT INTO bare (store_id, shelf_id, sku, key) SELECT * FROM turned ORDER BY shelf_id, key; COMMIT"))


def moved(result):
    return int(re.search(r"moved (\d+)", result[1]).group(1))


def all():
    fresh("night")
    run(AISLE, "seed", "--dsn", f"{DSN} dbname=night", "--shelves", "10000", "--products", "1000000", "--seed", "7")
    sql("night", "VACUUM ANALYZE")
    print(f"{'the re-sort; seconds, MB of WAL, peak MB of the command':52}{'s':>10}{'WAL':>12}{'memory':>10}")
    line("the first look at every shelf", *measured(lambda: resort(1)))
    report(EVENTS, 1)
    sql("night", "VACUUM ANALYZE purchase_inbox")
    line(f"fold and score {EVENTS:,} purchases", *measured(lambda: resort(1)))
    sql("night", "VACUUM ANALYZE")
    for jobs, sort in ((1, "-popularity"), (2, "name"), (1, "-popularity"), (2, "-name")):
        sourced(sort)
        seconds, wal, result = measured(lambda: resort(jobs))
        line(f"full re-bake from {sort}, {jobs} job{'s'[:jobs - 1]}", seconds, wal, result)
        if jobs == 1:
            whole, moves = seconds, moved(result)
        elif sort == "name":
            halved = seconds
        sql("night", "VACUUM ANALYZE")
    seconds, wal, result = measured(lambda: resort(1))
    line("the same with nothing changed", seconds, wal, result)
    print(f"    nothing changed ÷ full re-sort: {seconds / whole:.3f} (aim: ≤ 0.33), WAL {wal / 1e6:.2f} MB (aim: < 1)")
    bare_seconds, bare_wal, _ = bare(moves)
    line(f"bare delete and insert of as many rows, {moves:,}", bare_seconds, bare_wal)
    print(f"    full re-sort ÷ plain SQL: {whole / bare_seconds:.2f} by one job, {halved / bare_seconds:.2f} by two (aim: ≤ 1.2)")
    sourced("price")
    resort(2)
    sql("night", "VACUUM ANALYZE")
    prices = "".join(f"g{n * 997 % 1_000_000 + 1},{n % 97}.{n % 10}9\n" for n in range(1000))
    with open(f"{FOLDER}/prices.csv", "w") as file:
        file.write("sku,price\n" + prices)
    run(AISLE, "prices", "import", f"{FOLDER}/prices.csv", "--store", "generated", "--dsn", f"{DSN} dbname=night")
    line("re-bake from price, 0.1 % of the prices changed", *measured(lambda: resort(1)))
    sourced("-popularity")
    resort(2)
    sql("night", "VACUUM ANALYZE")
    for jobs in (1, 2):
        report(150_000, 20)
        line(f"a night: 5 % of the products bought, {jobs} job{'s'[:jobs - 1]}", *measured(lambda: resort(jobs)))
