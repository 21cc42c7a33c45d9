"""A distributed database, as the clients of the fault tests expect it."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Faults"))

from cluster import Cluster  # noqa: E402
from harness import SECRET, Server, print_logs, psql, until  # noqa: E402


class Database:
    """A database on a cluster, migrated, distributed and seeded by a build of the program."""

    def __init__(self, aisle: str, cluster: Cluster, folder: str, name: str = "aisle"):
        self.aisle, self.cluster, self.folder, self.name, self.dsn = aisle, cluster, folder, name, cluster.dsn(name)
        cluster.create_database(name)
        self.run("db", "migrate", "--citus")
        self.run("seed")

    def run(self, *words: str) -> str:
        environment = {**os.environ, "AISLE_JWT_SECRET": SECRET, "DATABASE_URL": self.dsn}
        done = subprocess.run([self.aisle, *words], cwd=self.folder, capture_output=True, text=True, timeout=300, env=environment)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def token(self, user: str, *scopes: str) -> str:
        return self.run("token", "--user", user, *(word for scope in scopes for word in ("--scope", scope))).strip()

    def shard(self, store: str) -> str:
        """Returns the id of the shard of `shelf` that has a store."""
        return psql(self.dsn, f"SELECT get_shard_id_for_distribution_column('shelf', store_id) FROM store WHERE key = '{store}'")

    def node(self, store: str) -> int:
        """Returns the number of the worker that has a store."""
        port = psql(self.dsn, f"""
            SELECT n.nodeport FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid WHERE p.shardid = {self.shard(store)}""")
        return self.cluster.ports.index(int(port))

    def node_of_user(self, user: str) -> int:
        """Returns the number of the worker that has a user."""
        shard = psql(self.dsn, f"SELECT get_shard_id_for_distribution_column('user_account', '{user}')")
        port = psql(self.dsn, f"SELECT n.nodeport FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid WHERE p.shardid = {shard}")
        return self.cluster.ports.index(int(port))

    def move(self, store: str, node: int) -> None:
        """Moves a store, and those that are with it, to another worker."""
        # The copies that earlier moves have left would be in the way. While a page is read from one, it is not deleted.
        until(lambda: not self.cluster.sql(self.name, "CALL citus_cleanup_orphaned_resources(); SELECT 1 FROM pg_dist_cleanup LIMIT 1"), 30,
              "the copies of moved shards are deleted")
        ports = self.cluster.ports
        self.cluster.sql(self.name, f"""
            SELECT citus_move_shard_placement({self.shard(store)}, '{self.cluster.socket}', {ports[self.node(store)]},
                '{self.cluster.socket}', {ports[node]})""")


@contextlib.contextmanager
def distributed_database(aisle: str, first_port: int) -> Iterator[tuple[Database, list[Server]]]:
    """Yields a database on a coordinator and two workers, and a list for its servers, all of which end afterwards.

    If the test fails, the logs of these servers are printed.
    """
    folder = tempfile.mkdtemp(prefix="aisle-citus-")
    os.chmod(folder, 0o755)
    servers: list[Server] = []
    try:
        with Cluster(Path(folder) / "cluster", first_port=first_port) as cluster:
            yield Database(aisle, cluster, folder), servers
    except BaseException:
        print_logs(servers)
        raise
    finally:
        for server in servers:
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)
