"""Sends mutated HTTP requests over raw sockets, and expects neither a crash, a hang nor an unexplained 5xx.

Usage: fuzz.py AISLE [--requests N] [--seed S]. Slow and silent clients keep connections open meanwhile.
"""
import argparse, base64, json, multiprocessing, os, random, re, select, socket, time
from harness import Database, Server, status, until

parser = argparse.ArgumentParser()
parser.add_argument("aisle", type=os.path.abspath)
parser.add_argument("--requests", type=int, default=20_000)
parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
options = parser.parse_args()

SHELF = "/v1/stores/corner/shelves/dairy"
WORKERS = 8
# The longest wait for a response, which only a hang exceeds.
LIMIT = 30
# How long nothing happens after a response, and without one.
QUIET, PATIENCE = 0.02, 0.2
# How long a connection may be slow or silent.
CUT = 150
# How many requests a connection may carry.
BATCH = 40
# The maximum resident memory at the end, relative to the one after the first tenth.
MEMORY = 1.2
ODD = [b"\0", b"\xff", b"%00", b"%ff", b"%F0%9F%A5%9B", b"\r\n", b"\n", b" ", b"\t", b"'", b'"', b"--", b"/", b"..", b"?", b"&", b"=", b"{", b"[", b"]",
       b",", b"-", b"9" * 40, b"1e999", b"NaN", b"null", b"true", b"\xed\xa0\x80", b"\xe2\x80\xae", b"a" * 5000, b"[" * 200, b"-0", b"0.0000000000000001"]


def seeds(token, writer):
    """Valid requests: method, target, headers and body."""
    user, staff = [b"authorization: Bearer " + token], [b"authorization: Bearer " + writer]
    json_type = [b"content-type: application/json"]
    cursor = base64.urlsafe_b64encode(bytes(40)).rstrip(b"=").decode()
    for target in (
        f"{SHELF}/products?sort=price&limit=5", f"{SHELF}/products?sort=-unit_price,name&brand=a&price_min=1&in_stock=true&facets=brand,price",
        f"{SHELF}/products?cursor={cursor}", f"{SHELF}/order?sort=name", f"{SHELF}/order/diff?from_sort=price&to_sort=name&mode=order", "/v1/stores",
        "/v1/stores/corner", SHELF, "/v1/stores/corner/products/C1007", "/v1/stores/corner/products?sku=C1007&sku=C1010", f"{SHELF}/events?since=1&limit=3",
        "/livez", "/readyz", "/openapi.json", "/", "/docs", "/shop.js",
    ):
        yield b"GET", target.encode(), [], b""
    for target in ("/v1/me/settings?since=0", "/v1/me/lists?since=5", "/v1/me/export", "/v1/me/settings/a/b", "/v1/me/events?since=3"):
        yield b"GET", target.encode(), user, b""
    for method, target, body, headers in (
        ("PUT", "/v1/me/settings/theme", {"value": {"a": [1, "x", None]}}, user),
        ("PUT", "/v1/me/settings", {"settings": [{"key": "a", "value": 1, "modified_at": "2026-01-01T00:00:00Z"}]}, user),
        ("POST", "/v1/me/lists", {"name": "Fuzz", "sort": "price"}, user),
        ("POST", "/v1/me/lists/join", {"token": "x" * 43}, user), ("POST", "/v1/me/tickets", {}, user),
        ("POST", "/v1/me/merge", {"guest_token": token.decode()}, user),
        ("POST", "/v1/order/diff", {"from": ["a", "b", "c"], "to": ["c", "a", "d"]}, []),
        ("POST", f"{SHELF}/order/diff", {"from": ["C1007", "C1010"], "to_sort": "price"}, []),
        ("POST", f"{SHELF}/order/moves", {"moves": [{"ids": ["C1007"], "place": "first"}]}, staff),
        ("POST", f"{SHELF}/order/undo", {}, staff), ("PUT", f"{SHELF}/order", {"ids": ["C1007"]}, staff),
        ("PUT", "/v1/stores/corner/products/fuzz", {"name": "Fuzz", "price_minor": 99, "size": {"amount": "1.5", "unit": "l"}, "tags": ["a"]}, staff),
        ("PATCH", "/v1/stores/corner/products/C1007", {"price_minor": 300, "brand": None}, staff),
        ("PUT", "/v1/stores/corner/shelves/fuzz", {"title": "Fuzz", "default_sort": "-price,name"}, staff),
        ("PUT", "/v1/stores/fuzz", {"title": "Fuzz", "currency": "JPY", "unit_pricing": "us"}, staff),
        ("POST", "/v1/stores/corner/prices", [{"sku": "C1007", "price_minor": 301, "effective_at": None}], staff),
        ("POST", "/v1/stores/corner/purchases", [{"event_id": "00000000-0000-4000-8000-000000000001", "sku": "C1007", "quantity": 1, "at": "2026-01-01T00:00:00Z"}], staff),
    ):
        yield method.encode(), target.encode(), headers + json_type, json.dumps(body).encode()
    csv = b"sku,name,price,shelf,size\nf1,Fuzz,1.00,Dairy,500 g\nf2,\"Fu,zz\",2.00,Dairy,2x1 l\n"
    yield b"POST", b"/v1/stores/fuzz/imports?create_store=true&currency=EUR&dry_run=true", staff + [b"content-type: text/csv"], csv
    yield b"POST", b"/v1/stores/fuzz/imports?create_store=true&dry_run=true", staff + [b"content-type: application/x-ndjson"], b'{"sku":"f1","name":"x","price":"1.00"}\n'


def mutated(data, dice):
    data = bytearray(data)
    for _ in range(dice.choice([1, 1, 1, 2, 4, 8])):
        place, kind = dice.randrange(len(data) + 1), dice.randrange(6)
        if kind == 0:
            data[place:place] = dice.choice(ODD)
        elif kind == 1:
            data[place:place + dice.randrange(1, 8)] = b""
        elif kind == 2 and data:
            data[place % len(data)] ^= 1 << dice.randrange(8)
        elif kind == 3:
            data[place:place] = data[place:place + dice.randrange(1, 40)]
        elif kind == 4:
            end = place + dice.randrange(1, 12)
            data[place:end] = dice.choice(ODD)
        else:
            data[place:place + 1] = bytes([dice.randrange(256)])
    return bytes(data)


def request(dice, all_seeds):
    """A request with one or more mutated parts, and whether its framing is right, so that it must get a response.

    Most are framed right, so that they reach the handlers.
    """
    method, target, headers, body = dice.choice(all_seeds)
    part = dice.randrange(8)
    if part < 3:
        body = mutated(body, dice)
    elif part < 5:
        target = mutated(target, dice)
    elif part == 5:
        headers = [mutated(header, dice) for header in headers]
    elif part == 6:
        method = dice.choice([b"GET", b"PUT", b"POST", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS", mutated(method, dice)])
    head = [b"%s %s HTTP/1.1" % (method, target), b"host: localhost", *headers]
    if dice.random() < 0.1:
        head.append(b"expect: 100-continue")
    if body or method in (b"PUT", b"POST", b"PATCH"):
        if dice.random() < 0.1:
            head.append(b"transfer-encoding: chunked")
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        else:
            head.append(b"content-length: %d" % len(body))
    whole = b"\r\n".join(head) + b"\r\n\r\n" + body
    return (mutated(whole, dice), False) if part == 7 else (whole, True)


STATUS = re.compile(rb"HTTP/1\.1 (\d\d\d) ")
# The server sends this before the response if a request expects it.
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"
# The details of problems with 503.
BUSY = re.compile(rb'"status":503,"detail":"([^"]*)')
# The reason for a 503 in which nothing is wrong: more requests than the server has connections or slots for.
OVERLOADED = "the service is overloaded or its database is unreachable"


class Connection:
    """A connection that sends one request at a time."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=LIMIT)
        self.socket.setblocking(False)
        self.is_open = True

    def send(self, data, is_framed):
        """Sends a request, and returns the statuses of its responses, and the bodies of those with 503.

        There is none if the request is incomplete. Raises TimeoutError if the server does not read it, or does not respond to one
        that is framed right.
        """
        answer, end = b"", time.monotonic() + LIMIT
        while self.is_open:
            # An incomplete request gets no response, and a mutated one perhaps several: both are over when nothing happens.
            quiet = None if data else QUIET if STATUS.search(answer) else LIMIT if is_framed else PATIENCE
            reads, writes, _ = select.select([self.socket], [self.socket] if data else [], [], quiet if quiet is not None else 1)
            if not data and not reads:
                if quiet == LIMIT:
                    raise TimeoutError
                break
            if time.monotonic() > end:
                raise TimeoutError
            try:
                if writes:
                    data = data[self.socket.send(data):]
                if reads:
                    received = self.socket.recv(1 << 20)
                    self.is_open = bool(received)
                    answer = (answer + received).replace(INTERIM, b"")
                    if complete(answer):
                        break
            except OSError:
                self.is_open = False
        # A stream goes on; nothing can follow it.
        self.is_open = self.is_open and b"text/event-stream" not in answer
        return [int(code) for code in STATUS.findall(answer)], [found.decode("utf-8", "replace") for found in BUSY.findall(answer)]


def complete(answer):
    """Whether the bytes are exactly one response with a known length."""
    head, found, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    return bool(found and length and len(body) == int(length.group(1)))


def worker(port, seed, count, all_seeds, results):
    dice, statuses, bad, sent = random.Random(seed), {}, [], 0
    while sent < count and len(bad) < 20:
        try:
            connection = Connection(port)
        except OSError as error:
            bad.append(f"cannot connect after {sent} requests: {error}")
            break
        # After a request that is framed wrong, the server may take the next one for the rest of its body.
        is_clean = True
        for _ in range(BATCH):
            one, is_framed = request(dice, all_seeds)
            is_clean &= is_framed
            sent += 1
            try:
                codes, busy = connection.send(one, is_clean)
            except TimeoutError:
                bad.append(f"not read, or not answered, within {LIMIT} s: {one[:600]!r}")
                break
            for code in codes:
                statuses[code] = statuses.get(code, 0) + 1
                if code >= 500 and code != 503:
                    bad.append(f"{code}: {one[:600]!r}")
            for reason in busy:
                if reason != OVERLOADED:
                    bad.append(f"503, {reason}: {one[:600]!r}")
            if not codes or not connection.is_open:
                break
        connection.socket.close()
    results.put((sent, statuses, bad))


def silent(port, count):
    """Connections that send nothing, or the beginning of a body."""
    found = []
    for number in range(count):
        connection = socket.create_connection(("127.0.0.1", port), timeout=10)
        if number % 2:
            connection.sendall(b"POST /v1/order/diff HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n{")
        connection.setblocking(False)
        found.append(connection)
    return found


def is_cut(connection):
    """Whether the server has closed a connection."""
    try:
        while connection.recv(65536):
            pass
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


def fuzz(port, seed, requests, all_seeds):
    """Sends requests in parallel; returns their number, the responses by status, and what is wrong."""
    results = multiprocessing.Queue()
    children = [multiprocessing.Process(target=worker, args=(port, seed + number, requests // WORKERS, all_seeds, results))
                for number in range(WORKERS)]
    for child in children:
        child.start()
    total, statuses, bad = 0, {}, []
    for _ in children:
        sent, found, problems = results.get(timeout=6 * 3600)
        total += sent
        bad += problems
        for code, count in found.items():
            statuses[code] = statuses.get(code, 0) + count
    for child in children:
        child.join(60)
    assert not bad, "\n".join(bad[:20])
    return total, statuses


def main():
    print(f"seed {options.seed}", flush=True)
    database = Database(options.aisle)
    server = None
    try:
        server = Server(options.aisle, database.folder, database.dsn)
        all_seeds = list(seeds(database.token("fuzzer").encode(), database.token("staff", "catalog:write").encode()))
        quiet = silent(server.port, 300)
        for _ in range(20):
            assert status(server.base, f"{SHELF}/products?sort=price") == 200
        started = time.monotonic()
        # The first requests fill the caches.
        warm_up = options.requests // 10
        warm, _ = fuzz(server.port, options.seed, warm_up, all_seeds)
        before = server.resident
        total, statuses = fuzz(server.port, options.seed + WORKERS, options.requests - warm_up, all_seeds)
        until(lambda: all(is_cut(connection) for connection in quiet), CUT, "the server closes slow and silent connections")
        log = open(server.log).read()
        assert server.is_running, log[-3000:]
        assert "fault" not in log, log[-3000:]
        until(lambda: status(server.base, f"{SHELF}/products?sort=price") == 200, 10, "a page after the fuzzing")
        until(lambda: server.resident <= MEMORY * before, 60, f"the resident memory falls from {server.resident:.0f} to {before:.0f} MB")
        after = server.resident
        server.stop()
        print(f"{warm + total} requests in {time.monotonic() - started:.0f} s, 300 slow or silent connections were closed; 0 crashes, 0 hangs, "
              f"0 unexplained 5xx; responses {dict(sorted(statuses.items()))}; resident memory {before:.0f} MB after "
              f"the first tenth, {after:.0f} MB after all")
    finally:
        if server and server.is_running:
            server.kill()
        database.close()
    print("fuzz tests passed")


main()
