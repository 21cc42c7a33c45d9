"""Measures the processor time of pages and moves on Citus clusters of 1, 2 and 4 workers, relative to plain PostgreSQL.

Usage: bench.py AISLE. Stores are spread over the workers. All servers share this machine, so only processor times are meaningful: those
of the aisle server, of the coordinator, and of all workers together, for each request. Pages are rendered and read for each request
(AISLE_PAGE_CACHE_MB=0).
"""

import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Faults"))

from cluster import Cluster  # noqa: E402
from harness import SECRET, Server, psql, send, status  # noqa: E402

AISLE = os.path.abspath(sys.argv[1])
STORES, PRODUCTS, PAGES, MOVES, THREADS, ROUNDS = 16, 500, 6000, 600, 4, 3
SORTS = ["price", "-price", "name", "-popularity", "position"]


def run(folder: str, dsn: str, *words: str) -> str:
    environment = {**os.environ, "AISLE_JWT_SECRET": SECRET, "DATABASE_URL": dsn}
    return subprocess.run([AISLE, *words], cwd=folder, capture_output=True, text=True, check=True, env=environment).stdout.strip()


def processor_time(postmaster: int) -> float:
    """Returns the processor time of a process and its children, also of those that have ended, in seconds."""
    ticks = 0
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(entry) == postmaster:
            ticks += sum(int(field) for field in fields[11:15])
        elif int(fields[1]) == postmaster:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Setup:
    """A database with stores, and a server."""

    def __init__(self, folder: str, cluster: Cluster, workers: int):
        self.cluster, self.workers, self.dsn = cluster, workers, cluster.dsn("bench")
        cluster.create_database("bench", citus=workers > 0)
        run(folder, self.dsn, "db", "migrate", *(["--citus"] if workers else []))
        self.server = Server(AISLE, folder, self.dsn, AISLE_PAGE_CACHE_MB="0")
        self.token = run(folder, self.dsn, "token", "--user", "bench", "--scope", "catalog:write")
        rows = "".join(f"P{number},Product {number % 97} {number},{1 + number * 37 % 500}.50,Shelf,{number * 13 % 100}\n" for number in range(PRODUCTS))
        for store in range(STORES):
            assert status(self.server.base, f"/v1/stores/store-{store}", "PUT", {"title": "Store", "currency": "EUR"}, self.token) == 201
            code, found = send(self.server.base, f"/v1/stores/store-{store}/imports", "POST", f"sku,name,price,shelf,popularity\n{rows}".encode(), self.token)
            assert code == 200, found
        cluster.sql("bench", "ANALYZE")

    def times(self) -> dict[str, float]:
        fields = Path(f"/proc/{self.server.process.pid}/stat").read_text().rpartition(")")[2].split()
        nodes = [processor_time(int((self.cluster.data(node) / "postmaster.pid").read_text().split()[0]))
                 for node in range(len(self.cluster.ports))]
        return {"server": (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), "coordinator": nodes[0], "workers": sum(nodes[1:])}

    def measure(self, count: int, request) -> dict[str, float]:
        """Sends requests from several threads; returns the processor times per request in microseconds."""
        failures: list[object] = []

        def work(thread: int) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
            for number in range(thread, count, THREADS):
                method, path, body, headers = request(number)
                connection.request(method, path, body, headers)
                response = connection.getresponse()
                answer = response.read()
                if response.status != 200:
                    failures.append((path, response.status, answer))
                    return

        before = self.times()
        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures[0]
        after = self.times()
        return {name: (after[name] - before[name]) / count * 1e6 for name in after}

    def pages(self) -> dict[str, float]:
        def page(number: int):
            store, sort = number % STORES, SORTS[number // STORES % len(SORTS)]
            return "GET", f"/v1/stores/store-{store}/shelves/shelf/products?sort={sort}&limit=24", None, {}
        return self.measure(PAGES, page)

    def moves(self) -> dict[str, float]:
        def move(number: int):
            place = "first" if number % 2 else "last"
            body = json.dumps({"moves": [{"ids": [f"P{number * 7 % PRODUCTS}"], "place": place}]})
            headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
            return "POST", f"/v1/stores/store-{number % STORES}/shelves/shelf/order/moves", body, headers
        return self.measure(MOVES, move)


def statement_times(setup: Setup) -> dict[str, float]:
    """Compares the statement of a page through the coordinator and on the worker that has the store; returns times in microseconds."""
    node = 0
    store = 1
    if setup.workers:
        port = psql(setup.dsn, f"""
            SELECT n.nodeport FROM get_shard_id_for_distribution_column('shelf', {store}) AS shard (id)
            JOIN pg_dist_placement p ON p.shardid = shard.id JOIN pg_dist_node n ON n.groupid = p.groupid""")
        node = setup.cluster.ports.index(int(port))
    folder = setup.cluster.folder
    script = folder / "page.sql"
    script.write_text("""\\set limit random(20, 24)
SELECT p.sku, p.name, p.brand, p.price_minor, p.regular_price_minor, p.in_stock, p.tags, p.popularity_log2, p.modified_at FROM placement p
WHERE p.store_id = 1 AND p.shelf_id = 1 AND p.availability = 0 AND p.price_minor IS NOT NULL ORDER BY p.price_minor, p.name, p.sku LIMIT :limit;
""")
    script.chmod(0o644)
    found = {}
    for name, entry in (("coordinator", 0), ("worker", node)) if setup.workers else (("plain", 0),):
        def used() -> float:
            return sum(processor_time(int((setup.cluster.data(node) / "postmaster.pid").read_text().split()[0]))
                       for node in range(len(setup.cluster.ports)))
        words = [str(setup.cluster.binaries / "pgbench"), "-h", str(setup.cluster.socket), "-p", str(setup.cluster.ports[entry]), "-U", "aisle",
                 "bench", "-n", "-M", "prepared", "-c", "2", "-t", "4000", "-f", str(script)]
        options = {**os.environ, "PGOPTIONS": "-c plan_cache_mode=auto -c jit=off"}
        subprocess.run(words, check=True, capture_output=True, env=options)
        before = used()
        subprocess.run(words, check=True, capture_output=True, env=options)
        found[name] = (used() - before) / 8000 * 1e6
    return found


def main() -> None:
    results: dict[int, dict[str, dict[str, float]]] = {}
    for workers in (0, 1, 2, 4):
        folder = tempfile.mkdtemp(prefix="aisle-citus-bench-")
        os.chmod(folder, 0o755)
        try:
            with Cluster(Path(folder) / "cluster", workers=workers, first_port=17800, shards=32, citus=workers > 0) as cluster:
                setup = Setup(folder, cluster, workers)
                try:
                    setup.pages()
                    rounds = [(setup.pages(), setup.moves()) for _ in range(ROUNDS)]
                    result = {kind: {name: statistics.median(one[index][name] for one in rounds) for name in rounds[0][0]}
                              for index, kind in enumerate(("page", "move"))}
                    result["statement"] = statement_times(setup)
                    results[workers] = result
                finally:
                    setup.server.stop()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        for kind in ("page", "move"):
            times = results[workers][kind]
            plain = results[0][kind]
            database = times["coordinator"] + times["workers"]
            share = f", coordinator {times['coordinator'] / database:.0%} of the databases" if workers else ""
            print(f"{workers or 'no'} workers, {kind}: server {times['server']:.0f}, coordinator {times['coordinator']:.0f}, workers "
                  f"{times['workers']:.0f} µs{share}; databases ÷ plain = {database / plain['coordinator']:.2f}; all ÷ plain = "
                  f"{sum(times.values()) / sum(plain.values()):.2f}{' (aim: ≤ 2.0)' if workers and kind == 'page' else ''}", flush=True)
        if workers:
            plain = results[0]["statement"]["plain"]
            found = results[workers]["statement"]
            print(f"{workers} workers, statement of a page: plain {plain:.0f}, through the coordinator {found['coordinator']:.0f}, on the store's "
                  f"worker {found['worker']:.0f} µs; worker ÷ plain = {found['worker'] / plain:.2f} (aim: ≤ 1.3)", flush=True)


main()
