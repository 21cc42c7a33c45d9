extension MoveDiff {
    /// The minimum length of a run; two moves take as few bytes on their own.
    static let runLimit = 3

    /// Returns the runs of moves, and the remaining single moves.
    func runs() -> (runs: [MoveRun], singles: [Move]) {
        var runs: [MoveRun] = []
        var singles: [Move] = []
        var start = 0
        while start < moves.count {
            var end = start + 1
            var stride: Int32 = 0
            while end < moves.count, moves[end].to == moves[end - 1].to + 1 {
                let next = moves[end].from - moves[end - 1].from
                guard abs(next) == 1, stride == 0 || stride == next else { break }
                stride = next
                end += 1
            }
            if end - start >= Self.runLimit {
                runs.append(
                    MoveRun(
                        to: Int(moves[start].to),
                        from: Int(moves[start].from),
                        count: end - start,
                        isReversed: stride < 0
                    )
                )
            } else {
                singles.append(contentsOf: moves[start..<end])
            }
            start = end
        }
        return (runs, singles)
    }

    /// Returns, for each element of the new list that was in the old one, its index among the kept elements of the old list.
    func keptOrder() -> [Int32] {
        var isDeleted = [Bool](repeating: false, count: oldCount)
        for index in deletes { isDeleted[Int(index)] = true }
        var places = [Int32](repeating: 0, count: oldCount)
        var place: Int32 = 0
        for index in 0..<oldCount where !isDeleted[index] {
            places[index] = place
            place += 1
        }
        return sources().lazy.filter { $0 >= 0 }.map { places[Int($0)] }
    }

    /// Creates the diff whose kept elements have the given order.
    init(oldCount: Int, newCount: Int, deletes: [Int32], inserts: [Int32], keptOrder: [Int32]) throws(ShelfDiffError) {
        let common = oldCount - deletes.count
        guard common == newCount - inserts.count, keptOrder.count == common else { throw .flaw(.counts) }
        var isSeen = [Bool](repeating: false, count: common)
        for place in keptOrder {
            guard place >= 0, place < common, !isSeen[Int(place)] else { throw .flaw(.index) }
            isSeen[Int(place)] = true
        }
        let kept = MoveDiff(permutation: keptOrder)
        let (old, new) = (Self.indexes(without: deletes, oldCount), Self.indexes(without: inserts, newCount))
        do throws(Flaw) {
            try self.init(
                oldCount: oldCount,
                newCount: newCount,
                deletes: deletes,
                inserts: inserts,
                moves: kept.moves.map { Move(from: old[Int($0.from)], to: new[Int($0.to)]) }
            )
        } catch {
            throw .flaw(error)
        }
    }

    private static func indexes(without gone: [Int32], _ count: Int) -> [Int32] {
        var rest = gone[...]
        return (0..<Int32(count)).filter { index in
            if rest.first == index {
                rest.removeFirst()
                return false
            }
            return true
        }
    }
}
