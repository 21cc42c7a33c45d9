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
