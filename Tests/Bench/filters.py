"""Compares filtered pages and facets with the unfiltered page of the same shelf."""
import http.client, json, statistics, time
from urllib.parse import quote
from harness import *

CALLS = 40
FACETS = "&facets=brand,tag,in_stock,price"


def shelf_of(database):
    """Returns the store and shelf with the most products, and their number."""
    return sql(database, "SELECT s.key || ' ' || h.key || ' ' || h.product_count FROM shelf h JOIN store s USING (store_id) ORDER BY h.product_count DESC LIMIT 1").split()


def measured(database, name):
    store, shelf, products = shelf_of(database)
    path = f"/v1/stores/{store}/shelves/{shelf}/products?sort=-popularity&limit=24"
    with served(database, AISLE_PAGE_CACHE_MB="0"):
        connection = http.client.HTTPConnection("127.0.0.1", PORT)

        def get(query):
            connection.request("GET", path + query)
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200, body
            return json.loads(body)

        facets = get("&facets=brand,price")["facets"]
        brands = [value for value in facets["brand"]["values"] if value["value"]]
        half = len(facets["price"]["buckets"]) // 2
        bucket = facets["price"]["buckets"][half]
        spread = "".join(f"&{end}={bucket[end]}" for end in ("price_min", "price_max") if bucket[end])
        tenth, kept = [], 0
        for value in brands:
            if kept < int(products) / 10 and len(tenth) < 100:
                tenth.append(value["value"])
                kept += value["count"]
        cases = {
            "plain page": "",
            "in stock": "&in_stock=true",
            f"brands of {100 * kept // int(products)} %": "".join("&brand=" + quote(brand) for brand in tenth),
            f"prices of {100 * bucket['count'] // int(products)} %": spread,
            f"a brand of {brands[-1]['count']} products": "&brand=" + quote(brands[-1]["value"]),
            "nothing (a brand that is not there)": "&brand=nobody",
            "facets: all four, counted before (aim: ≤ 1.5)": FACETS,
            "facets of a filtered shelf, counted before": FACETS + "&in_stock=true" + spread,
            "facets: all four, after a changed price (aim: ≤ 20)": FACETS,
        }
        sku, price = get("")["products"][0]["sku"], 100
        writer = {"content-type": "application/json", "authorization": f"Bearer {token('writer', 'products:write')}"}
        times = {case: [] for case in cases}
        for _ in range(CALLS):
            for case, query in cases.items():
                if "changed price" in case:
                    price += 1
                    connection.request("PATCH", f"/v1/stores/{store}/products/{sku}", json.dumps({"price_minor": price}), writer)
                    answer = connection.getresponse()
                    assert answer.read() and answer.status == 200
                start = time.perf_counter()
                get(query)
                times[case].append(time.perf_counter() - start)
        connection.close()
    times[(restart := "facets: all four, after a restart of the server (aim: ≤ 200)")] = []
    for _ in range(3):
        with served(database, AISLE_PAGE_CACHE_MB="0"):
            connection = http.client.HTTPConnection("127.0.0.1", PORT)
            get("")
            start = time.perf_counter()
            get(FACETS)
            times[restart].append(time.perf_counter() - start)
            connection.close()
    plain = statistics.median(times["plain page"]) * 1000
    print(f"{name}, {int(products):,} products, -popularity, over HTTP, uncached{'ms':>12}{'÷ plain page':>15}")
    for case in times:
        median = statistics.median(times[case]) * 1000
        print(f"    {case:60}{median:20.2f}{median / plain:15.1f}", flush=True)


def all(csv):
    big()
    measured("big", "the generated shelf")
    if csv:
        fresh("real")
        run(AISLE, "import", csv, "--create-store", "--dsn", f"{DSN} dbname=real")
        sql("real", "VACUUM ANALYZE")
        measured("real", "the real catalog's largest shelf")
