#!/usr/bin/env python3
"""How pages and their storage grow with the catalog, from 10,000 to 10,000,000 products.

Usage: growth.py AISLE [SIZE ...]. It checks the disk before each catalog, and deletes each one afterwards.
"""
import json, os, shutil, sys, time

import pages
from harness import *

SIZES = [int(word) for word in sys.argv[2:]] or [10**4, 10**5, 10**6, 10**7]
# With all indexes, and with the log of writing them.
BYTES_PER_PRODUCT = 5000


def seeded(products):
    """Creates a catalog, and returns the seconds that it took."""
    fresh("growth")
    start = time.perf_counter()
    run(AISLE, "seed", "--dsn", f"{DSN} dbname=growth", "--shelves", str(max(10, products // 100)), "--products", str(products), "--seed", "7")
    return time.perf_counter() - start


def buffers():
    return int(sql("growth", "SELECT pg_stat_force_next_flush(); SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = 'growth'").split()[-1])


def measured(cache):
    with served("growth", AISLE_PAGE_CACHE_MB=cache) as server:
        pages.load(seconds=2)
        before = buffers()
        report = pages.measured(server)
        return {name: report[name] for name in ("rate", "server", "postgres", "p50", "p99")} | {"buffers": (buffers() - before) / report["completed"]}


def grown(products):
    """Measures a catalog."""
    result = {"products": products, "seed_seconds": seeded(products)}
    start = time.perf_counter()
    sql("growth", "VACUUM ANALYZE")
    result["vacuum_seconds"] = time.perf_counter() - start
    result["placements"] = int(sql("growth", "SELECT count(*) FROM placement"))
    result["bytes"] = int(sql("growth", "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname IN ('product', 'placement', 'placement_position')"))
    pages.write_paths(shelves=min(pages.SHELVES, max(10, products // 100)))
    for name, cache in pages.MODES.items():
        result[name] = measured(cache)
    return result


def earlier():
    """Returns the results of earlier runs, by size."""
    try:
        with open(f"{FOLDER}/growth.json") as file:
            return {one["products"]: one for one in json.load(file)}
    except FileNotFoundError:
        return {}


def main():
    results = earlier()
    try:
        for products in SIZES:
            needed, free = products * BYTES_PER_PRODUCT, shutil.disk_usage(FOLDER).free
            if needed > free:
                print(f"{products:,} products need {needed / 1e9:.0f} GB of disk, and {free / 1e9:.0f} GB are free: left out", flush=True)
                continue
            one = grown(products)
            results[products] = one
            print(f"{products:,} products: seeded in {one['seed_seconds']:.0f} s, {one['bytes'] / one['placements']:,.0f} bytes per placement; "
                  + "; ".join(f"{name} {one[name]['rate']:,.0f} pages/s, server {one[name]['server']:.0f} µs, PostgreSQL {one[name]['postgres']:.0f} µs, {one[name]['buffers']:.1f} buffers" for name in pages.MODES), flush=True)
    finally:
        sql("postgres", "DROP DATABASE IF EXISTS growth WITH (FORCE)")
        run(AISLE, "db", "stop")
    with open(f"{FOLDER}/growth.json", "w") as file:
        json.dump(sorted(results.values(), key=lambda one: one["products"]), file, indent=1, sort_keys=True)
    print(f"results: {FOLDER}/growth.json")


main()
