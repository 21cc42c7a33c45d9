extension StringProtocol {
    /// Returns the candidate that was probably meant by this mistyped word; nil if none is close enough.
    ///
    /// A candidate is close if at most a third of its letters differ, where one letter may always differ. Letters may be added,
    /// left out, replaced or swapped with the next letter. Words of more than 64 letters have no close candidate.
    ///
    /// - Complexity: O(candidates × letters²).
    package func closest(among candidates: some Sequence<String>) -> String? {
        let letters = Array(prefix(65))
        guard !letters.isEmpty, letters.count <= 64 else { return nil }
        var best: (candidate: String, edits: Int)?
        for candidate in candidates {
            let other = Array(candidate)
            let limit = Swift.max(1, other.count / 3)
            // Each edit changes the length by at most one letter.
            guard abs(other.count - letters.count) <= limit else { continue }
            let edits = editDistance(letters, other)
            if edits <= limit, edits < best?.edits ?? .max { best = (candidate, edits) }
        }
        return best?.candidate
    }
}

/// Returns the optimal string alignment distance: the smallest number of edits that turn one word into the other. An edit
/// adds, removes or replaces a letter, or swaps two neighbours. A swapped pair is not edited again.
private func editDistance(_ a: [Character], _ b: [Character]) -> Int {
    var previous: [Int] = []
    var row = Array(0...b.count)
    for i in a.indices {
        var next = [i + 1]
        next.reserveCapacity(row.count)
        for j in b.indices {
            var edits = min(row[j + 1] + 1, next[j] + 1, row[j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { edits = min(edits, previous[j - 1] + 1) }
            next.append(edits)
        }
        (previous, row) = (row, next)
    }
    return row[b.count]
}
