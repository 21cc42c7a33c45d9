/// How relevant a product is for a search, apart from its popularity. Products with lower values come first.
package struct SearchRelevance: Sendable, Hashable, Comparable {
    /// The worst class over the words, two bits for the best field, and 0 if the name begins with the first word, otherwise 1.
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The fields of words from the best to the worst.
    package enum Field: UInt8, CaseIterable, Sendable {
        case name, brand, tag, other

        /// The name in responses, as in the parts of products that match.
        package var name: String { self == .tag ? "tags" : "\(self)" }
    }

    /// The worst class over the words of the search.
    package var searchClass: SearchClass { SearchClass(rawValue: rawValue >> 3)! }
    /// The best field over the words of the search.
    package var field: Field { Field(rawValue: rawValue >> 1 & 0b11)! }
    /// Whether the name begins with the first word of the search.
    package var beginsName: Bool { rawValue & 1 == 0 }

    package static func < (a: SearchRelevance, b: SearchRelevance) -> Bool { a.rawValue < b.rawValue }
}
