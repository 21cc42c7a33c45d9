/// The outcome of an order edit.
package struct ManualOrderOutcome: Sendable {
    /// A product that moved.
    package struct Moved: Sendable, Hashable {
        package var id: String
        /// The current left neighbour; nil at the front.
        package var after: String?
        /// The old and new index, if requested.
        package var from: Int?
        package var to: Int?

        package init(id: String, after: String?, from: Int? = nil, to: Int? = nil) {
            self.id = id
            self.after = after
            self.from = from
            self.to = to
        }

        /// Returns the products that moved between two orders, in the given sequence.
        ///
        /// - Parameter indexed: whether to include indexes.
        package static func of(
            _ ids: [String],
            from old: [String],
            to new: [String],
            indexed: Bool = false
        ) -> [Moved] {
            func places(_ order: [String]) -> [String: Int] {
                Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: { a, _ in a })
            }
            let oldPlaces = indexed ? places(old) : [:]
            let newPlaces = places(new)
            return ids.map { id in
                let place = newPlaces[id]!
                let after = place > 0 ? new[place - 1] : nil
                return Moved(id: id, after: after, from: oldPlaces[id], to: indexed ? place : nil)
            }
        }
    }

    /// The version of the shelf before the edit.
    package var fromVersion: Int64
    package var version: Int64
    package var orderVersion: Int64
    /// The moved products, from the front; empty if nothing moved.
    package var moved: [Moved]
    /// The number of the recorded change; nil if nothing changed.
    package var change: Int64?
    /// Whether a key is long enough to need compaction.
    package var needsCompaction = false

    package init(fromVersion: Int64, version: Int64, orderVersion: Int64, moved: [Moved], change: Int64? = nil) {
        self.fromVersion = fromVersion
        self.version = version
        self.orderVersion = orderVersion
        self.moved = moved
        self.change = change
    }
}
