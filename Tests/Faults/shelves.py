"""Tests that shelves which servers derive from recorded changes equal those that a server reads in full.

Usage: shelves.py AISLE [--writes N] [--writers N] [--rounds N] [--seed S] [--faults NAME,…] [--citus].

In each round, processes make random writes of everything that changes a shelf, and read random pages from all servers meanwhile, so that
these derive versions step by step and from different bases. After each round, all images of shelves are deleted, and a new server reads
every shelf in full. The responses of all other servers must equal its responses byte for byte, with their entity tags: orders, pages,
facets, totals, unions and diffs. Scores are scaled to the day, so a comparison at midnight is repeated. Only problems may differ, because they
contain the id of the request; their statuses may not.

The servers that are compared: one with the default settings, one that keeps no pages and little memory, one that reads from a replica, and one
that was started after the last round, and has read images of shelves and the changes since then.

The faults, all by default, and none of them with --faults none:
  import     a large file is imported slowly while prices of its products change, and transactions wait for locks in their turn
  replica    the replica replays late, and pauses at random
  trim       some recorded changes are deleted before a round, as they all are after an hour
  promotion  the primary is lost with commits that its standby lacks, and the standby is promoted
  restore    the database is restored under running servers: from a base backup with and without recovery, and from a dump

With --citus, the tables are distributed, and the stores move between two workers while they are written; only import and trim apply.

At the end, a product is removed from the recorded changes. All servers must differ from a new one then, or the comparison would prove nothing.
"""
import argparse, collections, concurrent.futures, contextlib, datetime, json, multiprocessing, os, random, re, shutil, subprocess, sys
import tempfile, threading, time, traceback, urllib.request
from pathlib import Path
from urllib.parse import quote
from harness import SECRET, Cluster, Server, free_port, print_logs, psql, send, status, until
from shelf_writers import (FACETS, PRODUCTS, SORTS, STORES, TREE, Client, Writer, is_expected, random_filter, random_price, random_rows,
                           random_sort)

FAULTS = ["import", "replica", "trim", "promotion", "restore"]
parser = argparse.ArgumentParser()
parser.add_argument("aisle", type=os.path.abspath)
parser.add_argument("--writes", type=int, default=3000, help="the writes of all rounds; promotion and restore add 340 for each loss of commits")
parser.add_argument("--writers", type=int, default=4)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
parser.add_argument("--faults", default=",".join(FAULTS))
parser.add_argument("--citus", action="store_true")
options = parser.parse_args()
faults = set(options.faults.split(",")) - {"none"}
assert faults <= set(FAULTS), f"the faults are {FAULTS}"
if options.citus:
    faults &= {"import", "trim"}

# The maximum time, in seconds, until servers use a database again after a fault, and until a standby has replayed everything.
RECOVERY = 60
# The limit of the lag of a replica, and how late it replays, in seconds.
LAG, DELAY = 2, 0.2
# The writes that a promotion or a restore loses, and those that follow it before the servers read.
LOST, BURST = 300, 40
# The number of differences that are printed.
SHOWN = 10


class Background:
    """Repeats some work in a thread until it is stopped; an error of the work is raised then."""

    def __init__(self, work):
        self.count, self.failure, self.is_over = 0, None, threading.Event()

        def run():
            try:
                while not self.is_over.is_set():
                    work(self.is_over)
                    self.count += 1
            except BaseException as error:
                self.failure = error

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def stop(self):
        self.is_over.set()
        self.thread.join(120)
        assert not self.thread.is_alive(), "a thread does not end"
        if self.failure:
            raise self.failure


# MARK: - Databases


class PlainDatabase:
    """A primary and a standby that follows it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="aisle-shelves-")
        os.chmod(self.folder, 0o755)
        self.primary, self.standby = self.clusters = [Cluster(self.folder, name) for name in ("first", "second")]
        self.own(self.folder)
        # A failure here leaves no server behind.
        try:
            self.initialize()
        except BaseException:
            self.close()
            raise

    def initialize(self):
        self.primary.run("initdb", "-D", self.primary.data, "-U", "aisle", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        self.primary.configure("wal_keep_size = '2GB'", "shared_buffers = '128MB'")
        self.primary.start()
        psql(self.admin, "CREATE DATABASE aisle TEMPLATE template0 ENCODING 'UTF8'")
        self.run("db", "migrate")
        self.follow()

    def own(self, path):
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", "postgres", path], check=True, timeout=60)

    @property
    def dsn(self):
        """Connects to whatever cluster is the primary."""
        ports = ",".join(str(cluster.port) for cluster in self.clusters)
        return f"host=localhost,localhost port={ports} user=aisle dbname=aisle target_session_attrs=read-write"

    @property
    def admin(self):
        return f"host=localhost port={self.primary.port} user=aisle dbname=postgres"

    @property
    def replica(self):
        return f"host=localhost port={self.standby.port} user=aisle dbname=postgres"

    @property
    def environment(self):
        return {**os.environ, "DATABASE_URL": self.dsn, "AISLE_JWT_SECRET": SECRET}

    def run(self, *words):
        done = subprocess.run([options.aisle, *words], cwd=self.folder, capture_output=True, text=True, timeout=300, env=self.environment)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def token(self, user, *scopes):
        return self.run("token", "--user", user, *(word for scope in scopes for word in ("--scope", scope))).strip()

    def sql(self, query):
        return psql(self.dsn, query)

    def server(self, reads_replica=False, **settings):
        if reads_replica:
            urls = " ".join(f"postgresql://aisle@localhost:{cluster.port}/aisle" for cluster in self.clusters)
            settings |= {"AISLE_READ_DSN": urls, "AISLE_READ_LAG_SECONDS": str(LAG)}
        return Server(options.aisle, self.folder, self.dsn, **settings)

    def follow(self):
        """Makes the standby follow the primary."""
        self.is_following = True
        self.standby.follow(self.primary, "hot_standby_feedback = on", f"recovery_min_apply_delay = '{DELAY}s'", "wal_retrieve_retry_interval = '200ms'")

    def catch_up(self):
        """Waits until the standby, unless it is lost, has replayed everything."""
        if not self.is_following:
            return
        position = psql(self.admin, "SELECT pg_current_wal_flush_lsn()")
        until(lambda: psql(self.replica, f"SELECT pg_last_wal_replay_lsn() >= '{position}'") == "t", RECOVERY, "the standby replays everything")

    def promote(self):
        """Loses the primary, and promotes the standby, which has stopped."""
        self.is_following = False
        self.primary.kill()
        self.standby.start()
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary

    def back_up(self, kind):
        """Saves the state to which `restore` returns."""
        if kind == "dump":
            self.primary.run("pg_dump", "-d", f"{self.admin} dbname=aisle", "-Fc", "-f", f"{self.folder}/dump")
        else:
            self.primary.run("pg_basebackup", "-D", f"{self.folder}/base", "-X", "stream", "-c", "fast", "-d", self.admin)

    def restore(self, kind):
        """Replaces the database at its address, as docs/operations/backup.md describes, but under running servers."""
        if kind == "dump":
            psql(self.admin, "CREATE DATABASE restored TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'")
            self.primary.run("pg_restore", "-d", f"{self.admin} dbname=restored", "--jobs", "2", "--exit-on-error", f"{self.folder}/dump")
            os.unlink(f"{self.folder}/dump")
            psql(self.admin, "DROP DATABASE aisle WITH (FORCE)")
            psql(self.admin, "ALTER DATABASE restored RENAME TO aisle")
            # Clients ask the standby, too.
            self.catch_up()
            return
        self.standby.kill()
        self.primary.kill()
        shutil.rmtree(self.primary.data)
        os.rename(f"{self.folder}/base", self.primary.data)
        if kind == "recovery":
            # The backup has the log that it needs.
            self.primary.configure("restore_command = 'false'", "recovery_target_timeline = 'latest'")
            Path(f"{self.primary.data}/recovery.signal").touch()
            self.own(self.primary.data)
        self.primary.start()
        until(lambda: psql(self.admin, "SELECT pg_is_in_recovery()") == "f", RECOVERY, "the recovery ends")
        if kind == "files":
            self.run("db", "restored")
        self.follow()

    def close(self):
        for cluster in self.clusters:
            with contextlib.suppress(Exception):
                cluster.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class DistributedDatabase:
    """A coordinator and two workers."""

    def __init__(self):
        sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Citus"))
        from database import distributed_database
        self.context = distributed_database(options.aisle, first_port=18200)
        self.database, self.servers = self.context.__enter__()
        self.folder, self.dsn, self.run, self.token = self.database.folder, self.database.dsn, self.database.run, self.database.token
        self.environment = {**os.environ, "DATABASE_URL": self.dsn, "AISLE_JWT_SECRET": SECRET}

    def sql(self, query):
        return psql(self.dsn, query)

    def server(self, reads_replica=False, **settings):
        return Server(options.aisle, self.folder, self.dsn, **settings)

    def catch_up(self):
        pass

    def close(self):
        self.context.__exit__(None, None, None)


# MARK: - Servers


class Observed:
    """A server whose reads of shelves are counted."""

    def __init__(self, database, name, **settings):
        self.name, self.admin = name, free_port()
        self.server = database.server(AISLE_ADMIN_PORT=str(self.admin), AISLE_SLOW_REQUEST_MS="0", **settings)
        self.base = self.server.base

    def metrics(self, pattern):
        """Returns the values of metrics by the first group of a pattern."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics", timeout=30) as answer:
            found = re.findall(rf"^{pattern} (\S+)$", answer.read().decode(), re.MULTILINE)
        return collections.Counter({key: round(float(value)) for key, value in found})

    @property
    def reads(self):
        """How many shelves were read, by kind: whole, image or changes."""
        return self.metrics(r'aisle_shelf_read_seconds_count\{kind="(\w+)"\}')

    def wait(self):
        until(lambda: status(self.base, "/readyz") == 200, RECOVERY, f"{self.name} is ready")


# MARK: - Comparison


def get(client, path):
    """Returns the status, the entity tag and the body of a response; those of problems have the id of the request, and are left out."""
    end = time.monotonic() + RECOVERY
    while True:
        code, body, headers = client.send("GET", path)
        if code not in (0, 503):
            return (code, headers["etag"], body) if code == 200 else (code, None, b"")
        assert time.monotonic() < end, f"no response within {RECOVERY} s: {path}"
        time.sleep(0.05)


def paths_of_shelf(client, dice, store, shelf, has_children):
    """Yields the paths of a shelf with their responses; those of following pages come from the responses."""
    base = f"/v1/stores/{store}/shelves/{shelf}"

    def walk(path):
        while path:
            found = get(client, path)
            yield path, found
            cursor = json.loads(found[2])["page"]["next_cursor"] if found[0] == 200 else None
            path = f"{re.sub('&cursor=.*', '', path)}&cursor={quote(cursor)}" if cursor else None

    paths = [base, f"{base}/products?limit=100&facets={FACETS}&total=true"]
    paths += [f"{base}/order?sort={sort}" for sort in SORTS + [random_sort(dice) for _ in range(4)]]
    paths += [f"{base}/order?sort={random_sort(dice)}{random_filter(dice)}" for _ in range(2)]
    paths += [f"{base}/products?limit=100&sort={random_sort(dice)}{random_filter(dice)}&facets={FACETS}&total=true" for _ in range(4)]
    paths += [f"{base}/order/diff?from_sort={random_sort(dice)}&to_sort={dice.choice(SORTS)}&limit=50"]
    for path in paths:
        yield path, get(client, path)
    yield from walk(f"{base}/products?limit=100&sort=name")
    yield from walk(f"{base}/products?limit=100&sort={random_sort(dice)}")
    if has_children:
        union = f"{base}/products?include=descendants&limit=100"
        for sort in dice.sample(SORTS[:-1], 6) + [random_sort(dice, manual=False) for _ in range(2)]:
            path = f"{union}&sort={sort}{dice.choice(['', random_filter(dice)])}&facets={FACETS}&total=true"
            yield path, get(client, path)
        yield from walk(f"{union}&sort={random_sort(dice, manual=False)}")


def responses(base, dice, further):
    """Returns all responses of a server, by path."""
    client, found = Client(base), {}
    stores = [store["key"] for store in json.loads(get(client, "/v1/stores")[2])["stores"]]
    for store in stores:
        path = f"/v1/stores/{store}/shelves?limit=100"
        found[f"/v1/stores/{store}"] = get(client, f"/v1/stores/{store}")
        found[path] = get(client, path)
        shelves = json.loads(found[path][2])["shelves"]
        parents = {shelf["parent"] for shelf in shelves}
        for _ in range(2):
            whole = f"/v1/stores/{store}/products?limit=100&sort={random_sort(dice, manual=False)}{random_filter(dice)}&facets={FACETS}&total=true"
            found[whole] = get(client, whole)
        for shelf in shelves:
            found.update(paths_of_shelf(client, dice, store, shelf["key"], shelf["key"] in parents))
    found.update((path, get(client, path)) for path in further)
    return found


def difference(expected, found, path=""):
    """Returns where two values differ first, and both of them there; nil if they are equal."""
    if type(expected) is type(found) and isinstance(expected, (dict, list)) and len(expected) == len(found):
        keys = range(len(expected)) if isinstance(expected, list) else expected
        for key in keys:
            if isinstance(found, dict) and key not in found:
                return f"{path}.{key}", expected[key], None
            inner = difference(expected[key], found[key], f"{path}.{key}")
            if inner:
                return inner
        return None
    return None if expected == found else (path or ".", expected, found)


def describe(expected, found):
    """Describes how two responses differ."""
    if expected[0] != found[0] or expected[0] != 200:
        return f"status {found[0]} instead of {expected[0]}"
    parsed = difference(json.loads(expected[2]), json.loads(found[2]))
    if parsed is None:
        return f"entity tag {found[1]} instead of {expected[1]}" if expected[2] == found[2] else "the bytes, but not the values"
    path, expected, found = parsed
    return f"at {path}: {json.dumps(found, ensure_ascii=False)[:1500]}\n    instead of {json.dumps(expected, ensure_ascii=False)[:1500]}"


def differing(server, expected):
    """Returns the paths of a server's responses that differ from the expected ones, with both responses."""
    client, wrong = Client(server.base), []
    for path, response in expected.items():
        found = get(client, path)
        if found != response:
            wrong.append((path, response, found))
    return wrong


class Test:
    """The servers on a database, and the counts of everything that was written, read and compared."""

    def __init__(self, database):
        self.database, self.dice = database, random.Random(options.seed)
        self.token = database.token("writer", "catalog:write")
        self.servers = []
        self.writes, self.statuses, self.background = collections.Counter(), collections.Counter(), collections.Counter()
        self.images = self.compared = self.checkpoints = self.round = 0
        # Paths of shelves and stores that a restore has removed.
        self.removed = []
        # The server that was started after the last round.
        self.newcomer = None

    # MARK: - Data

    def write(self, path, method, body, *expected):
        """Writes; again after a 503, because a pool that could not connect during a restore waits before it connects again."""
        end = time.monotonic() + RECOVERY
        while True:
            code, answer = send(self.servers[0].base, path, method, body, self.token, timeout=120)
            if code != 503 or time.monotonic() > end:
                break
            time.sleep(0.05)
        assert code in (expected or (200, 201, 204)), (method, path, code, answer)

    def add_stores(self):
        for store, settings in STORES.items():
            self.write(f"/v1/stores/{store}", "PUT", settings)
            for shelf, (parent, _) in TREE.items():
                self.write(f"/v1/stores/{store}/shelves/{shelf}", "PUT", {"title": shelf.title(), "parent": parent})
            rows = [(f"P{number}", shelf) for number in range(PRODUCTS[store]) for shelf, (_, share) in TREE.items() if self.dice.random() < share]
            self.write(f"/v1/stores/{store}/imports?max_rejects=0", "POST", "".join(random_rows(self.dice, rows, has_scores=True)).encode())

    # MARK: - Rounds

    def run_round(self, writes, reads=2, has_faults=True):
        """Lets processes write and read; returns the number of successful writes."""
        self.round += 1
        bases = [server.base for server in self.servers]
        progress, results = multiprocessing.Value("q", 0), multiprocessing.Queue()
        processes = []
        for number in range(options.writers):
            writer = Writer(f"{options.seed}-{self.round}-{number}", bases, self.token, options.aisle, self.database.folder,
                            self.database.environment, reads)
            arguments = (writer, writes // options.writers, progress, results)
            processes.append(multiprocessing.Process(target=work, args=arguments, daemon=True))
        for process in processes:
            process.start()
        threads = {name: Background(work) for name, work in self.disturbances(progress, writes).items()} if has_faults else {}
        found = []
        try:
            end = time.monotonic() + 120 + 2 * writes
            while len(found) < len(processes):
                with contextlib.suppress(multiprocessing.queues.Empty):
                    found.append(results.get(timeout=1))
                dead = [process.exitcode for process in processes if process.exitcode not in (None, 0)]
                assert not dead, f"a writer ended with {dead}"
                assert time.monotonic() < end, "the writers do not end"
        finally:
            for process in processes:
                process.join(10) if len(found) == len(processes) else process.terminate()
            for name, thread in threads.items():
                thread.stop()
                self.background[name] += thread.count
        count = 0
        for written, statuses, failures in found:
            self.writes.update(written)
            self.statuses.update(statuses)
            count += sum(number for (_, code), number in written.items() if 200 <= code < 300)
            for server in self.servers:
                assert server.server.is_running, f"{server.name} has ended with {server.server.process.returncode}"
            assert not failures, "unexpected responses:\n" + "\n".join(failures[:5])
        return count

    def disturbances(self, progress, writes):
        """Returns the work of threads that disturb a round, by name."""
        found = {}
        if "replica" in faults:
            found["pauses of the replica"] = self.pause_replica
        if "import" in faults:
            found["slow imports"] = lambda is_over: self.import_slowly(progress, is_over)
            found["price changes during imports"] = self.change_price
            if not options.citus:
                found["held locks"] = self.hold_locks
        if options.citus:
            found["moves of stores"] = self.move_store
        return found

    def pause_replica(self, is_over):
        is_over.wait(self.dice.uniform(0.2, 2))
        psql(self.database.replica, "SELECT pg_wal_replay_pause()")
        # Often longer than the limit of the lag.
        is_over.wait(self.dice.uniform(0.2, 2 * LAG))
        psql(self.database.replica, "SELECT pg_wal_replay_resume()")

    def import_slowly(self, progress, is_over):
        """Imports most products of the largest shelf, in pieces between which others write."""
        dice = random.Random(f"{options.seed}-{progress.value}")
        placements = [(f"P{number}", "wide") for number in dice.sample(range(PRODUCTS["zagreb"]), dice.choice([200, 1800]))]
        lines = random_rows(dice, placements)

        def pieces():
            for number in range(8):
                yield "".join(lines[number::8] if number else [lines[0], *lines[8::8]]).encode()
                goal, end = progress.value + 5, time.monotonic() + 0.8
                while progress.value < goal and time.monotonic() < end and not is_over.is_set():
                    is_over.wait(0.02)

        code, body, _ = Client(self.servers[0].base, self.token).send("POST", "/v1/stores/zagreb/imports?max_rejects=0", pieces())
        assert is_expected(code, body), (code, body)
        self.writes["import slowly", code] += 1
        is_over.wait(1)

    def change_price(self, is_over):
        client = Client(self.dice.choice(self.servers).base, self.token)
        code, body, _ = client.send("POST", "/v1/stores/zagreb/prices", [{"sku": f"P{self.dice.randrange(PRODUCTS['zagreb'])}", "price_minor": random_price(self.dice)}])
        assert is_expected(code, body), (code, body)
        self.writes["set a price during imports", code] += 1
        is_over.wait(0.02)

    def hold_locks(self, is_over):
        """Holds the lock of a shelf until several transactions wait for it, so that they commit in another order than they began."""
        key = self.dice.choice(list(TREE))
        self.database.sql(f"""DO $$ BEGIN
            PERFORM FROM shelf WHERE key = '{key}' ORDER BY store_id, shelf_id FOR NO KEY UPDATE;
            FOR i IN 1..40 LOOP
                EXIT WHEN (SELECT count(*) >= 3 FROM pg_stat_activity WHERE wait_event_type = 'Lock');
                PERFORM pg_stat_clear_snapshot(), pg_sleep(0.02);
            END LOOP; END $$""")
        is_over.wait(self.dice.uniform(0.1, 0.6))

    def move_store(self, is_over):
        store = self.dice.choice(list(STORES))
        self.database.database.move(store, 3 - self.database.database.node(store))
        is_over.wait(0.5)

    # MARK: - Checkpoints

    @contextlib.contextmanager
    def read_in_full(self):
        """Starts a server that finds no image, and yields it with its responses."""
        database = self.database
        for _ in range(5):
            database.sql("DELETE FROM shelf_image")
            fresh = Observed(database, "the server that reads in full")
            try:
                fresh.wait()
                client = Client(fresh.base)
                shelves = database.sql("SELECT s.key, h.key FROM store s JOIN shelf h USING (store_id) WHERE h.deleted_at IS NULL AND s.deleted_at IS NULL")
                for line in shelves.split("\n"):
                    store, shelf = line.split("|")
                    assert get(client, f"/v1/stores/{store}/shelves/{shelf}/order?sort=name")[0] == 200, line
                # Another server may have stored an image meanwhile.
                if fresh.reads["image"]:
                    continue
                expected = responses(fresh.base, random.Random(f"{options.seed}-{self.round}"), self.removed)
                assert fresh.reads["whole"] == len(shelves.split("\n")) and fresh.reads["changes"] == 0, fresh.reads
                yield fresh, expected
                return
            finally:
                fresh.server.kill()
        raise AssertionError("servers store images all the time")

    def compare(self, servers, expected):
        """Returns the servers' responses that differ from the expected ones: each server, the path and both responses."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            found = list(pool.map(lambda server: differing(server, expected), servers))
        return [(server, *one) for server, differences in zip(servers, found) for one in differences]

    def check(self, what, servers=None):
        """Compares servers, all by default, with a new one that reads all shelves in full."""
        start, database = time.monotonic(), self.database
        servers = list(servers or self.servers)
        imaged = Observed(database, "the server that read images")
        self.servers.append(imaged)
        # It reads them before it is ready.
        imaged.wait()
        self.images += imaged.reads["image"]
        database.catch_up()
        while True:
            day = today()
            with self.read_in_full() as (fresh, expected):
                wrong = self.compare([*servers, imaged], expected)
                if day != today():
                    continue
                if wrong:
                    self.explain(what, fresh, wrong)
                # For the server that starts after the next round.
                until(lambda: int(database.sql("SELECT count(*) FROM shelf_image")) >= len(TREE) * len(STORES), RECOVERY, "images are stored")
                break
        self.compared += len(expected) * (len(servers) + 1)
        self.checkpoints += 1
        # The new server follows the changes of the next round, from the images.
        if self.newcomer:
            self.servers.remove(self.newcomer)
            self.newcomer.server.kill()
        self.newcomer = imaged
        print(f"{what}: {len(servers) + 1} servers agree with a new one in {len(expected):,} responses "
              f"({sum(self.writes.values()):,} writes so far; the comparison took {time.monotonic() - start:.0f} s)", flush=True)

    def explain(self, what, fresh, wrong):
        """Prints differences, and fails."""
        print(f"{what}: {len(wrong)} responses differ from those of a server that has read all shelves in full (seed {options.seed}):")
        for server, count in collections.Counter(one[0].name for one in wrong).items():
            print(f"  {count} of {server}")
        for server, path, expected, found in wrong[:SHOWN]:
            again = get(Client(server.base), path), get(Client(fresh.base), path)
            print(f"{server.name}: {path}\n    {describe(expected, found)}\n    read again, they are {'equal' if again[0] == again[1] else 'different'}")
            place = re.match("/v1/stores/([^/]+)/shelves/([^/?]+)", path)
            if place:
                of_shelf = "c.store_id = s.store_id AND c.shelf_id = h.shelf_id"
                print("    the shelf's version and its last changes:", self.database.sql(f"""
                    SELECT h.version, (SELECT string_agg(format('%s after %s: %s', c.version, c.previous_version, c.skus), '; ') FROM (
                        SELECT * FROM shelf_change c WHERE {of_shelf} ORDER BY c.version DESC LIMIT 5) c)
                    FROM store s JOIN shelf h USING (store_id) WHERE s.key = '{place[1]}' AND h.key = '{place[2]}'""")[:1500])
        raise AssertionError(f"{len(wrong)} responses differ")

    def check_after_loss(self, what):
        """Compares every other server at once, and all servers after more writes."""
        for server in self.servers:
            server.wait()
        self.check(what, self.servers[::2])
        self.run_round(BURST, reads=0, has_faults=False)
        self.check(f"{what}, and after more writes")

    # MARK: - Losses of commits

    def versions(self):
        """Returns the sum of the versions of all shelves."""
        return int(self.database.sql("SELECT sum(version) FROM shelf"))

    def lose_primary(self):
        database = self.database
        database.catch_up()
        database.standby.stop()
        kept, lost = self.versions(), 0
        while lost < 200:
            lost += self.run_round(LOST, has_faults=False)
        assert self.versions() > kept
        database.promote()
        until(lambda: self.versions() == kept, RECOVERY, "the commits are lost")
        self.check_after_loss(f"after a promotion that lost {lost} writes")
        database.follow()

    def add(self, name, shelf):
        """Adds a store, and a shelf to another store; returns paths of them."""
        rows = [(f"P{number}", shelf) for number in self.dice.sample(range(60), 20)]
        for store in (name, "zagreb"):
            if store == name:
                self.write(f"/v1/stores/{store}", "PUT", {"title": name, "currency": "EUR"})
            self.write(f"/v1/stores/{store}/shelves/{shelf}", "PUT", {"title": shelf, "parent": None if store == name else "food"})
            self.write(f"/v1/stores/{store}/imports?max_rejects=0", "POST", "".join(random_rows(self.dice, rows)).encode())
        return [f"/v1/stores/{store}/shelves/{shelf}/{path}" for store in (name, "zagreb")
                for path in ("products?sort=price", "products?sort=price&include=descendants", "order?sort=price")]

    def restore(self, kind):
        database = self.database
        database.catch_up()
        database.back_up(kind)
        kept = self.versions()
        removed = self.add(f"lost-{kind}", f"lost-{kind}")
        lost = self.run_round(LOST, has_faults=False)
        for server in self.servers:
            server_client = Client(server.base)
            assert all(get(server_client, path)[0] == 200 for path in removed), removed
        database.restore(kind)
        assert self.versions() == kept, "commits survived"
        self.removed += removed
        for server in self.servers:
            server.wait()
        # They may get the ids of those that were lost.
        self.add(f"added-{kind}", f"added-{kind}")
        self.check_after_loss(f"after a restore ({kind}) that lost {lost} writes")

    # MARK: - The test

    def run(self):
        database = self.database
        self.servers += [
            Observed(database, "the default server"),
            Observed(database, "the server without cached pages", AISLE_PAGE_CACHE_MB="0", AISLE_SHELF_MEMORY="16"),
            Observed(database, "another server" if options.citus else "the server with a replica", reads_replica=True),
        ]
        first = list(self.servers)
        self.add_stores()
        for number in range(options.rounds):
            if number and "trim" in faults:
                database.sql("DELETE FROM shelf_change WHERE version % 50 = 7")
            self.run_round(options.writes // options.rounds)
            self.check(f"round {number + 1} of {options.rounds}")
        for server in first:
            reads = server.reads
            print(f"{server.name} derived {reads['changes']:,} versions of shelves, read {reads['whole']:,} in full and {reads['image']:,} from images")
            # Trimmed changes, imports and moved stores need reads of whole shelves and images, in short runs most reads.
            assert reads["changes"] > (reads["whole"] + reads["image"]) / 4, "the server derived too few versions"
        if not options.citus:
            reads, fallbacks = (sum(first[2].metrics(rf'aisle_replica_{kind}_total\{{replica="([^"]*)"\}}').values()) for kind in ("reads", "fallbacks"))
            print(f"the replica answered {reads:,} reads, {fallbacks:,} of which the primary repeated")
            assert reads > options.writes // 20, "the replica was not used"
        if "promotion" in faults:
            self.lose_primary()
        if "restore" in faults:
            for kind in ("recovery", "files", "dump"):
                self.restore(kind)
        self.summarize()
        self.prove()

    def summarize(self):
        total, succeeded = sum(self.writes.values()), collections.Counter()
        for (kind, code), count in sorted(self.writes.items()):
            if 200 <= code < 300:
                succeeded[kind] += count
        conflicts = collections.Counter()
        for (kind, code), count in self.writes.items():
            if not 200 <= code < 300:
                conflicts[code] += count
        print("successful writes:", ", ".join(f"{kind} {count:,}" for kind, count in succeeded.items()))
        print("other responses to writes:", dict(conflicts), "; reads by status:", dict(self.statuses), "; meanwhile:", dict(self.background))
        print(f"{sum(succeeded.values()):,} of {total:,} writes succeeded; {self.compared:,} responses were equal in {self.checkpoints} comparisons; "
              f"{self.images:,} shelves were read from images")
        assert sum(succeeded.values()) > 0.6 * total, "too few writes succeeded"
        assert self.statuses[503] <= 0.02 * sum(self.statuses.values()), "too many reads failed"
        assert self.images > 0, "no shelf was read from an image"
        if total > 3000:
            assert set(Writer.KINDS) <= set(succeeded), f"no write succeeded: {set(Writer.KINDS) - set(succeeded)}"

    def prove(self):
        """Changes a price, and removes the product from the recorded changes: servers that follow these must miss it."""
        database = self.database
        store = int(database.sql("SELECT store_id FROM store WHERE key = 'zagreb'"))
        product = database.sql(f"SELECT min(p.sku) FROM placement p JOIN shelf h USING (store_id, shelf_id) WHERE p.store_id = {store} AND h.key = 'wide'")
        self.write("/v1/stores/zagreb/prices", "POST", [{"sku": product, "price_minor": 7777}])
        database.sql(f"""
            UPDATE shelf_change c SET skus = '{{}}' FROM shelf h
            WHERE c.store_id = {store} AND h.store_id = {store} AND h.shelf_id = c.shelf_id AND h.version = c.version""")
        database.catch_up()
        with self.read_in_full() as (_, expected):
            paths = {path: one for path, one in expected.items() if path.startswith("/v1/stores/zagreb/shelves/wide")}
            wrong = self.compare(self.servers, paths)
        unnoticed = {server.name for server in self.servers} - {server.name for server, *_ in wrong}
        assert not unnoticed, f"a missing change is not noticed in the responses of {unnoticed}"
        print(f"a change that is not recorded leads to {len(wrong)} different responses")


def today():
    return datetime.datetime.now(datetime.timezone.utc).date()


def work(writer, writes, progress, results):
    """Writes in a process of its own, and reports what happened."""
    try:
        for _ in range(writes):
            writer.write()
            with progress.get_lock():
                progress.value += 1
            if writer.failures:
                break
    except BaseException:
        writer.failures.append(traceback.format_exc())
    results.put((writer.writes, writer.statuses, writer.failures))


def main():
    start = time.monotonic()
    print(f"seed: {options.seed}; faults: {', '.join(sorted(faults)) or 'none'}", flush=True)
    database = DistributedDatabase() if options.citus else PlainDatabase()
    test = None
    try:
        test = Test(database)
        test.run()
    except BaseException:
        if test:
            print_logs([server.server for server in test.servers])
        raise
    finally:
        for server in test.servers if test else []:
            with contextlib.suppress(Exception):
                server.server.kill()
        database.close()
    print(f"{time.monotonic() - start:.0f} s")
    print("shelf tests passed")


if __name__ == "__main__":
    main()
