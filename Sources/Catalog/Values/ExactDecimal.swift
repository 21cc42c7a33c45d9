/// An exact decimal number: `significand × 10^−scale`, without trailing zeros after the point.
package struct ExactDecimal: Hashable, Sendable {
    package let significand: Int128
    /// The number of digits after the decimal point.
    package let scale: Int

    package init(_ significand: Int128, scale: Int = 0) {
        var significand = significand
        var scale = scale
        while scale > 0, significand % 10 == 0 {
            significand /= 10
            scale -= 1
        }
        self.significand = significand
        self.scale = scale
    }

    /// Parses digits with an optional sign and point; nil for anything else or for more than 36 digits.
    package init?(_ text: some StringProtocol) {
        var text = String(text)
        guard let value = text.withUTF8({ ExactDecimal($0[...]) }) else { return nil }
        self = value
    }

    private init?(_ text: Slice<UnsafeBufferPointer<UInt8>>) {
        var significand: Int128 = 0
        var scale = 0
        var digits = 0
        var seenPoint = false
        var bytes = text
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative { bytes = bytes.dropFirst() }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits += 1
                guard digits <= 36 else { return nil }
                significand = significand * 10 + Int128(byte - UInt8(ascii: "0"))
                if seenPoint { scale += 1 }
            case UInt8(ascii: "."):
                guard !seenPoint, digits > 0 else { return nil }
                seenPoint = true
            default: return nil
            }
        }
        guard digits > 0, !seenPoint || scale > 0 else { return nil }
        self.init(isNegative ? -significand : significand, scale: scale)
    }

    package static let zero = ExactDecimal(0)
    package var isZero: Bool { significand == 0 }
    package var isNegative: Bool { significand < 0 }

    /// Returns the significand at an equal or larger scale; nil on overflow.
    package func significand(atScale wanted: Int) -> Int128? {
        var value = significand
        for _ in scale..<max(scale, wanted) {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            value = product
        }
        return scale <= wanted ? value : nil
    }

    /// Returns the product; nil on overflow.
    package func multiplied(by other: ExactDecimal) -> ExactDecimal? {
        let (product, overflow) = significand.multipliedReportingOverflow(by: other.significand)
        return overflow ? nil : ExactDecimal(product, scale: scale + other.scale)
    }

    /// Returns the sum; nil on overflow.
    package func adding(_ other: ExactDecimal) -> ExactDecimal? {
        let common = max(scale, other.scale)
        guard let a = significand(atScale: common), let b = other.significand(atScale: common) else { return nil }
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? nil : ExactDecimal(sum, scale: common)
    }

    /// The number without the noise of binary floating point, such as 0.3 for 0.30000000000000004: a number of at least
    /// 15 significant digits, as noise has, is rounded to 9 decimals.
    package var withoutBinaryNoise: ExactDecimal {
        significand.magnitude >= 100_000_000_000_000 ? rounded(toScale: 9) : self
    }

    /// Returns the number rounded to a number of decimals, half away from zero.
    package func rounded(toScale wanted: Int) -> ExactDecimal {
        guard scale > wanted else { return self }
        var divisor: Int128 = 1
        for _ in wanted..<scale { divisor *= 10 }
        let (quotient, remainder) = significand.quotientAndRemainder(dividingBy: divisor)
        let half = remainder.magnitude >= divisor.magnitude - remainder.magnitude
        return ExactDecimal(half ? quotient + (significand < 0 ? -1 : 1) : quotient, scale: wanted)
    }
}

extension ExactDecimal: CustomStringConvertible {
    /// Plain digits, readable as a JSON number and as PostgreSQL's `numeric`.
    package var description: String { Self.digits(significand, scale: scale) }

    /// Formats digits with exactly `scale` decimals.
    package static func digits(_ significand: Int128, scale: Int) -> String {
        var digits = String(significand.magnitude)
        if scale > 0 {
            if digits.utf8.count <= scale {
                digits = String(repeating: "0", count: scale - digits.utf8.count + 1) + digits
            }
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: -scale))
        }
        return significand < 0 ? "-" + digits : digits
    }
}

extension ExactDecimal: Comparable {
    package static func < (a: ExactDecimal, b: ExactDecimal) -> Bool {
        let common = max(a.scale, b.scale)
        guard let x = a.significand(atScale: common), let y = b.significand(atScale: common) else {
            // One number is too large for the other's scale, so its sign decides.
            return a.scale < b.scale ? a.isNegative : !b.isNegative
        }
        return x < y
    }
}

extension Int64 {
    /// Parses an integer, also one with a fraction of zero: 24.0 is an integer, as in JSON Schema.
    package init?(integral text: some StringProtocol) {
        if let value = Int64(text) {
            self = value
            return
        }
        guard let integral = ExactDecimal(text)?.significand(atScale: 0), let value = Int64(exactly: integral) else {
            return nil
        }
        self = value
    }
}
