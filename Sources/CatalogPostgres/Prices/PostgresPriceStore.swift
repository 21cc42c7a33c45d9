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
        try PriceChange.check(prices)
        return try await database.write(to: store, within: .prices) { connection in
            let found = try lookup.store(store, connection, locking: ShelfStatements.lockStoreAgainstDeletion)
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
        let locked = try ShelfLocks.lockProductsAndShelves(of: skus, storeID, connection)
        let current = try connection.query(PriceStatements.current, [.int4(storeID), skus]) { rows in
            var current: [SKU: PriceRevision.Prices] = [:]
            try rows.forEach { row in
                current[SKU(stored: try row.text(0))] = .init(
                    price: try row.int8OrNil(1),
                    regular: try row.int8OrNil(2)
                )
            }
            return current
        }
        var changed: [PriceRevision] = []
        for change in prices {
            guard let old = current[change.sku] else { throw PriceChange.unknown(change.sku) }
            let new = change.applied(to: old)
            if new != old { changed.append(PriceRevision(change.sku, old: old, new: new)) }
        }
        try locked.check(found: current.count)
        outcome.changed = changed.count
        outcome.unchanged = prices.count - changed.count
        guard !changed.isEmpty else { return outcome }
        let changedSKUs = PostgresValue.textArray(changed.map(\.sku.text))
        try connection.executeDeferred(
            PriceStatements.write,
            [
                .int4(storeID), changedSKUs, .int8Array(changed.map(\.new.price)),
                .int8Array(changed.map(\.new.regular)), locked.lastChange,
            ]
        )
        try AuditLog.record(.prices(changed), in: storeID, connection)
        let changes = try connection.query(PlacementStatements.ofProducts, [.int4(storeID), changedSKUs]) {
            try ShelfChanges($0)
        }
        try changes.recordAndBump(in: storeID, connection)
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
    /// The prices of the given products, `$2`, that exist.
    static let current: PostgresStatement = """
        SELECT p.sku, p.price_minor, p.regular_price_minor
        FROM \(PlacementStatements.rows("product", "sku, price_minor, regular_price_minor", store: "$1", skus: "$2"))
        """
    /// Sets prices, `$3`, and regular prices, `$4`, of products, `$2`, which are locked.
    static let write: PostgresStatement = """
        UPDATE product r SET price_minor = n.price, regular_price_minor = n.regular,
            modified_at = \(SQL.nextTime(after: "r.modified_at", and: "$5"))
        FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS n (sku, price, regular) WHERE r.store_id = $1 AND r.sku = n.sku
        """
    /// The given products, `$2`, that exist.
    static let known: PostgresStatement =
        "SELECT DISTINCT p.sku FROM \(PlacementStatements.rows("product", "sku", store: "$1", skus: "$2"))"
    /// The shelves on which products, `$2`, are placed.
    static let shelves: PostgresStatement = """
        SELECT h.key FROM shelf h WHERE h.store_id = $1 AND h.shelf_id IN (
            SELECT p.shelf_id FROM \(PlacementStatements.rows("placement", "shelf_id", store: "$1", skus: "$2"))) ORDER BY h.key
        """
}
