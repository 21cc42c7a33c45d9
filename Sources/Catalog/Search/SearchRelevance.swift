/// How relevant a product is for a search, apart from its popularity.
///
/// Products are ordered by rank, then by the further keys of the sort and by popularity, and then by closeness. Lower values come first.
package struct SearchRelevance: Sendable, Hashable {
    /// The worst class over the words, two bits for the best field, and 0 if the name begins with the first word, otherwise 1.
    package let rank: UInt8
    /// Three bits for the place of the first word of the name that is found, and five for the number of words of the name.
    package let closeness: UInt8

    /// The part that a sort key compares; nil for a key that needs no search.
    package func value(of key: SortKey) -> UInt8? {
        switch key {
        case .relevance: rank
        case .closeness: closeness
        default: nil
        }
    }

    /// - Parameters:
    ///   - place: the number of words before the first word of the name that is found. A beginning of a word or a better match counts
    ///     always, a worse match only if the search uses its class.
    ///   - nameWords: the number of words of the name, apart from numbers.
    package init(rank: UInt8, place: Int, nameWords: Int) {
        self.rank = rank
        closeness = UInt8(min(place, Self.lastPlace) << 5 | min(nameWords, Self.nameWordLimit))
    }

    /// The place of all words from the eighth on, and of words that are not found in the name.
    package static let lastPlace = 7
    /// The largest number of words of a name that counts.
    package static let nameWordLimit = 31

    /// The fields of words from the best to the worst.
    package enum Field: UInt8, CaseIterable, Sendable {
        case name, brand, tag, other

        /// The name in responses, as in the parts of products that match.
        package var name: String { self == .tag ? "tags" : "\(self)" }
    }

    /// The worst class over the words of the search.
    package var searchClass: SearchClass { SearchClass(rawValue: rank >> 3)! }
    /// The best field over the words of the search.
    package var field: Field { Field(rawValue: rank >> 1 & 0b11)! }
    /// Whether the name begins with the first word of the search.
    package var beginsName: Bool { rank & 1 == 0 }
    /// The number of words before the first word of the name that is found, at most `lastPlace`.
    package var place: Int { Int(closeness >> 5) }
    /// The number of words of the name, apart from numbers, at most `nameWordLimit`.
    package var nameWords: Int { Int(closeness & 0b11111) }
}
