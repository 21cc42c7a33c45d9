/// A diff without indexes: each inserted or moved element has its left neighbour in the NEW list.
///
/// The diff needs no index computation, so a server can report one move in a list of a million cheaply. The diff can be
/// applied to a list with other changes.
public struct NeighbourDiff<ID: Hashable & Sendable>: Hashable, Sendable {
    /// An inserted or moved element with its place in the new list.
    public struct Placement: Hashable, Sendable {
        /// The id of the element.
        public var id: ID
        /// The left neighbour; nil for the front.
        public var after: ID?
        /// Whether the element is new.
        public var isInsert: Bool

        /// Creates a placement.
        public init(id: ID, after: ID?, isInsert: Bool = false) {
            self.id = id
            self.after = after
            self.isInsert = isInsert
        }
    }

    /// The deleted elements.
    public var deletes: [ID]
    /// The inserted and moved elements, from the front of the NEW list: a neighbour is placed before the elements that refer to it.
    public var placements: [Placement]

    /// Creates a diff from its parts.
    public init(deletes: [ID] = [], placements: [Placement] = []) {
        self.deletes = deletes
        self.placements = placements
    }

    /// Whether nothing changes.
    public var isEmpty: Bool { deletes.isEmpty && placements.isEmpty }

    /// Creates a diff from indexes, with the ids of two lists.
    ///
    /// - Precondition: the lists belong to the diff.
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

    /// Returns the new list.
    ///
    /// An element whose neighbour is missing goes to the front. A missing moved element is inserted. Of several
    /// placements of one element, the last one counts.
    ///
    /// - Precondition: `old` has no duplicate ids.
    /// - Complexity: O(n).
    public func apply(to old: [ID]) -> [ID] {
        var placedAfter: [ID?: [ID]] = [:]
        let removed = Set(deletes).union(placements.map(\.id))
        let staying = old.filter { !removed.contains($0) }
        var present = Set(staying)
        let last = Dictionary(placements.indices.map { (placements[$0].id, $0) }, uniquingKeysWith: { $1 })
        for (index, placement) in placements.enumerated() where last[placement.id] == index {
            let after = placement.after.flatMap { present.contains($0) ? $0 : nil }
            placedAfter[after, default: []].append(placement.id)
            present.insert(placement.id)
        }
        var new: [ID] = []
        new.reserveCapacity(present.count)
        // Elements placed later are nearer to their neighbour. Use a stack, because chains may be as long as the list.
        var pending = placedAfter[nil, default: []]
        func appendPending() {
            while let id = pending.popLast() {
                new.append(id)
                if let own = placedAfter[id] { pending.append(contentsOf: own) }
            }
        }
        appendPending()
        for id in staying {
            pending = [id]
            appendPending()
        }
        return new
    }
}
