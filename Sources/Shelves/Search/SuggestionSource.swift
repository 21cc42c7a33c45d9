package import Catalog

/// Everything from which suggestions for searches in a store are made. The products, the shelves and the rules may be of different states.
package struct SuggestionSource: Sendable {
    /// A shelf that can be suggested.
    package struct Shelf: Sendable {
        package let key: CatalogKey
        package let title: String
        package let productCount: Int
        /// The words of the title.
        fileprivate let words: FoldedText

        /// - Parameter productCount: the number of products that the shelf shows.
        package init(key: CatalogKey, title: String, productCount: Int) {
            (self.key, self.title, self.productCount, words) = (key, title, productCount, FoldedText(title))
        }
    }

    private let table: ShelfTable
    private let index: SearchIndex
    private let rules: SearchRules
    private let shelves: [Shelf]
    private let sortsSoldOutLast: Bool

    /// - Parameters:
    ///   - table: the products of all shelves, each once.
    ///   - sortsSoldOutLast: whether available products are suggested before others.
    /// - Precondition: the table is that of the index, and the rules have the forms of words of the index.
    package init(
        _ table: ShelfTable,
        _ index: SearchIndex,
        _ rules: SearchRules,
        shelves: [Shelf],
        sortsSoldOutLast: Bool
    ) {
        precondition(rules.inflection == index.inflection, "the rules have the forms of words of the index")
        (self.table, self.index, self.rules) = (table, index, rules)
        (self.shelves, self.sortsSoldOutLast) = (shelves, sortsSoldOutLast)
    }

    /// Returns suggestions for a text that a user has typed; none for one without a letter or a digit.
    ///
    /// - Throws: `malformed` for a text that is too long.
    /// - Complexity: as a search, and O(*n*) for *n* products.
    package func suggestions(for request: SuggestionRequest) throws(CatalogError) -> [Suggestion] {
        guard let query = try SearchQuery(typed: request.text) else { return [] }
        return suggestions(for: query, limit: request.limit)
    }

    func suggestions(for query: SearchQuery, limit: Int) -> [Suggestion] {
        let search = Search(query, rules, isTyped: true)
        let matches = index.matches(search)
        func suggestion(
            _ subject: Suggestion.Subject,
            _ text: String,
            within searchClass: SearchClass = .prefix
        ) -> Suggestion {
            let parts = search.highlights(
                within: searchClass,
                in: text,
                lastWordHasForms: matches.lastWordHasForms
            )
            return Suggestion(subject, text, matches: parts)
        }
        return Suggestion.choice(
            words: index.completions(search, table, limit: limit).map { suggestion(.word, $0.text) },
            shelves: shelves(query).prefix(limit).map { suggestion(.shelf($0.key), $0.title) },
            brands: index.brands(query, table, limit: limit).map { suggestion(.brand, $0.brand) },
            products: rows(of: matches, limit: limit).map { row in
                suggestion(.product(table.sku(row)), table.name(row), within: matches.classInUse)
            },
            limit: limit
        )
    }

    /// Returns the shelves whose titles have the words of a query, of which the last one may be a beginning. Those with more products come first.
    private func shelves(_ query: SearchQuery) -> [Shelf] {
        shelves.filter { query.isCompleted(by: $0.words) }
            .sorted { ($1.productCount, $0.title, $0.key) < ($0.productCount, $1.title, $1.key) }
    }

    /// A product by its place among others: availability, rank, popularity, closeness, and then its row.
    private struct Place: Comparable {
        /// Whether the product is sold out and sorts after available ones.
        let isSoldOut: Bool
        let relevance: SearchRelevance
        let popularity: Double
        let row: UInt32

        static func < (a: Place, b: Place) -> Bool {
            if a.isSoldOut != b.isSoldOut { return b.isSoldOut }
            return (a.relevance.rank, b.popularity, a.relevance.closeness, a.row)
                < (b.relevance.rank, a.popularity, b.relevance.closeness, b.row)
        }
    }

    /// Returns the rows of the best matches.
    private func rows(of matches: SearchMatches, limit: Int) -> [Int] {
        var best: [Place] = []
        for (row, relevance) in zip(matches.rows, matches.relevances) {
            let place = Place(
                isSoldOut: sortsSoldOutLast && !table.isInStock(Int(row)),
                relevance: relevance,
                popularity: table.popularities[Int(row)],
                row: row
            )
            if best.count == limit {
                guard let last = best.last, place < last else { continue }
                best.removeLast()
            }
            best.insert(place, at: best.firstIndex { place < $0 } ?? best.count)
        }
        return best.map { Int($0.row) }
    }
}

extension SearchQuery {
    /// Parses the text of a search that a user is typing; nil for one without a letter or a digit.
    ///
    /// - Throws: `malformed` for a text that is too long.
    package init?(typed text: String) throws(CatalogError) {
        do { try self.init(text) } catch {
            if case .noWord = error { return nil }
            throw error.catalogError
        }
    }
}
