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
}
