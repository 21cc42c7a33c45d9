package import Catalog
internal import LibPQ

/// Scores products by their purchases. Any number of counts may run concurrently and be killed at any point.
package struct PurchaseBook: Sendable {
    /// The number of products scored per transaction.
    private static let batchSize = 20_000

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
            try await attempting(Self.ruleChangeLimit) {
                let read = try await lookup.readStore(store)
                let isSameRule = read.store.lastCount.hasSameRule(of: read.store.popularityRule)
                if !isSameRule { return try await countAll(store, day) }
                return read.store.popularityMetric == .decay
                    ? try await countDue(read, jobs: jobs) : try await countWindow(read, day)
            }
        }
    }

    /// How often a count starts again because the rule changed concurrently.
    private static let ruleChangeLimit = 5

    /// Scores due products in batches, by several jobs; nil if the rule changed concurrently.
    private func countDue(_ read: ShelfRow.StoreRead, jobs: Int) async throws -> Int? {
        let due = DueProducts(database: database, storeID: read.id)
        // Whatever was folded before is counted; later purchases have rows of their own.
        let rows = try await due.uncountedRows()
        let changed = try await withThrowingTaskGroup(of: Int?.self) { group -> Int? in
            var (running, changed) = (0, Int?(0))
            func finishOne() async throws {
                guard let count = try await group.next() else { return }
                running -= 1
                changed = changed.flatMap { total in count.map { total + $0 } }
            }
            try await due.forEachBatch(of: Self.batchSize, in: rows) { products in
                if running >= max(1, jobs) { try await finishOne() }
                guard changed != nil else { return false }
                running += 1
                group.addTask { try await count(products, read) }
                return true
            }
            while running > 0 { try await finishOne() }
            return changed
        }
        if changed != nil { try await due.markCounted(rows) }
        return changed
    }

    /// Scores some products; nil if the rule changed concurrently.
    func count(_ products: [SKU], _ read: ShelfRow.StoreRead) async throws -> Int? {
        try Task.checkCancellation()
        return try await database.batch.transaction(within: .fold) { connection in
            try Self.runInBatch(connection)
            guard try isCurrent(read, connection) else { return nil }
            // Otherwise another count could score a product by more purchases first, and this one could replace its score.
            let locked = try connection.query(
                PopularityStatements.lockSome,
                [.int4(read.id), .textArray(products.map(\.text))]
            ) { try $0.map { try $0.text(0) } }
            let halfLife = PostgresValue.int4(Int32(read.store.popularityHalfLifeDays))
            return try connection.execute(
                PopularityStatements.decaySome,
                [.int4(read.id), halfLife, .textArray(locked)]
            )
        }
    }

    /// Locks a store against imports and rule changes, and returns whether its rule and last count are as they were read.
    private func isCurrent(_ read: ShelfRow.StoreRead, _ connection: isolated PostgresConnection) throws -> Bool {
        let now = try lookup.store(read.store.key, connection, locking: ShelfStatements.lockStoreShared).store
        return now.popularityRule == read.store.popularityRule && now.lastCount == read.store.lastCount
    }

    /// Scores every product of a store by its sliding window, in batches; returns nil if the rule changed concurrently.
    /// Writers of other products do not wait for a batch.
    private func countWindow(_ read: ShelfRow.StoreRead, _ day: Int) async throws -> Int? {
        let key = PostgresValue.int4(read.id)
        let due = try await DueProducts(database: database, storeID: read.id).uncountedRows()
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
                let scored = try connection.query(
                    PopularityStatements.windowSome,
                    Self.windowValues(read, day) + [.textArray(products)]
                ) { try $0.map { try $0.text(0) } }
                if !scored.isEmpty {
                    try connection.execute(DueProductStatements.queueCounted, [key, .textArray(scored)])
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
            let now = try lookup.store(read.store.key, connection, locking: ShelfStatements.lockStore)
            guard now.store.popularityRule == read.store.popularityRule else { return false }
            try connection.execute(PopularityStatements.setCounted, [key, Self.date(day)])
            try DueProducts.markCounted(due, of: read.id, connection)
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
            let read = try lookup.store(store, connection, locking: ShelfStatements.lockStoreExclusively)
            guard !read.store.lastCount.hasSameRule(of: read.store.popularityRule) else { return nil }
            let key: [PostgresValue] = [.int4(read.id)]
            try connection.execute(ShelfStatements.lockAll, key)
            try connection.execute(DueProductStatements.markAllCounted, key)
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

    static func date(_ day: Int) -> PostgresValue { .date(Int32(day)) }
}

/// The cells of the inbox, a partition each. Half of them are open for new purchases; the others are sealed and folded
/// meanwhile, or empty.
///
/// All purchases of a product that are pending in one half are in the same cell, so that cells can be folded
/// concurrently.
enum PurchaseCells {
    /// The number of cells that are open.
    static let openCount = 4
    static let all = 0..<2 * openCount

    /// A cell's table.
    static func table(_ cell: Int) -> SQL { "purchase_inbox_\(cell)" }

    /// Returns SQL for the distance of a product's cell from the first open one. It must never change for purchases that
    /// are pending.
    static func offset(_ sku: SQL) -> SQL { "get_byte(sha256(convert_to(\(sku), 'UTF8')), 0) % \(openCount)" }
}
