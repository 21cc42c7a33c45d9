package import Catalog
internal import LibPQ

/// Scores products by their purchases. Any number of counts may run concurrently and be killed at any point.
package struct PurchaseBook: Sendable {
    /// The number of products scored per transaction.
    private static let batchSize: Int64 = 20_000

    private let database: Database
    private var lookup: ShelfLookup { ShelfLookup(database: database) }

    package init(_ catalog: PostgresCatalog) { self.init(catalog.database) }

    init(_ database: Database) { self.database = database }

    /// Scores a store's products: those with new purchases or refunds, or all of them for a sliding window or after the
    /// store's rule changed. After a rule change, shelves are updated in the same transaction; otherwise later, each in
    /// its own. Only a rule change blocks writers.
    ///
    /// - Parameters:
    ///   - day: today's UTC day.
    ///   - jobs: how many transactions score products with new purchases at the same time.
    /// - Returns: the number of products whose score changed.
    package func count(_ store: CatalogKey, day: Int, jobs: Int = 1) async throws(CatalogError) -> Int {
        try await database.mappingErrors {
            for _ in 0..<Self.ruleChangeLimit {
                let read = try await lookup.readStore(store)
                let isSameRule = read.store.lastCount.hasSameRule(of: read.store.popularityRule)
                let changed: Int? =
                    if !isSameRule {
                        try await countAll(store, day)
                    } else if read.store.popularityMetric == .decay {
                        try await countDue(read, jobs: jobs)
                    } else {
                        try await countWindow(read, day)
                    }
                if let changed { return changed }
            }
            throw CatalogError.unavailable
        }
    }

    /// How often a count starts again because the rule changed concurrently.
    private static let ruleChangeLimit = 5

    /// Scores due products by several jobs; nil if the rule changed concurrently.
    private func countDue(_ read: ShelfRow.StoreRead, jobs: Int) async throws -> Int? {
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<max(1, jobs) { group.addTask { try await countDue(read) } }
            return try await group.reduce(0) { total, changed in total.flatMap { total in changed.map { total + $0 } } }
        }
    }

    /// Scores due products in batches, except those of other jobs; nil if the rule changed concurrently.
    private func countDue(_ read: ShelfRow.StoreRead) async throws -> Int? {
        var changed = 0
        var last = ""
        while true {
            try Task.checkCancellation()
            let from = last
            let piece: (changed: Int, last: String, count: Int)? = try await database.batch.transaction(
                within: .fold
            ) { (connection) -> (changed: Int, last: String, count: Int)? in
                try Self.runInBatch(connection)
                guard try isCurrent(read, connection) else { return nil }
                let key: [PostgresValue] = [.int4(read.id)]
                let (claimed, last, count) = try connection.query(
                    PopularityStatements.claimDue,
                    key + [.text(from), .int8(Self.batchSize)]
                ) { try $0.first { (try $0.textArray(0), try $0.text(1), try $0.int(2)) }! }
                guard !claimed.isEmpty else { return (0, last, count) }
                // Use a separate statement, so that it sees the counts of folds that held the claimed rows before.
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

    /// Locks a store against imports and rule changes, and returns whether its rule and last count are as they were read.
    private func isCurrent(_ read: ShelfRow.StoreRead, _ connection: isolated PostgresConnection) throws -> Bool {
        let now = try lookup.store(read.store.key, connection, ShelfStatements.lockStoreShared).store
        return now.popularityRule == read.store.popularityRule && now.lastCount == read.store.lastCount
    }

    /// Scores every product of a store by its sliding window in batches, during which writers of other products go on;
    /// nil if the rule changed concurrently.
    private func countWindow(_ read: ShelfRow.StoreRead, _ day: Int) async throws -> Int? {
        let key = PostgresValue.int4(read.id)
        var changed = 0
        var last = ""
        while true {
            try Task.checkCancellation()
            let from = last
            let piece: (changed: Int, last: String?)? = try await database.batch.transaction(within: .fold) {
                (connection) -> (changed: Int, last: String?)? in
                try Self.runInBatch(connection)
                guard try isCurrent(read, connection) else { return nil }
                let products = try connection.query(
                    PopularityStatements.lockProducts,
                    [key, .text(from), .int8(Self.windowBatchSize)]
                ) { try $0.map { try $0.text(0) } }
                guard let last = products.last else { return (0, nil) }
                try connection.execute(PopularityStatements.claimSome, [key, .textArray(products)])
                let scored = try connection.query(
                    PopularityStatements.windowSome,
                    Self.windowValues(read, day) + [.textArray(products)]
                ) { try $0.map { try $0.text(0) } }
                if !scored.isEmpty {
                    try connection.execute(PopularityStatements.queueCounted, [key, .textArray(scored)])
                }
                return (scored.count, last)
            }
            guard let piece else { return nil }
            changed += piece.changed
            guard let next = piece.last else { break }
            last = next
        }
        let isCounted = try await database.batch.transaction(within: .fold) { connection in
            try Self.allowLongLockWait(connection)
            let now = try lookup.store(read.store.key, connection, ShelfStatements.lockStore)
            guard now.store.popularityRule == read.store.popularityRule else { return false }
            try connection.execute(PopularityStatements.setCounted, [key, Self.date(day)])
            return true
        }
        return isCounted ? changed : nil
    }

    /// The number of products scored by a window per transaction; their writers wait meanwhile.
    private static let windowBatchSize: Int64 = 2000

    /// Scores every product of a store after a rule change, in one transaction that blocks product writes. Shelves are
    /// updated as well, because scores of two rules are not comparable.
    ///
    /// - Returns: nil if another count has done it.
    private func countAll(_ store: CatalogKey, _ day: Int) async throws -> Int? {
        let changed = try await database.batch.transaction(within: .maintenance) { (connection) -> Int? in
            try Self.removeLimits(connection)
            let read = try lookup.store(store, connection, ShelfStatements.lockStoreExclusively)
            guard !read.store.lastCount.hasSameRule(of: read.store.popularityRule) else { return nil }
            let key: [PostgresValue] = [.int4(read.id)]
            try connection.execute(ShelfStatements.lockAll, key)
            try connection.execute(PopularityStatements.claimAll, key)
            let changed = try Self.score(read, day, nil, connection)
            try connection.execute(PopularityStatements.copyScoresToStore, key)
            try connection.execute(ShelfStatements.touchAll, key)
            try connection.execute(PopularityStatements.setCounted, key + [Self.date(day)])
            return changed
        }
        if changed != nil { database.announcer.announce(.store(store)) }
        return changed
    }

    /// Scores the products of some shelves, or of the whole store, by the store's rule; returns the number of changed scores.
    static func score(
        _ read: ShelfRow.StoreRead,
        _ day: Int,
        _ shelves: [Int32]?,
        _ connection: isolated PostgresConnection
    ) throws -> Int {
        let scope = shelves.map { PostgresValue.int8Array($0.map(Int64.init)) }
        if read.store.popularityMetric != .decay {
            let values = windowValues(read, day)
            guard let scope else { return try connection.execute(PopularityStatements.windowAll, values) }
            return try connection.execute(PopularityStatements.windowShelves, values + [scope])
        }
        let values: [PostgresValue] = [.int4(read.id), .int4(Int32(read.store.popularityHalfLifeDays))]
        guard let scope else { return try connection.execute(PopularityStatements.decayAll, values) }
        return try connection.execute(PopularityStatements.decayShelves, values + [scope])
    }

    /// The parameters of the statements that score by a sliding window.
    private static func windowValues(_ read: ShelfRow.StoreRead, _ day: Int) -> [PostgresValue] {
        // A window so long that it covers everything.
        let window = read.store.popularityMetric.window ?? 20_000
        return [.int4(read.id), .int4(Int32(window)), date(day), .bool(read.store.popularityMetric == .trend)]
    }

    /// Applies the retention period: anonymizes customers, and purges event ids and stray events. Runs once a day
    /// per store; returns the number of rows.
    package func applyRetention(_ store: CatalogKey, olderThan days: Int, day: Int) async throws(CatalogError) -> Int {
        try await database.mappingErrors {
            try await database.batch.transaction(within: .maintenance) { connection in
                try Self.removeLimits(connection)
                // A fold would change the purchases that are settled.
                try connection.query(PurchaseStatements.holdCells) { _ in }
                let key: [PostgresValue] = [
                    .int4(try lookup.store(store, connection).id), Self.date(day - days),
                ]
                guard try connection.execute(PurchaseStatements.advanceRetentionStart, key) > 0 else { return 0 }
                try connection.execute(PurchaseStatements.settleBefore, key)
                return try connection.execute(PurchaseStatements.anonymizeBefore, key)
                    + connection.execute(PurchaseStatements.purgeEvents, key)
                    + connection.execute(PurchaseStatements.purgeStrays, key)
            }
        }
    }

    /// Configures a transaction on a whole store: custom plans and no lock timeout.
    static func removeLimits(_ connection: isolated PostgresConnection) throws {
        try connection.set("lock_timeout", "0")
        try connection.set("plan_cache_mode", "force_custom_plan")
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

    /// Clears products whose scores are copied to all their shelves, in batches.
    ///
    /// - Parameter products: with the marks that they had before.
    func clearCopied(_ products: [(product: String, mark: Int64)], in storeID: Int32) async throws {
        var start = 0
        while start < products.count {
            let piece = products[start...].prefix(Int(Self.batchSize))
            start = piece.endIndex
            let values: [PostgresValue] = [
                .int4(storeID), .textArray(piece.map(\.product)), .int8Array(piece.map(\.mark)),
            ]
            _ = try await database.batch.transaction(within: .fold) { connection in
                try Self.runInBatch(connection)
                return try connection.execute(PopularityStatements.clearCopied, values)
            }
        }
    }

    /// Clears due products whose shelves are all up to date, in batches.
    func clearDue(_ storeID: Int32) async throws {
        var last = ""
        while true {
            let from = last
            let next = try await database.batch.transaction(within: .fold) {
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
