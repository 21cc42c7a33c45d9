extension MoveDiff {
    // MARK: - Entry points

    /// Creates the diff to a permutation of `0 ..< n`: element i of the new list was element `permutation[i]` of the old one.
    ///
    /// - Precondition: `permutation` is a permutation.
    /// - Complexity: O(n log n) time, at most 16 bytes per element; O(n) if few elements move.
    package init(permutation: [Int32]) {
        self = permutation.withUnsafeBufferPointer { Self.between($0) { () throws(Never) in } }
    }

    /// Creates the diff between two lists of ordinals below a limit, without repeats.
    ///
    /// - Precondition: the ordinals are from 0 up to below `limit`, and none repeats.
    /// - Complexity: O(n log n + limit) time, at most 16 bytes per element and 4 per number below the limit.
    package init(fromOrdinals old: [Int32], to new: [Int32], limit: Int) {
        self = old.withUnsafeBufferPointer { old in
            new.withUnsafeBufferPointer { new in Self.between(old, new, limit: limit) { () throws(Never) in } }
        }
    }

    /// Creates the diff between two lists of numeric ids.
    ///
    /// Repeats are matched in order, between a common prefix and a common suffix: the diff is correct, but
    /// not necessarily minimal.
    ///
    /// - Complexity: O(n log n) time, at most 40 bytes per element.
    public init(from old: [Int], to new: [Int]) {
        self = Self.between(old, new, index: { IntegerIndex($0) }, check: { () throws(Never) in })
    }

    /// Creates the diff between two lists of hashable elements; repeats are handled as for numbers.
    public init<Element: Hashable>(from old: [Element], to new: [Element]) {
        self.init(from: old, to: new) { () throws(Never) in }
    }

    /// Creates the diff between two lists, with a periodic cancellation check.
    ///
    /// - Parameters:
    ///   - old: the old list.
    ///   - new: the new list.
    ///   - check: called from time to time; throws to cancel.
    public init<Element: Hashable, E: Error>(
        from old: [Element],
        to new: [Element],
        check: () throws(E) -> Void
    ) throws(E) {
        self = try Self.between(old, new, index: { HashedIndex($0) }, check: check)
    }

    /// Creates the diff between windows of the first elements of two lists. Elements that leave the window are deletes;
    /// elements that enter it are inserts.
    public init<Element: Hashable>(from old: [Element], to new: [Element], first limit: Int) {
        self.init(from: Array(old.prefix(limit)), to: Array(new.prefix(limit)))
    }

    // MARK: - From lists to a map

    static func between<E: Error>(
        _ permutation: UnsafeBufferPointer<Int32>,
        _ check: () throws(E) -> Void
    ) throws(E) -> MoveDiff {
        var low = 0
        var high = permutation.count
        while low < high, permutation[low] == Int32(truncatingIfNeeded: low) { low &+= 1 }
        while high > low, permutation[high &- 1] == Int32(truncatingIfNeeded: high &- 1) { high &-= 1 }
        let count = permutation.count
        guard low < high else { return MoveDiff(generated: count, count) }
        let span = Span(prefix: low, oldCount: high - low, newCount: high - low, common: high - low)
        guard low > 0 else {
            return try span.diff(permutation.baseAddress!, count, count, check)
        }
        let shifted = UnsafeMutablePointer<Int32>.allocate(capacity: high - low)
        defer { shifted.deallocate() }
        for index in low..<high { shifted[index &- low] = permutation[index] &- Int32(truncatingIfNeeded: low) }
        return try span.diff(shifted, count, count, check)
    }

    static func between<E: Error>(
        _ old: UnsafeBufferPointer<Int32>,
        _ new: UnsafeBufferPointer<Int32>,
        limit: Int,
        _ check: () throws(E) -> Void
    ) throws(E) -> MoveDiff {
        var span = Span(old, new)
        guard span.oldCount > 0 || span.newCount > 0 else { return MoveDiff(generated: old.count, new.count) }
        let map = UnsafeMutablePointer<Int32>.allocate(capacity: span.newCount + 1)
        defer { map.deallocate() }
        do {
            let places = UnsafeMutablePointer<Int32>.allocate(capacity: limit)
            defer { places.deallocate() }
            places.update(repeating: -1, count: limit)
            for index in 0..<span.oldCount {
                places[Int(old[span.prefix &+ index])] = Int32(truncatingIfNeeded: index)
            }
            for index in 0..<span.newCount {
                let place = places[Int(new[span.prefix &+ index])]
                map[index] = place
                span.common &+= place >= 0 ? 1 : 0
            }
        }
        return try span.diff(map, old.count, new.count, check)
    }

    private static func between<Element: Equatable, Index: ElementIndex & ~Copyable, E: Error>(
        _ old: [Element],
        _ new: [Element],
        index make: (ArraySlice<Element>) -> Index,
        check: () throws(E) -> Void
    ) throws(E) -> MoveDiff where Index.Element == Element {
        precondition(old.count <= countLimit && new.count <= countLimit)
        var span = Span(old, new)
        guard span.oldCount > 0 || span.newCount > 0 else { return MoveDiff(generated: old.count, new.count) }
        let map = UnsafeMutablePointer<Int32>.allocate(capacity: span.newCount + 1)
        defer { map.deallocate() }
        do {
            var places = make(old[span.prefix..<(span.prefix + span.oldCount)])
            try check()
            for index in 0..<span.newCount {
                let place = places.take(new[span.prefix &+ index])
                map[index] = place
                span.common &+= place >= 0 ? 1 : 0
                if index & 0xFFFF == 0xFFFF { try check() }
            }
        }
        return try span.diff(map, old.count, new.count, check)
    }
}

/// The differing span of two lists, between their common prefix and their common suffix.
private struct Span {
    var prefix: Int
    var oldCount: Int
    var newCount: Int
    /// The number of elements of the span that are in both lists.
    var common = 0

    init(prefix: Int, oldCount: Int, newCount: Int, common: Int) {
        self.prefix = prefix
        self.oldCount = oldCount
        self.newCount = newCount
        self.common = common
    }

    init<List: RandomAccessCollection>(_ old: List, _ new: List) where List.Element: Equatable, List.Index == Int {
        var prefix = 0
        let shorter = min(old.count, new.count)
        while prefix < shorter, old[prefix] == new[prefix] { prefix &+= 1 }
        var (oldEnd, newEnd) = (old.count, new.count)
        while oldEnd > prefix, newEnd > prefix, old[oldEnd &- 1] == new[newEnd &- 1] {
            oldEnd &-= 1
            newEnd &-= 1
        }
        self.init(prefix: prefix, oldCount: oldEnd - prefix, newCount: newEnd - prefix, common: 0)
    }

    /// Returns the diff, given each new element's old index in the span; −1 for an insert.
    func diff<E: Error>(
        _ map: UnsafePointer<Int32>,
        _ oldTotal: Int,
        _ newTotal: Int,
        _ check: () throws(E) -> Void
    ) throws(E) -> MoveDiff {
        let ranks = UnsafeMutablePointer<Int32>.allocate(capacity: newCount + 1)
        defer { ranks.deallocate() }
        let piles: Int
        do {
            let tops = UnsafeMutablePointer<Int32>.allocate(capacity: common + 1)
            defer { tops.deallocate() }
            piles = try PatiencePiles.sort(map, newCount, ranks: ranks, tops: tops, check)
        }
        let (moves, inserts) = collect(map, ranks, piles)
        return MoveDiff(
            generated: oldTotal,
            newTotal,
            deletes: deletes(map),
            inserts: inserts,
            moves: moves
        )
    }

    /// Returns the old elements that are not in the new list.
    private func deletes(_ map: UnsafePointer<Int32>) -> [Int32] {
        let count = oldCount - common
        guard count > 0 else { return [] }
        let words = (oldCount + 63) >> 6
        let kept = UnsafeMutablePointer<UInt64>.allocate(capacity: words)
        kept.initialize(repeating: 0, count: words)
        defer { kept.deallocate() }
        for index in 0..<newCount where map[index] >= 0 {
            let place = Int(map[index])
            kept[place &>> 6] |= 1 &<< UInt64(truncatingIfNeeded: place & 63)
        }
        return [Int32](unsafeUninitializedCapacity: count) { buffer, written in
            for word in 0..<words {
                var gone = ~kept[word]
                let rest = oldCount - word << 6
                if rest < 64 { gone &= (1 << UInt64(rest)) - 1 }
                while gone != 0 {
                    buffer[written] = Int32(truncatingIfNeeded: prefix + word << 6 + gone.trailingZeroBitCount)
                    written += 1
                    gone &= gone - 1
                }
            }
        }
    }

    /// Returns the elements outside the longest increasing subsequence, read from the back, because only pile numbers are known.
    private func collect(
        _ map: UnsafePointer<Int32>,
        _ ranks: UnsafePointer<Int32>,
        _ piles: Int
    ) -> ([MoveDiff.Move], [Int32]) {
        let (moveCount, insertCount) = (common - piles, newCount - common)
        guard moveCount > 0 || insertCount > 0 else { return ([], []) }
        let shift = Int32(truncatingIfNeeded: prefix)
        var inserts: [Int32] = []
        let moves = [MoveDiff.Move](unsafeUninitializedCapacity: moveCount) { moves, movesWritten in
            inserts = [Int32](unsafeUninitializedCapacity: insertCount) { inserts, insertsWritten in
                var wanted = Int32(truncatingIfNeeded: piles &- 1)
                var (move, insert) = (moveCount, insertCount)
                var index = newCount &- 1
                while index >= 0 {
                    let rank = ranks[index]
                    if rank == wanted {
                        wanted &-= 1
                    } else if rank < 0 {
                        insert &-= 1
                        inserts[insert] = shift &+ Int32(truncatingIfNeeded: index)
                    } else {
                        move &-= 1
                        moves[move] = MoveDiff.Move(
                            from: shift &+ map[index],
                            to: shift &+ Int32(truncatingIfNeeded: index)
                        )
                    }
                    index &-= 1
                }
                insertsWritten = insertCount
            }
            movesWritten = moveCount
        }
        return (moves, inserts)
    }
}
