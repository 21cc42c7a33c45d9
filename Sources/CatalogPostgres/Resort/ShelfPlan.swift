internal import Catalog
internal import LibPQ
internal import Ordering

/// A shelf of a re-sort, as it was read.
struct ResortedShelf: Sendable {
    let located: LocatedHead
    /// The version that the last re-sort left; nil before the first.
    let resortedVersion: Int64?
    /// The attributes of the store; none if no sort of the shelf names one.
    var attributes = ResolvedAttributes.none

    var head: ShelfHead { located.head }
    var id: Int32 { located.location.shelfID }
    /// The sort that the manual order follows; nil without one, and for one by an attribute that the store no longer has.
    var source: Sort? { head.state.shelf.positionSource.flatMap { try? $0.resolved(in: attributes) } }
    /// The sort that the manual order would follow if the store still had its attributes.
    var ignoredSource: Sort? { source == nil ? head.state.shelf.positionSource : nil }
    /// The effective sort if a request names none.
    var shownSort: Sort { (try? head.resolve(attributes: attributes).sort) ?? .system }
    /// Whether a sort of the shelf is by an attribute.
    var namesAttributes: Bool {
        let (state, store) = (head.state, head.store)
        return [state.shelf.positionSource, state.shelf.defaultSort, state.inheritedSort, store.defaultSort]
            .contains { $0?.namesAttributes == true }
    }

    /// Whether products of the shelf may have changed since the last re-sort. Moves do not change the modification time. A
    /// version is a time in microseconds. A transaction that changed the shelf began at most a day before the change.
    var mayHaveOtherProducts: Bool {
        guard let resortedVersion else { return true }
        return resortedVersion != head.state.version
            && head.state.modifiedAt.microseconds > resortedVersion - 86_400_000_000
    }
}

/// The changes that a re-sort makes to one shelf.
struct ShelfPlan: Sendable {
    let shelf: ResortedShelf
    /// The number of placements whose score changed.
    var rescored = 0
    /// The most common dimension, if it is another one now.
    var settledDimension: Dimension?
    /// Whether products are compared by another dimension now.
    var hasOtherDimension = false
    /// The number of moved products: in the manual order if it has a source sort, otherwise in the displayed order.
    var moved = 0
    /// The new keys of the manual order, in order.
    var keys: [(id: String, key: PathKey)] = []
    /// The placed products without a new key, if they are fewer than those with one.
    var staying: [String]?
    var diff: OrderDiff?

    /// Whether readers see a change.
    var isChanged: Bool { rescored > 0 || hasOtherDimension || moved > 0 }
    /// Whether the shelf's row must be written.
    var isOutdated: Bool { isChanged || settledDimension != nil || shelf.resortedVersion != shelf.head.state.version }
    /// Whether the manual order changed.
    var isReordered: Bool { shelf.source != nil && moved > 0 }
    /// Whether the manual order has keys so long that it should be compacted.
    var needsCompaction: Bool { keys.contains { $0.key.isLong } }

    /// Plans the manual order: only the products that must move get new keys.
    mutating func arrange(_ list: PositionList, as target: [String]) {
        var changed = list
        let placed = list.ids
        if let made = try? changed.reorder(to: target), made.allSatisfy({ $0.key.length <= PathKey.maximumLength }) {
            (keys, moved) = (made, made.count)
        } else {
            // No keys left: renumber all rows, after any removed ones.
            keys = zip(target, PathKey.appending(target.count, after: list.rows.last?.key)).map { (id: $0, key: $1) }
            moved = MoveDiff(from: placed, to: target).moves.count
        }
        if keys.count * 2 > placed.count {
            let moving = Set(keys.map(\.id))
            staying = placed.filter { !moving.contains($0) }
        }
    }
}
