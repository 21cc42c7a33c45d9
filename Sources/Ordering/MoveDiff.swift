/// The least that turns one order of a list into another: what goes, what comes, and what moves past its neighbours.
///
/// Batch semantics, as `performBatchUpdates` has them: an index of `deletes` and a move's `from` count in the OLD list, an
/// index of `inserts` and a move's `to` in the NEW one. To apply it, take out everything that is deleted or moved, then
/// put in what is inserted or moved, ascending by its new index. What is neither keeps its order, and shifts by itself.
///
/// The moves are the fewest possible: the elements that stay are a longest increasing subsequence of the old indexes in
/// new order, so there are `common − LIS` of them. Elements that stay but whose content differs are `changed`; they are
/// to be refreshed after the batch, never inside it.
public struct MoveDiff: Hashable, Sendable {
    /// One element that moves.
    public struct Move: Hashable, Sendable {
        /// Its index in the OLD list.
        public var from: Int32
        /// Its index in the NEW list.
        public var to: Int32

        public init(from: Int32, to: Int32) {
            self.from = from
            self.to = to
        }
    }

    /// The number of elements before.
    public let oldCount: Int
    /// The number of elements after.
    public let newCount: Int
    /// Indexes in the OLD list, ascending.
    public let deletes: [Int32]
    /// Indexes in the NEW list, ascending.
    public let inserts: [Int32]
    /// Ascending by `to`.
    public let moves: [Move]
    /// Indexes in the NEW list of elements that were there before with another content, ascending.
    public let changed: [Int32]

    /// Nothing to do.
    public var isEmpty: Bool { deletes.isEmpty && inserts.isEmpty && moves.isEmpty && changed.isEmpty }

    /// The number of elements that are in both lists.
    public var commonCount: Int { oldCount - deletes.count }

    /// A diff whose parts are known to be right.
    init(
        generated oldCount: Int,
        _ newCount: Int,
        deletes: [Int32] = [],
        inserts: [Int32] = [],
        moves: [Move] = [],
        changed: [Int32] = []
    ) {
        self.oldCount = oldCount
        self.newCount = newCount
        self.deletes = deletes
        self.inserts = inserts
        self.moves = moves
        self.changed = changed
    }

    /// The same diff with elements named that stay or move and have another content.
    ///
    /// - Parameter changed: their indexes in the NEW list, ascending and inside it; those of inserts are left out.
    package func marking(changed: [Int32]) -> MoveDiff {
        var inserted = inserts[...]
        let common = changed.filter { index in
            inserted = inserted.drop { $0 < index }
            return inserted.first != index
        }
        return MoveDiff(
            generated: oldCount,
            newCount,
            deletes: deletes,
            inserts: inserts,
            moves: moves,
            changed: common
        )
    }
}

extension MoveDiff {
    /// What comes or moves, ascending by its index in the NEW list; `from` is nil for what comes.
    public var placements: [(from: Int32?, to: Int32)] {
        var placements: [(from: Int32?, to: Int32)] = []
        placements.reserveCapacity(inserts.count + moves.count)
        var inserts = inserts[...]
        for move in moves {
            while let insert = inserts.first, insert < move.to {
                placements.append((nil, insert))
                inserts.removeFirst()
            }
            placements.append((move.from, move.to))
        }
        for insert in inserts { placements.append((nil, insert)) }
        return placements
    }
}

extension MoveDiff {
    /// Why parts are no diff.
    public enum Flaw: Error, Hashable, Sendable {
        /// A count is negative or beyond 2³¹ − 1, or old and new have different numbers of common elements.
        case counts
        /// An index is outside its list, out of order, or used twice.
        case index
    }

    /// The most elements of a list.
    public static let countLimit = Int(Int32.max)

    /// Checks parts that come from elsewhere.
    ///
    /// - Throws: `Flaw`.
    /// - Complexity: O(m log m) in time for m moves, O(m) in memory, whatever the counts say.
    public init(
        oldCount: Int,
        newCount: Int,
        deletes: [Int32],
        inserts: [Int32],
        moves: [Move],
        changed: [Int32] = []
    ) throws(Flaw) {
        guard (0...Self.countLimit).contains(oldCount), (0...Self.countLimit).contains(newCount),
            oldCount - deletes.count == newCount - inserts.count, oldCount - deletes.count >= moves.count
        else { throw .counts }
        guard Self.ascend(deletes, below: oldCount), Self.ascend(inserts, below: newCount),
            Self.ascend(moves.map(\.to), below: newCount), Self.ascend(changed, below: newCount),
            Self.ascend(moves.map(\.from).sorted(), below: oldCount)
        else { throw .index }
        guard Self.areApart(moves.map(\.from).sorted(), deletes), Self.areApart(moves.map(\.to), inserts),
            Self.areApart(changed, inserts)
        else { throw .index }
        self.init(
            generated: oldCount,
            newCount,
            deletes: deletes,
            inserts: inserts,
            moves: moves,
            changed: changed
        )
    }

    private static func ascend(_ indexes: [Int32], below limit: Int) -> Bool {
        guard let first = indexes.first, let last = indexes.last else { return true }
        return first >= 0 && last < limit && zip(indexes, indexes.dropFirst()).allSatisfy { $0 < $1 }
    }

    /// Whether two ascending lists have no element in common.
    private static func areApart(_ a: [Int32], _ b: [Int32]) -> Bool {
        var (i, j) = (0, 0)
        while i < a.count, j < b.count {
            if a[i] == b[j] { return false }
            if a[i] < b[j] { i += 1 } else { j += 1 }
        }
        return true
    }
}
