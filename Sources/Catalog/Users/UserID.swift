/// A user's identity: the `sub` of their token, 1 to 255 bytes of printable text.
package struct UserID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init?(_ text: some StringProtocol) {
        guard (1...Self.limit).contains(text.utf8.count), text.isPrintable else { return nil }
        self.text = String(text)
    }

    /// Whether the user is a guest, who can be merged into an account.
    package var isGuest: Bool { text.utf8.starts(with: Self.guestPrefix.utf8) }

    package static let guestPrefix = "guest:"
    /// The maximum length of an id, in bytes.
    package static let limit = 255
    package static let rule = "1 to \(limit) bytes of printable text"

    package var description: String { text }

    // Compare bytes, as the database does.
    package static func == (a: UserID, b: UserID) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
    package func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}
