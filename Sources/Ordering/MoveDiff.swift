/// A diff between two orders of a list: deletes, inserts and moves.
///
/// It has batch semantics, like `performBatchUpdates`: indexes of `deletes` and a move's `from` refer to the OLD list,
/// indexes of `inserts` and a move's `to` to the NEW list. To apply it, remove everything that is deleted or moved, then
/// insert everything that is inserted or moved, in ascending order of the new index. All other elements keep their order.
///
/// A diff of two lists without repeats has the fewest possible moves: the elements that stay are a longest increasing subsequence of the old indexes in
/// new order, so there are `common − LIS` of them. Elements with different content are `changed`; refresh them
/// after the batch, never inside it.
public struct MoveDiff: Hashable, Sendable {
    /// A moved element.
    public struct Move: Hashable, Sendable {
        /// The index in the OLD list.
        public var from: Int32
        /// The index in the NEW list.
        public var to: Int32

        /// Creates a move.
        public init(from: Int32, to: Int32) {
            self.from = from
            self.to = to
        }
    }

    /// The number of elements in the OLD list.
    public let oldCount: Int
    /// The number of elements in the NEW list.
    public let newCount: Int
    /// Indexes in the OLD list, ascending.
    public let deletes: [Int32]
    /// Indexes in the NEW list, ascending.
    public let inserts: [Int32]
    /// Ascending by `to`.
    public let moves: [Move]
    /// Indexes in the NEW list of kept elements whose content changed, ascending.
    public let changed: [Int32]

    /// Whether the lists are equal.
    public var isEmpty: Bool { deletes.isEmpty && inserts.isEmpty && moves.isEmpty && changed.isEmpty }

    /// The number of elements that are in both lists.
    public var commonCount: Int { oldCount - deletes.count }

    /// Creates a diff from parts that are known to be valid.
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

    /// Returns the diff with kept elements marked as changed.
    ///
    /// - Parameter changed: indexes in the NEW list, ascending and in range; those of inserts are ignored.
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
    /// The inserts and moves, ascending by index in the NEW list; `from` is nil for inserts.
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
    /// The reason why parts are not a valid diff.
    public enum Flaw: Error, Hashable, Sendable {
        /// A count is negative or above 2³¹ − 1, or the numbers of common elements differ.
        case counts
        /// An index is outside its list, out of order, or used twice.
        case index
    }

    /// The maximum number of elements in a list.
    public static let countLimit = Int(Int32.max)

    /// Creates a diff from external parts, after validating them.
    ///
    /// - Throws: `Flaw`.
    /// - Complexity: O(m log m) time and O(m) memory for m deletes, inserts, moves and changes, regardless of the counts.
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
        guard Self.isAscending(deletes, below: oldCount), Self.isAscending(inserts, below: newCount),
            Self.isAscending(moves.map(\.to), below: newCount), Self.isAscending(changed, below: newCount),
            Self.isAscending(moves.map(\.from).sorted(), below: oldCount)
        else { throw .index }
        guard Self.areDisjoint(moves.map(\.from).sorted(), deletes), Self.areDisjoint(moves.map(\.to), inserts),
            Self.areDisjoint(changed, inserts)
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

    private static func isAscending(_ indexes: [Int32], below limit: Int) -> Bool {
        guard let first = indexes.first, let last = indexes.last else { return true }
        return first >= 0 && last < limit && zip(indexes, indexes.dropFirst()).allSatisfy { $0 < $1 }
    }

    /// Returns whether two ascending lists have no element in common.
    private static func areDisjoint(_ a: [Int32], _ b: [Int32]) -> Bool {
        var (i, j) = (0, 0)
        while i < a.count, j < b.count {
            if a[i] == b[j] { return false }
            if a[i] < b[j] { i += 1 } else { j += 1 }
        }
        return true
    }
}
