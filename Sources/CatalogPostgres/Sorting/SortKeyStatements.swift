internal import LibPQ

/// The statements of sort keys. `$1` is the store id, unless noted.
enum SortKeyStatements {
    /// The locale of the catalog's collation. PostgreSQL 17 has renamed its column.
    static let locale: PostgresStatement = """
        SELECT coalesce(to_jsonb(c) ->> 'colllocale', to_jsonb(c) ->> 'colliculocale') FROM pg_collation c
        WHERE c.collname = 'catalog' AND pg_collation_is_visible(c.oid)
        """
    /// The version of the collator that computed the keys of all products.
    static let version: PostgresStatement = "SELECT collator FROM deployment WHERE deployment_id = 1"
    /// Records the version, `$1`.
    static let setVersion: PostgresStatement = "UPDATE deployment SET collator = $1 WHERE deployment_id = 1"
    /// The ids of all stores.
    static let stores: PostgresStatement = "SELECT store_id FROM store ORDER BY store_id"
    /// At most `$3` products after `$2`, with their names, brands and keys.
    static let productsAfter: PostgresStatement = """
        SELECT sku, name, brand, \(SortKeys.columns) FROM product WHERE store_id = $1 AND sku > $2 ORDER BY sku LIMIT $3
        """
    /// The names and brands of products, `$2`.
    static let texts: PostgresStatement = "SELECT sku, name, brand FROM product WHERE store_id = $1 AND sku = ANY ($2)"
    /// Writes the keys of products, `$2`: those of names, `$3`, and of brands, `$4`.
    static let write: PostgresStatement = """
        UPDATE product r SET name_key = n.name_key, brand_key = n.brand_key
        FROM unnest($2::text[], $3::bytea[], $4::bytea[]) AS n (sku, name_key, brand_key)
        WHERE r.store_id = $1 AND r.sku = n.sku
        """
}
