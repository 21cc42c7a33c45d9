"""Compares the re-sort of a million products on 10,000 shelves with equivalent plain SQL, and with version 0.1.0.

AISLE_BENCH_OLD is the path of the program of 0.1.0; without it, only plain SQL is compared.
"""
import os, subprocess, time
import pages
from harness import *

EVENTS = int(os.environ.get("AISLE_BENCH_EVENTS", "10000000"))
OLD = os.environ.get("AISLE_BENCH_OLD")
PRODUCTS = 1_000_000


class Night:
    """A database with a million products, and the program that re-sorts it."""

    def __init__(self, database, aisle):
        self.database, self.aisle, self.dsn = database, aisle, f"{DSN} dbname={database}"
        self.is_new, self.reports = aisle == AISLE, 0

    def sql(self, text):
        return sql(self.database, text)

    def fill(self):
        self.sql_postgres(f"DROP DATABASE IF EXISTS {self.database} WITH (FORCE)")
        self.sql_postgres(f"CREATE DATABASE {self.database} TEMPLATE template0 LOCALE 'C.UTF-8' ENCODING 'UTF8'")
        run(self.aisle, "db", "migrate", "--dsn", self.dsn)
        run(self.aisle, "seed", "--dsn", self.dsn, "--shelves", "10000", "--products", str(PRODUCTS), "--seed", "7")
        self.sql("VACUUM ANALYZE")

    @staticmethod
    def sql_postgres(text):
        sql("postgres", text)

    def measured(self, work):
        """Returns the seconds, the bytes of WAL without full-page images, and the result of some work."""
        self.sql("CHECKPOINT")
        start = self.wal()
        began = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - began
        return seconds, self.wal() - start, result

    def wal(self):
        return int(self.sql("SELECT pg_stat_force_next_flush(); SELECT wal_bytes FROM pg_stat_wal").splitlines()[-1])

    def resort(self, jobs=1, *words):
        """Runs the command; returns its peak memory in bytes and its last output line."""
        words = [self.aisle, "resort", "--all", "--diff", "none", "--jobs", str(jobs), *words, "--dsn", self.dsn]
        memory, said = run_measured(words)
        return memory, said.splitlines()[-1]

    def report(self, events, every):
        """Records random purchases of every `every`-th product, others each time."""
        self.reports += 1
        cell = "get_byte(sha256(convert_to(sku, 'UTF8')), 0) % 4 + (SELECT min(cell) FROM purchase_cell WHERE state = 'open')"
        first, columns = (f"{cell}, ", "cell, ") if self.is_new else ("", "")
        self.sql(f"""SELECT setseed({self.reports / 100}); INSERT INTO purchase_inbox ({columns}store_id, sku, day, customer, quantity)
            SELECT {first}e.* FROM (SELECT s.store_id, 'g' || (1 + {every} * floor({PRODUCTS // every} * random() ^ 3)::int) AS sku,
                current_date - (60 * random() ^ 2)::int, decode(md5((floor(200000 * random()))::text), 'hex'), 1
                FROM store s, generate_series(1, {events})) e""")
        self.sql("VACUUM ANALYZE purchase_inbox")

    def sourced(self, sort):
        self.sql(f"UPDATE shelf SET position_source = '{sort}', version = version + 1")

    def bare(self, rows):
        """Deletes and reinserts position rows and index entries with reversed keys."""
        self.sql(f"""DROP TABLE IF EXISTS bare; CREATE TABLE bare (LIKE placement_position INCLUDING ALL);
            INSERT INTO bare (store_id, shelf_id, sku, key) SELECT store_id, shelf_id, sku, key FROM placement_position
                WHERE NOT is_removed LIMIT {rows};
            DROP TABLE IF EXISTS turned; CREATE TABLE turned AS SELECT a.store_id, a.shelf_id, a.sku, b.key FROM
                (SELECT *, row_number() OVER (PARTITION BY shelf_id ORDER BY key) AS n FROM bare) a JOIN
                (SELECT shelf_id, key, row_number() OVER (PARTITION BY shelf_id ORDER BY key DESC) AS n FROM bare) b
                USING (shelf_id, n)""")
        self.sql("VACUUM ANALYZE bare")
        self.sql("ANALYZE turned")
        return self.measured(lambda: self.sql("BEGIN; DELETE FROM bare; "
            "INSERT INTO bare (store_id, shelf_id, sku, key) SELECT * FROM turned ORDER BY shelf_id, key; COMMIT"))


def line(what, seconds, wal, result=None):
    memory = f"{result[0] / 1e6:10.0f}" if result else f"{'':10}"
    print(f"{what:52}{seconds:10.2f}{wal / 1e6:12.1f}{memory}   {result[1] if result else ''}", flush=True)


def moved(result):
    return int(re.search(r"moved (\d+)", result[1]).group(1))


def fold(night, jobs):
    """Folds and scores random purchases of a database without any; returns the seconds and the bytes of WAL."""
    night.fill()
    night.resort(2)
    night.report(EVENTS, 1)
    seconds, wal, result = night.measured(lambda: night.resort(jobs))
    line(f"fold and score {EVENTS:,} purchases, {jobs} job{'s'[:jobs - 1]}{'' if night.is_new else ', 0.1.0'}", seconds, wal, result)
    return seconds, wal


def nights(night):
    """Measures nights with one job and with two; returns the seconds and the bytes of WAL of the first."""
    night.sourced("-popularity")
    night.resort(2)
    night.sql("VACUUM ANALYZE")
    measured = []
    for jobs in (1, 2):
        night.report(150_000, 20)
        seconds, wal, result = night.measured(lambda: night.resort(jobs))
        line(f"a night: 5 % of the products bought, {jobs} job{'s'[:jobs - 1]}{'' if night.is_new else ', 0.1.0'}", seconds, wal, result)
        measured.append((seconds, wal))
    return measured[0]


def rebakes(night):
    for jobs, sort in ((1, "-popularity"), (2, "name"), (1, "-popularity"), (2, "-name")):
        night.sourced(sort)
        seconds, wal, result = night.measured(lambda: night.resort(jobs))
        line(f"full re-bake from {sort}, {jobs} job{'s'[:jobs - 1]}", seconds, wal, result)
        if jobs == 1:
            whole, moves = seconds, moved(result)
        elif sort == "name":
            halved = seconds
        night.sql("VACUUM ANALYZE")
    seconds, wal, result = night.measured(lambda: night.resort(1))
    line("the same with nothing changed", seconds, wal, result)
    print(f"    nothing changed ÷ full re-sort: {seconds / whole:.3f} (aim: ≤ 0.33), WAL {wal / 1e6:.2f} MB (aim: < 1)")
    bare_seconds, bare_wal, _ = night.bare(moves)
    line(f"bare delete and insert of as many rows, {moves:,}", bare_seconds, bare_wal)
    print(f"    full re-sort ÷ plain SQL: {whole / bare_seconds:.2f} by one job, {halved / bare_seconds:.2f} by two (aim: ≤ 1.2)")


def prices(night):
    night.sourced("price")
    night.resort(2)
    night.sql("VACUUM ANALYZE")
    rows = "".join(f"g{n * 997 % PRODUCTS + 1},{n % 97}.{n % 10}9\n" for n in range(1000))
    with open(f"{FOLDER}/prices.csv", "w") as file:
        file.write("sku,price\n" + rows)
    run(AISLE, "prices", "import", f"{FOLDER}/prices.csv", "--store", "generated", "--dsn", night.dsn)
    line("re-bake from price, 0.1 % of the prices changed", *night.measured(lambda: night.resort(1)))


def pages_meanwhile(night, pace, rate=2000):
    """Compares the latency of pages, in an open loop, during a re-sort of everything with that of pages alone."""
    pages.write_paths()
    ratios = []
    with served(night.database):
        for sort in ("name", "price", "-name"):
            alone = pages.load(rate=rate)
            night.sourced(sort)
            words = [AISLE, "resort", "--all", "--diff", "none", "--jobs", "1", "--pace", str(pace), "--dsn", night.dsn]
            work = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=FOLDER)
            meanwhile = pages.load(rate=rate, warm_up=0)
            # The next re-sort completes a slow one.
            work.terminate()
            work.wait()
            ratios.append((meanwhile["p99"] / alone["p99"], alone["p99"], meanwhile["p99"]))
    ratio, alone, meanwhile = sorted(ratios)[1]
    print(f"p99 of {rate:,} pages per second: {alone / 1000:.1f} ms alone, {meanwhile / 1000:.1f} ms during a re-sort of everything "
          f"at pace {pace}, ratio {ratio:.1f} (aim: ≤ 3)", flush=True)


def all():
    # Full-page images depend on when checkpoints happen.
    sql("postgres", "ALTER SYSTEM SET full_page_writes = off")
    sql("postgres", "SELECT pg_reload_conf()")
    print(f"{'the re-sort; seconds, MB of WAL, peak MB of the command':52}{'s':>10}{'WAL':>12}{'memory':>10}")
    new, old = Night("night", AISLE), OLD and Night("night_old", os.path.abspath(OLD))
    two, _ = fold(new, 2)
    one, wal = fold(new, 1)
    if old:
        before, before_wal = fold(old, 1)
        print(f"    purchases ÷ 0.1.0: {one / before:.2f} by one job (aim: ≤ 0.6), {two / before:.2f} by two (aim: ≤ 0.35), "
              f"WAL {wal / before_wal:.2f} (aim: ≤ 0.5)")
    new.sql("VACUUM ANALYZE")
    rebakes(new)
    prices(new)
    for pace in (100, 25):
        pages_meanwhile(new, pace)
    new.resort(2)
    night, night_wal = nights(new)
    if old:
        old.sql("VACUUM ANALYZE")
        before, before_wal = nights(old)
        print(f"    a night ÷ 0.1.0: {night / before:.2f} (aim: ≤ 0.4), WAL {night_wal / before_wal:.2f}")
