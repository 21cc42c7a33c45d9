internal import Catalog
internal import LibPQ

/// The statements that concern a whole user, `$1`.
enum UserStatements {
    /// Removes a user's id from the order histories.
    static let clearSubject: PostgresStatement = "UPDATE order_change SET subject = NULL WHERE subject = $1"
    /// Adds the digest of a token, `$1`, of a user, `$2`, that expires at `$3`.
    static let addToken: PostgresStatement = "INSERT INTO user_token (digest, user_id, expires_at) VALUES ($1, $2, $3)"
    /// The user of a token with a digest, `$1`.
    static let tokenOwner: PostgresStatement = "SELECT user_id FROM user_token WHERE digest = $1"
    /// Transfers a token with a digest, `$1`, to a user, `$2`.
    static let transferToken: PostgresStatement = "UPDATE user_token SET user_id = $2 WHERE digest = $1"
    static let deleteTokens: PostgresStatement = "DELETE FROM user_token WHERE user_id = $1"
    /// Deletes expired tokens, in batches.
    static let sweepTokens: PostgresStatement = """
        DELETE FROM user_token WHERE expires_at < now() AND digest IN (SELECT digest FROM user_token
            WHERE expires_at < now() ORDER BY expires_at LIMIT 1000)
        """
    /// Locks a user against changes, and returns the revision.
    static let lockAccount: PostgresStatement = "SELECT revision FROM user_account WHERE user_id = $1 FOR NO KEY UPDATE"
    /// Locks or creates the account and reserves revisions before it is known whether anything changes.
    static let reserveRevisions: PostgresStatement = """
        INSERT INTO user_account AS a (user_id, revision, horizon) VALUES ($1, $2 + $3, $2)
        ON CONFLICT (user_id) DO UPDATE SET
            revision = CASE WHEN $3 > 0 THEN greatest(a.revision, $2) + $3 ELSE a.revision END RETURNING revision
        """
    /// Locks a user's row exclusively, because erasure deletes it.
    static let lockForErasure: PostgresStatement = "SELECT 1 FROM user_account WHERE user_id = $1 FOR UPDATE"
    static let deleteSettings: PostgresStatement = "DELETE FROM user_setting WHERE user_id = $1"
    static let deleteTickets: PostgresStatement = "DELETE FROM user_ticket WHERE user_id = $1"
    static let deleteResponses: PostgresStatement = "DELETE FROM user_idempotency_record WHERE user_id = $1"
    static let deleteEvents: PostgresStatement = "DELETE FROM user_event WHERE user_id = $1"
    /// Deletes the places in lists of others; returns the lists and their owners.
    static let deletePlaces: PostgresStatement = """
        DELETE FROM user_list_place WHERE user_id = $1 AND role <> 'owner' RETURNING owner_id, list_id::text
        """
    static let deleteAccount: PostgresStatement = "DELETE FROM user_account WHERE user_id = $1"
}

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
