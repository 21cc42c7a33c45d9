/// The authenticated user of a request, from the token.
package struct Caller: Sendable, Hashable {
    package var user: UserID
    package var scopes: Set<Scope>
    /// When the token expires.
    package var expiresAt: Timestamp

    package init(user: UserID, scopes: Set<Scope> = [], expiresAt: Timestamp) {
        self.user = user
        self.scopes = scopes
        self.expiresAt = expiresAt
    }
}
