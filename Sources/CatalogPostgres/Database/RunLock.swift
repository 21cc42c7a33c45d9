internal import LibPQ

/// A lock that is held for as long as a run lives, by a transaction that stays open on a connection of its own.
///
/// Whether a run of another process, another database role or behind a pooler is alive is then one look at the lock: it is
/// gone at the moment when its connection is, whatever ended the process. A lock of a transaction passes a transaction
/// pooler, where a lock of a session would stay with a server connection.
enum RunLock {
    /// The kind of run; the first key of the advisory lock.
    enum Kind: Int32 {
        case migration = 1_634_300_781
        case importRun = 1_634_300_777
        case resortRun = 1_634_300_786
    }

    /// Whether nobody holds a lock; holds it until the end of the transaction. `key` is SQL of an integer.
    static func isFree(_ kind: Kind, _ key: SQL) -> SQL {
        "pg_try_advisory_xact_lock(\(kind.rawValue), \(key))"
    }

    /// Whether somebody holds a lock. `key` is SQL of an integer.
    static func isHeld(_ kind: Kind, _ key: SQL) -> SQL {
        """
        EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
            AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
            AND l.classid = \(kind.rawValue) AND l.objid = (\(key))::bigint & 4294967295)
        """
    }

    /// Runs work while a lock is held, on a connection of its own.
    ///
    /// - Parameters:
    ///   - key: SQL of an integer, whose parameters are `parameters`.
    ///   - patience: how long another holder is waited for; nil does not wait.
    /// - Returns: nil if another holds the lock.
    static func hold<T>(
        _ kind: Kind,
        _ key: SQL,
        _ parameters: [PostgresValue] = [],
        waiting patience: Duration? = nil,
        in pool: PostgresPool,
        _ body: () async throws -> T
    ) async throws -> T? {
        let connection = try await PostgresConnection.connect(pool.configuration)
        let result: Result<T?, any Error>
        do {
            result = .success(try await take(kind, key, parameters, patience, connection) ? try await body() : nil)
        } catch {
            result = .failure(error)
        }
        await connection.close()
        return try result.get()
    }

    private static func take(
        _ kind: Kind,
        _ key: SQL,
        _ parameters: [PostgresValue],
        _ patience: Duration?,
        _ connection: PostgresConnection
    ) async throws -> Bool {
        try await connection.perform(within: (patience ?? .zero) + .seconds(10)) { connection in
            // The transaction idles for as long as the run takes; keepalives tell the server when its client is gone.
            try connection.run(
                script: """
                    BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL tcp_keepalives_idle = 10;
                    SET LOCAL tcp_keepalives_interval = 5; SET LOCAL tcp_keepalives_count = 3;
                    SET LOCAL lock_timeout = \(patience?.milliseconds ?? 0)
                    """
            )
            guard patience != nil else {
                return try connection.query("SELECT \(isFree(kind, key))", parameters) {
                    try $0.first { try $0.bool(0) } ?? false
                }
            }
            do {
                try connection.execute("SELECT pg_advisory_xact_lock(\(kind.rawValue), \(key))", parameters)
                return true
            } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                return false
            }
        }
    }
}
