package import Catalog
internal import LibPQ
internal import Ordering

/// Shortens long ordering keys without changing any order.
///
/// Under the shelf's lock, a window around a long key grows until short keys fit, so that few rows are written.
/// Cursors detect the change by the shelf's key generation, and shelves in memory by its version.
package struct ManualOrderCompaction: Sendable {
    /// The target length of new keys, in bytes, if the window can grow enough.
    private static let targetKeyLength = 16
    /// The maximum number of rows on each side.
    private static let sideLimit = 512

    private let database: Database
    private var lookup: ShelfLookup { ShelfLookup(database: database) }

    package init(_ catalog: PostgresCatalog) { database = catalog.database }

    /// Compacts long keys of one shelf, one store or all stores; returns the number of rewritten keys.
    package func run(store: CatalogKey? = nil, shelf: CatalogKey? = nil) async throws(CatalogError) -> Int {
        try await database.mappingErrors {
            var storeID: Int32?
            var shelfID: Int32?
            if let store, let shelf {
                let location = try await lookup.readHead(store, shelf).location
                (storeID, shelfID) = (location.storeID, location.shelfID)
            } else if let store {
                storeID = try await lookup.readStore(store).id
            }
            var written = 0
            while true {
                let (store, shelf) = (storeID, shelfID)
                let due = try await database.batch.perform(within: .shelf) {
                    try $0.query(ManualOrderStatements.shelvesWithLongKeys, [.int4(store), .int4(shelf)]) {
                        try $0.map { (try $0.int4(0), try $0.int4(1)) }
                    }
                }
                var writtenNow = 0
                for (store, shelf) in due {
                    writtenNow += try await database.batch.transaction(within: .edit) {
                        try Self.compact(store, shelf, $0)
                    }
                }
                written += writtenNow
                guard writtenNow > 0 else { return written }
            }
        }
    }

    /// Compacts one window of one shelf.
    static func compact(_ storeID: Int32, _ shelfID: Int32, _ connection: isolated PostgresConnection) throws -> Int {
        let scope: [PostgresValue] = [.int4(storeID), .int4(shelfID)]
        try connection.execute(ShelfStatements.lock, scope)
        for long in try connection.query(ManualOrderStatements.longKeys, scope, { try $0.map { try $0.bytea(0) } }) {
            let written = try compact(around: long, storeID, shelfID, connection)
            if written > 0 { return written }
        }
        return 0
    }

    private static func compact(
        around long: [UInt8],
        _ storeID: Int32,
        _ shelfID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> Int {
        let scope: [PostgresValue] = [.int4(storeID), .int4(shelfID)]
        func rows(_ statement: PostgresStatement, _ limit: Int) throws -> [(id: String, key: PathKey)] {
            try connection.query(statement, scope + [.bytea(long), .int8(Int64(limit))]) {
                try $0.map { (try $0.text(0), try PathKey(bytes: try $0.bytea(1))) }
            }
        }
        // Read one more row on each side: the fixed neighbours.
        let before = try rows(ManualOrderStatements.rowsUpTo, Self.sideLimit + 1)
        let after = try rows(ManualOrderStatements.rowsAfter, Self.sideLimit + 1)
        var side = 4
        while true {
            let window = before.prefix(side).reversed() + after.prefix(side)
            let left = before.count > side ? before[side].key : nil
            let right = after.count > side ? after[side].key : nil
            let made = try PathKey.between(left, right, count: window.count)
            let longest = made.lazy.map(\.length).max() ?? 0
            if longest <= Self.targetKeyLength || side >= Self.sideLimit {
                guard longest < long.count else { return 0 }
                let changed = zip(window, made).filter { $0.key != $1 }
                try connection.execute(
                    ManualOrderStatements.setKeys,
                    scope + [.textArray(changed.map(\.0.id)), .byteaArray(changed.map(\.1.bytes))]
                )
                try ShelfChanges(changed.map(\.0.id), on: shelfID).record(in: storeID, connection)
                try connection.execute(ManualOrderStatements.bumpGeneration, scope)
                return changed.count
            }
            side *= 2
        }
    }
}

/// Signals to the background task that keys need compaction; signals are coalesced.
package final class CompactionSignal: Sendable {
    /// One element for any number of signals since the last one.
    package let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func send() { continuation.yield() }
}
