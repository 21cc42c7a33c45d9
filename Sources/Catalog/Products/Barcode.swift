/// The text of a barcode, by which products are looked up.
///
/// Up to 14 digits are the same with and without zeros before them: an EAN-8, UPC-A or EAN-13 is the GTIN-14 with zeros before it. Other texts
/// are equal only to themselves. Check digits are not verified, because catalogs have numbers of their own. Source: GS1 General Specifications,
/// section 3.3.
package struct Barcode: Hashable, Sendable {
    private let text: String

    /// The maximum number of digits that may have zeros before them.
    private static let digitLimit = 14

    /// - Parameter parameter: the name of the value in messages.
    /// - Throws: `malformed` for an empty text, and for one that is longer than any barcode of a product.
    package init(_ text: String, parameter: String) throws(CatalogError) {
        let (count, limit) = (text.utf8.count, ProductText.barcode.limit)
        guard (1...limit).contains(count) else {
            throw .malformed(parameter: parameter, detail: "\(parameter) must have 1 to \(limit) bytes (got \(count))")
        }
        self.text = text.composed
    }

    /// The texts that a product with this barcode can have, the longest first; none for a text that no product can have.
    package var spellings: [String] {
        guard text.isPrintable else { return [] }
        let padded = Self.padded(Array(text.utf8))
        guard padded.count == Self.digitLimit, Self.isNumber(padded) else { return [text] }
        let zeros = padded.prefix { $0 == Self.zero }.count
        return (0...min(zeros, Self.digitLimit - 1)).map { String(decoding: padded[$0...], as: UTF8.self) }
    }

    /// Returns the form in which barcodes are compared: up to 14 digits with zeros before them, so that there are 14; otherwise the code itself.
    package static func padded(_ code: [UInt8]) -> [UInt8] {
        guard isNumber(code) else { return code }
        return [UInt8](repeating: zero, count: digitLimit - code.count) + code
    }

    private static let zero = UInt8(ascii: "0")

    private static func isNumber(_ code: [UInt8]) -> Bool {
        (1...digitLimit).contains(code.count) && code.allSatisfy { (zero...UInt8(ascii: "9")).contains($0) }
    }
}
