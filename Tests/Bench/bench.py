#!/usr/bin/env python3
"""Benchmarks: each figure is the ratio of two measurements, alternated in one run on this machine.

Usage: bench.py AISLE [CSV]    AISLE: the release executable; CSV: a catalog file to import.
"""
import http.client, json, os, re, statistics, subprocess, sys, time

import abuse, attributes, filters, pages, reports, resort, searches, shelves, titles, users
from harness import *

# The number of rows of the largest import.
ROWS = int(os.environ.get("AISLE_BENCH_ROWS", "1000000"))
CSV = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
def imports():
    """Compares imports of a real file (new, repeated, and with 1 % changed) with a plain INSERT … SELECT of the same rows."""
    times = {"bare": [], "first": [], "again": [], "changed": []}
    lines = open(CSV, encoding="utf-8").read().split("\n")
    price = lines[0].split(",").index("price")
    changed = []
    for number, line in enumerate(lines):
        fields = line.split(",")
        if number % 100 == 1 and '"' not in line and len(fields) > price:
            fields[price] = "77.77"
        changed.append(",".join(fields))
    with open(f"{FOLDER}/changed.csv", "w", encoding="utf-8") as file:
        file.write("\n".join(changed))
    for _ in range(ROUNDS):
        fresh("source")
        for name, path in [("first", CSV), ("again", CSV), ("changed", f"{FOLDER}/changed.csv")]:
            start = time.time()
            run(AISLE, "import", path, "--create-store", "--dsn", f"{DSN} dbname=source")
            times[name].append(time.time() - start)
        fresh("bare")
        times["bare"].append(bare())
    bare_time = statistics.median(times["bare"])
    show("first import ÷ bare INSERT … SELECT, s", statistics.median(times["first"]), bare_time, "≤ 1.2")
    show("unchanged import ÷ bare, s", statistics.median(times["again"]), bare_time, "≤ 0.2")
    show("import with 1 % changed ÷ bare, s", statistics.median(times["changed"]), bare_time, "")


def large_imports():
    """Compares imports of many generated rows, in ten stores and in one, with a plain INSERT … SELECT of the same rows."""
    for stores in (10, 1):
        path = f"{FOLDER}/large.csv"

        def import_with(shift):
            """Imports the rows, whose prices depend on the shift; returns the seconds and the peak memory."""
            with open(path, "w") as file:
                file.write("store,shelf,sku,name,brand,price,currency,size\n")
                for number in range(ROWS):
                    file.write(f"s{number % stores},Shelf {number // stores % 500},p{number // stores},Product {number * 7919 % 999983},"
                               f"Brand {number % 3000},{number % 97}.{(number + shift) % 90 + 10},EUR,{number % 900 + 100} g\n")
            start = time.time()
            memory, _ = run_measured([AISLE, "import", path, "--create-store", "--max-new-shelves", "5000", "--dsn", f"{DSN} dbname=source"])
            seconds = time.time() - start
            os.remove(path)
            return seconds, memory

        fresh("source")
        seconds, memory = import_with(0)
        fresh("bare")
        show(f"import of {ROWS:,} rows in {stores} store{'s'[:stores - 1]} ÷ bare, s", seconds, bare(), "≤ 1.2")
        print(f"    peak memory of the command: {memory / (1 << 20):.0f} MB", flush=True)
        # Twice: the first one leaves as many dead rows as there are rows.
        changed = max(import_with(shift)[0] for shift in (1, 2))
        show("    the same with other prices ÷ first import, s", changed, seconds, "")
        for database in ("source", "bare"):
            sql("postgres", f"DROP DATABASE {database} WITH (FORCE)")


def bare():
    script = "BEGIN;\n"
    for table in ["store", "store_state", "shelf", "product", "placement", "placement_position"]:
        columns = sql("bare", f"SELECT string_agg(column_name, ', ' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = '{table}' AND is_generated = 'NEVER'")
        staged = "public" if table in ("store", "store_state", "shelf") else "stage"
        if staged == "stage":
            sql("bare", f"CREATE SCHEMA IF NOT EXISTS stage; CREATE TABLE stage.{table} AS SELECT {columns} FROM {table} WHERE false")
            script += f"INSERT INTO {table} ({columns}) SELECT {columns} FROM stage.{table};\n"
        copy = subprocess.Popen(["psql", f"{DSN} dbname=source", "-qc", f"COPY (SELECT {columns} FROM {table}) TO STDOUT"], stdout=subprocess.PIPE)
        subprocess.run(["psql", f"{DSN} dbname=bare", "-qc", f"COPY {staged}.{table} ({columns}) FROM STDIN"], stdin=copy.stdout, check=True)
        copy.wait()
    sql("bare", "ANALYZE")
    start = time.time()
    sql("bare", script + "COMMIT;")
    return time.time() - start


def key(number):
    """Returns a path key of one part in the encoding of PathKey (up to 269,488,191)."""
    for length, head, least, count in ((1, 0x80, 0, 64), (2, 0xC0, 64, 1 << 12), (3, 0xD0, 4160, 1 << 20), (4, 0xE0, 1052736, 1 << 28)):
        if number < least + count:
            return (number - least + (head << 8 * (length - 1))).to_bytes(length, "big").hex()


def median_of_transactions(start):
    """Returns the median WAL bytes of transactions with more than one record since a position."""
    sql("big", "CREATE EXTENSION IF NOT EXISTS pg_walinspect")
    return float(sql("big", f"""SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY bytes) FROM (
        SELECT xid, sum(record_length) AS bytes FROM pg_get_wal_records_info_till_end_of_wal('{start}')
        WHERE xid <> '0' GROUP BY xid HAVING count(*) > 1) t"""))


def moves():
    """Compares moves on a shelf of 100,000 over HTTP with shifting integer positions in SQL, as acts_as_list does."""
    shelf = "/v1/stores/generated/shelves/shelf-1"
    writer = token("merchandiser", "catalog:write")
    headers = {"content-type": "application/json", "authorization": f"Bearer {writer}"}
    with served("big", "options='-c synchronous_commit=off'"):
        connection = http.client.HTTPConnection("127.0.0.1", PORT)
        connection.request("GET", shelf + "/order?sort=position")
        ids = json.loads(connection.getresponse().read())["ids"]
        movers = ids[1000:1064]

        def move(product, after):
            start = time.perf_counter()
            connection.request("POST", shelf + "/order/moves", json.dumps({"moves": [{"ids": [product], "after": after}]}), headers)
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200, body
            return time.perf_counter() - start

        for product in movers * 8:
            move(product, ids[0])
        start = lsn()
        times = [move(product, ids[0]) for product in movers * 8]
        ours, whole = statistics.median(times) * 1000, bytes_since(start) / len(times)
        wal = median_of_transactions(start)

        with open(f"{FOLDER}/move.lua", "w") as file:
            names = ",".join(f'"{product}"' for product in movers)
            file.write(f"""local movers = {{{names}}}
local n = 0
request = function()
    n = n + 1
    local target = n % 2 == 0 and '"after":"{ids[0]}"' or '"before":"{ids[1]}"'
    return wrk.format("POST", "{shelf}/order/moves", {{["content-type"] = "application/json", ["authorization"] = "Bearer {writer}"}},
        '{{"moves":[{{"ids":["' .. movers[1 + n % #movers] .. '"],' .. target .. '}}]}}')
end
""")
        rate_of_eight = wrk(BASE, "move.lua", clients=8)
    sql("big", "DROP TABLE IF EXISTS integers; CREATE TABLE integers (list integer, id text, position integer NOT NULL, PRIMARY KEY (list, id)); INSERT INTO integers SELECT 1, n::text, n FROM generate_series(1, 100000) n; CREATE INDEX ON integers (list, position); VACUUM ANALYZE integers")
    shifting, start = [], lsn()
    for n in range(5):
        script = f"BEGIN; UPDATE integers SET position = position + 1 WHERE list = 1 AND position > 1 AND position < {90000 + n}; UPDATE integers SET position = 2 WHERE list = 1 AND id = '{90000 + n}'; COMMIT;"
        began = time.perf_counter()
        sql("big", script)
        shifting.append(time.perf_counter() - began)
    theirs_wal = bytes_since(start) / 5
    print(f"{'a move on a shelf of 100,000':32}{'path keys, over HTTP':>24}{'shifted integers, in SQL':>28}")
    print(f"{'median, ms':32}{ours:24,.2f}{statistics.median(shifting) * 1000:28,.0f}")
    print(f"{'WAL, median bytes (aim: ≤ 450)':32}{wal:24,.0f}{theirs_wal:28,.0f}")
    print(f"{'total WAL per move with notices':32}{whole:24,.0f}{'–':>28}")
    print(f"{'8 clients, moves/s (≥ 1,000)':32}{rate_of_eight:24,.0f}{'–':>28}")
    sql("big", "DROP TABLE integers")


def million():
    """Counts the buffers of a page of ids in the middle of a manual order of a million."""
    store = sql("big", "SELECT store_id FROM store")
    if sql("big", "SELECT 1 FROM shelf WHERE key = 'million'") != "1":
        sql("big", f"INSERT INTO shelf (store_id, shelf_id, key, title, title_key, position, modified_at) SELECT {store}, max(shelf_id) + 1, 'million', 'Million', '', '\\xefffffff', now() FROM shelf WHERE store_id = {store}")
        shelf = sql("big", "SELECT shelf_id FROM shelf WHERE key = 'million'")
        rows = "".join(f"{store}\t{shelf}\tm{n}\t\\\\x{key(n * 16)}\n" for n in range(1_000_000))
        subprocess.run(["psql", f"{DSN} dbname=big", "-qc", "COPY placement_position (store_id, shelf_id, sku, key) FROM STDIN"], input=rows, text=True, check=True)
        sql("big", "VACUUM ANALYZE placement_position")
    shelf = sql("big", "SELECT shelf_id FROM shelf WHERE key = 'million'")
    plan = sql("big", f"EXPLAIN (ANALYZE, BUFFERS) SELECT o.sku FROM placement_position o WHERE o.store_id = {store} AND o.shelf_id = {shelf} AND NOT o.is_removed AND o.key > '\\x{key(8_000_000)}' ORDER BY o.key LIMIT 50")
    hits = re.search(r"Buffers: shared (?:hit=(\d+))?(?: ?read=(\d+))?", plan)
    print(f"50 ids in the middle of a million: {sum(int(n or 0) for n in hits.groups())} buffers (aim: ≤ 5)")


only = os.environ.get("AISLE_BENCH_ONLY", "imports large titles pages shelves filters attributes searches moves million users resort abuse reports").split()
try:
    if CSV and "imports" in only:
        imports()
    if "large" in only:
        large_imports()
    if "titles" in only:
        titles.all()
    if {"moves", "million"} & set(only):
        big()
    if "pages" in only:
        pages.all()
    if "shelves" in only:
        shelves.all()
    if "filters" in only:
        filters.all(CSV)
    if "attributes" in only:
        attributes.all()
    if "searches" in only:
        searches.all()
    if "moves" in only:
        moves()
    if "million" in only:
        million()
    if "users" in only:
        users.all()
    if "resort" in only:
        resort.all()
    if "abuse" in only:
        abuse.all()
    if "reports" in only:
        reports.all()
finally:
    run(AISLE, "db", "stop")
