internal import Catalog
internal import LibPQ
internal import Ordering

/// Updates one shelf in a transaction that locks its row: its products' scores, the most common
/// dimension, and the manual order from its source.
struct ShelfResorter {
    let pages: PostgresPageStore
    let compactionSignal: CompactionSignal
    let request: ResortRequest
    let day: Int
    /// The shelf as listed; a guess that is verified under the lock.
    var listed: ShelfHead
    /// Whether the shelf's scores may be outdated.
    let isDue: Bool

    private var scope: [PostgresValue] { [.int4(listed.location.storeID), .int4(listed.location.shelfID)] }

    /// The result of an attempt.
    private enum Attempt: Sendable {
        case done(ShelfResort?)
        /// The shelf changed since it was listed.
        case outdated(ShelfHead)
    }

    /// - Returns: nil if nothing changed.
    func run() async throws -> ShelfResort? {
        var attempt = self
        while true {
            switch try await attempt.runOnce() {
            case .done(let report): return report
            case .outdated(let head): attempt.listed = head
            }
        }
    }

    private func runOnce() async throws -> Attempt {
        try await pages.database.batch.transaction(within: .store) { connection in
            // Imports lock shelves for a long time; wait for them.
            try PurchaseBook.runInBatch(connection)
            if request.isDryRun {
                // Lock the shelf first, like every writer of its products.
                _ = try connection.execute(ResortStatements.lock, scope)
                let store = try ShelfLookup.store(listed.store.key, connection)
                _ = try connection.execute(PopularityStatements.moveShelfStraysToInbox, scope)
                _ = try connection.execute(PopularityStatements.foldShelf, scope)
                _ = try PurchaseBook.score(store, day, listed.location.shelfID, connection)
            }
            switch try resort(connection) {
            case .done(let report):
                return request.isDryRun ? .rollback(.done(report)) : .commit(.done(report))
            case .outdated(let head): return .rollback(.outdated(head))
            }
        }
    }

    private typealias ReadStep = (PostgresQuery, (inout ShelfRead, borrowing PostgresRows) throws -> Void)

    /// Returns the statements that read and update the shelf in one round trip, assuming that the shelf is
    /// unchanged since it was listed.
    private func steps(_ shown: Sort, compares: Bool) throws -> [ReadStep] {
        var steps: [ReadStep] = [
            (
                PostgresQuery(ResortStatements.lock, scope),
                { read, rows in
                    try rows.first {
                        read.locked = try ShelfRow.head($0)
                        read.resortedVersion = try $0.int8OrNil(ShelfRow.storeWidth + ShelfRow.stateWidth)
                    }
                }
            )
        ]
        if compares {
            for query in try order(shown, listed) {
                steps.append((query, { $0.before += try $1.map { try $0.text(0) } }))
            }
        }
        if isDue {
            steps.append((PostgresQuery(PopularityStatements.copyScoresToShelf, scope), { $0.rescored = $1.affected }))
        }
        steps.append(
            (
                PostgresQuery(ResortStatements.updateDimension, scope),
                { read, rows in
                    try rows.first { row in
                        guard try row.bool(1) else { return }
                        read.dimension = try Dimension(stored: try row.int2(0))
                    }
                }
            )
        )
        let source = listed.state.shelf.positionSource
        if source != nil {
            steps.append((PostgresQuery(OrderStatements.wholeList, scope), { $0.list = try PositionList($1) }))
        }
        if compares || source != nil {
            for query in try order(source ?? shown, listed) {
                steps.append((query, { $0.after += try $1.map { try $0.text(0) } }))
            }
        }
        return steps
    }

    private func resort(_ connection: isolated PostgresConnection) throws -> Attempt {
        let start = ContinuousClock.now
        let shown = Self.sort(of: listed)
        let compares = Self.compares(listed, isDue: isDue, request)
        let steps = try steps(shown, compares: compares)
        var read = ShelfRead()
        try connection.queryBatch(steps.map(\.0)) { try steps[$0].1(&read, $1) }

        guard var head = read.locked else { return .done(nil) }
        let locked = head
        let source = head.state.shelf.positionSource
        guard source == listed.state.shelf.positionSource, Self.sort(of: head) == shown,
            head.state.comparisonDimension == listed.state.comparisonDimension
        else { return .outdated(locked) }
        if let dimension = read.dimension {
            head.state.comparisonDimension = dimension
            if source != nil || compares {
                read.after = []
                try connection.queryBatch(try order(source ?? shown, head)) {
                    read.after += try $1.map { try $0.text(0) }
                }
            }
        }
        return .done(try finish(read, head, isSnapshot: source != nil, compares: compares, start, connection))
    }

    private struct ShelfRead {
        var locked: ShelfHead?
        var resortedVersion: Int64?
        var before: [String] = []
        var after: [String] = []
        var rescored = 0
        /// The new dimension, if it changed.
        var dimension: Dimension?
        var list = PositionList([])
    }

    private func finish(
        _ reading: ShelfRead,
        _ head: ShelfHead,
        isSnapshot: Bool,
        compares: Bool,
        _ start: ContinuousClock.Instant,
        _ connection: isolated PostgresConnection
    ) throws -> ShelfResort? {
        var read = reading
        var old = read.before
        var moved = 0
        if isSnapshot {
            old = read.list.ids
            moved = try applySnapshot(&read.list, read.after, connection)
        }
        var diff: OrderDiff?
        if compares, old != read.after { moved = MoveDiff(from: old, to: read.after).moves.count }
        // For a longer list, only the number of moves is reported, as everywhere.
        if [.moves, .jsonPatch].contains(request.diffs), isSnapshot || compares, old.count <= OrderDiff.listLimit {
            diff = try OrderDiff(old: old, new: read.after, mode: .moves, fromVersion: head.state.version)
        }
        let isChanged = read.rescored > 0 || read.dimension != nil || moved > 0
        if isChanged || read.resortedVersion != head.state.version {
            try connection.executeDeferred(
                ResortStatements.finishShelf,
                scope + [.bool(isChanged), .bool(isSnapshot && moved > 0)]
            )
        }
        guard isChanged else { return nil }
        return ShelfResort(
            shelf: ShelfAddress(head.store.key, head.state.shelf.key),
            products: head.state.productCount,
            rescored: read.rescored,
            moved: moved,
            duration: ContinuousClock.now - start,
            diff: diff
        )
    }

    /// Writes only the rows that must move and returns their number.
    private func applySnapshot(
        _ list: inout PositionList,
        _ target: [String],
        _ connection: isolated PostgresConnection
    ) throws -> Int {
        let old = list.ids
        let last = list.rows.last?.key
        guard let made = try? list.reorder(to: target),
            made.allSatisfy({ $0.key.length <= PathKey.maximumLength })
        else {
            // No keys left: renumber all rows, after any removed ones.
            let keys = PathKey.appending(target.count, after: last)
            try write(zip(target, keys).map { (id: $0, key: $1) }, of: old, connection)
            return MoveDiff(from: old, to: target).moves.count
        }
        if made.contains(where: \.key.isLong) { compactionSignal.send() }
        try write(made, of: old, connection)
        return made.count
    }

    private func write(
        _ made: [(id: String, key: PathKey)],
        of placed: [String],
        _ connection: isolated PostgresConnection
    ) throws {
        guard !made.isEmpty else { return }
        let ids = made.map(\.id)
        if made.count * 2 > placed.count {
            let moved = Set(ids)
            let staying = placed.filter { !moved.contains($0) }
            try connection.executeDeferred(ResortStatements.deleteOtherPositions, scope + [.textArray(staying)])
        } else {
            try connection.executeDeferred(ResortStatements.deletePositions, scope + [.textArray(ids)])
        }
        let keys = PostgresValue.byteaArray(made.map(\.key.bytes))
        try connection.executeDeferred(ResortStatements.insertPositions, scope + [.textArray(ids), keys])
    }

    /// Returns the shelf's effective sort if a request names none.
    private static func sort(of head: ShelfHead) -> Sort { head.resolve().sort }

    /// Returns whether this re-sort can change the displayed order.
    private static func compares(_ head: ShelfHead, isDue: Bool, _ request: ResortRequest) -> Bool {
        guard request.diffs != .none, head.state.shelf.positionSource == nil else { return false }
        let keys = sort(of: head).terms.map(\.key)
        return (isDue && keys.contains(.popularity)) || keys.contains(.unitPrice)
    }

    /// Returns the queries of a whole order, in sequence.
    private func order(_ sort: Sort, _ head: ShelfHead) throws -> [PostgresQuery] {
        let request = PageRequest(store: head.store.key, shelf: head.state.shelf.key, sort: sort)
        let plan = try request.plan(for: head)
        let statement = pages.memory.statement(.init(plan, columns: .sku, isWhole: true))
        return statement.ranges.indices.map { statement.query($0, plan, listed, limit: 0) }
    }
}
