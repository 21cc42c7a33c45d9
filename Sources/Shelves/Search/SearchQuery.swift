package import Catalog

/// The words of a search.
package struct SearchQuery: Sendable, Hashable {
    /// A folded word.
    struct Word: Sendable, Hashable {
        let bytes: [UInt8]
        let isNumber: Bool
        /// The range in the text, in UTF-16 units.
        let source: Range<Int>
        /// Whether another word comes from the same character of the text, such as both words of `℅`.
        let sharesSource: Bool

        /// Whether the word can be a part of another one.
        var hasCompounds: Bool { !isNumber && bytes[...].letterCount >= SearchClass.compoundLetters }
        /// Whether the word can have a typo.
        var hasTypos: Bool { !isNumber && bytes[...].letterCount >= SearchClass.typoLetters }
    }

    /// A word, or two adjacent words that may be one word in a product.
    struct Term: Sendable, Hashable {
        let words: Range<Int>
        let bytes: [UInt8]
    }

    /// A word that may be two words in a product.
    struct Split: Sendable, Hashable {
        let word: Int
        /// Both parts, which differ.
        let parts: [[UInt8]]

        /// The least number of letters of a part. Shorter ones are mostly units and articles.
        static let minimumLetters = 3
    }

    /// Adjacent parts of the text between white space, which may be a sku or a barcode together.
    struct Code: Sendable, Hashable {
        /// The words of the parts.
        let words: Range<Int>
        let code: [UInt8]
        let barcode: [UInt8]
    }

    /// Adjacent words that may be the size of a product.
    struct Size: Sendable, Hashable {
        let words: Range<Int>
        /// The code of a size, or its beginning, if the number of packs does not matter.
        let code: [UInt8]
    }

    package let text: String
    let words: [Word]
    let pairs: [Term]
    let splits: [Split]
    let codes: [Code]
    let sizes: [Size]

    /// Parses the text of a search.
    package init(_ text: String) throws(SearchTextError) {
        try SearchText.check(text)
        self.init(checked: text)
    }

    package init(_ text: SearchText) { self.init(checked: text.text) }

    private init(checked text: String) {
        var folded: [(bytes: [UInt8], isNumber: Bool, source: Range<Int>)] = []
        /// The words between white space, and their code.
        var parts: [(words: Range<Int>, code: [UInt8])] = []
        var offset = 0
        for part in text.unicodeScalars.split(
            omittingEmptySubsequences: false,
            whereSeparator: \.properties.isWhitespace
        ) {
            let (part, first) = (String(part), folded.count)
            let own = FoldedText(part)
            for word in own.words {
                let source = (offset + word.source.lowerBound)..<(offset + word.source.upperBound)
                folded.append((Array(own[word]), word.isNumber, source))
            }
            parts.append((first..<folded.count, SearchCode.folded(part)))
            // All white space takes one UTF-16 unit.
            offset += part.utf16.count + 1
        }
        self.text = text
        words = folded.enumerated().map { number, word in
            let neighbors = folded[max(0, number - 1)..<min(folded.count, number + 2)]
            return Word(
                bytes: word.bytes,
                isNumber: word.isNumber,
                source: word.source,
                sharesSource: neighbors.count { $0.source.overlaps(word.source) } > 1
            )
        }
        pairs = Self.pairs(words)
        splits = Self.splits(words)
        codes = Self.codes(parts)
        sizes = Self.sizes(words)
    }

    /// Returns the pairs of words that have as many letters together as a part of a compound.
    private static func pairs(_ words: [Word]) -> [Term] {
        zip(words, words.dropFirst()).enumerated().compactMap { number, pair in
            let bytes = pair.0.bytes + pair.1.bytes
            let areWords = ![pair.0, pair.1].contains { $0.isNumber || $0.sharesSource }
            guard areWords, bytes[...].letterCount >= SearchClass.compoundLetters else { return nil }
            return Term(words: number..<(number + 2), bytes: bytes)
        }
    }

    /// Returns the words as two words, at each place where they can be split.
    private static func splits(_ words: [Word]) -> [Split] {
        words.enumerated().flatMap { number, word -> [Split] in
            guard !word.isNumber else { return [] }
            let starts = word.bytes.indices.filter { word.bytes[$0] & 0xC0 != 0x80 }
            return starts.dropFirst(Split.minimumLetters).dropLast(Split.minimumLetters - 1).compactMap { start in
                let parts = [Array(word.bytes[..<start]), Array(word.bytes[start...])]
                return parts[0] == parts[1] ? nil : Split(word: number, parts: parts)
            }
        }
    }

    /// Returns the codes of all adjacent parts that begin and end with a part that has words.
    private static func codes(_ parts: [(words: Range<Int>, code: [UInt8])]) -> [Code] {
        var codes: [Code] = []
        for start in parts.indices where !parts[start].words.isEmpty {
            var code: [UInt8] = []
            for part in parts[start...] {
                code += part.code
                guard !part.words.isEmpty else { continue }
                let words = parts[start].words.lowerBound..<part.words.upperBound
                codes.append(Code(words: words, code: code, barcode: Barcode.padded(code)))
            }
        }
        return codes
    }

    /// Returns the sizes: a number and a unit, perhaps after a number of packs and `x`.
    private static func sizes(_ words: [Word]) -> [Size] {
        var sizes: [Size] = []
        for (number, word) in words.enumerated().dropFirst() where !word.isNumber && words[number - 1].isNumber {
            guard let unit = MeasureUnit(spelling: String(decoding: word.bytes, as: UTF8.self)),
                let amount = ExactDecimal(String(decoding: words[number - 1].bytes, as: UTF8.self))
            else { continue }
            func add(_ first: Int, packs: Int?) {
                guard let code = SearchCode.size(amount, unit, packs: packs) else { return }
                sizes.append(Size(words: first..<(number + 1), code: code))
            }
            add(number - 1, packs: nil)
            // Other signs of multiplication separate words.
            let hasSign = number >= 3 && words[number - 2].bytes == [UInt8(ascii: "x")]
            let first = number - (hasSign ? 3 : 2)
            guard first >= 0, let packs = Int(String(decoding: words[first].bytes, as: UTF8.self)) else { continue }
            add(first, packs: packs)
        }
        return sizes
    }

    /// The words, and then the pairs of words.
    var terms: [Term] {
        words.enumerated().map { Term(words: $0..<($0 + 1), bytes: $1.bytes) } + pairs
    }

    /// Whether the text ends with its last word, which a user may still be typing.
    var endsWithWord: Bool { words.last?.source.upperBound == text.utf16.count }

    /// Returns a word as the query has it.
    package func sourceText(_ word: Int) -> String { text.utf16Part(words[word].source) }
}

extension String {
    /// Returns a part of the text by its UTF-16 units.
    func utf16Part(_ range: Range<Int>) -> String {
        String(decoding: utf16.dropFirst(range.lowerBound).prefix(range.count), as: UTF16.self)
    }
}
