#!/usr/bin/env python3
"""Runs the tests of the pages in a real browser. Usage: run.py AISLE [DATA]; DATA is the folder of real catalogs. AISLE_BROWSER_ONLY selects tests
whose names contain it."""
import os, sys

import harness, lists, merchandise, pages, real, search, shop

only = os.environ.get("AISLE_BROWSER_ONLY", "")
aisle, data = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
own = shop.TESTS + search.TESTS + merchandise.TESTS + lists.TESTS + pages.TESTS
suites = [(own, [])]
if data:
    suites.append((real.TESTS, real.imports(data)))

count = failed = 0
with harness.browser() as browser:
    for tests, imports in suites:
        chosen = [test for test in tests if only in test.__name__]
        if not chosen:
            continue
        server = harness.Server(aisle, imports)
        try:
            count += len(chosen)
            failed += harness.play(chosen, server, browser)
        finally:
            server.close()
print(f"{count - failed} of {count} browser tests passed")
sys.exit(1 if failed or not count else 0)
