internal import Catalog

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A suggested query.
package struct SearchSuggestion: Sendable, Hashable {
    /// The text of the query.
    package let text: String
    /// The words that differ from the text that the user typed, in their order.
    package let words: [String]
    /// The number of products that have these words and match the others.
    package let products: Int
}

/// A suggested brand.
package struct BrandSuggestion: Sendable, Hashable {
    package let brand: String
    package let products: Int
}

extension SearchQuery {
    /// Returns whether a text has all words, of which the last one may be a beginning.
    func isCompleted(by text: FoldedText) -> Bool {
        words.enumerated().allSatisfy { number, word in
            text.words.contains { own in
                let isBeginning = text[own].starts(with: word.bytes)
                return isBeginning && (number == words.count - 1 || own.bytes.count == word.bytes.count)
            }
        }
    }
}

/// How popular some products are together. The more popular comes first.
private struct ProductWeight: Comparable {
    /// The purchases of all products, divided by those of the most popular product of the shelf.
    var purchases = 0.0
    var products = 0

    static func < (a: ProductWeight, b: ProductWeight) -> Bool {
        (b.purchases, b.products) < (a.purchases, a.products)
    }
}

extension SearchIndex {
    // MARK: - Completions

    /// Returns queries in which the last word is completed, by descending popularity of the products that have the word and match the other words.
    ///
    /// Words of names, brands and tags complete it. Those of attributes do not: the keys of options are not for people.
    /// The other words match as a whole, in another form, as a synonym, as a beginning or two as one. A text that does not end with a word has no completion.
    /// Neither has a word that shares its last character with another one. Other words of the query complete nothing: nobody repeats a word.
    ///
    /// - Precondition: the table is that of the index, and the search has the index's rules for forms of words.
    /// - Complexity: O(*m* + *k* log *k*) for *k* words that begin like the last one, and *m* postings of them; O(*n*) with several words.
    package func completions(_ search: Search, _ table: ShelfTable, limit: Int) -> [SearchSuggestion] {
        let query = search.query
        guard let last = query.words.last, query.endsWithWord, !last.sharesSource else { return [] }
        let context = otherWords(search)
        let weights = Weights(table)
        var found: [(word: Int, weight: ProductWeight)] = []
        let others = Set(query.words.dropLast().map(\.bytes))
        for word in words.words(beginningWith: last.bytes) where words[word].count > last.bytes.count {
            if others.contains(Array(words[word])) { continue }
            let weight = weights.sum(self, word, context, within: .tag)
            if weight.products > 0 { found.append((word, weight)) }
        }
        found.sort { ($0.weight, $0.word) < ($1.weight, $1.word) }
        return found.prefix(limit).map { suggestion(query, [query.words.count - 1: $0.word], table, $0.weight) }
    }

    /// Returns brands with the words of a query, of which the last one may be a beginning, by descending popularity of their products.
    ///
    /// - Precondition: the table is that of the index.
    /// - Complexity: O(*n*) for *n* products and bytes of brands.
    package func brands(_ query: SearchQuery, _ table: ShelfTable, limit: Int) -> [BrandSuggestion] {
        var folded = FoldedText()
        var weights = [ProductWeight?](repeating: nil, count: table.brandTexts.count)
        for brand in weights.indices {
            table.brandTexts.texts.withBytes(brand) { folded.fold($0) }
            if query.isCompleted(by: folded) { weights[brand] = ProductWeight() }
        }
        let all = Weights(table)
        for (row, brand) in table.brands.enumerated() where brand != ShelfTable.none && weights[Int(brand)] != nil {
            weights[Int(brand)]?.purchases += all[row]
            weights[Int(brand)]?.products += 1
        }
        // Brands are in the order of the store's language.
        let found = weights.enumerated().compactMap { brand, weight in weight.map { (weight: $0, brand: brand) } }
            .filter { $0.weight.products > 0 }
        return found.sorted { ($0.weight, $0.brand) < ($1.weight, $1.brand) }.prefix(limit).map {
            BrandSuggestion(brand: table.brandTexts.texts.text($0.brand), products: $0.weight.products)
        }
    }

    // MARK: - Corrections

    /// The maximum number of edits of a correction, for words of fewer letters than those that can have a typo, and for others.
    private static let correctionLimits = (short: 1, long: 2)
    /// The least number of letters of a word that is corrected.
    private static let correctionLetters = 3
    /// The maximum number of words that are corrected, or tried, because each is compared with all words.
    static let correctedWords = 4

    /// Returns the best correction of a query without results; nil without one that finds products.
    ///
    /// The words that no product has are corrected. If there are none, the best correction of one word is taken, tried with the rarest words. A
    /// correction has as few edits as possible, and products that match the other words. Of several, the one with the most popular products
    /// is best. Neither numbers nor words that share a character of the text are corrected, and no word becomes another word of the
    /// corrected query.
    ///
    /// - Precondition: the table is that of the index, and the search has the index's rules for forms of words.
    /// - Complexity: O(*w* *n* + *b*) for *w* words of the query, *n* rows, and *b* letters of distinct words.
    package func correction(_ search: Search, _ table: ShelfTable) -> SearchSuggestion? {
        let words = search.query.words
        var found = RowSearch(self, search)
        found.addAll()
        let weights = Weights(table)
        var known = Set(words.map(\.bytes))
        let missing = words.indices.filter { found.rows[$0].isEmpty }
        if missing.isEmpty {
            let rarest = words.indices.filter { isCorrectable(words[$0]) }
                .sorted { (found.rows[$0].count, $0) < (found.rows[$1].count, $1) }
            let corrections = rarest.prefix(Self.correctedWords).compactMap { number in
                replacement(words[number], found.matches(without: [number]), weights, except: known)
                    .map { (number: number, found: $0) }
            }
            return corrections.min { ($0.found, $0.number) < ($1.found, $1.number) }
                .map { suggestion(search.query, [$0.number: $0.found.word], table, $0.found.weight) }
        }
        guard missing.count <= Self.correctedWords, missing.allSatisfy({ isCorrectable(words[$0]) }) else { return nil }
        var context = found.matches(without: Set(missing))
        var (corrected, last) = ([Int: Int](), Replacement?.none)
        for number in missing {
            guard let found = replacement(words[number], context, weights, except: known) else { return nil }
            corrected[number] = found.word
            known.insert(Array(self.words[found.word]))
            last = found
            var isRow = [Bool](repeating: false, count: rowCount)
            forEachPosting(of: found.word) { isRow[$0.row] = context[$0.row] }
            context = isRow
        }
        return last.map { suggestion(search.query, corrected, table, $0.weight) }
    }

    private func isCorrectable(_ word: SearchQuery.Word) -> Bool {
        !word.isNumber && !word.sharesSource && word.bytes[...].letterCount >= Self.correctionLetters
    }

    /// A word that may be meant. The better one comes first.
    private struct Replacement: Comparable {
        let edits: Int
        let weight: ProductWeight
        let word: Int

        static func < (a: Replacement, b: Replacement) -> Bool {
            (a.edits, a.weight, a.word) < (b.edits, b.weight, b.word)
        }
    }

    private func replacement(
        _ word: SearchQuery.Word,
        _ context: [Bool],
        _ weights: Weights,
        except known: Set<[UInt8]>
    ) -> Replacement? {
        var limit = word.hasTypos ? Self.correctionLimits.long : Self.correctionLimits.short
        var distances = EditDistances(word.bytes)
        var best: Replacement?
        words.forEach { candidate, bytes in
            // The word itself has no edit.
            guard !isNumber(bytes), let edits = distances.distance(to: bytes, limit: limit), edits > 0 else { return }
            let weight = weights.sum(self, candidate, context)
            guard weight.products > 0, !known.contains(Array(bytes)) else { return }
            let found = Replacement(edits: edits, weight: weight, word: candidate)
            if best.map({ found < $0 }) ?? true { best = found }
            limit = edits
        }
        return best
    }

    private func isNumber(_ word: UnsafeBufferPointer<UInt8>) -> Bool {
        word.first.map { (0x30...0x39).contains($0) } ?? false
    }

    // MARK: - Parts

    /// Returns whether each row matches all words but the last one, in the classes up to the beginning of a word; nil without other words.
    private func otherWords(_ search: Search) -> [Bool]? {
        guard search.query.words.count > 1 else { return nil }
        var found = RowSearch(self, search)
        found.addWords()
        return found.matches(without: [search.query.words.count - 1])
    }

    /// Returns a query in which some words are replaced.
    ///
    /// - Precondition: the words do not share a character with others.
    private func suggestion(
        _ query: SearchQuery,
        _ replaced: [Int: Int],
        _ table: ShelfTable,
        _ weight: ProductWeight
    ) -> SearchSuggestion {
        var (text, end, words) = ("", 0, [String]())
        for (number, replacement) in replaced.sorted(by: { $0.key < $1.key }) {
            words.append(spelling(replacement, table))
            text += query.text.utf16Part(end..<query.words[number].source.lowerBound) + words.last!
            end = query.words[number].source.upperBound
        }
        text += query.text.utf16Part(end..<query.text.utf16.count)
        return SearchSuggestion(text: text, words: words, products: weight.products)
    }

    /// Returns a word as the most popular product with the word in its name writes it, in lower case. Without such a product, it is folded.
    private func spelling(_ word: Int, _ table: ShelfTable) -> String {
        var best: Int?
        forEachPosting(of: word) { posting in
            guard posting.isName else { return }
            if best.map({ table.popularities[posting.row] > table.popularities[$0] }) ?? true { best = posting.row }
        }
        let folded = String(decoding: words[word], as: UTF8.self)
        guard let best else { return folded }
        let name = table.name(best)
        let text = FoldedText(name)
        guard let found = text.words.first(where: { text[$0].elementsEqual(words[word]) }) else { return folded }
        let spelling = name.utf16Part(found.source).lowercased()
        // A character such as `℅` has several words.
        return FoldedText.words(spelling) == [Array(words[word])] ? spelling : folded
    }

    /// The purchases of products, divided by those of the most popular one.
    private struct Weights {
        private let popularities: [Double]
        private let highest: Double

        init(_ table: ShelfTable) {
            popularities = table.popularities
            highest = popularities.max() ?? 0
        }

        subscript(row: Int) -> Double {
            // −∞ is the logarithm of no purchase.
            popularities[row] == -.infinity ? 0 : exp2(popularities[row] - highest)
        }

        /// Returns the weight of the rows of a word.
        ///
        /// - Parameters:
        ///   - context: the rows that count; nil for all.
        ///   - field: the last of the fields that count.
        func sum(
            _ index: SearchIndex,
            _ word: Int,
            _ context: [Bool]?,
            within field: SearchRelevance.Field = .other
        ) -> ProductWeight {
            var weight = ProductWeight()
            index.forEachPosting(of: word) { posting in
                guard context?[posting.row] ?? true, posting.field <= field.rawValue else { return }
                weight.purchases += self[posting.row]
                weight.products += 1
            }
            return weight
        }
    }
}
