internal import AisleDiff

/// What a client asks of a shelf that is reordered.
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
    /// The caller's, which come before the shelf's own.
    package var remembered = RememberedViews.none
    /// Only the first so many of both orders are looked at.
    package var limit: Int?
    package var mode: DiffMode
    /// Whether the answer can carry the products that enter the window.
    package var carriesProducts = true

    /// The largest window: its products travel with the answer.
    package static let windowBound = 10_000

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
}
