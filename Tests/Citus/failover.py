"""Tests the failover of a worker of a Citus cluster to a standby that lacks the last commits.

Usage: failover.py AISLE. Two servers read pages from the workers. Pages come from the new worker, no entity tag of a lost state matches, and
every device resyncs, once.
"""

import os
import re
import sys
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Faults"))

from cluster import Cluster  # noqa: E402
from database import distributed_database  # noqa: E402
from harness import Server, free_port, send, status, tagged, until  # noqa: E402

AISLE = os.path.abspath(sys.argv[1])
DEVICES, STORES, LOST = 40, 8, 50
# The maximum time, in seconds, until servers have noticed a failover and use the new worker.
RECOVERY = 30


def add_standby(cluster: Cluster, node: int) -> int:
    """Adds a server that follows another one, asynchronously; returns its number."""
    cluster.ports.append(max(cluster.ports) + 1)
    standby = len(cluster.ports) - 1
    cluster.run_program("pg_basebackup", "-R", "-D", cluster.data(standby), "-c", "fast", "-h", cluster.socket, "-p", cluster.ports[node], "-U", "aisle")
    with (cluster.data(standby) / "postgresql.auto.conf").open("a") as file:
        file.write(f"port = {cluster.ports[standby]}\n")
    cluster.start()
    return standby


def fail_over(cluster: Cluster, lost: int, standby: int) -> None:
    """Promotes a standby, which takes the place of its worker."""
    cluster.kill(lost)
    cluster.run_program("pg_ctl", "start", "-D", cluster.data(standby), "-l", cluster.log(standby), "-w", "-t", "60")
    cluster.run_program("pg_ctl", "promote", "-D", cluster.data(standby), "-w", "-t", "60")
    cluster.sql("aisle", f"SELECT citus_update_node(nodeid, '{cluster.socket}', {cluster.ports[standby]}) FROM pg_dist_node WHERE nodeport = {cluster.ports[lost]}")


def main() -> None:
    with distributed_database(AISLE, first_port=17850) as (database, servers):
        cluster = database.cluster
        admin = free_port()
        servers += [Server(AISLE, database.folder, database.dsn, AISLE_PAGE_CACHE_MB="0", **settings)
                    for settings in ({"AISLE_ADMIN_PORT": str(admin)}, {})]
        base = servers[0].base
        merchant = database.token("merchant", "catalog:write")
        stores = [f"store-{number}" for number in range(STORES)]
        for store in stores:
            assert status(base, f"/v1/stores/{store}", "PUT", {"title": store, "currency": "EUR"}, merchant) == 201
            code, found = send(base, f"/v1/stores/{store}/imports", "POST", b"sku,name,price,shelf\nP1,Milk,1.00,Shelf\n", merchant)
            assert code == 200, found
        lost = 1
        gone = [store for store in stores if database.node(store) == lost]
        assert 0 < len(gone) < STORES, gone
        devices = [database.token(f"device{number}") for number in range(DEVICES)]

        def price(server: Server, store: str) -> int:
            return send(server.base, f"/v1/stores/{store}/shelves/shelf/products")[1]["products"][0]["price_minor"]

        def usable() -> dict[int, str]:
            """Returns whether the first server uses the workers in its metrics, by port."""
            with urllib.request.urlopen(f"http://127.0.0.1:{admin}/metrics", timeout=30) as answer:
                found = re.findall(r'^aisle_worker_usable\{worker="[^"]*:(\d+)"\} (\d)', answer.read().decode(), re.MULTILINE)
            return {int(port): value for port, value in found}

        def write(number: int) -> None:
            for device in devices:
                assert status(base, f"/v1/me/settings/k{number}", "PUT", {"value": number}, device) == 200
            for store in stores:
                code, found = send(base, f"/v1/stores/{store}/prices", "POST", [{"sku": "P1", "price_minor": 100 + number}], merchant)
                assert code == 200, found

        def read(device: str, since: int) -> tuple[int, bool, int]:
            """Returns the new revision, whether the device resyncs, and the number of settings."""
            code, found = send(servers[1].base, f"/v1/me/settings?since={since}", token=device)
            assert code == 200, found
            return found["revision"], bool(found.get("resync")), len(found["settings"])

        standby = add_standby(cluster, lost)
        write(1)
        until(lambda: cluster.sql("postgres", "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()", lost) == "1",
              60, "the standby has replayed everything")
        cluster.kill(standby)
        write(2)
        pages = [f"/v1/stores/{store}/shelves/shelf/products?limit={number + 1}" for store in gone for number in range(LOST)]
        tags = [tagged(base, page)[1] for page in pages]
        revisions = [send(base, "/v1/me/settings", token=device)[1]["revision"] for device in devices]
        assert all(read(device, since) == (since, False, 0) for device, since in zip(devices, revisions))

        workers = cluster.ports[1:3]
        until(lambda: usable() == {port: "1" for port in workers}, RECOVERY, "both workers are used")
        fail_over(cluster, lost, standby)
        until(lambda: all(status(server.base, f"/v1/stores/{store}/shelves/shelf/products") == 200 for server in servers for store in gone),
              RECOVERY, "pages of the lost worker's stores")
        until(lambda: cluster.sql("aisle", "SELECT count(*) FROM database_life WHERE identity LIKE 'worker %/00000002'") == "1",
              RECOVERY, "the failover is noticed")
        until(lambda: usable() == {cluster.ports[2]: "1", cluster.ports[standby]: "1"}, RECOVERY, "only the new workers are exported")
        for store in stores:
            assert all(price(server, store) == (101 if store in gone else 102) for server in servers), store
        known = [tagged(base, page, [tag])[0] for page, tag in zip(pages, tags)]
        assert set(known) == {200}, f"{known.count(304)} of {len(known)} tags of lost states match"
        synced = [read(device, since) for device, since in zip(devices, revisions)]
        assert all(resync for _, resync, _ in synced), f"{sum(not resync for _, resync, _ in synced)} devices do not resync"
        counts = [count for _, _, count in synced]
        # One has lost the last setting, if it is on that worker.
        assert set(counts) == {1, 2}, counts
        assert all(read(device, since) == (since, False, 0) for device, (since, _, _) in zip(devices, synced)), "devices resync twice"
        write(3)
        assert all(price(server, store) == 103 for server in servers for store in stores)
        print(f"a worker failed over to a standby without the last commits: 0 of {len(pages)} lost tags match, and {DEVICES} of {DEVICES} "
              f"devices resync once, {counts.count(1)} of which had settings that were lost")
    print("citus failover tests passed")


main()
