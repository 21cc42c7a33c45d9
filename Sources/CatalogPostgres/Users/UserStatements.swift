internal import LibPQ

/// The statements that concern a whole user, `$1`.
enum UserStatements {
    /// Removes a user's id from the order histories.
    static let clearSubject: PostgresStatement = "UPDATE order_change SET subject = NULL WHERE subject = $1"
    /// Locks a user against changes, and returns the revision.
    static let lockAccount: PostgresStatement = "SELECT revision FROM user_account WHERE user_id = $1 FOR NO KEY UPDATE"
}
