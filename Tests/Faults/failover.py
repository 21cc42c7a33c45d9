"""Tests servers on a primary and on a standby, over TLS with verified certificates, and a promotion.

Usage: failover.py AISLE.
"""
import contextlib, json, os, shutil, signal, subprocess, sys, tempfile, threading, time, urllib.request
from harness import SECRET, Cluster, free_port, psql, send, status, tagged, until

AISLE = os.path.abspath(sys.argv[1])
# The maximum recovery time of a server after a promotion.
RECOVERY = 20
WRITES, PAGES, DEVICES = 100, 10, 100
# The settings of clusters.
TLS = ["ssl = on", "ssl_cert_file = '../server.crt'", "ssl_key_file = '../server.key'"]


def certificates(folder):
    """Creates a certificate authority and a certificate for localhost."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, timeout=60)
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=authority",
            "-keyout", "ca.key", "-out", "ca.crt")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
            "-keyout", "server.key", "-out", "server.csr")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-out", "server.crt")
    os.chmod(f"{folder}/server.key", 0o600)


@contextlib.contextmanager
def served(folder, dsn):
    """Starts a server on a database, and yields its base URL."""
    port = free_port()
    with open(f"{folder}/serve.log", "a") as log:
        server = subprocess.Popen([AISLE, "serve", "--port", str(port)], cwd=folder, stderr=log,
                                  env={**os.environ, "DATABASE_URL": dsn, "AISLE_JWT_SECRET": SECRET, "AISLE_RATE_LIMIT": "off"})
    base = f"http://127.0.0.1:{port}"
    try:
        until(lambda: status(base, "/livez") == 200, 30, "the server starts")
        yield base
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            server.kill()
            raise


def first_change(base, token, last):
    """Returns the name of the first event after one that a device has seen, and after the start of the stream."""
    headers = {"authorization": f"Bearer {token}", "last-event-id": str(last)}
    with urllib.request.urlopen(urllib.request.Request(base + "/v1/me/events", headers=headers), timeout=30) as stream:
        for line in stream:
            field, _, name = line.decode().strip().partition(": ")
            if field == "event" and name != "start":
                return name


def follow(base, path):
    """Opens a stream of a shelf, as a client that keeps reading it; returns a function that ends it."""
    stream = urllib.request.urlopen(base + path, timeout=300)

    def read():
        # Closing the stream ends the iteration with an error.
        with contextlib.suppress(Exception):
            for _ in stream:
                pass

    threading.Thread(target=read, daemon=True).start()
    return stream.close


def first_order(base, path):
    """Returns the ids of the first event of a shelf's stream."""
    with urllib.request.urlopen(base + path, timeout=30) as stream:
        for line in stream:
            if line.startswith(b"data: ") and b'"ids"' in line:
                return json.loads(line[6:])["ids"]


def loses_commits(dsn, primary, standby, running, folder, aisle, write, token):
    """Promotes a standby that lacks the last commits; the pages and devices of the lost ones must not survive it."""
    shelf = "/v1/stores/corner/shelves/dairy"
    pages = [f"{shelf}/products?sort=price&limit={20 + number}" for number in range(PAGES - 3)]
    pages += [shelf, f"{shelf}/order?sort=price", f"{shelf}/order/diff?from_sort=price&to_sort=name&limit=20"]
    events = f"{shelf}/events?sort=price&limit=100"
    tokens = [aisle("token", "--user", f"device{number}").strip() for number in range(DEVICES)]
    with served(folder, dsn(primary, standby, attributes="target_session_attrs=read-write")) as base:
        def put(number, value):
            answer = send(base, "/v1/me/settings/colour", "PUT", {"value": value}, tokens[number])
            assert answer[0] == 200, answer
            return answer[1]["revision"]

        for number in range(DEVICES):
            # The life that the first promotion began is noticed here.
            kept = put(number, "kept")
            assert send(base, f"/v1/me/settings?since={kept}", token=tokens[number])[0] == 200
        # The cheapest product; the lost writes make it the most expensive one.
        assert status(base, write, "PATCH", {"price_minor": 1}, token) == 200
        position = psql(dsn(primary), "SELECT pg_current_wal_flush_lsn()")
        until(lambda: psql(dsn(standby), f"SELECT pg_last_wal_replay_lsn() >= '{position}'") == "t", 30, "the standby follows")
        standby.stop()
        running.remove(standby)

        # The order that a shelf's subscribers share must not outlive its commits.
        close = follow(base, events)
        kept_order = first_order(base, events)
        lost = {page: [] for page in pages}
        for number in range(WRITES):
            assert status(base, write, "PATCH", {"price_minor": 1000 + number}, token) == 200
            for page in pages:
                lost[page].append(tagged(base, page)[1])
        assert len({tag for tags in lost.values() for tag in tags}) == WRITES * PAGES
        until(lambda: first_order(base, events) != kept_order, 10, "the stream shows a write that will be lost")
        seen = [put(number, "lost") for number in range(DEVICES)]
        setting_tags = [tagged(base, "/v1/me/settings/colour", token=tokens[number])[1] for number in range(DEVICES)]
        for number in range(DEVICES):
            changes = send(base, f"/v1/me/settings?since={seen[number]}", token=tokens[number])[1]
            assert not changes.get("resync"), changes

        primary.stop()
        running.remove(primary)
        standby.start()
        running.append(standby)
        standby.promote()
        until(lambda: status(base, write) == 200, RECOVERY, "a read after the promotion")
        wrong = sum(tagged(base, page, lost[page])[0] != 200 for page in pages)
        until(lambda: first_order(base, events) == kept_order, 10, "the stream no longer shows the lost writes")
        close()
        until(lambda: status(base, write, "PATCH", {"price_minor": 5000}, token) == 200, RECOVERY, "a write after the promotion")
        for number in range(WRITES):
            for page in pages:
                wrong += tagged(base, page, lost[page])[0] != 200
            assert status(base, write, "PATCH", {"price_minor": 5001 + number}, token) == 200
        assert wrong == 0, f"{wrong} pages matched a tag of a lost commit"

        resynced = 0
        for number in range(DEVICES):
            settings = send(base, f"/v1/me/settings?since={seen[number]}", token=tokens[number])[1]
            resynced += settings.get("resync", False) and [setting["value"] for setting in settings["settings"]] == ["kept"]
            assert tagged(base, "/v1/me/settings/colour", [setting_tags[number]], tokens[number])[0] == 200
            lists = send(base, f"/v1/me/lists?since={seen[number]}", token=tokens[number])[1]
            assert lists.get("resync"), lists
            assert first_change(base, tokens[number], seen[number]) == "gap"
            again = send(base, f"/v1/me/settings?since={settings['revision']}", token=tokens[number])[1]
            assert not again.get("resync") and again["settings"] == [], again
        assert resynced == DEVICES, f"{resynced} of {DEVICES} devices resynced"
        print(f"after the loss of {WRITES + DEVICES} commits: 0 of {WRITES * PAGES} tags matched, {resynced} of {DEVICES} devices resynced")


def main():
    print("seed: none, because nothing is random")
    folder = tempfile.mkdtemp(prefix="aisle-failover-")
    os.chmod(folder, 0o755)
    certificates(folder)
    primary, standby = Cluster(folder, "primary"), Cluster(folder, "standby")
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", "postgres", folder], check=True, timeout=10)
    running = []
    try:
        primary.run("initdb", "-D", primary.data, "-U", "aisle", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        primary.configure(*TLS)
        primary.start()
        running.append(primary)

        def dsn(*clusters, mode="verify-full", attributes=""):
            hosts, ports = ",".join("localhost" for _ in clusters), ",".join(str(c.port) for c in clusters)
            return (f"host={hosts} port={ports} user=aisle dbname=aisle sslmode={mode} sslrootcert={folder}/ca.crt "
                    f"{attributes}").strip()

        admin = dsn(primary).replace("dbname=aisle", "dbname=postgres")
        subprocess.run(["psql", admin, "-qc", "CREATE DATABASE aisle TEMPLATE template0 ENCODING 'UTF8'"], check=True, timeout=60)

        def aisle(*words):
            environment = {**os.environ, "DATABASE_URL": dsn(primary), "AISLE_JWT_SECRET": SECRET, "AISLE_RATE_LIMIT": "off"}
            return subprocess.run([AISLE, *words], cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=120).stdout

        aisle("db", "migrate")
        aisle("seed")
        token = aisle("token", "--user", "ann", "--scope", "catalog:write").strip()
        # A host name that does not match the certificate is rejected.
        wrong = dsn(primary).replace("host=localhost", "host=127.0.0.1")
        refused = subprocess.run([AISLE, "db", "status"], cwd=folder, env={**os.environ, "DATABASE_URL": wrong},
                                 capture_output=True, text=True, timeout=60)
        assert refused.returncode == 69, refused
        standby.follow(primary, *TLS)
        running.append(standby)
        page, write = "/v1/stores/corner/shelves/dairy/products?sort=price", "/v1/stores/corner/products/C1007"

        with served(folder, dsn(standby)) as base:
            until(lambda: status(base, page) == 200, 20, "a page from the standby")
            assert status(base, "/readyz?for=reads") == 200
            found = send(base, "/readyz")
            assert found[0] == 503 and found[1]["type"] == "/problems/read-only", found
            found = send(base, write, "PATCH", {"price_minor": 301}, token)
            assert found[0] == 503 and found[1]["type"] == "/problems/read-only", found
        print("a standby serves reads and rejects writes")

        with served(folder, dsn(primary, standby, attributes="target_session_attrs=read-write")) as base:
            assert status(base, "/readyz") == 200 and status(base, write, "PATCH", {"price_minor": 302}, token) == 200
            devices = [aisle("token", "--user", f"kept{number}").strip() for number in range(DEVICES // 10)]
            revisions = []
            for number, device in enumerate(devices):
                answer = send(base, "/v1/me/settings/colour", "PUT", {"value": number}, device)
                assert answer[0] == 200, answer
                revisions.append(answer[1]["revision"])
            position = psql(dsn(primary), "SELECT pg_current_wal_flush_lsn()")
            until(lambda: psql(dsn(standby), f"SELECT pg_last_wal_replay_lsn() >= '{position}'") == "t", 30, "the standby follows")
            tag = tagged(base, page)[1]
            primary.stop()
            running.remove(primary)
            until(lambda: status(base, "/readyz") == 503, 10, "the loss of the primary is noticed")
            standby.promote()
            promoted = time.monotonic()
            until(lambda: status(base, "/readyz") == 200, RECOVERY, "ready after the promotion")
            until(lambda: status(base, page) == 200, RECOVERY, "a page after the promotion")
            assert tagged(base, page, [tag])[0] == 304, "nothing has changed"
            until(lambda: status(base, write, "PATCH", {"price_minor": 303}, token) == 200, RECOVERY, "a write after the promotion")
            print(f"reads and writes on the new primary {time.monotonic() - promoted:.2f} s after its promotion")
            assert send(base, write)[1]["price_minor"] == 303
            assert tagged(base, page, [tag])[0] == 200
            for number, device in enumerate(devices):
                kept = send(base, f"/v1/me/settings?since={revisions[number] - 1}", token=device)[1]
                assert [one["value"] for one in kept["settings"]] == [number], kept
            print(f"a promotion without lost commits: all of {len(devices)} devices' writes are there")

        # The old primary follows the new one, which then loses its last commits.
        primary.follow(standby, *TLS)
        running.append(primary)
        loses_commits(dsn, standby, primary, running, folder, aisle, write, token)
    finally:
        for cluster in running:
            with contextlib.suppress(Exception):
                cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print("failover tests passed")


main()
