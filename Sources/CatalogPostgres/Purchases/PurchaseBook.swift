package import Catalog
internal import LibPQ

/// Folds purchases into days and scores products from the days. Any number may run concurrently and be killed at any
/// point: each event is folded once.
package struct PurchaseBook: Sendable {
    /// The number of events folded, or products scored, per transaction.
    private static let batchSize: Int64 = 20_000

    private let database: Database
    private var lookup: ShelfLookup { ShelfLookup(database: database) }

    package init(_ catalog: PostgresCatalog) { self.init(catalog.database) }

    init(_ database: Database) { self.database = database }

    /// Folds a store's pending events and returns their number.
    ///
    /// Includes events that arrived before their product was created.
    package func fold(_ store: CatalogKey) async throws(CatalogError) -> Int {
        try await database.mappingErrors {
            let storeID = try await lookup.readStore(store).id
            var returned = 0
            repeat {
                returned = try await database.writes.transaction(within: .bulk) {
                    try $0.execute(PopularityStatements.moveStraysToInbox, [.int4(storeID)])
                }
            } while returned > 0
            var folded = 0
            var last: (sku: String, number: Int64) = ("", 0)
            while true {
                try Task.checkCancellation()
                let from = last
                let (count, sku, number) = try await database.writes.transaction(within: .fold) {
                    connection in
                    try Self.runInBatch(connection)
                    return try connection.query(
                        PopularityStatements.fold,
                        [.int4(storeID), .text(from.sku), .int8(from.number), .int8(Self.batchSize)]
                    ) { try $0.first { (try $0.int(0), try $0.text(1), try $0.int8(2)) }! }
                }
                folded += count
                guard count > 0 else { return folded }
                last = (sku, number)
            }
        }
    }

    /// Scores a store's products: those with new purchases or refunds, or all of them for a sliding window or after the
    /// store's rule changed. After a rule change, shelves are updated in the same transaction; otherwise later, each in
    /// its own.
    ///
    /// - Parameter day: today's UTC day.
    /// - Returns: the number of products whose score changed.
    package func count(_ store: CatalogKey, day: Int) async throws(CatalogError) -> Int {
        try await database.mappingErrors {
            let read = try await lookup.readStore(store)
            if read.store.lastCount.hasSameRule(of: read.store.popularityRule), read.store.popularityMetric == .decay {
                if let changed = try await countDue(read, day) { return changed }
            }
            return try await countAll(store, day)
        }
    }

    /// Scores due products in batches; nil if the rule changed concurrently.
    private func countDue(_ read: ShelfRow.StoreRead, _ day: Int) async throws -> Int? {
        var changed = 0
        var last = ""
        while true {
            try Task.checkCancellation()
            let from = last
            let piece: (changed: Int, last: String, count: Int)? = try await database.writes.transaction(
                within: .fold
            ) { (connection) -> (changed: Int, last: String, count: Int)? in
                try Self.runInBatch(connection)
                // Lock against rule changes.
                let now = try ShelfLookup.store(read.store.key, connection, ShelfLookup.sharedStore)
                guard now.store.popularityRule == read.store.popularityRule, now.store.lastCount == read.store.lastCount
                else { return nil }
                let key: [PostgresValue] = [.int4(read.id)]
                let (claimed, last, count) = try connection.query(
                    PopularityStatements.claimDue,
                    key + [.text(from), .int8(Self.batchSize)]
                ) { try $0.first { (try $0.textArray(0), try $0.text(1), try $0.int(2)) }! }
                guard !claimed.isEmpty else { return (0, last, count) }
                // Use a separate statement, so that it sees the changes of transactions that held the locks before.
                let halfLife = PostgresValue.int4(Int32(read.store.popularityHalfLifeDays))
                let scored = try connection.execute(
                    PopularityStatements.decaySome,
                    key + [halfLife, .textArray(claimed)]
                )
                return (scored, last, count)
            }
            guard let piece else { return nil }
            changed += piece.changed
            guard piece.count > 0 else { return changed }
            last = piece.last
        }
    }

    /// Scores every product of a store in one transaction that blocks product writes: for sliding windows and after a
    /// rule change, when shelves are updated as well, because scores of two rules are not comparable.
    private func countAll(_ store: CatalogKey, _ day: Int) async throws -> Int {
        let (changed, ruleChanged) = try await database.writes.transaction(within: .maintenance) {
            (connection) -> (Int, Bool) in
            try Self.removeLimits(connection)
            let read = try ShelfLookup.store(store, connection, ShelfLookup.exclusiveStore)
            let ruleChanged = !read.store.lastCount.hasSameRule(of: read.store.popularityRule)
            let key: [PostgresValue] = [.int4(read.id)]
            guard ruleChanged || read.store.popularityMetric != .decay else { return (0, false) }
            if ruleChanged {
                try connection.execute(
                    ShelfStatements.lockAll,
                    key
                )
            }
            try connection.execute(PopularityStatements.claimAll, key)
            let changed = try Self.score(read, day, ruleChanged ? .all : .due, connection)
            if ruleChanged {
                try connection.execute(PopularityStatements.copyScoresToStore, key)
                try connection.execute(
                    ShelfStatements.touchAll,
                    key
                )
            }
            try connection.execute(PopularityStatements.setCounted, key + [Self.date(day)])
            return (changed, ruleChanged)
        }
        if ruleChanged { database.announcer.announce(.store(store)) }
        return changed
    }

    enum Scope {
        case all
        /// All products; changed ones become due.
        case due
        case shelf(Int32)
    }

    /// Scores products by the store's rule; returns the number of changed scores.
    static func score(
        _ read: ShelfRow.StoreRead,
        _ day: Int,
        _ scope: Scope,
        _ connection: isolated PostgresConnection
    ) throws -> Int {
        let store = read.store
        guard store.popularityMetric == .decay else {
            // A window so long that it covers everything.
            let window = store.popularityMetric.window ?? 20_000
            let values: [PostgresValue] = [
                .int4(read.id), .int4(Int32(window)), date(day), .bool(store.popularityMetric == .trend),
            ]
            return switch scope {
            case .all: try connection.execute(PopularityStatements.windowAll, values)
            case .due: try connection.execute(PopularityStatements.windowDue, values)
            case .shelf(let id): try connection.execute(PopularityStatements.windowShelf, values + [.int4(id)])
            }
        }
        let values: [PostgresValue] = [.int4(read.id), .int4(Int32(store.popularityHalfLifeDays))]
        return switch scope {
        case .all, .due: try connection.execute(PopularityStatements.decayAll, values)
        case .shelf(let id): try connection.execute(PopularityStatements.decayShelf, values + [.int4(id)])
        }
    }

    /// Applies the retention period: anonymizes customers, and purges event ids and stray events. Runs once a day
    /// per store; returns the number of rows.
    package func applyRetention(_ store: CatalogKey, olderThan days: Int, day: Int) async throws(CatalogError) -> Int {
        try await database.mappingErrors {
            try await database.writes.transaction(within: .maintenance) { connection in
                try Self.removeLimits(connection)
                let key: [PostgresValue] = [
                    .int4(try ShelfLookup.store(store, connection).id), Self.date(day - days),
                ]
                guard try connection.execute(PopularityStatements.advanceRetentionStart, key) > 0 else { return 0 }
                return try connection.execute(PopularityStatements.anonymizeBefore, key)
                    + connection.execute(PopularityStatements.purgeEvents, key)
                    + connection.execute(PopularityStatements.purgeStrays, key)
            }
        }
    }

    /// Configures a transaction on a whole store: custom plans and no lock timeout.
    static func removeLimits(_ connection: isolated PostgresConnection) throws {
        try connection.run(script: "SET LOCAL lock_timeout = 0; SET LOCAL plan_cache_mode = auto")
    }

    /// Configures a transaction that may wait for an import.
    static func allowLongLockWait(_ connection: isolated PostgresConnection) throws {
        try connection.executeDeferred(PopularityStatements.allowLongLockWait)
    }

    /// Configures one of many repeatable transactions. Joins use index lookups: freshly filled tables have no statistics
    /// to suggest them.
    static func runInBatch(_ connection: isolated PostgresConnection) throws {
        try connection.executeDeferred(
            PopularityStatements.runInBatch
        )
    }

    /// Clears due products whose shelves are all up to date, in batches.
    func clearDue(_ storeID: Int32) async throws {
        var last = ""
        while true {
            let from = last
            let next = try await database.writes.transaction(within: .fold) {
                (connection) -> String in
                try Self.runInBatch(connection)
                return try connection.query(
                    PopularityStatements.clearDue,
                    [.int4(storeID), .text(from), .int8(Self.batchSize)]
                ) { try $0.first { try $0.text(0) } ?? "" }
            }
            if next.isEmpty { return }
            last = next
        }
    }

    static func date(_ day: Int) -> PostgresValue { .date(Int32(day)) }
}
