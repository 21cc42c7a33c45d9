internal import Catalog
internal import LibPQ

/// The queue of products whose scores are due: to be computed, and then to be copied to the placements.
///
/// A row has up to a thousand products, because a row for each would cost more than the scores. Rows are added, marked once as counted, and
/// deleted. A job deletes exactly the rows that it has read and processed. Products that became due meanwhile are in separate rows. Only
/// transactions of the same microsecond may add products to one row; the changed size then shows that the row is new.
struct DueProducts: Sendable {
    /// A row, without its products.
    struct Row: Sendable {
        let firstSKU: SKU
        let mark: Int64
        let lastSKU: SKU
        let size: Int32
    }

    let database: Database
    let storeID: Int32

    /// The number of rows that a transaction deletes.
    private static let deletedRows = 20
    /// The number of transactions beyond which a fold merges the rows that they added.
    private static let transactionLimit = 256
    /// The same before products are counted, which reads those that are in several rows several times.
    private static let countedTransactionLimit = 16

    // MARK: - Counting

    /// Returns the rows whose products are counted, or are not.
    static func rows(
        areCounted: Bool,
        of storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> [Row] {
        try connection.query(DueProductStatements.rows, [.int4(storeID), .bool(areCounted)]) {
            try $0.map {
                Row(
                    firstSKU: SKU(stored: try $0.text(0)),
                    mark: try $0.int8(1),
                    lastSKU: SKU(stored: try $0.text(2)),
                    size: try $0.int4(3)
                )
            }
        }
    }

    /// Returns the rows whose products are not counted, merged if many transactions have added them.
    func uncountedRows() async throws -> [Row] {
        let rows = try await readUncountedRows()
        guard Set(rows.map(\.mark)).count > Self.countedTransactionLimit else { return rows }
        try await merge(areCounted: false)
        return try await readUncountedRows()
    }

    private func readUncountedRows() async throws -> [Row] {
        try await database.batch.perform(within: .bulk) { try Self.rows(areCounted: false, of: storeID, $0) }
    }

    /// Calls a closure with the products of uncounted rows in ascending order, in batches; returns when it returns false, or after the last one.
    ///
    /// - Parameter rows: in ascending order; products of rows that were added since may be among those of the batches.
    func forEachBatch(
        of size: Int,
        in rows: [Row],
        _ body: ([SKU]) async throws -> Bool
    ) async throws {
        guard let end = rows.map(\.lastSKU).max() else { return }
        var last = SKU(stored: "")
        while last < end {
            let (from, limit) = (last, Self.limit(of: size, after: last, in: rows) ?? end)
            let products = try await database.batch.transaction(within: .fold) { connection in
                try PurchaseBook.runInBatch(connection)
                return try connection.query(
                    DueProductStatements.uncountedProducts,
                    [.int4(storeID), .text(from.text), .text(limit.text), .int8(Int64(size))]
                ) { try $0.map { SKU(stored: try $0.text(0)) } }
            }
            if !products.isEmpty, try await !body(products) { return }
            last = products.count < size ? limit : products.last!
        }
    }

    /// Returns a product up to which the rows have enough products for a batch; nil if there are too few. The rows after this product
    /// are not read.
    private static func limit(of size: Int, after last: SKU, in rows: [Row]) -> SKU? {
        var count = 0
        for row in rows where row.lastSKU > last {
            // Rows of other folds may have the same products.
            if count > 2 * size, row.firstSKU > last { return row.firstSKU }
            count += Int(row.size)
        }
        return nil
    }

    /// Marks rows as counted.
    func markCounted(_ rows: [Row]) async throws {
        guard !rows.isEmpty else { return }
        try await database.batch.transaction(within: .fold) { connection in
            try PurchaseBook.runInBatch(connection)
            try Self.markCounted(rows, of: storeID, connection)
        }
    }

    static func markCounted(_ rows: [Row], of storeID: Int32, _ connection: isolated PostgresConnection) throws {
        try connection.execute(DueProductStatements.markCounted, [.int4(storeID)] + values(rows))
    }

    private static func values(_ rows: some Sequence<Row>) -> [PostgresValue] {
        [
            .textArray(rows.map(\.firstSKU.text)), .int8Array(rows.map(\.mark)),
            .int8Array(rows.map { Int64($0.size) }),
        ]
    }

    // MARK: - Deleting

    /// Deletes counted rows, in batches.
    ///
    /// - Parameter areCopied: whether the scores of the products are copied to all placements; otherwise rows stay in which some are not.
    func delete(_ rows: [Row], areCopied: Bool) async throws {
        for start in stride(from: 0, to: rows.count, by: Self.deletedRows) {
            let values = [.int4(storeID)] + Self.values(rows[start...].prefix(Self.deletedRows))
            try await database.batch.transaction(within: .fold) { connection in
                try PurchaseBook.runInBatch(connection)
                if areCopied {
                    try connection.execute(DueProductStatements.delete, values + [.bool(true)])
                } else {
                    try connection.execute(DueProductStatements.deleteCopied, values)
                }
            }
        }
    }

    // MARK: - Merging

    /// Merges the rows of each store that was folded often since the last re-sort. If another transaction locks a store, the next fold
    /// merges its rows.
    static func mergeRows(_ database: Database) async throws {
        let stores = try await database.batch.perform(within: .bulk) {
            try $0.query(DueProductStatements.storesToMerge, [.int8(Int64(transactionLimit))]) {
                try $0.map { (id: try $0.int4(0), areCounted: try $0.bool(1)) }
            }
        }
        for (id, areCounted) in stores {
            do {
                try await DueProducts(database: database, storeID: id).merge(areCounted: areCounted)
            } catch let error as PostgresError where error.isLockTimeout { continue }
        }
    }

    /// Replaces rows by new ones without duplicates.
    private func merge(areCounted: Bool) async throws {
        let store = PostgresValue.int4(storeID)
        try await database.batch.transaction(within: .fold) { connection in
            try PurchaseBook.runInBatch(connection)
            // The store may be deleted concurrently.
            try connection.execute(ShelfStatements.lockStoreAgainstDeletion, [store])
            let rows = try Self.rows(areCounted: areCounted, of: storeID, connection)
            try connection.execute(DueProductStatements.merge, [store, .bool(areCounted)])
            // Not those that were added in between.
            try connection.execute(DueProductStatements.delete, [store] + Self.values(rows) + [.bool(areCounted)])
        }
    }
}
