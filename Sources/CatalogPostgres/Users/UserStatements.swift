internal import LibPQ

/// The statements of a user, `$1`, as a whole.
enum UserStatements {
    /// Removes a user's name from the histories of manual orders.
    static let forgetSubject: PostgresStatement = "UPDATE order_change SET subject = NULL WHERE subject = $1"
    /// Locks a user against changes.
    static let lockAccount: PostgresStatement = "SELECT 1 FROM user_account WHERE user_id = $1 FOR NO KEY UPDATE"
}
