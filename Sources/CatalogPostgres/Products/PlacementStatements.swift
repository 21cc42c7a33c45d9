internal import LibPQ

/// The statements that write placements: copies of products' columns, and in `placement_popularity` of the columns that the order by
/// popularity needs.
enum PlacementStatements {
    /// Returns the condition that finds a row of `placement`, `placement_popularity` or `placement_position` by its key.
    ///
    /// The planner expects that ids of shelves do not depend on the store, and so about one product on each shelf of a store among others.
    /// By its estimates, reading the shelf and discarding all but one product costs no more than the key. `+ 0` excludes indexes that begin
    /// with the shelf; the primary keys begin with the product.
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

    /// 1 if a product `r` of a store `s` is sold out and its shelf `h` sorts sold-out products last.
    static let availability = availability(soldOut: "s.sold_out")

    /// - Parameter soldOut: the store's rule for sold-out products. Citus inserts into one shard only without a join with the stores.
    static func availability(of product: SQL = "r", soldOut: SQL) -> SQL {
        """
        CASE WHEN \(product).in_stock OR coalesce(h.sold_out, \(soldOut)) = 'mixed' THEN 0::smallint ELSE 1::smallint END
        """
    }

    /// The columns of `placement` that `placement_popularity` has, too.
    static let ranked: SQL = "store_id, shelf_id, popularity_log2, availability, sku, name"

    /// Replaces a row that a program without this table left behind.
    private static let replacing: SQL = """
        ON CONFLICT (store_id, sku, shelf_id) DO UPDATE
        SET popularity_log2 = excluded.popularity_log2, availability = excluded.availability, name = excluded.name
        """

    /// Returns SQL that runs an update of placements `p`, and copies changed values to `placement_popularity`.
    ///
    /// - Parameters:
    ///   - store: the store id.
    ///   - update: without RETURNING.
    static func updating(_ store: SQL, _ update: SQL) -> PostgresStatement {
        "WITH \(updated(update)) \(copyingUpdated(store))"
    }

    /// The same, but returns what a query on the changed placements, `updated`, selects.
    static func updating(_ store: SQL, _ update: SQL, returning query: SQL) -> PostgresStatement {
        "WITH \(updated(update)), copied AS (\(copyingUpdated(store))) \(query)"
    }

    private static func updated(_ update: SQL) -> SQL {
        """
        updated AS (
            \(update)
            RETURNING p.shelf_id, p.sku, p.popularity_log2, p.availability, p.name)
        """
    }

    private static func copyingUpdated(_ store: SQL) -> SQL {
        """
        UPDATE placement_popularity o
        SET popularity_log2 = u.popularity_log2, availability = u.availability, name = u.name
        FROM updated u WHERE \(key("o", store: store, shelf: "u.shelf_id", sku: "u.sku"))
            AND (o.popularity_log2, o.availability, o.name) IS DISTINCT FROM (u.popularity_log2, u.availability, u.name)
        """
    }

    /// Returns SQL that inserts placements, and their rows in `placement_popularity`.
    ///
    /// - Parameter selection: selects the columns of the placements, in order; it may end with an order.
    static func inserting(_ selection: SQL) -> PostgresStatement {
        """
        WITH inserted AS (\(insert(selection)) RETURNING \(ranked))
        INSERT INTO placement_popularity (\(ranked)) SELECT \(ranked) FROM inserted \(replacing)
        """
    }

    /// Returns SQL that inserts placements without their rows in `placement_popularity`.
    static func insertingAlone(_ selection: SQL) -> PostgresStatement { .init(insert(selection)) }

    /// Returns SQL that inserts the rows in `placement_popularity` that placements `p` do not have yet.
    static func insertingMissingPopularity(_ scope: SQL) -> PostgresStatement {
        """
        INSERT INTO placement_popularity (\(ranked)) SELECT \(ranked) FROM placement p WHERE \(scope) \(replacing)
        """
    }

    private static func insert(_ selection: SQL) -> SQL {
        """
        INSERT INTO placement (store_id, shelf_id, sku, availability, \(ProductColumn.allCases.names))
        \(selection)
        ON CONFLICT (store_id, sku, shelf_id) DO NOTHING
        """
    }

    /// Returns SQL that deletes placements, and their rows in `placement_popularity`, and returns the shelf of each.
    ///
    /// - Parameters:
    ///   - store: the store id.
    ///   - scope: what follows `DELETE FROM placement p`.
    static func deleting(_ store: SQL, _ scope: SQL) -> PostgresStatement {
        """
        WITH deleted AS (DELETE FROM placement p \(scope) RETURNING p.shelf_id, p.sku),
        unranked AS (
            DELETE FROM placement_popularity o USING deleted d
            WHERE \(key("o", store: store, shelf: "d.shelf_id", sku: "d.sku")))
        SELECT shelf_id FROM deleted
        """
    }

    /// Copies a product's columns to its placements.
    static let syncPlacements: PostgresStatement = updating(
        "$1",
        """
        UPDATE placement p SET availability = \(availability), \(ProductColumn.allCases.assignments(from: "r"))
            FROM product r, shelf h, store s
            WHERE p.store_id = $1 AND p.sku = $2 AND r.store_id = $1 AND r.sku = $2
                AND h.store_id = $1 AND h.shelf_id = p.shelf_id AND s.store_id = $1
        """
    )

    /// Puts a product, `$3`, on a shelf, `$2`; `$4` is the store's rule for sold-out products. `insertPopularity` must follow; Citus
    /// does not plan both as one statement.
    static let insertPlacement: PostgresStatement = insertingAlone(
        """
        SELECT r.store_id, h.shelf_id, r.sku, \(availability(soldOut: "$4")), \(ProductColumn.allCases.names(in: "r"))
        FROM product r, shelf h WHERE r.store_id = $1 AND r.sku = $3 AND h.store_id = $1 AND h.shelf_id = $2
        """
    )
    static let insertPopularity: PostgresStatement = """
        INSERT INTO placement_popularity (\(ranked)) SELECT \(ranked) FROM placement
        WHERE store_id = $1 AND shelf_id = $2 AND sku = $3 \(replacing)
        """

    static let copyPositions: PostgresStatement = """
        COPY placement_position (store_id, shelf_id, sku, key) FROM STDIN
        """

    /// Updates availabilities after a change of a store's sold-out rule.
    static let realignStore: PostgresStatement = realignment("")

    /// Updates the availabilities of one shelf, `$2`.
    static let realignShelf: PostgresStatement = realignment(" AND p.shelf_id = $2")

    private static let ownAvailability = availability(of: "p", soldOut: "s.sold_out")

    private static func realignment(_ scope: SQL) -> PostgresStatement {
        updating(
            "$1",
            """
            UPDATE placement p SET availability = \(ownAvailability) FROM shelf h, store s
                WHERE p.store_id = $1\(scope) AND h.store_id = $1 AND h.shelf_id = p.shelf_id
                    AND s.store_id = $1 AND p.availability <> \(ownAvailability)
            """
        )
    }
}
