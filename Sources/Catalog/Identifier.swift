/// The key of a store or a shelf: `[a-z0-9][a-z0-9-]{0,63}`.
package struct CatalogKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    package init?(_ text: some StringProtocol) {
        guard (1...64).contains(text.utf8.count), text.utf8.first != UInt8(ascii: "-"),
            text.utf8.allSatisfy({
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (48...57).contains($0)
                    || $0 == UInt8(ascii: "-")
            })
        else { return nil }
        self.text = String(text)
    }

    package var description: String { text }
    package static func < (a: CatalogKey, b: CatalogKey) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
    package static let rule = "1 to 64 of a-z, 0-9 and -, not beginning with -"
}

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

extension String {
    /// Without white space at both ends.
    package var trimmed: String {
        guard let first = utf8.first, let last = utf8.last else { return self }
        if first > 0x20, last > 0x20, first < 0x80, last < 0x80 { return self }
        var slice = self[...]
        while let first = slice.first, first.isWhitespace { slice.removeFirst() }
        while let last = slice.last, last.isWhitespace { slice.removeLast() }
        return String(slice)
    }

}

extension StringProtocol {
    /// Whether there is no control character, line or paragraph separator, and nothing that is not a character.
    package var isPrintable: Bool {
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return true }
        return unicodeScalars.allSatisfy {
            // ASCII, Latin with its accents, and Cyrillic, without looking them up.
            switch $0.value {
            case 0x20..<0x7F, 0xA0...0x36F, 0x400...0x52F: return true
            default: break
            }
            return switch $0.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: true
            }
        }
    }
}
