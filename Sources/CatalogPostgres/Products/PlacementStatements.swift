internal import LibPQ

/// The statements that copy product columns to placements.
enum PlacementStatements {
    /// 1 if a product is sold out and its shelf sorts sold-out products last.
    static let availability: SQL = """
        CASE WHEN r.in_stock OR coalesce(h.sold_out, s.sold_out) = 'mixed' THEN 0::smallint ELSE 1::smallint END
        """

    /// Copies a product's columns to its placements.
    static let syncPlacements: PostgresStatement = """
        UPDATE placement p SET availability = \(availability), \(ProductColumn.allCases.assignments(from: "r"))
        FROM product r, shelf h, store s
        WHERE p.store_id = $1 AND p.sku = $2 AND r.store_id = $1 AND r.sku = $2
            AND h.store_id = $1 AND h.shelf_id = p.shelf_id AND s.store_id = $1
        """

    static let insertPlacement: PostgresStatement = """
        INSERT INTO placement (store_id, shelf_id, sku, availability, \(ProductColumn.allCases.names))
        SELECT r.store_id, h.shelf_id, r.sku, \(availability), \(ProductColumn.allCases.names(in: "r"))
        FROM product r, shelf h, store s
        WHERE r.store_id = $1 AND r.sku = $3 AND h.store_id = $1 AND h.shelf_id = $2 AND s.store_id = $1
        ON CONFLICT (store_id, shelf_id, sku) DO NOTHING
        """

    static let copyPositions: PostgresStatement = """
        COPY placement_position (store_id, shelf_id, sku, key) FROM STDIN
        """

    /// Updates availabilities after a change of a store's sold-out rule.
    static let realignStore: PostgresStatement = realignment("")

    /// Updates the availabilities of one shelf, `$2`.
    static let realignShelf: PostgresStatement = realignment(" AND r.shelf_id = $2")

    private static func realignment(_ scope: SQL) -> PostgresStatement {
        """
        UPDATE placement r SET availability = \(availability) FROM shelf h, store s
        WHERE r.store_id = $1\(scope) AND h.store_id = $1 AND h.shelf_id = r.shelf_id
            AND s.store_id = $1 AND r.availability <> \(availability)
        """
    }
}
