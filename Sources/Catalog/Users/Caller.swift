/// The authenticated user of a request, from the token.
package struct Caller: Sendable, Hashable {
    package var user: UserID
    package var scopes: Set<Scope>
    /// The only stores for which the scopes are valid; nil for all stores.
    package var stores: Set<CatalogKey>?
    /// The name under which tills report the user's purchases: the claim `customer`, or the user.
    package var customer: String
    /// When the token expires.
    package var expiresAt: Timestamp
    /// The token's id (`jti`), or a hash of the token; nil if it is unknown.
    package var token: String?

    package init(
        user: UserID,
        scopes: Set<Scope> = [],
        stores: Set<CatalogKey>? = nil,
        customer: String? = nil,
        expiresAt: Timestamp,
        token: String? = nil
    ) {
        self.user = user
        self.scopes = scopes
        self.stores = stores
        self.customer = customer ?? user.text
        self.expiresAt = expiresAt
        self.token = token
    }

    /// Returns whether the token has a scope, or one that includes it.
    package func has(_ scope: Scope) -> Bool { scopes.contains(scope) || scopes.contains(.catalogWrite) }

    /// Returns whether the scopes are valid for a store; nil for a request that concerns no single store.
    package func isValid(for store: CatalogKey?) -> Bool {
        guard let stores else { return true }
        return store.map(stores.contains) ?? false
    }
}

/// A permission of a token beyond the user's own data.
package enum Scope: String, CaseIterable, Sendable, Hashable {
    /// To change the whole catalog; it includes all other scopes.
    case catalogWrite = "catalog:write"
    /// To change products and place them on shelves.
    case productsWrite = "products:write"
    /// To set prices.
    case pricesWrite = "prices:write"
    /// To report purchases.
    case purchasesWrite = "purchases:write"
    /// To change the manual order of products and shelves, and to read its history.
    case orderWrite = "order:write"
    /// To read the audit log.
    case auditRead = "audit:read"
}

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
