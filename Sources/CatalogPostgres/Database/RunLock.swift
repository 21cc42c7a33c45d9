internal import LibPQ

/// A lock held for the duration of a run, by an open transaction on a separate connection.
///
/// The lock shows whether a run is alive, even from another process or role, or through a pooler: it is released
/// as soon as its connection ends, however the process ended. A transaction-level lock works through a transaction
/// pooler; a session-level lock would stay with the server connection.
enum RunLock {
    /// The kind of run; the first key of the advisory lock.
    enum Kind: Int32 {
        case migration = 1_634_300_781
        case importRun = 1_634_300_777
        case resortRun = 1_634_300_786
    }

    /// Returns SQL that tries to acquire a lock until the end of the transaction. `key` is an integer expression.
    static func tryAcquire(_ kind: Kind, _ key: SQL) -> SQL {
        "pg_try_advisory_xact_lock(\(kind.rawValue), \(key))"
    }

    /// Returns SQL that tests whether a lock is held. `key` is an integer expression.
    static func isHeld(_ kind: Kind, _ key: SQL) -> SQL {
        """
        EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
            AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
            AND l.classid = \(kind.rawValue) AND l.objid = (\(key))::bigint & 4294967295)
        """
    }

    /// Runs work while holding a lock on a separate connection.
    ///
    /// - Parameters:
    ///   - key: an integer expression with the parameters `parameters`.
    ///   - timeout: the maximum wait for another holder; nil does not wait.
    /// - Returns: nil if another holds the lock.
    static func withLock<T>(
        _ kind: Kind,
        _ key: SQL,
        _ parameters: [PostgresValue] = [],
        waiting timeout: Duration? = nil,
        in pool: PostgresPool,
        _ body: () async throws -> T
    ) async throws -> T? {
        let connection = try await PostgresConnection.connect(pool.configuration)
        let result: Result<T?, any Error>
        do {
            result = .success(try await acquire(kind, key, parameters, timeout, connection) ? try await body() : nil)
        } catch {
            result = .failure(error)
        }
        // The server notices the end of a connection later: without this, the next run might still find the lock.
        try? await connection.perform(within: .seconds(10)) { try $0.run(script: "ROLLBACK") }
        await connection.close()
        return try result.get()
    }

    /// The pause until a waiting run tries again.
    private static let retryPause: Duration = .milliseconds(200)

    /// Tries until the timeout, each time in another transaction. A statement or a transaction that waits for the lock would keep
    /// its snapshot. A migration that holds the lock may build an index concurrently. The build waits for all transactions with a
    /// snapshot: the two would deadlock.
    private static func acquire(
        _ kind: Kind,
        _ key: SQL,
        _ parameters: [PostgresValue],
        _ timeout: Duration?,
        _ connection: PostgresConnection
    ) async throws -> Bool {
        let deadline = ContinuousClock.now + (timeout ?? .zero)
        while true {
            let isAcquired = try await connection.perform(within: .seconds(10)) { connection in
                // The transaction is idle during the run; keepalives detect a lost client.
                try connection.run(
                    script: """
                        BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL tcp_keepalives_idle = 10;
                        SET LOCAL tcp_keepalives_interval = 5; SET LOCAL tcp_keepalives_count = 3
                        """
                )
                let isAcquired = try connection.query("SELECT \(tryAcquire(kind, key))", parameters) {
                    try $0.first { try $0.bool(0) } ?? false
                }
                // The result above keeps its snapshot until the next statement.
                try connection.run(script: isAcquired ? "SET LOCAL lock_timeout = 0" : "ROLLBACK")
                return isAcquired
            }
            guard !isAcquired, ContinuousClock.now < deadline else { return isAcquired }
            try await Task.sleep(for: retryPause)
        }
    }
}
