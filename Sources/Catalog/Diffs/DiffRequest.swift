internal import AisleDiff

/// A request for the diff to a shelf's order.
package struct DiffRequest: Sendable {
    /// What the client shows.
    package enum Start: Sendable {
        /// The shelf as it is asked for.
        case view(ShelfView)
        /// Any list of ids.
        case list([String])
    }

    package var store: CatalogKey
    package var shelf: CatalogKey
    package var from: Start
    package var to: ShelfView
    /// The user whose remembered sort applies where a view names none.
    package var user: UserID?
    /// Only the first so many of both orders are looked at.
    package var limit: Int?
    package var mode: DiffMode
    /// Whether the answer can carry the products that enter the window.
    package var carriesProducts = true

    /// The largest window: its products travel with the answer.
    package static let windowLimit = 10_000

    package init(
        store: CatalogKey,
        shelf: CatalogKey,
        from: Start,
        to: ShelfView = ShelfView(),
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

    /// The views whose orders are read: the one to reach, and the one that the client shows, if it is a view.
    package var views: [ShelfView] {
        if case .view(let view) = from { [to, view] } else { [to] }
    }

    /// - Throws: `malformed` for a limit out of range, `unprocessable` for a list with a repeated id, `tooLarge`.
    package func check() throws(CatalogError) {
        if let limit, !(1...Self.windowLimit).contains(limit) {
            throw .malformed(parameter: "limit", detail: "limit must be from 1 to \(Self.windowLimit)")
        }
        // All of the list, not only the part inside the window.
        if case .list(let ids) = from, limit != nil { try OrderDiff.check(ids, "from") }
    }
}
