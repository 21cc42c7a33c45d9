package import JSON

/// A product's value of an attribute. Values of one attribute compare exactly.
package enum AttributeValue: Hashable, Sendable {
    /// A number in units of its last decimal; its magnitude is below `numberLimit`.
    case number(Int64)
    /// The index of an enum's value in the declared order.
    case rank(Int)
    /// A text in Unicode's composed form, without leading and trailing spaces.
    case text(String)
    case boolean(Bool)
    /// Days since 1970-01-01.
    case date(Int)
    /// Different texts in Unicode's composed form, in the order of their bytes. An empty set is a value, too: it is known to have no
    /// elements.
    case set([String])
    case ratio(AttributeFraction)

    /// The exclusive upper limit of a number's magnitude, in units of its last decimal. Clients whose numbers are floating-point numbers
    /// keep 15 digits. The product of such a number and a quantity has less than 128 bits.
    package static let numberLimit: Int64 = 1_000_000_000_000_000
    /// The maximum length of a text, in bytes.
    package static let textLimit = 500
    /// The maximum number of elements of a set.
    package static let setLimit = 50
}

/// The value of a ratio, apart from its scale and the decimals of its operands, which all products share.
///
/// Different fractions may have the same value.
package struct AttributeFraction: Sendable, Hashable, Comparable {
    private let numerator: Int128
    /// Above 0.
    private let denominator: Int128

    /// Creates a fraction; nil if the denominator is 0.
    package init?(_ numerator: Int128, over denominator: Int128) {
        guard denominator != 0, denominator != .min, numerator != .min else { return nil }
        let sign: Int128 = denominator < 0 ? -1 : 1
        (self.numerator, self.denominator) = (numerator * sign, denominator * sign)
    }

    /// Compares exactly, by two products of 256 bits.
    package static func < (a: Self, b: Self) -> Bool {
        let (left, right) = crossed(a, b)
        return left.high != right.high ? left.high < right.high : left.low < right.low
    }

    package static func == (a: Self, b: Self) -> Bool {
        let (left, right) = crossed(a, b)
        return left.high == right.high && left.low == right.low
    }

    package func hash(into hasher: inout Hasher) {
        var (a, b) = (numerator.magnitude, denominator.magnitude)
        while b != 0 { (a, b) = (b, a % b) }
        hasher.combine(numerator / Int128(a))
        hasher.combine(denominator / Int128(a))
    }

    /// A number that is near the value, with at most five rounding errors: of both halves of each part together, of their sums, and of the
    /// quotient.
    package var approximateValue: Double {
        let value = Self.approximation(numerator.magnitude) / Self.approximation(denominator.magnitude)
        return numerator < 0 ? -value : value
    }

    /// The largest difference of the places, among all floating-point numbers, of two approximate values whose order may be another one.
    package static let approximationError: UInt64 = 16

    /// Converts a number faster than the standard library does, which rounds correctly.
    private static func approximation(_ number: UInt128) -> Double {
        Double(UInt64(truncatingIfNeeded: number >> 64)) * 0x1p64 + Double(UInt64(truncatingIfNeeded: number))
    }

    /// The parts, for cursors.
    package var parts: (numerator: Int128, denominator: Int128) { (numerator, denominator) }

    /// The limit of `units`, which no end of a range exceeds.
    package static let unitsLimit: Int128 = 10_000_000_000_000_000_000_000_000_000

    /// Returns the product with another fraction, rounded down to an integer and limited to ±`unitsLimit`, and whether it is rounded.
    ///
    /// - Precondition: the factor is at least 1 and at most 10³⁸, and the product of the denominators is below 2¹²⁷.
    func units(_ factor: Int128, over divisor: Int128) -> (units: Int128, isRounded: Bool) {
        let product = numerator.magnitude.multipliedFullWidth(by: factor.magnitude)
        let divisor = denominator.magnitude * divisor.magnitude
        let limit = UInt128(Self.unitsLimit)
        var (quotient, remainder) = (limit, UInt128.zero)
        if product.high == 0 {
            (quotient, remainder) = product.low.quotientAndRemainder(dividingBy: divisor)
        } else if product.high < divisor {
            (quotient, remainder) = divisor.dividingFullWidth(product)
        }
        guard quotient < limit else { return (numerator < 0 ? -Self.unitsLimit : Self.unitsLimit, false) }
        let isRounded = remainder > 0
        // The magnitude of a negative number is rounded up.
        return (numerator < 0 ? -Int128(quotient) - (isRounded ? 1 : 0) : Int128(quotient), isRounded)
    }

    private typealias Wide = (high: Int128, low: UInt128)

    private static func crossed(_ a: Self, _ b: Self) -> (Wide, Wide) {
        (a.numerator.multipliedFullWidth(by: b.denominator), b.numerator.multipliedFullWidth(by: a.denominator))
    }
}

/// The reason why a value does not have the type of its attribute.
package struct AttributeMismatch: Error, Sendable, Hashable {
    /// The accepted values, as a phrase after “must be”.
    package let expected: String
}

extension AttributeDefinition {
    /// Returns the value that JSON has; nil for null, and for a form that this release does not know.
    ///
    /// - Throws: `AttributeMismatch` for a value of another type. Nothing is rounded or converted.
    package func value(_ json: JSONValue) throws(AttributeMismatch) -> AttributeValue? {
        if json == .null { return nil }
        switch form {
        case .number(let decimals): return .number(try Self.number(json, decimals: decimals))
        case .enumeration(let options):
            guard case .string(let key) = json, let rank = options.firstIndex(where: { $0.key == key.composed }) else {
                throw AttributeMismatch(expected: "one of the declared values: \(Self.list(options))")
            }
            return .rank(rank)
        case .set(let options): return .set(try Self.set(json, options))
        case .text: return .text(try Self.text(json))
        case .boolean:
            guard case .bool(let flag) = json else { throw AttributeMismatch(expected: "true or false") }
            return .boolean(flag)
        case .date:
            guard case .string(let text) = json, let day = AttributeValue.day(text) else {
                throw AttributeMismatch(expected: "a date, such as \"2026-03-01\"")
            }
            return .date(day)
        case .ratio: throw AttributeMismatch(expected: "left out, because the attribute is computed")
        case .unknown: return nil
        }
    }

    private static func number(_ json: JSONValue, decimals: Int) throws(AttributeMismatch) -> Int64 {
        guard case .number(let text) = json, let number = ExactDecimal(jsonNumber: text),
            let digits = number.significand(atScale: decimals), digits.magnitude < AttributeValue.numberLimit
        else {
            let form =
                decimals == 0 ? "an integer" : "a number with at most \(decimals) decimal\(decimals == 1 ? "" : "s")"
            throw AttributeMismatch(expected: "\(form) and at most \(15 - decimals) digits before the point")
        }
        return Int64(digits)
    }

    private static func text(_ json: JSONValue) throws(AttributeMismatch) -> String {
        if case .string(let given) = json {
            let text = given.trimmed.composed
            if (1...AttributeValue.textLimit).contains(text.utf8.count), text.isPrintable { return text }
        }
        throw AttributeMismatch(expected: "a printable text of 1 to \(AttributeValue.textLimit) bytes")
    }

    private static func set(_ json: JSONValue, _ options: [AttributeOption]?) throws(AttributeMismatch) -> [String] {
        guard case .array(let elements) = json, elements.count <= AttributeValue.setLimit else {
            throw AttributeMismatch(expected: "an array of at most \(AttributeValue.setLimit) texts")
        }
        var texts: Set<String> = []
        for element in elements {
            guard case .string(let given) = element, Product.isTag(given.composed) else {
                throw AttributeMismatch(expected: "an array of texts, each \(Product.tagRule)")
            }
            let text = given.composed
            guard options?.contains(where: { $0.key == text }) ?? true else {
                throw AttributeMismatch(expected: "an array of declared values: \(list(options ?? []))")
            }
            texts.insert(text)
        }
        return texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The first options, for a message.
    private static func list(_ options: [AttributeOption]) -> String {
        let shown = options.prefix(10).map(\.key).joined(separator: ", ")
        return options.count > 10 ? "\(shown) and \(options.count - 10) more" : shown
    }
}

extension ExactDecimal {
    /// Parses a number of JSON, also with an exponent; nil for more than 36 digits.
    package init?(jsonNumber text: String) {
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        guard let mantissa = ExactDecimal(parts[0]) else { return nil }
        guard parts.count == 2 else {
            self = mantissa
            return
        }
        guard let exponent = Int(parts[1]), exponent.magnitude <= JSONValue.numberLimit else { return nil }
        var significand = mantissa.significand
        for _ in 0..<max(0, exponent - mantissa.scale) {
            let (product, overflow) = significand.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            significand = product
        }
        self.init(significand, scale: max(0, mantissa.scale - exponent))
    }
}
