"""Migrates and distributes databases on a coordinator and two workers, and compares them with plain PostgreSQL.

    python3 Tests/Citus/migrations.py .build/release/aisle

1. Empty: each migration runs on the distributed tables of the one before.
2. Live: the same, with rows that older releases could have written.
3. Filled: a release fills an undistributed database, which is distributed then. No row may change.
"""

import difflib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import schema
from cluster import Cluster

# Rows of schema version 5: two stores, products on shelves, orders with history, and users.
ROWS_OF_5 = """
INSERT INTO store (store_id, key, title, currency, locale, unit_pricing, sold_out, popularity_metric, popularity_half_life_days, newcomer_boost)
OVERRIDING SYSTEM VALUE SELECT n, 'store-' || n, 'Store ' || n, 'EUR', 'en', 'eu', 'last', 'decay', 7 * n, 0 FROM generate_series(1, 5) AS n;
INSERT INTO shelf (store_id, shelf_id, key, title, position, modified_at, parent_id)
OVERRIDING SYSTEM VALUE SELECT (n - 1) % 5 + 1, n, 'shelf-' || n, 'Shelf ' || n, decode(lpad(to_hex(n), 4, '8'), 'hex'), timestamptz '2025-01-01', NULL
FROM generate_series(1, 230) AS n;
UPDATE shelf SET parent_id = shelf_id - 5 WHERE shelf_id > 200;
INSERT INTO product (store_id, sku, name, price_minor, popularity_log2, created_at, modified_at, tags, attributes)
SELECT s, 'P' || n, 'Product ' || n, n * 10, CASE WHEN n % 3 = 0 THEN '-Infinity' ELSE n / 7.0 END, timestamptz '2025-01-01' + n * interval '1 hour',
    timestamptz '2025-02-01', ARRAY['a', 'b'], '{"origin": "Åland"}' FROM generate_series(1, 5) AS s, generate_series(1, 200) AS n;
INSERT INTO placement (store_id, shelf_id, sku, availability, name, price_minor, attributes, in_stock, tags, popularity_log2, created_at, modified_at)
SELECT r.store_id, h.shelf_id, r.sku, 0, r.name, r.price_minor, r.attributes, r.in_stock, r.tags, r.popularity_log2, r.created_at, r.modified_at
FROM product r JOIN shelf h ON h.store_id = r.store_id WHERE length(r.sku) + h.shelf_id % 3 < 5 AND h.shelf_id <= 220;
INSERT INTO placement_position (store_id, shelf_id, sku, key, removed_at)
SELECT store_id, shelf_id, sku, convert_to(sku, 'UTF8'), CASE WHEN price_minor % 70 = 0 THEN timestamptz '2025-03-01' END FROM placement;
INSERT INTO order_change (store_id, shelf_id, slot, change_number, changed_at, subject, kind, moved)
SELECT store_id, shelf_id, shelf_id % 100, shelf_id, timestamptz '2025-03-02', 'user-' || shelf_id % 7, 'move', 'P1/P2' FROM shelf;
INSERT INTO idempotency_record VALUES (0, 'a', '\\x01', 201, 'application/json', '\\x7b7d', timestamptz '2025-03-03'),
    (1, 'b', '\\x02', 200, 'application/json', '\\x7b7d', timestamptz '2025-03-04');
INSERT INTO user_account SELECT 'user-' || n, 10 + n, n FROM generate_series(1, 50) AS n;
INSERT INTO user_setting (user_id, key, value, revision, modified_at, deleted_at)
SELECT 'user-' || n, 'key-' || k, CASE WHEN k < 3 THEN '{"a": 1}'::json END, k, timestamptz '2025-03-05', CASE WHEN k >= 3 THEN timestamptz '2025-03-06' END
FROM generate_series(1, 50) AS n, generate_series(1, 4) AS k;
INSERT INTO user_ticket SELECT 'user-' || n, sha256(convert_to(n::text, 'UTF8')), timestamptz '2035-01-01', timestamptz '2035-01-02' FROM generate_series(1, 20) AS n;
"""

# Rows of schema version 13: purchases, more than one batch of them, and lists.
ROWS_OF_13 = """
INSERT INTO purchase_event SELECT s, md5(s || '/' || n)::uuid, date '2025-04-01' + n % 9 FROM generate_series(1, 5) AS s, generate_series(1, 100) AS n;
INSERT INTO purchase_inbox (store_id, sku, day, customer, quantity)
SELECT s, 'P' || n, date '2025-04-01' + n % 9, CASE WHEN n % 2 = 0 THEN ''::bytea ELSE convert_to('c' || n % 11, 'UTF8') END, 1 + n % 4
FROM generate_series(1, 5) AS s, generate_series(1, 250) AS n;
INSERT INTO purchase_stray SELECT s, md5(s || '-' || n)::uuid, 'Q' || n, date '2025-04-02', '\\x01', 2 FROM generate_series(1, 5) AS s, generate_series(1, 20) AS n;
INSERT INTO purchase_day (store_id, sku, day, customer, quantity)
SELECT s, 'P' || p, date '2025-01-01' + d, CASE WHEN c = 0 THEN ''::bytea ELSE convert_to('c' || c, 'UTF8') END, (c + d) % 3
FROM generate_series(1, 5) AS s, generate_series(1, 100) AS p, generate_series(1, 25) AS d, generate_series(0, 4) AS c;
INSERT INTO popularity_due SELECT s, 'P' || n, n FROM generate_series(1, 5) AS s, generate_series(1, 30) AS n;
INSERT INTO user_list SELECT 'user-' || n, md5('list' || n)::uuid, 'List ' || n, true, 'position', n, timestamptz '2025-04-03', timestamptz '2025-04-04', NULL
FROM generate_series(1, 50) AS n;
INSERT INTO user_list_item (user_id, list_id, item_id, store_id, sku, text, quantity, is_checked, key, version, created_at, modified_at, changes)
SELECT 'user-' || n, md5('list' || n)::uuid, md5(n || 'item' || i)::uuid, CASE WHEN i > 2 THEN 1 END, CASE WHEN i > 2 THEN 'P' || i END, 'Milk', 1.5, false,
    convert_to('k' || i, 'UTF8'), i, timestamptz '2025-04-05', timestamptz '2025-04-06', '{}' FROM generate_series(1, 50) AS n, generate_series(1, 4) AS i;
INSERT INTO user_list_share SELECT 'user-' || n, md5('list' || n)::uuid, md5('share' || n)::uuid, sha256(convert_to('s' || n, 'UTF8')), 'editor',
    timestamptz '2025-04-07', timestamptz '2035-01-01' FROM generate_series(1, 10) AS n;
INSERT INTO user_list_place SELECT 'user-' || n, md5('list' || n)::uuid, 'user-' || n, 'owner', NULL, '\\x80', n, NULL FROM generate_series(1, 50) AS n;
INSERT INTO user_list_place SELECT 'user-' || n + 20, md5('list' || n)::uuid, 'user-' || n, 'editor', md5('share' || n)::uuid, '\\x90', n, NULL
FROM generate_series(1, 10) AS n;
INSERT INTO user_event SELECT 'user-' || n, n, md5('list' || n)::uuid, '{}', timestamptz '2025-04-08' FROM generate_series(1, 50) AS n;
"""

# Before version 35, only a distributed database has rows in these.
FILLED_ON_CITUS = {"user_list_member", "user_token"}
# Columns with random values, or numbers in the order of rows.
DIFFERENT = {"deployment": {"cursor_key", "customer_key"}, "database_life": {"identity"}, "purchase_inbox": {"inbox_id"}}


def check(condition: bool, message: str) -> None:
    if not condition:
        sys.exit(f"FAILED: {message}")


def check_equal(expected: str, found: str, what: str) -> None:
    lines = difflib.unified_diff(expected.splitlines(), found.splitlines(), lineterm="", n=0)
    check(expected == found, f"{what} differ:\n" + "\n".join(lines))


def table_lines(sums: dict[str, str], ignored: set[str] = set()) -> str:
    """Returns the sums as text."""
    return "\n".join(f"{table}: {value}" for table, value in sums.items() if table not in ignored)


def check_schema(plain: str, found: str, what: str) -> None:
    """Compares a schema with that of plain PostgreSQL. Shards of import_row move by logical replication, which needs a log and a key."""
    lines = plain.splitlines()
    if any(line.startswith("import_row.store_id ") for line in lines):
        lines = [line.replace("import_row r u ", "import_row r p ") for line in lines]
        key = "store_id, import_id, line"
        if any(line.startswith("import_row.part ") for line in lines):
            key += ", part"
        lines += [f"import_row import_row_pkey PRIMARY KEY ({key})",
                  f"CREATE UNIQUE INDEX import_row_pkey ON public.import_row USING btree ({key})"]
    check_equal("\n".join(sorted(lines)), "\n".join(sorted(found.splitlines())), f"{what}: schemas")


def check_distribution(cluster: Cluster, database: str) -> None:
    """Checks that every table has its place, that shards are colocated, and that the coordinator keeps no hidden rows."""
    kinds = dict(line.split("|", 1) for line in cluster.sql(database, """
        SELECT table_name, citus_table_type || ' ' || distribution_column || ' ' || colocation_id FROM citus_tables
        WHERE NOT (SELECT relispartition FROM pg_class WHERE oid = table_name)""").splitlines())
    local = {"import_run", "resort_run", "schema_migration"}
    reference = {"deployment", "database_life", "store", "purchase_cell", "import_profile", "attribute", "deployment_synonyms"}
    for table in schema.tables(cluster, database):
        kind = kinds.get(table, "local")
        if table in local:
            check(kind == "local", f"{table} is {kind}")
        elif table in reference:
            check(kind.startswith("reference "), f"{table} is {kind}")
        elif table in ("purchase_erasure", "user_token"):
            key = "customer" if table == "purchase_erasure" else "digest"
            check(kind.startswith(f"distributed {key} "), f"{table} is {kind}")
        else:
            key, first = ("user_id", "user_account") if table.startswith("user_") else ("store_id", "shelf")
            check(kind == kinds[first] and kind.startswith(f"distributed {key} "), f"{table} is {kind}")
    hidden = cluster.sql(database, """
        SELECT logicalrelid FROM pg_dist_partition WHERE pg_relation_size(logicalrelid) > 0""")
    check(hidden == "", f"the coordinator keeps rows of distributed tables: {hidden}")
    unhealthy = cluster.sql(database, "SELECT * FROM citus_check_cluster_node_health() WHERE NOT result")
    check(unhealthy == "", f"unhealthy nodes: {unhealthy}")
    lines = set(schema.shape(cluster, database).splitlines())
    for node in range(1, len(cluster.ports)):
        # Workers print constants of checks with other parentheses.
        found = {line for line in schema.shape(cluster, database, node).splitlines() if " CHECK " not in line}
        check(len(found) > 100 and found <= lines, f"node {node} has other definitions:\n" + "\n".join(sorted(found - lines)))
    cells = cluster.sql(database, """
        SELECT i.inhrelid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = to_regclass('purchase_inbox') AND c.relreplident <> 'f'""")
    check(cells == "", f"cells without a replica identity: {cells}")
    inactive = cluster.sql(database, "SELECT * FROM pg_dist_shard_placement WHERE shardstate <> 1")
    check(inactive == "", f"inactive shards: {inactive}")


def move_shards(cluster: Cluster, database: str) -> None:
    """Moves a shard of stores and one of users to another worker, while they could be written."""
    for table in ("shelf", "user_account"):
        cluster.sql(database, f"""
            SELECT citus_move_shard_placement(s.shardid, s.nodename, s.nodeport, n.nodename, n.nodeport, shard_transfer_mode => 'auto')
            FROM citus_shards s JOIN pg_dist_node n ON n.groupid <> 0 AND n.nodeport <> s.nodeport
            WHERE s.table_name = '{table}'::regclass ORDER BY s.shardid LIMIT 1""")


def migrate(cluster: Cluster, database: str, citus: bool, rows: dict[int, str]) -> None:
    cluster.sql(database, schema.COLLATION)
    for migration in schema.migrations(citus):
        migration.apply(cluster, database, citus)
        if citus:
            schema.distribute(cluster, database)
        if migration.version in rows:
            cluster.sql(database, rows[migration.version])


def compare_with_plain(cluster: Cluster, name: str, rows: dict[int, str]) -> None:
    """Migrates two databases step by step, of which one is distributed after each step, and compares them."""
    plain, distributed = f"{name}_plain", f"{name}_citus"
    cluster.create_database(plain, citus=False)
    migrate(cluster, plain, False, rows)
    cluster.create_database(distributed)
    migrate(cluster, distributed, True, rows)
    check_schema(schema.shape(cluster, plain), schema.shape(cluster, distributed), name)
    move_shards(cluster, distributed)
    sums = [schema.checksums(cluster, database, DIFFERENT) for database in (plain, distributed)]
    check_equal(table_lines(sums[0]), table_lines(sums[1]), f"{name}: rows")
    check_distribution(cluster, distributed)
    print(f"{name}: the schema and the rows of {len(sums[0])} tables are those of plain PostgreSQL")
    if rows:
        print(table_lines(sums[1]))
    for version in range(len(schema.migrations(True)), 0, -1):
        for database in (plain, distributed):
            schema.migrations(database == distributed)[version - 1].revert(cluster, database, database == distributed)
        schema.distribute(cluster, distributed)
        check_schema(schema.shape(cluster, plain), schema.shape(cluster, distributed), f"{name}, reverted {version}")
        sums = [schema.checksums(cluster, database, DIFFERENT) for database in (plain, distributed)]
        ignored = FILLED_ON_CITUS if version <= 35 else set()
        check_equal(table_lines(sums[0], ignored), table_lines(sums[1], ignored), f"{name}, reverted {version}: rows")
    print(f"{name}: the same after reverting each migration")


def fill(cluster: Cluster, database: str, aisle: str, folder: str) -> None:
    """Fills a database by commands of the program, which run in a folder, and with rows that only servers write."""
    def run(*words: str, text: str | None = None) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        words = (*words, "--dsn", cluster.dsn(database))
        result = subprocess.run([aisle, *words], cwd=folder, input=text, capture_output=True, text=True, env=environment)
        check(result.returncode == 0, f"aisle {' '.join(words)}: {result.stdout}{result.stderr}")

    run("db", "migrate")
    roles = subprocess.run([aisle, "db", "roles", "--dsn", cluster.dsn(database)], capture_output=True, text=True, cwd=folder)
    cluster.sql(database, roles.stdout)
    run("seed", "--products", "2000", "--shelves", "20")
    run("seed")
    skus = cluster.sql(database, """
        SELECT s.key || ',' || p.sku FROM product p JOIN store s USING (store_id) ORDER BY 1 LIMIT 600""").splitlines()
    today = cluster.sql(database, "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')")

    def purchases(first: int) -> str:
        lines = ["store,event_id,sku,quantity,at,customer"]
        for number, (store, sku) in enumerate((line.split(",", 1) for line in skus), first):
            customer = f"customer-{number % 40}" if number % 3 else ""
            lines.append(f"{store},00000000-0000-4000-8000-{number:012},{sku},{1 + number % 3},{today}T00:00:00Z,{customer}")
            lines.append(f"{store},00000000-0000-4000-9000-{number:012},UNKNOWN-{number},1,{today}T00:00:00Z,{customer}")
        return "\n".join(lines) + "\n"

    (Path(folder) / "first.csv").write_text(purchases(0))
    (Path(folder) / "second.csv").write_text(purchases(1000))
    run("purchases", "import", "first.csv")
    run("resort", "--all")
    # These stay in the inbox.
    run("purchases", "import", "second.csv")
    run("purchases", "forget", "--customer", "customer-7")
    shelf = cluster.sql(database, """
        SELECT s.key || '/' || h.key FROM shelf h JOIN store s USING (store_id) WHERE h.product_count > 5 ORDER BY 1 LIMIT 1""")
    run("order", "snapshot", shelf, "--from", "-price")
    moved = cluster.sql(database, f"""
        SELECT p.sku FROM placement p JOIN shelf h USING (store_id, shelf_id) JOIN store s USING (store_id)
        WHERE s.key || '/' || h.key = '{shelf}' ORDER BY 1 LIMIT 1""")
    run("move", shelf, moved, "--last")
    for user in range(20):
        run("pref", "set", "sort", "price", "--user", f"user-{user}")
    run("pref", "rm", "sort", "--user", "user-3")
    run("store", "create", "closed", "--currency", "EUR")
    run("shelf", "create", "closed/dairy")
    run("store", "rm", "closed", "--yes")
    cluster.sql(database, "INSERT INTO user_account (user_id, revision, horizon) SELECT 'user-' || n, 1, 0 FROM generate_series(20, 60) AS n;"
                + ROWS_OF_13[ROWS_OF_13.index("INSERT INTO user_list "):])
    cluster.sql(database, """
        INSERT INTO idempotency_record SELECT n % 3, 'key-' || n, '\\x01', 200, 'application/json', '\\x7b7d', now() FROM generate_series(1, 30) AS n;
        INSERT INTO user_idempotency_record SELECT 'user-' || n, 'key', '\\x01', 200, 'application/json', '\\x7b7d', now() FROM generate_series(1, 20) AS n;
        INSERT INTO user_ticket SELECT 'user-' || n, sha256(convert_to(n::text, 'UTF8')), now(), now() FROM generate_series(1, 20) AS n;
        INSERT INTO user_list_member SELECT owner_id, list_id, user_id, share_id, left_at FROM user_list_place;
        INSERT INTO user_token SELECT digest, user_id, expires_at FROM user_list_share UNION SELECT digest, user_id, expires_at FROM user_ticket;
        INSERT INTO purchase_erasure SELECT sha256(convert_to(n::text, 'UTF8')), n FROM generate_series(1, 10) AS n;
        INSERT INTO import_profile SELECT 'profile-' || n, '{}', now() FROM generate_series(1, 3) AS n;
        INSERT INTO attribute SELECT 'shared' || n, '{"type":"text"}' FROM generate_series(1, 3) AS n;
        INSERT INTO store_attribute SELECT store_id, 'own', '{"type":"text"}' FROM store WHERE deleted_at IS NULL;
        INSERT INTO deployment_synonyms VALUES (1, '{"synonyms":[["pop","soda"]]}');
        INSERT INTO store_synonyms SELECT store_id, '{"synonyms":[["bio","eko"]]}' FROM store WHERE deleted_at IS NULL;
        -- Images that no program reads.
        INSERT INTO shelf_image SELECT store_id, shelf_id, version, 1, now(), '\\x01' FROM shelf LIMIT 5;
        -- An entry of a month without a partition.
        INSERT INTO store_audit (store_id, at, audit_id, action, source, actor, detail)
        SELECT store_id, timestamptz '2020-01-01', gen_random_uuid(), 'test', 'cli', 'ann', '{}' FROM store;""")


def distribute_filled(cluster: Cluster, aisle: str) -> None:
    """Distributes an undistributed database with data, and compares it with what it was before."""
    cluster.create_database("filled", citus=False)
    with tempfile.TemporaryDirectory(prefix="aisle-citus-") as folder:
        fill(cluster, "filled", aisle, folder)
    shape, rows = schema.shape(cluster, "filled"), schema.checksums(cluster, "filled")
    empty = [table for table, value in rows.items() if value.startswith("0 rows")]
    check(set(empty) <= {"import_row", "import_run"}, f"no rows in {empty}")
    cluster.install("filled")
    for run in ("first", "second"):
        result = subprocess.run(
            [aisle, "db", "migrate", "--citus", "--dsn", cluster.dsn("filled")], capture_output=True, text=True, cwd="/")
        check(result.returncode == 0, f"aisle db migrate --citus: {result.stdout}{result.stderr}")
        check(("distribution of" in result.stdout) == (run == "first"), f"{run} run: {result.stdout}")
        check_schema(shape, schema.shape(cluster, "filled"), f"filled, {run} run")
        check_equal(table_lines(rows), table_lines(schema.checksums(cluster, "filled")), f"filled, {run} run: rows")
        check_distribution(cluster, "filled")
    print(f"filled: the schema and the rows of {len(rows)} tables are those before")
    print(table_lines(rows))
    # A new worker gets the definitions and its part of the shards.
    cluster.add_worker("filled")
    cluster.sql("filled", "SELECT rebalance_table_shards()")
    check_equal(table_lines(rows), table_lines(schema.checksums(cluster, "filled")), "filled, rebalanced: rows")
    check_distribution(cluster, "filled")
    grants = [cluster.sql("filled", """
        SELECT c.relname, c.relacl FROM pg_class c JOIN pg_dist_partition d ON d.logicalrelid = c.oid ORDER BY c.relname""", node)
        for node in range(len(cluster.ports))]
    check("aisle_server=arwd/" in grants[0], "the server has no rights")
    for node in range(1, len(cluster.ports)):
        check_equal(grants[0], grants[node], f"filled: rights on node {node}")
    print(f"filled: rebalanced to {len(cluster.ports) - 1} workers without a difference")


def check_errors(cluster: Cluster) -> None:
    """Checks that nothing is distributed over workers before the coordinator is a node."""
    cluster.create_database("alone")
    cluster.sql("alone", f"SELECT citus_remove_node('{cluster.socket}', {cluster.ports[0]}); CREATE TABLE store (store_id integer PRIMARY KEY)")
    result = cluster.try_sql("alone", (schema.ROOT / "sql/citus/distribute.sql").read_text())
    check("the coordinator is not a node of the cluster" in result.stderr, result.stderr)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    aisle = str(Path(sys.argv[1]).resolve())
    with Cluster(Path(os.environ.get("AISLE_CITUS_FOLDER") or tempfile.mkdtemp(prefix="aisle-citus-", dir="/var/tmp"))) as cluster:
        check_errors(cluster)
        compare_with_plain(cluster, "empty", {})
        compare_with_plain(cluster, "live", {5: ROWS_OF_5, 13: ROWS_OF_13})
        distribute_filled(cluster, aisle)
    print("citus tests passed")


main()
