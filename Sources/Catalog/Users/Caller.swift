/// Who makes a request, as their token says.
package struct Caller: Sendable, Hashable {
    package var user: UserID
    package var scopes: Set<Scope>
    /// When the token ends.
    package var expiresAt: Timestamp

    package init(user: UserID, scopes: Set<Scope> = [], expiresAt: Timestamp) {
        self.user = user
        self.scopes = scopes
        self.expiresAt = expiresAt
    }
}
