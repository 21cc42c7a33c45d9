internal import LibPQ

/// The statements of migrations.
enum MigrationStatements {
    static let hasCollation: PostgresStatement = """
        SELECT 1 FROM pg_collation WHERE collname = 'catalog' AND pg_collation_is_visible(oid)
        """
    /// Prepares a transaction on Citus for changes of the schema: the foreign keys to reference tables forbid parallel changes of
    /// shards, and timeouts apply to the workers, too. Without Citus, it does nothing.
    static let prepareCitus: PostgresStatement = """
        SELECT set_config('citus.multi_shard_modify_mode', 'sequential', true), set_config('citus.propagate_set_commands', 'local', true)
        WHERE current_setting('citus.shard_count', true) IS NOT NULL
        """
    /// Records a version with its name and script, and the oldest schema version whose releases work with the new one.
    static let record: PostgresStatement = """
        INSERT INTO schema_migration (version, name, checksum, oldest_compatible) VALUES ($1, $2, md5($3), $4)
        """
    /// Whether releases with schema version `$1` work with all later migrations. 0.1.0 did not record compatibility.
    static let isCompatible: PostgresStatement = """
        SELECT coalesce(bool_and((to_jsonb(m) ->> 'oldest_compatible')::integer <= $1), false)
        FROM schema_migration m WHERE version > $1
        """
    static let recordsCompatibility: PostgresStatement = """
        SELECT EXISTS (SELECT FROM pg_attribute
            WHERE attrelid = to_regclass('schema_migration') AND attname = 'oldest_compatible')
        """
    /// The indexes that an interrupted CREATE INDEX CONCURRENTLY left behind.
    static let invalidIndexes: PostgresStatement = """
        SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE NOT i.indisvalid AND c.relkind = 'i' AND c.relnamespace = current_schema()::regnamespace
        """
    /// The rows of a table, `$1`, when it was analyzed last.
    static let rowCount: PostgresStatement = """
        SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass($1) AND reltuples >= 0
        """
    static let remove: PostgresStatement = "DELETE FROM schema_migration WHERE version = $1"
    static let hasTable: PostgresStatement = "SELECT to_regclass('schema_migration') IS NOT NULL"
    static let version: PostgresStatement = "SELECT coalesce(max(version), 0)::bigint FROM schema_migration"
    /// The columns of the schema's tables, by table; a renamed one keeps its number. With the estimated rows of the table, if it
    /// was analyzed.
    static let columns: PostgresStatement = """
        SELECT c.oid::bigint, a.attnum::bigint, c.relname::text, a.attname::text, nullif(c.reltuples, -1)::bigint
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
        ORDER BY c.relname, a.attnum
        """
    /// The first applied migration whose script differs from the program's scripts, `$1`.
    static let firstChanged: PostgresStatement = """
        SELECT ours.version FROM unnest($1) WITH ORDINALITY AS ours (script, version)
        LEFT JOIN schema_migration applied ON applied.version = ours.version
        WHERE applied.checksum IS DISTINCT FROM md5(ours.script) ORDER BY 1 LIMIT 1
        """
}
