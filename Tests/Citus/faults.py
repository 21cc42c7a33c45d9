"""Tests servers on a Citus cluster whose servers are killed, restarted, added and rebalanced under load.

Usage: faults.py AISLE [--rounds N] [--seed N].

1. A worker is killed, and later frozen: requests for its stores and users are answered with 503, those for others go on, the doctor names
   it, and everything goes on when it is back.
2. Workers, the coordinator and servers are killed at random while clients write, each call until it is acknowledged.
3. A worker is added, and shards are moved to it, while they write.
In the end, everything is stored exactly once.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Faults"))

from database import Database, distributed_database  # noqa: E402
from harness import Server, send, status, until  # noqa: E402
from workers import check_running, finish, start_workers  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("aisle", type=os.path.abspath)
parser.add_argument("--rounds", type=int, default=10)
parser.add_argument("--seed", type=int, default=random.randrange(2**32))
options = parser.parse_args()
# The maximum time, in seconds, from the start of a database server until writes to all shards succeed.
RECOVERY = 30
STORES = [f"store-{number}" for number in range(8)]


def add_stores(database: Database, base: str) -> dict[str, int]:
    """Creates stores with a shelf and products; returns the number of each one's worker."""
    token = database.token("stores", "catalog:write")
    for store in STORES:
        path = f"/v1/stores/{store}"
        assert status(base, path, "PUT", {"title": store, "currency": "EUR"}, token) == 201
        rows = "".join(f"P{number},Product {number},{number + 1}.00,Shelf\n" for number in range(50))
        code, found = send(base, f"{path}/imports", "POST", f"sku,name,price,shelf\n{rows}".encode(), token)
        assert code == 200 and found["inserted"] == 50, (code, found)
    nodes = {store: database.node(store) for store in STORES}
    assert set(nodes.values()) == {1, 2}, nodes
    return nodes


class Client:
    """Sends requests that need one worker in a loop, and remembers the statuses and durations by phase."""

    def __init__(self, name: str, node: int, call: Callable[[int], int]):
        self.name, self.node, self.call = name, node, call
        self.phase, self.found, self.number = "before", {}, 0
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while not self.is_over.is_set():
            phase, start = self.phase, time.monotonic()
            self.number += 1
            code = self.call(self.number)
            if phase == self.phase:
                self.found.setdefault(phase, []).append((code, time.monotonic() - start))
            self.is_over.wait(0.005)

    def end(self) -> None:
        self.is_over.set()
        self.thread.join(60)
        assert not self.thread.is_alive(), f"{self.name} do not end"

    def statuses(self, phase: str) -> set[int]:
        return {code for code, _ in self.found[phase]}

    def p99(self, phase: str) -> float:
        durations = sorted(duration for _, duration in self.found[phase])
        return durations[len(durations) * 99 // 100] * 1000


def start_clients(database: Database, base: str, nodes: dict[str, int]) -> list[Client]:
    """Starts clients that read pages and change prices of each store, and users on each worker who change settings and read pages."""
    clients = []
    prices = database.token("prices", "catalog:write")
    for store, node in nodes.items():
        page = f"/v1/stores/{store}/shelves/shelf/products"
        # Different pages, so that no cache of the server answers.
        clients.append(Client(f"pages of {store}", node, lambda number, page=page: status(base, f"{page}?sort=price&limit={1 + number % 50}")))
        clients.append(Client(f"prices of {store}", node, lambda number, store=store: status(
            base, f"/v1/stores/{store}/prices", "POST", [{"sku": f"P{number % 50}", "price_minor": number + 1}], prices)))
    for number in range(16):
        user = f"user {number}"
        node, token = database.node_of_user(user), database.token(user)
        own = [store for store in STORES if nodes[store] == node]
        page = f"/v1/stores/{own[number % len(own)]}/shelves/shelf/products"
        clients.append(Client(f"settings of {user}", node, lambda number, token=token: status(
            base, "/v1/me/settings/number", "PUT", {"value": number}, token)))
        clients.append(Client(f"remembered sorts of {user}", node, lambda number, page=page, token=token: status(
            base, f"{page}?limit={1 + number % 50}", "GET", None, token)))
    assert {client.node for client in clients} == {1, 2}
    return clients


def unreachable(database: Database) -> list[str]:
    """Returns the ports of the servers to which, as the doctor reports, the coordinator cannot connect."""
    environment = {**os.environ, "DATABASE_URL": database.dsn}
    done = subprocess.run([database.aisle, "doctor"], cwd=database.folder, capture_output=True, text=True, timeout=60, env=environment)
    assert "Citus" in done.stdout, (done.stdout, done.stderr)
    return re.findall(r"^BAD .*the coordinator cannot connect to the server \S*:(\d+):", done.stdout, re.MULTILINE)


def lose_worker(database: Database, base: str) -> None:
    """Kills a worker, and later freezes it: only its stores and users are unavailable, and only until it is back."""
    nodes, cluster, lost = add_stores(database, base), database.cluster, 1
    clients = start_clients(database, base, nodes)
    gone, others = [client for client in clients if client.node == lost], [client for client in clients if client.node != lost]
    recoveries = []

    def enter(phase: str, slow: list[Client] = []) -> None:
        """Waits for 100 responses to each client in a phase, and for one to each of those that wait for a worker."""
        for client in clients:
            client.phase = phase
        until(lambda: all(len(client.found.get(phase, [])) >= (1 if client in slow else 100) for client in clients), 60, f"responses {phase}")
        for client in clients:
            client.phase = "meanwhile"

    def recover() -> None:
        start = time.monotonic()
        until(lambda: all(client.call(0) == 200 for client in gone), RECOVERY, "the lost stores are back")
        recoveries.append(time.monotonic() - start)

    enter("before")
    assert unreachable(database) == [], "a server is unreachable"
    cluster.kill(lost)
    enter("without it")
    assert unreachable(database) == [str(cluster.ports[lost])]
    cluster.start()
    recover()
    enter("after")
    cluster.freeze(lost)
    try:
        enter("while it hangs", slow=gone)
        # Again, when the servers know it.
        enter("still", slow=gone)
        assert unreachable(database) == [str(cluster.ports[lost])]
    finally:
        cluster.thaw(lost)
    recover()
    enter("in the end")
    for client in clients:
        client.end()
    for client in clients:
        for phase in ("before", "after", "in the end"):
            assert client.statuses(phase) == {200}, (client.name, phase, client.statuses(phase))
        for phase in ("without it", "while it hangs", "still"):
            assert client.statuses(phase) == ({503} if client in gone else {200}), (client.name, client.node, phase, client.statuses(phase))
    times = ", ".join(f"{phase} {max(client.p99(phase) for client in others):.1f} ms"
                      for phase in ("before", "without it", "after", "while it hangs", "still", "in the end"))
    print(f"without one of two workers, {len(gone)} of {len(clients)} clients got 503, and the others 200 only; "
          f"their requests took at most (p99) {times}; its stores and users were back {recoveries[0]:.1f} s after it started, and "
          f"{recoveries[1]:.1f} s after it went on", flush=True)


def main() -> None:
    dice = random.Random(options.seed)
    print(f"seed: {options.seed}", flush=True)
    with distributed_database(options.aisle, first_port=17700) as (database, servers):
        cluster = database.cluster
        # The page caches would answer for a lost worker.
        servers += [Server(options.aisle, database.folder, database.dsn, AISLE_PAGE_CACHE_MB="0") for _ in range(2)]
        lose_worker(database, servers[0].base)
        probes = [database.token(f"probe{number}") for number in range(8)]
        workers = start_workers(servers, dice, database, each=1)

        def recover(what: str) -> float:
            start = time.monotonic()
            for server in servers:
                for probe in probes:
                    until(lambda: status(server.base, "/v1/me/settings/probe", "PUT", {"value": 1}, probe) == 200,
                          RECOVERY, f"a write after {what}")
            return time.monotonic() - start

        slowest = 0.0
        kinds = ["worker", "coordinator", "server"]
        for number in range(options.rounds):
            time.sleep(dice.uniform(0, 0.5))
            kind = kinds[number % len(kinds)]
            if kind == "server":
                server = dice.choice(servers)
                server.kill()
                server.start()
            else:
                cluster.kill(0 if kind == "coordinator" else dice.choice([1, 2]))
                time.sleep(dice.uniform(0, 2))
                cluster.start()
            slowest = max(slowest, recover(f"the loss of a {kind}"))
            check_running(workers, servers)
        cluster.add_worker("aisle")
        before = sum(worker.done for worker in workers)
        rejected_before = sum(worker.rejected for worker in workers)
        cluster.sql("aisle", "SELECT rebalance_table_shards()")
        moved = cluster.sql("aisle", f"""
            SELECT count(*) FROM pg_dist_placement p JOIN pg_dist_node n USING (groupid) WHERE n.nodeport = {cluster.ports[3]}""")
        assert int(moved) > 20, moved
        recover("the rebalancing")
        check_running(workers, servers)
        during = sum(worker.done for worker in workers) - before
        assert during > 0, "nobody wrote while shards were moved"
        rejected = sum(worker.rejected for worker in workers) - rejected_before
        assert rejected == 0, f"{rejected} writes were rejected while shards were moved"
        writes, calls = finish(workers, servers)
        unhealthy = cluster.sql("aisle", "SELECT * FROM citus_check_cluster_node_health() WHERE result IS NOT TRUE")
        assert unhealthy == "", unhealthy
        pending = cluster.sql("aisle", "SELECT recover_prepared_transactions()")
        print(f"{options.rounds} losses of workers, coordinators and servers, and {moved} shards moved to a new worker during "
              f"{during} writes: {writes} acknowledged writes in {calls} calls, 0 lost, 0 doubled; "
              f"writes to all shards succeeded at most {slowest:.1f} s after a loss; {pending} transactions were left to recover")
    print("citus fault tests passed")


main()
