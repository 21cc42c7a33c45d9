internal import Catalog
internal import LibPQ

/// The owners of tickets and shares by their tokens. On Citus, the digest of a token leads to the shard of its owner; elsewhere, the
/// tickets and shares have an index of it.
struct UserTokens {
    /// Whether users are spread over servers.
    let isDistributed: Bool

    /// Adds a token in the transaction that creates its ticket or share.
    func add(
        _ digest: [UInt8],
        of user: UserID,
        expiresAt: Timestamp,
        _ connection: isolated PostgresConnection
    ) throws {
        guard isDistributed else { return }
        try connection.executeDeferred(
            UserStatements.addToken,
            [.bytea(digest), .text(user.text), .timestamptz(expiresAt.microseconds)]
        )
    }

    /// Returns the owner of a token's ticket or share, which may have been used, revoked or have expired; nil for an unknown token.
    func owner(of digest: [UInt8], _ connection: isolated PostgresConnection) throws -> String? {
        let statement = isDistributed ? UserStatements.tokenOwner : UserStatements.ownerOfDigest
        return try connection.query(statement, [.bytea(digest)]) { try $0.first { try $0.text(0) } }
    }
}
