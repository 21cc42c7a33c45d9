/// How well a word of a query matches a word of a product, from best to worst.
package enum SearchClass: UInt8, Sendable, CaseIterable, Comparable {
    /// The same word, two words as one, or the product's sku or barcode.
    case exact
    /// An inflected form or a synonym.
    case related
    /// The beginning of a word or of the sku.
    case prefix
    /// A part of a word, from 4 letters, or one word as two.
    case compound
    /// A word of at least 5 letters with one edit after the first letter: a letter that is added, removed or replaced, or two swapped neighbours.
    case typo

    /// The name in responses and cursors.
    package var name: String {
        switch self {
        case .exact: "exact"
        case .related: "related"
        case .prefix: "prefix"
        case .compound: "compound"
        case .typo: "typo"
        }
    }

    /// Creates the class with a name; nil for another text.
    package init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// The least number of letters of a word that can be a part of another one.
    package static let compoundLetters = 4
    /// The least number of letters of a word that can have a typo.
    package static let typoLetters = 5
    /// The number of products that the classes in use find together, if there are as many.
    package static let wantedProducts = 5

    package static func < (a: SearchClass, b: SearchClass) -> Bool { a.rawValue < b.rawValue }
}
