internal import LibPQ

/// The statements that record what versions of shelves changed. `$1` is the store id, unless noted.
enum ShelfChangeStatements {
    /// Inserts the changes of shelves `h`. A shelf of which more than an eighth changed is read as a whole, which costs less, unless it has few
    /// products: it gets no row.
    ///
    /// A row of the same version is of the same transaction, or of one that never assigned the version.
    ///
    /// - Parameters:
    ///   - changes: selects each `shelf_id` and its changed `skus`.
    ///   - version: the version with the changes; by default the next one.
    ///   - previous: the version before.
    private static func inserting(
        _ changes: SQL,
        version: SQL = SQL.nextVersion(after: "h.version"),
        previous: SQL = "h.version"
    ) -> PostgresStatement {
        """
        INSERT INTO shelf_change (store_id, shelf_id, version, previous_version, skus)
        SELECT h.store_id, h.shelf_id, \(version), \(previous), c.skus FROM shelf h JOIN (\(changes)) c ON c.shelf_id = h.shelf_id
        WHERE h.store_id = $1 AND cardinality(c.skus) <= greatest(16, h.product_count / 8)
        ON CONFLICT (store_id, shelf_id, version) DO UPDATE
        SET previous_version = excluded.previous_version, skus = shelf_change.skus || excluded.skus
        """
    }

    /// Records products, `$3`, that changed on shelves, `$2`, in pairs; an empty text is none.
    static let record: PostgresStatement = inserting(
        """
        SELECT n.shelf_id, array_remove(array_agg(n.sku), '') AS skus
        FROM unnest($2::bigint[], $3::text[]) AS n (shelf_id, sku) GROUP BY n.shelf_id
        """
    )
    /// Records that only settings of all shelves of a store changed.
    static let recordSettingsOfAll: PostgresStatement = inserting(
        "SELECT n.shelf_id, '{}'::text[] AS skus FROM shelf n WHERE n.store_id = $1"
    )
    /// Records products, `$5`, of a shelf, `$2`, that has its new version, `$3`, already; `$4` is the one before.
    static let recordAfter: PostgresStatement = inserting(
        "SELECT $2::integer AS shelf_id, $5::text[] AS skus",
        version: "$3",
        previous: "$4"
    )
    /// Records the products of an import, `$2`, on the shelves `$5`, and the removed products: shelves, `$3`, and skus, `$4`, in pairs.
    static let recordImport: PostgresStatement = inserting(
        """
        SELECT n.shelf_id, array_agg(n.sku) AS skus FROM (
            SELECT p.shelf_id, p.sku FROM placement p WHERE p.store_id = $1 AND p.sku IN (
                SELECT i.sku FROM import_row i WHERE i.import_id = $2::text::uuid AND i.store_id = $1)
            UNION SELECT g.shelf_id, g.sku FROM unnest($3::bigint[], $4::text[]) AS g (shelf_id, sku)) n
        WHERE n.shelf_id IN (SELECT unnest($5::bigint[])) GROUP BY n.shelf_id
        """
    )
    /// How long changes are kept, in microseconds.
    private static let lifetime: SQL = "3600000000"
    /// Deletes a batch of old changes of all stores.
    static let trim: PostgresStatement = """
        DELETE FROM shelf_change WHERE version < \(SQL.microseconds) - \(lifetime) AND (store_id, shelf_id, version) IN (
            SELECT store_id, shelf_id, version FROM shelf_change WHERE version < \(SQL.microseconds) - \(lifetime)
            ORDER BY version LIMIT 100000)
        """
}
