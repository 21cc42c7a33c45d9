internal import AisleDiff
package import Ordering

/// A shelf's manual order with its keys. Removed products keep their place.
package struct PositionList: Sendable {
    /// A product with its ordering key.
    package struct Row: Sendable, Hashable {
        package var id: String
        package var key: PathKey
        package var isRemoved: Bool

        package init(id: String, key: PathKey, isRemoved: Bool) {
            self.id = id
            self.key = key
            self.isRemoved = isRemoved
        }
    }

    /// The rows, sorted by key.
    package private(set) var rows: [Row]

    /// - Parameter rows: in any order.
    package init(_ rows: [Row]) { self.rows = rows.sorted { $0.key < $1.key } }

    /// The products on the shelf, in order.
    package var ids: [String] { rows.lazy.filter { !$0.isRemoved }.map(\.id) }

    /// Applies one move. Only its products get new keys, directly next to the target's neighbour, whether or not
    /// that neighbour was removed from the shelf.
    ///
    /// - Returns: the new keys; empty if nothing moves.
    /// - Throws: as `OrderMove.apply`.
    /// - Complexity: O(n).
    package mutating func apply(_ move: OrderMove) throws(CatalogError) -> [(id: String, key: PathKey)] {
        let old = ids
        let target = try move.apply(to: old)
        guard target != old else { return [] }
        let moved = Set(move.ids)
        let staying = rows.filter { !moved.contains($0.id) }
        func place(_ id: String) -> Int { staying.firstIndex { $0.id == id }! }
        // The index in `staying` before which the products go.
        let index =
            switch move.target {
            case .after(let anchor): place(anchor) + 1
            case .first: 0
            case .last: staying.count
            case .before(let anchor): place(anchor)
            case .position(let position):
                staying.indices.filter { !staying[$0].isRemoved }.dropFirst(position).first ?? staying.count
            }
        let keys: [PathKey]
        do {
            keys = try PathKey.between(
                index > 0 ? staying[index - 1].key : nil,
                index < staying.count ? staying[index].key : nil,
                count: move.ids.count
            )
        } catch {
            throw .fault("no ordering key left: \(error)")
        }
        let made = zip(move.ids, keys).map { (id: $0, key: $1) }
        rows =
            Array(staying[..<index]) + made.map { Row(id: $0.id, key: $0.key, isRemoved: false) }
            + Array(staying[index...])
        return made
    }

    /// Reorders the products on the shelf with the minimal number of new keys.
    ///
    /// - Parameter target: the same products in another order.
    /// - Returns: the moved products and their new keys, in order.
    /// - Throws: `PathKeyError` if no key is left.
    /// - Complexity: O(n log n).
    package mutating func reorder(to target: [String]) throws(PathKeyError) -> [(id: String, key: PathKey)] {
        let diff = MoveDiff(from: ids, to: target)
        guard !diff.moves.isEmpty else { return [] }
        let moved = Set(diff.moves.map { target[Int($0.to)] })
        let staying = rows.filter { !moved.contains($0.id) }
        // Compare bytes: ids that Swift considers equal may be different products.
        let places = Dictionary(
            staying.enumerated().map { (SKU(stored: $1.id), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        var made: [(id: String, key: PathKey)] = []
        made.reserveCapacity(moved.count)
        var start = 0
        while start < diff.moves.count {
            var end = start + 1
            while end < diff.moves.count, diff.moves[end].to == diff.moves[end - 1].to + 1 { end += 1 }
            let first = Int(diff.moves[start].to)
            // The row after the left neighbour may be a removed product; its key still counts.
            let left = first > 0 ? places[SKU(stored: target[first - 1])] : nil
            let right = left.map { $0 + 1 } ?? 0
            let keys = try PathKey.between(
                left.map { staying[$0].key },
                right < staying.count ? staying[right].key : nil,
                count: end - start
            )
            made += zip(target[first...], keys).map { (id: $0, key: $1) }
            start = end
        }
        rows = (staying + made.map { Row(id: $0.id, key: $0.key, isRemoved: false) }).sorted { $0.key < $1.key }
        return made
    }

    /// Returns the left neighbours of products, in key order. A neighbour may be a removed product; nil at the
    /// front.
    package func leftNeighbours(of ids: Set<String>) -> [(id: String, left: String?)] {
        var last: String?
        var found: [(id: String, left: String?)] = []
        for row in rows {
            if ids.contains(row.id) { found.append((row.id, last)) }
            last = row.id
        }
        return found
    }

    /// Returns the order with products moved back after their recorded left neighbours.
    package func restoring(_ leftNeighbours: [(id: String, left: String?)]) -> [String] {
        let diff = NeighbourDiff(placements: leftNeighbours.map { .init(id: $0.id, after: $0.left) })
        let placed = Set(ids)
        return diff.apply(to: rows.map(\.id)).filter { placed.contains($0) }
    }
}
