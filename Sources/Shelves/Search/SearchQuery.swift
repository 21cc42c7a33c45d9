/// The words of a search.
package struct SearchQuery: Sendable, Hashable {
    /// A folded word.
    struct Word: Sendable, Hashable {
        let bytes: [UInt8]
        let isNumber: Bool
        /// The place in the text, in UTF-16 units.
        let source: Range<Int>

        /// Whether the word can be a part of another one.
        var hasCompounds: Bool { !isNumber && bytes[...].letterCount >= SearchClass.compoundLetters }
        /// Whether the word can have a typo.
        var hasTypos: Bool { !isNumber && bytes[...].letterCount >= SearchClass.typoLetters }
    }

    /// A part of the text between white space, which may be a sku or a barcode as a whole.
    struct Term: Sendable, Hashable {
        /// The words of the term.
        let words: Range<Int>
        let code: [UInt8]
        let barcode: [UInt8]
    }

    package let text: String
    let words: [Word]
    let terms: [Term]

    /// The maximum number of characters, as Unicode scalars.
    package static let characterLimit = 100
    /// The maximum number of words between white space.
    package static let termLimit = 8
    /// The maximum number of words after letters and digits are split.
    package static let wordLimit = 32

    /// Parses the text of a search.
    package init(_ text: String) throws(SearchQueryError) {
        let count = text.unicodeScalars.count
        guard count <= Self.characterLimit else { throw .tooLong(count) }
        var (words, terms) = ([Word](), [Term]())
        var place = 0
        let parts = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0.properties.isWhitespace }
        for part in parts {
            let source = String(part)
            let folded = FoldedText(source)
            if !folded.words.isEmpty {
                let code = SearchCode.folded(source)
                terms.append(
                    Term(
                        words: words.count..<(words.count + folded.words.count),
                        code: code,
                        barcode: SearchCode.barcode(code)
                    )
                )
            }
            for word in folded.words {
                let range = (place + word.source.lowerBound)..<(place + word.source.upperBound)
                words.append(Word(bytes: Array(folded[word]), isNumber: word.isNumber, source: range))
            }
            // All white space takes one UTF-16 unit.
            place += source.utf16.count + 1
        }
        guard !words.isEmpty else { throw .noWord }
        guard terms.count <= Self.termLimit else { throw .tooManyWords(terms.count) }
        guard words.count <= Self.wordLimit else { throw .tooManyParts(words.count) }
        (self.text, self.words, self.terms) = (text, words, terms)
    }

    /// The number of words, after letters and digits are split.
    package var wordCount: Int { words.count }

    /// Returns a word as the query has it.
    package func sourceText(_ word: Int) -> String { text.utf16Part(words[word].source) }
}

/// An error in the text of a search.
package enum SearchQueryError: Error, Sendable, Hashable {
    /// The number of characters.
    case tooLong(Int)
    case noWord
    /// The number of words between white space.
    case tooManyWords(Int)
    /// The number of words after letters and digits are split.
    case tooManyParts(Int)

    package var detail: String {
        switch self {
        case .tooLong(let count): "must have at most \(SearchQuery.characterLimit) characters (got \(count))"
        case .noWord: "must have a letter or a digit"
        case .tooManyWords(let count): "must have at most \(SearchQuery.termLimit) words (got \(count))"
        case .tooManyParts(let count):
            "must have at most \(SearchQuery.wordLimit) words and numbers, if letters and digits are split (got \(count))"
        }
    }
}

extension String {
    /// Returns a part of the text by its UTF-16 units.
    func utf16Part(_ range: Range<Int>) -> String {
        String(decoding: utf16.dropFirst(range.lowerBound).prefix(range.count), as: UTF16.self)
    }
}
