internal import LibPQ

/// The statements that carry products' columns to their placements.
enum PlacementStatements {
    /// 1 where a product is sold out and its shelf sorts such products last.
    static let availability = """
        CASE WHEN r.in_stock OR coalesce(h.sold_out, s.sold_out) = 'mixed' THEN 0::smallint ELSE 1::smallint END
        """

    private static let assignments = ProductRow.shared.map { "\($0) = r.\($0)" }.joined(separator: ", ")

    /// Carries a product's columns to its placements.
    static let syncPlacements = PostgresStatement(
        assembled: """
            UPDATE placement p SET availability = \(availability), \(assignments)
            FROM product r, shelf h, store s
            WHERE p.store_id = $1 AND p.sku = $2 AND r.store_id = $1 AND r.sku = $2
                AND h.store_id = $1 AND h.shelf_id = p.shelf_id AND s.store_id = $1
            """
    )

    static let insertPlacement = PostgresStatement(
        assembled: """
            INSERT INTO placement (store_id, shelf_id, sku, availability, \(ProductRow.shared.joined(separator: ", ")))
            SELECT r.store_id, h.shelf_id, r.sku, \(availability), \(ProductRow.shared.map { "r.\($0)" }.joined(separator: ", "))
            FROM product r, shelf h, store s
            WHERE r.store_id = $1 AND r.sku = $3 AND h.store_id = $1 AND h.shelf_id = $2 AND s.store_id = $1
            ON CONFLICT (store_id, shelf_id, sku) DO NOTHING
            """
    )

    /// Follows a change of where sold-out products stand, in a store.
    static let realignStore = realignment("")

    /// The same on one shelf, `$2`.
    static let realignShelf = realignment(" AND r.shelf_id = $2")

    private static func realignment(_ scope: String) -> PostgresStatement {
        PostgresStatement(
            assembled: """
                UPDATE placement r SET availability = \(availability) FROM shelf h, store s
                WHERE r.store_id = $1\(scope) AND h.store_id = $1 AND h.shelf_id = r.shelf_id
                    AND s.store_id = $1 AND r.availability <> \(availability)
                """
        )
    }
}
