"""Tests the commands of docs/operations/backup.md: restores a database in three ways, and compares every answer.

Usage: backup.py AISLE. The commands of the page are run as they are. A server on each restored database gives the same answers as the
server on the original one did at that point; writes work, versions never repeat, and all devices resync once.
"""
import contextlib, os, shutil, subprocess, sys, tempfile, time, urllib.error, urllib.request, uuid

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Faults")]
from crawler import Crawler, differences
from documents import Page, binaries
from harness import SECRET, Server, free_port, psql, send, until

AISLE = os.path.abspath(sys.argv[1])
PAGE = Page("backup")
SHELF, PRODUCT = "/v1/stores/corner/shelves/dairy", "/v1/stores/corner/products/C1007"
DEVICES, WRITES = 20, 50


class Shell:
    """Runs scripts as the user of PostgreSQL, with the variables that the page names."""

    def __init__(self, folder):
        self.folder, self.port, self.restored_port = folder, free_port(), free_port()
        # Any user can run this copy.
        os.mkdir(f"{folder}/bin")
        shutil.copy(AISLE, f"{folder}/bin/aisle")
        self.dsn, self.restored = (f"host={folder} port={port} dbname=aisle user=postgres" for port in (self.port, self.restored_port))

    def run(self, script, data="restored"):
        words = ["bash", "-euo", "pipefail", "-c", script]
        if os.getuid() == 0:
            words = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", *words]
        environment = {
            "PATH": f"{self.folder}/bin:{binaries()}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "DATABASE_URL": self.dsn,
            "RESTORED": self.restored, "BACKUPS": f"{self.folder}/backups", "DATA": f"{self.folder}/{data}", "PORT": str(self.restored_port),
        }
        # Not a pipe: a started server would keep it open.
        with open(f"{self.folder}/output", "w+") as output:
            done = subprocess.run(words, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=600)
        with open(f"{self.folder}/output") as output:
            text = output.read()
        assert done.returncode == 0, f"status {done.returncode}:\n{script}\n{text}"
        return text

    def document(self, heading, data="restored"):
        """Runs the commands below a heading of the page."""
        commands = PAGE.commands(heading)
        assert commands, f"no commands below “{heading}”"
        return self.run(commands, data)

    def start(self, data, port):
        self.run(f"pg_ctl start --pgdata {data} --log {data}.log --options '-p {port}' --wait --timeout 60")

    def stop(self, data):
        self.run(f"pg_ctl stop --pgdata {data} --mode fast --wait --timeout 60")


class Site:
    """A server on one of the databases, and its clients."""

    def __init__(self, folder, dsn, tokens):
        self.server, self.tokens = Server(AISLE, folder, dsn), tokens
        self.base = self.server.base

    def send(self, path, method="GET", body=None, user=None, headers=None):
        status, answer = send(self.base, path, method, body, self.tokens[user] if user else None, headers)
        assert 200 <= status < 300, (method, path, status, answer)
        return answer

    def crawler(self):
        return Crawler(self.server.port, {user: self.tokens[user] for user in ("ann", "ben", "guest", "merchant")})


def tokens(folder, dsn):
    """Returns a token for each user and device."""
    def token(*words):
        return subprocess.run([AISLE, "token", *words], cwd=folder, env={**os.environ, "DATABASE_URL": dsn, "AISLE_JWT_SECRET": SECRET},
                              check=True, capture_output=True, text=True, timeout=60).stdout.strip()
    found = {user: token("--user", user) for user in ("ann", "ben", *(f"device{number}" for number in range(DEVICES)))}
    return {**found, "guest": token("--user", "visitor", "--guest"), "merchant": token("--user", "merchant", "--scope", "catalog:write")}


def fill(site, aisle):
    """Makes data of every kind: settings, remembered sorts, lists, shares, manual orders, history, purchases, prices."""
    skus = [product["sku"] for product in site.send(f"{SHELF}/products?sort=name&limit=100")["products"]]
    for number, user in enumerate(("ann", "ben", "guest")):
        site.send("/v1/me/settings/theme", "PUT", {"value": ["dark", "light", {"night": True}][number]}, user)
        site.send("/v1/me/settings/a/deep/key", "PUT", {"value": number}, user)
        site.send(f"/v1/me{SHELF[3:]}/sort", "PUT", {"sort": ["-unit_price", "name", "price,brand"][number]}, user)
        one = site.send("/v1/me/lists", "POST", {"name": f"List of {user}"}, user)["id"]
        site.send(f"/v1/me/lists/{one}/items", "POST", {"items": [
            {"store": "corner", "sku": skus[number], "quantity": "2"}, {"text": "Candles"}, {"text": "Кефир", "note": "3,2 %"}]}, user)
        if user == "ann":
            share = site.send(f"/v1/me/lists/{one}/shares", "POST", {"role": "editor"}, user)
            site.send("/v1/me/lists/join", "POST", {"token": share["token"]}, "ben")
    site.send("/v1/import-profiles/supplier", "PUT", {"columns": {"sku": "Code"}}, "merchant")
    site.send("/v1/attributes/rating", "PUT", {"type": "number", "decimals": 1, "title": {"en": "Rating"}}, "merchant")
    site.send("/v1/stores/corner/attributes/rating", "PUT", {"title": {"hr": "Ocjena"}}, "merchant")
    site.send("/v1/stores/corner/attributes/origin", "PUT", {"type": "text"}, "merchant")
    site.send("/v1/synonyms", "PUT", {"synonyms": [["pop", "soda"]]}, "merchant")
    site.send("/v1/stores/corner/synonyms", "PUT", {"one_way": [{"from": "bio", "to": ["organic"]}]}, "merchant")
    # A tombstone.
    site.send("/v1/me/settings/theme", "DELETE", user="ben")
    for number in range(10):
        site.send(f"{SHELF}/order/moves", "POST", {"moves": [{"ids": [skus[3 * number % len(skus)]], "place": "first"}]}, "merchant")
    site.send(f"{SHELF}/order/undo", "POST", {}, "merchant")
    shelves = [shelf["key"] for shelf in site.send("/v1/stores/corner/shelves?limit=5")["shelves"]]
    other = next(shelf for shelf in shelves if not SHELF.endswith(shelf))
    site.send(f"/v1/stores/corner/shelves/{other}/order", "PUT", {"from_sort": "price"}, "merchant")
    site.send("/v1/stores/corner/prices", "POST", [
        {"sku": sku, "price_minor": 100 + number, "regular_price_minor": 200 + number} for number, sku in enumerate(skus[:20])], "merchant")
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    site.send("/v1/stores/corner/purchases", "POST", [
        {"event_id": str(uuid.uuid4()), "sku": sku, "quantity": number % 5 + 1, "at": at, "customer": ("ann", "ben")[number % 2]}
        for number, sku in enumerate(skus)], "merchant")
    aisle("resort", "--all")
    # These are not counted yet.
    site.send("/v1/stores/corner/purchases", "POST", [{"event_id": str(uuid.uuid4()), "sku": skus[0], "quantity": 3, "at": at}], "merchant")
    key = {"idempotency-key": "kept"}
    site.send(f"{SHELF}/order/moves", "POST", {"moves": [{"ids": [skus[1]], "place": "last"}]}, "merchant", key)


def contents(dsn):
    """Returns a hash of the rows of each table that survives a crash."""
    tables = psql(dsn, """SELECT c.oid::regclass FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        AND relpersistence = 'p' ORDER BY 1""").split("\n")
    return {table: psql(dsn, f"SELECT count(*), md5(string_agg(t::text, '' ORDER BY t::text)) FROM {table} t") for table in tables}


def put(site, device, value):
    return site.send("/v1/me/settings/colour", "PUT", {"value": value}, device)["revision"]


def lose(site):
    """Makes writes that the backups do not have; returns the versions and tags of the shelf, and the revisions of the devices."""
    found = []
    for number in range(WRITES):
        site.send(PRODUCT, "PATCH", {"price_minor": 1000 + number}, "merchant")
        found.append((site.send(SHELF)["version"], tag(site, f"{SHELF}/products?sort=price")))
    return found, {f"device{number}": put(site, f"device{number}", "lost") for number in range(DEVICES)}


def tag(site, path, tags=None):
    """Returns the status of a conditional request if there are tags, or the entity tag of a resource."""
    request = urllib.request.Request(site.base + path, headers={"if-none-match": ", ".join(tags)} if tags else {})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status if tags else answer.headers["etag"]
    except urllib.error.HTTPError as error:
        assert error.code == 304, error.code
        return 304


def check(title, site, expected, lost, revisions, resynced):
    """Compares a server on a restored database with the answers of the original one, and then writes.

    - resynced: the value of the setting that each device must have after its resync.
    """
    found = site.crawler().answers()
    wrong = differences(expected, found)
    for key, before, after in wrong[:5]:
        print(f"{title}: {key}:\n  before {before}\n  after  {after}")
    assert not wrong, f"{title}: {len(wrong)} of {len(expected)} answers differ"

    seen_versions, seen_tags = {version for version, _ in lost}, [tag for _, tag in lost]
    assert tag(site, f"{SHELF}/products?sort=price", seen_tags) == 200, "a lost tag matches"
    for number in range(WRITES):
        # The same writes with other contents.
        site.send(PRODUCT, "PATCH", {"price_minor": 5000 + number}, "merchant")
        version = site.send(SHELF)["version"]
        assert version not in seen_versions and version > max(seen_versions), "a lost version was assigned again"
        assert tag(site, f"{SHELF}/products?sort=price", seen_tags) == 200, "a lost tag matches"
    for device, revision in revisions.items():
        # Another device of the user writes first, so that the lost revision is not in the future.
        site.send("/v1/me/settings/shade", "PUT", {"value": "new"}, device)
        changes = site.send(f"/v1/me/settings?since={revision}", user=device)
        values = {one["key"]: one["value"] for one in changes["settings"]}
        assert changes.get("resync") and values == {"colour": resynced, "shade": "new"}, (title, changes)
        assert site.send(f"/v1/me/lists?since={revision}", user=device).get("resync")
        again = site.send(f"/v1/me/settings?since={changes['revision']}", user=device)
        assert not again.get("resync") and again["settings"] == [], again
    order = site.send(f"{SHELF}/order?sort=position")
    site.send(f"{SHELF}/order/moves", "POST", {"moves": [{"ids": order["ids"][-1:], "place": "first"}]}, "merchant")
    moved = site.send(f"{SHELF}/order?sort=position")
    assert moved["ids"] == order["ids"][-1:] + order["ids"][:-1] and moved["order_version"] > order["order_version"], moved
    print(f"{title}: {len(expected)} answers are the same, {len(revisions)} devices resynced, no version or tag repeats")


@contextlib.contextmanager
def served(folder, dsn, tokens):
    site = Site(folder, dsn, tokens)
    try:
        yield site
    finally:
        site.server.stop()


def main():
    print("seed: none, because nothing that matters is random")
    folder = tempfile.mkdtemp(prefix="aisle-backup-")
    os.chmod(folder, 0o755)
    shell, running = Shell(folder), []
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", "postgres", folder], check=True, timeout=60)
    try:
        shell.run("mkdir backups && initdb --pgdata original --username postgres --auth trust --encoding UTF8 --locale C.UTF-8 --no-sync")
        shell.run(f"""cat >> original/postgresql.conf <<CONF
listen_addresses = ''
unix_socket_directories = '{folder}'
CONF""")
        shell.start("original", shell.port)
        running.append("original")
        shell.run("""psql "${DATABASE_URL/dbname=aisle/dbname=postgres}" --command "CREATE DATABASE aisle TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'" """)

        def aisle(*words, dsn=shell.dsn):
            done = subprocess.run([AISLE, *words], cwd=folder, env={**os.environ, "DATABASE_URL": dsn, "AISLE_JWT_SECRET": SECRET},
                                  capture_output=True, text=True, timeout=300)
            assert done.returncode == 0, (words, done.stdout, done.stderr)
            return done.stdout

        aisle("db", "migrate")
        aisle("seed")
        # The servers use their own role.
        shell.run('aisle db roles > roles.sql && psql "$DATABASE_URL" --quiet --set ON_ERROR_STOP=1 --file roles.sql')
        server_dsn, restored_dsn = (dsn.replace("user=postgres", "user=aisle_server") for dsn in (shell.dsn, shell.restored))
        shell.document("Archive the log")
        shell.stop("original")
        shell.start("original", shell.port)
        users = tokens(folder, shell.dsn)
        with served(folder, server_dsn, users) as site:
            fill(site, aisle)
            for number in range(DEVICES):
                # The epoch of the original database begins here.
                kept = put(site, f"device{number}", "old")
                site.send(f"/v1/me/settings?since={kept}", user=f"device{number}")
            crawler = site.crawler()
            old = crawler.answers()
            changing = differences(old, crawler.answers())
            assert not changing, f"the answers of the original depend on the time: {changing[:3]}"
            statuses = sorted({answer[0] for answer in old.values()})
            print(f"{len(old)} answers, with the statuses {statuses}")
            shell.document("Take a base backup")

            for number in range(DEVICES):
                put(site, f"device{number}", "kept")
            site.send(PRODUCT, "PATCH", {"price_minor": 1}, "merchant")
            site.send("/v1/me/lists", "POST", {"name": "Created after the base backup"}, "ann")
        # A server keeps the feeds of streams for a while, so the answers come from one that was just started.
        with served(folder, server_dsn, users) as site:
            kept = site.crawler().answers()
            assert differences(old, kept), "the answers have changed since the base backup"
        # The rows are compared as well, because no answer shows some of them, such as purchases.
        rows = contents(shell.dsn)
        shell.document("Name a restore point")
        with served(folder, server_dsn, users) as site:
            shell.document("Dump")
            lost, revisions = lose(site)
            segment = psql(shell.dsn, "SELECT pg_walfile_name(pg_switch_wal())")
            until(lambda: psql(shell.dsn, "SELECT last_archived_wal FROM pg_stat_archiver") >= segment, 60, f"{segment} is archived")
            failed = psql(shell.dsn, "SELECT failed_count FROM pg_stat_archiver")
            assert failed == "0", f"{failed} files were not archived"
        shell.stop("original")
        running.remove("original")

        shell.document("Restore to a point in time", "recovered")
        running.append("recovered")
        assert contents(shell.restored) == rows, "the rows differ after point-in-time recovery"
        shell.document("Check a restored database")
        with served(folder, restored_dsn, users) as site:
            check("point-in-time recovery", site, kept, lost, revisions, "kept")
        shell.stop("recovered")
        running.remove("recovered")

        shell.document("Files without recovery", "files")
        running.append("files")
        shell.document("Check a restored database")
        with served(folder, restored_dsn, users) as site:
            check("files without recovery", site, old, lost, revisions, "old")
        shell.stop("files")
        running.remove("files")

        shell.run("initdb --pgdata dumped --username postgres --auth trust --encoding UTF8 --locale C.UTF-8 --no-sync")
        shell.run(f"""cat >> dumped/postgresql.conf <<CONF
listen_addresses = ''
unix_socket_directories = '{folder}'
CONF""")
        shell.start("dumped", shell.restored_port)
        running.append("dumped")
        shell.document("Restore a dump")
        assert contents(shell.restored) == rows, "the rows differ after the restore of a dump"
        shell.document("Check a restored database")
        with served(folder, restored_dsn, users) as site:
            check("dump", site, kept, lost, revisions, "kept")
        owners = psql(shell.restored, "SELECT string_agg(DISTINCT tableowner, ',') FROM pg_tables WHERE schemaname = 'public'")
        assert owners == "aisle_owner", owners
        refused = subprocess.run(["psql", restored_dsn, "-c", "DROP TABLE product"], capture_output=True, text=True, timeout=60)
        assert "must be owner" in refused.stderr, refused
    finally:
        for data in running:
            with contextlib.suppress(AssertionError):
                shell.stop(data)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"the rows of {len(rows)} tables are the same")
    print("backup tests passed")


main()
