"""Measures how one abusive client affects the latency of other clients.

The abuser's requests come from 127.0.0.1, the others' from 127.0.0.2, so that they are different clients.
"""
import asyncio, contextlib, http.client, json, multiprocessing, resource, statistics, subprocess, threading, time, urllib.error, urllib.request

from harness import BASE, PORT, ROUNDS, big, served, sql, token

SECONDS = 8
SHELF = "/v1/stores/generated/shelves/shelf-1"
OTHER = "/v1/stores/generated/shelves/shelf-77"


def percentile(values, part):
    return sorted(values)[int(len(values) * part)] if values else float("nan")


def requests(method, path, body, headers, pause, end, found):
    """Sends requests at a steady pace and appends (status, milliseconds)."""
    connection, due = None, time.perf_counter()
    while time.perf_counter() < end:
        due = max(due + pause, time.perf_counter())
        time.sleep(max(0, due - time.perf_counter()))
        start, status = time.perf_counter(), 0
        try:
            connection = connection or http.client.HTTPConnection("127.0.0.1", PORT, timeout=30, source_address=("127.0.0.2", 0))
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer.read()
            status = answer.status
        except (OSError, http.client.HTTPException):
            connection = None
        found.append((status, (time.perf_counter() - start) * 1000))


def others(seconds=SECONDS):
    """Returns the results of page reads and of settings writes."""
    pages, writes, end = [], [], time.perf_counter() + seconds
    user = {"content-type": "application/json", "authorization": f"Bearer {token('victim')}"}
    threads = [
        threading.Thread(target=requests, args=("GET", f"{OTHER}/products?sort=price&limit=24", None, {}, 0.01, end, pages)),
        threading.Thread(target=requests, args=("PUT", "/v1/me/settings/theme", '{"value":"dark"}', user, 0.02, end, writes)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return pages, writes


def wrk(path, clients, *headers):
    """An abuser that reads a path on many connections."""
    words = [word for header in headers for word in ("-H", header)]
    return subprocess.Popen(["wrk", "-t1", f"-c{clients}", f"-d{SECONDS + 6}s", "--timeout", "30s", *words, BASE + path], stdout=subprocess.DEVNULL)


def filtered():
    return [wrk(f"{SHELF}/products?facets=brand,price,tag&price_min=1&brand=", 32)]


def diffs():
    return [wrk(f"{SHELF}/order/diff?from_sort=price&to_sort=name", 300)]


def equal_diffs():
    """Diffs of a sort with itself: two whole orders are read, and the response is short."""
    return [wrk(f"{SHELF}/order/diff?from_sort=price&to_sort=price", 300)]


def known_orders():
    """Whole orders that the client has already: the response has no body."""
    with urllib.request.urlopen(BASE + SHELF + "/order?sort=name") as answer:
        tag = answer.headers["ETag"]
    return [wrk(f"{SHELF}/order?sort=name", 300, f"If-None-Match: {tag}")]


def process(target):
    child = multiprocessing.Process(target=target, daemon=True)
    child.start()
    return child


async def slow_reader():
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT, limit=1024)
    writer.write(f"GET {SHELF}/order?sort=name HTTP/1.1\r\nHost: a\r\n\r\n".encode() * 20)
    while True:
        await reader.read(1024)
        await asyncio.sleep(0.2)


async def stream():
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    writer.write(f"GET {OTHER}/events?sort=price HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    while await reader.read(65536):
        pass


def many(make, count):
    """Runs many connections in a process; those that fail are not replaced."""
    async def all():
        await asyncio.gather(*(make() for _ in range(count)), return_exceptions=True)
        await asyncio.sleep(3600)

    def work():
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        asyncio.run(all())

    return [process(work)]


def slow_readers():
    return many(slow_reader, 200)


def upload(path, body, kind, headers=None):
    request = urllib.request.Request(BASE + path, body, method="POST", headers={"content-type": kind, **(headers or {})})
    with contextlib.suppress(OSError, urllib.error.HTTPError, http.client.HTTPException):
        urllib.request.urlopen(request, timeout=60).read()


def large_diffs():
    ids = [f"product-{number}-of-a-large-list" for number in range(190_000)]
    body = json.dumps({"from": ids, "to": ids[::-1]}).encode()

    def work():
        while True:
            upload("/v1/order/diff", body, "application/json")
            time.sleep(0.01)

    return [process(work) for _ in range(4)]


def streams():
    writer = {"authorization": f"Bearer {token('writer', 'prices:write')}"}
    skus = sql("big", "SELECT sku FROM placement WHERE shelf_id = (SELECT shelf_id FROM shelf WHERE key = 'shelf-77') LIMIT 50").split()

    def change():
        for price in range(1, 1_000_000):
            body = json.dumps([{"sku": sku, "price_minor": price + index} for index, sku in enumerate(skus)]).encode()
            upload("/v1/stores/generated/prices", body, "application/json", writer)
            time.sleep(0.05)

    children = many(stream, 5000)
    time.sleep(3)
    return children + [process(change)]


def imports():
    rows = "".join(f"s{number},Product {number},1.00,Title {number}\n" for number in range(100_000))
    body = ("sku,name,price,shelf\n" + rows).encode()
    writer = {"authorization": f"Bearer {token('importer', 'catalog:write')}"}

    def work():
        upload("/v1/stores/abused/imports?create_store=true&currency=EUR&max_new_shelves=100000&dry_run=true", body, "text/csv", writer)

    return [process(work) for _ in range(2)]


ROWS = [
    ("facets and filters on 32 connections", filtered), ("GET order/diff on 300 connections", diffs),
    ("GET order/diff of equal sorts on 300 connections", equal_diffs), ("GET order with a known tag on 300 connections", known_orders),
    ("200 slow readers, 20 pipelined GET order each", slow_readers), ("four 12-MB POST order/diff", large_diffs),
    ("5,000 event streams and price changes", streams), ("two imports with 100,000 shelf titles", imports),
]


def measured():
    """Returns p50 and p99 of pages and of settings writes in milliseconds, and the numbers of failed and of all requests."""
    pages, writes = others()
    figures = [percentile([time for _, time in found], part) for found in (pages, writes) for part in (0.5, 0.99)]
    return figures, sum(status >= 500 or status in (0, 429) for status, _ in pages + writes), len(pages + writes)


def compared(abuse, limit):
    """Returns the measurements without and with an abuser, on one server."""
    with served("big", AISLE_RATE_LIMIT=limit):
        others(2)
        alone = measured()
        children = abuse()
        try:
            time.sleep(2)
            return alone, measured()
        finally:
            for child in children:
                child.kill()


def all(limit="6000/600"):
    big()
    print(f"Abuse by one client, rate limit {limit}; the median of {ROUNDS} runs, p50 and p99 of a page, p50 and p99 of a settings write:")
    for what, abuse in ROWS:
        runs = [compared(abuse, limit) for _ in range(ROUNDS)]
        median = [[statistics.median(run[side][0][figure] for run in runs) for figure in range(4)] for side in (0, 1)]
        ratios = [statistics.median(run[1][0][figure] / run[0][0][figure] for run in runs) for figure in range(4)]
        failed, count = (sum(run[1][part] for run in runs) for part in (1, 2))
        words = [" / ".join(f"{value:.1f}" for value in values) for values in (*median, ratios)]
        verdict = "reached" if failed == 0 and max(ratios) <= 3 else "missed"
        print(f"{what}: {words[1]} ms ÷ {words[0]} ms = {words[2]} (aim: ≤ 3), {failed} of {count} failed (aim: 0): {verdict}", flush=True)
