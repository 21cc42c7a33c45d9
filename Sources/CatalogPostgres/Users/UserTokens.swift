internal import Catalog
internal import LibPQ

/// The owners of tickets and shares by the digests of their tokens, which are all that a bearer has. On Citus, they lead to the shard of
/// the owner.
enum UserTokens {
    /// Adds a token in the transaction that creates its ticket or share.
    static func add(
        _ digest: [UInt8],
        of user: UserID,
        expiresAt: Timestamp,
        _ connection: isolated PostgresConnection
    ) throws {
        try connection.executeDeferred(
            UserStatements.addToken,
            [.bytea(digest), .text(user.text), .timestamptz(expiresAt.microseconds)]
        )
    }

    /// Returns the owner of a token's ticket or share, which may have been used, revoked or have expired; nil for an unknown token.
    static func owner(of digest: [UInt8], _ connection: isolated PostgresConnection) throws -> String? {
        try connection.query(UserStatements.tokenOwner, [.bytea(digest)]) { try $0.first { try $0.text(0) } }
    }
}
