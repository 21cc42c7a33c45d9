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
