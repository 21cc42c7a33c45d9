import Ordering

/// A brute-force specification of move diffs.
enum MoveDiffOracle {
    /// Returns the length of a longest increasing subsequence, by comparing all pairs.
    static func longestIncreasing(_ values: [Int]) -> Int {
        var best = [Int](repeating: 1, count: values.count)
        for i in values.indices { for j in 0..<i where values[j] < values[i] { best[i] = max(best[i], best[j] + 1) } }
        return best.max() ?? 0
    }

    /// Returns the minimum number of moves between two lists without repeats.
    static func minimumMoves<Element: Equatable>(_ old: [Element], _ new: [Element]) -> Int {
        let common = new.compactMap { old.firstIndex(of: $0) }
        return common.count - longestIncreasing(common)
    }

    /// Applies steps to a list one after another.
    static func apply<Element>(_ steps: [MoveStep], to old: [Element], new: [Element]) -> [Element] {
        var list = old
        for step in steps {
            switch step {
            case .delete(let index): list.remove(at: index)
            case .insert(let index, let element): list.insert(new[element], at: index)
            case .move(let from, let to): list.insert(list.remove(at: from), at: to)
            }
        }
        return list
    }

    /// Checks all properties of a diff between two lists; returns the violated one.
    static func flaw<Element: Hashable & Sendable>(_ diff: MoveDiff, _ old: [Element], _ new: [Element]) -> String? {
        if diff.oldCount != old.count || diff.newCount != new.count { return "counts" }
        if diff.apply(to: old, inserting: { new[$0] }) != new { return "batch form" }
        if apply(diff.steps(), to: old, new: new) != new { return "sequential form" }
        let checked = try? MoveDiff(
            oldCount: diff.oldCount,
            newCount: diff.newCount,
            deletes: diff.deletes,
            inserts: diff.inserts,
            moves: diff.moves,
            changed: diff.changed
        )
        return checked == diff ? nil : "validation"
    }

    /// The same for lists without repeats, including the minimum number of moves and the neighbor form.
    static func flawOfUnique<Element: Hashable & Sendable>(
        _ diff: MoveDiff,
        _ old: [Element],
        _ new: [Element],
        checksNeighbors: Bool = true
    ) -> String? {
        if let flaw = flaw(diff, old, new) { return flaw }
        if diff.moves.count != minimumMoves(old, new) { return "not least" }
        if diff.deletes.map({ old[Int($0)] }) != old.filter({ !new.contains($0) }) { return "deletes" }
        if diff.inserts.map({ new[Int($0)] }) != new.filter({ !old.contains($0) }) { return "inserts" }
        guard checksNeighbors else { return nil }
        return NeighbourDiff(diff, from: old, to: new).apply(to: old) == new ? nil : "neighbour form"
    }
}
