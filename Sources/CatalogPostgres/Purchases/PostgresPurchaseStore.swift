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
        once call: IdempotentCall<PurchaseOutcome>?
    ) async throws(CatalogError) -> PurchaseOutcome {
        try await database.mappingErrors {
            let key = try await customers.key()
            return try await database.writes.transaction(
                within: .bulk,
                of: database.owner(store),
                attempts: Self.attempts
            ) { connection in
                let found = try lookup.store(store, connection, locking: ShelfStatements.lockStoreAgainstDeletion)
                return try IdempotencyRecords(storeID: found.id).performOnce(call, connection) {
                    let outcome = try Self.add(purchases, found.id, key, connection)
                    try AuditLog.record(.purchases(outcome), in: found.id, connection)
                    return outcome
                }
            }
        }
    }

    /// How often a report of purchases is tried, within one deadline. Several folds, one after the other, may seal the cells during an attempt.
    private static let attempts = 16

    private static func add(
        _ reported: [Purchase],
        _ storeID: Int32,
        _ key: SymmetricKey,
        _ connection: isolated PostgresConnection
    ) throws -> PurchaseOutcome {
        var outcome = PurchaseOutcome()
        let intake = try Intake.read(storeID, connection)
        let purchases = reported.filter { $0.at.day >= intake.keptFrom.map(Int.init) ?? Int.min }
        outcome.tooOld = reported.count - purchases.count
        guard !purchases.isEmpty else { return outcome }
        // The first of several purchases with the same event counts.
        var reportedOnce = Set<String>()
        let single = purchases.compactMap { purchase in
            let stored = StoredPurchase(purchase, key)
            return reportedOnce.insert(stored.event).inserted ? stored : nil
        }
        let new = try connection.query(
            PurchaseStatements.recordEvents,
            [.int4(storeID), .textArray(single.map(\.event)), .int8Array(single.map(\.day))]
        ) { Set(try $0.map { try $0.text(0) }) }
        let fresh = single.filter { new.contains($0.event) }
        outcome.repeated = purchases.count - fresh.count
        if !fresh.isEmpty {
            let skus = PostgresValue.textArray(Set(fresh.map(\.sku)).sorted())
            let known = try PostgresPriceStore.known(skus, storeID, connection)
            let accepted = fresh.filter { known.contains(SKU(stored: $0.sku)) }
            let strays = fresh.filter { !known.contains(SKU(stored: $0.sku)) }
            (outcome.accepted, outcome.unknown) = (accepted.count, strays.count)
            outcome.unknownSKUs = Set(Set(strays.map(\.sku)).prefix(PurchaseOutcome.unknownLimit))
            try StoredPurchase.addToInbox(accepted, storeID, intake.cell, connection)
            if !strays.isEmpty {
                let events = PostgresValue.textArray(strays.map(\.event))
                try connection.execute(
                    PurchaseStatements.addStrays,
                    [.int4(storeID), events] + StoredPurchase.columns(strays)
                )
            }
        }
        // If event ids were purged concurrently, duplicates may have counted. If the cells were sealed, a fold may have
        // missed the rows; if they were not, the fold waits for this transaction. Retry with what holds now.
        guard try Intake.read(storeID, connection) == intake else {
            throw PostgresError(.conflict, "the retention period advanced, or a fold began concurrently")
        }
        return outcome
    }

    /// Where a store's purchases go.
    private struct Intake: Equatable {
        /// The first UTC day whose purchases are accepted; nil for any.
        let keptFrom: Int32?
        /// The first open cell.
        let cell: Int32

        static func read(_ storeID: Int32, _ connection: isolated PostgresConnection) throws -> Intake {
            try connection.query(PurchaseStatements.intake, [.int4(storeID)]) {
                try $0.first { Intake(keptFrom: try $0.int4OrNil(0), cell: Int32(try $0.int2(1))) }!
            }
        }
    }

    /// Requests that the next fold anonymizes a customer's purchases in every store; the counts stay. Until then, the
    /// purchases are stored but not exported.
    ///
    /// - Parameter isAudited: whether to record the request in the audit log; the erasure of a user has an entry already.
    func requestErasure(customer: String, isAudited: Bool = false) async throws(CatalogError) {
        try await database.mappingErrors {
            let hash = CustomerHashes.hash(customer, try await customers.key())
            try await database.writes.transaction(within: .lookup) { connection in
                _ = try connection.execute(PurchaseStatements.requestErasure, [.bytea(hash)])
                if isAudited { try AuditLog.recordAnonymization(of: hash, connection) }
            }
        }
    }

    /// Returns a customer's purchases by store and day.
    static func purchases(
        of hash: [UInt8],
        _ connection: isolated PostgresConnection
    ) throws -> [UserExport.Purchase] {
        // A customer's purchases are not exported once the customer is about to be anonymized.
        if try connection.query(PurchaseStatements.erasureOf, [.bytea(hash)], { $0.count > 0 }) { return [] }
        return try connection.query(PurchaseStatements.ofCustomer, [.bytea(hash)]) {
            try $0.map { row in
                guard let quantity = ExactDecimal(try row.text(3)) else {
                    throw PostgresError(.decoding, "invalid stored quantity")
                }
                return UserExport.Purchase(
                    store: CatalogKey(try row.text(0))!,
                    sku: SKU(stored: try row.text(1)),
                    day: Int(try row.int4(2)),
                    quantity: quantity
                )
            }
        }
    }
}
