"""Catalogs whose names are words, with eight attributes and with groups of four products.

Words are made of syllables, and some are far more frequent than others, as in real names.
"""
import csv, itertools, json, os, random

from harness import *

DATABASE, SEED = "worded", 11
# Of each store, the shelves and their sizes.
STORES = {"words": {"small": 7000, "large": 100_000}, "market": {f"shelf-{number}": 5000 for number in range(6)}}
ATTRIBUTES = {
    "rating": {"type": "number", "decimals": 1, "natural": "desc"},
    "protein": {"type": "number", "decimals": 2, "unit": "g"},
    "origin": {"type": "enum", "values": [{"key": f"country-{number}"} for number in range(20)]},
    "grade": {"type": "enum", "values": [{"key": key} for key in "abcde"]},
    "allergens": {"type": "set"},
    "vegan": {"type": "boolean"},
    "harvested": {"type": "date"},
    "remark": {"type": "text", "searchable": True},
}
# The attributes that products can be sorted by.
SORTS = ["-rating", "protein", "origin", "grade", "vegan", "harvested", "remark"]
_random = random.Random(SEED)
_SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvz" for vowel in "aeiou"]
WORDS = sorted({"".join(_random.choices(_SYLLABLES, k=_random.choice((2, 3, 3, 4)))) for _ in range(4000)})
_random.shuffle(WORDS)
_WEIGHTS = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(WORDS))))
_built = set()


def names(store, shelf):
    """Yields the names of the products of a shelf, always the same."""
    chosen = random.Random(f"{SEED} {store} {shelf}")
    for _ in range(STORES[store][shelf]):
        yield " ".join(chosen.choices(WORDS, cum_weights=_WEIGHTS, k=chosen.choice((2, 3, 3, 4)))).capitalize()


def write(path, stores, has_attributes=True):
    """Writes a file with the shelves of stores."""
    chosen = random.Random(SEED)
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["store", "shelf", "sku", "name", "brand", "price", "currency", "size", "popularity", "group"] + (list(ATTRIBUTES) if has_attributes else []))
        number = 0
        for store in stores:
            for shelf in STORES[store]:
                for name in names(store, shelf):
                    number += 1
                    # A fifth of the products lack some attributes.
                    values = [
                        f"{chosen.randrange(51) / 10}", f"{chosen.randrange(5000) / 100}" if chosen.random() > 0.2 else "", f"country-{chosen.randrange(20)}", chosen.choice("abcde"),
                        "|".join(chosen.sample(("milk", "nuts", "soy", "gluten"), chosen.randrange(3))) or "|", chosen.choice(("true", "false")),
                        f"2026-{chosen.randrange(1, 13):02}-{chosen.randrange(1, 29):02}" if chosen.random() > 0.2 else "", " ".join(chosen.choices(WORDS, cum_weights=_WEIGHTS, k=2)),
                    ]
                    rows.writerow([store, shelf, f"p{number}", name, f"Brand {number * 7919 % 700}", f"{number * 31 % 97}.{number % 90 + 10}", "EUR", f"{number % 900 + 100} g",
                                   number * 13 % 5000, f"g{number // 4}"] + (values if has_attributes else []))


def declare(database):
    for name, declaration in ATTRIBUTES.items():
        run(AISLE, "attribute", "set", name, "-", "--dsn", f"{DSN} dbname={database}", input=json.dumps(declaration))


def build(database=DATABASE, stores=STORES, has_attributes=True):
    """Creates a database of stores, once in a run."""
    if database in _built:
        return
    path = f"{FOLDER}/{database}.csv"
    fresh(database)
    if has_attributes:
        declare(database)
    write(path, stores, has_attributes)
    run(AISLE, "import", path, "--create-store", "--dsn", f"{DSN} dbname={database}")
    os.remove(path)
    sql(database, "VACUUM ANALYZE")
    _built.add(database)


def queries(store, shelves, count, seed):
    """Returns different searches, each of two words of a product of the shelves."""
    chosen, found = random.Random(seed), {}
    known = [name.lower().split() for shelf in shelves for name in names(store, shelf)]
    while len(found) < count:
        found["+".join(chosen.sample(chosen.choice(known), 2))] = None
    return list(found)


def failing_queries(count, seed):
    """Returns different searches, each of a word of names and another one that no name has, not even with typing errors."""
    chosen, found = random.Random(seed), {}
    while len(found) < count:
        found[f"{chosen.choice(WORDS)}+{''.join(chosen.choices('qwxy', k=7))}"] = None
    return list(found)
