internal import Catalog
internal import Crypto
internal import FoundationEssentials
internal import LibPQ

/// Purchases in PostgreSQL.
struct PostgresPurchaseStore: PurchaseStore {
    let database: Database
    let customers: CustomerHashes
    private var lookup: ShelfLookup { ShelfLookup(database: database) }

    /// Adds purchases, each event once. The next re-sort counts them.
    ///
    /// - Parameter call: nil for a request without a key.
    /// - Throws: `notFound` if there is no such store.
    func add(
        _ purchases: [Purchase],
        to store: CatalogKey,
        once call: IdempotentCall?
    ) async throws(CatalogError) -> PurchaseOutcome {
        try await database.mappingErrors {
            let key = try await customers.key()
            return try await database.writes.transaction(within: .bulk) { connection in
                let found = try ShelfLookup.store(store, connection)
                return try IdempotencyRecords(storeID: found.id).performOnce(call, connection) {
                    try Self.add(purchases, found.id, key, connection)
                }
            }
        }
    }

    private static func add(
        _ reported: [Purchase],
        _ storeID: Int32,
        _ key: SymmetricKey,
        _ connection: isolated PostgresConnection
    ) throws -> PurchaseOutcome {
        var outcome = PurchaseOutcome()
        func readKeptFrom() throws -> Int32? {
            try connection.query(PopularityStatements.retentionStart, [.int4(storeID)]) {
                try $0.first { try $0.int4OrNil(0) } ?? nil
            }
        }
        let keptFrom = try readKeptFrom()
        let purchases = reported.filter { $0.at.day >= keptFrom.map(Int.init) ?? Int.min }
        outcome.tooOld = reported.count - purchases.count
        guard !purchases.isEmpty else { return outcome }
        let batch = UUID().uuidString.lowercased()
        var text = CopyText()
        var next = 0
        _ = try connection.copyIn(PopularityStatements.stage) {
            text.removeAll()
            while next < purchases.count, text.bytes.count < PostgresConnection.copyChunkSize {
                let purchase = purchases[next]
                text.field(batch)
                text.field(next)
                text.field(purchase.eventID)
                text.field(purchase.sku.text)
                text.field(Timestamp.date(ofDay: purchase.at.day))
                text.field(bytes: purchase.customer.map { CustomerHashes.hash($0, key) } ?? [])
                text.field(purchase.quantity)
                text.endRow()
                next += 1
            }
            return text.bytes
        }
        try connection.query(PopularityStatements.accept, [.int4(storeID), .text(batch)]) {
            try $0.first { row in
                outcome.accepted = try row.int(1)
                outcome.unknown = try row.int(2)
                outcome.repeated = try row.int(0) - outcome.accepted - outcome.unknown
                outcome.unknownSKUs = Set(try row.textArray(3))
            }
        }
        // If event ids were purged concurrently, duplicates may have counted: retry with the later day.
        guard try readKeptFrom() == keptFrom else {
            throw PostgresError(.conflict, "the retention period advanced concurrently")
        }
        return outcome
    }

    /// Anonymizes a customer's purchases in every store; the counts stay.
    ///
    /// - Returns: the number of anonymized rows.
    func anonymize(customer: String) async throws(CatalogError) -> Int {
        try await database.mappingErrors {
            var anonymized = 0
            for store in try await lookup.readStores().map(\.store) {
                let hash = CustomerHashes.hash(customer, try await customers.key())
                anonymized += try await database.writes.transaction(within: .bulk) { connection in
                    let key: [PostgresValue] = [.int4(try ShelfLookup.store(store.key, connection).id), .bytea(hash)]
                    try PurchaseBook.allowLongLockWait(connection)
                    // Follow the events from strays to inbox to days, so that a concurrent fold cannot miss any.
                    let strays = try connection.execute(PopularityStatements.anonymizeStrays, key)
                    _ = try connection.execute(PopularityStatements.foldCustomer, key)
                    return try connection.execute(PopularityStatements.anonymizeCustomer, key) + strays
                }
            }
            return anonymized
        }
    }

    /// Returns a customer's purchases by store and day.
    static func purchases(
        of hash: [UInt8],
        _ connection: isolated PostgresConnection
    ) throws -> [UserExport.Purchase] {
        try connection.query(PopularityStatements.ofCustomer, [.bytea(hash)]) {
            try $0.map { row in
                UserExport.Purchase(
                    store: CatalogKey(try row.text(0))!,
                    sku: SKU(stored: try row.text(1)),
                    day: Int(try row.int4(2)),
                    quantity: try row.int(3)
                )
            }
        }
    }
}
