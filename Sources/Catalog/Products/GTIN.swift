/// A Global Trade Item Number: the number of a barcode of the kinds EAN-8, UPC-A, EAN-13 or GTIN-14.
///
/// A shorter number is the same as a longer one with zeros before it. Source: GS1 General Specifications, sections 3.3 and 7.9.
package struct GTIN: Hashable, Sendable {
    /// The number with 14 digits.
    package let digits: String

    /// The numbers of digits that a number can have.
    package static let lengths = [8, 12, 13, 14]
    private static let length = 14

    /// - Parameter parameter: the name of the value in messages.
    /// - Throws: `malformed` for other texts, and for a wrong check digit.
    package init(_ text: String, parameter: String) throws(CatalogError) {
        let shown = text.visible.prefix(64)
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), Self.lengths.contains(text.utf8.count) else {
            throw .malformed(
                parameter: parameter,
                detail: """
                    \(parameter) must have 8, 12, 13 or 14 digits, as an EAN-8, UPC-A, EAN-13 or GTIN-14 (got “\(shown)”)
                    """
            )
        }
        let values = text.utf8.map { Int($0) - 0x30 }
        let check = Self.checkDigit(of: values.dropLast())
        guard values.last == check else {
            throw .malformed(
                parameter: parameter,
                detail: """
                    the last digit of \(parameter) “\(shown)” is its check digit, which must be \(check); compare it with the barcode
                    """
            )
        }
        digits = String(repeating: "0", count: Self.length - values.count) + text
    }

    /// Returns the digit after which the sum of all digits is a multiple of ten; every second one counts three times, beginning before it.
    private static func checkDigit(of digits: ArraySlice<Int>) -> Int {
        let sum = digits.reversed().enumerated().reduce(0) { $0 + ($1.offset % 2 == 0 ? 3 : 1) * $1.element }
        return (10 - sum % 10) % 10
    }

    /// The barcodes with this number, the longest first.
    package var barcodes: [String] {
        Self.lengths.reversed().compactMap { length in
            let zeros = digits.prefix(Self.length - length)
            return zeros.allSatisfy { $0 == "0" } ? String(digits.suffix(length)) : nil
        }
    }
}
