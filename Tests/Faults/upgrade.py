"""Tests that this build serves while one more compatible migration runs, and both builds side by side after it.

Usage: upgrade.py AISLE. The next build is made from a copy of the sources in .aisle/upgrade, with one migration more, in parts: a
column, its values in batches, and an index. The old build serves before, during and after the migration, and the next one after it,
when its schema is there. No request fails on either.
"""
import os, shutil, subprocess, sys
from harness import Database, Load, Server, status, until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COPY = os.path.join(ROOT, ".aisle", "upgrade")
OLD = os.path.abspath(sys.argv[1])
PRODUCTS = 30_000

UP = """-- Compatible with: {version}
-- Step: shelf life
ALTER TABLE product ADD COLUMN IF NOT EXISTS shelf_life_days integer;
-- Batches: shelf lives
UPDATE product SET shelf_life_days = 7 WHERE (store_id, sku) IN (
    SELECT store_id, sku FROM product WHERE shelf_life_days IS NULL ORDER BY store_id, sku LIMIT 1000 FOR UPDATE);
-- Step: index
CREATE INDEX CONCURRENTLY IF NOT EXISTS product_by_shelf_life ON product (store_id, shelf_life_days);
"""
DOWN = "ALTER TABLE product DROP COLUMN shelf_life_days;\n"


def next_build():
    """Builds the program with one more migration, and returns its path and schema version."""
    os.makedirs(COPY, exist_ok=True)
    for name in ("Package.swift", "Package.resolved", "Sources", "Tests", "sql", "seed-data", "docs"):
        source, target = os.path.join(ROOT, name), os.path.join(COPY, name)
        if os.path.isdir(source):
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)
        elif os.path.exists(source):
            shutil.copy2(source, target)
    folder = os.path.join(COPY, "sql", "migrations")
    version = max(int(name[1:4]) for name in os.listdir(folder))
    for end, text in (("up", UP.format(version=version)), ("down", DOWN)):
        with open(f"{folder}/v{version + 1:03}_shelf_life.{end}.sql", "w") as file:
            file.write(text)
    built = subprocess.run(["swift", "build", "--product", "aisle"], cwd=COPY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           timeout=3000)
    assert built.returncode == 0, built.stdout[-3000:]
    return os.path.join(COPY, ".build", "debug", "aisle"), version + 1


def requests(server, token):
    """The requests that are repeated on each server."""
    base, shelf = server.base, "/v1/stores/corner/shelves/dairy"
    yield "page", lambda n: status(base, f"{shelf}/products?sort=price&limit={1 + n % 100}")
    yield "diff", lambda n: status(base, f"{shelf}/order/diff?from_sort=price&to_sort=name")
    yield "ready", lambda n: status(base, "/readyz")
    yield "setting", lambda n: status(base, f"/v1/me/settings/{server.port}", "PUT", {"value": n}, token)
    yield "price", lambda n: status(base, "/v1/stores/corner/products/C1007", "PATCH", {"price_minor": 300 + n % 50}, token)
    yield "product", lambda n: status(base, f"/v1/stores/corner/products/n{server.port}-{n}", "PUT",
                                      {"name": "New", "price_minor": 100, "currency": "EUR", "shelves": ["dairy"]}, token)


def main():
    print("seed: none, because nothing is random")
    new, version = next_build()
    database, load, ends = Database(OLD), Load(), {}
    servers = []

    def serve(aisle):
        server = Server(aisle, database.folder, database.dsn)
        servers.append(server)
        ends[server] = [load.add(kind, request) for kind, request in requests(server, token)]
        return server

    def stop(server):
        # As a load balancer does: no further requests go to a server that is about to stop.
        for end in ends.pop(server):
            end()
        server.stop()
        servers.remove(server)

    def migrate(*words):
        done = database.run("db", "migrate", *words, aisle=new)
        assert f"v{version} shelf_life" in done, done

    def goes_on():
        goal = load.total + 200
        until(lambda: load.total >= goal, 60, "requests go on")

    try:
        token = database.token("ann", "catalog:write")
        with open(f"{database.folder}/many.csv", "w") as file:
            file.write("sku,name,price_minor,currency,shelf\n")
            for number in range(PRODUCTS):
                file.write(f"m{number},Product {number},{100 + number % 900},EUR,many\n")
        database.run("import", "many.csv", "--store", "corner")
        old = [serve(OLD), serve(OLD)]
        goes_on()
        migrate()
        goes_on()
        following = serve(new)
        goes_on()
        for server in old:
            stop(server)
        # The old build can return.
        back = serve(OLD)
        goes_on()
        stop(back)
        stop(following)
        failed, total = load.failed(), load.total
        assert not failed, failed
        assert database.run("db", "migrate").strip() == ""
        assert "compatible" in database.run("db", "status")
        migrate("--to", str(version - 1), "--yes")
        print(f"the old build served during a migration of {PRODUCTS} products, and both builds after it: 0 of {total} requests failed")
    finally:
        for server in list(servers):
            server.kill()
        database.close()
    print("upgrade test passed")


main()
