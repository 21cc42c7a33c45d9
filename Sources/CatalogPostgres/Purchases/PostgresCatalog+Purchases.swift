package import Catalog
internal import Crypto
internal import FoundationEssentials
internal import LibPQ
internal import Synchronization

extension PostgresCatalog {
    /// Takes purchases in: each event once, however often it is told. Their popularity is counted by the next re-sort.
    ///
    /// - Parameter call: nil for a request without a key.
    /// - Throws: `notFound`, where there is no such store.
    package func add(
        _ purchases: [Purchase],
        to store: CatalogKey,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (PurchaseOutcome) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer {
        try await mappingErrors {
            let key = try await customerKey()
            return try await pool.transaction(within: .seconds(60)) { database in
                let found = try Self.store(store, database)
                return try IdempotencyRecords(storeID: found.id).once(call, database) {
                    render(try Self.add(purchases, found.id, key, database))
                }
            }
        }
    }

    private static func add(
        _ told: [Purchase],
        _ storeID: Int32,
        _ key: SymmetricKey,
        _ database: isolated PostgresConnection
    ) throws -> PurchaseOutcome {
        var outcome = PurchaseOutcome()
        func readKeptFrom() throws -> Int32? {
            try database.query(PopularityStatements.keptFrom, [.int4(storeID)]) {
                try $0.first { try $0.int4OrNil(0) } ?? nil
            }
        }
        let keptFrom = try readKeptFrom()
        let purchases = told.filter { $0.at.day >= keptFrom.map(Int.init) ?? Int.min }
        outcome.tooOld = told.count - purchases.count
        guard !purchases.isEmpty else { return outcome }
        let batch = UUID().uuidString.lowercased()
        var text = CopyText()
        var next = 0
        _ = try database.copyIn(PopularityStatements.stage) {
            text.removeAll()
            while next < purchases.count, text.bytes.count < PostgresConnection.copyPieceSize {
                let purchase = purchases[next]
                text.field(batch)
                text.field(next)
                text.field(purchase.eventID)
                text.field(purchase.sku.text)
                text.field(Timestamp.date(ofDay: purchase.at.day))
                text.field(bytes: purchase.customer.map { customerHash($0, key) } ?? [])
                text.field(purchase.quantity)
                text.endRow()
                next += 1
            }
            return text.bytes
        }
        try database.query(PopularityStatements.accept, [.int4(storeID), .text(batch)]) {
            try $0.first { row in
                outcome.accepted = try row.int(1)
                outcome.unknown = try row.int(2)
                outcome.repeated = try row.int(0) - outcome.accepted - outcome.unknown
                outcome.unknownSKUs = Set(try row.textArray(3))
            }
        }
        // Ids that were forgotten meanwhile may have counted twice: again, by the later day.
        guard try readKeptFrom() == keptFrom else {
            throw PostgresError(.server, "the days that are kept moved on meanwhile", sqlState: .serializationFailure)
        }
        return outcome
    }

    /// What stands for a customer: a keyed hash, which tells nothing without the deployment's key.
    static func customerHash(_ customer: String, _ key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data(customer.trimmed.utf8), using: key).prefix(16))
    }

    func customerKey() async throws -> SymmetricKey {
        if let key = customerKeyMemory.withLock({ $0 }) { return key }
        let bytes = try await pool.perform(within: .seconds(5)) {
            try $0.query("SELECT customer_key FROM deployment WHERE deployment_id = 1") {
                try $0.first { try $0.bytea(0) }
            }
        }
        guard let bytes else { throw CatalogError.fault("the deployment has no key of customers") }
        let key = SymmetricKey(data: bytes)
        customerKeyMemory.withLock { $0 = key }
        return key
    }

    /// Makes what a customer bought nobody's, in every store: what it counts stays.
    ///
    /// - Returns: how many rows had the customer.
    package func forget(customer: String) async throws(CatalogError) -> Int {
        var forgotten = 0
        for store in try await stores() {
            forgotten += try await mappingErrors {
                let hash = Self.customerHash(customer, try await customerKey())
                return try await pool.transaction(within: .seconds(60)) { database in
                    let key: [PostgresValue] = [.int4(try Self.store(store.key, database).id), .bytea(hash)]
                    try PurchaseBook.waitLong(database)
                    // Step by step behind who folds at the same time: from strays to the inbox, from there to days.
                    let strays = try database.execute(PopularityStatements.forgetStrayCustomer, key)
                    _ = try database.execute(PopularityStatements.foldCustomer, key)
                    return try database.execute(PopularityStatements.forgetCustomer, key) + strays
                }
            }
        }
        return forgotten
    }

    /// What a customer bought, by store and day.
    static func purchases(
        of hash: [UInt8],
        _ database: isolated PostgresConnection
    ) throws -> [UserExport.Purchase] {
        try database.query(PopularityStatements.ofCustomer, [.bytea(hash)]) {
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
