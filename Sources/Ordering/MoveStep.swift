/// A step of a diff in sequential form: indexes refer to the list at that step.
public enum MoveStep: Hashable, Sendable {
    /// Removes an element.
    case delete(at: Int)
    /// Inserts the element at `new` of the NEW list.
    case insert(at: Int, new: Int)
    /// Removes and reinserts an element; `to` is an index in the list without it.
    case move(from: Int, to: Int)
}

extension MoveDiff {
    /// Returns the diff as sequential steps: deletes from the back, then inserts and moves from the front.
    ///
    /// A move whose element is already in place by then is omitted.
    ///
    /// - Complexity: O(m log m) for m deletes, inserts and moves; independent of the lists' lengths.
    public func steps() -> [MoveStep] {
        var steps: [MoveStep] = []
        steps.reserveCapacity(deletes.count + inserts.count + moves.count)
        for index in deletes.reversed() { steps.append(.delete(at: Int(index))) }
        var waiting = WaitingMoves(moves, deletes: deletes)
        var (nextInsert, nextMove) = (0, 0)
        while nextInsert < inserts.count || nextMove < moves.count {
            let isInsert =
                nextMove == moves.count
                || (nextInsert < inserts.count && inserts[nextInsert] < moves[nextMove].to)
            let new = Int(isInsert ? inserts[nextInsert] : moves[nextMove].to)
            // Everything before `new` is in place, interleaved with elements that are still to be moved.
            let placed = nextInsert + nextMove
            let stayed = new - placed
            waiting.advance(stayed, placed: placed)
            let place = stayed + placed + waiting.passedCount
            if isInsert {
                steps.append(.insert(at: place, new: new))
                nextInsert += 1
            } else {
                let from = waiting.take(nextMove, placed: placed)
                let to = from < place ? place - 1 : place
                if from != to { steps.append(.move(from: from, to: to)) }
                nextMove += 1
            }
        }
        return steps
    }
}

/// The elements that are still to be moved, at their old places among the staying elements.
private struct WaitingMoves {
    /// Each move's rank by `from`.
    private let rank: [Int]
    /// By rank: the number of staying elements before it in the old list.
    private let stayingBefore: [Int]
    /// By rank: the number of placed elements when the first staying element after it was passed.
    private var placedBefore: [Int]
    /// The number of ranks, from 0, before the last passed element.
    private var passed = 0
    /// The number of those that are still waiting.
    private(set) var passedCount = 0
    /// Fenwick tree of waiting elements by rank. Source: P. M. Fenwick, "A new data structure for cumulative frequency tables", 1994.
    private var sums: [Int32]
    private var isWaiting: [Bool]

    init(_ moves: [MoveDiff.Move], deletes: [Int32]) {
        let order = moves.indices.sorted { moves[$0].from < moves[$1].from }
        var rank = [Int](repeating: 0, count: moves.count)
        var stayingBefore = [Int](repeating: 0, count: moves.count)
        var deleted = 0
        for (position, move) in order.enumerated() {
            let from = moves[move].from
            while deleted < deletes.count, deletes[deleted] < from { deleted += 1 }
            rank[move] = position
            stayingBefore[position] = Int(from) - deleted - position
        }
        self.rank = rank
        self.stayingBefore = stayingBefore
        placedBefore = [Int](repeating: 0, count: moves.count)
        isWaiting = [Bool](repeating: true, count: moves.count)
        sums = [Int32](repeating: 0, count: moves.count + 1)
        for index in sums.indices.dropFirst() { sums[index] = Int32(truncatingIfNeeded: index & -index) }
    }

    /// Records that the first `settled` unmoved elements are in place, with `placed` others among them.
    mutating func advance(_ settled: Int, placed: Int) {
        while passed < rank.count, stayingBefore[passed] < settled {
            placedBefore[passed] = placed
            if isWaiting[passed] { passedCount += 1 }
            passed += 1
        }
    }

    /// Removes a move's element and returns its index.
    mutating func take(_ move: Int, placed: Int) -> Int {
        let rank = rank[move]
        let before = rank < passed ? placedBefore[rank] : placed
        let place = stayingBefore[rank] + waiting(below: rank) + before
        isWaiting[rank] = false
        if rank < passed { passedCount -= 1 }
        var index = rank + 1
        while index < sums.count {
            sums[index] -= 1
            index += index & -index
        }
        return place
    }

    private func waiting(below rank: Int) -> Int {
        var sum = 0
        var index = rank
        while index > 0 {
            sum += Int(sums[index])
            index &= index - 1
        }
        return sum
    }
}
