internal import Catalog
internal import LibPQ
internal import Ordering

/// Updates some shelves of a store in a transaction that locks their rows: their products' scores, their most common
/// dimensions, and their manual orders from their sources.
struct ShelfGroup: Sendable {
    let pages: PostgresPageStore
    let compactionSignal: CompactionSignal
    let request: ResortRequest
    let day: Int
    let store: CatalogKey
    let storeID: Int32
    /// The shelves, in the order of their ids, in which all writers lock them.
    let shelves: [Int32]
    /// The shelves whose scores may be outdated; others of the store, too.
    let due: DueShelves

    private func scope(_ shelves: [Int32]) -> [PostgresValue] {
        [.int4(storeID), .int8Array(shelves.map(Int64.init))]
    }

    /// Updates the shelves.
    ///
    /// - Returns: a report of each changed shelf.
    func update() async throws -> [ShelfResort] {
        let isDistributed = try await pages.database.isDistributed()
        return try await pages.database.batch.transaction(within: .store) { connection in
            let start = ContinuousClock.now
            // Imports lock shelves for a long time; wait for them.
            try PurchaseBook.runInBatch(connection)
            let locked = try lock(connection)
            if request.isDryRun { try countPurchases(isDistributed: isDistributed, connection) }
            let before = try ordersBefore(locked, connection)
            let rescored = try copyScores(connection)
            let plans = try plans(of: locked, before, rescored, connection)
            try write(plans.filter(\.isOutdated), connection)
            let duration = (ContinuousClock.now - start) / max(1, locked.count)
            let reports = plans.filter(\.isChanged).map { report($0, duration) }
            return request.isDryRun ? .rollback(reports) : .commit(reports)
        }
    }

    private func report(_ plan: ShelfPlan, _ duration: Duration) -> ShelfResort {
        ShelfResort(
            shelf: ShelfAddress(store, plan.shelf.head.state.shelf.key),
            products: plan.shelf.head.state.productCount,
            rescored: plan.rescored,
            moved: plan.moved,
            duration: duration,
            diff: plan.diff
        )
    }

    private func lock(_ connection: isolated PostgresConnection) throws -> [ResortedShelf] {
        try connection.query(ResortStatements.lock, scope(shelves)) {
            try $0.map {
                ResortedShelf(
                    head: try ShelfRow.head($0),
                    resortedVersion: try $0.int8OrNil(ShelfRow.storeWidth + ShelfRow.stateWidth)
                )
            }
        }
    }

    /// Scores the products of the shelves by their pending purchases, for a dry run.
    private func countPurchases(isDistributed: Bool, _ connection: isolated PostgresConnection) throws {
        let store = try ShelfLookup(database: pages.database).store(store, connection)
        try connection.query(PurchaseStatements.holdCells) { _ in }
        try PurchaseFold.foldShelves(scope(shelves), isDistributed: isDistributed, connection)
        _ = try PurchaseBook.score(store, day, shelves, connection)
    }

    /// Copies changed scores to the due shelves, and returns their numbers by shelf.
    private func copyScores(_ connection: isolated PostgresConnection) throws -> [Int32: Int] {
        let outdated = shelves.filter { due.ids.contains($0) }
        if outdated.isEmpty { return [:] }
        var (statement, values) = (PopularityStatements.copyScoresToShelves, scope(outdated))
        if let products = due.products {
            let placements = outdated.flatMap { shelf in products[shelf, default: []].map { (shelf, $0) } }
            statement = PopularityStatements.copyScoresOfProducts
            values = scope(placements.map(\.0)) + [.textArray(placements.map(\.1))]
        }
        return try connection.query(statement, values) { rows in
            Dictionary(uniqueKeysWithValues: try rows.map { (try $0.int4(0), try $0.int(1)) })
        }
    }

    // MARK: - Plans

    /// The orders of a shelf.
    private struct Orders {
        /// The displayed order before the scores or the dimension change; nil if it is not compared.
        var before: [String]?
        /// The order that the shelf gets.
        var after: [String] = []
        var rows: [PositionList.Row] = []
    }

    private typealias OrdersByShelf = [Int32: Orders]
    private typealias Step = (query: PostgresQuery, read: (inout OrdersByShelf, borrowing PostgresRows) throws -> Void)

    /// Returns the displayed orders that changed scores may change, before they do.
    private func ordersBefore(
        _ shelves: [ResortedShelf],
        _ connection: isolated PostgresConnection
    ) throws -> OrdersByShelf {
        var orders: OrdersByShelf = [:]
        let steps = try shelves.filter { due.ids.contains($0.id) && isDisplayCompared($0) }.flatMap {
            try stepsBefore($0)
        }
        try run(steps, &orders, connection)
        return orders
    }

    /// Plans shelves by what the transaction sees, in one round trip, or in two if a dimension changes.
    private func plans(
        of shelves: [ResortedShelf],
        _ before: OrdersByShelf,
        _ rescored: [Int32: Int],
        _ connection: isolated PostgresConnection
    ) throws -> [ShelfPlan] {
        if shelves.isEmpty { return [] }
        var orders = before
        var settled: [Int32: (dimension: Dimension, isCompared: Bool)] = [:]
        var steps: [Step] = []
        let unsettled = shelves.filter(\.mayHaveOtherProducts).map(\.id)
        if !unsettled.isEmpty {
            let query = PostgresQuery(ResortStatements.commonDimensions, scope(unsettled))
            steps.append(
                (query, { settled.merge(try Self.dimensions($1)) { $1 } })
            )
        }
        let arranged = shelves.filter { $0.source != nil }
        if !arranged.isEmpty {
            steps.append((PostgresQuery(ResortStatements.positions, scope(arranged.map(\.id))), Self.readPositions))
        }
        for shelf in shelves where shelf.source != nil || before[shelf.id] != nil {
            steps += try stepsAfter(shelf, shelf.head)
        }
        try run(steps, &orders, connection)

        // Products of these shelves are compared by another dimension than what was read.
        var rereads: [Step] = []
        for shelf in shelves {
            guard let settled = settled[shelf.id], settled.isCompared else { continue }
            orders[shelf.id]?.after = []
            if isDisplayCompared(shelf), before[shelf.id] == nil { rereads += try stepsBefore(shelf) }
            var head = shelf.head
            head.state.comparisonDimension = settled.dimension
            if shelf.source != nil || isDisplayCompared(shelf) { rereads += try stepsAfter(shelf, head) }
        }
        try run(rereads, &orders, connection)
        return try shelves.map { shelf in
            var plan = ShelfPlan(shelf: shelf, rescored: rescored[shelf.id] ?? 0)
            plan.settledDimension = settled[shelf.id]?.dimension
            plan.hasOtherDimension = settled[shelf.id]?.isCompared == true
            if let read = orders[shelf.id] { try arrange(&plan, read) }
            return plan
        }
    }

    private func arrange(_ plan: inout ShelfPlan, _ orders: Orders) throws {
        let old: [String]
        if plan.shelf.source != nil {
            let list = PositionList(orders.rows)
            old = list.ids
            plan.arrange(list, as: orders.after)
        } else if let before = orders.before {
            old = before
            if old != orders.after { plan.moved = MoveDiff(from: old, to: orders.after).moves.count }
        } else {
            return
        }
        // For a longer list, only the number of moves is reported, as everywhere.
        guard [.moves, .jsonPatch].contains(request.diffs), old.count <= OrderDiff.listLimit else { return }
        let version = plan.shelf.head.state.version
        plan.diff = try OrderDiff(old: old, new: orders.after, mode: .moves, fromVersion: version)
    }

    private func run(
        _ steps: [Step],
        _ orders: inout OrdersByShelf,
        _ connection: isolated PostgresConnection
    ) throws {
        if !steps.isEmpty { try connection.queryBatch(steps.map(\.query)) { try steps[$0].read(&orders, $1) } }
    }

    private static func dimensions(
        _ rows: borrowing PostgresRows
    ) throws -> [Int32: (dimension: Dimension, isCompared: Bool)] {
        Dictionary(
            uniqueKeysWithValues: try rows.map {
                (try $0.int4(0), (try Dimension(stored: try $0.int2(1)), try $0.bool(2)))
            }
        )
    }

    private static func readPositions(_ orders: inout OrdersByShelf, _ rows: borrowing PostgresRows) throws {
        let positions = try rows.map { row in
            let key = try PathKey(bytes: try row.bytea(2))
            return (try row.int4(0), PositionList.Row(id: try row.text(1), key: key, isRemoved: try row.bool(3)))
        }
        for (shelf, position) in positions { orders[shelf, default: Orders()].rows.append(position) }
    }

    private func stepsBefore(_ shelf: ResortedShelf) throws -> [Step] {
        try queries(of: shelf.shownSort, shelf.head).map { query in
            (
                query,
                { orders, rows in
                    orders[shelf.id, default: Orders()].before =
                        (orders[shelf.id]?.before ?? []) + (try rows.map { try $0.text(0) })
                }
            )
        }
    }

    private func stepsAfter(_ shelf: ResortedShelf, _ head: ShelfHead) throws -> [Step] {
        try queries(of: shelf.source ?? shelf.shownSort, head).map { query in
            (query, { orders, rows in orders[shelf.id, default: Orders()].after += try rows.map { try $0.text(0) } })
        }
    }

    /// Returns the queries of a whole order, in sequence.
    private func queries(of sort: Sort, _ head: ShelfHead) throws -> [PostgresQuery] {
        let plan = try PageRequest(store: store, shelf: head.state.shelf.key, sort: sort).plan(for: head)
        let statement = pages.memory.statement(.init(plan, columns: .sku, isWhole: true))
        return statement.ranges.indices.map { statement.query($0, plan, head, limit: 0) }
    }

    /// Whether the displayed order may change and is compared.
    private func isDisplayCompared(_ shelf: ResortedShelf) -> Bool {
        guard request.diffs != .none, shelf.source == nil else { return false }
        let keys = shelf.shownSort.terms.map(\.key)
        return (due.ids.contains(shelf.id) && keys.contains(.popularity)) || keys.contains(.unitPrice)
    }

    // MARK: - Writing

    /// Writes the rows of the manual orders that must move, and the shelves' rows.
    private func write(_ plans: [ShelfPlan], _ connection: isolated PostgresConnection) throws {
        if plans.isEmpty { return }
        try deletePositions(plans, connection)
        try copyPositions(plans.filter { !$0.keys.isEmpty }, connection)
        try connection.executeDeferred(
            ResortStatements.finishShelves,
            scope(plans.map(\.shelf.id)) + [
                .boolArray(plans.map(\.isChanged)), .boolArray(plans.map(\.isReordered)),
                .int8Array(plans.map { $0.settledDimension.map { Int64($0.ordinal) } }),
            ]
        )
        if plans.contains(where: \.needsCompaction) { compactionSignal.send() }
    }

    /// Deletes rows that get new keys: updates would touch as many index entries, and look each one up again.
    private func deletePositions(_ plans: [ShelfPlan], _ connection: isolated PostgresConnection) throws {
        var (shelves, products): ([Int64], [String]) = ([], [])
        for plan in plans where plan.staying == nil {
            shelves += repeatElement(Int64(plan.shelf.id), count: plan.keys.count)
            products += plan.keys.map(\.id)
        }
        if !products.isEmpty {
            let rows: [PostgresValue] = [.int4(storeID), .int8Array(shelves), .textArray(products)]
            try connection.executeDeferred(ResortStatements.deletePositions, rows)
        }
        let rebuilt = plans.filter { $0.staying != nil }
        if rebuilt.isEmpty { return }
        let staying = rebuilt.flatMap { plan in plan.staying!.map { (Int64(plan.shelf.id), $0) } }
        try connection.executeDeferred(
            ResortStatements.deleteOtherPositions,
            scope(rebuilt.map(\.shelf.id)) + [.int8Array(staying.map(\.0)), .textArray(staying.map(\.1))]
        )
    }

    private func copyPositions(_ plans: [ShelfPlan], _ connection: isolated PostgresConnection) throws {
        if plans.isEmpty { return }
        let rows = plans.lazy.flatMap { plan in plan.keys.lazy.map { (plan.shelf.id, $0.id, $0.key) } }
        try PositionCopy.run(rows, storeID, connection)
    }
}
