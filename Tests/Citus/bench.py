"""Measures the processor time of pages and moves on Citus clusters of 1, 2 and 4 workers, relative to plain PostgreSQL.

Usage: bench.py AISLE. Stores are spread over the workers. All servers share this machine, so only processor times are meaningful: those
of the aisle server, of the coordinator, and of all workers together, for each request. Pages are rendered and read for each request
(AISLE_PAGE_CACHE_MB=0), at first from the workers, and then through the coordinator (AISLE_READ_WORKERS=false).
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
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Faults"))

from cluster import Cluster  # noqa: E402
from harness import SECRET, Server, free_port, send, status  # noqa: E402

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
        self.folder = folder
        self.start()
        self.token = run(folder, self.dsn, "token", "--user", "bench", "--scope", "catalog:write")
        rows = "".join(f"P{number},Product {number % 97} {number},{1 + number * 37 % 500}.50,Shelf,{number * 13 % 100}\n" for number in range(PRODUCTS))
        for store in range(STORES):
            assert status(self.server.base, f"/v1/stores/store-{store}", "PUT", {"title": "Store", "currency": "EUR"}, self.token) == 201
            code, found = send(self.server.base, f"/v1/stores/store-{store}/imports", "POST", f"sku,name,price,shelf,popularity\n{rows}".encode(), self.token)
            assert code == 200, found
        cluster.sql("bench", "ANALYZE")

    def start(self, reads_workers: bool = True) -> None:
        """Starts the server, which reads pages from the workers or through the coordinator."""
        self.admin_port = free_port()
        self.server = Server(AISLE, self.folder, self.dsn, AISLE_PAGE_CACHE_MB="0", AISLE_ADMIN_PORT=str(self.admin_port),
                             AISLE_READ_WORKERS=str(reads_workers).lower())

    def reads(self) -> int:
        """Returns the number of reads from workers."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}/status", timeout=10) as answer:
            return sum(worker["reads"] for worker in json.load(answer)["workers"])

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


def median(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(times[name] for times in rounds) for name in rounds[0]}


def describe(name: str, times: dict[str, float], plain: dict[str, float], aim: str = "") -> None:
    database, total = times["coordinator"] + times["workers"], sum(times.values())
    print(f"{name}: server {times['server']:.0f}, coordinator {times['coordinator']:.0f}, workers {times['workers']:.0f} µs; "
          f"÷ plain PostgreSQL = {total / sum(plain.values()):.2f}{aim}; databases alone {database / plain['coordinator']:.2f}, "
          f"of which the coordinator {times['coordinator'] / database:.0%}", flush=True)


def main() -> None:
    plain: dict[str, dict[str, float]] = {}
    for workers in (0, 1, 2, 4):
        folder = tempfile.mkdtemp(prefix="aisle-citus-bench-")
        os.chmod(folder, 0o755)
        title = f"{workers} worker{'' if workers == 1 else 's'}" if workers else "plain PostgreSQL"
        try:
            with Cluster(Path(folder) / "cluster", workers=workers, first_port=17800, shards=32, citus=workers > 0) as cluster:
                setup = Setup(folder, cluster, workers)
                try:
                    setup.pages()
                    if workers:
                        # The server has found out where each store is.
                        start = setup.reads()
                        setup.pages()
                        assert setup.reads() - start == PAGES, "not all pages came from workers"
                    pages = median([setup.pages() for _ in range(ROUNDS)])
                    moves = median([setup.moves() for _ in range(ROUNDS)])
                    plain = plain or {"pages": pages, "moves": moves}
                    describe(f"{title}, page", pages, plain["pages"], " (aim: ≤ 1.3)" if workers else "")
                    if workers:
                        setup.server.stop()
                        setup.start(reads_workers=False)
                        setup.pages()
                        pages = median([setup.pages() for _ in range(ROUNDS)])
                        describe(f"{title}, page through the coordinator", pages, plain["pages"], " (aim: ≤ 2.0)")
                    describe(f"{title}, move", moves, plain["moves"])
                finally:
                    setup.server.stop()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


main()
