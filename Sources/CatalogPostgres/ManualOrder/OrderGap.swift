internal import Catalog
internal import LibPQ
internal import Ordering

/// Where a move goes: between two rows, whose products may have been taken off, and two that stand on the shelf.
struct OrderGap {
    var left: PathKey?
    var right: PathKey?
    var standingLeft: PathKey?
    var standingRight: PathKey?
    var leftNeighbour: String?

    /// Whether products with these keys are there already, in this order and nothing between them.
    func holds(_ keys: [PathKey]) -> Bool {
        zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 } && (standingLeft.map { $0 < keys[0] } ?? true)
            && (standingRight.map { keys[keys.count - 1] < $0 } ?? true)
    }

    /// Finds it; nil where the target is a position, which must be looked up first.
    static func query(_ move: OrderMove, _ scope: [PostgresValue]) -> PostgresQuery? {
        let (statement, anchor): (PostgresStatement, String?)
        switch move.target {
        case .after(let id): (statement, anchor) = (OrderStatements.right, id)
        case .before(let id): (statement, anchor) = (OrderStatements.left, id)
        case .first: (statement, anchor) = (OrderStatements.right, nil)
        case .last: (statement, anchor) = (OrderStatements.left, nil)
        case .position: return nil
        }
        return PostgresQuery(statement, scope + [.textArray(move.ids), .text(anchor)])
    }

    /// - Parameter row: the anchor's key, and its neighbours' on the side where the gap is.
    init(_ row: borrowing PostgresRow, _ target: OrderMove.Target) throws {
        let anchor = try row.byteaOrNil(0).map { try PathKey(bytes: $0) }
        let standing = try row.byteaOrNil(1).map { try PathKey(bytes: $0) }
        let removed = try row.byteaOrNil(3).map { try PathKey(bytes: $0) }
        let both = [removed, standing].compactMap { $0 }
        switch target {
        case .after, .first:
            (left, right) = (anchor, both.min())
            (standingLeft, standingRight) = (anchor, standing)
            leftNeighbour = if case .after(let id) = target { id } else { nil }
        case .before, .last, .position:
            (left, right) = (both.max(), anchor)
            (standingLeft, standingRight) = (standing, anchor)
            leftNeighbour = try row.textOrNil(2)
        }
    }
}
