internal import LibPQ

/// The statements of placements. Each has the score that its product had when the shelf got its version; everything else is the product's.
enum PlacementStatements {
    /// Returns the condition that finds a row of `placement` or `placement_position` by its key.
    ///
    /// The planner expects that ids of shelves do not depend on the store. So it expects about one product on each shelf of a store. By its
    /// estimates, reading the shelf and discarding all but one product costs no more than the key. `+ 0` excludes indexes that begin with
    /// the shelf; the primary keys begin with the product.
    ///
    /// - Parameters:
    ///   - row: the alias of the table.
    ///   - store, shelf, sku: the key.
    static func key(_ row: SQL, store: SQL, shelf: SQL, sku: SQL) -> SQL {
        "\(row).store_id = \(store) AND \(row).sku = \(sku) AND \(row).shelf_id + 0 = \(shelf)"
    }

    /// Returns a relation of products, `s.sku`, and their rows in `table`, `p`, of which `column` is one.
    ///
    /// Each product is looked up by its key. `sku = ANY (…)` would let the planner read the whole store, if it expects few rows there.
    ///
    /// - Parameters:
    ///   - table: `product` or `placement`.
    ///   - store: the store id.
    ///   - skus: an array of products.
    static func rows(_ table: SQL, _ column: SQL, store: SQL, skus: SQL) -> SQL {
        """
        unnest(\(skus)::text[]) AS s (sku) CROSS JOIN LATERAL (
            SELECT r.\(column) FROM \(table) r WHERE r.store_id = \(store) AND r.sku = s.sku OFFSET 0) p
        """
    }

    /// The dimension of the unit price of a placement `p`, in the store `$1`; null without a unit price.
    static let unitDimension: SQL = """
        SELECT CASE WHEN q.price_minor IS NOT NULL THEN q.size_dimension END AS unit_dimension FROM product q
        WHERE q.store_id = $1 AND q.sku = p.sku OFFSET 0
        """

    /// Returns SQL that inserts placements, unless they exist.
    ///
    /// - Parameter selection: selects the store id, the shelf id, the sku and the score of each; it may end with an order.
    static func inserting(_ selection: SQL) -> PostgresStatement {
        """
        INSERT INTO placement (store_id, shelf_id, sku, popularity_log2) \(selection)
        ON CONFLICT (store_id, sku, shelf_id) DO NOTHING
        """
    }

    /// Puts a product, `$3`, on a shelf, `$2`.
    static let insert: PostgresStatement = inserting(
        """
        SELECT r.store_id, h.shelf_id, r.sku, r.popularity_log2
        FROM product r, shelf h WHERE r.store_id = $1 AND r.sku = $3 AND h.store_id = $1 AND h.shelf_id = $2
        """
    )

    /// The shelves of products, `$2`, and the products.
    static let ofProducts: PostgresStatement =
        "SELECT p.shelf_id, s.sku FROM \(rows("placement", "shelf_id", store: "$1", skus: "$2"))"

    static let copyPositions: PostgresStatement = """
        COPY placement_position (store_id, shelf_id, sku, key) FROM STDIN
        """
}
