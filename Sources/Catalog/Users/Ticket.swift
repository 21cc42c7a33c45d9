/// What lets a browser open a user's events once, without a header. Only the digest of its text is kept.
package struct Ticket: Sendable, Hashable {
    package var user: UserID
    package var digest: [UInt8]
    package var expiresAt: Timestamp
    /// When the token ends that it was made with, and so the events.
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

    /// How long a ticket is good for, in seconds.
    package static let life = 30
    /// How many of a user's may be unused; a new one pushes out the oldest.
    package static let countLimit = 32
}
