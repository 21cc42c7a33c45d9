internal import LibPQ

/// Statements about the deployment.
enum DatabaseStatements {
    /// The key that all servers of the deployment share.
    static let deploymentKey: PostgresStatement = "SELECT cursor_key FROM deployment WHERE deployment_id = 1"
    /// Whether the server rejects writes.
    static let isReadOnly: PostgresStatement = """
        SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'
        """
    /// Has a row if the tables are distributed.
    static let citus: PostgresStatement = "SELECT 1 FROM pg_extension WHERE extname = 'citus'"
    /// Sends a notification, `$2`, on a channel, `$1`.
    static let announce: PostgresStatement = "SELECT pg_notify($1, $2)"
    /// The HMAC key of customer identifiers.
    static let customerKey: PostgresStatement = "SELECT customer_key FROM deployment WHERE deployment_id = 1"
}
