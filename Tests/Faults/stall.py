"""Tests a PostgreSQL that stops responding under load: directly, and behind a proxy that stalls.

Usage: stall.py AISLE [SECONDS]. A private PostgreSQL is stopped (SIGSTOP) for SECONDS, then continued. Every request gets a
response within its deadline plus one second, /readyz within one second, and the server recovers within two.
"""
import asyncio, contextlib, json, os, re, shutil, signal, subprocess, sys, tempfile, time
from harness import SECRET, free_port

AISLE = os.path.abspath(sys.argv[1])
STALL = float(sys.argv[2]) if len(sys.argv) > 2 else 60
# Time limits in seconds: those of the database lanes, and the maximum of the HTTP layer.
LIMITS = {"page": 5, "ready": 1, "ready-reads": 1, "setting": 20, "order": 40, "diff": 40, "move": 40, "export": 40, "write": 20}
GRACE = 1.0
RECOVERY = 2.0


class Proxy:
    """Forwards bytes to a unix socket until it has to stall."""

    def __init__(self, target):
        self.target, self.port, self.flowing = target, free_port(), asyncio.Event()
        self.flowing.set()

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port)

    async def serve(self, reader, writer):
        await self.flowing.wait()
        there = await asyncio.open_unix_connection(self.target)
        await asyncio.gather(self.pump(reader, there[1]), self.pump(there[0], writer), return_exceptions=True)

    async def pump(self, reader, writer):
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                await self.flowing.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


class Client:
    """Sends requests one after another, each on a new connection, and records their durations."""

    def __init__(self, port, token):
        self.port, self.token, self.seen, self.stopped = port, token, [], False

    async def send(self, kind, method, path, body=None):
        payload = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {self.token}\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(payload)}\r\n"
        start, status = time.monotonic(), 0
        try:
            async with asyncio.timeout(180):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(head.encode() + b"\r\n" + payload)
                line = await reader.readline()
                status = int(line.split()[1]) if line else 0
                await reader.read()
                writer.close()
        except (OSError, TimeoutError):
            status = -1
        self.seen.append((kind, status, start, time.monotonic() - start))
        return status

    async def repeat(self, kind, method, path, body=None):
        while not self.stopped:
            await self.send(kind, method, path, body(len(self.seen)) if callable(body) else body)


def loads(client):
    """The requests that the clients repeat."""
    shelf = "/v1/stores/corner/shelves/dairy"
    yield from [("page", "GET", shelf + "/products?sort=price&limit=24")] * 4
    yield ("page", "GET", shelf + "/products?sort=name&facets=brand&in_stock=true")
    yield ("ready", "GET", "/readyz")
    yield ("ready-reads", "GET", "/readyz?for=reads")
    yield from [("setting", "PUT", "/v1/me/settings/a", lambda n: {"value": n})] * 2
    yield ("setting", "GET", "/v1/me/settings")
    yield ("order", "GET", shelf + "/order?sort=unit_price")
    yield ("diff", "GET", shelf + "/order/diff?from_sort=price&to_sort=name")
    yield ("move", "POST", shelf + "/order/moves", lambda n: {"moves": [{"ids": ["C1010"], "place": "first" if n % 2 else "last"}]})
    yield ("export", "GET", "/v1/me/export")
    yield ("write", "PATCH", "/v1/stores/corner/products/C1007", lambda n: {"price_minor": 300 + n % 50})


async def trial(name, server_port, token, stop, go):
    client = Client(server_port, token)
    tasks = [asyncio.create_task(client.repeat(*load)) for load in loads(client)]
    await asyncio.sleep(2)
    before = len(client.seen)
    assert before > 20 and all(200 <= status < 300 for _, status, _, _ in client.seen), client.seen[:20]
    stop()
    stalled = time.monotonic()
    await asyncio.sleep(STALL)
    go()
    gone_on = time.monotonic()
    # After the recovery, each kind of request succeeds.
    well = {}
    while len(well) < len(LIMITS) and time.monotonic() < gone_on + 30:
        await asyncio.sleep(0.02)
        for kind, status, start, took in client.seen[before:]:
            if start > gone_on and 200 <= status < 300:
                well.setdefault(kind, start + took - gone_on)
    client.stopped = True
    await asyncio.wait_for(asyncio.gather(*tasks), 120)
    failures = []
    for kind, limit in LIMITS.items():
        during = [took for k, _, start, took in client.seen if k == kind and start + took > stalled and start < gone_on]
        worst = max(during, default=0)
        print(f"{name}: {kind}: {len(during)} requests, longest {worst:.2f} s (deadline {limit} s), "
              f"well again after {well.get(kind, float('inf')):.2f} s", flush=True)
        if worst > limit + (0 if kind.startswith("ready") else GRACE):
            failures.append(f"{kind} took {worst:.2f} s")
        if well.get(kind, float("inf")) > RECOVERY:
            failures.append(f"{kind} was not well again within {RECOVERY} s")
        faults = [s for k, s, _, _ in client.seen if k == kind and s in (-1, 0, 500)]
        if faults:
            failures.append(f"{kind}: answers {set(faults)}")
    return [f"{name}: {failure}" for failure in failures]


def processes(folder):
    """The server processes of a private PostgreSQL, its postmaster first."""
    with open(folder + "/data/postmaster.pid") as file:
        postmaster = int(file.readline())
    children = subprocess.run(["pgrep", "-P", str(postmaster)], capture_output=True, text=True, timeout=10).stdout.split()
    return [postmaster] + [int(child) for child in children]


async def main():
    print("seed: none, because nothing is random")
    folder = tempfile.mkdtemp(prefix="aisle-faults-")
    os.chmod(folder, 0o755)
    failures = []

    def run(*words, **more):
        return subprocess.run([AISLE, *words], cwd=folder, check=True, capture_output=True, text=True, timeout=120, **more).stdout

    try:
        dsn = run("db", "start").strip()
        run("db", "migrate")
        run("seed")
        sockets = re.search(r"host='([^']*)'", dsn).group(1)
        home = os.path.dirname(sockets)
        environment = {**os.environ, "AISLE_JWT_SECRET": SECRET, "AISLE_RATE_LIMIT": "off"}
        token = run("token", "--user", "ann", "--scope", "catalog:write", env=environment).strip()
        proxy = Proxy(sockets + "/.s.PGSQL.5432")
        await proxy.start()
        for name, address in [("stopped", dsn), ("proxy", f"host=127.0.0.1 port={proxy.port} user=aisle dbname=aisle")]:
            port = free_port()
            server = subprocess.Popen([AISLE, "serve", "--port", str(port)], cwd=folder, stderr=subprocess.PIPE, text=True,
                                      env={**environment, "DATABASE_URL": address})
            try:
                await asyncio.wait_for(asyncio.to_thread(lambda: next(l for l in server.stderr if "Listening on" in l)), 30)
                # Read and discard the log, so that the pipe does not fill up.
                drain = asyncio.create_task(asyncio.to_thread(lambda: [None for _ in server.stderr]))
                stopped = []

                def stop():
                    if name == "proxy":
                        return proxy.flowing.clear()
                    stopped[:] = processes(home)
                    for process in stopped:
                        os.kill(process, signal.SIGSTOP)

                def go():
                    if name == "proxy":
                        return proxy.flowing.set()
                    for process in stopped + processes(home):
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(process, signal.SIGCONT)

                try:
                    failures += await trial(name, port, token, stop, go)
                finally:
                    go()
            finally:
                server.terminate()
                try:
                    await asyncio.to_thread(server.wait, 60)
                except subprocess.TimeoutExpired:
                    server.kill()
                    failures.append(f"{name}: the server did not stop")
            await drain
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            run("db", "stop")
        shutil.rmtree(folder, ignore_errors=True)
    for failure in failures:
        print("FAILED:", failure)
    if failures:
        sys.exit(1)
    print("fault tests passed")


asyncio.run(main())
