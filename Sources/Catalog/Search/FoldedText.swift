/// The folded words of a text: without case, accents, width and form, with numbers by value, and with their ranges in the text.
///
/// A word has letters or digits, but not both. A number is written without leading zeros, and with a point before its decimals, which do
/// not end with a zero. Apostrophes and invisible characters within a word do not count; all other characters separate words.
/// A value can fold many texts, one after another, and then seldom allocates.
package struct FoldedText: Sendable {
    package struct Word: Sendable, Equatable {
        /// The bytes of the word in `bytes`.
        package var bytes: Range<Int>
        package var isNumber: Bool
        /// The range of the word in the text, in UTF-16 units.
        package var source: Range<Int>
    }

    /// The words, as UTF-8, one after another.
    package private(set) var bytes: [UInt8] = []
    package private(set) var words: [Word] = []
    /// The range, in UTF-16 units, of the character from which each byte comes, with its accents.
    private var starts: [UInt32] = []
    private var ends: [UInt32] = []

    /// The digits of the current number, without marks, and the digits after which each of its parts ends.
    private var digits: [UInt8] = []
    private var parts: [(end: Int, source: Range<Int>)] = []
    /// Whether a decimal mark follows the current number.
    private var hasMark = false
    /// Whether the current number has digits with a form of their own, such as superscripts.
    private var isStyled = false
    /// The first byte of the current word of letters; nil outside of one.
    private var wordStart: Int?
    /// The last letter of the current word.
    private var lastLetter: UInt32 = 0

    package init() {}

    package init(_ text: String) {
        var text = text
        text.withUTF8 { fold(UnsafeRawBufferPointer($0)) }
    }

    /// Replaces the words by those of a text.
    ///
    /// - Parameter text: UTF-8. Invalid bytes separate words.
    /// - Complexity: O(*n*).
    package mutating func fold(_ text: UnsafeRawBufferPointer) {
        bytes.removeAll(keepingCapacity: true)
        words.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        CharacterFolding.shared.forEachRole(of: text) { add($0, $1) }
        endWord()
        endNumber()
    }

    /// Returns the folded words of a text.
    package static func words(_ text: String) -> [[UInt8]] {
        let folded = FoldedText(text)
        return folded.words.map { Array(folded[$0]) }
    }

    /// Returns the folded bytes of a word.
    package subscript(_ word: Word) -> ArraySlice<UInt8> { bytes[word.bytes] }

    /// Returns the range, in UTF-16 units of the text, of a part of a word, with whole characters. A part of a number has the range of all its digits.
    ///
    /// - Parameter part: bytes of `bytes` that begin and end with a letter.
    package func source(of part: Range<Int>) -> Range<Int> {
        Int(starts[part.lowerBound])..<Int(ends[part.upperBound - 1])
    }

    // MARK: - Characters

    private mutating func add(_ role: CharacterFolding.Role, _ source: Range<Int>) {
        switch role.kind {
        case .letter:
            endNumber()
            if wordStart == nil { wordStart = bytes.count }
            lastLetter = role.scalar
            append(role.scalar)
            while starts.count < bytes.count {
                starts.append(UInt32(source.lowerBound))
                ends.append(UInt32(source.upperBound))
            }
        case .digit, .styledDigit:
            endWord()
            if isStyled != (role.kind == .styledDigit) {
                endNumber()
                isStyled.toggle()
            }
            digits.append(UInt8(role.scalar))
            if parts.isEmpty || hasMark {
                parts.append((digits.count, source))
                hasMark = false
            } else {
                parts[parts.count - 1] = (digits.count, parts[parts.count - 1].source.lowerBound..<source.upperBound)
            }
        case .accent:
            if wordStart != nil {
                composeLetter(role.scalar)
                // All letters of the character before have the accent.
                let start = starts.last
                for byte in bytes.indices.reversed().prefix(while: { starts[$0] == start }) {
                    ends[byte] = UInt32(source.upperBound)
                }
            } else if let last = parts.last, !hasMark {
                parts[parts.count - 1].source = last.source.lowerBound..<source.upperBound
            }
        case .decimalMark:
            endWord()
            if hasMark { endNumber() }
            hasMark = !parts.isEmpty
        case .apostrophe, .text: endNumber()
        case .invisible: break
        case .separator:
            endWord()
            endNumber()
        }
    }

    /// Replaces the last letter by the letter that it forms with an accent, if any.
    private mutating func composeLetter(_ accent: UInt32) {
        guard let composed = CharacterFolding.composed(lastLetter, accent) else { return }
        // Both letters have two bytes, of which the first one may differ.
        bytes.removeLast(2)
        append(composed)
        lastLetter = composed
    }

    // MARK: - Words

    private mutating func endWord() {
        guard let start = wordStart else { return }
        words.append(Word(bytes: start..<bytes.count, isNumber: false, source: source(of: start..<bytes.count)))
        wordStart = nil
    }

    private mutating func endNumber() {
        hasMark = false
        guard !parts.isEmpty else { return }
        if parts.count == 2 {
            let whole = digits[..<parts[0].end].drop { $0 == Self.zero }
            var decimals = digits[parts[0].end...]
            while decimals.last == Self.zero { decimals.removeLast() }
            appendNumber(
                whole,
                decimals,
                parts[0].source.lowerBound..<parts[1].source.upperBound
            )
        } else {
            // Digits with several marks, such as dates and thousands, are several numbers.
            var start = 0
            for part in parts {
                appendNumber(digits[start..<part.end].drop { $0 == Self.zero }, [], part.source)
                start = part.end
            }
        }
        digits.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
    }

    private static let zero = UInt8(ascii: "0")

    /// Appends a number by its digits without zeros at the beginning and at the end of the decimals.
    private mutating func appendNumber(_ whole: ArraySlice<UInt8>, _ decimals: ArraySlice<UInt8>, _ source: Range<Int>)
    {
        let start = bytes.count
        if whole.isEmpty { bytes.append(Self.zero) } else { bytes.append(contentsOf: whole) }
        if !decimals.isEmpty {
            bytes.append(UInt8(ascii: "."))
            bytes.append(contentsOf: decimals)
        }
        while starts.count < bytes.count {
            starts.append(UInt32(source.lowerBound))
            ends.append(UInt32(source.upperBound))
        }
        words.append(Word(bytes: start..<bytes.count, isNumber: true, source: source))
    }

    private mutating func append(_ scalar: UInt32) {
        if scalar < 0x80 {
            bytes.append(UInt8(scalar))
        } else if let scalar = Unicode.Scalar(scalar) {
            bytes.append(contentsOf: UTF8.encode(scalar)!)
        }
    }
}
