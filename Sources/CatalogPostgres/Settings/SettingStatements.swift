internal import LibPQ

/// The statements that lock and erase a user, `$1`.
enum SettingStatements {
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
