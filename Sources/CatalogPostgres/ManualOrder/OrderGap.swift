internal import Catalog
internal import LibPQ
internal import Ordering

/// The target gap of a move: between two rows, which may be removed products, and between two products on the shelf.
struct OrderGap {
    var left: PathKey?
    var right: PathKey?
    var placedLeft: PathKey?
    var placedRight: PathKey?
    var leftNeighbour: String?

    /// Returns whether products with these keys already fill the gap, in this order.
    func isFilled(_ keys: [PathKey]) -> Bool {
        zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 } && (placedLeft.map { $0 < keys[0] } ?? true)
            && (placedRight.map { keys[keys.count - 1] < $0 } ?? true)
    }

    /// Returns the query for a gap; nil if the target is a position, which must be resolved first.
    static func query(_ move: OrderMove, _ scope: [PostgresValue]) -> PostgresQuery? {
        let (statement, anchor): (PostgresStatement, String?)
        switch move.target {
        case .after(let id): (statement, anchor) = (ManualOrderStatements.right, id)
        case .before(let id): (statement, anchor) = (ManualOrderStatements.left, id)
        case .first: (statement, anchor) = (ManualOrderStatements.right, nil)
        case .last: (statement, anchor) = (ManualOrderStatements.left, nil)
        case .position: return nil
        }
        return PostgresQuery(statement, scope + [.textArray(move.ids), .text(anchor)])
    }
}

extension OrderGap {
    /// - Parameter row: the keys of the anchor and of its neighbours on the gap's side.
    init(_ row: borrowing PostgresRow, _ target: OrderMove.Target) throws {
        let anchor = try row.byteaOrNil(0).map { try PathKey(bytes: $0) }
        let placed = try row.byteaOrNil(1).map { try PathKey(bytes: $0) }
        let removed = try row.byteaOrNil(3).map { try PathKey(bytes: $0) }
        let both = [removed, placed].compactMap { $0 }
        switch target {
        case .after, .first:
            (left, right) = (anchor, both.min())
            (placedLeft, placedRight) = (anchor, placed)
            leftNeighbour = if case .after(let id) = target { id } else { nil }
        case .before, .last, .position:
            (left, right) = (both.max(), anchor)
            (placedLeft, placedRight) = (placed, anchor)
            leftNeighbour = try row.textOrNil(2)
        }
    }
}
