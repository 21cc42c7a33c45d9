internal import LibPQ

/// The statements that read the columns of which facets are counted. `$1` is the store id, `$2` the shelf id.
enum FacetStatements {
    static let state: PostgresStatement = """
        SELECT order_version, product_count, modified_at, pg_postmaster_start_time(), 'shelf'::regclass::oid::bigint FROM shelf
        WHERE store_id = $1 AND shelf_id = $2 AND deleted_at IS NULL
        """

    /// Arrays take time, even without elements.
    private static let tags: SQL = "CASE WHEN p.tag_count > 0 THEN p.tags END"

    private static let columns: SQL = "p.sku, p.brand, \(tags), p.in_stock, p.price_minor"

    static let products: PostgresStatement = """
        SELECT \(columns) FROM placement p WHERE p.store_id = $1 AND p.shelf_id = $2
        """

    /// The products that changed after a time, `$3`; at most `$4` of each availability.
    static let changedProducts: PostgresStatement = """
        SELECT p.* FROM unnest(ARRAY[0, 1]::smallint[]) AS a (availability)
        CROSS JOIN LATERAL (
            SELECT \(columns) FROM placement p
            WHERE p.store_id = $1 AND p.shelf_id = $2 AND p.availability = a.availability AND p.modified_at > $3
            ORDER BY p.modified_at DESC, p.name, p.sku LIMIT $4) p
        """

    /// Texts, `$1`, in the catalog's collation.
    static let collated: PostgresStatement = """
        SELECT t.text FROM unnest($1::text[]) AS t (text) ORDER BY t.text COLLATE catalog
        """
}
