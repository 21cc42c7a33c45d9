"""Requests every GET operation of the OpenAPI document for all stores, shelves, sorts, products, users, settings and lists."""
import http.client, itertools, json, re, urllib.parse
from documents import ROOT

# The headers that are compared; the others are of one response or of the time.
HEADERS = ("content-type", "etag", "link", "cache-control", "vary")
# The largest number of pages of a listing.
PAGES = 1000


class Crawler:
    """A client of one server."""

    def __init__(self, port, tokens):
        self.port, self.tokens = port, {"": None, **tokens}
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.document = json.loads(self.get("/openapi.json")[2])
        self.learn()

    def headers(self, user):
        token = self.tokens[user]
        return {"authorization": f"Bearer {token}"} if token else {}

    def get(self, path, user="", **more):
        """Returns the status, the compared headers and the body of a response."""
        self.connection.request("GET", path, headers={**self.headers(user), **more})
        answer = self.connection.getresponse()
        body = answer.read()
        return answer.status, {name: answer.headers[name] for name in HEADERS if name in answer.headers}, body

    def json(self, path, user=""):
        status, _, body = self.get(path, user)
        assert status == 200, (path, status, body[:300])
        return json.loads(body)

    def first_event(self, path, user):
        """Returns the status and the first event of a stream."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path, headers=self.headers(user))
            answer = connection.getresponse()
            if answer.status != 200:
                return answer.status, {}, answer.read()
            lines = []
            while not (lines and lines[-1].startswith(b"data:")):
                line = answer.readline()
                assert line, f"{path} ends before its first event"
                lines.append(line)
            # The reconnect delay differs from stream to stream, and so do the event ids of several shelves and of searches.
            varying = (b"retry:", b"id:") if "include=descendants" in path or "q=" in path else (b"retry:",)
            return answer.status, {}, b"".join(line for line in lines if not line.startswith(varying))
        finally:
            connection.close()

    def all(self, path, name, user=""):
        """Returns all rows of a listing."""
        found, cursor = [], None
        for _ in range(PAGES):
            part = self.json(path + (f"&cursor={urllib.parse.quote(cursor)}" if cursor else ""), user)
            found += part[name]
            cursor = part["page"]["next_cursor"]
            if cursor is None:
                return found
        raise AssertionError(f"{path} has more than {PAGES} pages")

    def learn(self):
        """Reads the ids of everything."""
        self.shelves, self.skus, products = {}, {}, []
        for store in (store["key"] for store in self.json("/v1/stores")["stores"]):
            self.shelves[store] = [shelf["key"] for shelf in self.all(f"/v1/stores/{store}/shelves?limit=100", "shelves")]
            found = self.all(f"/v1/stores/{store}/products?limit=100", "products")
            self.skus[store] = [product["sku"] for product in found]
            products += found
        self.brands = sorted({product["brand"] for product in products if product["brand"]})[:3]
        self.tags = sorted({tag for product in products for tag in product["tags"]})[:3]
        store = next(iter(self.shelves))
        problem = json.loads(self.get(f"/v1/stores/{store}/shelves/{self.shelves[store][0]}/products?sort=unknown")[2])
        self.sorts = problem["allowed"]
        with open(f"{ROOT}/docs/errors.md") as file:
            self.problems = re.findall(r"^\| `([a-z-]+)` \| \d+ \|", file.read(), re.M)
        self.profiles = [profile["name"] for profile in self.json("/v1/import-profiles", "merchant")["profiles"]]
        self.attributes = [attribute["name"] for attribute in self.json("/v1/attributes")["attributes"]]
        self.settings, self.lists = {}, {}
        for user in self.tokens:
            if user:
                self.settings[user] = [setting["key"] for setting in self.json("/v1/me/settings", user)["settings"]]
                lists = [one["id"] for one in self.json("/v1/me/lists", user)["lists"]]
                self.lists[user] = {one: [item["id"] for item in self.json(f"/v1/me/lists/{one}/items", user)["items"]] for one in lists}

    def resolved(self, value):
        """A part of the document, or the part that it refers to."""
        while "$ref" in value:
            part = self.document
            for name in value["$ref"].removeprefix("#/").split("/"):
                part = part[name]
            value = part
        return value

    def paths(self, template, user):
        """Yields the paths of an operation with all ids, percent-encoded."""
        names = set(re.findall(r"\{(\w+)\}", template))
        stores = [(store, shelf, sku) for store in self.shelves for shelf in (self.shelves[store] if "shelf" in names else [None])
                  for sku in (self.skus[store] if "sku" in names else [None])] if "store" in names else [(None, None, None)]
        lists = [(one, item) for one, items in self.lists.get(user, {}).items()
                 for item in (items if "item" in names else [None])] if "list" in names else [(None, None)]
        keys = self.settings.get(user, []) if "key" in names else [None]
        problems = self.problems if "slug" in names else [None]
        profiles = self.profiles if "name" in names else [None]
        attributes = self.attributes if "attribute" in names else [None]
        unknown = names - {"store", "shelf", "sku", "list", "item", "key", "slug", "name", "attribute"}
        assert not unknown, f"{template}: no ids are known for {unknown}"
        for (store, shelf, sku), (one, item), key, slug, profile, attribute in itertools.product(
                stores, lists, keys, problems, profiles, attributes):
            values = {"store": store, "shelf": shelf, "sku": sku, "list": one, "item": item, "key": key, "slug": slug, "name": profile,
                      "attribute": attribute}
            # A setting's key is the rest of the path, with its slashes.
            yield template.format(**{name: urllib.parse.quote(value, safe="/" if name == "key" else "")
                                     for name, value in values.items() if value is not None})

    def values(self, parameter, template):
        """The values with which a query parameter is tried; each alone."""
        name, schema = parameter["name"], self.resolved(parameter["schema"])
        items = self.resolved(schema.get("items", {}))
        if "enum" in schema or "enum" in items:
            return schema.get("enum") or items["enum"]
        some_time = ["2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"]
        fixed = {
            # A cursor is followed, and a ticket is valid once.
            "cursor": [], "ticket": [],
            "limit": ["5"], "since": some_time if template.endswith("/audit") else ["0"], "until": some_time,
            "action": ["prices.set"], "actor": ["merchant"], "subject": [sku for skus in self.skus.values() for sku in skus[:2]], "brand": [*self.brands, ""], "tag": [*self.tags, ""], "tags_all": [*self.tags], "tags_none": [*self.tags], "in_stock": ["true", "false"],
            "price_min": ["1.00"], "price_max": ["3.00"], "unit_price_max": ["5.00"], "created_after": some_time,
            "created_before": some_time, "modified_after": some_time, "modified_before": some_time,
            "facets": ["brand,tag,in_stock,price"], "sort": self.sorts, "from_sort": self.sorts, "to_sort": self.sorts,
            "sku": [sku for skus in self.skus.values() for sku in skus[:2]], "products": ["true"], "total": ["true"], "collapse": ["true", "false"], "members": ["true"], "for": ["reads"], "q": ["mil", "fresh m", "!"], "barcode": ["4006381333931", "1"],
        }
        assert name in fixed, f"{template}: no values are known for {name}"
        return fixed[name]

    def answers(self):
        """Returns the response of every request, by user and path."""
        found = {}
        for template, operations in self.document["paths"].items():
            if "get" not in operations:
                continue
            operation = operations["get"]
            parameters = [self.resolved(one) for one in operation.get("parameters", []) + operations.get("parameters", [])]
            queries = [""] + [f"?{one['name']}={urllib.parse.quote(str(value))}" for one in parameters if one["in"] == "query"
                              for value in self.values(one, template)]
            is_stream = any("text/event-stream" in self.resolved(answer).get("content", {}) for answer in operation["responses"].values())
            is_public = {} in operation.get("security", [{}])
            for user in self.tokens:
                # Public responses depend on the user only without a query, by remembered sorts.
                tried = queries[:1] if is_public and user else queries
                for path, query in itertools.product(self.paths(template, user), tried):
                    self.follow(found, user, path + query, is_stream)
                    if any(one["name"] == "Accept-Language" for one in parameters):
                        found[user, path, "ru"] = self.get(path, user, **{"accept-language": "ru"})
        return found

    def follow(self, found, user, target, is_stream):
        """Adds the response of a request, and those of the further pages of a listing."""
        if is_stream:
            found[user, target] = self.first_event(target, user)
            return
        path = target
        for _ in range(PAGES):
            answer = found[user, path] = self.get(path, user)
            page = json.loads(answer[2]).get("page") if answer[0] == 200 and answer[1].get("content-type") == "application/json" else None
            if not page or not page["next_cursor"]:
                return
            path = f"{target}{'&' if '?' in target else '?'}cursor={urllib.parse.quote(page['next_cursor'])}"
        raise AssertionError(f"{target} has more than {PAGES} pages")


def comparable(path, answer):
    """Returns an answer without the id of its request; an export also without the entries about exports, which each of them adds."""
    status, headers, body = answer
    if path == "/v1/me/export" and status == 200:
        export = json.loads(body)
        export["audit"] = [entry for entry in export["audit"] if entry["action"] != "user.export"]
        return status, {name: value for name, value in headers.items() if name != "etag"}, export
    return status, headers, re.sub(rb'"request_id":"[^"]*"', b"", body)


def differences(before, after):
    """Returns the different answers of two servers, by user and path."""
    return [(key, before.get(key), after.get(key)) for key in sorted({*before, *after}, key=str)
            if key not in before or key not in after or comparable(key[1], before[key]) != comparable(key[1], after[key])]
