"""Clients that repeat each write until it is acknowledged, and know what must be stored."""
import random, threading, time, uuid
from harness import psql, send, status, until

PRODUCTS = 12


class Worker:
    """Repeats one kind of write, each call until it is acknowledged, and remembers what must be stored."""

    allowed = {0, 503, 429}

    def __init__(self, servers, seed):
        self.servers, self.dice, self.done, self.tries, self.rejected = servers, random.Random(seed), 0, 0, 0
        self.failure, self.is_over = None, threading.Event()

    def start(self):
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while not self.is_over.is_set():
                self.step()
                self.done += 1
        except BaseException as error:
            self.failure = error
            raise

    def call(self, path, method, body, token, key=None, gone=None):
        """Repeats a call until it is acknowledged, and returns the response.

        `gone` is the status of a repeat if the call has no key and the first one was applied.
        """
        end, is_repeat = time.monotonic() + 120, False
        while True:
            base = self.dice.choice(self.servers).base
            self.tries += 1
            code, answer = send(base, path, method, body, token, {"idempotency-key": key} if key else None, timeout=50)
            if 200 <= code < 300 or (is_repeat and code == gone):
                return answer
            is_repeat = True
            # The transaction of the first call may still run, on a connection that was cut.
            is_in_progress = code == 409 and "in progress" in answer["detail"]
            if code not in self.allowed and not is_in_progress:
                raise AssertionError((path, code, answer))
            self.rejected += code == 503
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
            return self.is_over.wait(0.05)
        text = f"item {self.done}"
        self.call(f"/v1/me/lists/{self.list}/items", "POST", {"items": [{"text": text}]}, self.token, str(uuid.uuid4()))
        self.texts.append(text)

    def check(self, base):
        found = send(base, f"/v1/me/lists/{self.list}/items?sort=position", token=self.token)[1]["items"]
        assert [one["text"] for one in found] == self.texts, "list items differ"


class Moves(Worker):
    def __init__(self, servers, seed, database, number):
        super().__init__(servers, seed)
        name = type(self).__name__.lower()
        self.token, self.shelf = database.token("mover", "catalog:write"), f"/v1/stores/corner/shelves/{name}{number}"
        base = servers[0].base
        assert status(base, self.shelf, "PUT", {"title": "Moves"}, self.token) < 300
        self.order = [f"{name}{number}x{index:02}" for index in range(PRODUCTS)]
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
        found = psql(self.database.dsn, f"SELECT coalesce(sum(count), 0) FROM purchase_count WHERE sku = '{self.sku}'")
        assert int(found) == self.count, (self.sku, found, self.count)


class BulkPrices(Worker):
    """Prices of several products, which change together."""

    def __init__(self, servers, seed, database, number):
        super().__init__(servers, seed)
        self.token, self.skus, self.price = database.token("bulk", "prices:write"), [f"bulk{number}x{index}" for index in range(5)], 100
        writer = database.token("bulk", "products:write")
        for sku in self.skus:
            product = {"name": sku, "price_minor": self.price, "currency": "EUR"}
            assert status(servers[0].base, f"/v1/stores/corner/products/{sku}", "PUT", product, writer) < 300

    def step(self):
        price = 100 + self.done
        self.call("/v1/stores/corner/prices", "POST", [{"sku": sku, "price_minor": price} for sku in self.skus], self.token, str(uuid.uuid4()))
        self.price = price

    def check(self, base):
        found = {send(base, f"/v1/stores/corner/products/{sku}")[1]["price_minor"] for sku in self.skus}
        assert found == {self.price}, (found, self.price)


class WholeOrders(Moves):
    """Whole manual orders, and undoing the last one; each undo applies once."""

    def step(self):
        before = list(self.order)
        self.dice.shuffle(self.order)
        self.call(f"{self.shelf}/order", "PUT", {"ids": self.order}, self.token, str(uuid.uuid4()))
        if self.order != before and self.dice.random() < 0.3:
            self.call(f"{self.shelf}/order/undo", "POST", {}, self.token, str(uuid.uuid4()))
            self.order = before


class Lists(Worker):
    """Lists that are created, renamed and deleted, and their manual order."""

    def __init__(self, servers, seed, database, number):
        super().__init__(servers, seed)
        self.token, self.names = database.token(f"lists{number}"), {}

    def step(self):
        if len(self.names) < 5 or (len(self.names) < 20 and self.dice.random() < 0.4):
            name = f"list {self.done}"
            made = self.call("/v1/me/lists", "POST", {"name": name}, self.token, str(uuid.uuid4()))
            assert made["id"] not in self.names, "one list was created twice"
            self.names[made["id"]] = name
        elif self.dice.random() < 0.5:
            one = self.dice.choice(sorted(self.names))
            self.call(f"/v1/me/lists/{one}", "PATCH", {"name": f"renamed {self.done}"}, self.token)
            self.names[one] = f"renamed {self.done}"
        elif self.dice.random() < 0.5:
            first, second = self.dice.sample(sorted(self.names), 2)
            self.call("/v1/me/lists/order/moves", "POST", {"moves": [{"ids": [first], "after": second}]}, self.token, str(uuid.uuid4()))
        else:
            one = self.dice.choice(sorted(self.names))
            # The list is gone if the response to the first call was lost.
            self.call(f"/v1/me/lists/{one}", "DELETE", None, self.token, gone=404)
            del self.names[one]

    def check(self, base):
        found = send(base, "/v1/me/lists", token=self.token)[1]["lists"]
        assert {one["id"]: one["name"] for one in found} == self.names, "lists differ"


class Placements(Worker):
    """Products that are created, placed on a shelf, removed from it and deleted."""

    def __init__(self, servers, seed, database, number):
        super().__init__(servers, seed)
        self.token, self.number, self.products, self.shelf = database.token("placer", "catalog:write"), number, {}, f"/v1/stores/corner/shelves/placed{number}"
        assert status(servers[0].base, self.shelf, "PUT", {"title": "Placed"}, self.token) < 300

    def step(self):
        sku = f"placed{self.number}x{self.dice.randrange(20)}"
        if sku not in self.products:
            self.call(f"/v1/stores/corner/products/{sku}", "PUT", {"name": sku, "price_minor": 100, "currency": "EUR"}, self.token)
            self.products[sku] = False
        elif self.dice.random() < 0.2:
            self.call(f"/v1/stores/corner/products/{sku}", "DELETE", None, self.token, gone=404)
            del self.products[sku]
        elif self.products[sku]:
            self.call(f"{self.shelf}/products/{sku}", "DELETE", None, self.token, gone=404)
            self.products[sku] = False
        else:
            self.call(f"{self.shelf}/products/{sku}", "PUT", None, self.token)
            self.products[sku] = True

    def check(self, base):
        found = {one["sku"] for one in send(base, f"{self.shelf}/products?limit=100&sort=name")[1]["products"]}
        assert found == {sku for sku, is_placed in self.products.items() if is_placed}, "placements differ"
        for index in range(20):
            sku = f"placed{self.number}x{index}"
            code = status(base, f"/v1/stores/corner/products/{sku}")
            assert code == (200 if sku in self.products else 404), (sku, code)


class Imports(Worker):
    """Files of products, which are applied whole or not at all."""

    def __init__(self, servers, seed, database, number):
        super().__init__(servers, seed)
        self.token, self.number, self.price = database.token("importer", "catalog:write"), number, None

    def step(self):
        price = 100 + self.done
        rows = "".join(f"imported{self.number}x{index},Imported,{price / 100:.2f},Imported {self.number}\n" for index in range(50))
        body = f"sku,name,price,shelf\n{rows}".encode()
        found = self.call("/v1/stores/corner/imports?max_rejects=0", "POST", body, self.token, str(uuid.uuid4()))
        assert found["rejected"] == 0, found
        self.price = price
        self.is_over.wait(0.2)

    def check(self, base):
        page = send(base, f"/v1/stores/corner/shelves/imported-{self.number}/products?sort=name&limit=100")[1]["products"]
        assert self.price is None or (len(page) == 50 and {one["price_minor"] for one in page} == {self.price}), "imported products differ"


KINDS = (Settings, Items, Moves, Prices, Purchases, BulkPrices, WholeOrders, Lists, Placements, Imports)


def start_workers(servers, dice, database, each=3):
    """Starts workers of every kind, and returns them when they write."""
    workers = [kind(servers, dice.random(), database, number) for number in range(each) for kind in KINDS]
    for worker in workers:
        worker.start()
    until(lambda: sum(worker.done for worker in workers) > 100 * each, 60, "the workers write")
    return workers


def check_running(workers, servers):
    for worker in workers:
        assert worker.failure is None, worker.failure
    for server in servers:
        assert server.is_running, open(server.log).read()[-3000:]


def finish(workers, servers):
    """Ends the workers, and checks on each server that everything is as if nothing had failed; returns the writes and the calls."""
    for worker in workers:
        worker.is_over.set()
    for worker in workers:
        worker.thread.join(150)
        assert not worker.thread.is_alive() and worker.failure is None, worker.failure
    for worker in workers:
        for server in servers:
            worker.check(server.base)
    return sum(worker.done for worker in workers), sum(worker.tries for worker in workers)
