internal import Catalog
internal import LibPQ

/// Statements about the deployment.
enum DatabaseStatements {
    /// The key that all servers of the deployment share.
    static let deploymentKey: PostgresStatement = "SELECT cursor_key FROM deployment WHERE deployment_id = 1"
    /// Whether the server rejects writes.
    static let isReadOnly: PostgresStatement = """
        SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'
        """
    /// Sends a notification, `$2`, on a channel, `$1`.
    static let announce: PostgresStatement = "SELECT pg_notify($1, $2)"
    /// A script that analyzes the columns of the catalog's tables that joins depend on. Texts take most of the time of a whole
    /// analysis; autovacuum does this later.
    static let analyzeCatalog = """
        ANALYZE product (store_id, sku), placement (store_id, shelf_id, sku), placement_position (store_id, shelf_id, sku), shelf
        """
    /// The HMAC key of customer identifiers.
    static let customerKey: PostgresStatement = "SELECT customer_key FROM deployment WHERE deployment_id = 1"
}

/// Every fixed statement, by the name of its declaration, which logs and traces show. The build lists them.
enum StatementRegistry {
    /// The names of all fixed statements.
    static let names = StatementNames(statements + IdempotencyRecords.Statements.registered)
}

// Identifiers from database rows. The schema's checks guarantee their form; a database changed manually or by a newer
// version causes an error, not a crash.

extension CatalogKey {
    /// - Throws: kind `decoding`.
    init(stored text: String) throws(PostgresError) {
        guard let key = CatalogKey(text) else { throw PostgresError(.decoding, "invalid stored key “\(text)”") }
        self = key
    }
}

extension UserID {
    /// - Throws: kind `decoding`.
    init(stored text: String) throws(PostgresError) {
        guard let user = UserID(text) else { throw PostgresError(.decoding, "invalid stored user id") }
        self = user
    }
}
