"""The migrations, as the migrator applies them, and comparisons of databases."""

import re
from dataclasses import dataclass
from pathlib import Path

from cluster import Cluster

ROOT = Path(__file__).resolve().parents[2]
COLLATION = "CREATE COLLATION IF NOT EXISTS catalog (provider = icu, locale = 'und-u-kn-true', deterministic = true);"

# Takes the place of what the program does: any sort keys.
PRODUCTS = """UPDATE product SET name_key = decode(md5(name), 'hex'), brand_key = decode(md5(brand), 'hex')
WHERE name_key IS NULL OR (brand_key IS NULL) <> (brand IS NULL);
"""
TITLES = "UPDATE shelf SET title_key = decode(md5(title), 'hex') WHERE title_key IS NULL;\n"
PROGRAMS = {
    "sort keys of products": PRODUCTS, "sort keys of products written meanwhile": PRODUCTS,
    "sort keys in the languages of stores": TITLES, "sort keys in the languages of stores, written meanwhile": TITLES,
}


@dataclass
class Part:
    """A part of a migration, which runs in a transaction, or outside of one if it builds an index concurrently."""

    title: str
    sql: str
    is_batched: bool = False

    @property
    def is_concurrent(self) -> bool:
        return " CONCURRENTLY " in self.sql


class Migration:
    def __init__(self, version: int, name: str, up: str, down: str):
        self.version, self.name, self.up, self.down = version, name, up, down

    @property
    def parts(self) -> list[Part]:
        parts: list[Part] = []
        for line in self.up.splitlines():
            if match := re.match(r"-- (Step|Batches|Program): (.*)", line):
                parts.append(Part(match[2], PROGRAMS[match[2]] if match[1] == "Program" else "", match[1] == "Batches"))
            elif parts:
                parts[-1].sql += line + "\n"
        return parts or [Part("all", self.up)]

    def apply(self, cluster: Cluster, database: str, citus: bool) -> None:
        """Applies it, statement by statement: on Citus, several statements in one query fail."""
        # A foreign key to a reference table forbids parallel changes of several shards in a transaction.
        mode = "SET LOCAL citus.multi_shard_modify_mode TO 'sequential';" if citus else ""
        for part in self.parts:
            if part.is_concurrent:
                cluster.sql(database, part.sql)
            elif part.is_batched:
                # psql counts no rows of several statements, so each command tag is read.
                while re.search(r"^(?:INSERT 0|UPDATE|DELETE) [1-9]", self._run(cluster, database, mode + part.sql), re.M):
                    pass
            else:
                self._run(cluster, database, mode + part.sql)

    def revert(self, cluster: Cluster, database: str, citus: bool) -> None:
        """Reverts it in one transaction, statement by statement."""
        mode = "SET LOCAL citus.multi_shard_modify_mode TO 'sequential';" if citus else ""
        self._run(cluster, database, mode + self.down)

    @staticmethod
    def _run(cluster: Cluster, database: str, sql: str) -> str:
        return cluster.sql(database, f"\\set QUIET off\nBEGIN;\nSET LOCAL lock_timeout = '1s';\n{sql}\nCOMMIT;")


def migrations(citus: bool) -> list[Migration]:
    """Returns the migrations; for Citus, with the replacements of those that it refuses."""
    def text(name: str) -> str:
        replacement = ROOT / "sql/citus" / name
        return (replacement if citus and replacement.exists() else ROOT / "sql/migrations" / name).read_text()

    found = []
    for path in sorted((ROOT / "sql/migrations").glob("v*.up.sql")):
        version, name = re.match(r"v(\d+)_(.*)\.up\.sql", path.name).groups()
        found.append(Migration(int(version), name, text(path.name), text(path.name.replace(".up.", ".down."))))
    return found


def distribute(cluster: Cluster, database: str) -> None:
    cluster.sql(database, (ROOT / "sql/citus/distribute.sql").read_text())


def tables(cluster: Cluster, database: str) -> list[str]:
    """Returns the tables of the schema, without partitions."""
    return cluster.sql(database, """
        SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
            AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
        ORDER BY relname""").splitlines()


def checksums(cluster: Cluster, database: str, without: dict[str, set[str]] = {}) -> dict[str, str]:
    """Returns the number of rows and a checksum of the rows of each table.

    The checksum is a sum of hashes, so the order of rows does not matter.
    """
    result = {}
    for table in tables(cluster, database):
        columns = cluster.sql(database, f"""
            SELECT attname FROM pg_attribute WHERE attrelid = '{table}'::regclass AND attnum > 0 AND NOT attisdropped
            ORDER BY attname""").splitlines()
        fields = ", ".join(f"{column}::text" for column in columns if column not in without.get(table, set()))
        result[table] = cluster.sql(database, f"""
            SELECT count(*) || ' rows, ' || coalesce(sum(('x' || left(md5(t::text), 15))::bit(60)::bigint::numeric), 0)
            FROM (SELECT ROW({fields})::text AS t FROM {table}) AS r""")
    return result


def shape(cluster: Cluster, database: str, node: int = 0) -> str:
    """Returns the columns, constraints, indexes, options, partitions and functions of the schema, in order of their names."""
    return cluster.sql(database, """
        WITH relation AS (
            SELECT * FROM pg_class c WHERE relnamespace = 'public'::regnamespace
                AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e'))
        SELECT * FROM (
            SELECT r.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' '
                || coalesce(a.attcollation::regcollation::text, '') || ' not null ' || a.attnotnull || ' identity '
                || a.attidentity::text || ' generated ' || a.attgenerated::text || ' '
                || coalesce(pg_get_expr(d.adbin, d.adrelid), '') AS line
            FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
            LEFT JOIN pg_attrdef d ON d.adrelid = r.oid AND d.adnum = a.attnum WHERE r.relkind IN ('r', 'p')
            UNION ALL
            SELECT r.relname || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid) FROM relation r
            JOIN pg_constraint k ON k.conrelid = r.oid
            UNION ALL SELECT pg_get_indexdef(r.oid) FROM relation r WHERE r.relkind IN ('i', 'I')
            UNION ALL
            SELECT r.relname || ' ' || r.relkind::text || ' ' || r.relpersistence::text || ' ' || coalesce(r.reloptions::text, '') || ' '
                || coalesce(pg_get_expr(r.relpartbound, r.oid), '') FROM relation r WHERE r.relkind IN ('r', 'p')
            UNION ALL
            SELECT pg_get_functiondef(p.oid) FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
        ) AS lines ORDER BY line COLLATE "C" """, node)
