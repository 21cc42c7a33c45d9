internal import Catalog

/// A number in a text.
struct SizeNumber: Hashable {
    /// Nil if the number has too many digits, or several separators.
    var value: ExactDecimal?
    /// The number of digits before the separator.
    var wholeDigits: Int
    /// The number of digits after the separator; 0 without one.
    var decimals: Int
    var hasLeadingZero: Bool
    /// Whether it follows a letter directly, as in `B12`.
    var isJoined = false
    /// Whether a hyphen joins it to one word, as in `22-CL`; not so `500-g-pack`.
    var isHyphenated = false
    /// Whether the number has a sign, or follows a character that may be part of the number.
    var isUnclear = false

    /// The value if it can count something: a whole number from 1 to 100 000, as in `6` and `6.00`.
    var count: Int? {
        guard decimals < 3, !hasLeadingZero, !isUnclear, let value, value.scale == 0,
            let count = Int(exactly: value.significand),
            (1...100_000).contains(count)
        else { return nil }
        return count
    }
}

/// A number, a word or phrase with its meaning, or a mark.
enum SizeTerm: Hashable {
    case number(SizeNumber)
    case word(SizeWord)
    case mark(Unicode.Scalar)

    /// Returns the terms of a text.
    ///
    /// - Complexity: O(n) in the length of the text.
    static func terms(of text: String, in context: SizeText.Context) -> [SizeTerm] {
        let lexicon = SizeLexicon.lexicon(for: context.language)
        let tokens = SizeToken.tokens(of: text)
        var terms: [SizeTerm] = []
        terms.reserveCapacity(tokens.count)
        var index = 0
        while index < tokens.count {
            switch tokens[index] {
            case .number(let number): terms.append(.number(number))
            case .mark(let mark): terms.append(.mark(mark))
            case .word(let word):
                if !context.units.isEmpty, let unit = context.units[word] {
                    terms.append(.word(SizeWord(content: .unit(unit))))
                    index += 1
                    continue
                }
                if let length = lexicon.phraseLengths[word],
                    let (phrase, count) = longestPhrase(tokens[index...].prefix(length), lexicon)
                {
                    terms.append(.word(phrase))
                    index += count
                    continue
                }
                terms.append(.word(lexicon.words[word] ?? SizeWord()))
            }
            index += 1
        }
        return terms
    }

    private static func longestPhrase(_ tokens: ArraySlice<SizeToken>, _ lexicon: SizeLexicon) -> (SizeWord, Int)? {
        var tokens = tokens
        while tokens.count > 1 {
            if let word = lexicon.words[tokens.map(\.text).joined(separator: " ")] { return (word, tokens.count) }
            tokens.removeLast()
        }
        return nil
    }

    /// Returns a phrase as `terms` compares it.
    static func phrase(_ text: String) -> String {
        SizeToken.tokens(of: text).map(\.text).joined(separator: " ")
    }
}

private enum SizeToken {
    case number(SizeNumber)
    case word(String)
    case mark(Unicode.Scalar)

    var text: String {
        switch self {
        case .number(let number): number.value?.description ?? "?"
        case .word(let word): word
        case .mark(let mark): String(Character(mark))
        }
    }

    static func tokens(of text: String) -> [SizeToken] {
        var scanner = SizeScanner(text)
        return scanner.tokens()
    }
}

/// Splits a text into numbers, words and marks.
private struct SizeScanner {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var found: [SizeToken] = []

    init(_ text: String) { scalars = Array(ImportLanguage.folded(text).unicodeScalars) }

    private func scalar(_ offset: Int = 0) -> Unicode.Scalar? {
        scalars.indices.contains(index + offset) ? scalars[index + offset] : nil
    }

    mutating func tokens() -> [SizeToken] {
        while let scalar = scalar() {
            if scalar.isDigit || isLeadingPoint {
                readNumber()
            } else if scalar.isLetter {
                readWord()
            } else if scalar.isSign {
                found.append(.word(String(Character(scalar == "≈" ? "~" : scalar))))
                index += 1
            } else {
                if !scalar.properties.isWhitespace, !isJoiner { found.append(.mark(scalar == "–" ? "-" : scalar)) }
                index += 1
            }
        }
        return found
    }

    /// Whether a point begins a number such as `.33`.
    private var isLeadingPoint: Bool {
        guard scalar() == ".", scalar(1)?.isDigit == true else { return false }
        return scalar(-1).map { !$0.isDigit && !$0.isLetter && $0 != "." } ?? true
    }

    /// Whether the character joins words, or ends an abbreviation: `4-pack`, `500-g-pack`, `16's`, `approx.`.
    private var isJoiner: Bool {
        guard let before = scalar(-1), let after = scalar(1) ?? Optional(" ") else { return false }
        switch scalar() {
        case "-", "‑":
            return (before.isLetter && (after.isLetter || after.isDigit)) || (before.isDigit && after.isLetter)
        case "'", "’": return (before.isLetter || before.isDigit) && after.isLetter
        case ".": return before.isLetter
        default: return false
        }
    }

    private mutating func readNumber() {
        let start = index
        var significand: Int128 = 0
        var digits = 0
        var (whole, decimals, separators) = (0, 0, 0)
        while let scalar = scalar() {
            if scalar.isDigit {
                digits += 1
                if digits <= 30 { significand = significand * 10 + Int128(scalar.value - 48) }
                if separators == 0 { whole += 1 } else { decimals += 1 }
            } else if scalar == "." || scalar == ",", self.scalar(1)?.isDigit == true {
                separators += 1
            } else {
                break
            }
            index += 1
        }
        var number = SizeNumber(
            value: digits <= 30 && separators <= 1 ? ExactDecimal(significand, scale: decimals) : nil,
            wholeDigits: whole,
            decimals: decimals,
            hasLeadingZero: scalars[start] == "0" && whole > 1 || scalars[start] == "0" && decimals == 0
        )
        if start > 0 {
            let before = scalars[start - 1]
            let beforeThat = start > 1 ? scalars[start - 2] : " "
            number.isJoined = before.isLetter || (before == "." || before == "-") && beforeThat.isLetter
            number.isUnclear =
                ["'", "’", "_"].contains(before) && beforeThat.isDigit
                || ["-", "–", "−"].contains(before) && beforeThat.properties.isWhitespace
        }
        if scalar() == "-", scalar(1)?.isLetter == true {
            var end = index + 1
            while end < scalars.count, scalars[end].isLetter { end += 1 }
            number.isHyphenated = !(end < scalars.count && scalars[end] == "-")
        }
        found.append(.number(number))
    }

    private mutating func readWord() {
        let start = index
        while let scalar = scalar(), scalar.isLetter { index += 1 }
        // The digits of m2, cm2 and m3 belong to the unit; those of “2x200” do not.
        if let digit = scalar(), digit == "2" || digit == "3", scalar(1).map({ !$0.isLetter && !$0.isDigit }) ?? true {
            let letters = String(String.UnicodeScalarView(scalars[start..<index]))
            if ["m", "cm", "ft", "м"].contains(letters) { index += 1 }
        }
        found.append(.word(String(String.UnicodeScalarView(scalars[start..<index]))))
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { (48...57).contains(value) }

    fileprivate var isLetter: Bool {
        if value < 0x80 { return (97...122).contains(value) || (65...90).contains(value) || value == 95 }
        return properties.isAlphabetic || self == "²" || self == "³" || self == "\u{300}"
    }

    /// Whether a character is a word of its own.
    fileprivate var isSign: Bool {
        switch self {
        case "×", "*", "~", "≈", "℮", "№", "%", "º", "°", "€", "$", "£", "½", "¼", "¾": true
        default: false
        }
    }
}
