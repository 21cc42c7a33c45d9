/// The folded words of a text: without case, accents, width and form, with numbers by value, and with their places in the text.
///
/// A word has letters or digits, but not both. A number is written without leading zeros, and with a point before its decimals, which do
/// not end with a zero. Apostrophes and invisible characters within a word do not count; all other characters separate words.
/// A value can fold many texts, one after another, without new memory.
struct FoldedText: Sendable {
    struct Word: Sendable, Equatable {
        /// The bytes of the word in `bytes`.
        var bytes: Range<Int>
        var isNumber: Bool
        /// The place of the word in the text, in UTF-16 units.
        var source: Range<Int>
    }

    /// The words, as UTF-8, one after another.
    private(set) var bytes: [UInt8] = []
    private(set) var words: [Word] = []
    /// The place, in UTF-16 units, of the character from which each byte comes.
    private var starts: [UInt32] = []
    private var ends: [UInt32] = []

    /// The digits of the current number, without marks, and the digits after which each of its parts ends.
    private var digits: [UInt8] = []
    private var parts: [(end: Int, source: Range<Int>)] = []
    /// Whether a decimal mark follows the current number.
    private var hasMark = false
    /// The first byte of the current word of letters; nil outside of one.
    private var wordStart: Int?
    /// The first byte of the last letter.
    private var letterStart = 0

    init() {}

    init(_ text: String) {
        var text = text
        text.withUTF8 { fold(UnsafeRawBufferPointer($0)) }
    }

    /// Replaces the words by those of a text.
    ///
    /// - Parameter text: UTF-8. Other bytes separate words.
    /// - Complexity: O(*n*).
    mutating func fold(_ text: UnsafeRawBufferPointer) {
        bytes.removeAll(keepingCapacity: true)
        words.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        let folding = CharacterFolding.shared
        var (index, place) = (0, 0)
        while index < text.count {
            let (scalar, length) = Self.scalar(text, at: index)
            let source = place..<(place + (scalar > 0xFFFF ? 2 : 1))
            index += length
            place = source.upperBound
            if Self.syllables.contains(scalar) {
                addSyllable(scalar, source)
                continue
            }
            let role = folding.role(scalar)
            if role.kind == .text {
                for part in folding.text(role) { add(folding.role(part), source) }
            } else {
                add(role, source)
            }
        }
        endWord()
        endNumber()
    }

    /// Returns the folded bytes of a word.
    subscript(_ word: Word) -> ArraySlice<UInt8> { bytes[word.bytes] }

    /// Returns the place, in UTF-16 units of the text, of a part of a word, with whole characters. The place of a number is that of all its digits.
    ///
    /// - Parameter part: bytes of `bytes` that begin and end with a letter.
    func source(of part: Range<Int>) -> Range<Int> { Int(starts[part.lowerBound])..<Int(ends[part.upperBound - 1]) }

    // MARK: - Characters

    private mutating func add(_ role: CharacterFolding.Role, _ source: Range<Int>) {
        switch role.kind {
        case .letter:
            endNumber()
            if wordStart == nil { wordStart = bytes.count }
            letterStart = bytes.count
            append(role.scalar)
            while starts.count < bytes.count {
                starts.append(UInt32(source.lowerBound))
                ends.append(UInt32(source.upperBound))
            }
        case .digit:
            endWord()
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
                for byte in letterStart..<bytes.count { ends[byte] = UInt32(source.upperBound) }
            } else if let last = parts.last, !hasMark {
                parts[parts.count - 1].source = last.source.lowerBound..<source.upperBound
            }
        case .decimalMark:
            endWord()
            if hasMark { endNumber() }
            hasMark = !parts.isEmpty
        case .apostrophe: endNumber()
        case .invisible: break
        case .separator, .text:
            endWord()
            endNumber()
        }
    }

    /// Replaces the last letter and an accent by the letter that they form in Cyrillic; other accents do not count.
    private mutating func composeLetter(_ accent: UInt32) {
        guard accent == 0x306 || accent == 0x308, bytes.count == letterStart + 2 else { return }
        switch (bytes[letterStart], bytes[letterStart + 1], accent) {
        case (0xD0, 0xB8, 0x306): bytes[letterStart + 1] = 0xB9
        case (0xD1, 0x83, 0x306): bytes[letterStart + 1] = 0x9E
        case (0xD1, 0x96, 0x308): bytes[letterStart + 1] = 0x97
        default: break
        }
    }

    /// The syllables of Hangul.
    private static let syllables: ClosedRange<UInt32> = 0xAC00...0xD7A3

    /// Adds the letters of a syllable of Hangul. Source: The Unicode Standard, section 3.12.
    private mutating func addSyllable(_ scalar: UInt32, _ source: Range<Int>) {
        let number = scalar - Self.syllables.lowerBound
        let letters = [0x1100 + number / 588, 0x1161 + number % 588 / 28, 0x11A7 + number % 28]
        for letter in number % 28 == 0 ? letters.dropLast() : letters[...] {
            add(CharacterFolding.shared.role(letter), source)
        }
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

    // MARK: - UTF-8

    private mutating func append(_ scalar: UInt32) {
        if scalar < 0x80 {
            bytes.append(UInt8(scalar))
        } else if let scalar = Unicode.Scalar(scalar) {
            bytes.append(contentsOf: UTF8.encode(scalar)!)
        }
    }

    /// Decodes a character; a wrong byte is U+FFFD.
    static func scalar(_ text: UnsafeRawBufferPointer, at index: Int) -> (UInt32, length: Int) {
        let first = text[index]
        if first < 0x80 { return (UInt32(first), 1) }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard first >= 0xC2, first < 0xF5, index + length <= text.count else { return (0xFFFD, 1) }
        var scalar = UInt32(first) & (0x7F >> UInt32(length))
        for byte in text[(index + 1)..<(index + length)] {
            guard byte & 0xC0 == 0x80 else { return (0xFFFD, 1) }
            scalar = scalar << 6 | UInt32(byte & 0x3F)
        }
        let least: UInt32 = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80
        guard scalar >= least, Unicode.Scalar(scalar) != nil else { return (0xFFFD, 1) }
        return (scalar, length)
    }
}
