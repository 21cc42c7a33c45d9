/// The totals of a re-sort.
package struct ResortSummary: Sendable, Hashable {
    /// The number of folded purchase events.
    package var events = 0
    /// Whether further events remain, because another session locked them.
    package var isFoldPostponed = false
    /// The number of products whose score changed.
    package var products = 0
    /// The number of processed shelves, and of changed ones.
    package var shelves = 0
    package var changed = 0
    package var moved = 0

    package init() {}

    /// Adds the totals of another part of the re-sort.
    package mutating func add(_ other: ResortSummary) {
        events += other.events
        isFoldPostponed = isFoldPostponed || other.isFoldPostponed
        products += other.products
        shelves += other.shelves
        changed += other.changed
        moved += other.moved
    }

    /// Whether anything changed, or would change.
    package var isChange: Bool { events > 0 || products > 0 || changed > 0 }

    package var counts: [(name: String, count: Int)] {
        [("events", events), ("products", products), ("shelves", shelves), ("changed", changed), ("moved", moved)]
    }
}

/// The result of a re-sort, or of its dry run, for one shelf.
package struct ShelfResort: Sendable {
    package var shelf: ShelfAddress
    package var products: Int
    /// The number of products on the shelf whose score changed.
    package var rescored: Int
    /// The number of moved products: in the manual order if it has a source sort, otherwise in the displayed order.
    package var moved: Int
    package var duration: Duration
    /// The moves, if requested.
    package var diff: OrderDiff?

    package init(
        shelf: ShelfAddress,
        products: Int,
        rescored: Int = 0,
        moved: Int = 0,
        duration: Duration = .zero,
        diff: OrderDiff? = nil
    ) {
        self.shelf = shelf
        self.products = products
        self.rescored = rescored
        self.moved = moved
        self.duration = duration
        self.diff = diff
    }
}
