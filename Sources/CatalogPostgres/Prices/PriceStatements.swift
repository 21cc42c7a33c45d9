internal import LibPQ

/// The statements of prices. `$1` is the store id.
enum PriceStatements {
    /// The keys of shelves, `$2`.
    static let shelfKeys: PostgresStatement = "SELECT key FROM shelf WHERE store_id = $1 AND shelf_id = ANY ($2)"
    /// The given products, `$2`, that exist.
    static let known: PostgresStatement =
        "SELECT DISTINCT p.sku FROM \(PlacementStatements.rows("product", "sku", store: "$1", skus: "$2"))"
    /// The shelves on which products, `$2`, are placed.
    static let shelves: PostgresStatement = """
        SELECT h.key FROM shelf h WHERE h.store_id = $1 AND h.shelf_id IN (
            SELECT p.shelf_id FROM \(PlacementStatements.rows("placement", "shelf_id", store: "$1", skus: "$2"))) ORDER BY h.key
        """
}
