internal import LibPQ

/// The statements that write, place and delete a product. `$1` is the store id.
enum ProductStatements {
    /// Removes a product, `$2`, from shelves, `$3`; its positions are kept.
    static let removeFromShelves: PostgresStatement = """
        UPDATE placement_position SET removed_at = now() WHERE store_id = $1 AND sku = $2 AND shelf_id = ANY ($3)
        """
    static let deletePlacements: PostgresStatement = "DELETE FROM placement WHERE store_id = $1 AND sku = $2"
    /// Deletes a product, `$2`, and returns it.
    static let delete: PostgresStatement = """
        DELETE FROM product r WHERE r.store_id = $1 AND r.sku = $2
        RETURNING \(ProductRow.columns("r"))
        """
    /// Locks a product, `$2`, against deletion.
    static let lockProduct: PostgresStatement = "SELECT 1 FROM product WHERE store_id = $1 AND sku = $2 FOR SHARE"
    /// Restores the position of a product, `$3`, on a shelf, `$2`.
    static let restorePosition: PostgresStatement = """
        UPDATE placement_position SET removed_at = NULL WHERE store_id = $1 AND shelf_id = $2 AND sku = $3
        """
    static let insertPosition: PostgresStatement = """
        INSERT INTO placement_position (store_id, shelf_id, sku, key) VALUES ($1, $2, $3, $4)
        """
    /// Takes a product, `$3`, off a shelf, `$2`.
    static let deletePlacement: PostgresStatement = """
        DELETE FROM placement p WHERE \(PlacementStatements.key("p", store: "$1", shelf: "$2", sku: "$3"))
        """
    /// Removes a product, `$3`, from a shelf, `$2`; its position is kept.
    static let removeFromShelf: PostgresStatement = """
        UPDATE placement_position SET removed_at = now() WHERE store_id = $1 AND shelf_id = $2 AND sku = $3
        """

    private static let compared = ProductColumn.provided.filter { !$0.isDerived }

    /// Writes a product, `$2`; does nothing if nothing changes. From `$3` on, the parameters are the values of the product, the time of the
    /// last change of its shelves, and the sort keys.
    ///
    /// Returns whether the product is new; no row if nothing changes.
    static let upsert: PostgresStatement = """
        INSERT INTO product AS r (store_id, sku, \(ProductColumn.provided.names), popularity_log2, created_at, modified_at, \(SortKeys.columns))
        SELECT t.store_id, $2, \(ProductColumn.provided.indices.map { "$\($0 + 3)" as SQL }.joined()),
            CASE WHEN t.counted_metric = 'decay' THEN popularity_sum('-Infinity', '-Infinity', popularity_on(
                t.counted_newcomer_boost, (now() AT TIME ZONE 'UTC')::date, t.counted_half_life_days))
            WHEN t.counted_newcomer_boost > 0 THEN popularity_sum('-Infinity', '-Infinity',
                ln(t.counted_newcomer_boost) / ln(2::double precision)) ELSE '-Infinity' END, now(), now(),
            $\(ProductColumn.provided.count + 4), $\(ProductColumn.provided.count + 5)
        FROM store_state t WHERE t.store_id = $1
        ON CONFLICT (store_id, sku) DO UPDATE
            SET \(ProductColumn.provided.assignments(from: "excluded")), name_key = excluded.name_key, brand_key = excluded.brand_key,
                modified_at = \(SQL.nextTime(after: "r.modified_at", and: "$\(ProductColumn.provided.count + 3)", now: "excluded.modified_at"))
        WHERE (\(compared.names(in: "r"))) IS DISTINCT FROM (\(compared.names(in: "excluded")))
        RETURNING r.xmax = 0
        """
}
