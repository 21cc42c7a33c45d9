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
