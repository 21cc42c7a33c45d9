/// A total order of a shelf's products: keys with directions, with name and SKU as tie-breakers.
///
/// Name and SKU ascend if the first key has its natural direction, and descend otherwise. Within a
/// group (availability, missing values, dimension) the opposite direction is the exact reverse. Every sort has these
/// tie-breakers, so no two products compare equal.
package struct Sort: Hashable, Sendable, CustomStringConvertible {
    /// A sort key with its direction.
    package struct Term: Hashable, Sendable {
        package let key: SortKey
        package let direction: SortDirection

        package init(_ key: SortKey, _ direction: SortDirection) {
            self.key = key
            self.direction = direction
        }
    }

    /// The keys in sequence; at least one, without duplicates.
    package let terms: [Term]

    private init(checked terms: [Term]) { self.terms = terms }

    /// Creates a sort by one key; nil if the key does not support the direction.
    package init?(_ key: SortKey, _ direction: SortDirection) {
        guard key.isReversible || direction == key.naturalDirection else { return nil }
        self.init(checked: [Term(key, direction)])
    }

    /// `-popularity`, the default sort.
    package static let system = Sort(checked: [Term(.popularity, .descending)])
    package static let position = Sort(checked: [Term(.position, .ascending)])

    /// The direction of the tie-breakers.
    package var tieBreakerDirection: SortDirection {
        terms[0].direction == terms[0].key.naturalDirection ? .ascending : .descending
    }

    /// Whether the sort has the manual order of a shelf.
    package var readsPositions: Bool { terms.contains { $0.key == .position } }

    /// Whether sold-out products can be shown last or hidden; the manual order ignores availability.
    package var respectsAvailability: Bool { terms[0].key.respectsAvailability }

    /// The sort in the API's grammar: `-unit_price,name`.
    package var description: String {
        terms.map { ($0.direction == .descending ? "-" : "") + $0.key.name }.joined(separator: ",")
    }

    /// All sorts by a single key.
    package static let allSingle: [Sort] = SortKey.allCases.flatMap { key in
        [key.naturalDirection, key.naturalDirection.opposite].compactMap { Sort(key, $0) }
    }
}

extension Sort {
    /// Parses comma-separated keys, with `-` for descending, as in JSON:API.
    package static func parse(_ text: String) throws(SortError) -> Sort {
        var terms: [Term] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let isDescending = word.hasPrefix("-")
            let name = isDescending ? word.dropFirst() : word
            guard !name.isEmpty else { throw SortError(word: String(word), reason: "empty sort key", hint: nil) }
            guard let key = SortKey(rawValue: String(name)) else {
                throw SortError(
                    word: String(word.prefix(64)),
                    reason: "unknown sort key",
                    hint: name.closest(among: SortKey.allCases.lazy.map(\.name))
                )
            }
            let direction: SortDirection = isDescending ? .descending : .ascending
            guard !terms.contains(where: { $0.key == key }) else {
                throw SortError(word: String(word), reason: "duplicate sort key", hint: nil)
            }
            guard key.isReversible || direction == key.naturalDirection else {
                throw SortError(word: String(word), reason: "the manual order cannot be reversed", hint: key.name)
            }
            terms.append(Term(key, direction))
        }
        return Sort(checked: terms)
    }

    /// The allowed sort keys, for `allowed` in errors.
    package static let allowed: [String] = SortKey.allCases.flatMap {
        $0.isReversible ? [$0.name, "-" + $0.name] : [$0.name]
    }
}

/// An error in the text of a sort.
package struct SortError: Error, Sendable, Equatable {
    /// The invalid word.
    package let word: String
    package let reason: String
    /// A suggested key.
    package let hint: String?

    package var detail: String { "\(reason)\(word.isEmpty ? "" : ": “\(word)”")" }
}

/// The source of a response's sort.
package enum SortSource: String, CaseIterable, Sendable, Hashable {
    case query, user, shelf, store, system
}
