/// The key of a setting: the path behind `/v1/me/settings/`.
///
/// 1 to 256 bytes of printable text, in parts between slashes of which none is empty, `.` or `..`. Letters with accents have
/// one spelling, Unicode's composed one, however they come.
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

    /// A key that was checked before, when it was stored.
    package init(stored text: String) { self.text = text }

    package static let limit = 256
    package static let rule = "1 to 256 bytes of printable text, its parts between slashes not empty, . or .."

    /// How a user wants a shelf sorted.
    package static func sort(of shelf: CatalogKey, in store: CatalogKey) -> SettingKey {
        SettingKey(stored: "stores/\(store)/shelves/\(shelf)/sort")
    }

    /// How a user wants every shelf of a store sorted.
    package static func sort(in store: CatalogKey) -> SettingKey { SettingKey(stored: "stores/\(store)/sort") }

    /// Whether this is a key of the catalog's own, whose value is a sort.
    package var isSort: Bool {
        let parts = text.split(separator: "/")
        guard parts.first == "stores", parts.last == "sort", parts.count == 3 || parts.count == 5 else { return false }
        return CatalogKey(parts[1]) != nil
            && (parts.count == 3 || (parts[2] == "shelves" && CatalogKey(parts[3]) != nil))
    }

    package var description: String { text }

    // By bytes, as the database tells them apart.
    package static func == (a: SettingKey, b: SettingKey) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
    package func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
    package static func < (a: SettingKey, b: SettingKey) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
}
