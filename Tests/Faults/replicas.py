"""Tests reads from replicas: two standbys of a primary are stopped, paused, promoted and lost, while clients write and read.

Usage: replicas.py AISLE [--pause SECONDS]. Each writer sets a growing price, and then reads it with the position of its write, from either
server: the page must have that price. Readers without a position may see an older price, but only within the limit of the lag.
No read may fail while the primary runs.
"""
import argparse, contextlib, http.client, json, os, shutil, signal, subprocess, tempfile, threading, time
from harness import SECRET, Cluster, Server, psql, status, until

parser = argparse.ArgumentParser()
parser.add_argument("aisle", type=os.path.abspath)
parser.add_argument("--pause", type=float, default=30)
options = parser.parse_args()

SHELF = "/v1/stores/corner/shelves/dairy"
WRITERS, READERS = 4, 4
# The limit of the lag, and the time in which a server notices that it is exceeded, in seconds.
LAG, NOTICE = 5, 5
# The maximum time in which a server uses a replica again, or the new primary.
RECOVERY = 30


class Client:
    """Keeps a connection to a server."""

    def __init__(self, server, token=None):
        self.port, self.connection = server.port, None
        self.headers = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}

    def send(self, method, path, body=None, headers={}):
        """Returns the status, the parsed body and the headers of a response; status 0 if none came."""
        try:
            self.connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            self.connection.request(method, path, None if body is None else json.dumps(body), {**self.headers, **headers})
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read() or "null"), answer.headers
        except (OSError, ValueError, http.client.HTTPException):
            self.connection = None
            return 0, None, {}


class Load:
    """Writers and readers in threads of their own."""

    def __init__(self, servers, skus, token):
        self.servers, self.skus, self.token = servers, skus, token
        self.lock, self.is_over, self.is_writing = threading.Lock(), threading.Event(), threading.Event()
        self.is_writing.set()
        # The times at which the prices of each product were answered: the price n is the n-th.
        self.answered = [[time.monotonic()] for _ in skus]
        self.tokens = [None for _ in skus]
        self.writing = 0
        self.failures, self.stale, self.old = [], [], []
        self.writes = self.reads = 0
        # Whether reads may fail.
        self.tolerates = False
        self.threads = [threading.Thread(target=self.guard, args=(self.write, number), daemon=True) for number in range(WRITERS)]
        self.threads += [threading.Thread(target=self.guard, args=(self.read, number), daemon=True) for number in range(READERS)]
        for thread in self.threads:
            thread.start()

    def guard(self, work, number):
        try:
            work(number)
        except Exception as error:
            with self.lock:
                self.failures.append(f"{work.__name__} {number}: {error!r}")

    def write(self, number):
        clients, price, turn = [Client(server, self.token) for server in self.servers], 0, number
        while not self.is_over.is_set():
            turn += 1
            if self.is_writing.is_set():
                with self.lock:
                    self.writing += 1
                attempted = price + 1
                status, body, headers = clients[turn % 2].send("POST", "/v1/stores/corner/prices",
                                                               [{"sku": self.skus[number], "price_minor": attempted}])
                with self.lock:
                    self.writing -= 1
                    if status == 200:
                        price = attempted
                        self.tokens[number] = headers["aisle-seen"]
                        self.answered[number].append(time.monotonic())
                        self.writes += 1
                    elif not self.tolerates:
                        self.failures.append(f"a write: {status} {body}")
            # The other server, whose replicas have other reports.
            self.check(clients[(turn + 1) % 2], number, price, seen=True)

    def read(self, number):
        clients, turn = [Client(server) for server in self.servers], number
        while not self.is_over.is_set():
            turn += 1
            sku = turn % WRITERS
            with self.lock:
                limit = time.monotonic() - LAG - NOTICE
                expected = sum(moment <= limit for moment in self.answered[sku]) - 1
            self.check(clients[turn % 2], sku, expected, seen=False)

    def check(self, client, number, expected, seen):
        """Reads a page, by turns with facets, or an order, and checks the price of a product."""
        headers = {"aisle-seen": self.tokens[number]} if seen and self.tokens[number] else {}
        with self.lock:
            self.reads += 1
            kind = self.reads % 8
        if kind == 7:
            status, body, _ = client.send("GET", f"{SHELF}/order?sort=price", headers=headers)
        else:
            facets = "&facets=brand" if kind == 6 else ""
            status, body, _ = client.send("GET", f"{SHELF}/products?sort=price&limit=100{facets}", headers=headers)
        with self.lock:
            if status != 200:
                if not self.tolerates:
                    self.failures.append(f"a read {'with' if seen else 'without'} a position: {status} {body}")
            elif kind != 7:
                found = [product["price_minor"] for product in body["products"] if product["sku"] == self.skus[number]]
                if not found or found[0] < expected:
                    (self.stale if seen else self.old).append((self.skus[number], found, expected))

    @contextlib.contextmanager
    def pausing_writes(self):
        self.is_writing.clear()
        try:
            until(lambda: self.writing == 0, 60, "the writes in progress end")
            yield
        finally:
            self.is_writing.set()

    def verify(self, what):
        with self.lock:
            assert not self.failures, f"{what}: {len(self.failures)} requests failed: {self.failures[:5]}"
            assert not self.stale, f"{what}: {len(self.stale)} reads with a position were stale: {self.stale[:5]}"
            assert not self.old, f"{what}: {len(self.old)} reads were older than the limit of the lag: {self.old[:5]}"
            print(f"{what}: {self.writes:,} writes and {self.reads:,} reads so far, 0 stale, 0 failed", flush=True)

    def end(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join(90)
            assert not thread.is_alive(), "a client does not end"


def main():
    print("seed: none, because the schedule of the threads is the only random part")
    folder = tempfile.mkdtemp(prefix="aisle-replicas-")
    os.chmod(folder, 0o755)
    primary, *standbys = clusters = [Cluster(folder, name) for name in ("primary", "first", "second")]
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", "postgres", folder], check=True, timeout=10)
    servers = []

    def dsn(*hosts, name="aisle", attributes=""):
        return f"host={','.join('localhost' for _ in hosts)} port={','.join(str(c.port) for c in hosts)} user=aisle dbname={name} {attributes}"

    def aisle(*words):
        environment = {**os.environ, "DATABASE_URL": dsn(primary), "AISLE_JWT_SECRET": SECRET}
        done = subprocess.run([options.aisle, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def follow(standby, leader):
        # A standby follows whatever server of the others is the primary.
        others = ",".join(str(cluster.port) for cluster in clusters if cluster is not standby)
        conninfo = f"host=localhost,localhost port={others} user=aisle target_session_attrs=read-write"
        standby.follow(leader, f"primary_conninfo = '{conninfo}'", "hot_standby_feedback = on", "wal_retrieve_retry_interval = '200ms'")

    def transactions(cluster):
        """The number of transactions of a server; reads count when their connection reports them, at the latest after a second."""
        return int(psql(dsn(cluster), "SELECT xact_commit FROM pg_stat_database WHERE datname = 'aisle'"))

    def is_used(cluster):
        """Waits until a replica answers many reads; the monitors and this test cause few transactions."""
        def rises():
            before = transactions(cluster)
            time.sleep(2)
            return transactions(cluster) - before > 100

        until(rises, RECOVERY, f"the replica on port {cluster.port} is used")

    def logged(cluster, text):
        """Returns how often both servers have logged a text about a replica."""
        counts = []
        for server in servers:
            with open(server.log) as log:
                counts.append(sum(f"the replica localhost:{cluster.port} {text}" in line for line in log))
        return counts

    def is_passed_over(cluster, reason, before, seconds=RECOVERY):
        until(lambda: all(a > b for a, b in zip(logged(cluster, f"is passed over: {reason}"), before)), seconds, f"passed over: {reason}")

    def count(cluster, reason):
        return logged(cluster, f"is passed over: {reason}")

    try:
        primary.run("initdb", "-D", primary.data, "-U", "aisle", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        primary.configure("wal_keep_size = '1GB'")
        primary.start()
        psql(dsn(primary, name="postgres"), "CREATE DATABASE aisle TEMPLATE template0 ENCODING 'UTF8'")
        aisle("db", "migrate")
        aisle("seed")
        for standby in standbys:
            follow(standby, primary)
        token = aisle("token", "--user", "ann", "--scope", "catalog:write").strip()
        # The URLs of both replicas.
        read = " ".join(f"postgresql://aisle@localhost:{standby.port}/aisle" for standby in standbys)
        everyone = dsn(*clusters, attributes="target_session_attrs=read-write")
        servers += [Server(options.aisle, folder, everyone, AISLE_READ_DSN=read, AISLE_READ_LAG_SECONDS=str(LAG)) for _ in range(2)]
        found, page, _ = Client(servers[0]).send("GET", f"{SHELF}/products?limit=100")
        assert found == 200, page
        priced = [product["sku"] for product in page["products"] if product["price_minor"] is not None]
        load = Load(servers, priced[:WRITERS], token)
        first, second = standbys
        for standby in standbys:
            is_used(standby)
        load.verify("both replicas answer reads")

        unreachable, lagging = count(first, "it cannot"), count(second, "it lags")
        first.signal(signal.SIGSTOP)
        try:
            psql(dsn(second), "SELECT pg_wal_replay_pause()")
            end = time.monotonic() + options.pause
            is_passed_over(first, "it cannot", unreachable)
            is_passed_over(second, "it lags", lagging)
            load.verify("one replica is stopped, and the other one is paused")
            until(lambda: time.monotonic() >= end, options.pause + 1, "the pause ends")
        finally:
            first.signal(signal.SIGCONT)
        psql(dsn(second), "SELECT pg_wal_replay_resume()")
        for standby in standbys:
            is_used(standby)
        load.verify(f"both replicas are used again after {options.pause:g} s")

        promoted = count(first, "it is not a standby")
        first.promote()
        # Nobody may see what is written there.
        psql(dsn(first), "UPDATE product SET price_minor = 0")
        is_passed_over(first, "it is not a standby", promoted)
        load.verify("a replica was promoted while its primary runs")
        first.kill()
        follow(first, primary)
        is_used(first)
        load.verify("the promoted replica was built again")

        unreachable = count(second, "it cannot")
        second.kill()
        shutil.rmtree(second.data)
        is_passed_over(second, "it cannot", unreachable)
        load.verify("a replica was lost")
        follow(second, primary)
        is_used(second)
        load.verify("the lost replica was built again")

        with load.pausing_writes():
            position = psql(dsn(primary), "SELECT pg_current_wal_flush_lsn()")
            for standby in standbys:
                until(lambda: psql(dsn(standby), f"SELECT pg_last_wal_replay_lsn() >= '{position}'") == "t", 30, "a standby follows")
            # The monitors must know it, too, before the primary cannot be asked any more.
            is_used(first)
            primary.kill()
            reads = load.reads
            until(lambda: load.reads > reads + 200, 60, "reads continue")
            load.verify("the primary was lost")
            load.tolerates = True
            first.promote()

            def follows():
                return psql(dsn(second), "SELECT count(*) FROM pg_stat_wal_receiver WHERE received_tli > 1") == "1"

            until(follows, RECOVERY, "the other replica follows the new primary")
            for server in servers:
                until(lambda: status(server.base, "/readyz") == 200, RECOVERY, "a server is ready")
            # Requests that began before may still fail.
            reads = load.reads
            until(lambda: load.reads > reads + 200, 60, "reads continue")
            load.tolerates = False
        is_used(second)
        load.verify("a replica is the new primary, and the other one follows it")
        load.end()
        load.verify("at the end")
    except AssertionError:
        for server in servers:
            with open(server.log) as log:
                print(f"the log of the server on port {server.port} ends with:\n{log.read()[-3000:]}")
        raise
    finally:
        for server in servers:
            with contextlib.suppress(Exception):
                server.kill()
        for cluster in clusters:
            with contextlib.suppress(Exception):
                cluster.kill()
        shutil.rmtree(folder, ignore_errors=True)
    print("replica tests passed")


main()
