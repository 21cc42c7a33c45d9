package import Catalog

/// The texts of a product that a search reads.
package struct SearchTexts: Sendable {
    package var name: String
    package var brand: String?
    package var tags: [String]
    /// Further texts, such as those of attributes.
    package var others: [String]
    package var sku: String
    package var barcode: String?

    package init(_ product: Product, others: [String] = []) {
        (name, brand, tags) = (product.name, product.brand, product.tags)
        (sku, barcode) = (product.sku.text, product.barcode)
        self.others = others
    }

    /// The texts whose words are searched.
    fileprivate var wordTexts: [(field: SearchField, text: String)] {
        [(.name, name)] + (brand.map { [(.brand, $0)] } ?? []) + tags.enumerated().map { (.tag($0), $1) }
            + others.enumerated().map { (.other($0), $1) }
    }
}

/// A text of a product that a search reads.
package enum SearchField: Sendable, Hashable {
    case name, brand
    /// A tag by its index.
    case tag(Int)
    /// A further text by its index, such as that of an attribute.
    case other(Int)
    case sku, barcode
}

/// A part of a product's text that matches a word of a query.
package struct SearchHighlight: Sendable, Hashable {
    package let field: SearchField
    /// The range in the text, in UTF-16 units.
    package let range: Range<Int>
}

extension Search {
    /// Returns the parts of a product's texts that match any word of the query, by field and then by range. Parts of a field neither overlap nor touch.
    ///
    /// A form, a synonym, a typo or a number is highlighted as a whole, other words from the first to the last letter that match.
    /// A part has whole characters, with all marks of a letter. Sizes are values, not texts, so they have no highlights.
    ///
    /// - Parameter limit: the worst class in use.
    /// - Complexity: O(*w* *n*) for *w* words of the query and *n* bytes of texts.
    package func highlights(within limit: SearchClass, in texts: SearchTexts) -> [SearchHighlight] {
        let fields = texts.wordTexts.map { (field: $0.field, text: $0.text, folded: FoldedText($0.text)) }
        let combined = combinedWords(fields.map(\.folded), limit)
        var found: [SearchHighlight] = []
        for (field, text, folded) in fields {
            found += ranges(text, folded, combined, limit).map { SearchHighlight(field: field, range: $0) }
        }
        if let range = query.skuMatch(texts.sku, limit) { found.append(SearchHighlight(field: .sku, range: range)) }
        if let barcode = texts.barcode, query.matchesBarcode(barcode) {
            found.append(SearchHighlight(field: .barcode, range: 0..<barcode.utf16.count))
        }
        return found
    }

    /// Returns the parts of a text that match any word of the query, ascending, as those of a product's texts.
    ///
    /// - Parameters:
    ///   - limit: the worst class in use.
    ///   - lastWordHasForms: whether forms of the last word match, as `SearchMatches` has it.
    /// - Complexity: O(*w* *n*) for *w* words of the query and *n* bytes.
    package func highlights(within limit: SearchClass, in text: String, lastWordHasForms: Bool) -> [Range<Int>] {
        let folded = FoldedText(text)
        return ranges(text, folded, combinedWords([folded], limit), limit, lastWordHasForms: lastWordHasForms)
    }

    /// Returns the ranges of a text, in UTF-16 units, that match any word of the query.
    ///
    /// - Parameters:
    ///   - combined: the words that match together with others.
    ///   - lastWordHasForms: whether forms of the last word match.
    private func ranges(
        _ text: String,
        _ folded: FoldedText,
        _ combined: Set<[UInt8]>,
        _ limit: SearchClass,
        lastWordHasForms: Bool = true
    ) -> [Range<Int>] {
        /// Whether forms of a word match, by the number of the word or of the last of several words.
        func hasForms(_ number: Int) -> Bool { lastWordHasForms || number < query.words.count - 1 }
        var ranges: [Range<Int>] = []
        for word in folded.words {
            if combined.contains(Array(folded[word])) { ranges.append(word.source) }
            for (number, wanted) in query.words.enumerated() {
                if let range = match(wanted, word, folded, limit, hasForms: hasForms(number)) { ranges.append(range) }
            }
            for pair in query.pairs {
                let hasForms = hasForms(pair.words.upperBound - 1)
                if let range = match(pair.bytes, word, folded, limit, hasForms: hasForms) { ranges.append(range) }
            }
        }
        return text.wholeCharacters(ranges).merged
    }

    /// Returns the range of the best match of a word; nil if it does not match.
    private func match(
        _ wanted: SearchQuery.Word,
        _ word: FoldedText.Word,
        _ text: FoldedText,
        _ limit: SearchClass,
        hasForms: Bool
    ) -> Range<Int>? {
        if let range = match(wanted.bytes, word, text, limit, hasForms: hasForms) { return range }
        let bytes = text[word]
        /// Returns the range of the word of the query at an offset.
        func part(_ offset: Int) -> Range<Int> {
            let start = word.bytes.lowerBound + offset
            return text.source(of: start..<(start + wanted.bytes.count))
        }
        if limit >= .compound, wanted.hasCompounds, bytes.count > wanted.bytes.count {
            let offsets = 1...(bytes.count - wanted.bytes.count)
            if let offset = offsets.first(where: { bytes.dropFirst($0).starts(with: wanted.bytes) }) {
                return part(offset)
            }
        }
        guard limit >= .typo, wanted.hasTypos else { return nil }
        let letterEnd = EditDistance.letterEnd(wanted.bytes[...], 0)
        guard bytes.starts(with: wanted.bytes[..<letterEnd]) else { return nil }
        let isTypo = bytes.withUnsafeBufferPointer { a in
            wanted.bytes.withUnsafeBufferPointer { EditDistance.isOneEdit(a, $0) }
        }
        return isTypo ? word.source : nil
    }

    /// Returns the range of a word, of a form of it, or of its beginning; nil if it is another word.
    private func match(
        _ wanted: [UInt8],
        _ word: FoldedText.Word,
        _ text: FoldedText,
        _ limit: SearchClass,
        hasForms: Bool
    ) -> Range<Int>? {
        let bytes = text[word]
        if bytes.elementsEqual(wanted) { return word.source }
        if hasForms, limit >= .related, inflection.areForms(wanted[...], bytes) { return word.source }
        guard limit >= .prefix, bytes.starts(with: wanted) else { return nil }
        return text.source(of: word.bytes.lowerBound..<(word.bytes.lowerBound + wanted.count))
    }
}

extension SearchQuery {
    /// Returns the longest part of a sku that is a code of the query; nil if none is.
    fileprivate func skuMatch(_ sku: String, _ limit: SearchClass) -> Range<Int>? {
        let code = SearchCode.folded(sku)
        let matching = codes.filter { wanted in
            code == wanted.code || limit >= .prefix && code.starts(with: wanted.code)
        }
        guard let longest = matching.map(\.code.count).max() else { return nil }
        if longest == code.count { return 0..<sku.utf16.count }
        // The shortest beginning of the sku with as much code.
        var end = 0
        var beginning = ""
        for scalar in sku.unicodeScalars {
            beginning.unicodeScalars.append(scalar)
            end += UTF16.width(scalar)
            if SearchCode.folded(beginning).count >= longest { break }
        }
        return sku.wholeCharacters([0..<end])[0]
    }

    fileprivate func matchesBarcode(_ barcode: String) -> Bool {
        let code = Barcode.padded(SearchCode.folded(barcode))
        return codes.contains { $0.barcode == code }
    }
}

extension String {
    /// Returns ranges in UTF-16 units, extended to whole characters.
    fileprivate func wholeCharacters(_ ranges: [Range<Int>]) -> [Range<Int>] {
        guard !ranges.isEmpty, !utf8.allSatisfy({ $0 < 0x80 }) else { return ranges }
        // The first unit of each character, and the end of the text.
        var starts = [0]
        for character in self { starts.append(starts.last! + character.utf16.count) }
        return ranges.map { range in
            starts.last { $0 <= range.lowerBound }!..<starts.first { $0 >= range.upperBound }!
        }
    }
}

extension [Range<Int>] {
    /// The ranges in their order, with those that overlap or touch as one.
    fileprivate var merged: [Range<Int>] {
        var merged: [Range<Int>] = []
        for range in sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }
}

extension Search {
    /// Returns the parts of a product that match any word of the query, in the fields that responses have.
    ///
    /// - Parameters:
    ///   - limit: the worst class in use.
    ///   - searchable: the attributes whose texts are in the index.
    package func matches(
        within limit: SearchClass,
        in product: Product,
        searchable: [ResolvedAttribute]
    ) -> [ProductMatch] {
        let others = searchable.searchedTexts(of: product).map { attribute, index, text in
            (field: ProductMatch.Field.attribute(attribute.name, index), text: text)
        }
        let texts = SearchTexts(product, others: others.map(\.text))
        return highlights(within: limit, in: texts).map { highlight in
            let field: ProductMatch.Field =
                switch highlight.field {
                case .name: .name
                case .brand: .brand
                case .tag(let index): .tag(index)
                case .other(let index): others[index].field
                case .sku: .sku
                case .barcode: .barcode
                }
            return ProductMatch(field, highlight.range)
        }
    }
}
