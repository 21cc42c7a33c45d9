internal import Catalog
internal import LibPQ
internal import Ordering

extension PostgresShelfStore {
    func moveShelves(
        _ moves: [OrderMove],
        in store: CatalogKey,
        expected: Set<Int64>?,
        once call: IdempotentCall<ManualOrderOutcome>?
    ) async throws(CatalogError) -> ManualOrderOutcome {
        try ManualOrderEdit.moves(moves).check()
        return try await database.mappingErrors {
            try await database.writes.transaction(within: .edit, of: database.owner(store)) { connection in
                let found = try lookup.store(store, connection, locking: ShelfStatements.lockStore)
                return try IdempotencyRecords(storeID: found.id).performOnce(call, connection) {
                    try Self.moveShelves(moves, found, expected, connection)
                }
            }
        }
    }

    private static func moveShelves(
        _ moves: [OrderMove],
        _ store: ShelfRow.StoreRead,
        _ expected: Set<Int64>?,
        _ connection: isolated PostgresConnection
    ) throws -> ManualOrderOutcome {
        let orderVersion = try connection.query(
            ShelfStatements.shelfOrderVersion,
            [.int4(store.id)]
        ) { try $0.first { try $0.int8(0) }! }
        if let expected, !expected.contains(orderVersion) { throw CatalogError.stale(current: orderVersion) }
        // Lock in the same order as every writer.
        try connection.execute(
            ShelfStatements.lockAll,
            [.int4(store.id)]
        )
        var list = try connection.query(
            ShelfStatements.positions,
            [.int4(store.id)]
        ) { try PositionList($0) }
        let old = list.ids
        try ManualOrderEdit.checkWork(moves: moves.count, of: old.count)
        let target = try moves.apply(to: old)
        let made = try list.reorder(to: target)
        var outcome = ManualOrderOutcome(
            fromVersion: orderVersion,
            version: orderVersion,
            orderVersion: orderVersion,
            moved: []
        )
        guard !made.isEmpty else { return outcome }
        var written = made
        if made.contains(where: \.key.isLong) {
            // A store has few shelves: renumber all of them.
            let keys = PathKey.appending(list.rows.count, after: nil)
            written = zip(list.rows, keys).map { (id: $0.id, key: $1) }
        }
        try connection.execute(
            ShelfStatements.setPositions,
            [.int4(store.id), .textArray(written.map(\.id)), .byteaArray(written.map(\.key.bytes))]
        )
        outcome.orderVersion = try connection.query(
            ShelfStatements.bumpShelfOrder,
            [.int4(store.id)]
        ) { try $0.first { try $0.int8(0) }! }
        outcome.version = outcome.orderVersion
        outcome.moved = ManualOrderOutcome.Moved.of(made.map(\.id), from: old, to: target)
        try AuditLog.record(.shelfOrder(outcome, from: orderVersion), in: store.id, connection)
        return outcome
    }
}
