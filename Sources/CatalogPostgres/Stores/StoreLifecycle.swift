internal import Catalog
internal import LibPQ

/// The creation and the deletion of stores.
///
/// A deleted store keeps its row, its state and its deleted shelves. If the store is created again, it has the same id, and the versions
/// go on.
enum StoreLifecycle {
    /// Creates a store, or a deleted one again.
    ///
    /// The state of a deleted store must be locked, as `ShelfLookup.storeIfExists` does.
    ///
    /// - Parameter newID: the id of a store that never existed.
    /// - Returns: the id; nil if another writer has created the store.
    static func create(_ store: Store, newID: Int32, _ connection: isolated PostgresConnection) throws -> Int32? {
        let id = try connection.query(insert, columns(store) + [.int4(newID)]) { try $0.first { try $0.int4(0) } }
        guard let id else { return nil }
        try connection.execute(insertState, [.int4(id)])
        // Servers of versions that do not support deleted stores may have written to it since.
        if id != newID { try clear(id, connection) }
        return id
    }

    /// The key and the settings of a store as parameters, in the order of `insert`.
    static func columns(_ store: Store) -> [PostgresValue] {
        [
            .text(store.key.text), .text(store.title), .text(store.currency.code), .text(store.locale),
            .text(store.unitPricing.rawValue), .text(store.soldOut.rawValue), .text(store.defaultSort?.description),
            .text(store.popularityMetric.rawValue), .int4(Int32(store.popularityHalfLifeDays)),
            .float8(store.newcomerBoost), .text(store.collation),
        ]
    }

    /// Returns the ids of stores that may be created.
    static func newIDs(_ count: Int, _ connection: isolated PostgresConnection) throws -> [Int32] {
        try connection.query(nextIDs, [.int4(Int32(count))]) { try $0.map { Int32(try $0.int8(0)) } }
    }

    /// Deletes a store with its products, shelves, orders and purchases. Settings and list items belong to users, and stay.
    ///
    /// - Returns: the number of its products.
    /// - Throws: `notFound`.
    /// - Complexity: O(rows of the store), in one transaction. Writers of the store, and folds of purchases, wait for it; readers do not.
    static func delete(
        _ key: CatalogKey,
        _ lookup: ShelfLookup,
        _ connection: isolated PostgresConnection
    ) throws -> Int {
        let found = try lookup.store(key, connection, locking: ShelfStatements.lockStoreExclusively)
        let store = PostgresValue.int4(found.id)
        let products = try clear(found.id, connection)
        try connection.execute(ShelfStatements.bumpStore, [store])
        try connection.query(ShelfStatements.bumpShelfOrder, [store]) { _ in }
        try connection.execute(markDeleted, [store])
        try connection.execute(countDeletion, [store])
        try AuditLog.record(.deleted(found.store, products: products), in: found.id, connection)
        return products
    }

    /// Deletes everything that belongs to a store, except for the store itself and its audit log; its shelves are marked as deleted.
    ///
    /// - Returns: the number of products.
    @discardableResult
    private static func clear(_ id: Int32, _ connection: isolated PostgresConnection) throws -> Int {
        let store: [PostgresValue] = [.int4(id)]
        try connection.query(PurchaseStatements.holdCells) { _ in }
        try connection.execute(ShelfStatements.lockAll, store)
        for statement in contentBeforeProducts { try connection.execute(statement, store) }
        let products = try connection.execute(deleteProducts, store)
        try connection.execute(ShelfStatements.deleteAll, store)
        return products
    }

    // MARK: - Statements

    /// `$1` to `$11` are the key and the settings, `$12` is the id.
    static let insert: PostgresStatement = """
        INSERT INTO store (key, title, currency, locale, unit_pricing, sold_out, default_sort, popularity_metric,
            popularity_half_life_days, newcomer_boost, sort_language, store_id)
        OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        ON CONFLICT (key) DO UPDATE SET title = excluded.title, currency = excluded.currency, locale = excluded.locale,
            unit_pricing = excluded.unit_pricing, sold_out = excluded.sold_out, default_sort = excluded.default_sort,
            popularity_metric = excluded.popularity_metric,
            popularity_half_life_days = excluded.popularity_half_life_days, newcomer_boost = excluded.newcomer_boost,
            sort_language = excluded.sort_language, deleted_at = NULL
        WHERE store.deleted_at IS NOT NULL RETURNING store_id
        """
    /// Creates the state of a store, `$1`, that was created, or created again. Its products have no scores yet.
    static let insertState: PostgresStatement = """
        INSERT INTO store_state (store_id, version, counted_metric, counted_half_life_days, counted_newcomer_boost)
        SELECT store_id, \(SQL.microseconds), popularity_metric, popularity_half_life_days, newcomer_boost FROM store WHERE store_id = $1
        ON CONFLICT (store_id) DO UPDATE SET version = greatest(store_state.version + 1, excluded.version),
            counted_metric = excluded.counted_metric, counted_half_life_days = excluded.counted_half_life_days,
            counted_newcomer_boost = excluded.counted_newcomer_boost, counted_on = NULL, customers_kept_from = NULL
        """
    static let nextIDs: PostgresStatement = """
        SELECT nextval(pg_get_serial_sequence('store', 'store_id')) FROM generate_series(1, $1)
        """
    /// Reads how often a store, `$1`, was deleted.
    static let deletions: PostgresStatement = "SELECT deletions FROM store_state WHERE store_id = $1"
    static let countDeletion: PostgresStatement = """
        UPDATE store_state SET deletions = deletions + 1 WHERE store_id = $1
        """
    /// Marks a store, `$1`, as deleted.
    static let markDeleted: PostgresStatement = "UPDATE store SET deleted_at = now() WHERE store_id = $1"
    /// Deletes all but the products of a store, `$1`. Purchases without a product come before the inbox, because a fold moves them there.
    static let contentBeforeProducts: [PostgresStatement] = [
        "DELETE FROM purchase_stray WHERE store_id = $1",
        "DELETE FROM purchase_inbox WHERE store_id = $1",
        "DELETE FROM purchase_event WHERE store_id = $1",
        "DELETE FROM purchase_count WHERE store_id = $1",
        "DELETE FROM purchase_by_customer WHERE store_id = $1",
        "DELETE FROM due_products WHERE store_id = $1",
        "DELETE FROM order_change WHERE store_id = $1",
        "DELETE FROM shelf_change WHERE store_id = $1",
        "DELETE FROM shelf_image WHERE store_id = $1",
        "DELETE FROM placement_position WHERE store_id = $1",
        "DELETE FROM placement WHERE store_id = $1",
        "DELETE FROM idempotency_record WHERE store_id = $1",
        "DELETE FROM store_attribute WHERE store_id = $1",
        "DELETE FROM store_synonyms WHERE store_id = $1",
    ]
    static let deleteProducts: PostgresStatement = "DELETE FROM product WHERE store_id = $1"
}
