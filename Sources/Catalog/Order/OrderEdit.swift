package import AisleDiff

/// A change of a shelf's manual order.
package enum OrderEdit: Sendable, Hashable {
    /// One after the other, all or none.
    case moves([OrderMove])
    /// The whole order; products that are left out keep their order, behind.
    case set([String])
    /// What a sort says now.
    case bake(Sort)
    /// Takes a change back: that one, or the last that still stands.
    case undo(change: Int64?)

    /// The most moves at once.
    package static let moveBound = 1000
    /// How many changes of a shelf can be taken back.
    package static let historyBound = 50

    /// - Throws: `unprocessable`, `tooLarge`.
    package func check() throws(CatalogError) {
        switch self {
        case .moves(let moves):
            guard (1...Self.moveBound).contains(moves.count) else {
                throw .unprocessable(field: "moves", detail: "1 to \(Self.moveBound) moves are made at once")
            }
            for move in moves { try move.check() }
        case .set(let ids):
            guard ids.count <= OrderDiff.listBound else {
                throw .tooLarge("an order of more than \(OrderDiff.listBound) products")
            }
            var seen = Set<String>(minimumCapacity: ids.count)
            for id in ids where !seen.insert(id).inserted {
                throw .unprocessable(field: "ids", detail: "“\(id.prefix(64))” is named twice")
            }
        case .bake(let sort):
            guard sort != .position else {
                throw .unprocessable(field: "from_sort", detail: "the manual order is what it is; name another sort")
            }
        case .undo: return
        }
    }

    /// What the history calls it.
    package var kind: String {
        switch self {
        case .moves: "move"
        case .set: "set"
        case .bake: "bake"
        case .undo: "undo"
        }
    }

    /// The whole order that it means; nil for an undo.
    ///
    /// - Parameter sorted: the shelf's products by a sort.
    package func target(from order: [String], sorted: (Sort) -> [String]) throws(CatalogError) -> [String]? {
        switch self {
        case .moves(let moves):
            var order = order
            for move in moves { order = try move.apply(to: order) }
            return order
        case .set(let ids):
            let known = Set(order)
            if let stranger = ids.first(where: { !known.contains($0) }) { throw .unknownProduct(stranger) }
            let named = Set(ids)
            return ids + order.filter { !named.contains($0) }
        case .bake(let sort): return sorted(sort)
        case .undo: return nil
        }
    }
}

/// What a client asks to change of a shelf's manual order.
package struct OrderEditRequest: Sendable {
    package var store: CatalogKey
    package var shelf: CatalogKey
    package var edit: OrderEdit
    /// The order version that the shelf must still have, where it matters.
    package var expected: Int64?
    /// Who asks, where that is known.
    package var subject: String?
    /// Only tells what would be done.
    package var isRehearsal: Bool
    /// Whether the answer has indexes, which cost a count over the shelf.
    package var wantsIndexes: Bool

    package init(
        store: CatalogKey,
        shelf: CatalogKey,
        edit: OrderEdit,
        expected: Int64? = nil,
        subject: String? = nil,
        isRehearsal: Bool = false,
        wantsIndexes: Bool = false
    ) {
        self.store = store
        self.shelf = shelf
        self.edit = edit
        self.expected = expected
        self.subject = subject
        self.isRehearsal = isRehearsal
        self.wantsIndexes = wantsIndexes
    }
}

/// What became of it.
package struct OrderEditOutcome: Sendable {
    /// A product that moved.
    package struct Moved: Sendable, Hashable {
        package var id: String
        /// Its left neighbour now; nil for the front.
        package var after: String?
        /// Its indexes before and now, where they were asked for.
        package var from: Int?
        package var to: Int?

        package init(id: String, after: String?, from: Int? = nil, to: Int? = nil) {
            self.id = id
            self.after = after
            self.from = from
            self.to = to
        }
    }

    package var version: Int64
    package var orderVersion: Int64
    /// From the front on; empty where everything was in place.
    package var moved: [Moved]
    /// The number under which the change is remembered; nil where nothing changed.
    package var change: Int64?
    /// Whether a key became so long that it is due for compaction.
    package var isLong = false

    package init(version: Int64, orderVersion: Int64, moved: [Moved], change: Int64? = nil) {
        self.version = version
        self.orderVersion = orderVersion
        self.moved = moved
        self.change = change
    }

    /// The diff in neighbour form.
    package var diff: NeighbourDiff<String> {
        NeighbourDiff(placements: moved.map { .init(id: $0.id, after: $0.after) })
    }

    /// The outcome as the API answers it.
    package var json: [UInt8] {
        var json = JSONText(reserving: 200 + 64 * moved.count)
        json.object { json in
            json.field("version", version)
            json.field("order_version", orderVersion)
            json.field("change", change)
            json.object("diff") { json in
                json.field("from_version", moved.isEmpty ? version : version - 1)
                json.field("to_version", version)
                json.field("mode", DiffMode.moves.rawValue)
                json.array("deletes", [String]()) { $0.string($1) }
                json.array("inserts", [String]()) { $0.string($1) }
                json.array("moves", moved) { json, moved in
                    json.object { json in
                        json.field("id", moved.id)
                        if let from = moved.from { json.field("from", from) }
                        if let to = moved.to { json.field("to", to) }
                        json.field("after", moved.after)
                    }
                }
                json.array("changed", [String]()) { $0.string($1) }
            }
        }
        return json.bytes
    }
}

/// A change of a shelf's manual order that is remembered.
package struct OrderChange: Sendable, Hashable {
    /// How many products of a change are listed.
    package static let shownBound = 5
    /// How many changes are remembered: those that can be taken back, and as many undos.
    package static let memoryBound = 2 * OrderEdit.historyBound

    package var number: Int64
    package var at: Timestamp
    package var subject: String?
    /// `move`, `set`, `bake` or `undo`.
    package var kind: String
    /// How many products moved, and the first few of them.
    package var count: Int
    package var ids: [String]
    package var undoes: Int64?
    package var undoneBy: Int64?

    package init(
        number: Int64,
        at: Timestamp,
        subject: String?,
        kind: String,
        count: Int,
        ids: [String],
        undoes: Int64? = nil,
        undoneBy: Int64? = nil
    ) {
        self.number = number
        self.at = at
        self.subject = subject
        self.kind = kind
        self.count = count
        self.ids = Array(ids.prefix(Self.shownBound))
        self.undoes = undoes
        self.undoneBy = undoneBy
    }
}

extension [OrderChange] {
    /// The change that an undo takes back, of changes from the latest on.
    ///
    /// Without a number it is the last that stands and is no undo itself. A change that is named must be the last that
    /// stands, an undo among them: taking an undo back does its change again.
    ///
    /// - Throws: `conflict`.
    package func undone(by number: Int64?) throws(CatalogError) -> OrderChange {
        guard let number else {
            guard let last = first(where: { $0.undoneBy == nil && $0.kind != "undo" }) else {
                throw .conflict("there is no change to take back; the last \(OrderEdit.historyBound) are remembered")
            }
            return last
        }
        guard let change = first(where: { $0.number == number }) else {
            throw .conflict("change \(number) is not among the last \(OrderEdit.historyBound)")
        }
        guard change.undoneBy == nil else { throw .conflict("change \(number) was taken back already") }
        // A change and the undo that took it back cancel out, and so do an undo and what took that one back.
        let later = prefix { $0.number != number }.first { later in
            guard later.undoneBy == nil else { return false }
            guard later.kind == "undo" else { return true }
            return change.kind == "undo" && !isUndo(later.undoes, after: change)
        }
        guard later == nil else {
            throw .conflict("change \(later!.number) was made after it; take that one back first")
        }
        return change
    }

    private func isUndo(_ number: Int64?, after change: OrderChange) -> Bool {
        contains { $0.number == number && $0.kind == "undo" && $0.number > change.number }
    }

    /// What stands and what does not, once a change was taken back by another: the changes whose mark turns.
    ///
    /// An undo that is taken back makes its change stand again; a redo that is taken back makes its undo stand again; and so on.
    package func marks(takingBack change: OrderChange, by number: Int64) -> [(number: Int64, undoneBy: Int64?)] {
        var marks: [(number: Int64, undoneBy: Int64?)] = [(change.number, number)]
        var turned = change
        var stands = false
        while turned.kind == "undo", let target = first(where: { $0.number == turned.undoes }) {
            stands.toggle()
            marks.append((target.number, stands ? nil : turned.number))
            turned = target
        }
        return marks
    }
}
