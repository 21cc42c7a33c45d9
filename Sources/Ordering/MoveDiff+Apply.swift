extension MoveDiff {
    /// Returns the new list.
    ///
    /// - Parameters:
    ///   - old: the old list.
    ///   - insert: returns the element to insert at an index of the NEW list; called in ascending order.
    /// - Precondition: `old` has `oldCount` elements.
    /// - Complexity: O(n).
    public func apply<Element, E: Error>(
        to old: [Element],
        inserting insert: (Int) throws(E) -> Element
    ) throws(E) -> [Element] {
        precondition(old.count == oldCount, "the diff requires a list of \(oldCount) elements (got \(old.count))")
        var isTaken = [Bool](repeating: false, count: oldCount)
        for index in deletes { isTaken[Int(index)] = true }
        for move in moves { isTaken[Int(move.from)] = true }
        var new: [Element] = []
        new.reserveCapacity(newCount)
        var (nextInsert, nextMove, staying) = (0, 0, 0)
        for index in 0..<newCount {
            if nextInsert < inserts.count, Int(inserts[nextInsert]) == index {
                new.append(try insert(index))
                nextInsert += 1
            } else if nextMove < moves.count, Int(moves[nextMove].to) == index {
                new.append(old[Int(moves[nextMove].from)])
                nextMove += 1
            } else {
                while isTaken[staying] { staying += 1 }
                new.append(old[staying])
                staying += 1
            }
        }
        return new
    }

    /// Returns the old index of each element of the new list; −1 for an insert.
    ///
    /// - Complexity: O(n).
    public func sources() -> [Int32] {
        apply(to: Array(0..<Int32(oldCount))) { (_: Int) throws(Never) in -1 }
    }
}
