/// One step of a diff in sequential form: each index counts in the list as it then stands.
public enum MoveStep: Hashable, Sendable {
    /// Takes an element out.
    case delete(at: Int)
    /// Puts the element in that the NEW list has at `new`.
    case insert(at: Int, new: Int)
    /// Takes an element out and puts it in again; `to` counts in the list without it.
    case move(from: Int, to: Int)
}

extension MoveDiff {
    /// The diff as steps that are done one after another: deletes from the back, then inserts and moves from the front.
    ///
    /// A move whose element stands where it should by then is left out.
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
            // Everything before `new` is in its place, with elements between that wait to be moved.
            let placed = nextInsert + nextMove
            let settled = new - placed
            waiting.pass(settled, placed: placed)
            let place = settled + placed + waiting.passedCount
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

/// The elements that wait to be moved, among those that stay: they stand where they were.
private struct WaitingMoves {
    /// Each move's rank by `from`.
    private let rank: [Int]
    /// By rank: how many elements that stay stood before it in the old list.
    private let stayingBefore: [Int]
    /// By rank: how many elements had been placed when the first that stays behind it was passed.
    private var placedBefore: [Int]
    /// How many ranks, from 0, stand before the last element that was passed.
    private var passed = 0
    /// How many of those still wait.
    private(set) var passedCount = 0
    /// Sums of those that wait, by rank. Source: P. M. Fenwick, "A new data structure for cumulative frequency tables", 1994.
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

    /// The first `settled` elements that stay are in their places, `placed` others among them.
    mutating func pass(_ settled: Int, placed: Int) {
        while passed < rank.count, stayingBefore[passed] < settled {
            placedBefore[passed] = placed
            if isWaiting[passed] { passedCount += 1 }
            passed += 1
        }
    }

    /// Takes a move's element, and tells where it stood.
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
