#!/usr/bin/env python3
"""Judges Aisle's searches and the baselines on both catalogs, with a private PostgreSQL and servers of its own.

Usage: bench.py AISLE DATA [--verbose]. AISLE is the release executable, and DATA the folder with the catalogs. README.md defines the figures.
"""
import os, subprocess, sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.abspath(sys.argv[2])
# Of each catalog: the key of its store, and the language in which people search it.
STORES = {"konzum-hr": ("konzum-0204", "hr-HR"), "spar-at": ("spar", "de-AT")}

missing = [name for name in STORES if not os.path.exists(f"{DATA}/{name}.csv")]
if missing:
    print(f"searches are not judged: {DATA} has no {' and no '.join(f'{name}.csv' for name in missing)}")
    sys.exit()

# The harness starts PostgreSQL.
sys.path.insert(0, os.path.join(FOLDER, "..", "Bench"))
import harness

# A second database also has the synonyms of the stores.
DATABASE, WITH_SYNONYMS = "judged", "judged_with_synonyms"
try:
    harness.fresh(DATABASE)
    dsn = f"{harness.DSN} dbname={DATABASE}"
    for name, (store, locale) in STORES.items():
        harness.run(harness.AISLE, "store", "create", store, "--currency", "EUR", "--locale", locale, "--dsn", dsn)
        harness.run(harness.AISLE, "import", f"{DATA}/{name}.csv", "--create-store", "--dsn", dsn)
    harness.sql("postgres", f"DROP DATABASE IF EXISTS {WITH_SYNONYMS} WITH (FORCE)")
    harness.sql("postgres", f"CREATE DATABASE {WITH_SYNONYMS} TEMPLATE {DATABASE}")
    for name, (store, _) in STORES.items():
        harness.run(harness.AISLE, "synonyms", "set", f"{FOLDER}/synonyms/{name}.json", "--store", store,
                    "--dsn", f"{harness.DSN} dbname={WITH_SYNONYMS}")
    with harness.served(DATABASE), harness.served(WITH_SYNONYMS, port=harness.PORT + 1):
        judge = [sys.executable, "-B", f"{FOLDER}/judge.py", DATA, dsn, "--aisle", harness.BASE,
                 "--with-synonyms", f"http://127.0.0.1:{harness.PORT + 1}", *sys.argv[3:]]
        status = subprocess.run(judge).returncode
finally:
    harness.run(harness.AISLE, "db", "stop")
sys.exit(status)
