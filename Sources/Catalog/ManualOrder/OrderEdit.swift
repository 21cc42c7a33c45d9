/// A change of a shelf's manual order.
package enum OrderEdit: Sendable, Hashable {
    /// One after the other, all or none.
    case moves([OrderMove])
    /// The whole order; products that are left out keep their order, behind.
    case set([String])
    /// What a sort says now.
    case snapshot(Sort)
    /// Takes a change back: that one, or the last that still stands.
    case undo(change: Int64?)

    /// The most moves at once.
    package static let moveLimit = 1000
    /// How many changes of a shelf can be taken back.
    package static let historyLimit = 50

    /// The most elements that several moves together may look at: each looks at its whole list.
    private static let workLimit = 2_000_000

    /// - Throws: `tooLarge`, where so many moves of so long a list would keep others waiting.
    package static func checkWork(moves: Int, of count: Int) throws(CatalogError) {
        let most = max(1, workLimit / max(1, count))
        guard moves <= most else {
            throw .tooLarge("\(moves) moves in a list of \(count); make at most \(most) at once")
        }
    }

    /// - Throws: `unprocessable`, `tooLarge`.
    package func check() throws(CatalogError) {
        switch self {
        case .moves(let moves):
            guard (1...Self.moveLimit).contains(moves.count) else {
                throw .unprocessable(field: "moves", detail: "1 to \(Self.moveLimit) moves are made at once")
            }
            for move in moves { try move.check() }
        case .set(let ids):
            guard ids.count <= OrderDiff.listLimit else {
                throw .tooLarge("an order of more than \(OrderDiff.listLimit) products")
            }
            if let id = ids.firstRepeat {
                throw .unprocessable(field: "ids", detail: "“\(id.prefix(64))” is named twice")
            }
        case .snapshot(let sort):
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
        case .snapshot: "bake"
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
        case .snapshot(let sort): return sorted(sort)
        case .undo: return nil
        }
    }
}
