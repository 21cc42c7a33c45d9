/// The kernel of a move diff: a longest increasing subsequence by patience sorting.
///
/// Each element is placed on the leftmost pile whose top is not below it. Only the pile number is kept, without parents. Read
/// from the back, the first element of the last pile, then of the one before, and so on, is a longest increasing
/// subsequence. Source: M. L. Fredman, "On computing the length of longest increasing subsequences", 1975.
package enum PatiencePiles {
    /// The rank of an ignored element.
    static let absent = Int32.min

    /// The number of elements between two cancellation checks.
    private static let chunkSize = 1 << 16

    /// Places elements on piles.
    ///
    /// - Parameters:
    ///   - values: distinct numbers from 0; negative ones are ignored.
    ///   - ranks: receives each element's pile, from 0, or `absent`.
    ///   - tops: room for one number per pile.
    /// - Returns: the number of piles: the length of a longest increasing subsequence.
    /// - Complexity: O(n log p) for p piles; O(n) if the values ascend.
    package static func sort<E: Error>(
        _ values: UnsafePointer<Int32>,
        _ count: Int,
        ranks: UnsafeMutablePointer<Int32>,
        tops: UnsafeMutablePointer<Int32>,
        _ check: () throws(E) -> Void
    ) throws(E) -> Int {
        var piles: Int32 = 0
        var last: Int32 = -1
        var start = 0
        while start < count {
            let end = min(count, start + chunkSize)
            (piles, last) = sortChunk(values, start, end, ranks, tops, piles, last)
            start = end
            if start < count { try check() }
        }
        return Int(piles)
    }

    @inline(never)
    private static func sortChunk(
        _ values: UnsafePointer<Int32>,
        _ start: Int,
        _ end: Int,
        _ ranks: UnsafeMutablePointer<Int32>,
        _ tops: UnsafeMutablePointer<Int32>,
        _ knownPiles: Int32,
        _ knownLast: Int32
    ) -> (Int32, Int32) {
        var piles = knownPiles
        var last = knownLast
        for index in start..<end {
            let value = values[index]
            if last < value {
                tops[Int(piles)] = value
                ranks[index] = piles
                piles &+= 1
                last = value
                continue
            }
            if value < 0 {
                ranks[index] = absent
                continue
            }
            // Use pointers: with an index, the compiler generates branches, which take three times as long.
            var top = UnsafePointer(tops)
            var length = piles
            while length > 1 {
                let half = length &>> 1
                top += top[Int(half &- 1)] < value ? Int(half) : 0
                length &-= half
            }
            let pile = Int32(truncatingIfNeeded: top - UnsafePointer(tops)) &+ (top.pointee < value ? 1 : 0)
            tops[Int(pile)] = value
            ranks[index] = pile
            if pile &+ 1 == piles { last = value }
        }
        return (piles, last)
    }
}
