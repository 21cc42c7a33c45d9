package import Catalog
internal import LibPQ
internal import Ordering
internal import Synchronization

extension PostgresCatalog {
    package func editOrder(
        _ request: OrderEditRequest,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (OrderEditOutcome) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer {
        try request.edit.check()
        return try await mappingErrors {
            let isLong = Mutex(false)
            // Told once the keys can be seen.
            defer { if isLong.withLock({ $0 }) { longKeys.note() } }
            do {
                let answer = try await pool.transaction(within: .seconds(30)) { [self] database in
                    let store = try Self.store(request.store, database)
                    return try IdempotencyRecords(storeID: store.id).once(call, database) {
                        let editor = try OrderEditor(request, store.id, database) { sort, database in
                            try self.ids(of: request, by: sort, database)
                        }
                        let outcome = try editor.run(database)
                        let answer = render(outcome)
                        if request.isRehearsal { throw Rehearsal(answer: answer) }
                        if outcome.isLong { isLong.withLock { $0 = true } }
                        return answer
                    }
                }
                changes.announce(.store(request.store))
                return answer
            } catch let rehearsal as Rehearsal {
                return rehearsal.answer
            } catch let unchanged as OrderEditor.Unchanged {
                // The answer is remembered all the same: later the same request may not be in place any more.
                return try await pool.transaction(within: .seconds(5)) { database in
                    let store = try Self.store(request.store, database)
                    return try IdempotencyRecords(storeID: store.id).once(call, database) { render(unchanged.outcome) }
                }
            }
        }
    }

    /// Carries the answer out of a transaction that is rolled back.
    private struct Rehearsal: Error {
        let answer: RecordedAnswer
    }

    private func ids(
        of request: OrderEditRequest,
        by sort: Sort,
        _ database: isolated PostgresConnection
    ) throws -> [String] {
        let read = try Self.head(request.store, request.shelf, database)
        return try order(PageRequest(store: request.store, shelf: request.shelf, sort: sort), read, nil, database).ids
    }

    package func recall(_ key: String, in store: CatalogKey?) async throws(CatalogError) -> FirstAnswer? {
        try await mappingErrors {
            let storeID = try await answerStore(store)
            return try await pool.perform(within: .seconds(5)) {
                try IdempotencyRecords(storeID: storeID).recall(key, $0)
            }
        }
    }

    package func record(
        _ answer: RecordedAnswer,
        of call: IdempotentCall,
        in store: CatalogKey?
    ) async throws(CatalogError) {
        try await mappingErrors {
            let storeID = try await answerStore(store)
            try await pool.perform(within: .seconds(5)) {
                try IdempotencyRecords(storeID: storeID).keep(answer, call, $0)
            }
        }
    }

    /// The store under whose number an answer is kept: 0 for none.
    private func answerStore(_ store: CatalogKey?) async throws -> Int32 {
        if let store { try await readStore(store).id } else { 0 }
    }

    /// Deletes recorded answers that are too old; returns how many.
    package func sweepAnswers() async throws(CatalogError) -> Int {
        try await mappingErrors {
            try await pool.transaction(within: .seconds(10)) { try IdempotencyRecords.sweep($0) }
        }
    }

    package func orderHistory(
        _ store: CatalogKey,
        _ shelf: CatalogKey
    ) async throws(CatalogError) -> [OrderChange] {
        try await mappingErrors {
            let head = try await readHead(store, shelf)
            return try await pool.perform(within: .seconds(5)) {
                try OrderEditor.history(head.storeID, head.shelfID, $0)
            }
        }
    }

    package func moveShelves(
        _ moves: [OrderMove],
        in store: CatalogKey,
        expected: Int64?,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (OrderEditOutcome) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer {
        let edit = OrderEdit.moves(moves)
        try edit.check()
        return try await mappingErrors {
            try await pool.transaction(within: .seconds(10)) { database in
                let found = try Self.store(store, database)
                return try IdempotencyRecords(storeID: found.id).once(call, database) {
                    try render(Self.moveShelves(edit, found, expected, database))
                }
            }
        }
    }

    private static func moveShelves(
        _ edit: OrderEdit,
        _ store: ShelfRow.StoreRead,
        _ expected: Int64?,
        _ database: isolated PostgresConnection
    ) throws -> OrderEditOutcome {
        let orderVersion = try database.query(
            "SELECT shelf_order_version FROM store WHERE store_id = $1 FOR NO KEY UPDATE",
            [.int4(store.id)]
        ) { try $0.first { try $0.int8(0) }! }
        if let expected, expected != orderVersion { throw CatalogError.stale(current: orderVersion) }
        // In the order in which every writer locks them.
        try database.execute(
            "SELECT 1 FROM shelf WHERE store_id = $1 ORDER BY shelf_id FOR NO KEY UPDATE",
            [.int4(store.id)]
        )
        var list = try database.query(
            "SELECT key, position, deleted_at IS NOT NULL FROM shelf WHERE store_id = $1",
            [.int4(store.id)]
        ) { try PositionList($0) }
        let old = list.ids
        if case .moves(let moves) = edit { try OrderEdit.checkWork(moves: moves.count, of: old.count) }
        let target = try edit.target(from: old) { _ in [] }!
        let made = try list.reorder(to: target)
        var outcome = OrderEditOutcome(version: orderVersion, orderVersion: orderVersion, moved: [])
        guard !made.isEmpty else { return outcome }
        var written = made
        if made.contains(where: { $0.key.length > OrderEditor.longKey }) {
            // A store has few shelves: all of them anew.
            let keys = PathKey.appending(list.rows.count, after: nil)
            written = zip(list.rows, keys).map { (id: $0.id, key: $1) }
        }
        try database.execute(
            """
            UPDATE shelf h SET position = made.position FROM unnest($2, $3) AS made (key, position)
            WHERE h.store_id = $1 AND h.key = made.key
            """,
            [.int4(store.id), .textArray(written.map(\.id)), .byteaArray(written.map(\.key.bytes))]
        )
        try database.execute(
            "UPDATE store SET shelf_order_version = shelf_order_version + 1 WHERE store_id = $1",
            [.int4(store.id)]
        )
        outcome.orderVersion += 1
        outcome.version += 1
        outcome.moved = OrderEditOutcome.Moved.of(made.map(\.id), from: old, to: target)
        return outcome
    }
}
