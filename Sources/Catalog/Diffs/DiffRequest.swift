internal import AisleDiff

/// A request for the diff to a shelf's order.
package struct DiffRequest: Sendable {
    /// The order that the client shows now.
    package enum Start: Sendable {
        /// The order of the shelf in a sort.
        case sort(RequestedSort)
        /// An arbitrary list of ids.
        case list([String])
    }

    package var store: CatalogKey
    package var shelf: CatalogKey
    package var from: Start
    package var to: RequestedSort
    /// The remembered sorts before and after an edit, if the diff is the transition between them; otherwise nil.
    package private(set) var transition: (from: RememberedSorts, to: RememberedSorts)?
    /// Whether the orders have the products of the shelves below, too; nil for what the shelf says.
    package var includesDescendants: Bool?
    /// The user whose remembered sort applies if none is requested.
    package var user: UserID?
    /// The window: only the first `limit` products of both orders are compared.
    package var limit: Int?
    package var mode: DiffMode
    /// Whether the response may include the products that enter the window.
    package var includesProducts = true

    /// The largest window; its products are included in the response.
    package static let windowLimit = 10_000

    package init(
        store: CatalogKey,
        shelf: CatalogKey,
        from: Start,
        to: RequestedSort = RequestedSort(),
        limit: Int? = nil,
        mode: DiffMode = .moves
    ) {
        self.store = store
        self.shelf = shelf
        self.from = from
        self.to = to
        self.limit = limit
        self.mode = mode
    }

    /// Creates a request for the transition between what a user sees before and after an edit of a remembered sort.
    package init(
        store: CatalogKey,
        shelf: CatalogKey,
        from: RememberedSorts,
        to: RememberedSorts,
        limit: Int?
    ) {
        self.init(store: store, shelf: shelf, from: .sort(RequestedSort()), limit: limit)
        transition = (from, to)
    }

    /// The sorts whose orders are read: the target and, if the client shows one, the start.
    package var sorts: [RequestedSort] {
        if case .sort(let start) = from { [to, start] } else { [to] }
    }

    /// - Throws: `malformed` for a limit out of range or the manual order of several shelves, `unprocessable` for a list with a repeated id,
    ///   `tooLarge`.
    package func check() throws(CatalogError) {
        if includesDescendants == true {
            if to.readsPositions { throw PageRequest.positionOfSeveral("to_sort") }
            if case .sort(let from) = from, from.readsPositions { throw PageRequest.positionOfSeveral("from_sort") }
        }
        if let limit, !(1...Self.windowLimit).contains(limit) {
            throw .malformed(
                parameter: "limit",
                detail: "limit must be between 1 and \(Self.windowLimit) (got \(limit))"
            )
        }
        // Check the whole list, not only the part inside the window.
        if case .list(let ids) = from, limit != nil { try OrderDiff.check(OrderedIDs(ids), "from") }
    }
}

/// The form of a diff in a response.
package enum DiffMode: String, CaseIterable, Sendable {
    /// The minimal moves.
    case moves
    /// The minimal moves, or the whole order if more than half of the list moves.
    case auto
    /// The whole order.
    case order
}
