"""Tests that no acknowledged write is lost or counted twice when servers, PostgreSQL and their connections fail at random points.

Usage: kills.py AISLE [--kills N] [--restarts N] [--cuts N] [--recovery SECONDS] [--seed S]. Two servers share a database, one of them through a proxy.
Workers write settings, list items, manual orders, prices and purchases, and repeat each call with the same key until it is
acknowledged. Meanwhile servers are killed, PostgreSQL crashes, backends are terminated, and the proxy delays, stalls and cuts. At the
end, every row must be as if nothing had failed.
"""
import argparse, os, random, re, socket, threading, time, uuid
from harness import Database, Server, free_port, psql, send, status, until

parser = argparse.ArgumentParser()
parser.add_argument("aisle", type=os.path.abspath)
parser.add_argument("--kills", type=int, default=20)
parser.add_argument("--restarts", type=int, default=4)
parser.add_argument("--cuts", type=int, default=100)
# The maximum seconds from the start of a server, or of PostgreSQL, to an acknowledged write.
parser.add_argument("--recovery", type=float, default=10)
parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
options = parser.parse_args()

PRODUCTS = 12


class Proxy:
    """Forwards connections to a unix socket, and disturbs them."""

    def __init__(self, target):
        self.target, self.port, self.pairs, self.flowing = target, free_port(), set(), threading.Event()
        self.flowing.set()
        self.pause = 0
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            there = socket.socket(socket.AF_UNIX)
            try:
                there.connect(self.target)
            except OSError:
                client.close()
                continue
            pair = (client, there)
            self.pairs.add(pair)
            for source, sink in (pair, pair[::-1]):
                threading.Thread(target=self.pump, args=(source, sink, pair), daemon=True).start()

    def pump(self, source, sink, pair):
        try:
            while data := source.recv(65536):
                self.flowing.wait(30)
                time.sleep(self.pause)
                sink.sendall(data)
        except OSError:
            pass
        self.close(pair)

    def close(self, pair):
        self.pairs.discard(pair)
        for end in pair:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def disturb(self, dice):
        kind = dice.choice(["cut", "cut all", "delay", "stall"])
        if kind == "delay":
            self.pause = dice.uniform(0.001, 0.03)
            time.sleep(dice.uniform(0.02, 0.1))
            self.pause = 0
        elif kind == "stall":
            self.flowing.clear()
            time.sleep(dice.uniform(0.02, 0.2))
            self.flowing.set()
        else:
            pairs = list(self.pairs)
            for pair in pairs if kind == "cut all" else pairs and [dice.choice(pairs)]:
                self.close(pair)
            time.sleep(dice.uniform(0, 0.05))


class Worker:
    """Repeats one kind of write, each call until it is acknowledged, and remembers what must be stored."""

    allowed = {0, 503, 429}

    def __init__(self, servers, seed):
        self.servers, self.dice, self.done, self.tries = servers, random.Random(seed), 0, 0
        self.unexplained, self.failure, self.isOver = [], None, threading.Event()

    def start(self):
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while not self.isOver.is_set():
                self.step()
                self.done += 1
        except BaseException as error:
            self.failure = error
            raise

    def call(self, path, method, body, token, key=None):
        """Repeats a call until it is acknowledged, and returns the response."""
        end = time.monotonic() + 120
        while True:
            base = self.dice.choice(self.servers).base
            self.tries += 1
            code, answer = send(base, path, method, body, token, {"idempotency-key": key} if key else None, timeout=50)
            if 200 <= code < 300:
                return answer
            # The transaction of the first call may still run, on a connection that was cut.
            isInProgress = code == 409 and "in progress" in answer["detail"]
            if code not in self.allowed and not isInProgress:
                self.unexplained.append((path, code, answer))
                raise AssertionError((path, code, answer))
            assert time.monotonic() < end, f"{path} is not acknowledged"
            time.sleep(0.01)


class Settings(Worker):
    def __init__(self, servers, seed, database, number):
        super().__init__(servers, seed)
        self.token, self.values = database.token(f"settings{number}"), {}

    def step(self):
        key, value = f"k{self.dice.randrange(20)}", self.done
        self.call(f"/v1/me/settings/{key}", "PUT", {"value": value}, self.token)
        self.values[key] = value

    def check(self, base):
        found = send(base, "/v1/me/settings", token=self.token)[1]["settings"]
        assert {one["key"]: one["value"] for one in found} == self.values, "settings differ"


class Items(Worker):
    def __init__(self, servers, seed, database, number):
        super().__init__(servers, seed)
        self.token, self.texts = database.token(f"items{number}"), []
        self.list = send(servers[0].base, "/v1/me/lists", "POST", {"name": "Kills"}, self.token)[1]["id"]

    def step(self):
        if len(self.texts) >= 500:
            return self.isOver.wait(0.05)
        text = f"item {self.done}"
        self.call(f"/v1/me/lists/{self.list}/items", "POST", {"items": [{"text": text}]}, self.token, str(uuid.uuid4()))
        self.texts.append(text)

    def check(self, base):
        found = send(base, f"/v1/me/lists/{self.list}/items?sort=position", token=self.token)[1]["items"]
        assert [one["text"] for one in found] == self.texts, "list items differ"


class Moves(Worker):
    def __init__(self, servers, seed, database, number):
        super().__init__(servers, seed)
        self.token, self.shelf = database.token("mover", "catalog:write"), f"/v1/stores/corner/shelves/moves{number}"
        base = servers[0].base
        assert status(base, self.shelf, "PUT", {"title": "Moves"}, self.token) < 300
        self.order = [f"mv{number}x{index:02}" for index in range(PRODUCTS)]
        for sku in self.order:
            product = {"name": sku, "price_minor": 100, "currency": "EUR"}
            assert status(base, f"/v1/stores/corner/products/{sku}", "PUT", product, self.token) < 300
            assert status(base, f"{self.shelf}/products/{sku}", "PUT", None, self.token) < 300
        self.order = [one["sku"] for one in send(base, f"{self.shelf}/products?sort=position&limit=100")[1]["products"]]

    def step(self):
        sku = self.dice.choice(self.order)
        other = self.dice.choice([one for one in self.order if one != sku])
        side = self.dice.choice(["before", "after"])
        self.call(f"{self.shelf}/order/moves", "POST", {"moves": [{"ids": [sku], side: other}]}, self.token, str(uuid.uuid4()))
        self.order.remove(sku)
        self.order.insert(self.order.index(other) + (side == "after"), sku)

    def check(self, base):
        found = [one["sku"] for one in send(base, f"{self.shelf}/products?sort=position&limit=100")[1]["products"]]
        assert found == self.order, (found, self.order)


class Prices(Worker):
    def __init__(self, servers, seed, database, number):
        super().__init__(servers, seed)
        self.token, self.sku, self.price = database.token("pricer", "catalog:write"), ["C1007", "C1010", "C1001"][number % 3], None

    def step(self):
        price = 100 + self.done % 900
        self.call(f"/v1/stores/corner/products/{self.sku}", "PATCH", {"price_minor": price}, self.token)
        self.price = price

    def check(self, base):
        found = send(base, f"/v1/stores/corner/products/{self.sku}")[1]["price_minor"]
        assert self.price in (None, found), (self.sku, found, self.price)


class Purchases(Worker):
    def __init__(self, servers, seed, database, number):
        super().__init__(servers, seed)
        self.token, self.sku, self.count = database.token("till", "catalog:write"), f"till{number}", 0
        product = {"name": self.sku, "price_minor": 100, "currency": "EUR"}
        assert status(servers[0].base, f"/v1/stores/corner/products/{self.sku}", "PUT", product, self.token) < 300
        self.database = database

    def step(self):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        events = [{"event_id": str(uuid.uuid4()), "sku": self.sku, "quantity": 1, "at": now} for _ in range(self.dice.randrange(1, 6))]
        self.call("/v1/stores/corner/purchases", "POST", events, self.token)
        self.count += len(events)

    def check(self, _):
        self.database.run("resort", "--store", "corner")
        found = psql(self.database.dsn, f"SELECT coalesce(sum(quantity), 0) FROM purchase_day WHERE sku = '{self.sku}'")
        assert int(found) == self.count, (self.sku, found, self.count)


def main():
    dice = random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    database = Database(options.aisle)
    servers = []
    try:
        port = re.search(r"port='?(\d+)", database.dsn)
        sockets = re.search(r"host='([^']*)'", database.dsn).group(1)
        proxy = Proxy(f"{sockets}/.s.PGSQL.{port.group(1) if port else 5432}")
        servers += [Server(options.aisle, database.folder, database.dsn),
                    Server(options.aisle, database.folder, f"host=127.0.0.1 port={proxy.port} user=aisle dbname=aisle")]
        workers = [kind(servers, dice.random(), database, number) for number in range(3) for kind in (Settings, Items, Moves, Prices, Purchases)]
        probe = database.token("probe")
        for worker in workers:
            worker.start()
        until(lambda: sum(worker.done for worker in workers) > 300, 60, "the workers write")
        before = [server.resident for server in servers]
        faults = ["kill"] * options.kills + ["restart"] * options.restarts + ["cut"] * options.cuts + ["backend"] * (options.cuts // 4)
        dice.shuffle(faults)
        slowest = {"kill": 0, "restart": 0}

        def recover(kind, server):
            start = time.monotonic()
            until(lambda: status(server.base, "/v1/me/settings/probe", "PUT", {"value": 1}, probe) == 200, 30, f"a write after a {kind}")
            slowest[kind] = max(slowest[kind], time.monotonic() - start)

        started = time.monotonic()
        for fault in faults:
            time.sleep(dice.uniform(0, 0.2))
            if fault == "kill":
                server = dice.choice(servers)
                server.kill()
                server.start()
                recover(fault, server)
            elif fault == "restart":
                database.crash()
                for server in servers:
                    recover(fault, server)
            elif fault == "cut":
                proxy.disturb(dice)
            else:
                psql(database.dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                                   f"AND pid <> pg_backend_pid() ORDER BY md5(pid::text || '{dice.random()}') LIMIT 3")
            for worker in workers:
                assert worker.failure is None, worker.failure
            for server in servers:
                assert server.is_running, open(server.log).read()[-3000:]
        for worker in workers:
            worker.isOver.set()
        for worker in workers:
            worker.thread.join(150)
            assert not worker.thread.is_alive() and worker.failure is None, worker.failure
        for worker in workers:
            worker.check(servers[0].base)
            worker.check(servers[1].base)
        for kind, longest in slowest.items():
            assert longest <= options.recovery, f"recovery after a {kind} took {longest:.2f} s"
        writes, tries = sum(worker.done for worker in workers), sum(worker.tries for worker in workers)
        print(f"{options.kills} kills, {options.restarts} crashes of PostgreSQL, {options.cuts} faults of a proxy and "
              f"{options.cuts // 4} rounds of terminated backends in {time.monotonic() - started:.0f} s: "
              f"{writes} acknowledged writes in {tries} calls, 0 lost, 0 doubled, 0 unexplained responses; recovery at most "
              f"{slowest['kill']:.2f} s after a kill and {slowest['restart']:.2f} s after a crash; resident memory before and after: "
              f"{', '.join(f'{a:.0f} and {server.resident:.0f} MB' for a, server in zip(before, servers))}")
    finally:
        for server in servers:
            server.kill()
        database.close()
    print("kill tests passed")


main()
