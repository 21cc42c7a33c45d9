package import Catalog
internal import CatalogJSON
internal import Ordering
internal import Synchronization

// The reference implementation of manual orders: rearranged lists.
extension InMemoryCatalog {
    package func editOrder(
        _ request: OrderEditRequest,
        once call: IdempotentCall<ManualOrderOutcome>?
    ) async throws(CatalogError) -> ManualOrderOutcome {
        var request = request
        try request.edit.check()
        let now = clock()
        let (head, listings, attributes) = try read(request.store, request.shelf) { store, shelf in
            (self.head(store, shelf), self.listings(store, shelf), self.resolvedAttributes(of: store))
        }
        if case .snapshot(let sort) = request.edit {
            do { request.edit = .snapshot(try sort.resolved(in: attributes)) } catch {
                throw .unknownSortKey(error, parameter: "from_sort")
            }
        }
        let (dimension, collate) = (head.state.comparisonDimension, collate(head.store.language))
        func sorted(_ sort: Sort) -> [String] {
            sort.sorted(listings, dimension: dimension, collate: collate).map(\.product.sku.text)
        }
        return try write(request.store) { content throws(CatalogError) in
            if let outcome: ManualOrderOutcome = try content.responses.known(call) { return outcome }
            var shelf = content.shelves[request.shelf]!
            let versionBefore = shelf.orderVersion
            let outcome = try Self.edit(&shelf, request, now, sorted)
            guard !request.isDryRun else { return outcome }
            if outcome.change != nil, let (change, lefts) = shelf.history.first {
                let moves = OrderChange.Move.list(lefts, outcome.moved.map { ($0.id, $0.after) })
                let listed = Array(moves.prefix(AuditChange.itemLimit))
                content.record(
                    .order(request, listed, of: lefts.count, outcome, from: versionBefore, undoes: change.undoes),
                    now
                )
            }
            content.shelves[request.shelf] = shelf
            content.responses.record(outcome, call)
            return outcome
        }
    }

    private static func edit(
        _ shelf: inout ShelfContent,
        _ request: OrderEditRequest,
        _ now: Timestamp,
        _ sorted: (Sort) -> [String]
    ) throws(CatalogError) -> ManualOrderOutcome {
        if let expected = request.expected, !expected.contains(shelf.orderVersion) {
            throw .stale(current: shelf.orderVersion)
        }
        var list = PositionList(
            shelf.positions.map { .init(id: $0.text, key: $1, isRemoved: !shelf.placed.contains($0)) }
        )
        let before = list
        var undone: OrderChange?
        var made: [(id: String, key: PathKey)] = []
        let wholeOrder: [String]?
        switch request.edit {
        case .moves(let moves):
            var keys: [String: PathKey] = [:]
            for move in moves { for (id, key) in try list.apply(move) { keys[id] = key } }
            made = list.rows.compactMap { row in keys[row.id].map { (row.id, $0) } }
            wholeOrder = nil
        case .set(let ids): wholeOrder = try ManualOrderEdit.order(list.ids, beginningWith: ids)
        case .snapshot(let sort): wholeOrder = sorted(sort)
        case .undo(let number):
            let change = try shelf.history.map(\.change).undone(by: number)
            undone = change
            wholeOrder = list.restoring(shelf.history.first { $0.change == change }!.lefts)
        }
        if let wholeOrder { do { made = try list.reorder(to: wholeOrder) } catch { throw .fault("\(error)") } }
        let target = list.ids
        guard (!made.isEmpty && target != before.ids) || undone != nil else {
            return ManualOrderOutcome(
                fromVersion: shelf.version,
                version: shelf.version,
                orderVersion: shelf.orderVersion,
                moved: []
            )
        }
        let fromVersion = shelf.version
        for (id, key) in made { shelf.positions[SKU(stored: id)] = key }
        shelf.version += 1
        shelf.orderVersion += 1
        shelf.changes += 1
        let moved = ManualOrderOutcome.Moved.of(
            made.map(\.id),
            from: before.ids,
            to: target,
            indexed: request.wantsIndexes
        )
        recordChange(before.leftNeighbours(of: Set(made.map(\.id))), moved, request, undone, now, &shelf)
        return ManualOrderOutcome(
            fromVersion: fromVersion,
            version: shelf.version,
            orderVersion: shelf.orderVersion,
            moved: moved,
            change: shelf.changes
        )
    }

    private static func recordChange(
        _ lefts: [(id: String, left: String?)],
        _ moved: [ManualOrderOutcome.Moved],
        _ request: OrderEditRequest,
        _ undone: OrderChange?,
        _ now: Timestamp,
        _ shelf: inout ShelfContent
    ) {
        let marks = undone.map { shelf.history.map(\.change).undoMarks(undoing: $0, by: shelf.changes) } ?? []
        for (number, undoneBy) in marks {
            let index = shelf.history.firstIndex { $0.change.number == number }!
            shelf.history[index].change.undoneBy = undoneBy
        }
        let change = OrderChange(
            number: shelf.changes,
            at: now,
            subject: request.subject,
            kind: request.edit.kind,
            count: lefts.count,
            ids: lefts.map(\.id),
            moves: lefts.map { left in
                OrderChange.Move(id: left.id, fromAfter: left.left, toAfter: moved.first { $0.id == left.id }?.after)
            },
            undoes: undone?.number
        )
        shelf.history.insert((change, lefts), at: 0)
        shelf.history = Array(shelf.history.prefix(OrderChange.retentionLimit))
    }

    package func firstResponse(_ key: String, in store: CatalogKey?) async throws(CatalogError) -> FirstResponse? {
        guard let store else { return responses.withLock { $0.first(key) } }
        return try read(store) { content in content.responses.first(key) }
    }

    package func record(
        _ response: RecordedResponse,
        of call: IdempotentCall<RecordedResponse>,
        in store: CatalogKey?
    ) async throws(CatalogError) {
        guard let store else { return responses.withLock { $0.record(response, call) } }
        try write(store) { content in content.responses.record(response, call) }
    }

    package func orderHistory(_ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError) -> [OrderChange] {
        try read(store, shelf) { _, shelf in shelf.history.map(\.change) }
    }

    package func moveShelves(
        _ moves: [OrderMove],
        in store: CatalogKey,
        expected: Set<Int64>?,
        once call: IdempotentCall<ManualOrderOutcome>?
    ) async throws(CatalogError) -> ManualOrderOutcome {
        let edit = ManualOrderEdit.moves(moves)
        try edit.check()
        let now = clock()
        return try write(store) { content throws(CatalogError) in
            if let outcome: ManualOrderOutcome = try content.responses.known(call) { return outcome }
            if let expected, !expected.contains(content.shelfOrderVersion) {
                throw .stale(current: content.shelfOrderVersion)
            }
            let old = content.shelfOrder.filter { !content.shelves[$0]!.isRemoved }.map(\.text)
            try ManualOrderEdit.checkWork(moves: moves.count, of: old.count)
            let target = try moves.apply(to: old)
            var outcome = ManualOrderOutcome(
                fromVersion: content.shelfOrderVersion,
                version: content.shelfOrderVersion,
                orderVersion: content.shelfOrderVersion,
                moved: []
            )
            if target != old {
                content.shelfOrderVersion += 1
                outcome.orderVersion += 1
                outcome.version += 1
                let removed = content.shelfOrder.filter { content.shelves[$0]!.isRemoved }
                content.shelfOrder = target.map { CatalogKey($0)! } + removed
                let moved = Set(moves.flatMap(\.ids))
                outcome.moved = ManualOrderOutcome.Moved.of(target.filter { moved.contains($0) }, from: old, to: target)
                content.record(.shelfOrder(outcome, from: outcome.fromVersion), now)
            }
            content.responses.record(outcome, call)
            return outcome
        }
    }
}
