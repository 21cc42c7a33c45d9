"""Tests that no answer is older than its request: writers wait for their answer and then read what they wrote, on two servers.

Usage: freshness.py AISLE [--writes N] [--seed S]. Processes change prices and remembered sorts, each its own, and read pages from either
server, with the caches of the servers and of the client: every page must have the last write, also if the client sends the
entity tag of an earlier page.
"""
import argparse, http.client, json, multiprocessing, os, random
from harness import Database, Server

parser = argparse.ArgumentParser()
parser.add_argument("aisle", type=os.path.abspath)
parser.add_argument("--writes", type=int, default=8000)
parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
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
    """Writes and reads; puts the number of pages that were older than their request."""
    chosen, stale = random.Random(f"{seed}-{number}"), 0
    clients = [Client(port, token) for port in ports]
    for n in range(writes):
        writer, reader = chosen.choice(clients), chosen.choice(clients)
        if n % 4 == 3:
            sort = chosen.choice(SORTS)
            status, body, _ = writer.send("PUT", f"/v1/me{SHELF[3:]}/sort", {"sort": sort})
            assert status == 200, (status, body)
            page = reader.page(f"{SHELF}/products?limit=100")
            stale += page["sort"] != {"keys": sort, "source": "user"}
        else:
            price = chosen.randrange(1, 1_000_000)
            status, body, _ = writer.send("POST", "/v1/stores/corner/prices", [{"sku": sku, "price_minor": price}])
            assert status == 200, (status, body)
            # Often the same path, so that pages come from the caches.
            page = reader.page(f"{SHELF}/products?limit=100&sort={chosen.choice(SORTS[:2])}")
            found = [product["price_minor"] for product in page["products"] if product["sku"] == sku]
            stale += found != [price]
    results.put(stale)


database = Database(options.aisle)
servers = []
try:
    servers = [Server(options.aisle, database.folder, database.dsn) for _ in range(2)]
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
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0, f"a writer failed (seed {options.seed})"
    stale = sum(results.get(timeout=10) for _ in writers)
    assert stale == 0, f"{stale} of {options.writes} pages were older than their request (seed {options.seed})"
    print(f"{options.writes // WRITERS * WRITERS:,} writes were read at once, each on one of two servers")
finally:
    for server in servers:
        server.kill()
    database.close()
