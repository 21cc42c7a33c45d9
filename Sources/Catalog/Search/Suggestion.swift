/// A suggestion for a search that a user is typing.
package struct Suggestion: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        /// A query whose last word is completed.
        case word
        case shelf(CatalogKey)
        case brand
        case product(SKU)

        package var kind: Kind {
            switch self {
            case .word: .word
            case .shelf: .shelf
            case .brand: .brand
            case .product: .product
            }
        }
    }

    package enum Kind: String, Sendable, CaseIterable {
        case word, shelf, brand, product
    }

    package let subject: Subject
    /// The completed query, the title of the shelf, the brand, or the name of the product.
    package let text: String
    /// The parts of the text that match the query, in UTF-16 units, ascending.
    package let matches: [Range<Int>]

    package init(_ subject: Subject, _ text: String, matches: [Range<Int>]) {
        (self.subject, self.text, self.matches) = (subject, text, matches)
    }

    /// The numbers of suggestions that a request may ask for.
    package static let limits = 1...20
    package static let defaultLimit = 8

    /// Returns some of the best suggestions of all kinds: words, shelves, brands and products, in this order.
    ///
    /// In turn, two products, a word, a shelf and a brand are chosen, as long as there are any. So with a limit of five or more, no kind
    /// excludes another one.
    ///
    /// - Parameters:
    ///   - words: the best one first, as the other kinds.
    ///   - limit: the maximum number of suggestions.
    package static func choice(
        words: [Suggestion],
        shelves: [Suggestion],
        brands: [Suggestion],
        products: [Suggestion],
        limit: Int
    ) -> [Suggestion] {
        let kinds = [words, shelves, brands, products]
        var counts = [0, 0, 0, 0]
        var remaining = min(limit, kinds.reduce(0) { $0 + $1.count })
        while remaining > 0 {
            for kind in [3, 3, 0, 1, 2] where remaining > 0 && counts[kind] < kinds[kind].count {
                counts[kind] += 1
                remaining -= 1
            }
        }
        return zip(kinds, counts).flatMap { $0.prefix($1) }
    }
}

/// A request for suggestions.
package struct SuggestionRequest: Sendable, Hashable {
    package let store: CatalogKey
    /// The text that the user has typed so far.
    package let text: String
    package let limit: Int

    package init(store: CatalogKey, text: String, limit: Int = Suggestion.defaultLimit) {
        (self.store, self.text, self.limit) = (store, text, limit)
    }
}

/// The suggestions for a request, and the work that they took.
package struct FoundSuggestions: Sendable {
    package let suggestions: [Suggestion]
    /// Whether the request has read the shelves of the store. Requests that wait for the same read, or that the memory answers, have not.
    package let hasRead: Bool
    /// The number of products whose index the request has built.
    package let indexedProducts: Int

    package init(_ suggestions: [Suggestion], hasRead: Bool = false, indexedProducts: Int = 0) {
        (self.suggestions, self.hasRead, self.indexedProducts) = (suggestions, hasRead, indexedProducts)
    }
}

/// The suggestions for searches that users are typing.
package protocol SuggestionStore: Sendable {
    /// Returns suggestions from the products and shelves of a store; none for a text without a letter or a digit.
    ///
    /// They may miss the changes of the last second, unlike all other reads: users type faster than a database answers.
    ///
    /// - Throws: `notFound` for the store, `malformed` for a text that is too long.
    func suggestions(for request: SuggestionRequest) async throws(CatalogError) -> FoundSuggestions
}
