"""Tests that no answer is older than its request: writers wait for their answer and then read what they wrote, on two servers.

Usage: freshness.py AISLE [--writes N] [--seed S] [--citus]. Processes change prices and remembered sorts, each its own, and read pages from either
server, with the caches of the servers and of the client: every page must have the last write, also if the client sends the
entity tag of an earlier page. With --citus, the tables are distributed among two workers, from which the servers read pages, and the
shards of the store move from one to the other meanwhile.
"""
import argparse, contextlib, http.client, itertools, json, multiprocessing, os, random, sys, threading, time, urllib.request
from pathlib import Path
from harness import Database, Server, free_port

parser = argparse.ArgumentParser()
parser.add_argument("aisle", type=os.path.abspath)
parser.add_argument("--writes", type=int, default=8000)
parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
parser.add_argument("--citus", action="store_true")
options = parser.parse_args()

WRITERS = 8
SHELF = "/v1/stores/corner/shelves/dairy"
SORTS = ["price", "-price", "unit_price", "name", "-popularity", "brand"]


class Client:
    """Keeps a connection, and the last page of each path with its entity tag, as a browser does."""

    def __init__(self, port, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.authorization, self.pages = {"authorization": f"Bearer {token}"}, {}

    def send(self, method, path, body=None, headers={}):
        self.connection.request(method, path, None if body is None else json.dumps(body), {**self.authorization, "content-type": "application/json", **headers})
        answer = self.connection.getresponse()
        return answer.status, answer.read(), answer.headers

    def write(self, method, path, body):
        """Writes, and repeats the call while it waits too long for a shard that moves; returns the number of repetitions."""
        end = time.monotonic() + 30
        for repeats in itertools.count():
            status, answer, _ = self.send(method, path, body)
            if status == 200:
                return repeats
            assert status == 503 and options.citus and time.monotonic() < end, (status, answer)

    def page(self, path):
        tag, known = self.pages.get(path, (None, None))
        status, body, headers = self.send("GET", path, headers={"if-none-match": tag} if tag else {})
        if status == 304:
            return known
        assert status == 200, (status, body)
        page = json.loads(body)
        self.pages[path] = headers["etag"], page
        return page


def work(number, ports, token, sku, writes, seed, results):
    """Writes and reads; puts the number of pages that were older than their request, and the number of repeated writes."""
    chosen, stale, repeats = random.Random(f"{seed}-{number}"), 0, 0
    clients = [Client(port, token) for port in ports]
    for n in range(writes):
        writer, reader = chosen.choice(clients), chosen.choice(clients)
        if n % 4 == 3:
            sort = chosen.choice(SORTS)
            repeats += writer.write("PUT", f"/v1/me{SHELF[3:]}/sort", {"sort": sort})
            page = reader.page(f"{SHELF}/products?limit=100")
            stale += page["sort"] != {"keys": sort, "source": "user"}
        else:
            price = chosen.randrange(1, 1_000_000)
            repeats += writer.write("POST", "/v1/stores/corner/prices", [{"sku": sku, "price_minor": price}])
            # Often the same path, so that pages come from the caches.
            page = reader.page(f"{SHELF}/products?limit=100&sort={chosen.choice(SORTS[:2])}")
            found = [product["price_minor"] for product in page["products"] if product["sku"] == sku]
            stale += found != [price]
    results.put((stale, repeats))


@contextlib.contextmanager
def plain_database():
    database, servers = Database(options.aisle), []
    try:
        yield database, servers
    finally:
        for server in servers:
            server.kill()
        database.close()


def distributed_database():
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Citus"))
    from database import distributed_database
    return distributed_database(options.aisle, first_port=18000)


class Mover:
    """Moves the shards of the store between the workers until it is stopped."""

    def __init__(self, database):
        self.database, self.moves, self.failure, self.is_over = database, 0, None, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while not self.is_over.wait(0.5):
                self.database.move("corner", 3 - self.database.node("corner"))
                self.moves += 1
        except BaseException as error:
            self.failure = error

    def stop(self):
        self.is_over.set()
        self.thread.join(60)
        assert self.failure is None, self.failure
        assert not self.thread.is_alive() and self.moves > 2, f"{self.moves} moves"


def worker_metrics(port, name):
    """Returns the values of a metric for the workers."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return [float(line.split()[-1]) for line in answer.read().decode().split("\n") if line.startswith(f"aisle_worker_{name}{{")]


def test(database, servers):
    admin_ports = [free_port(), free_port()]
    servers += [Server(options.aisle, database.folder, database.dsn, AISLE_ADMIN_PORT=str(port)) for port in admin_ports]
    ports = [server.port for server in servers]
    first = Client(ports[0], database.token("reader"))
    skus = [product["sku"] for product in first.page(f"{SHELF}/products?limit=100")["products"]]
    assert len(skus) >= WRITERS, "the seed's shelf is too small"
    results = multiprocessing.Queue()
    writers = []
    for number in range(WRITERS):
        token = database.token(f"writer-{number}", "prices:write")
        arguments = (number, ports, token, skus[number], options.writes // WRITERS, options.seed, results)
        writers.append(multiprocessing.Process(target=work, args=arguments))
    for writer in writers:
        writer.start()
    mover = Mover(database) if options.citus else None
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0, f"a writer failed (seed {options.seed})"
    stale, repeats = map(sum, zip(*(results.get(timeout=10) for _ in writers)))
    assert stale == 0, f"{stale} of {options.writes} pages were older than their request (seed {options.seed})"
    print(f"{options.writes // WRITERS * WRITERS:,} writes were read at once, each on one of two servers")
    if mover:
        mover.stop()
        reads, fallbacks = ([worker_metrics(port, name) for port in admin_ports] for name in ("reads_total", "fallbacks_total"))
        assert all(min(counts) > options.writes // 20 for counts in reads), f"the servers did not read from both workers: {reads}"
        assert sum(map(sum, fallbacks)) > 0, "no read met a shard that had moved"
        print(f"the store moved {mover.moves} times between two workers, from which the servers read {sum(map(sum, reads)):,.0f} times; "
              f"{sum(map(sum, fallbacks)):,.0f} reads met a shard that had moved, and "
              f"{repeats} writes were repeated")


with distributed_database() if options.citus else plain_database() as (database, servers):
    test(database, servers)
