"""Records a database of version 0.1.0 with data, and what its server answered: database.sql and answers.json beside this file.

Of most pages, only the products' SKUs are kept. Some answers are from after another re-sort.

Usage: record.py AISLE, the program of 0.1.0, in an empty folder, which becomes its workplace.
"""
import base64, hashlib, hmac, json, os, re, subprocess, sys, time, urllib.error, urllib.request, uuid

AISLE, HERE = os.path.abspath(sys.argv[1]), os.path.dirname(os.path.abspath(__file__))
SECRET, PORT = "a secret that only this recording uses", 18999
BASE = f"http://127.0.0.1:{PORT}"
SORTS = ["price", "-price", "unit_price", "-unit_price", "-popularity", "brand,name", "name", "-created", "-modified", "-tags,price", "position"]
USERS = ["ann", "bob"]


def run(*words, **more):
    return subprocess.run([AISLE, *words], check=True, capture_output=True, text=True, **more).stdout


def token(user, scope=""):
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=")
    claims = {"sub": user, "exp": int(time.time()) + 86400, **({"scope": scope} if scope else {})}
    text = b".".join(part(json.dumps(value).encode()) for value in ({"alg": "HS256"}, claims))
    return (text + b"." + part(hmac.digest(SECRET.encode(), text, hashlib.sha256))).decode()


def send(path, method="GET", body=None, user=None, scope="", kind="application/json"):
    headers = {"content-type": kind, "idempotency-key": str(uuid.uuid4())}
    if user:
        headers["authorization"] = f"Bearer {token(user, scope)}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            text = response.read()
            return response.status, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def write(path, method, body=None, user="root", scope="catalog:write purchases:write"):
    status, answer = send(path, method, body, user, scope)
    assert status < 300, (path, status, answer)
    return answer


def change(shelves):
    """Makes what a store has after a while: purchases, manual orders, edited and removed products, settings and lists."""
    now = time.time()
    stamp = lambda age: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - age * 86400))
    products = {}
    for shelf in shelves:
        products[shelf] = [one["sku"] for one in send(f"/v1/stores/corner/shelves/{shelf}/products?sort=name&limit=100")[1]["products"]]
    skus = sorted({sku for some in products.values() for sku in some})
    events = [{"event_id": str(uuid.UUID(int=n)), "sku": skus[n * n % len(skus)], "quantity": [1, 2, 1, -1][n % 4], "at": stamp(n % 40),
               **({"customer": (USERS + [f"customer {m}" for m in range(15)])[n % 17]} if n % 3 else {})} for n in range(600)]
    events += [{"event_id": str(uuid.UUID(int=5000 + n)), "sku": "later", "quantity": 1, "at": stamp(1)} for n in range(5)]
    write("/v1/stores/corner/purchases", "POST", events)
    for n, shelf in enumerate(shelves[:4]):
        some = products[shelf]
        for m in range(5):
            move = {"ids": [some[(m * 7 + n) % len(some)]], "before": some[(m * 5 + 3) % len(some)]}
            if move["ids"][0] != move["before"]:
                write(f"/v1/stores/corner/shelves/{shelf}/order/moves", "POST", {"moves": [move]})
    write(f"/v1/stores/corner/shelves/{shelves[5]}", "PUT", {"title": "From popularity", "position_source": "-popularity"})
    write(f"/v1/stores/corner/products/{products[shelves[0]][2]}", "DELETE")
    write(f"/v1/stores/corner/products/{products[shelves[1]][3]}", "PATCH", {"price_minor": 123, "in_stock": False})
    write(f"/v1/stores/corner/shelves/{shelves[2]}/products/{products[shelves[2]][1]}", "DELETE")
    for user in USERS:
        for n, shelf in enumerate(shelves):
            write(f"/v1/me/stores/corner/shelves/{shelf}/sort", "PUT", {"sort": SORTS[(n + len(user)) % 10]}, user, "")
        write("/v1/me/settings/theme", "PUT", {"value": {"dark": user == "ann", "size": 3}}, user, "")
        made = write("/v1/me/lists", "POST", {"name": f"List of {user}"}, user, "")
        write(f"/v1/me/lists/{made['id']}/items", "POST", {"items": [{"text": f"thing {n}"} for n in range(7)]}, user, "")
    run("resort", "--all")
    write("/v1/stores/corner/purchases", "POST", [{"event_id": str(uuid.UUID(int=9000 + n)), "sku": skus[n], "quantity": 1, "at": stamp(0)} for n in range(20)])


def paths(shelves):
    """The requests whose answers are compared, with the user who sends them."""
    yield "/v1/stores", None
    yield "/v1/stores/corner/shelves", None
    for shelf in shelves:
        base = f"/v1/stores/corner/shelves/{shelf}"
        yield base, None
        for sort in SORTS:
            yield f"{base}/products?sort={sort}&limit=100", None
        yield f"{base}/products?sort=price&limit=5&facets=brand,tag", None
        yield f"{base}/products?sort=-popularity&in_stock=true&limit=100", None
        yield f"{base}/order/diff?from_sort=price&to_sort=position", None
        for user in USERS:
            yield f"{base}/products?limit=100", user
    for user in USERS:
        yield "/v1/me/settings", user
        yield "/v1/me/lists", user
        yield "/v1/me/export", user


def answer(path, user):
    status, body = send(path, user=user)
    if "products?" in path and not ("sort=price&limit=100" in path or "facets" in path):
        body = {**body, "products": [one["sku"] for one in body["products"]]}
    return {"path": path, "user": user, "status": status, "body": body}


def main():
    run("db", "init")
    run("seed")
    dsn = run("db", "start").strip().splitlines()[0]
    server = subprocess.Popen([AISLE, "serve", "--port", str(PORT)], env={**os.environ, "AISLE_JWT_SECRET": SECRET}, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(BASE + "/readyz")
                break
            except OSError:
                time.sleep(0.1)
        shelves = [one["key"] for one in send("/v1/stores/corner/shelves")[1]["shelves"]]
        change(shelves)
        answers = [answer(path, user) for path, user in paths(shelves)]
        dump = subprocess.run(["pg_dump", dsn, "--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=1000"], check=True,
                              capture_output=True, text=True).stdout
        # The purchases that are not folded yet count only now.
        run("resort", "--all")
        answers += [{**answer(f"/v1/stores/corner/shelves/{shelf}/products?sort={sort}&limit=100", None), "resorted": True}
                    for shelf in shelves for sort in ("-popularity", "position")]
    finally:
        server.terminate()
        server.wait()
    with open(f"{HERE}/answers.json", "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in answers) + "\n]\n")
    dump = re.sub(r"^(SET|SELECT pg_catalog\.set_config).*\n", "", dump, flags=re.M)
    dump = "\n".join(line for line in dump.splitlines() if line and not line.startswith(("--", "\\")))
    with open(f"{HERE}/database.sql", "w") as file:
        file.write(dump + "\n")
    run("db", "stop")


main()
