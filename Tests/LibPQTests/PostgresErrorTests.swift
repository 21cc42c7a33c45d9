import Testing

@testable import LibPQ

/// The meaning of errors, and what may be logged of them.
@Suite(.timeLimit(.minutes(15))) struct PostgresErrorTests {
    @Test("Errors of the server's side mean that it is unavailable, and errors of the caller do not")
    func kinds() {
        let unavailable: [PostgresError.Kind] = [.connection, .exhausted, .deadline]
        let others: [PostgresError.Kind] = [.server, .cancelled, .conflict, .decoding, .misuse]
        for kind in unavailable { #expect(PostgresError(kind, "").meansUnavailable, "\(kind)") }
        for kind in others {
            // Only an error with a SQLSTATE is judged by its text.
            let error = PostgresError(kind, "server closed the connection unexpectedly")
            #expect(!error.meansUnavailable, "\(kind)")
        }
        for kind in unavailable + others {
            let error = PostgresError(kind, "")
            #expect(error.isTimeout == (kind == .deadline) && !error.commitIsUncertain, "\(kind)")
        }
    }

    /// Codes of Appendix A of the PostgreSQL documentation.
    @Test(
        "A SQLSTATE says whether the server is unavailable",
        arguments: [
            ("08006", true), ("08001", true), ("53300", true), ("53100", true), ("57P01", true), ("57P02", true),
            ("57P03", true), ("25P03", true), ("55P03", true), ("57014", false), ("57P04", false), ("25006", false),
            ("55006", false), ("23505", false), ("40001", false), ("42P01", false), ("XX000", false),
        ]
    )
    func unavailableStates(_ state: String, _ isUnavailable: Bool) {
        #expect(PostgresError(.server, "", sqlState: SQLState(state)).meansUnavailable == isUnavailable)
    }

    @Test(
        "The loss of a worker is recognized by the beginning of its message",
        arguments: [
            "failure on connection marked as essential", "could not commit transaction for shard",
            "failed to prepare transaction", "postmaster was shut down, exiting",
            "server closed the connection unexpectedly", "could not receive data from server",
            "could not send data to server", "no connection to the server", "connection not open",
            "SSL SYSCALL error", "SSL connection has been closed unexpectedly",
        ]
    )
    func lossOfWorkers(_ message: String) {
        let state = SQLState("XX000")
        #expect(PostgresError(.server, message + ": more", sqlState: state).meansUnavailable)
        #expect(!PostgresError(.server, "other: " + message, sqlState: state).meansUnavailable)
        #expect(!PostgresError(.server, message).meansUnavailable)
    }

    @Test("Only conflicts, serialization failures and deadlocks are retried")
    func retryableErrors() {
        for state in ["40001", "40P01"] {
            #expect(PostgresError(.server, "", sqlState: SQLState(state)).isRetryable, "\(state)")
        }
        for state in ["40002", "23505", "55P03", "57014"] {
            #expect(!PostgresError(.server, "", sqlState: SQLState(state)).isRetryable, "\(state)")
        }
        #expect(PostgresError(.conflict, "").isRetryable)
        for kind: PostgresError.Kind in [.connection, .deadline, .exhausted, .misuse, .server] {
            #expect(!PostgresError(kind, "").isRetryable, "\(kind)")
        }
    }

    @Test("A passed deadline and a cancelled statement are timeouts, and a lock that was not granted is a lock timeout")
    func timeouts() {
        let (cancelled, locked) = (SQLState("57014"), SQLState("55P03"))
        #expect(PostgresError(.deadline, "").isTimeout)
        #expect(PostgresError(.server, "", sqlState: cancelled).isTimeout)
        #expect(!PostgresError(.server, "", sqlState: locked).isTimeout)
        #expect(!PostgresError(.cancelled, "").isTimeout)
        #expect(PostgresError(.server, "", sqlState: locked).isLockTimeout)
        #expect(!PostgresError(.server, "", sqlState: cancelled).isLockTimeout)
        #expect(!PostgresError(.deadline, "").isLockTimeout)
    }

    @Test("A description for logs has the kind and the SQLSTATE, and only a debug description has the text")
    func descriptions() {
        let error = PostgresError(.server, "secret", sqlState: SQLState("23505"), constraint: "t_pkey")
        #expect(error.description == "PostgresError(server, SQLSTATE 23505)")
        #expect(error.debugDescription == "PostgresError(server, SQLSTATE 23505, constraint t_pkey: secret)")
        #expect("\(error)" == error.description && String(reflecting: error) == error.debugDescription)
        let lost = PostgresError(.connection, "secret")
        #expect(lost.description == "PostgresError(connection)")
        #expect(lost.debugDescription == "PostgresError(connection, SQLSTATE none, constraint none: secret)")
        #expect(!lost.commitIsUncertain)
    }

    @Test("The kind of a failed step is the SQLSTATE, the kind of the error, or its type")
    func kindsOfSteps() {
        #expect(PostgresError.kind(of: PostgresError(.server, "", sqlState: SQLState("22012"))) == "22012")
        #expect(PostgresError.kind(of: PostgresError(.deadline, "")) == "deadline")
        #expect(PostgresError.kind(of: CancellationError()) == "CancellationError")
    }

    @Test("The class of a SQLSTATE is its first two characters")
    func classes() { #expect(SQLState("57P01").classCode == "57") }

    @Test("A lease that ended with an error says whether its server responded, unless it was cancelled")
    func endsOfLeases() {
        #expect(PostgresPool.timedOut(CancellationError()) == nil)
        #expect(PostgresPool.timedOut(PostgresError(.cancelled, "")) == nil)
        #expect(PostgresPool.timedOut(PostgresError(.deadline, "")) == true)
        #expect(PostgresPool.timedOut(PostgresError(.server, "", sqlState: SQLState("57014"))) == true)
        #expect(PostgresPool.timedOut(PostgresError(.server, "", sqlState: SQLState("23505"))) == false)
        struct Other: Error {}
        #expect(PostgresPool.timedOut(Other()) == false)
    }
}
