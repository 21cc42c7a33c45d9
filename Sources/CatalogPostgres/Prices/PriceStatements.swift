internal import LibPQ

/// The statements of prices. `$1` is the store id.
enum PriceStatements {
    /// The keys of shelves, `$2`.
    static let shelfKeys: PostgresStatement = "SELECT key FROM shelf WHERE store_id = $1 AND shelf_id = ANY ($2)"
    /// The given products, `$2`, that exist.
    static let known: PostgresStatement = "SELECT sku FROM product WHERE store_id = $1 AND sku = ANY ($2)"
    /// The shelves on which products, `$2`, are placed. `+ 0` keeps the planner from reading each shelf of the store.
    static let shelves: PostgresStatement = """
        SELECT h.key FROM shelf h WHERE h.store_id = $1 AND h.shelf_id IN (
            SELECT p.shelf_id + 0 FROM placement p WHERE p.store_id = $1 AND p.sku = ANY ($2)) ORDER BY h.key
        """
}
