internal import Catalog
internal import LibPQ

/// Price changes in PostgreSQL.
struct PostgresPriceStore: PriceStore {
    let database: Database
    private var lookup: ShelfLookup { ShelfLookup(database: database) }

    func setPrices(
        _ prices: [PriceChange],
        in store: CatalogKey,
        pricedIn currency: Currency?,
        once call: IdempotentCall<PriceOutcome>?
    ) async throws(CatalogError) -> PriceOutcome {
        try PriceChange.checkRepeats(prices)
        return try await database.write(to: store, within: .prices) { connection in
            let found = try lookup.store(store, connection, ShelfStatements.lockStoreKey)
            if let currency, currency != found.store.currency { throw CatalogError.currencyChanged(found.store) }
            return try IdempotencyRecords(storeID: found.id).performOnce(call, connection) {
                try Self.setPrices(prices, found.id, connection)
            }
        }
    }

    private static func setPrices(
        _ prices: [PriceChange],
        _ storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> PriceOutcome {
        var outcome = PriceOutcome()
        guard !prices.isEmpty else { return outcome }
        let skus = PostgresValue.textArray(prices.map(\.sku.text))
        let locked = try ShelfLocks.lockShelves(of: skus, storeID, connection)
        let known = try known(skus, storeID, connection)
        if let unknown = prices.first(where: { !known.contains($0.sku) }) {
            throw PriceChange.unknown(unknown.sku)
        }
        try locked.check(found: known.count)
        let values: [PostgresValue] = [
            .int8Array(prices.map(\.priceMinor)),
            .int8Array(prices.map { $0.regularPriceMinor ?? nil }),
            .boolArray(prices.map { $0.regularPriceMinor != nil }),
            locked.lastChange,
        ]
        let changed = try connection.query(priceProducts, [.int4(storeID), skus] + values) {
            try $0.map { row in
                PriceRevision(
                    SKU(stored: try row.text(0)),
                    old: .init(price: try row.int8OrNil(1), regular: try row.int8OrNil(2)),
                    new: .init(price: try row.int8OrNil(3), regular: try row.int8OrNil(4))
                )
            }
        }
        outcome.changed = changed.count
        outcome.unchanged = prices.count - changed.count
        guard !changed.isEmpty else { return outcome }
        try AuditLog.record(.prices(changed), in: storeID, connection)
        let changedSKUs = PostgresValue.textArray(changed.map(\.sku.text))
        let changes = try connection.query(PlacementStatements.ofProducts, [.int4(storeID), changedSKUs]) {
            try ShelfChanges($0)
        }
        try ShelfLocks.bump(changes, storeID, connection)
        outcome.shelves = try connection.query(
            PriceStatements.shelfKeys,
            [.int4(storeID), .int8Array(changes.shelves.map(Int64.init))]
        ) { Set(try $0.map { CatalogKey(try $0.text(0))! }) }
        return outcome
    }

    /// Returns the products among the given ones that exist in the store.
    ///
    /// - Parameter skus: an array of skus.
    static func known(
        _ skus: PostgresValue,
        _ storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> Set<SKU> {
        try connection.query(PriceStatements.known, [.int4(storeID), skus]) {
            Set(try $0.map { SKU(stored: try $0.text(0)) })
        }
    }

    static let priceProducts: PostgresStatement = """
        UPDATE product r SET price_minor = n.price, regular_price_minor = n.regular,
            modified_at = \(SQL.nextTime(after: "r.modified_at", and: "$6"))
        FROM (
            SELECT p.sku, p.price_minor AS old_price, p.regular_price_minor AS old_regular, g.price, CASE WHEN g.sets_regular THEN g.regular
                WHEN p.regular_price_minor > g.price THEN p.regular_price_minor END AS regular
            FROM unnest($2, $3, $4, $5) AS g (sku, price, regular, sets_regular) JOIN product p ON p.store_id = $1 AND p.sku = g.sku) n
        WHERE r.store_id = $1 AND r.sku = n.sku
            AND (r.price_minor, r.regular_price_minor) IS DISTINCT FROM (n.price, n.regular)
        RETURNING r.sku, n.old_price, n.old_regular, n.price, n.regular
        """

    /// Returns the shelves on which products are placed.
    func shelves(of skus: [SKU], in store: CatalogKey) async throws(CatalogError) -> [CatalogKey] {
        try await database.mappingErrors {
            let storeID = try await lookup.readStore(store).id
            return try await database.writes.perform(within: .shelf, of: database.owner(store)) {
                try $0.query(
                    PriceStatements.shelves,
                    [.int4(storeID), .textArray(skus.map(\.text))]
                ) { try $0.map { CatalogKey(try $0.text(0))! } }
            }
        }
    }

    /// Returns the products among the given ones that exist in the store.
    func known(_ skus: [SKU], in store: CatalogKey) async throws(CatalogError) -> Set<SKU> {
        try await database.mappingErrors {
            let storeID = try await lookup.readStore(store).id
            return try await database.writes.perform(within: .shelf, of: database.owner(store)) {
                try Self.known(.textArray(skus.map(\.text)), storeID, $0)
            }
        }
    }
}

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
