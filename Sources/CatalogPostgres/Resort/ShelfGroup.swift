internal import Catalog
internal import LibPQ
internal import Ordering
internal import Shelves

/// Updates some shelves of a store in a transaction that locks their rows. It updates the products' scores, the most
/// common dimensions, and the manual orders with a source.
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
    /// - Returns: a report of each changed shelf, and the shelves whose source is ignored.
    func update() async throws -> (reports: [ShelfResort], ignored: [(shelf: ShelfAddress, source: Sort)]) {
        let fold = try await pages.database.router.form(PurchaseStatements.shelfFolds)
        return try await pages.database.batch.transaction(within: .store) { connection in
            let start = ContinuousClock.now
            // Imports lock shelves for a long time; wait for them.
            try PurchaseBook.runInBatch(connection)
            let locked = try lock(connection)
            if request.isDryRun { try countPurchases(by: fold, connection) }
            var tables = try tablesBefore(locked, connection)
            let before = ordersBefore(locked, tables)
            let rescored = try copyScores(connection)
            try refresh(&tables, rescored, connection)
            let plans = try plans(of: locked, before, tables, rescored, connection)
            try write(plans.filter(\.isOutdated), connection)
            let duration = (ContinuousClock.now - start) / max(1, locked.count)
            let reports = plans.filter(\.isChanged).map { report($0, duration) }
            let ignored = locked.compactMap { shelf in
                shelf.ignoredSource.map { (shelf: ShelfAddress(store, shelf.head.state.shelf.key), source: $0) }
            }
            return request.isDryRun ? .rollback((reports, ignored)) : .commit((reports, ignored))
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
        var locked = try connection.query(ResortStatements.lock, scope(shelves)) {
            try $0.map {
                ResortedShelf(
                    located: try ShelfRow.head($0),
                    resortedVersion: try $0.int8OrNil(ShelfRow.storeWidth + ShelfRow.stateWidth)
                )
            }
        }
        if locked.contains(where: \.namesAttributes) {
            let attributes = try AttributeSets.current(storeID, connection)
            for index in locked.indices { locked[index].attributes = attributes }
        }
        return locked
    }

    /// Scores the products of the shelves by their pending purchases, for a dry run.
    ///
    /// - Parameter fold: the statements that fold the purchases.
    private func countPurchases(
        by fold: [PostgresStatement],
        _ connection: isolated PostgresConnection
    ) throws {
        let store = try ShelfLookup(database: pages.database).store(store, connection)
        try connection.query(PurchaseStatements.holdCells) { _ in }
        try PurchaseFold.foldShelves(scope(shelves), by: fold, connection)
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

    /// Returns the shelves whose products are sorted, before their scores change.
    private func tablesBefore(
        _ shelves: [ResortedShelf],
        _ connection: isolated PostgresConnection
    ) throws -> [Int32: ShelfTable] {
        var tables: [Int32: ShelfTable] = [:]
        for shelf in shelves
        where shelf.source != nil
            || (isDisplayCompared(shelf) && (due.ids.contains(shelf.id) || shelf.mayHaveOtherProducts))
        {
            tables[shelf.id] = try pages.memory.locked(shelf.located, connection)
        }
        return tables
    }

    /// Returns the displayed orders that changed scores may change, before they do.
    private func ordersBefore(_ shelves: [ResortedShelf], _ tables: [Int32: ShelfTable]) -> OrdersByShelf {
        var orders: OrdersByShelf = [:]
        for shelf in shelves where due.ids.contains(shelf.id) && isDisplayCompared(shelf) {
            orders[shelf.id] = Orders(before: ids(shelf, tables, by: shelf.shownSort, shelf.head))
        }
        return orders
    }

    /// Reads the products with changed scores again.
    private func refresh(
        _ tables: inout [Int32: ShelfTable],
        _ rescored: [Int32: Int],
        _ connection: isolated PostgresConnection
    ) throws {
        for (shelf, table) in tables where rescored[shelf, default: 0] > 0 {
            if let products = due.products?[shelf] {
                tables[shelf] = table.applying(try ShelfReader.products(products, shelf, of: storeID, connection))
            } else if let found = try ShelfReader.readWhole(shelf, of: storeID, connection) {
                tables[shelf] = found.table
            }
        }
    }

    /// Plans shelves by what the transaction sees.
    private func plans(
        of shelves: [ResortedShelf],
        _ before: OrdersByShelf,
        _ tables: [Int32: ShelfTable],
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
        if !steps.isEmpty { try connection.queryBatch(steps.map(\.query)) { try steps[$0].read(&orders, $1) } }
        return try shelves.map { shelf in
            let settled = settled[shelf.id]
            let hasOtherDimension = settled?.isCompared == true
            var head = shelf.head
            if let settled, hasOtherDimension {
                // The products were compared by another dimension before.
                head.state.comparisonDimension = settled.dimension
                if isDisplayCompared(shelf), before[shelf.id] == nil {
                    orders[shelf.id, default: Orders()].before = ids(shelf, tables, by: shelf.shownSort, shelf.head)
                }
            }
            if shelf.source != nil || orders[shelf.id]?.before != nil {
                orders[shelf.id, default: Orders()].after = ids(
                    shelf,
                    tables,
                    by: shelf.source ?? shelf.shownSort,
                    head
                )
            }
            var plan = ShelfPlan(shelf: shelf, rescored: rescored[shelf.id] ?? 0)
            plan.settledDimension = settled?.dimension
            plan.hasOtherDimension = hasOtherDimension
            if let read = orders[shelf.id] { try arrange(&plan, read) }
            return plan
        }
    }

    /// Returns the products of a shelf in the order of a sort.
    private func ids(
        _ shelf: ResortedShelf,
        _ tables: [Int32: ShelfTable],
        by sort: Sort,
        _ head: ShelfHead
    ) -> [String] { tables[shelf.id]?.ids(by: sort, of: head) ?? [] }

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
        try changes(of: plans).record(in: storeID, connection)
        try connection.executeDeferred(
            ResortStatements.finishShelves,
            scope(plans.map(\.shelf.id)) + [
                .boolArray(plans.map(\.isChanged)), .boolArray(plans.map(\.isReordered)),
                .int8Array(plans.map { $0.settledDimension.map { Int64($0.ordinal) } }),
            ]
        )
        if plans.contains(where: \.needsCompaction) { compactionSignal.send() }
    }

    /// Returns the products whose score or place in the manual order changes. Shelves of which all scores were compared are read as a whole.
    private func changes(of plans: [ShelfPlan]) -> ShelfChanges {
        var changes = ShelfChanges()
        for plan in plans where plan.isChanged && (plan.rescored == 0 || due.products != nil) {
            let rescored = plan.rescored == 0 ? [] : due.products?[plan.shelf.id] ?? []
            changes.insert(plan.keys.map(\.id) + rescored, on: plan.shelf.id)
        }
        return changes
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
