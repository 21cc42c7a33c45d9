/// The ids of products in an order. Each id is created when it is read.
package struct OrderedIDs: RandomAccessCollection, Sendable {
    /// The places of the ids in a table. Two orders of one table can be compared by places, without ids.
    package struct Places: Sendable {
        /// The version of the table.
        package let version: Int64
        /// The number of places.
        package let limit: Int
        /// The place of each id, in order. No place occurs twice.
        package let places: [UInt32]
        /// The row of the product that represents each id. Empty unless groups are collapsed.
        package let representatives: [UInt32]

        package init(version: Int64, limit: Int, places: [UInt32], representatives: [UInt32] = []) {
            self.version = version
            self.limit = limit
            self.places = places
            self.representatives = representatives
        }
    }

    private enum Source: Sendable {
        case ids([String])
        case places(Places, @Sendable (UInt32) -> String)
    }

    private let source: Source
    /// The cursor of the page after the last id; nil if the order ends there.
    package let next: Cursor?

    package init(_ ids: [String], next: Cursor? = nil) { (source, self.next) = (.ids(ids), next) }

    /// - Parameter id: returns the id at a place.
    package init(_ places: Places, next: Cursor? = nil, id: @escaping @Sendable (UInt32) -> String) {
        (source, self.next) = (.places(places, id), next)
    }

    /// nil for a list of ids.
    package var places: Places? {
        guard case .places(let places, _) = source else { return nil }
        return places
    }

    package var startIndex: Int { 0 }

    package var endIndex: Int {
        switch source {
        case .ids(let ids): ids.count
        case .places(let places, _): places.places.count
        }
    }

    package subscript(index: Int) -> String {
        switch source {
        case .ids(let ids): ids[index]
        case .places(let places, let id): id(places.places[index])
        }
    }
}
