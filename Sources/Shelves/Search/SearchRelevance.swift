package import Catalog

/// How relevant a product is for a query, apart from its popularity. Products with lower values come first.
package struct SearchRelevance: Sendable, Hashable, Comparable {
    /// The worst class over the words, two bits for the best field, and 0 if the name begins with the first word, otherwise 1.
    package let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The worst class over the words of the query.
    package var searchClass: SearchClass { SearchClass(rawValue: rawValue >> 3)! }

    package static func < (a: SearchRelevance, b: SearchRelevance) -> Bool { a.rawValue < b.rawValue }
}
