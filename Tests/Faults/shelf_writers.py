"""Random writes of everything that changes a shelf, and random reads of shelves."""
import collections, datetime, http.client, json, random, subprocess, uuid
from urllib.parse import quote

STORES = {
    "zagreb": {"title": "Zagreb", "currency": "EUR", "locale": "hr"},
    "malmo": {"title": "Malmö", "currency": "SEK", "locale": "sv-SE", "unit_pricing": "se"},
    "wien": {"title": "Wien", "currency": "EUR", "locale": "de-AT", "collation": "de-u-co-phonebk", "sold_out": "mixed"},
    "boston": {"title": "Boston", "currency": "USD", "locale": "en-US", "collation": "root", "unit_pricing": "us"},
}
# The number of products of each store; the last shelf has most of them, so that the largest one is sorted and filtered on another thread.
PRODUCTS = {"zagreb": 2400, "malmo": 400, "wien": 120, "boston": 120}
# A store that is deleted and created again.
TRANSIENT = "popup"
# The shelves of a store with their parents, and the share of its products that each has at first.
TREE = {"all": (None, 0.05), "food": ("all", 0.2), "dairy": ("food", 0.3), "bakery": ("food", 0.2), "drinks": ("all", 0.3), "wide": ("all", 0.9)}
# Shelves that are deleted and created again.
SEASONS = ["season0", "season1", "season2"]
LANGUAGES = [None, "hr", "sv", "de-u-co-phonebk", "root", "da"]

NAMES = ["Žitna kava", "Zelje", "Čaj", "Ćevapi", "Cvekla", "Đumbir", "Dunja", "Ärtsoppa", "Öl", "Åkerbär", "Zucchini", "Apfelmus", "Äpfel",
         "Ofenkäse", "Milch 0.5 l", "Milch 0.33 l", "Milch 1 l", "Milk", "milk", "Butter 250 g", "Butter 1.5 kg", "Straße", "Strasse", "œuf",
         "Ljubičica", "Njoki"]
BRANDS = [None, None, "Alma", "alma", "Älma", "Čoko", "Coko", "Zvijezda", "Øst", "Müller", "Mueller"]
TAGS = ["organic", "Organic", "vegan", "žuto", "new", "sale", "ö", "local"]
SIZES = [None, ("250", "g"), ("0.25", "kg"), ("1", "kg"), ("500", "ml"), ("1", "l"), ("12", "floz_us"), ("6", "piece"), ("3", "m"), ("7", "g"),
         ("3", "l")]
KEYS = ["price", "unit_price", "popularity", "brand", "name", "created", "modified", "tags"]
SORTS = [direction + key for key in KEYS for direction in ("", "-")] + ["position"]
FACETS = "brand,tag,in_stock,price"
# Sorts that are read often, so that their views follow from those of earlier versions.
FREQUENT = ["price", "-popularity", "unit_price", "name", "-modified,name", "brand,-price"]


def random_sort(dice, keys=3, manual=True):
    """Returns a sort by up to some keys."""
    chosen = dice.sample(KEYS + ["position"] * manual, dice.randint(1, keys))
    return ",".join(key if key == "position" else dice.choice(["", "-"]) + key for key in chosen)


def random_filter(dice):
    """Returns the parameters of a filter."""
    return dice.choice([
        "".join(f"&brand={quote(brand or '')}" for brand in dice.sample(BRANDS[1:], 2)),
        f"&tag={quote(dice.choice(TAGS))}",
        f"&in_stock={dice.choice(['true', 'false'])}",
        f"&price_max={dice.randint(1, 30) / 10}",
        f"&price_min=0.5&price_max={dice.randint(6, 30) / 10}&in_stock=true",
        f"&unit_price_max={dice.randint(1, 20)}/kg",
        f"&dimension={dice.choice(['mass', 'volume', 'piece'])}",
        f"&tag={quote(dice.choice(TAGS))}&brand=Alma&price_min=0.3",
    ])


def random_path(dice):
    """Returns the path of a page, an order or a diff."""
    def sort(manual=True):
        return dice.choice(FREQUENT) if dice.random() < 0.6 else random_sort(dice, manual=manual)

    store = dice.choice(list(STORES) * 3 + [TRANSIENT])
    shelf = f"/v1/stores/{store}/shelves/{dice.choice(list(TREE) + SEASONS)}"
    kind, filter = dice.randrange(10), random_filter(dice) if dice.random() < 0.25 else ""
    if kind == 0:
        return f"{shelf}/order?sort={sort()}{filter}"
    if kind == 1:
        return f"{shelf}/order/diff?from_sort={dice.choice(SORTS)}&to_sort={dice.choice(SORTS)}&limit=20"
    extra = dice.choice(["", "", f"&facets={FACETS}", "&facets=brand,price&total=true", "&total=true"])
    if kind < 5:
        return f"{shelf}/products?include=descendants&sort={sort(manual=False)}&limit={dice.choice([5, 24, 100])}{filter}{extra}"
    return f"{shelf}/products?sort={sort()}&limit={dice.choice([1, 24, 100])}{filter}{extra}"


def random_price(dice):
    """Returns one of few prices, so that many products have the same one; null for some."""
    return None if dice.random() < 0.1 else dice.randint(1, 30) * 10


def random_product(dice):
    size, price = dice.choice(SIZES), random_price(dice)
    return {
        "name": dice.choice(NAMES) + dice.choice(["", "", f" {dice.randint(1, 12)}", f" {dice.randint(1, 20) / 10} l"]),
        "brand": dice.choice(BRANDS),
        "price_minor": price,
        "regular_price_minor": price and dice.choice([None, None, 999]),
        "size": size and {"amount": size[0], "unit": size[1]},
        "in_stock": dice.random() < 0.8,
        "tags": dice.sample(TAGS, dice.choice([0, 0, 1, 2, 3])),
        "attributes": dice.choice([{}, {"origin": "HR"}]),
    }


def random_rows(dice, placements, has_scores=False):
    """Returns the lines of a CSV file with random values of products on shelves, `placements`."""
    lines = ["sku,name,brand,price,size,in_stock,tags,shelf" + ",popularity" * has_scores]
    for sku, shelf in placements:
        product = random_product(dice)
        price = "" if product["price_minor"] is None else f"{product['price_minor'] / 100:.2f}"
        size = product["size"]
        values = [sku, product["name"], product["brand"] or "", price, f"{size['amount']} {size['unit'].replace('floz_us', 'fl oz')}" if size else "",
                  "true" if product["in_stock"] else "false", "|".join(product["tags"]), shelf, *[str(dice.randint(0, 50))] * has_scores]
        lines.append(",".join(values))
    return [line + "\n" for line in lines]


class Client:
    """Keeps a connection to a server."""

    def __init__(self, base, token=None):
        self.port, self.connection = int(base.rsplit(":", 1)[1]), None
        self.headers = {"authorization": f"Bearer {token}"} if token else {}

    def send(self, method, path, body=None, headers={}, timeout=120):
        """Returns the status, the body and the headers of a response; status 0 if none came. Bytes are CSV, as are those of an iterator."""
        kind = "application/json" if body is None or isinstance(body, (dict, list)) else "text/csv"
        if kind == "application/json" and body is not None:
            body = json.dumps(body).encode()
        try:
            self.connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
            self.connection.request(method, path, body, {**self.headers, "content-type": kind, **headers})
            answer = self.connection.getresponse()
            code, content = answer.status, answer.read()
            # The server closes the connection after an import.
            if "/imports" in path:
                self.connection.close()
            return code, content, answer.headers
        except (OSError, http.client.HTTPException) as error:
            if self.connection:
                self.connection.close()
            self.connection = None
            return 0, repr(error).encode(), {}


def is_expected(code, text):
    """Whether a response to a write is a success or a documented conflict."""
    # A product or shelf that the request names may have been removed meanwhile. A command ends with the same code after a conflict.
    details = (b"has no product", b"is not in this order", b"does not exist", b"during the import")
    return code in (200, 201, 202, 204, 404, 409, 412, 503) or code == 422 and any(detail in text for detail in details)


class Writer:
    """Makes random writes, and reads random pages from all servers meanwhile."""

    # The relative frequencies of the kinds of writes. Each is a method.
    KINDS = {
        "set prices": 200, "patch product": 160, "set availability": 80, "set tags": 40, "put product": 70, "delete product": 12,
        "place product": 80, "remove product": 55, "move product": 60, "move products": 40, "set order": 14, "copy sort": 10, "undo": 14,
        "import products": 25, "import and prune": 5, "add purchases": 60, "patch shelf": 24, "put shelf": 14, "delete shelf": 6,
        "move shelf": 6, "put store": 8, "set language": 1, "replace store": 5, "re-sort": 4, "set prices by command": 2,
        "import by command": 2, "compact orders": 1, "recollate": 1,
    }
    # The exit codes of commands, as statuses of responses.
    EXITS = {0: 200, 65: 422, 66: 404, 69: 503, 75: 503}

    def __init__(self, seed, bases, token, aisle, folder, environment, reads):
        """
        - reads: the average number of reads after each write.
        """
        self.dice, self.aisle, self.folder, self.environment, self.reads = random.Random(seed), aisle, folder, environment, reads
        self.clients = [Client(base, token) for base in bases]
        self.writes, self.statuses, self.failures = collections.Counter(), collections.Counter(), []
        # Every kind once, so that rare ones do not depend on chance.
        self.first = self.dice.sample(list(self.KINDS), len(self.KINDS))
        # The position of the last write, and the entity tags of responses, by path.
        self.seen, self.tags = None, {}

    def write(self):
        kind = self.first.pop() if self.first else self.dice.choices(list(self.KINDS), self.KINDS.values())[0]
        store = self.dice.choice(list(STORES))
        code = getattr(self, kind.replace(" ", "_").replace("-", "_"))(store, f"/v1/stores/{store}")
        self.writes[kind, code] += 1
        for _ in range(self.dice.randint(0, 2 * self.reads)):
            self.read()

    def send(self, method, path, body=None, headers={}):
        """Sends a write to a random server, and returns its status."""
        code, answer, received = self.dice.choice(self.clients).send(method, path, body, headers)
        self.seen = received.get("aisle-seen") or self.seen
        if not is_expected(code, answer):
            self.failures.append(f"{code} {answer[:1000]} to {method} {path} {headers} {str(body)[:1000]}")
        return code

    def read(self):
        path, client, headers = random_path(self.dice), self.dice.choice(self.clients), {}
        if self.tags and self.dice.random() < 0.2:
            path = self.dice.choice(list(self.tags))
        if self.seen and self.dice.random() < 0.5:
            headers["aisle-seen"] = self.seen
        if path in self.tags:
            headers["if-none-match"] = self.tags[path]
        code, body, received = client.send("GET", path, headers=headers)
        self.note(path, code, body)
        if code != 200:
            return
        self.tags[path] = received["etag"]
        cursor = json.loads(body)["page"]["next_cursor"] if "/products?" in path else None
        if cursor and self.dice.random() < 0.3:
            path = f"{path}&cursor={quote(cursor)}"
            code, body, _ = client.send("GET", path)
            # The shelf may have been created again meanwhile.
            self.note(path, 404 if code == 400 and b"invalid-cursor" in body else code, body)

    def note(self, path, code, body):
        self.statuses[code] += 1
        if code not in (200, 304, 404, 503):
            self.failures.append(f"{code} {body[:1000]} to GET {path}")

    def run(self, *words, body=None):
        """Runs a command, and returns its exit code as a status."""
        done = subprocess.run([self.aisle, *words], cwd=self.folder, env=self.environment, input=body, capture_output=True, timeout=120)
        code = self.EXITS.get(done.returncode, done.returncode)
        if not is_expected(code, done.stderr):
            self.failures.append(f"exit code {done.returncode} of {words}: {done.stdout[-1000:]} {done.stderr[-1000:]}")
        return code

    # MARK: - Products

    def sku(self, store):
        """Returns a product; half of the time one of a few, which so change often."""
        return f"P{self.dice.randrange(PRODUCTS[store] if self.dice.random() < 0.5 else 60)}"

    def skus(self, store, limit):
        return sorted({self.sku(store) for _ in range(self.dice.randint(1, limit))})

    def set_prices(self, store, path):
        changes = [{"sku": sku, "price_minor": random_price(self.dice)} for sku in self.skus(store, self.dice.choice([1, 1, 5, 40]))]
        return self.send("POST", f"{path}/prices", changes)

    def patch_product(self, store, path):
        product = random_product(self.dice)
        changed = set(self.dice.sample(sorted(product), self.dice.randint(1, 3)))
        # Only a product with a price has a regular price.
        if changed & {"price_minor", "regular_price_minor"}:
            changed |= {"price_minor", "regular_price_minor"}
        return self.send("PATCH", f"{path}/products/{self.sku(store)}", {key: product[key] for key in sorted(changed)})

    def set_availability(self, store, path):
        return self.send("PATCH", f"{path}/products/{self.sku(store)}", {"in_stock": self.dice.random() < 0.6})

    def set_tags(self, store, path):
        return self.send("PATCH", f"{path}/products/{self.sku(store)}", {"tags": self.dice.sample(TAGS, self.dice.randint(0, 3))})

    def put_product(self, store, path):
        return self.send("PUT", f"{path}/products/{self.sku(store)}", random_product(self.dice))

    def delete_product(self, store, path):
        return self.send("DELETE", f"{path}/products/{self.sku(store)}")

    def place_product(self, store, path):
        return self.send("PUT", f"{path}/shelves/{self.shelf()}/products/{self.sku(store)}")

    def remove_product(self, store, path):
        return self.send("DELETE", f"{path}/shelves/{self.shelf()}/products/{self.sku(store)}")

    def add_purchases(self, store, path):
        now = datetime.datetime.now(datetime.timezone.utc)
        events = [{
            "event_id": str(uuid.UUID(int=self.dice.getrandbits(128))), "sku": sku, "quantity": self.dice.choice([1, 2, 0.5, -1]),
            "at": (now - datetime.timedelta(days=self.dice.randint(0, 40), seconds=5)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "customer": self.dice.choice([None, "ann", "bob"]),
        } for sku in self.skus(store, 20)]
        return self.send("POST", f"{path}/purchases", events)

    # MARK: - Imports

    def file(self, store, shelves, limit):
        rows = [(sku, self.dice.choice(shelves)) for sku in self.skus(store, limit)]
        return "".join(random_rows(self.dice, rows, has_scores=self.dice.random() < 0.3)).encode()

    def import_products(self, store, path):
        return self.send("POST", f"{path}/imports?max_rejects=0", self.file(store, list(TREE) + SEASONS, 60))

    def import_and_prune(self, store, path):
        return self.send("POST", f"{path}/imports?max_rejects=0&prune=true&confirm_prune=true", self.file(store, [self.dice.choice(SEASONS)], 25))

    # MARK: - The manual order

    def order(self, path):
        """Returns the path of a shelf, its manual order, and headers of a change that may depend on its version."""
        shelf = f"{path}/shelves/{self.shelf()}"
        code, body, headers = self.dice.choice(self.clients).send("GET", f"{shelf}/order?sort=position")
        self.note(f"{shelf}/order", code, body)
        ids = json.loads(body)["ids"] if code == 200 else []
        return shelf, ids, {"if-match": headers["etag"]} if ids and self.dice.random() < 0.3 else {}

    def move_product(self, store, path, limit=1):
        shelf, ids, headers = self.order(path)
        if len(ids) < 2 * limit:
            return self.place_product(store, path)
        *moved, other = self.dice.sample(ids, self.dice.randint(1, limit) + 1)
        target = self.dice.choice([
            {"after": other}, {"before": other}, {"place": "first"}, {"place": "last"}, {"position": self.dice.randrange(len(ids))}])
        return self.send("POST", f"{shelf}/order/moves", {"moves": [{"ids": moved, **target}]}, headers)

    def move_products(self, store, path):
        return self.move_product(store, path, 12)

    def set_order(self, store, path):
        shelf, ids, headers = self.order(path)
        return self.send("PUT", f"{shelf}/order", {"ids": self.dice.sample(ids, self.dice.randint(0, len(ids)))}, headers)

    def copy_sort(self, store, path):
        return self.send("PUT", f"{path}/shelves/{self.shelf()}/order", {"from_sort": random_sort(self.dice, 2, manual=False)})

    def undo(self, store, path):
        return self.send("POST", f"{path}/shelves/{self.shelf()}/order/undo", {})

    # MARK: - Shelves and stores

    def shelf(self):
        return self.dice.choice(list(TREE) + SEASONS)

    def settings(self, shelf):
        values = {
            "title": self.dice.choice(NAMES), "default_sort": self.dice.choice([None, random_sort(self.dice, 2)]),
            "dimension": self.dice.choice([None, None, "mass", "volume"]), "sold_out": self.dice.choice([None, "last", "mixed"]),
            "position_source": self.dice.choice([None, None, "price", "-popularity"]), "parent": TREE.get(shelf, (None,))[0],
        }
        # No parent of these leads to a cycle.
        if shelf in ("bakery", "drinks") or shelf in SEASONS:
            values["parent"] = self.dice.choice([None, "all", "food", "dairy"])
        return values

    def patch_shelf(self, store, path):
        shelf = self.shelf()
        values = self.settings(shelf)
        return self.send("PATCH", f"{path}/shelves/{shelf}", {key: values[key] for key in self.dice.sample(sorted(values), self.dice.randint(1, 3))})

    def put_shelf(self, store, path):
        shelf = self.dice.choice(SEASONS)
        return self.send("PUT", f"{path}/shelves/{shelf}", self.settings(shelf))

    def delete_shelf(self, store, path):
        return self.send("DELETE", f"{path}/shelves/{self.dice.choice(SEASONS)}")

    def move_shelf(self, store, path):
        moved, other = self.dice.sample(list(TREE), 2)
        return self.send("POST", f"{path}/shelves/order/moves", {"moves": [{"ids": [moved], "after": other}]})

    def put_store(self, store, path):
        values = {
            **STORES[store], "title": self.dice.choice(NAMES), "sold_out": self.dice.choice(["last", "mixed"]),
            "default_sort": self.dice.choice([None, "price", "-modified,name"]),
        }
        if self.dice.random() < 0.3:
            values["unit_pricing"] = self.dice.choice(["eu", "se", "gb", "au", "us"])
        if self.dice.random() < 0.3:
            values |= {"popularity_metric": self.dice.choice(["decay", "7d", "30d", "all"]), "newcomer_boost": self.dice.choice([0, 3])}
        return self.send("PUT", path, values)

    def set_language(self, store, path):
        return self.send("PUT", path, {**STORES[store], "collation": self.dice.choice(LANGUAGES)})

    def replace_store(self, *_):
        path = f"/v1/stores/{TRANSIENT}"
        if self.dice.random() < 0.4:
            return self.send("DELETE", f"{path}?confirm={TRANSIENT}")
        self.send("PUT", path, {"title": "Pop-up", "currency": "EUR", "collation": self.dice.choice(LANGUAGES)})
        rows = random_rows(self.dice, [(f"P{number}", self.dice.choice(["all", "food"])) for number in range(30)])
        return self.send("POST", f"{path}/imports?max_rejects=0", "".join(rows).encode())

    # MARK: - Commands

    def re_sort(self, store, _):
        what = self.dice.choice([["--store", store], [f"{store}/{self.dice.choice(list(TREE))}"], ["--all"]])
        return self.run("resort", "run", *what, *self.dice.choice([[], ["--pace", "50"]]))

    def set_prices_by_command(self, store, _):
        prices = [f"{sku}={'none' if self.dice.random() < 0.1 else self.dice.randint(1, 30) / 10}" for sku in self.skus(store, 5)]
        return self.run("prices", "set", "--store", store, *prices)

    def import_by_command(self, store, _):
        return self.run("import", "-", "--format", "csv", "--store", store, body=self.file(store, list(TREE), 30))

    def compact_orders(self, *_):
        return self.run("order", "compact", "--all")

    def recollate(self, *_):
        return self.run("db", "recollate")
