internal import JSON

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
    package static let rule = "1 to 64 characters of a-z, 0-9 and -, not starting with -"
}

/// A product's identity within its store: 1 to 64 characters of printable UTF-8 without `/`.
///
/// Leading and trailing spaces would be lost in files, and `.` and `..` in URLs, so they are not allowed. SKUs are
/// normalized to Unicode's composed form.
package struct SKU: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    package init?(_ given: some StringProtocol) {
        // Composition can at most triple the length.
        guard given.utf8.count <= 1024, given.isStreamSafe else { return nil }
        let text = String(given).composed
        guard !text.isEmpty, text.utf8.count <= Self.byteLimit, text.count <= Self.lengthLimit, text.isPrintable,
            !text.utf8.contains(UInt8(ascii: "/")), text.first?.isWhitespace == false,
            text.last?.isWhitespace == false, text != ".", text != ".."
        else { return nil }
        self.text = text
    }

    /// Creates a SKU from storage, without validation.
    package init(stored text: String) { self.text = text }

    package var description: String { text }

    // Compare bytes, as the database does, not Swift's canonical equivalence.
    package static func == (a: SKU, b: SKU) -> Bool { a.text.hasSameBytes(as: b.text) }
    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
    package static func < (a: SKU, b: SKU) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
    /// The maximum length, in letters and in bytes.
    package static let (lengthLimit, byteLimit) = (64, 256)
    package static let rule = "1 to 64 printable characters without /, without leading or trailing spaces, not . or .."
}
