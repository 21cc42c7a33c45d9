/// A product's identity within its store: 1 to 64 characters of printable UTF-8 without `/`.
///
/// Spaces at its ends would be lost in files, `.` and `..` in URLs: there are none. Letters with accents have one spelling,
/// Unicode's composed one, however they come.
package struct SKU: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    package init?(_ given: some StringProtocol) {
        // Composition can at most triple the length.
        guard given.utf8.count <= 1024, given.isStreamSafe else { return nil }
        let text = String(given).composed
        guard !text.isEmpty, text.utf8.count <= 256, text.count <= 64, text.isPrintable,
            !text.utf8.contains(UInt8(ascii: "/")), text.first?.isWhitespace == false,
            text.last?.isWhitespace == false, text != ".", text != ".."
        else { return nil }
        self.text = text
    }

    /// A sku that was checked before, when it was stored.
    package init(stored text: String) { self.text = text }

    package var description: String { text }

    // By bytes, not by Swift's canonical equivalence: as the database tells them apart.
    package static func == (a: SKU, b: SKU) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
    package func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
    package static func < (a: SKU, b: SKU) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
    package static let rule = "1 to 64 printable characters without /, without spaces at its ends, not . or .."
}
