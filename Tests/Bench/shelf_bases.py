"""The programs, databases and requests of the benchmarks of shelves.

AISLE_BENCH_OTHER is the path of another release executable. With it, each figure is measured with both programs in turn, each on databases
of its own. Databases are kept for later runs.
"""
import contextlib, http.client, json, os, statistics, subprocess, time, urllib.request

import pages
from harness import *

PROGRAMS = {"this": AISLE} | ({"other": os.path.abspath(os.environ["AISLE_BENCH_OTHER"])} if "AISLE_BENCH_OTHER" in os.environ else {})
SECONDS_EACH = float(os.environ.get("AISLE_BENCH_SECONDS", 3))
TAIL_SHELVES, TAIL_SIZE = 10_000, 100
STORE = "/v1/stores/generated/shelves"
ADMIN_PORT = 18082


def turns(turn):
    """Returns the names and paths of the programs, in the reverse order in every second turn."""
    return list(PROGRAMS.items())[::-1 if turn % 2 else 1]


def database(name, program):
    return name if program == "this" else f"{name}_{program}"


def shelves_near(base, size, count=1):
    """Returns the shelves of the store whose numbers of products are nearest to a size."""
    return sql(base, f"SELECT key FROM shelf ORDER BY abs(product_count - {size}), key LIMIT {count}").split()


def shelf_near(base, size):
    return shelves_near(base, size)[0]


def write_paths(name, paths):
    """Writes the paths for the load generator, from the most to the least popular."""
    with open(f"{FOLDER}/{name}", "w") as file:
        file.write("\n".join(paths))


def sorted_pages(shelves):
    """Returns the paths of the pages of shelves, the sorts of a shelf after one another."""
    return [f"{STORE}/{shelf}/products?limit=24&sort={order}" for shelf in shelves for order in pages.SORTS]


def send(connection, method, path, body=None):
    """Sends a request, and reads the whole response; those that write are of a user with the scopes for it."""
    headers = {} if method == "GET" else {"authorization": f"Bearer {token('writer', 'products:write order:write')}"}
    if body:
        headers["content-type"] = "application/json"
    connection.request(method, path, json.dumps(body) if body else None, headers)
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status in (200, 201, 204), (method, path, answer.status, content)
    return content


def timed(connection, path):
    """Returns the time of a page, in microseconds."""
    start = time.perf_counter()
    send(connection, "GET", path)
    return (time.perf_counter() - start) * 1e6


def metrics():
    """Returns the metrics of the server whose admin port is ADMIN_PORT, by name and labels."""
    with urllib.request.urlopen(f"http://127.0.0.1:{ADMIN_PORT}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def shelf_reads(kind):
    """Returns how often the server has read a shelf into memory in a way: `whole`, `image` or `changes`; 0 with a program that has none."""
    return metrics().get(f'aisle_shelf_read_seconds_count{{kind="{kind}"}}', 0)


def catalog_file(path, shelves, size, shift=0):
    """Writes a catalog of one store; the prices depend on the shift."""
    with open(path, "w") as file:
        file.write("store,shelf,sku,name,brand,price,currency,size,popularity,tags,barcode,image_url\n")
        for number in range(shelves * size):
            file.write(f"generated,Shelf {number // size},g{number},Fresh Cheese {number * 7919 % 999983},Brand {number % 3000},{number % 97}.{(number + shift) % 90 + 10},EUR,"
                       f"{number % 900 + 100} g,{number * 31 % 5000},organic,{4000000000000 + number},https://images.example.com/products/{number}-front.webp\n")


def import_words(program, path, base):
    """Returns the command that imports a file."""
    return [program, "import", path, "--create-store", "--max-new-shelves", str(TAIL_SHELVES), "--dsn", f"{DSN} dbname={base}"]


def tail(name, program):
    """Creates a million products on 10,000 shelves of 100."""
    base = database("tail", name)
    if exists(base):
        run(program, "db", "migrate", "--dsn", f"{DSN} dbname={base}")
        return base
    path = f"{FOLDER}/tail.csv"
    catalog_file(path, TAIL_SHELVES, TAIL_SIZE)
    fresh(base, program)
    try:
        run(*import_words(program, path, base))
        sql(base, "VACUUM ANALYZE")
    except BaseException:
        sql("postgres", f"DROP DATABASE {base} WITH (FORCE)")
        raise
    os.remove(path)
    return base


def has_images(base):
    """Returns whether the program of a database stores images of shelves."""
    return sql(base, "SELECT to_regclass('shelf_image') IS NOT NULL") == "t"


def image_count(base):
    """Returns the number of stored images of shelves; 0 with a program that stores none."""
    return int(sql(base, "SELECT count(*) FROM shelf_image")) if has_images(base) else 0


def settle(base, load):
    """Repeats a load until hardly any shelf is without its image."""
    before = -1
    while (found := image_count(base)) > before * 1.01:
        before = found
        load()


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not so after {seconds} seconds"
        time.sleep(0.2)


@contextlib.contextmanager
def session(base):
    """Starts psql, and yields a function that executes a statement over its connection."""
    words = ["psql", f"{DSN} dbname={base}", "-qAtX", "-v", "ON_ERROR_STOP=1"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        def execute(text):
            process.stdin.write(f"{text}; SELECT 'done';\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n", text

        yield execute


def unrecorded(shelf):
    """Returns the statement that raises the version of a shelf and records no change: servers cannot follow, and its image is of no use."""
    return f"UPDATE shelf SET version = version + 1 WHERE key = '{shelf}'"


def read_in_turn(paths):
    """Reads the pages of a file for the load generator one after the other, one of each shelf: many first reads at once may time out."""
    with open(f"{FOLDER}/{paths}") as file:
        first = {path.split("/")[5]: path for path in reversed(file.read().split())}
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    for path in first.values():
        send(connection, "GET", path)
    connection.close()


def compare(what, ours, theirs, aim):
    """Prints the medians of two lists of measurements and that of their ratios in each round; returns them."""
    ratio = statistics.median(one / other for one, other in zip(ours, theirs))
    result = {"measured": statistics.median(ours), "reference": statistics.median(theirs), "ratio": ratio}
    print(f"{what}: {result['measured']:,.2f} ÷ {result['reference']:,.2f} = {ratio:.2f}" + (f" (aim: {aim})" if aim else ""), flush=True)
    return result
