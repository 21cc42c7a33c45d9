/// The folding of single characters: how each one counts for words, without its case, accents, width and form.
///
/// `FoldingTable.swift` has the characters that change. The others count by their Unicode category.
package struct CharacterFolding: Sendable {
    /// How a character counts, with the folded character, in one number.
    package struct Role: Sendable {
        fileprivate let bits: UInt32

        package enum Kind: UInt32, Sendable {
            case separator, letter, digit
            /// A digit with a form of its own, such as a superscript. It does not continue a number of other digits.
            case styledDigit
            /// A mark that belongs to the character before it and does not count.
            case accent
            /// An invisible character, such as a soft hyphen.
            case invisible
            case apostrophe
            /// A point or a comma.
            case decimalMark
            /// Several characters. The number before and the number after them do not continue within them.
            case text
        }

        fileprivate init(_ kind: Kind, _ payload: UInt32 = 0) { bits = kind.rawValue << 24 | payload }

        fileprivate init(bits: UInt32) { self.bits = bits }

        package var kind: Kind { Kind(rawValue: bits >> 24)! }
        /// The folded character, or an accent itself.
        package var scalar: UInt32 { bits & 0xFF_FFFF }
    }

    /// The number of characters that share a page.
    private static let pageSize = 256
    /// A role that no page has.
    private static let unlisted = UInt16.max

    /// The number of the page with a character's role, or `unlisted`.
    private var pageNumbers: [UInt16]
    private var roles: [UInt32] = []
    /// The folded texts of several characters.
    private var texts: [[UInt32]] = []

    /// The folding of all characters.
    package static let shared = CharacterFolding()

    private init() {
        pageNumbers = [UInt16](repeating: Self.unlisted, count: 0x110000 / Self.pageSize)
        addPage(of: 0)
        for run in Self.table.utf8.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }) {
            add(Array(run))
        }
    }

    /// Returns the role of a character.
    func role(_ scalar: UInt32) -> Role {
        let page = pageNumbers[Int(scalar) / Self.pageSize]
        if page == Self.unlisted { return Self.role(unchanged: scalar) }
        return Role(bits: roles[Int(page) * Self.pageSize + Int(scalar) % Self.pageSize])
    }

    /// Calls a body with the role of each character of a text, and its offset and length in UTF-16 units.
    ///
    /// A character that folds to several ones has the roles of all of them, between two roles of the kind `text`.
    ///
    /// - Parameter text: UTF-8. Each invalid byte is U+FFFD.
    /// - Complexity: O(*n*).
    @inline(__always)
    package func forEachRole(of text: UnsafeRawBufferPointer, _ body: (Role, Range<Int>) -> Void) {
        var (index, offset) = (0, 0)
        while index < text.count {
            let (scalar, length) = Self.scalar(text, at: index)
            let source = offset..<(offset + (scalar > 0xFFFF ? 2 : 1))
            index += length
            offset = source.upperBound
            if Self.syllables.contains(scalar) {
                for letter in Self.letters(ofSyllable: scalar) { body(role(letter), source) }
                continue
            }
            let role = role(scalar)
            body(role, source)
            if role.kind == .text {
                for part in texts[Int(role.scalar)] { body(self.role(part), source) }
                body(role, source)
            }
        }
    }

    /// Returns the letter that a letter and an accent form in Cyrillic; nil for other accents, which do not count.
    package static func composed(_ letter: UInt32, _ accent: UInt32) -> UInt32? {
        switch (letter, accent) {
        case (0x438, 0x306): 0x439
        case (0x443, 0x306): 0x45E
        case (0x456, 0x308): 0x457
        default: nil
        }
    }

    /// The syllables of Hangul.
    private static let syllables: ClosedRange<UInt32> = 0xAC00...0xD7A3

    /// Returns the letters of a syllable of Hangul. Source: The Unicode Standard, section 3.12.
    private static func letters(ofSyllable scalar: UInt32) -> ArraySlice<UInt32> {
        let number = scalar - syllables.lowerBound
        let letters = [0x1100 + number / 588, 0x1161 + number % 588 / 28, 0x11A7 + number % 28]
        return number % 28 == 0 ? letters.dropLast() : letters[...]
    }

    private mutating func addPage(of scalar: UInt32) {
        let page = Int(scalar) / Self.pageSize
        guard pageNumbers[page] == Self.unlisted else { return }
        pageNumbers[page] = UInt16(roles.count / Self.pageSize)
        for offset in 0..<Self.pageSize {
            roles.append(Self.role(unchanged: UInt32(page * Self.pageSize + offset)).bits)
        }
    }

    /// Adds the roles of a run of the table.
    private mutating func add(_ run: [UInt8]) {
        var (index, numbers) = (0, [UInt32]())
        /// Reads a number, if a mark comes before it.
        func number(after mark: Character) -> UInt32? {
            guard index < run.count, run[index] == mark.asciiValue else { return nil }
            index += 1
            return number()
        }
        func number() -> UInt32 {
            var value: UInt32 = 0
            while index < run.count, let digit = Character(Unicode.Scalar(run[index])).hexDigitValue {
                value = value << 4 | UInt32(digit)
                index += 1
            }
            return value
        }
        let first = number()
        let count = number(after: "*") ?? 1
        let step = number(after: "/") ?? 1
        precondition(index < run.count && run[index] == UInt8(ascii: ":"), "the table is valid")
        if index + 1 < run.count {
            numbers.append(number(after: ":")!)
            while let next = number(after: ",") { numbers.append(next) }
        }
        let change = number(after: "+") ?? 0
        if numbers.count > 1 { texts.append(numbers) }
        for number in 0..<count {
            let scalar = first + number * step
            addPage(of: scalar)
            let role =
                switch numbers.count {
                case 0: Role(Self.isMark(scalar) ? .accent : .invisible, scalar)
                case 1: Self.role(scalar, foldedTo: numbers[0] + number * change)
                default: Role(.text, UInt32(texts.count - 1))
                }
            roles[Int(pageNumbers[Int(scalar) / Self.pageSize]) * Self.pageSize + Int(scalar) % Self.pageSize] =
                role.bits
        }
    }

    /// Returns the role of a character with the text of another one.
    private static func role(_ scalar: UInt32, foldedTo folded: UInt32) -> Role {
        let role = role(unchanged: folded)
        let isStyled = Unicode.Scalar(scalar)?.properties.generalCategory != .decimalNumber
        return role.kind == .digit && isStyled ? Role(.styledDigit, folded) : role
    }

    private static func isMark(_ scalar: UInt32) -> Bool {
        switch Unicode.Scalar(scalar)?.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Returns the role of a character without an entry in the table.
    private static func role(unchanged scalar: UInt32) -> Role {
        switch scalar {
        case 0x30...0x39: return Role(.digit, scalar)
        case 0x41...0x5A: return Role(.letter, scalar + 0x20)
        case 0x61...0x7A: return Role(.letter, scalar)
        case 0x27, 0x60: return Role(.apostrophe, scalar)
        case 0x2C, 0x2E: return Role(.decimalMark, scalar)
        case 0..<0x80: return Role(.separator, scalar)
        default: break
        }
        switch Unicode.Scalar(scalar)?.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber,
            .nonspacingMark, .spacingMark, .enclosingMark:
            return Role(.letter, scalar)
        default: return Role(.separator, scalar)
        }
    }

    // MARK: - UTF-8

    /// Decodes a character of UTF-8; an invalid byte is U+FFFD.
    private static func scalar(_ text: UnsafeRawBufferPointer, at index: Int) -> (UInt32, length: Int) {
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
