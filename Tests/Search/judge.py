"""Judges searches: Aisle's over HTTP, and two that need PostgreSQL alone, with the queries of judged.tsv.

Usage: judge.py DATA DSN [--aisle URL] [--with-synonyms URL] [--store CATALOG=KEY]... [--verbose]. DATA is a folder with the catalogs as CSV files, which are not part
of the project. PostgreSQL needs the extensions pg_trgm and unaccent; nothing remains in the database. Without a URL, only the
searches of baselines.sql are judged. README.md defines the figures.
"""
import argparse, collections, csv, hashlib, json, os, re, statistics, subprocess, sys, urllib.error, urllib.parse, urllib.request

FOLDER = os.path.dirname(os.path.abspath(__file__))
HALVES = ("development", "held_out")
# Of each catalog: the store in its file, which is also the default key of the store in Aisle, and the text search configuration.
CATALOGS = {"konzum-hr": ("konzum-0204", "simple"), "spar-at": ("spar", "german")}
# The prefix of ids for the hash that decides on the half. With it, each kind has queries in both halves of both catalogs.
SALT = "2237:"
LIMIT = 10
Query = collections.namedtuple("Query", "id half catalog kind text rule note")


def half(identifier):
    return HALVES[hashlib.sha256((SALT + identifier).encode()).digest()[0] & 1]


def read_queries():
    """Reads judged.tsv; checks ids, halves, catalogs and rules."""
    with open(f"{FOLDER}/judged.tsv", encoding="utf-8", newline="") as file:
        header, *rows = (line.rstrip("\n").split("\t") for line in file)
    assert header == ["id", "half", "catalog", "kind", "query", "rule", "note"], header
    queries = [Query(*row) for row in rows]
    rules = {}
    for query in queries:
        assert query.id not in rules, f"{query.id}: the id is not unique"
        assert query.half == half(query.id), f"{query.id}: the half must be {half(query.id)}"
        assert query.catalog in CATALOGS, f"{query.id}: unknown catalog {query.catalog}"
        rules[query.id] = parse(query, rules)
    for name in CATALOGS:
        kinds = [{query.kind for query in queries if query.catalog == name and query.half == each} for each in HALVES]
        assert kinds[0] == kinds[1], f"{name}: a half lacks {kinds[0] ^ kinds[1]}"
    return queries, rules


def parse(query, rules):
    """Returns the conditions of a rule: a field, whether it must match, and the regular expression."""
    conditions = []
    for part in query.rule.split(" AND "):
        if part.startswith("as "):
            assert part[3:] in rules, f"{query.id}: no earlier query {part[3:]}"
            conditions += rules[part[3:]]
            continue
        match = re.fullmatch(r"(name|brand|size|shelf|sku|text) (!?)~ (.+)", part)
        assert match, f"{query.id}: not a condition: {part}"
        conditions.append((match[1], not match[2], re.compile(match[3])))
    return conditions


def read_catalog(data, name):
    """Reads the products of a catalog, with the lower-cased fields that rules examine."""
    products = []
    with open(os.path.join(data, f"{name}.csv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["store"] == CATALOGS[name][0]:
                packs = "" if row["pack_count"] in ("", "1") else f"{row['pack_count']}x"
                fields = {key: row[key].lower() for key in ("name", "brand", "shelf", "sku")}
                fields["size"] = f"{packs}{row['size']} {row['unit']}" if row["size"] else ""
                fields["text"] = f"{fields['name']} | {fields['brand']}"
                products.append((row, fields))
    assert products, f"{name}: no products"
    return products


def relevant(products, rule):
    return {row["sku"] for row, fields in products if all(bool(regex.search(fields[field])) == wanted for field, wanted, regex in rule)}


def copied(rows):
    """Returns rows in the text format of COPY; None is null."""
    escapes = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
    return "".join("\t".join("\\N" if value is None else value.translate(escapes) for value in row) + "\n" for row in rows) + "\\.\n"


def baselines(dsn, name, products, queries):
    """Returns the first skus of each baseline for each query, from a transaction that is rolled back."""
    language = CATALOGS[name][1]
    rows = [(row["sku"], row["name"], row["brand"], row["size"] or None, row["unit"], row["popularity"] or "0") for row, _ in products]
    script = f"""
        BEGIN;
        CREATE SCHEMA judged;
        SET LOCAL search_path = judged, public;
        SET LOCAL judged.language = '{language}';
        \\set language {language}
        \\i {FOLDER}/baselines.sql
        COPY product (sku, name, brand, amount, unit, popularity) FROM STDIN;\n{copied(rows)}
        CREATE TABLE query (id text, text text);
        COPY query FROM STDIN;\n{copied((query.id, query.text) for query in queries)}
        ANALYZE;
        \\o
        SELECT 'full text', id, found.sku FROM query, full_text(text) AS found ORDER BY id, place;
        SELECT 'trigrams', id, found.sku FROM query, trigrams(text) AS found ORDER BY id, place;
        ROLLBACK;
    """
    words = ["psql", dsn, "-qAtX", "-F", "\t", "-v", "ON_ERROR_STOP=1"]
    process = subprocess.run(words, input=script, capture_output=True, text=True, env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning"})
    if process.returncode != 0:
        sys.exit(f"psql failed: {process.stderr.strip()}")
    results = {system: collections.defaultdict(list) for system in ("full text", "trigrams")}
    for line in process.stdout.splitlines():
        system, identifier, sku = line.split("\t")
        results[system][identifier].append(sku)
    return results


def aisle(base, store, queries):
    """Returns the first skus that Aisle finds for each query."""
    results = {}
    for query in queries:
        parameters = urllib.parse.urlencode({"q": query.text, "limit": LIMIT})
        try:
            with urllib.request.urlopen(f"{base.rstrip('/')}/v1/stores/{urllib.parse.quote(store)}/products?{parameters}", timeout=30) as answer:
                results[query.id] = [product["sku"] for product in json.load(answer)["products"]]
        except urllib.error.HTTPError as error:
            sys.exit(f"{query.id} “{query.text}”: status {error.code}: {error.read().decode(errors='replace')[:500]}")
        assert len(results[query.id]) <= LIMIT, f"{query.id}: more than {LIMIT} products"
    return results


def figures(found, wanted):
    """Returns the share of relevant products that are found, and the reciprocal rank of the first one."""
    hits = [sku in wanted for sku in found[:LIMIT]]
    return sum(hits) / min(LIMIT, len(wanted)), 1 / (hits.index(True) + 1) if True in hits else 0


def table(title, systems, queries, scores):
    print(f"{title}, {len(queries)} queries{'':{max(1, 46 - len(title) - len(str(len(queries))))}}found     MRR")
    for system in systems:
        columns = zip(*(scores[system, query.id] for query in queries))
        print(f"    {system:54}" + "".join(f"{statistics.mean(column):8.3f}" for column in columns))


def judge_catalog(arguments, name, queries, rules, store):
    products = read_catalog(arguments.data, name)
    wanted = {query.id: relevant(products, rules[query.id]) for query in queries}
    empty = [query.id for query in queries if not wanted[query.id]]
    assert not empty, f"the catalog has changed: no relevant products for {', '.join(empty)}"
    systems = baselines(arguments.dsn, name, products, queries)
    for title, base in (("Aisle", arguments.aisle), ("with synonyms", arguments.with_synonyms)):
        if base:
            systems[title] = aisle(base, store, queries)
    scores = {(system, query.id): figures(results.get(query.id, []), wanted[query.id]) for system, results in systems.items() for query in queries}
    for each in HALVES:
        table(f"{name}, {each}", systems, [query for query in queries if query.half == each], scores)
    if not arguments.verbose:
        return
    # Details of the held-out half would be used for tuning sooner or later.
    shown = [query for query in queries if query.half == "development"]
    for kind in dict.fromkeys(query.kind for query in shown):
        table(f"{name}, development, {kind}", systems, [query for query in shown if query.kind == kind], scores)
    names = {row["sku"]: row["name"] for row, _ in products}
    for query in shown:
        print(f"{query.id} “{query.text}”: {len(wanted[query.id])} relevant{'; ' if query.note else ''}{query.note}")
        for system, results in systems.items():
            found, rank = scores[system, query.id]
            print(f"    {system:14}found {found:.2f}, reciprocal rank {rank:.2f}")
            for sku in results.get(query.id, []):
                print(f"        {'+' if sku in wanted[query.id] else '-'} {sku} {names.get(sku, '')}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", help="the folder with the catalogs")
    parser.add_argument("dsn", help="the connection string of a PostgreSQL database")
    parser.add_argument("--aisle", metavar="URL", help="the base URL of an Aisle server that has the catalogs")
    parser.add_argument("--with-synonyms", metavar="URL", help="the base URL of a server that also has synonyms")
    parser.add_argument("--store", metavar="CATALOG=KEY", action="append", default=[], help="the key of a catalog's store in Aisle")
    parser.add_argument("--verbose", action="store_true", help="show kinds and results of the development half")
    arguments = parser.parse_args()
    stores = {name: store for name, (store, _) in CATALOGS.items()}
    for pair in arguments.store:
        name, _, key = pair.partition("=")
        if name not in CATALOGS or not key:
            parser.error(f"--store must be CATALOG=KEY, with a catalog among {', '.join(CATALOGS)} (got {pair})")
        stores[name] = key
    queries, rules = read_queries()
    for name in CATALOGS:
        judge_catalog(arguments, name, [query for query in queries if query.catalog == name], rules, stores[name])


if __name__ == "__main__":
    main()
