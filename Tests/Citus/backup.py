"""Tests a backup of a Citus cluster: all servers are restored to one restore point, and everything is as it was then.

Usage: backup.py AISLE. Each server is copied by pg_basebackup while clients write; its log is archived. The restore point is a moment at
which no transaction of several servers is half committed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Faults"))

import schema  # noqa: E402
from cluster import Cluster  # noqa: E402
from harness import SECRET, Load, Server, send, status, until  # noqa: E402

AISLE = os.path.abspath(sys.argv[1])
PATHS = ["/v1/stores", *(f"/v1/stores/corner/shelves/dairy/products?sort={sort}&limit=50" for sort in ("price", "-popularity", "name", "position")),
         "/v1/stores/corner/shelves/dairy/order?sort=price", "/v1/stores/corner/shelves"]


def run(folder: str, dsn: str, *words: str) -> str:
    environment = {**os.environ, "AISLE_JWT_SECRET": SECRET, "DATABASE_URL": dsn}
    done = subprocess.run([AISLE, *words], cwd=folder, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout.strip()


def restore(cluster: Cluster, backups: Path, point: str) -> None:
    """Replaces the servers' data by their backups, and replays their logs up to a restore point."""
    for node in range(len(cluster.ports)):
        shutil.rmtree(cluster.data(node))
        shutil.copytree(backups / str(node), cluster.data(node))
        for path in [cluster.data(node), *cluster.data(node).rglob("*")]:
            cluster.own(path)
        with (cluster.data(node) / "postgresql.auto.conf").open("a") as file:
            file.write(f"restore_command = 'cp {cluster.archive(node)}/%f %p'\n"
                       f"recovery_target_name = '{point}'\nrecovery_target_action = 'promote'\n")
        signal = cluster.data(node) / "recovery.signal"
        signal.touch()
        cluster.own(signal)
    cluster.start()
    for node in range(len(cluster.ports)):
        until(lambda: cluster.try_sql("postgres", "SELECT pg_is_in_recovery()", node).stdout.strip() == "f", 60, "the recovery ends")


def main() -> None:
    print("seed: none, because nothing that matters is random", flush=True)
    folder = tempfile.mkdtemp(prefix="aisle-citus-backup-")
    os.chmod(folder, 0o755)
    server = None
    try:
        with Cluster(Path(folder) / "cluster", first_port=17750, archives=True) as cluster:
            cluster.create_database("aisle")
            dsn = cluster.dsn("aisle")
            run(folder, dsn, "db", "migrate", "--citus")
            run(folder, dsn, "seed")
            server = Server(AISLE, folder, dsn)
            base, tokens = server.base, [run(folder, dsn, "token", "--user", f"device{number}") for number in range(12)]
            pricer = run(folder, dsn, "token", "--user", "pricer", "--scope", "catalog:write")

            def write(number: int) -> int:
                if number % 3 == 0:
                    return status(base, "/v1/stores/corner/products/C1007", "PATCH", {"price_minor": 100 + number % 900}, pricer)
                return status(base, f"/v1/me/settings/k{number % 20}", "PUT", {"value": number}, tokens[number // 3 % len(tokens)])

            load = Load()
            end = load.add("write", write)
            until(lambda: load.total > 50, 60, "the clients write")
            backups = cluster.folder / "backups"
            backups.mkdir()
            cluster.own(backups)
            for node, port in enumerate(cluster.ports):
                cluster.run_program("pg_basebackup", "-D", backups / str(node), "-c", "fast", "-X", "none", "-h", cluster.socket, "-p", port, "-U", "aisle")
            written = load.total
            until(lambda: load.total > written + 100, 60, "the clients write after the backup")
            end()
            assert not load.failed(), load.failed()
            revisions = [send(base, "/v1/me/settings", token=token)[1]["revision"] for token in tokens]
            answers = [send(base, path) for path in PATHS]
            before = schema.checksums(cluster, "aisle")
            cluster.sql("aisle", "SELECT citus_create_restore_point('checked')")
            for number in range(200):
                assert write(number) == 200
            for node in range(len(cluster.ports)):
                segment = cluster.sql("postgres", "SELECT pg_walfile_name(pg_switch_wal())", node)
                until(lambda: (cluster.archive(node) / segment).exists(), 60, "the log is archived")
            assert schema.checksums(cluster, "aisle") != before
            server.stop()
            cluster.stop()

            restore(cluster, backups, "checked")
            after = schema.checksums(cluster, "aisle")
            assert after == before, {table: (before[table], after[table]) for table in before if before[table] != after[table]}
            server.start()
            until(lambda: status(base, "/readyz") == 200, 60, "the server is ready")
            for path, answer in zip(PATHS, answers):
                assert send(base, path) == answer, path
            # The database has a new life, so devices that knew lost settings ask for everything.
            for token, revision in zip(tokens, revisions):
                code, found = send(base, f"/v1/me/settings?since={revision}", token=token)
                assert code == 200 and found.get("resync"), found
            assert write(1) == 200
            print(f"{len(before)} tables and {len(answers)} answers of a coordinator and two workers are as they were at the restore point; "
                  f"{len(tokens)} devices resync")
            server.stop()
    finally:
        if server and server.is_running:
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)
    print("citus backup tests passed")


main()
