"""Imports with one new shelf per row: how the time grows, and the effect on page latency."""
import http.client, statistics, threading, time, urllib.request
from harness import BASE, FOLDER, PORT, DSN, AISLE, fresh, run, served, show, sql, token

ROWS = (10_000, 100_000)
PAGE = "/v1/stores/corner/shelves/dairy/products?sort=price&limit=24"


def file(rows):
    path = f"{FOLDER}/titles-{rows}.csv"
    with open(path, "w") as out:
        out.write("store,sku,name,price,shelf\n")
        out.writelines(f"titles,s{n},Product {n},1.00,Title {n}\n" for n in range(rows))
    return path


def times():
    """Measures the seconds of an import into an empty database, by the number of rows and shelves."""
    found = []
    for rows in ROWS:
        path, spent = file(rows), []
        for _ in range(3):
            fresh("titles")
            start = time.perf_counter()
            run(AISLE, "import", path, "--create-store", "--dsn", f"{DSN} dbname=titles", "--max-new-shelves", str(rows))
            spent.append(time.perf_counter() - start)
        found.append(statistics.median(spent))
    show("100,000 rows with as many new shelves ÷ 10,000 with as many, s", found[1], found[0], "≤ 12")


def p99(seconds, done=None):
    """Returns the 99th percentile of sequential page requests, in milliseconds."""
    connection, spent, end = http.client.HTTPConnection("127.0.0.1", PORT), [], time.monotonic() + seconds
    while time.monotonic() < end and not (done and done.is_set()):
        start = time.perf_counter()
        connection.request("GET", PAGE)
        assert connection.getresponse().read()
        spent.append((time.perf_counter() - start) * 1000)
    return sorted(spent)[int(len(spent) * 0.99)]


def pages():
    """Measures pages alone and during such an import over HTTP."""
    fresh("titles")
    run(AISLE, "seed", "--dsn", f"{DSN} dbname=titles")
    paths = [file(ROWS[1])]
    with served("titles"):
        p99(2)
        alone = p99(5)
        writer, done = token("importer", "catalog:write"), threading.Event()

        def upload(number, path):
            with open(path, "rb") as body:
                text = body.read().replace(b"titles,", f"titles-{number},".encode())
            query = "create_store=true&currency=EUR&max_new_shelves=100000"
            request = urllib.request.Request(f"{BASE}/v1/stores/titles-{number}/imports?{query}", text, method="POST", headers={
                "content-type": "text/csv", "authorization": f"Bearer {writer}"})
            urllib.request.urlopen(request, timeout=600).read()

        uploads = [threading.Thread(target=upload, args=item) for item in enumerate(paths)]
        for thread in uploads:
            thread.start()

        def wait():
            for thread in uploads:
                thread.join()
            done.set()

        threading.Thread(target=wait).start()
        beside = p99(600, done)
    show("p99 of a page beside such an import ÷ alone, ms", beside, alone, "≤ 5")
    assert sql("titles", "SELECT count(*) FROM shelf WHERE key LIKE 'title-%'") == "100000"


def all():
    times()
    pages()
