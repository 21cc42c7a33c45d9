"""Checks what operations cost in the database: pages read from its buffers, and bytes of write-ahead log.

These counts hardly vary between machines and runs, unlike times, so each has a limit: the value in costs.json and a tenth more, and a
little for noise. A change that needs more must raise the limit, and say why. Usage: costs.py AISLE [--record]
"""
import http.client, itertools, json, os, random, sys, time

from harness import *

LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "costs.json")
SORTS = ["price", "-unit_price", "-popularity", "brand", "name", "-created"]
STORE = "/v1/stores/generated"
SCOPES = "prices:write products:write order:write"


class Client:
    def __init__(self, user):
        self.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
        self.headers = {"content-type": "application/json", "authorization": f"Bearer {token(user, SCOPES)}"}

    def send(self, method, path, body=None):
        self.connection.request(method, path, json.dumps(body) if body is not None else None, self.headers)
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status < 300, (method, path, answer.status, content)
        return content


def pages(client, count):
    for number in range(count):
        client.send("GET", f"{STORE}/shelves/shelf-{1 + number % 90}/products?limit=24&sort={SORTS[number % len(SORTS)]}")


def price_changes(client, count):
    for number in range(count):
        client.send("PATCH", f"{STORE}/products/g{1 + number * 7 % 9000}", {"price_minor": 100 + random.randrange(900)})


def bulk_prices(client, count):
    for start in range(0, count, 100):
        client.send("POST", f"{STORE}/prices", [{"sku": f"g{1 + (start + index) * 7 % 9000}", "price_minor": 100 + random.randrange(900)} for index in range(100)])


def moves(client, count):
    shelf = f"{STORE}/shelves/shelf-7/order"
    ids = json.loads(client.send("GET", shelf + "?sort=position"))["ids"]
    for _ in range(count):
        moved, after = random.sample(ids, 2)
        client.send("POST", shelf + "/moves", {"moves": [{"ids": [moved], "after": after}]})


def remembered_sorts(client, count):
    for number in range(count):
        client.send("PUT", f"/v1/me/stores/generated/shelves/shelf-{1 + number % 90}/sort", {"sort": random.choice(SORTS)})


# Each operation with the size of the page cache in MB, and the number of shelves that it reads and leaves as they are.
OPERATIONS = {
    "a page, rendered": (pages, "0", 90), "a page from the cache": (pages, "32", 90), "a price change": (price_changes, "32", 0),
    "a price among 100": (bulk_prices, "32", 0), "a move": (moves, "32", 0), "a remembered sort": (remembered_sorts, "32", 0),
}
COUNT = 500
RUNS = itertools.count()


def counters():
    buffers = sql("costs", "SELECT sum(blks_hit + blks_read) FROM pg_stat_database WHERE datname = 'costs'")
    return int(buffers), int(sql("costs", "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"))


def wait(query, wanted, seconds):
    """Waits until a query returns a text."""
    deadline = time.monotonic() + seconds
    while (found := sql("costs", query)) != wanted:
        assert time.monotonic() < deadline, f"{query} returns {found} instead of {wanted}"
        time.sleep(0.05)


def used(operation, cache, shelves, count):
    """Returns buffers and bytes for some operations, including those of starting a server."""
    # Other values each time: a write that changes nothing costs little.
    random.seed(next(RUNS))
    # A server that starts reads the images of shelves with all changes since then, whose number would differ from run to run.
    if shelves == 0:
        sql("costs", "DELETE FROM shelf_image")
    before = counters()
    # Processes report their counts when they end.
    with served("costs", AISLE_PAGE_CACHE_MB=cache):
        operation(Client("costs"), count)
        if shelves > 0:
            # In the first run. Later ones only read the images.
            wait("SELECT count(*) FROM shelf_image", str(shelves), 60)
    wait("SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = 'costs' AND backend_type = 'client backend'", "0", 10)
    after = counters()
    return [late - early for early, late in zip(before, after)]


def measured(operation, cache, shelves):
    """Returns buffers and bytes per operation: the difference of two runs, so that the start of a server does not count."""
    used(operation, cache, shelves, COUNT)
    few, many = used(operation, cache, shelves, COUNT), used(operation, cache, shelves, 3 * COUNT)
    return {name: round((late - early) / (2 * COUNT), 1) for name, early, late in zip(("buffers", "wal"), few, many)}


def main():
    fresh("costs")
    run(AISLE, "seed", "--dsn", f"{DSN} dbname=costs", "--shelves", "100", "--products", "10000", "--seed", "7")
    # Without background work and copies of whole pages, whose number depends on checkpoints.
    for setting in ("full_page_writes = off", "autovacuum = off"):
        sql("postgres", f"ALTER SYSTEM SET {setting}")
    sql("postgres", "SELECT pg_reload_conf()")
    sql("costs", "VACUUM ANALYZE")
    try:
        found = {name: measured(*operation) for name, operation in OPERATIONS.items()}
    finally:
        for setting in ("full_page_writes", "autovacuum"):
            sql("postgres", f"ALTER SYSTEM RESET {setting}")
        sql("postgres", "SELECT pg_reload_conf()")
    if "--record" in sys.argv:
        with open(LIMITS, "w") as file:
            json.dump(found, file, indent=1)
            file.write("\n")
    with open(LIMITS) as file:
        known = json.load(file)
    exceeded = 0
    for name, costs in found.items():
        for unit, value in costs.items():
            limit = known[name][unit] * 1.1 + (0.3 if unit == "buffers" else 20)
            exceeded += value > limit
            print(f"{name}: {value:,.1f} {'buffers' if unit == 'buffers' else 'bytes of WAL'} (limit: {limit:,.1f}){' EXCEEDED' if value > limit else ''}")
    if exceeded:
        sys.exit(f"{exceeded} costs exceeded their limits; if that is intended, run: make test-costs RECORD=--record")
    print("cost tests passed")


try:
    main()
finally:
    run(AISLE, "db", "stop")
