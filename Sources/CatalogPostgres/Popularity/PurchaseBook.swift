package import Catalog
internal import Postgres

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
            try await pool.transaction(within: .seconds(60)) {
                _ = try $0.execute(PopularityStatements.returnStrays, [.int4(storeID)])
            }
            var folded = 0
            var last: (sku: String, number: Int64) = ("", 0)
            while true {
                try Task.checkCancellation()
                let from = last
                let (count, sku, number) = try await pool.transaction(within: .seconds(120)) { database in
                    try database.query(
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
            guard read.store.counted.hasRule(of: read.store.rule) else { return try await recount(store, day) }
            guard read.store.popularityMetric == .decay else {
                return try await catalog.pool.transaction(within: .seconds(600)) { database in
                    try Self.unlimited(database)
                    let changed = try Self.score(read, day, .due, database)
                    try database.execute(PopularityStatements.setCounted, [.int4(read.id), Self.date(day)])
                    return changed
                }
            }
            return try await countDue(read, day)
        }
    }

    private func countDue(_ read: ShelfRow.StoreRead, _ day: Int) async throws -> Int {
        var changed = 0
        var last = ""
        while true {
            try Task.checkCancellation()
            let from = last
            let (scored, sku, count): (Int, String, Int64) = try await catalog.pool.transaction(within: .seconds(120)) {
                (database) -> (Int, String, Int64) in
                // Marked first: who makes one of them due meanwhile waits, and it is due again.
                let (sku, count) = try database.query(
                    PopularityStatements.markCounted,
                    [.int4(read.id), .text(from), .int8(Self.batch)]
                ) { try $0.first { (try $0.text(0), try $0.int8(1)) }! }
                guard count > 0 else { return (0, "", 0) }
                let scored = try database.execute(
                    PopularityStatements.decayRange,
                    [.int4(read.id), .int4(Int32(read.store.popularityHalfLifeDays)), .text(from), .text(sku)]
                )
                return (scored, sku, count)
            }
            changed += scored
            guard count > 0 else { return changed }
            last = sku
        }
    }

    /// Counts a whole store by its changed rule, shelves and all: scores by two rules do not compare.
    private func recount(_ store: CatalogKey, _ day: Int) async throws -> Int {
        let changed = try await catalog.pool.transaction(within: .seconds(600)) { database in
            try Self.unlimited(database)
            let read = try PostgresCatalog.store(store, database, PostgresCatalog.lockedStore)
            let key: [PostgresValue] = [.int4(read.id)]
            try database.execute("SELECT 1 FROM shelf WHERE store_id = $1 ORDER BY shelf_id FOR NO KEY UPDATE", key)
            let changed = try Self.score(read, day, .all, database)
            try database.execute(PopularityStatements.carryStore, key)
            try database.execute(
                "UPDATE shelf SET version = version + 1 WHERE store_id = $1 AND deleted_at IS NULL",
                key
            )
            try database.execute(PopularityStatements.setCounted, key + [Self.date(day)])
            return changed
        }
        catalog.changes.announce(.store(store))
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
            let window = store.popularityMetric == .trend ? 7 : store.popularityMetric.window ?? 20_000
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

    static func date(_ day: Int) -> PostgresValue { .date(Int32(day)) }
}
