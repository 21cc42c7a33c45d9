/// A total order of a shelf's products: keys with directions, always closed by name and sku.
///
/// Name and sku ascend where the first key runs in its natural direction and descend where it runs in the other: inside a
/// group (availability, missing, dimension) the opposite direction is the exact mirror. There is no way to make an order
/// without this tail, so no two products ever tie.
package struct Sort: Hashable, Sendable, CustomStringConvertible {
    package struct Term: Hashable, Sendable {
        package let key: SortKey
        package let direction: SortDirection

        package init(_ key: SortKey, _ direction: SortDirection) {
            self.key = key
            self.direction = direction
        }
    }

    /// The keys in turn; at least one, none twice.
    package let terms: [Term]

    private init(checked terms: [Term]) { self.terms = terms }

    /// The key alone, in a direction; nil for a direction that it does not have.
    package init?(_ key: SortKey, _ direction: SortDirection) {
        guard key.isReversible || direction == key.naturalDirection else { return nil }
        self.init(checked: [Term(key, direction)])
    }

    /// `-popularity`, the sort of a shelf that nobody gave one.
    package static let system = Sort(checked: [Term(.popularity, .descending)])
    package static let position = Sort(checked: [Term(.position, .ascending)])

    /// The direction of name and sku.
    package var tailDirection: SortDirection {
        terms[0].direction == terms[0].key.naturalDirection ? .ascending : .descending
    }

    package var respectsAvailability: Bool { terms[0].key.respectsAvailability }

    /// The same order named in the API's grammar: `-unit_price,name`.
    package var description: String {
        terms.map { ($0.direction == .descending ? "-" : "") + $0.key.name }.joined(separator: ",")
    }

    /// Every order by one key.
    package static let allSingle: [Sort] = SortKey.allCases.flatMap { key in
        [key.naturalDirection, key.naturalDirection.opposite].compactMap { Sort(key, $0) }
    }
}

extension Sort {
    /// Reads comma-separated keys, `-` for descending: JSON:API's grammar.
    package static func parse(_ text: String) throws(SortError) -> Sort {
        var terms: [Term] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let isDescending = word.hasPrefix("-")
            let name = isDescending ? word.dropFirst() : word
            guard !name.isEmpty else { throw SortError(word: String(word), reason: "an empty sort key", hint: nil) }
            guard let key = SortKey(rawValue: String(name)) else {
                throw SortError(
                    word: String(word.prefix(64)),
                    reason: "no such sort key",
                    hint: nearest(to: String(name))
                )
            }
            let direction: SortDirection = isDescending ? .descending : .ascending
            guard !terms.contains(where: { $0.key == key }) else {
                throw SortError(word: String(word), reason: "a sort key given twice", hint: nil)
            }
            guard key.isReversible || direction == key.naturalDirection else {
                throw SortError(word: String(word), reason: "the manual order has one direction", hint: key.name)
            }
            terms.append(Term(key, direction))
        }
        return Sort(checked: terms)
    }

    /// The keys that a sort may name, as `allowed` in an error lists them.
    package static let allowed: [String] = SortKey.allCases.flatMap {
        $0.isReversible ? [$0.name, "-" + $0.name] : [$0.name]
    }

    private static func nearest(to name: String) -> String? {
        guard name.utf8.count <= 32 else { return nil }
        let candidates = SortKey.allCases.map { ($0.name, distance(Array(name.utf8), Array($0.name.utf8))) }
        return candidates.filter { $0.1 <= max(1, $0.0.utf8.count / 3) }.min { $0.1 < $1.1 }?.0
    }

    /// The least number of inserted, deleted and replaced bytes between two words (Levenshtein).
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let next = min(row[j + 1] + 1, row[j] + 1, diagonal + (x == y ? 0 : 1))
                diagonal = row[j + 1]
                row[j + 1] = next
            }
        }
        return row[b.count]
    }
}
