/// An edit of a shelf's manual order.
package enum ManualOrderEdit: Sendable, Hashable {
    /// Applies moves in sequence, all or none.
    case moves([OrderMove])
    /// Sets the whole order; products that are not listed follow in their current order.
    case set([String])
    /// Copies a sort's current order into the manual order.
    case snapshot(Sort)
    /// Undoes the given change, or the last one in effect.
    case undo(change: Int64?)

    /// The maximum number of moves per edit.
    package static let moveLimit = 1000
    /// The number of changes per shelf that can be undone.
    package static let historyLimit = 50

    /// The maximum number of elements that several moves may scan in total; each scans the whole list.
    private static let workLimit = 2_000_000

    /// - Throws: `tooLarge` if the moves would take so long that other requests would have to wait.
    package static func checkWork(moves: Int, of count: Int) throws(CatalogError) {
        let limit = max(1, workLimit / max(1, count))
        guard moves <= limit else {
            throw .tooLarge("\(moves) moves in a list of \(count); the maximum is \(limit) per request")
        }
    }

    /// - Throws: `unprocessable`, `tooLarge`.
    package func check() throws(CatalogError) {
        switch self {
        case .moves(let moves):
            guard (1...Self.moveLimit).contains(moves.count) else {
                throw .unprocessable(field: "moves", detail: "moves must have 1 to \(Self.moveLimit) elements")
            }
            for move in moves { try move.check() }
        case .set(let ids):
            guard ids.count <= OrderDiff.listLimit else {
                throw .tooLarge("ids has \(ids.count) products; the maximum is \(OrderDiff.listLimit)")
            }
            if let id = ids.firstRepeat {
                throw .unprocessable(field: "ids", detail: "duplicate id “\(id.prefix(64))”")
            }
        case .snapshot(let sort):
            guard sort != .position else {
                throw .unprocessable(
                    field: "from_sort",
                    detail: "the manual order cannot be its own source; choose another sort"
                )
            }
        case .undo: return
        }
    }

    /// The kind of edit in the order history.
    package var kind: OrderChange.Kind {
        switch self {
        case .moves: .move
        case .set: .set
        case .snapshot: .snapshot
        case .undo: .undo
        }
    }

    /// Returns the order that begins with the given ids; the other products follow in their current order.
    ///
    /// - Throws: `unprocessable` for an id that is not in the order.
    package static func order(_ order: [String], beginningWith ids: [String]) throws(CatalogError) -> [String] {
        let known = Set(order)
        if let unknownID = ids.first(where: { !known.contains($0) }) { throw .unknownProduct(unknownID) }
        let named = Set(ids)
        return ids + order.filter { !named.contains($0) }
    }
}

extension [OrderMove] {
    /// Returns the order after the moves, applied in sequence.
    package func apply(to order: [String]) throws(CatalogError) -> [String] {
        var order = order
        for move in self { order = try move.apply(to: order) }
        return order
    }
}
