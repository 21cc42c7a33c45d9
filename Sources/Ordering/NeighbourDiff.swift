/// A diff without indexes: each element that comes or moves names its left neighbour in the NEW list.
///
/// It needs no count of where things stand, so a server can tell it of one move in a list of a million; and it can be
/// applied to a list that has changed elsewhere in the meantime.
public struct NeighbourDiff<ID: Hashable & Sendable>: Hashable, Sendable {
    public struct Placement: Hashable, Sendable {
        public var id: ID
        /// The left neighbour; nil for the front.
        public var after: ID?
        /// Whether the element is new.
        public var isInsert: Bool

        public init(id: ID, after: ID?, isInsert: Bool = false) {
            self.id = id
            self.after = after
            self.isInsert = isInsert
        }
    }

    /// What goes.
    public var deletes: [ID]
    /// What comes or moves, from the front of the NEW list on: a neighbour is placed before who names it.
    public var placements: [Placement]

    public init(deletes: [ID] = [], placements: [Placement] = []) {
        self.deletes = deletes
        self.placements = placements
    }

    public var isEmpty: Bool { deletes.isEmpty && placements.isEmpty }

    /// The diff with the elements' own ids.
    ///
    /// - Precondition: the lists are those of the diff.
    /// - Complexity: O(m) for m deletes, inserts and moves.
    public init(_ diff: MoveDiff, from old: [ID], to new: [ID]) {
        precondition(old.count == diff.oldCount && new.count == diff.newCount)
        deletes = diff.deletes.map { old[Int($0)] }
        placements = diff.placements.map { placement in
            let index = Int(placement.to)
            return Placement(
                id: new[index],
                after: index > 0 ? new[index - 1] : nil,
                isInsert: placement.from == nil
            )
        }
    }

    /// The new list.
    ///
    /// An element whose neighbour is not there comes to the front; one that is to move and is not there is put in; of several
    /// placements of one element the last counts.
    ///
    /// - Precondition: no id stands in `old` twice.
    /// - Complexity: O(n).
    public func apply(to old: [ID]) -> [ID] {
        var followers: [ID?: [ID]] = [:]
        let gone = Set(deletes).union(placements.map(\.id))
        let staying = old.filter { !gone.contains($0) }
        var isThere = Set(staying)
        let last = Dictionary(placements.indices.map { (placements[$0].id, $0) }, uniquingKeysWith: { $1 })
        for (index, placement) in placements.enumerated() where last[placement.id] == index {
            let after = placement.after.flatMap { isThere.contains($0) ? $0 : nil }
            followers[after, default: []].append(placement.id)
            isThere.insert(placement.id)
        }
        var new: [ID] = []
        new.reserveCapacity(isThere.count)
        // What was put behind a neighbour later stands nearer to it. A stack, as chains may be as long as the list.
        var pending = followers[nil, default: []]
        func settle() {
            while let id = pending.popLast() {
                new.append(id)
                if let own = followers[id] { pending.append(contentsOf: own) }
            }
        }
        settle()
        for id in staying {
            pending = [id]
            settle()
        }
        return new
    }
}
