"""Tests the metrics of servers, the alerts and the dashboard with a real Prometheus.

Usage: monitoring.py AISLE. Two servers work under load, and get hostile requests. The metrics are those that
docs/operations/monitoring.md lists, in both directions; every query of the dashboard has a result; alerts fire for real causes, and
stop when the causes are removed. The live alerts have shorter durations than those in the repository.
"""
import contextlib, json, os, random, re, shutil, socket, subprocess, sys, tempfile, threading, time, urllib.error, urllib.parse
import urllib.request, uuid

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Faults")]
from documents import ROOT, Page, binaries
from harness import Database, Load, Server, free_port, send, status, until

AISLE = os.path.abspath(sys.argv[1])
MONITORING = f"{ROOT}/packaging/monitoring"
SHELF = "/v1/stores/corner/shelves/dairy"
# The number of hostile requests.
HOSTILE = 3000
# The greatest number of values of a label, and of series of a server.
VALUES = {"endpoint": 120, "method": 12, "status": 40, "le": 40, "class": 40}
OTHER_VALUES, SERIES = 20, 12_000
# Metrics whose series exist only after an error, with replicas or workers, or with tracing.
MAY_BE_EMPTY = ("aisle_postgres_errors_total", "aisle_rate_limited_requests_total", "aisle_replica_", "aisle_trace_",
                "aisle_worker_")
# How long an alert with shortened durations may take, in seconds.
ALERT = 60


def catalogue():
    """Returns the type and labels of each metric that the page lists, and the names of those that need replicas or workers."""
    page, found, optional = Page("monitoring"), {}, set()
    for heading in ("Requests", "Database", "Shelves in memory", "Live events", "Batch work", "Replicas", "Workers", "Process"):
        for name, kind, labels, _ in page.rows(heading):
            name = name.strip("`")
            found[name] = kind, set(re.findall("`([^`]+)`", labels))
            if heading in ("Replicas", "Workers"):
                optional.add(name)
    return found, optional


def families(text):
    """Returns the type, help and samples of each metric of a response in Prometheus's text format; a sample is its labels."""
    found = {}
    for line in text.split("\n"):
        if match := re.fullmatch(r"# (TYPE|HELP) (\S+) (.+)", line):
            found.setdefault(match[2], {"samples": []})[match[1]] = match[3]
        elif line and not line.startswith("#"):
            match = re.fullmatch(r"([a-zA-Z_:]\w*)(?:\{(.*)\})? \S+", line)
            assert match, f"not a sample: {line}"
            name = match[1] if match[1] in found else re.sub("_(bucket|sum|count)$", "", match[1])
            assert name in found, f"a sample without a type: {line}"
            found[name]["samples"].append(dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or "")))
    return found


def scrape(port, accept=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"accept": accept} if accept else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers["content-type"], answer.read().decode()


def metric_names(expression):
    return {re.sub("_(bucket|sum|count)$", "", name) for name in re.findall(r"\b((?:aisle|process)_\w+)", expression)}


def panels():
    """Yields the title and the queries of each panel."""
    with open(f"{MONITORING}/dashboard.json") as file:
        for panel in json.load(file)["panels"]:
            if panel["type"] != "row":
                yield panel["title"], [target["expr"] for target in panel["targets"]]


def check_files(metrics):
    """Checks the rules, their tests, their runbooks, and the metrics that they and the dashboard name."""
    for words in (["check", "rules", "alerts.yaml"], ["check", "config", "prometheus.yaml"], ["test", "rules", "alerts.test.yaml"]):
        done = subprocess.run(["promtool", *words], cwd=MONITORING, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    with open(f"{MONITORING}/alerts.yaml") as file:
        rules = file.read()
    with open(f"{MONITORING}/alerts.test.yaml") as file:
        tests = file.read()
    alerts = re.findall(r"- alert: (\w+)", rules)
    page = Page("alerts").sections
    assert set(alerts) == {heading for heading in page if re.fullmatch(r"Aisle\w+", heading)}, "alerts and their runbooks differ"
    for alert in alerts:
        for part in ("**Meaning**", "**Check.**", "**Remedy.**"):
            assert part in page[alert], f"{alert} has no {part}"
        assert f"runbook: docs/operations/alerts.md#{alert.lower()}\n" in rules, f"{alert} has no runbook"
        assert re.search(rf"alertname: {alert}, eval_time: \w+, exp_alerts: \[\]", tests), f"no test in which {alert} does not fire"
        assert re.search(rf"alertname: {alert}\n +eval_time: \w+\n +exp_alerts:\n +- exp_labels", tests), f"no test in which {alert} fires"
    used = metric_names(re.sub(r"#.*", "", rules)).union(*(metric_names(query) for _, queries in panels() for query in queries))
    assert used <= set(metrics), f"unknown metrics: {used - set(metrics)}"
    unused = set(metrics) - used - {"process_virtual_memory_bytes"}
    assert not unused, f"neither an alert nor a panel uses {unused}"
    commands_exist(page)
    print(f"{len(alerts)} alerts have tests and runbooks; {len(used)} metrics are used")


def commands_exist(page):
    """Checks that the commands of the runbooks that are not run by the tests of the documentation exist."""
    named = set(re.findall(r"`(aisle [a-z]+(?: [a-z]+)?)", "\n".join(page.values())))
    for words in named:
        done = subprocess.run([AISLE, *words.split()[1:], "--help"], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, f"no such command: {words}"


def check_runbooks(database):
    """Runs the checks of the runbooks that need PostgreSQL."""
    page, count = Page("alerts"), 0
    environment = {**os.environ, "DATABASE_URL": database.dsn, "PATH": f"{os.environ['PATH']}:{binaries()}"}
    for alert in page.sections:
        if commands := page.commands(alert):
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=database.folder, env=environment, capture_output=True,
                                  text=True, timeout=120)
            assert done.returncode == 0, f"{alert}: {commands}{done.stdout}{done.stderr}"
            count += 1
    print(f"the checks of {count} runbooks work")


class Prometheus:
    """A Prometheus that scrapes servers each second, with alerts whose durations are shortened."""

    def __init__(self, folder, targets):
        self.folder, self.port = folder, free_port()
        with open(f"{MONITORING}/alerts.yaml") as file:
            rules = re.sub(r"(?m)^( +for): \w+$", r"\1: 2s", file.read())
        with open(f"{folder}/alerts.yaml", "w") as file:
            file.write(re.sub(r"(\[|offset )\d+[mh]", r"\g<1>30s", rules))
        with open(f"{MONITORING}/prometheus.yaml") as file:
            text = file.read()
        for old, new in (("scrape_interval: 15s", "scrape_interval: 1s"), ("evaluation_interval: 15s", "evaluation_interval: 1s"),
                         ("scrape_timeout: 10s", "scrape_timeout: 1s"), ('["127.0.0.1:9464"]', json.dumps(targets))):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        with open(f"{folder}/prometheus.yaml", "w") as file:
            file.write(re.sub(r"(?ms)^alerting:.*?(?=^\w)", "", text))
        with open(f"{folder}/prometheus.log", "w") as log:
            self.process = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data",
                                             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"], cwd=folder, stdout=log, stderr=log)
        until(lambda: self.process.poll() is not None or self.is_ready(), 60, "Prometheus starts")
        assert self.process.poll() is None, self.log

    @property
    def log(self):
        with open(f"{self.folder}/prometheus.log") as file:
            return file.read()[-3000:]

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def get(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.loads(answer.read())["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{query}: {error.read().decode()}") from error

    def query(self, expression):
        return self.get("query", query=expression)["result"]

    def firing(self):
        return {(one["labels"]["alertname"], one["labels"].get("instance")) for one in self.get("alerts")["alerts"] if one["state"] == "firing"}

    def fires(self, alert, instance=None):
        return (alert, instance) in self.firing()

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def work(server, database, load):
    """Starts requests of every kind; returns functions that end them."""
    token = database.token("merchant", "catalog:write")
    skus = send(server.base, f"{SHELF}/order?sort=name")[1]["ids"]
    pages = [f"{SHELF}/products?sort={sort}&limit=5" for sort in ("price", "-price", "name", "brand", "-popularity")]

    def page(number):
        return status(server.base, pages[number % len(pages)])

    def known_page(number):
        try:
            with urllib.request.urlopen(server.base + pages[0], timeout=30) as answer:
                tag = answer.headers["etag"]
        except OSError:
            # Another kind of request counts the errors.
            return 0
        return send(server.base, pages[0], headers={"if-none-match": tag})[0]

    def write(number):
        kind, sku = number % 6, skus[number % len(skus)]
        calls = [
            (f"{SHELF}/order/moves", "POST", {"moves": [{"ids": [sku], "place": "first"}]}),
            ("/v1/stores/corner/prices", "POST", [{"sku": sku, "price_minor": 100 + number % 50}]),
            ("/v1/me/settings/theme", "PUT", {"value": number}),
            ("/v1/stores/corner/purchases", "POST",
             [{"event_id": str(uuid.uuid4()), "sku": sku, "quantity": 1, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}]),
            ("/v1/stores/corner/imports", "POST", f"shelf,sku,name,price\nDairy,I{number % 20},Imported,1.0{number % 9}\n".encode()),
            (f"{SHELF}/order/diff?from_sort=price&to_sort=name", "GET", None),
        ]
        path, method, body = calls[kind]
        return status(server.base, path, method, body, token)

    # An import whose only row is rejected fails.
    status(server.base, "/v1/stores/corner/imports", "POST", b"shelf,sku,name,price\nDairy,,,x\n", token)
    return [load.add("page", page), load.add("known page", known_page), load.add("write", write)], token


def streams(server, token, stack):
    """Opens streams of a shelf and of a user, and reads them until the stack is closed."""
    for path, headers in ((f"{SHELF}/events?sort=price", {}), ("/v1/me/events", {"authorization": f"Bearer {token}"})):
        stream = urllib.request.urlopen(urllib.request.Request(server.base + path, headers=headers), timeout=300)

        def read(stream=stream):
            # Closing the stream ends the iteration with an error.
            with contextlib.suppress(Exception):
                for _ in stream:
                    pass

        threading.Thread(target=read, daemon=True).start()
        stack.callback(stream.close)


def is_hostile(port, generator):
    """Sends one request with a random method, path and headers."""
    word = f"hostile{generator.randrange(10**9)}"
    method = generator.choice(["GET", "POST", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "BREW", "M-SEARCH", word.upper()])
    path = generator.choice([f"/{word}", f"/v1/{word}", f"/v1/stores/{word}", f"/v1/stores/corner/shelves/{word}/products?sort={word}",
                             f"{SHELF}/products?sort=price&{word}=1", f"/v1/me/settings/{word}", f"/{'a/' * generator.randrange(200)}{word}",
                             f"/%00{word}", f"/v1/stores/corner/products/{word}", f"/metrics/{word}", "/" + "x" * generator.randrange(20_000)])
    head = f"{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Request-Id: {word}\r\nAuthorization: Bearer {word}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(head.encode())
            while connection.recv(65536):
                pass


def check_metrics(admin, metrics, optional):
    """Compares the metrics of a server with the page, and their labels with what hostile requests may not cause."""
    kind, text = scrape(admin)
    assert kind.startswith("text/plain") and "version=0.0.4" in kind, kind
    found = families(text)
    required = {name for name in set(metrics) - optional if not name.startswith(MAY_BE_EMPTY)}
    assert required <= set(found), f"missing: {sorted(required - set(found))}"
    assert set(found) <= set(metrics), f"not on the page: {sorted(set(found) - set(metrics))}"
    for name, family in found.items():
        assert family.get("TYPE") == metrics[name][0], f"{name} is a {family.get('TYPE')}, not a {metrics[name][0]}"
        assert family.get("HELP"), f"{name} has no help"
        assert family["samples"] or name.startswith(MAY_BE_EMPTY), f"{name} has no value"
        for labels in family["samples"]:
            assert set(labels) - {"le"} == metrics[name][1], f"{name} has the labels {sorted(labels)}"
    values = {}
    for family in found.values():
        for labels in family["samples"]:
            for label, value in labels.items():
                values.setdefault(label, set()).add(value)
    assert not re.search("hostile|xxxx", text, re.I), "a request chose the value of a label"
    for label, seen in values.items():
        assert len(seen) <= VALUES.get(label, OTHER_VALUES), f"{label} has {len(seen)} values: {sorted(seen)[:50]}"
    series = sum(len(family["samples"]) for family in found.values())
    assert series <= SERIES, f"{series} series"
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    kind, text = scrape(admin, "application/openmetrics-text; version=1.0.0")
    assert kind.startswith("application/openmetrics-text") and text.endswith("# EOF\n"), (kind, text[-200:])
    print(f"{len(found)} metrics are as documented, with {series} series after {HOSTILE} hostile requests")


def check_queries(prometheus):
    """Every query of the dashboard is answered, with values wherever there must be some."""
    count = 0
    for title, queries in panels():
        for query in queries:
            concrete = query.replace("$job", "aisle").replace("$instance", ".*").replace("$__rate_interval", "30s")
            assert "$_" not in concrete, concrete
            result, count = prometheus.query(concrete), count + 1
            assert result or any(name.startswith(MAY_BE_EMPTY) for name in metric_names(query)), f"{title}: no values: {concrete}"
    for group in prometheus.get("rules")["groups"]:
        for rule in group["rules"]:
            assert rule["health"] == "ok", rule
    print(f"{count} queries of the dashboard are answered")


def main():
    seed = random.randrange(10**9)
    print(f"seed: {seed}")
    metrics, optional = catalogue()
    check_files(metrics)
    folder = tempfile.mkdtemp(prefix="aisle-monitoring-")
    database, load = Database(AISLE), Load()
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(database.close)
        admins = [free_port(), free_port()]
        server = Server(AISLE, database.folder, database.dsn, AISLE_ADMIN_PORT=str(admins[0]))
        stack.callback(server.stop)
        # This one limits its clients.
        limited = Server(AISLE, database.folder, database.dsn, AISLE_ADMIN_PORT=str(admins[1]), AISLE_RATE_LIMIT="20/1")
        stack.callback(lambda: limited.is_running and limited.stop())
        targets = [f"127.0.0.1:{port}" for port in admins]
        prometheus = Prometheus(folder, targets)
        stack.callback(prometheus.stop)

        def until_firing(alert, instance=None):
            until(lambda: prometheus.fires(alert, instance), ALERT, f"{alert} fires")

        def until_resolved(alert, instance=None):
            until(lambda: not prometheus.fires(alert, instance), ALERT, f"{alert} is resolved")

        until(lambda: {one["metric"]["instance"] for one in prometheus.query('up{job="aisle"} == 1')} == set(targets), 30, "both targets are up")
        ends, token = work(server, database, load)
        for end in ends:
            stack.callback(end)
        streams(server, token, stack)
        check_runbooks(database)
        # No re-sort was run yet.
        until_firing("AisleResortTooOld")
        database.run("resort", "--all")
        until_resolved("AisleResortTooOld")

        generator = random.Random(seed)
        for _ in range(HOSTILE):
            is_hostile(server.port, generator)
        # Servers fold every minute.
        until(lambda: len(prometheus.query("aisle_fold_last_success_timestamp_seconds")) == len(admins), 90, "purchases are folded")
        check_metrics(admins[0], metrics, optional)

        quiet = {alert for alert, _ in prometheus.firing()}
        assert not quiet & {"AisleRateLimitingSurge", "AisleTargetDown", "AisleDatabaseNotReadyForReads", "AisleErrorRatioHigh"}, quiet
        floods = [load.add("flood", lambda _: status(limited.base, f"{SHELF}/products?sort=price")) for _ in range(80)]
        until_firing("AisleRateLimitingSurge")
        for end in floods:
            end()
        limited.kill()
        until_firing("AisleTargetDown", targets[1])
        limited.start()
        until_resolved("AisleTargetDown", targets[1])

        # Prometheus has seen errors of the database when the queries of the dashboard are checked.
        database.run("db", "stop")
        until_firing("AisleDatabaseNotReadyForReads", targets[0])
        until_firing("AisleDatabaseNotReadyForWrites")
        until_firing("AisleErrorRatioHigh")
        database.run("db", "start")
        until_resolved("AisleDatabaseNotReadyForReads", targets[0])
        until_resolved("AisleDatabaseNotReadyForWrites")
        until(lambda: status(server.base, f"{SHELF}/products?sort=price") == 200, 20, "the server recovers")
        until(lambda: prometheus.query("sum(rate(aisle_pages_total[30s])) > 0"), 30, "pages are counted again")
        check_queries(prometheus)
        print("six alerts fired for their causes, and stopped without them")
    print(f"{load.total} requests; monitoring tests passed")


main()
