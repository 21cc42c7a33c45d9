/// A ticket with which a browser opens a user's event stream once, without a header. Only the digest of its text is kept.
package struct Ticket: Sendable, Hashable {
    package var user: UserID
    package var digest: [UInt8]
    package var expiresAt: Timestamp
    /// When the token expires with which it was made; the event stream ends then.
    package var tokenExpiresAt: Timestamp

    package init(
        user: UserID,
        digest: [UInt8],
        expiresAt: Timestamp,
        tokenExpiresAt: Timestamp
    ) {
        self.user = user
        self.digest = digest
        self.expiresAt = expiresAt
        self.tokenExpiresAt = tokenExpiresAt
    }

    /// How long a ticket is valid, in seconds.
    package static let life = 30
    /// The most unused tickets of a user; a new one replaces the oldest.
    package static let countLimit = 32
}
