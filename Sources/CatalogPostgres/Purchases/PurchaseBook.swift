package import Catalog
internal import LibPQ

/// Folds purchases into days and counts popularity from the days. Any number may do so at once, and be killed at any
/// point: each event is folded once.
package struct PurchaseBook: Sendable {
    /// How many events are folded, and products counted, in one transaction.
    private static let batch: Int64 = 20_000

    private let catalog: PostgresCatalog

    package init(_ catalog: PostgresCatalog) { self.catalog = catalog }

    /// Folds the events of a store that came until now; returns how many.
    ///
    /// What came in of a product before it was made is folded too.
    package func fold(_ store: CatalogKey) async throws(CatalogError) -> Int {
        try await catalog.mappingErrors {
            let storeID = try await catalog.readStore(store).id
            let pool = catalog.pool
            var returned = 0
            repeat {
                returned = try await pool.transaction(within: .seconds(60)) {
                    try $0.execute(PopularityStatements.returnStrays, [.int4(storeID)])
                }
            } while returned > 0
            var folded = 0
            var last: (sku: String, number: Int64) = ("", 0)
            while true {
                try Task.checkCancellation()
                let from = last
                let (count, sku, number) = try await pool.transaction(within: .seconds(180)) { database in
                    try Self.runInBatch(database)
                    return try database.query(
                        PopularityStatements.fold,
                        [.int4(storeID), .text(from.sku), .int8(from.number), .int8(Self.batch)]
                    ) { try $0.first { (try $0.int(0), try $0.text(1), try $0.int8(2)) }! }
                }
                folded += count
                guard count > 0 else { return folded }
                last = (sku, number)
            }
        }
    }

    /// Counts the popularity of a store's products: of those that were bought or refunded; of all where what slides is
    /// counted, or the store's rule was changed. Then the shelves follow in the same transaction, and otherwise later, each in
    /// its own.
    ///
    /// - Parameter day: today's UTC day.
    /// - Returns: how many products have another score.
    package func count(_ store: CatalogKey, day: Int) async throws(CatalogError) -> Int {
        try await catalog.mappingErrors {
            let read = try await catalog.readStore(store)
            if read.store.counted.hasRule(of: read.store.rule), read.store.popularityMetric == .decay {
                if let changed = try await countDue(read, day) { return changed }
            }
            return try await countAll(store, day)
        }
    }

    /// Counts what is due, in pieces; nil where the rule was changed meanwhile.
    private func countDue(_ read: ShelfRow.StoreRead, _ day: Int) async throws -> Int? {
        var changed = 0
        var last = ""
        while true {
            try Task.checkCancellation()
            let from = last
            let piece: (changed: Int, last: String, count: Int)? = try await catalog.pool.transaction(
                within: .seconds(180)
            ) { (database) -> (changed: Int, last: String, count: Int)? in
                try Self.runInBatch(database)
                // Held against who changes the rule.
                let now = try PostgresCatalog.store(read.store.key, database, PostgresCatalog.sharedStore)
                guard now.store.rule == read.store.rule, now.store.counted == read.store.counted else { return nil }
                let key: [PostgresValue] = [.int4(read.id)]
                let (claimed, last, count) = try database.query(
                    PopularityStatements.claimDue,
                    key + [.text(from), .int8(Self.batch)]
                ) { try $0.first { (try $0.textArray(0), try $0.text(1), try $0.int(2)) }! }
                guard !claimed.isEmpty else { return (0, last, count) }
                // In a statement of its own: it sees what those who held the products have left.
                let halfLife = PostgresValue.int4(Int32(read.store.popularityHalfLifeDays))
                let scored = try database.execute(
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

    /// Counts every product of a store, in one transaction that keeps out who writes products: of what slides, and by a
    /// changed rule. By that the shelves follow at once: scores by two rules do not compare.
    private func countAll(_ store: CatalogKey, _ day: Int) async throws -> Int {
        let (changed, isAnotherRule) = try await catalog.pool.transaction(within: .seconds(600)) {
            (database) -> (Int, Bool) in
            try Self.unlimited(database)
            let read = try PostgresCatalog.store(store, database, PostgresCatalog.heldStore)
            let isAnotherRule = !read.store.counted.hasRule(of: read.store.rule)
            let key: [PostgresValue] = [.int4(read.id)]
            guard isAnotherRule || read.store.popularityMetric != .decay else { return (0, false) }
            if isAnotherRule {
                try database.execute("SELECT 1 FROM shelf WHERE store_id = $1 ORDER BY shelf_id FOR NO KEY UPDATE", key)
            }
            try database.execute(PopularityStatements.claimAll, key)
            let changed = try Self.score(read, day, isAnotherRule ? .all : .due, database)
            if isAnotherRule {
                try database.execute(PopularityStatements.carryStore, key)
                try database.execute(
                    """
                    UPDATE shelf SET version = version + 1, modified_at = now()
                    WHERE store_id = $1 AND deleted_at IS NULL
                    """,
                    key
                )
            }
            try database.execute(PopularityStatements.setCounted, key + [Self.date(day)])
            return (changed, isAnotherRule)
        }
        if isAnotherRule { catalog.changes.announce(.store(store)) }
        return changed
    }

    enum Scope {
        case all
        /// All; those that change are due.
        case due
        case shelf(Int32)
    }

    /// Scores products by the store's rule; returns how many have another score.
    static func score(
        _ read: ShelfRow.StoreRead,
        _ day: Int,
        _ scope: Scope,
        _ database: isolated PostgresConnection
    ) throws -> Int {
        let store = read.store
        guard store.popularityMetric == .decay else {
            // So long ago that it is all.
            let window = store.popularityMetric.window ?? 20_000
            let values: [PostgresValue] = [
                .int4(read.id), .int4(Int32(window)), date(day), .bool(store.popularityMetric == .trend),
            ]
            return switch scope {
            case .all: try database.execute(PopularityStatements.windowAll, values)
            case .due: try database.execute(PopularityStatements.windowDue, values)
            case .shelf(let id): try database.execute(PopularityStatements.windowShelf, values + [.int4(id)])
            }
        }
        let values: [PostgresValue] = [.int4(read.id), .int4(Int32(store.popularityHalfLifeDays))]
        return switch scope {
        case .all, .due: try database.execute(PopularityStatements.decayAll, values)
        case .shelf(let id): try database.execute(PopularityStatements.decayShelf, values + [.int4(id)])
        }
    }

    /// Forgets what is too old to be kept: customers become nobody, ids of events and what waits for products go. Once a day
    /// and store; returns how many rows.
    package func forget(_ store: CatalogKey, olderThan days: Int, day: Int) async throws(CatalogError) -> Int {
        try await catalog.mappingErrors {
            try await catalog.pool.transaction(within: .seconds(600)) { database in
                try Self.unlimited(database)
                let key: [PostgresValue] = [
                    .int4(try PostgresCatalog.store(store, database).id), Self.date(day - days),
                ]
                guard try database.execute(PopularityStatements.keepFrom, key) > 0 else { return 0 }
                return try database.execute(PopularityStatements.forgetBefore, key)
                    + database.execute(PopularityStatements.forgetEvents, key)
                    + database.execute(PopularityStatements.forgetStrays, key)
            }
        }
    }

    /// For what reads or writes a whole store: its own plan, and no hurry.
    static func unlimited(_ database: isolated PostgresConnection) throws {
        try database.run(script: "SET LOCAL lock_timeout = 0; SET LOCAL plan_cache_mode = auto")
    }

    /// For what may come behind an import.
    static func waitLong(_ database: isolated PostgresConnection) throws {
        try database.executeLater("SET LOCAL lock_timeout = '120s'")
    }

    /// For one of many transactions that are done again where they are lost: the last one of a run waits for the disk, and
    /// with it for all before. What they join is found by keys: tables that have just been filled have no statistics that would
    /// say so.
    static func runInBatch(_ database: isolated PostgresConnection) throws {
        try database.executeLater(
            """
            SELECT set_config('lock_timeout', '120s', true), set_config('synchronous_commit', 'off', true),
                set_config('enable_seqscan', 'off', true)
            """
        )
    }

    /// Ends what is due where every shelf shows it, in pieces.
    func endDue(_ storeID: Int32) async throws {
        var last = ""
        while true {
            let from = last
            let next = try await catalog.pool.transaction(within: .seconds(180)) { (database) -> String in
                try Self.runInBatch(database)
                return try database.query(
                    PopularityStatements.endDue,
                    [.int4(storeID), .text(from), .int8(Self.batch)]
                ) { try $0.first { try $0.text(0) } ?? "" }
            }
            if next.isEmpty { return }
            last = next
        }
    }

    static func date(_ day: Int) -> PostgresValue { .date(Int32(day)) }
}
