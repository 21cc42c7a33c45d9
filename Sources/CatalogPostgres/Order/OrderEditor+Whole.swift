internal import Catalog
internal import Ordering
internal import Postgres

// What needs the whole order: setting, baking, undoing. Only the keys that must change are written.
extension OrderEditor {
    func runWhole(_ database: isolated PostgresConnection) throws -> OrderEditOutcome {
        var list = PositionList(
            try database.query(OrderStatements.wholeList, scope) {
                try $0.map {
                    PositionList.Row(
                        id: try $0.text(0),
                        key: try PathKey(bytes: try $0.bytea(1)),
                        isRemoved: try $0.bool(2)
                    )
                }
            }
        )
        let before = list
        let old = list.ids
        var undone: OrderChange?
        let target: [String]
        if case .undo(let number) = request.edit {
            let history = try Self.history(storeID, shelf.id, database)
            let change = try history.map(\.change).undone(by: number)
            undone = change
            target = list.restoring(history.first { $0.change == change }!.lefts)
        } else {
            let baked = if case .bake(let sort) = request.edit { try sorted(sort, database) } else { [String]() }
            target = try request.edit.target(from: old) { _ in baked }!
        }
        let made: [(id: String, key: PathKey)]
        do { made = try list.reorder(to: target) } catch { throw Self.tooLong }
        guard made.allSatisfy({ $0.key.length <= PathKey.maximumLength }) else { throw Self.tooLong }
        guard !made.isEmpty || undone != nil else { throw unchanged }
        let lefts = before.lefts(of: Set(made.map(\.id)))
        var outcome = try conclude(made, lefts.map { ($0.id, $0.left ?? "") }, undoes: undone?.number, database)
        if let undone, let change = outcome.change { try mark(undone, takenBackBy: change, database) }
        outcome.moved = moved(made.map(\.id), old, target)
        outcome.isLong = made.contains { $0.key.length > Self.longKey }
        return outcome
    }

    private func moved(_ ids: [String], _ old: [String], _ new: [String]) -> [OrderEditOutcome.Moved] {
        let places = Dictionary(uniqueKeysWithValues: new.enumerated().map { ($1, $0) })
        let oldPlaces =
            request.wantsIndexes ? Dictionary(uniqueKeysWithValues: old.enumerated().map { ($1, $0) }) : [:]
        return ids.map { id in
            let place = places[id]!
            return OrderEditOutcome.Moved(
                id: id,
                after: place > 0 ? new[place - 1] : nil,
                from: oldPlaces[id],
                to: request.wantsIndexes ? place : nil
            )
        }
    }

    /// An undo of an undo makes the change stand again.
    private func mark(
        _ undone: OrderChange,
        takenBackBy change: Int64,
        _ database: isolated PostgresConnection
    ) throws {
        try database.execute(OrderStatements.markUndone, scope + [.int8(undone.number), .int8(change)])
        if undone.kind == "undo", let original = undone.undoes {
            try database.execute(OrderStatements.markUndone, scope + [.int8(original), .int8(nil)])
        }
    }

    /// The changes that are remembered, from the latest on, each with what stood before what it moved.
    static func history(
        _ storeID: Int32,
        _ shelfID: Int32,
        _ database: isolated PostgresConnection
    ) throws -> [(change: OrderChange, lefts: [(id: String, left: String?)])] {
        try database.query(OrderStatements.history, [.int4(storeID), .int4(shelfID)]) {
            try $0.map { row in
                let lefts = lefts(try row.text(6))
                let change = OrderChange(
                    number: try row.int8(0),
                    at: Timestamp(microseconds: try row.timestamptz(1)),
                    subject: try row.textOrNil(2),
                    kind: try row.text(3),
                    ids: lefts.map(\.id),
                    undoes: try row.int8OrNil(4),
                    undoneBy: try row.int8OrNil(5)
                )
                return (change, lefts)
            }
        }
    }
}
