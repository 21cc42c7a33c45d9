internal import Catalog
internal import LibPQ
internal import Ordering

// Edits that need the whole order: set, snapshot and undo. Only keys that must change are written.
extension ManualOrderEditor {
    func runWhole(_ connection: isolated PostgresConnection) throws -> ManualOrderOutcome {
        var list = try connection.query(ManualOrderStatements.wholeList, scope) { try PositionList($0) }
        let before = list
        let old = list.ids
        guard old.count <= OrderDiff.listLimit else {
            throw CatalogError.tooLarge(
                "a shelf with more than \(OrderDiff.listLimit) products only supports moves"
            )
        }
        var history: [OrderChange] = []
        var undone: OrderChange?
        let target: [String]
        switch request.edit {
        case .moves(let moves): target = try moves.apply(to: old)
        case .set(let ids): target = try ManualOrderEdit.order(old, beginningWith: ids)
        case .snapshot(let sort): target = try ids(by: sort, connection)
        case .undo(let number):
            history = try Self.history(storeID, shelf.id, connection)
            let change = try history.undone(by: number)
            undone = change
            target = list.restoring(try leftNeighbours(of: change, connection))
        }
        let made: [(id: String, key: PathKey)]
        do { made = try list.reorder(to: target) } catch PathKeyError.outOfRange { throw Self.tooLong }
        guard made.allSatisfy({ $0.key.length <= PathKey.maximumLength }) else { throw Self.tooLong }
        guard !made.isEmpty || undone != nil else { return unchanged }
        let lefts = before.leftNeighbours(of: Set(made.map(\.id)))
        let moved = ManualOrderOutcome.Moved.of(made.map(\.id), from: old, to: target, indexed: request.wantsIndexes)
        var outcome = try finish(
            made,
            lefts.map { ($0.id, $0.left ?? "") },
            moved.map { ($0.id, $0.after) },
            undoes: undone?.number,
            connection
        )
        if let undone, let change = outcome.change {
            for (number, undoneBy) in history.undoMarks(undoing: undone, by: change) {
                try connection.execute(ManualOrderStatements.markUndone, scope + [.int8(number), .int8(undoneBy)])
            }
        }
        outcome.moved = moved
        outcome.needsCompaction = made.contains(where: \.key.isLong)
        return outcome
    }

    /// Returns the products that a change moved, with their former left neighbours.
    private func leftNeighbours(
        of change: OrderChange,
        _ connection: isolated PostgresConnection
    ) throws -> [(id: String, left: String?)] {
        Self.leftNeighbours(
            try connection.query(ManualOrderStatements.movedBy, scope + [.int8(change.number)]) {
                try $0.first { try $0.text(0) }
            } ?? ""
        )
    }

    /// Returns the recorded changes, the latest first.
    static func history(
        _ storeID: Int32,
        _ shelfID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> [OrderChange] {
        try connection.query(ManualOrderStatements.history, [.int4(storeID), .int4(shelfID)]) {
            try $0.map { row in
                let number = try row.int8(0)
                let lefts = leftNeighbours(try row.text(6)).prefix(OrderChange.shownLimit)
                let afters = newNeighbours(try row.textOrNil(8), of: number)
                return OrderChange(
                    number: number,
                    at: Timestamp(microseconds: try row.timestamptz(1)),
                    subject: try row.textOrNil(2),
                    kind: try OrderChange.Kind(stored: try row.text(3)),
                    count: Int(try row.int4(7)),
                    ids: lefts.map(\.id),
                    moves: lefts.compactMap { moved in
                        afters[moved.id].map { OrderChange.Move(id: moved.id, fromAfter: moved.left, toAfter: $0) }
                    },
                    undoes: try row.int8OrNil(4),
                    undoneBy: try row.int8OrNil(5)
                )
            }
        }
    }
}

extension OrderChange.Kind {
    fileprivate init(stored text: String) throws {
        guard let kind = Self(rawValue: text) else {
            throw PostgresError(.decoding, "invalid stored kind of change “\(text)”")
        }
        self = kind
    }
}

extension PositionList {
    /// Reads a list from rows of id, key and removal flag.
    init(_ rows: borrowing PostgresRows) throws {
        self.init(
            try rows.map {
                Row(id: try $0.text(0), key: try PathKey(bytes: try $0.bytea(1)), isRemoved: try $0.bool(2))
            }
        )
    }
}
