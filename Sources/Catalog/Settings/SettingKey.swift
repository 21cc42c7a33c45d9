/// The key of a setting: the path behind `/v1/me/settings/`.
///
/// 1 to 256 bytes of printable text. No part between slashes may be empty, `.` or `..`. Unicode's composed
/// form is stored.
package struct SettingKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    package init?(_ given: String) {
        let text = given.composed
        guard (1...Self.limit).contains(text.utf8.count), text.isPrintable,
            text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy({
                !$0.isEmpty && $0 != "." && $0 != ".."
            })
        else { return nil }
        self.text = text
    }

    /// Creates a key from storage, without validation.
    package init(stored text: String) { self.text = text }

    /// The maximum length of a key, in bytes.
    package static let limit = 256
    package static let rule =
        "1 to \(limit) bytes of printable text; no part between slashes may be empty, . or .."

    /// Returns the key of a user's remembered sort for a shelf.
    package static func sort(of shelf: CatalogKey, in store: CatalogKey) -> SettingKey {
        SettingKey(stored: "stores/\(store)/shelves/\(shelf)/sort")
    }

    /// Returns the key of a user's remembered sort for a store.
    package static func sort(in store: CatalogKey) -> SettingKey { SettingKey(stored: "stores/\(store)/sort") }

    /// Whether this is a catalog key, whose value is a sort.
    package var isSort: Bool { storeOfSort != nil }

    /// The store of the catalog key of a sort; nil for other keys.
    package var storeOfSort: CatalogKey? {
        let parts = text.split(separator: "/")
        guard parts.first == "stores", parts.last == "sort", parts.count == 3 || parts.count == 5,
            parts.count == 3 || (parts[2] == "shelves" && CatalogKey(parts[3]) != nil)
        else { return nil }
        return CatalogKey(parts[1])
    }

    package var description: String { text }

    // Compare bytes, as the database does.
    package static func == (a: SettingKey, b: SettingKey) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
    package func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
    package static func < (a: SettingKey, b: SettingKey) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
}
