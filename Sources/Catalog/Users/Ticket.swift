/// A single-use ticket to open a user's event stream without a header. Only a digest of its text is stored.
package struct Ticket: Sendable, Hashable {
    package var user: UserID
    package var digest: [UInt8]
    package var expiresAt: Timestamp
    /// When the token that requested the ticket expires; the event stream ends then.
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
    package static let lifetimeSeconds = 30
    /// The maximum number of unused tickets per user; a new one replaces the oldest.
    package static let countLimit = 32
}

/// An issued ticket: the data with which a repeated request returns the same text.
package struct IssuedTicket: Sendable, Hashable {
    /// The id from which the text is derived.
    package let id: UniqueID
    package let expiresAt: Timestamp

    package init(id: UniqueID, expiresAt: Timestamp) {
        self.id = id
        self.expiresAt = expiresAt
    }
}
