internal import LibPQ

/// The statements of `CatalogGenerator`.
enum GeneratorStatements {
    static let anyPlacement: PostgresStatement = "SELECT 1 FROM placement LIMIT 1"
    /// The objects that are faster to create after loading: foreign keys and non-unique indexes.
    static let deferredObjects: PostgresStatement = """
        WITH filled (id) AS (VALUES ('product'::regclass), ('placement'), ('placement_position'))
        SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname),
            format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid))
        FROM pg_constraint c JOIN filled ON filled.id = c.conrelid WHERE c.contype = 'f'
        UNION ALL
        SELECT format('DROP INDEX %s', x.indexrelid::regclass), pg_get_indexdef(x.indexrelid)
        FROM pg_index x JOIN filled ON filled.id = x.indrelid
        WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = x.indexrelid)
        """
    static let copyShelves: PostgresStatement = """
        COPY shelf (store_id, shelf_id, key, title, title_key, position, product_count, modified_at) FROM STDIN
        """
}
