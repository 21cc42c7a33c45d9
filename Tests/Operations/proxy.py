"""Tests packaging/nginx/aisle.conf with a real nginx: TLS, HTTP/2, streams, imports, limits, and the headers that it passes.

Usage: proxy.py AISLE.
"""
import http.client, http.server, json, os, re, shutil, socket, ssl, subprocess, sys, tempfile, threading, time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Faults")]
from documents import ROOT
from harness import Database, Server, free_port, until

AISLE = os.path.abspath(sys.argv[1])
PAGE = "/v1/stores/corner/shelves/dairy/products?sort=price&limit=5"
# The quota of an address: a page costs one point.
QUOTA = 60


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Proxy:
    """An nginx with the example's configuration, on free ports, with a certificate for shop.example."""

    def __init__(self, folder, upstream):
        self.folder, self.port, self.plain_port = folder, free_port(), free_port()
        os.makedirs(folder)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=shop.example", "-addext", "subjectAltName=DNS:shop.example", "-keyout", "key.pem", "-out", "cert.pem"],
                       cwd=folder, check=True, capture_output=True, timeout=60)
        with open(f"{ROOT}/packaging/nginx/aisle.conf") as file:
            text = file.read()
        for old, new in (("127.0.0.1:8080", f"127.0.0.1:{upstream}"), ("listen 443 ", f"listen 127.0.0.1:{self.port} "),
                         ("listen 80;", f"listen 127.0.0.1:{self.plain_port};"),
                         ("/etc/ssl/certs/shop.example.pem", f"{folder}/cert.pem"), ("/etc/ssl/private/shop.example.key", f"{folder}/key.pem")):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        with open(f"{folder}/aisle.conf", "w") as file:
            file.write(text)
        paths = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(f"{folder}/nginx.conf", "w") as file:
            file.write(f"""daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
{"user root;" if os.getuid() == 0 else ""}
events {{ worker_connections 1024; }}
http {{
    log_format ids '$status $aisle_request_id';
    access_log {folder}/access.log ids;
    {paths}
    include {folder}/aisle.conf;
}}
""")
        words = ["/usr/sbin/nginx", "-p", folder, "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"]
        tested = subprocess.run([*words, "-t"], capture_output=True, text=True, timeout=30)
        assert tested.returncode == 0 and "warn" not in tested.stderr, tested.stderr
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: self.process.poll() is not None or accepts(self.port), 10, "nginx starts")
        assert self.process.poll() is None, open(f"{folder}/error.log").read()

    @property
    def curl(self):
        """The beginning of a command that calls the proxy by its name, over HTTP/2."""
        return ["curl", "--silent", "--show-error", "--http2", "--cacert", f"{self.folder}/cert.pem", "--max-time", "60",
                "--resolve", f"shop.example:{self.port}:127.0.0.1"]

    def url(self, path):
        return f"https://shop.example:{self.port}{path}"

    def call(self, path, *words):
        """Returns the HTTP version, the status, the headers and the body of a response."""
        mark = "\n%{http_version} %{http_code} %{header_json}"
        done = subprocess.run([*self.curl, *words, "--write-out", mark, self.url(path)], capture_output=True, timeout=90)
        assert done.returncode == 0, done.stderr
        body, _, rest = done.stdout.rpartition(b"\n2 ") if b"\n2 " in done.stdout else done.stdout.rpartition(b"\n1.1 ")
        assert rest, done.stdout
        code, _, headers = rest.partition(b" ")
        return "2" if b"\n2 " in done.stdout else "1.1", int(code), json.loads(headers), body

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


class Echo(http.server.BaseHTTPRequestHandler):
    """An upstream that returns the headers that it gets, and counts its connections."""
    protocol_version = "HTTP/1.1"
    connections = 0

    def setup(self):
        super().setup()
        Echo.connections += 1

    def do_GET(self):
        body = json.dumps({name.lower(): value for name, value in self.headers.items()}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def from_address(proxy, address, path, headers=None):
    """Returns the status of a request that reaches the proxy from an address of this machine."""
    context = ssl.create_default_context(cafile=f"{proxy.folder}/cert.pem")
    # The certificate is for the name.
    context.check_hostname = False
    connection = http.client.HTTPSConnection("127.0.0.1", proxy.port, timeout=30, source_address=(address, 0), context=context)
    try:
        connection.request("GET", path, headers={"host": "shop.example", **(headers or {})})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def passes_headers(folder):
    upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    proxy = Proxy(f"{folder}/echo", upstream.server_port)
    try:
        trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        version, status, _, body = proxy.call("/v1/stores", "-H", f"traceparent: {trace}", "-H", "x-request-id: mine", "-H", "if-none-match: \"a\"",
                                              "-H", "idempotency-key: k", "-H", "x-forwarded-for: 203.0.113.9")
        seen = json.loads(body)
        assert (version, status) == ("2", 200)
        assert seen["traceparent"] == trace and seen["x-request-id"] == "mine" and seen["idempotency-key"] == "k", seen
        assert seen["if-none-match"] == '"a"' and seen["host"] == "shop.example", seen
        assert seen["x-forwarded-for"] == "203.0.113.9, 127.0.0.1" and "connection" not in seen, seen
        made = json.loads(proxy.call("/v1/stores")[3])["x-request-id"]
        assert re.fullmatch("[0-9a-f]{32}", made), made
        for _ in range(20):
            proxy.call("/v1/stores")
        assert Echo.connections <= 2, f"{Echo.connections} connections for 22 requests"
        print("nginx passes ids, traces, conditions and the client's address, and keeps its connections")
    finally:
        proxy.stop()
        upstream.shutdown()


def serves(proxy, server):
    version, status, headers, body = proxy.call(PAGE)
    direct = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    direct.request("GET", PAGE)
    answer = direct.getresponse()
    assert (version, status) == ("2", 200) and body == answer.read(), body
    assert headers["etag"] == [answer.headers["etag"]] and headers["strict-transport-security"] == ["max-age=31536000"], headers
    assert proxy.call(PAGE, "-H", f"if-none-match: {headers['etag'][0]}")[1] == 304
    assert proxy.call(PAGE, "--http1.1")[:2] == ("1.1", 200)
    assert proxy.call("/v1/stores/corner/products/%C3%BC%20%25", "-H", "x-request-id: mine")[2]["x-request-id"] == ["mine"]
    moved = subprocess.run(["curl", "--silent", "--include", "--max-time", "10", "-H", "host: shop.example",
                            f"http://127.0.0.1:{proxy.plain_port}{PAGE}"], capture_output=True, text=True, timeout=30).stdout
    assert moved.startswith("HTTP/1.1 308") and f"https://shop.example{PAGE}" in moved, moved
    print("pages over HTTP/2 and HTTP/1.1 are those of the server; plain HTTP is redirected")


def streams(proxy, token):
    path = "/v1/stores/corner/shelves/dairy/events?sort=price&limit=100"
    stream = subprocess.Popen([*proxy.curl, "--no-buffer", proxy.url(path)], stdout=subprocess.PIPE, text=True)
    seen, lines = threading.Condition(), []

    def read():
        for line in stream.stdout:
            with seen:
                lines.append((time.monotonic(), line.strip()))
                seen.notify()

    threading.Thread(target=read, daemon=True).start()

    def received(count, seconds):
        """Returns the time at which as many events were received."""
        with seen:
            assert seen.wait_for(lambda: sum(line.startswith("event: order") for _, line in lines) >= count, seconds), lines
            return [at for at, line in lines if line.startswith("event: order")][count - 1]

    try:
        received(1, 10)
        for number in range(5):
            start = time.monotonic()
            status = proxy.call("/v1/stores/corner/products/C1007", "-X", "PATCH", "-H", f"authorization: Bearer {token}",
                                "-H", "content-type: application/merge-patch+json", "-d", json.dumps({"price_minor": 1 + 1000 * (number % 2)}))[1]
            assert status == 200, status
            assert received(2 + number, 5) - start < 2, "an event was buffered"
        with seen:
            count = len(lines)
            # A heartbeat follows within 15 seconds.
            assert seen.wait_for(lambda: any(line.startswith(":") for _, line in lines[count:]), 20), "no heartbeat"
    finally:
        stream.terminate()
        stream.wait(10)
    print("events arrive unbuffered over HTTP/2, and heartbeats follow")


def imports(proxy, folder, token):
    # A body that is larger than that of any other request: the texts of a column that is not imported.
    with open(f"{folder}/large.csv", "w") as file:
        file.write("shelf,sku,name,price,note\n")
        for number in range(2000):
            file.write(f"Dairy,L{number},Product {number},1.00,{'x' * 10_000}\n")
    words = ["-H", f"authorization: Bearer {token}", "-H", "content-type: text/csv", "--data-binary", f"@{folder}/large.csv"]
    version, status, _, body = proxy.call("/v1/stores/corner/imports?dry_run=true", *words)
    assert status == 200, (status, body[:500])
    assert json.loads(body).get("inserted") == 2000, body[:500]
    assert proxy.call("/v1/stores/corner/prices", *words)[1] == 413
    size = os.path.getsize(f"{folder}/large.csv")
    print(f"an import of {size / 2**20:.0f} MiB is passed; the same body elsewhere is rejected")


def trusts(proxy):
    def statuses(address, count, headers=None):
        return [from_address(proxy, address, PAGE, headers) for _ in range(count)]

    def forged(number):
        return {"x-forwarded-for": f"198.51.100.{number}"}

    found = statuses("127.0.0.2", QUOTA + 10)
    assert found[0] == 200 and found[-1] == 429, found
    assert statuses("127.0.0.3", 5) == [200] * 5, "another client shares the quota"
    assert 429 in [from_address(proxy, "127.0.0.2", PAGE, forged(number)) for number in range(5)], "a forged header changes the client"
    print("each client behind the proxy has its own quota, whatever it sends as X-Forwarded-For")


def main():
    print("seed: none, because nothing is random")
    folder = tempfile.mkdtemp(prefix="aisle-proxy-")
    os.chmod(folder, 0o755)
    try:
        passes_headers(folder)
        database = Database(AISLE)
        server = proxy = None
        try:
            token = database.token("merchant", "catalog:write")
            server = Server(AISLE, folder, database.dsn, AISLE_TRUSTED_PROXIES="127.0.0.1", AISLE_RATE_LIMIT=f"{max(QUOTA, 400)}/1")
            proxy = Proxy(f"{folder}/proxy", server.port)
            serves(proxy, server)
            streams(proxy, token)
            imports(proxy, folder, token)
            server.stop()
            # On the same port, which nginx knows.
            server.environment["AISLE_RATE_LIMIT"] = f"{QUOTA}/1"
            server.start()
            trusts(proxy)
        finally:
            if proxy:
                proxy.stop()
            if server and server.is_running:
                server.stop()
            database.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("proxy tests passed")


main()
