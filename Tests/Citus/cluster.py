"""A private Citus cluster for tests: one coordinator and some workers on one machine, reached over a Unix socket."""

import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path


def find_prefix() -> Path:
    """Returns the prefix of the build of Citus: AISLE_TEST_CITUS, or where `make test-citus` puts it."""
    return Path(os.environ.get("AISLE_TEST_CITUS") or f"/var/tmp/aisle-citus-{os.getuid()}")


class Cluster:
    """A coordinator (node 0) and its workers, in a folder that is deleted at the end."""

    def __init__(self, folder: Path, workers: int = 2, first_port: int = 17500, shards: int = 8, citus: bool = True,
                 archives: bool = False):
        """`citus` says whether the servers load Citus, `archives` whether they archive their logs."""
        self.citus, self.archives = citus, archives
        self.folder = folder
        self.binaries = find_prefix() / "usr/lib/postgresql/15/bin"
        self.ports = [first_port + number for number in range(workers + 1)]
        self.shards = shards
        self.socket = folder / "socket"
        # PostgreSQL refuses to run as root.
        self.account = pwd.getpwnam("postgres") if os.getuid() == 0 else None

    def __enter__(self) -> "Cluster":
        # A test that fails here leaves no server behind.
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def start(self) -> None:
        """Creates the servers that do not exist, and starts those that do not run."""
        for folder in (self.folder, self.socket):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.own(folder)
        for node, port in enumerate(self.ports):
            if not (self.data(node) / "PG_VERSION").exists():
                self._initialize(node, port)
            if not self.runs(node):
                self.run_program("pg_ctl", "start", "-D", self.data(node), "-l", self.log(node), "-w", "-t", "60")

    def stop(self) -> None:
        for node in range(len(self.ports)):
            if self.runs(node):
                self.run_program("pg_ctl", "stop", "-D", self.data(node), "-m", "immediate", "-w", "-t", "60")

    def kill(self, node: int) -> None:
        """Kills all processes of a server at once, like the loss of its machine."""
        processes = self._signal(node, signal.SIGKILL)
        end = time.monotonic() + 30
        while any(self._is_alive(process) for process in processes):
            assert time.monotonic() < end, "the server does not end"
            time.sleep(0.02)
        # Where nobody collects the process, these would say that it runs.
        (self.data(node) / "postmaster.pid").unlink()
        (self.socket / f".s.PGSQL.{self.ports[node]}.lock").unlink()

    def freeze(self, node: int) -> None:
        """Stops all processes of a server without ending them, like a machine that hangs."""
        self._signal(node, signal.SIGSTOP)

    def thaw(self, node: int) -> None:
        """Continues the processes of a server that was frozen."""
        self._signal(node, signal.SIGCONT)

    def _signal(self, node: int, number: signal.Signals) -> list[str]:
        """Sends a signal to all processes of a server, and returns their ids."""
        postmaster = (self.data(node) / "postmaster.pid").read_text().split()[0]
        # It starts no further process meanwhile.
        os.kill(int(postmaster), signal.SIGSTOP)
        children = subprocess.run(["ps", "--ppid", postmaster, "-o", "pid="], capture_output=True, text=True).stdout.split()
        processes = [postmaster, *children]
        for process in processes:
            try:
                os.kill(int(process), number)
            except ProcessLookupError:
                pass
        return processes

    @staticmethod
    def _is_alive(process: str) -> bool:
        try:
            return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def runs(self, node: int) -> bool:
        return self.run_program("pg_ctl", "status", "-D", self.data(node), check=False).returncode == 0

    def data(self, node: int) -> Path:
        return self.folder / f"node{node}"

    def archive(self, node: int) -> Path:
        return self.folder / f"archive{node}"

    def own(self, path: Path) -> None:
        """Gives a file or folder to the account of the servers."""
        if self.account:
            os.chown(path, self.account.pw_uid, self.account.pw_gid)

    def log(self, node: int) -> Path:
        return self.folder / f"node{node}.log"

    def _initialize(self, node: int, port: int) -> None:
        self.run_program(
            "initdb", "-D", self.data(node), "-U", "aisle", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
            "--no-instructions", "--no-sync",
        )
        with (self.data(node) / "postgresql.conf").open("a") as file:
            file.write(f"""
listen_addresses = ''
port = {port}
unix_socket_directories = '{self.socket}'
unix_socket_permissions = 0700
max_connections = 120
max_prepared_transactions = 120
shared_buffers = 32MB
wal_level = logical
fsync = off
full_page_writes = off
""" + (f"""
shared_preload_libraries = 'citus'
citus.local_hostname = '{self.socket}'
citus.shard_count = {self.shards}
citus.node_conninfo = 'sslmode=disable'
citus.explain_all_tasks = off
# A server that was lost during a commit leaves locks until then.
citus.recover_2pc_interval = 2s
""" if self.citus else "") + (f"""
archive_mode = on
archive_command = 'cp %p {self.archive(node)}/%f'
""" if self.archives else ""))
        if self.archives:
            self.archive(node).mkdir()
            self.own(self.archive(node))

    def run_program(self, name: str, *arguments: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = [str(self.binaries / name), *map(str, arguments)]
        if self.account:
            ids = [f"--reuid={self.account.pw_uid}", f"--regid={self.account.pw_gid}", "--clear-groups"]
            command = ["setpriv", *ids, *command]
        # The server inherits the output of pg_ctl, so it must not be a pipe.
        with (self.folder / "programs.log").open("a+") as output:
            result = subprocess.run(command, stdout=output, stderr=output, text=True, cwd="/")
        if check and result.returncode != 0:
            raise RuntimeError(f"{name} failed: see {self.folder}/programs.log")
        return result

    def dsn(self, database: str, node: int = 0) -> str:
        return f"host={self.socket} port={self.ports[node]} user=aisle dbname={database}"

    def sql(self, database: str, text: str, node: int = 0, check: bool = True) -> str:
        """Runs statements one by one, and returns their rows, unaligned."""
        result = self.try_sql(database, text, node)
        if check and result.returncode != 0:
            raise RuntimeError(f"{result.stderr.strip()}\n{text[:2000]}")
        return result.stdout.strip()

    def try_sql(self, database: str, text: str, node: int = 0) -> subprocess.CompletedProcess[str]:
        # Variables in the environment would select another server.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        return subprocess.run(
            [str(self.binaries / "psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", self.dsn(database, node), "-f", "-"],
            input=text, capture_output=True, text=True, env=environment,
        )

    def create_database(self, name: str, citus: bool = True) -> None:
        """Creates a database; with Citus, on each node, and adds the nodes to the cluster."""
        for node in range(len(self.ports) if citus else 1):
            self.sql("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", node)
            self.sql("postgres", f"SET citus.enable_create_database_propagation = off; CREATE DATABASE {name} TEMPLATE template0 LOCALE 'C.UTF-8' ENCODING 'UTF8'", node)
        if citus:
            self.install(name)

    def install(self, name: str) -> None:
        """Adds Citus to a database of the coordinator, and the workers to the cluster."""
        for node in range(len(self.ports)):
            if node > 0 and not self.sql("postgres", f"SELECT 1 FROM pg_database WHERE datname = '{name}'", node):
                self.sql("postgres", f"CREATE DATABASE {name} TEMPLATE template0 LOCALE 'C.UTF-8' ENCODING 'UTF8'", node)
            self.sql(name, "CREATE EXTENSION IF NOT EXISTS citus", node)
        self.sql(name, f"SELECT citus_set_coordinator_host('{self.socket}', {self.ports[0]})")
        for port in self.ports[1:]:
            self.sql(name, f"SELECT citus_add_node('{self.socket}', {port})")

    def add_worker(self, name: str) -> None:
        """Starts another worker, and adds it to the cluster of a database."""
        self.ports.append(self.ports[-1] + 1)
        self.start()
        node = len(self.ports) - 1
        self.sql("postgres", f"CREATE DATABASE {name} TEMPLATE template0 LOCALE 'C.UTF-8' ENCODING 'UTF8'", node)
        self.sql(name, "CREATE EXTENSION citus", node)
        self.sql(name, f"SELECT citus_add_node('{self.socket}', {self.ports[node]})")
