package import Catalog

/// A text of an amount of money, taken apart: its digits, and the currency that it names.
struct PriceText: Equatable {
    /// The forms of a number.
    enum Form: Equatable, Sendable {
        /// A number without decimals; the mark that separates its thousands, if that is a point or a comma.
        case whole(thousands: DecimalMark?)
        /// A number whose last mark can only precede decimals.
        case decimals(DecimalMark, count: Int)
        /// One to three digits, a mark and three digits, such as `1.234`: decimals or thousands.
        case ambiguous(DecimalMark)
    }

    let form: Form
    let isNegative: Bool
    /// The digits before and after the last mark.
    private let digits: (whole: String, decimals: String)
    /// The currency sign or code; empty for none.
    let currency: String

    static func == (a: PriceText, b: PriceText) -> Bool {
        a.form == b.form && a.isNegative == b.isNegative && a.digits == b.digits && a.currency == b.currency
    }

    /// - Returns: nil if the text is not a number.
    init?(_ text: String) {
        let scalars = Array(text.unicodeScalars)
        guard var first = scalars.firstIndex(where: Self.isDigit), var end = scalars.lastIndex(where: Self.isDigit)
        else { return nil }
        end += 1
        // A mark at the start or the end belongs to the number, but not the point of an abbreviation such as “Fr.”.
        if first > 0, Self.mark(scalars[first - 1]) != nil,
            first == 1 || !scalars[first - 2].properties.isAlphabetic
        {
            first -= 1
        }
        var hasLastMark = end < scalars.count && Self.mark(scalars[end]) != nil
        if hasLastMark, end + 1 < scalars.count, scalars[end + 1].properties.isAlphabetic { hasLastMark = false }
        if hasLastMark { end += 1 }
        // No decimals, as in “5,-”.
        let hasDash = hasLastMark && end < scalars.count && Self.dashes.contains(scalars[end])
        guard let lead = Self.lead(scalars[..<first]), let number = Self.number(scalars[first..<end]) else {
            return nil
        }
        let trail = Self.token(scalars[(hasDash ? end + 1 : end)...])
        guard lead.token.isEmpty || trail.isEmpty else { return nil }
        isNegative = lead.isNegative
        currency = lead.token + trail
        (form, digits) = number
    }

    /// Returns the number, with an ambiguous mark read as one of its meanings.
    ///
    /// - Returns: nil for more than 36 digits.
    func amount(readingAsDecimals: Bool) -> ExactDecimal? {
        let isThousands = if case .ambiguous = form { !readingAsDecimals } else { false }
        let whole = digits.whole.isEmpty ? "0" : digits.whole
        let text =
            digits.decimals.isEmpty ? whole : isThousands ? whole + digits.decimals : "\(whole).\(digits.decimals)"
        return ExactDecimal(isNegative ? "-" + text : text)
    }

    /// The currency whose code or only sign the text has; nil for none.
    var namedCurrency: Currency? { Currency(currency.uppercased()) ?? Currency.only(named: currency) }

    // MARK: - Parts

    private static let dashes: Set<Unicode.Scalar> = ["-", "–", "—"]
    private static let spaces: Set<Unicode.Scalar> = [" ", "\u{A0}", "\u{202F}", "\u{2009}"]
    private static let apostrophes: Set<Unicode.Scalar> = ["'", "’", "ʼ"]

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private static func mark(_ scalar: Unicode.Scalar) -> DecimalMark? {
        scalar == "." ? .point : scalar == "," ? .comma : nil
    }

    private static func token(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars.filter { !spaces.contains($0) })
        return String(text)
    }

    /// The sign and the currency before a number; nil for several signs.
    private static func lead(_ scalars: ArraySlice<Unicode.Scalar>) -> (isNegative: Bool, token: String)? {
        let signs: Set<Unicode.Scalar> = ["+", "-", "−"]
        let found = scalars.filter { signs.contains($0) }
        guard found.count <= 1 else { return nil }
        return (found.first.map { $0 != "+" } ?? false, token(ArraySlice(scalars.filter { !signs.contains($0) })))
    }

    private static func number(_ scalars: ArraySlice<Unicode.Scalar>) -> (Form, (whole: String, decimals: String))? {
        var runs = [""]
        var marks: [Unicode.Scalar] = []
        for scalar in scalars {
            if isDigit(scalar) {
                runs[runs.count - 1].unicodeScalars.append(scalar)
            } else if mark(scalar) != nil || apostrophes.contains(scalar) || spaces.contains(scalar) {
                marks.append(apostrophes.contains(scalar) ? "'" : spaces.contains(scalar) ? " " : scalar)
                runs.append("")
            } else {
                return nil
            }
        }
        guard let last = marks.last else { return (.whole(thousands: nil), (runs[0], "")) }
        let groups = runs.dropLast()
        guard let decimalMark = mark(last), marks.count(where: { $0 == last }) == 1 else {
            guard isGrouped(runs[...], marks[...]) else { return nil }
            return (.whole(thousands: mark(last)), (runs.joined(), ""))
        }
        let decimals = runs.last!
        guard marks.count == 1 else {
            guard isGrouped(groups, marks.dropLast()) else { return nil }
            return (.decimals(decimalMark, count: decimals.utf8.count), (groups.joined(), decimals))
        }
        let isAmbiguous = decimals.utf8.count == 3 && (1...3).contains(runs[0].utf8.count) && runs[0].first != "0"
        return (
            isAmbiguous ? .ambiguous(decimalMark) : .decimals(decimalMark, count: decimals.utf8.count),
            (runs[0], decimals)
        )
    }

    /// Whether digits are groups of three, the first one of one to three, between equal marks.
    private static func isGrouped(_ runs: ArraySlice<String>, _ marks: ArraySlice<Unicode.Scalar>) -> Bool {
        marks.allSatisfy { $0 == marks.first } && (1...3).contains(runs.first!.utf8.count)
            && runs.dropFirst().allSatisfy { $0.utf8.count == 3 }
    }
}

/// The decimal mark of a column of prices, as its values show it.
package struct DecimalEvidence: Sendable, Hashable {
    /// The mark that was set; nil to read it from the column.
    private let given: DecimalMark?
    /// The numbers of decimals after a point and after a comma, as bits.
    private var decimals: [UInt64] = [0, 0]
    /// Whether a point and a comma separate thousands.
    private var thousands = [false, false]

    package init(_ given: DecimalMark? = nil) { self.given = given }

    /// Takes a value of the column into account.
    mutating func add(_ text: String) {
        switch PriceText(text)?.form {
        case .whole(let mark?): thousands[Self.index(mark)] = true
        case .decimals(let mark, let count) where count > 0: decimals[Self.index(mark)] |= 1 << UInt64(min(count, 63))
        default: break
        }
    }

    /// The decimal mark that the column shows; nil if it shows none or both.
    package var mark: DecimalMark? {
        if let given { return given }
        let (point, comma) = (isDecimal(.point), isDecimal(.comma))
        return point == comma ? nil : point ? .point : .comma
    }

    /// Reads an amount of money.
    ///
    /// - Throws: the reason why the text is not a certain amount in the currency.
    func amount(_ text: String, in currency: Currency) throws(Fault) -> ExactDecimal {
        if given != .comma, let amount = Self.plainAmount(text) { return amount }
        guard let price = PriceText(text) else { throw Fault(Self.reason(text)) }
        guard price.currency.isEmpty || currency.isNamed(price.currency) else {
            throw Fault("is not in \(currency.code), the store's currency; convert it, or remove the row")
        }
        guard let amount = try value(of: price, decimals: currency.exponent) else { throw Fault(Self.reason(text)) }
        return amount
    }

    /// Reads a number.
    ///
    /// - Parameters:
    ///   - places: the maximum number of decimals that numbers of the column have.
    ///   - unit: the unit that may be at the number.
    /// - Throws: the reason why the text is not a certain number.
    func number(_ text: String, decimals places: Int, unit: String?) throws(Fault) -> ExactDecimal {
        let text = Self.number(text, without: unit)
        if given != .comma, let number = Self.plainAmount(text) { return number }
        guard let parsed = PriceText(text), parsed.currency.isEmpty || parsed.currency == unit,
            let number = try value(of: parsed, decimals: places)
        else { throw Fault(Self.reason(text, "a number such as 4.5 or 4,5")) }
        return number
    }

    /// Returns a text without the unit at its end, which may have digits and spaces, such as `g / 100 g`.
    static func number(_ text: String, without unit: String?) -> String {
        guard let unit, !unit.isEmpty, text.hasSuffix(unit) else { return text }
        let rest = text.dropLast(unit.count)
        // Without a space, the first digits of a unit such as `100g` may be those of the number.
        guard rest.last?.isWhitespace == true || unit.first?.isLetter == true || unit.first == "%" else { return text }
        return String(rest).trimmed
    }

    /// - Returns: nil for too many digits.
    private func value(of price: PriceText, decimals places: Int) throws(Fault) -> ExactDecimal? {
        switch price.form {
        case .whole(let mark):
            guard mark == nil || mark != given else { throw Fault(contradiction) }
            return price.amount(readingAsDecimals: true)
        case .decimals(let mark, let count):
            guard given == nil || mark == given || count == 0 else { throw Fault(contradiction) }
            return price.amount(readingAsDecimals: true)
        case .ambiguous(let mark):
            guard let isDecimal = isDecimal(mark, decimals: places) else {
                throw Fault(
                    """
                    is ambiguous: decimals or thousands; set the decimal mark of the file to point or comma (command line: --decimal)
                    """
                )
            }
            return price.amount(readingAsDecimals: isDecimal)
        }
    }

    /// The reason why a text is not an amount.
    struct Fault: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    /// Returns digits with an unambiguous point or none, the usual form; nil for any other.
    private static func plainAmount(_ text: String) -> ExactDecimal? {
        var point: Int?
        var count = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: ".") {
                if point != nil { return nil }
                point = count
            } else if !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                return nil
            }
            count += 1
        }
        if let point, count - point == 4 { return nil }
        return ExactDecimal(text)
    }

    private static func reason(_ text: String, _ expected: String = "an amount such as 1.99 or 1,99") -> String {
        let isScientific = text.contains { "eE".contains($0) } && Double(text.replacing(",", with: ".")) != nil
        return isScientific
            ? "is in scientific notation, which drops digits; write the digits, such as 1.99"
            : "is not \(expected)"
    }

    private var contradiction: String {
        "does not have a decimal \(given == .comma ? "comma" : "point"), the mark of the file; correct it"
    }

    private static func index(_ mark: DecimalMark) -> Int { mark == .point ? 0 : 1 }

    private func isDecimal(_ mark: DecimalMark) -> Bool { decimals[Self.index(mark)] != 0 }

    /// Whether a mark before three digits precedes decimals or separates thousands; nil if the column does not show it.
    ///
    /// Three decimals where at most two are expected need a column with decimals of several lengths, such as 4.5, 4.59 and
    /// 4.589: in a column of 1.29 and 1.299, the latter may as well be thousands.
    private func isDecimal(_ mark: DecimalMark, decimals places: Int) -> Bool? {
        if let given { return mark == given }
        let (isThousands, isOther) = (thousands[Self.index(mark)], isDecimal(mark.other))
        let lengths = decimals[Self.index(mark)].nonzeroBitCount
        if lengths == 0 {
            if isThousands || isOther { return false }
            return places >= 3 && mark == .point ? true : nil
        }
        guard !isThousands, !isOther else { return nil }
        return lengths > 1 || places >= 3 ? true : nil
    }
}

extension Currency {
    /// Whether a sign or code in a cell is one of this currency.
    func isNamed(_ text: String) -> Bool {
        let name = text.lowercased()
        return name == code.lowercased()
            || Self.signs[name.hasSuffix(".") ? String(name.dropLast()) : name]?.contains(code) == true
    }

    /// Returns the only currency with a sign or abbreviation; nil for none or several.
    fileprivate static func only(named text: String) -> Currency? {
        guard let codes = signs[text.lowercased()], codes.count == 1 else { return nil }
        return Currency(codes.first!)
    }

    /// The currencies of signs and abbreviations, in lower case.
    private static let signs: [String: Set<String>] = [
        "€": ["EUR"], "euro": ["EUR"], "£": ["GBP", "EGP", "GIP", "FKP", "SHP", "LBP", "SYP"],
        "$": [
            "USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "ARS", "CLP", "COP", "UYU", "BSD", "BBD", "BMD", "BND",
            "BZD",
            "DOP", "FJD", "GYD", "JMD", "KYD", "LRD", "NAD", "SBD", "SRD", "TTD", "TWD", "XCD",
        ],
        "us$": ["USD"], "r$": ["BRL"], "¥": ["JPY", "CNY"], "₹": ["INR"], "₺": ["TRY"], "₴": ["UAH"], "грн": ["UAH"],
        "₽": ["RUB"], "руб": ["RUB"], "р": ["RUB"], "₸": ["KZT"], "₩": ["KRW"], "₪": ["ILS"], "₫": ["VND"],
        "฿": ["THB"],
        "₱": ["PHP"], "₦": ["NGN"], "₾": ["GEL"], "֏": ["AMD"], "zł": ["PLN"], "zl": ["PLN"], "kč": ["CZK"],
        "ft": ["HUF"],
        "kr": ["SEK", "NOK", "DKK", "ISK"], "fr": ["CHF"], "sfr": ["CHF"], "lei": ["RON", "MDL"], "лв": ["BGN"],
        "din": ["RSD"], "дин": ["RSD"], "km": ["BAM"], "ден": ["MKD"],
    ]
}

extension ExactDecimal {
    /// Returns a number of JSON without an exponent; the text itself if that would have more than 36 digits.
    static func plain(jsonNumber text: String) -> String {
        guard text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return text }
        return ExactDecimal(jsonNumber: text)?.description ?? text
    }

    /// Parses a number of JSON, which may have an exponent, such as `4.2e0`; nil for more than 36 digits.
    private init?(jsonNumber text: String) {
        let parts = text.split(whereSeparator: { $0 == "e" || $0 == "E" })
        guard parts.count == 2, let mantissa = ExactDecimal(parts[0]), let exponent = Int(parts[1]),
            (-40...36).contains(exponent)
        else {
            return nil
        }
        let shift = mantissa.scale - exponent
        guard shift < 0 else {
            self.init(mantissa.significand, scale: shift)
            return
        }
        guard let value = ExactDecimal(mantissa.significand).significand(atScale: -shift) else { return nil }
        self.init(value)
    }
}
