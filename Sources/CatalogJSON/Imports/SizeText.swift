package import Catalog

/// A parser for sizes in natural text, such as the end of a product's name: `500g`, `6 x 330 ml`, `ca. 800 g`.
///
///     size    = term { "+" term } [ "each" ]          like units add
///     term    = [ "ca." ] { count "x" | count "pack" } ( measure | "(" term ")" )
///     measure = number unit | "per" unit | ( "set" | "pack" ) "of" count
///
/// The longest expression at the end of the text counts. Ambiguous sizes stay unknown: ranges (`6-10kg`),
/// measurements in centimetres, fractions, numbers that may have a thousands separator, `oz` after a name. A dose
/// (`500 mg`) before a count is not a content size; a measure takes precedence over one piece.
package enum SizeText {
    /// Returns the size at the end of a text; nil if there is none, or if it is ambiguous.
    ///
    /// - Complexity: O(n²) in the length of the text, of which only the last 120 characters are used.
    package static func parse(_ text: String) -> Size? {
        guard text.utf8.contains(where: { (48...57).contains($0) }) || text.count < 20 else { return nil }
        var parser = SizeParser(tokens: SizeToken.tokens(of: String(text.suffix(120)).lowercased()))
        return parser.parse()
    }
}

private enum SizeToken: Equatable {
    case number(String)
    case word(String)
    case symbol(Character)

    struct Placed {
        let token: SizeToken
        let spaceBefore: Bool
    }

    static func tokens(of text: String) -> [Placed] {
        var placed: [Placed] = []
        var spaceBefore = true
        var rest = Substring(text)
        while let first = rest.first {
            if first.isWhitespace {
                spaceBefore = true
                rest.removeFirst()
                continue
            }
            let token: SizeToken
            if first.isASCIIDigit {
                let digits = number(rest)
                token = .number(String(digits))
                rest = rest.dropFirst(digits.count)
            } else if first.isLetter {
                let letters = word(rest)
                token = .word(String(letters))
                rest = rest.dropFirst(letters.count)
            } else {
                token = .symbol(first == "×" ? "x" : first)
                rest.removeFirst()
            }
            placed.append(Placed(token: token == .symbol("x") ? .word("x") : token, spaceBefore: spaceBefore))
            spaceBefore = false
        }
        return placed
    }

    /// Returns leading digits with at most one point or comma between them.
    private static func number(_ text: Substring) -> Substring {
        var end = text.endIndex
        var seenSeparator = false
        for index in text.indices where !text[index].isASCIIDigit {
            let next = text.index(after: index)
            if !seenSeparator, text[index] == "." || text[index] == ",", next < text.endIndex, text[next].isASCIIDigit {
                seenSeparator = true
                continue
            }
            end = index
            break
        }
        return text[..<end]
    }

    /// Returns leading letters, including the 2 or 3 of `m2`, `cm2`, `m3` and superscripts. `2x200` is not `x200`.
    private static func word(_ text: Substring) -> Substring {
        var letters = text.prefix { $0.isLetter || $0 == "_" || $0 == "²" || $0 == "³" }
        let rest = text[letters.endIndex...]
        if ["m", "cm", "ft"].contains(letters), let digit = rest.first, digit == "2" || digit == "3",
            !(rest.dropFirst().first.map { $0.isLetter || $0.isASCIIDigit } ?? false)
        {
            letters = text[..<rest.index(after: rest.startIndex)]
        }
        return letters
    }
}

private struct SizeParser {
    struct Measure {
        var amount: ExactDecimal
        var unit: MeasureUnit
        var packs = 1
        var isApproximate = false
    }

    let tokens: [SizeToken.Placed]
    private var position = 0
    private var end = 0

    init(tokens: [SizeToken.Placed]) { self.tokens = tokens }

    mutating func parse() -> Size? {
        guard let (start, measure) = longest(endingAt: tokens.count), let normal = normalize(measure, behind: start)
        else {
            return nil
        }
        return try? Size(
            amount: normal.amount,
            unit: normal.unit,
            packs: normal.packs,
            isApproximate: normal.isApproximate
        )
    }

    /// Returns the longest expression that ends at a token, and its start.
    private mutating func longest(endingAt end: Int) -> (Int, Measure)? {
        for start in max(0, end - 16)..<max(0, end) {
            position = start
            self.end = end
            if let measure = sum(), position == end { return (start, measure) }
        }
        return nil
    }

    // MARK: - Context

    /// Interprets a measure in the context of the preceding tokens; nil if they make it ambiguous.
    private mutating func normalize(_ measure: Measure, behind start: Int) -> Measure? {
        guard start > 0 else { return measure }
        // A unit of length or area, or an ounce, is ambiguous after a name.
        guard ![.length, .area].contains(measure.unit.dimension), measure.unit != .oz, measure.unit != .t else {
            return nil
        }
        let before = tokens[start - 1]
        switch before.token {
        case .symbol("-"), .symbol("–"):
            let isHyphen =
                start > 1 && !before.spaceBefore
                && { if case .word = tokens[start - 2].token { true } else { false } }()
            return isHyphen ? measure : nil
        case .symbol("/"), .symbol("."), .symbol(","), .symbol("+"), .symbol("("), .word("x"): return nil
        case .number(let digits):
            // "1 400 ml" may be one number.
            if case .number(let own) = tokens[start].token, own.prefix(while: { $0.isASCIIDigit }).count == 3 {
                return nil
            }
            return digits.isEmpty ? nil : measure
        default: break
        }
        guard let (otherStart, other) = longest(endingAt: start) else { return measure }
        if otherStart > 0, [.symbol("-"), .symbol("–")].contains(tokens[otherStart - 1].token) {
            return measure  // A range is a weight or age class.
        }
        if other.unit == .mg, measure.unit.dimension == .piece { return measure }
        if isOnePiece(other), measure.unit.dimension != .piece { return measure }
        if isOnePiece(measure), other.unit.dimension != .piece { return normalize(other, behind: otherStart) }
        return nil
    }

    private func isOnePiece(_ measure: Measure) -> Bool {
        measure.unit == .piece && measure.packs == 1 && measure.amount == ExactDecimal(1)
    }

    // MARK: - Grammar

    private mutating func sum() -> Measure? {
        guard var total = term() else { return nil }
        while take(.symbol("+")) {
            guard let next = term(), next.unit == total.unit,
                let a = total.amount.multiplied(by: ExactDecimal(Int128(total.packs))),
                let b = next.amount.multiplied(by: ExactDecimal(Int128(next.packs))), let amount = a.adding(b)
            else { return nil }
            total = Measure(amount: amount, unit: total.unit, isApproximate: total.isApproximate || next.isApproximate)
        }
        if case .word("each")? = peek { position += 1 }
        return total
    }

    private mutating func term() -> Measure? {
        if take(.symbol("~")) || takeWord(in: ["ca", "cca", "circa", "approx", "oko", "около"]) {
            _ = take(.symbol("."))
            var measure = term()
            measure?.isApproximate = true
            return measure
        }
        let start = position
        if let count = count(), take(.word("x")) || takeWord(in: ["pack", "er-pack", "pk"]) {
            let inner: Measure?
            if take(.symbol("(")) {
                inner = term()
                guard take(.symbol(")")) else { return nil }
            } else {
                inner = term()
            }
            guard var measure = inner else { return nil }
            let (packs, overflow) = measure.packs.multipliedReportingOverflow(by: count)
            guard !overflow, packs > 0, packs <= 100_000 else { return nil }
            measure.packs = packs
            return measure
        }
        position = start
        return measure()
    }

    private mutating func measure() -> Measure? {
        if takeWord(in: ["set", "pack"]) {
            guard take(.word("of")), let count = count(), count > 0 else { return nil }
            return Measure(amount: ExactDecimal(Int128(count)), unit: .piece)
        }
        if take(.word("per")) {
            guard case .word(let word)? = peek, MeasureUnit(spelling: word) == .piece else { return nil }
            position += 1
            return Measure(amount: ExactDecimal(1), unit: .piece)
        }
        guard case .number(let digits)? = peek else { return nil }
        position += 1
        guard case .word(let word)? = peek, let unit = MeasureUnit(spelling: word) else { return nil }
        position += 1
        if position < end, !tokens[position].spaceBefore { _ = take(.symbol(".")) }
        guard let amount = amount(digits, unit) else { return nil }
        // Centimetres and inches describe the product's dimensions, not its content.
        guard ![.mm, .cm, .inch, .ft, .yd, .cm2, .ft2].contains(unit) else { return nil }
        return Measure(amount: amount, unit: unit)
    }

    /// Parses a number; a separator before three digits must clearly be decimal: below 1, or with a large unit.
    private func amount(_ digits: String, _ unit: MeasureUnit) -> ExactDecimal? {
        let parts = digits.split(whereSeparator: { $0 == "." || $0 == "," })
        if parts.count == 2, parts[1].count == 3, parts[0] != "0", ![.kg, .l, .lb].contains(unit) { return nil }
        return ExactDecimal(digits.replacing(",", with: "."))
    }

    private mutating func count() -> Int? {
        guard case .number(let digits)? = peek, let count = Int(digits), count > 0 else { return nil }
        position += 1
        return count
    }

    private var peek: SizeToken? { position < end ? tokens[position].token : nil }

    private mutating func take(_ token: SizeToken) -> Bool {
        guard peek == token else { return false }
        position += 1
        return true
    }

    private mutating func takeWord(in words: [String]) -> Bool {
        guard case .word(let word)? = peek, words.contains(word) else { return false }
        position += 1
        return true
    }
}
