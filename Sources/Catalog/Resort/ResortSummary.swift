/// What a re-sort did altogether.
package struct ResortSummary: Sendable, Hashable {
    /// The purchase events that were folded.
    package var events = 0
    /// Products whose score is another.
    package var products = 0
    /// Shelves that were looked at, and those that changed.
    package var shelves = 0
    package var changed = 0
    package var moved = 0

    package init() {}

    /// Whether anything is, or would be, another than before.
    package var isChange: Bool { events > 0 || products > 0 || changed > 0 }

    package var counts: [(name: String, count: Int)] {
        [("events", events), ("products", products), ("shelves", shelves), ("changed", changed), ("moved", moved)]
    }
}
