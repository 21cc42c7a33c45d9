import Testing

@testable import LibPQ

/// The meaning of errors, and what may be logged of them.
@Suite struct PostgresErrorTests {
    @Test(
        "The database is unavailable after a lost connection, without capacity and after a deadline",
        arguments: [
            (PostgresError.Kind.connection, true), (.exhausted, true), (.deadline, true), (.cancelled, false),
            (.conflict, false), (.decoding, false), (.misuse, false), (.server, false),
        ]
    )
    func kinds(_ kind: PostgresError.Kind, _ isUnavailable: Bool) {
        let error = PostgresError(kind, "server closed the connection unexpectedly")
        #expect(error.meansUnavailable == isUnavailable)
        #expect(error.isTimeout == (kind == .deadline))
        #expect(error.isRetryable == (kind == .conflict))
        #expect(!error.commitIsUncertain)
    }

    @Test("A cancelled statement is a timeout, and a failed serialization is worth another attempt")
    func states() {
        func error(_ state: String) -> PostgresError { PostgresError(.server, "text", sqlState: SQLState(state)) }
        #expect(error("57014").isTimeout && !error("40001").isTimeout)
        #expect(error("40001").isRetryable && error("40P01").isRetryable && !error("23505").isRetryable)
        #expect(error("53300").meansUnavailable && error("57P01").meansUnavailable && !error("23505").meansUnavailable)
    }

    @Test(
        "Each message by which Citus reports the loss of a worker means that the database is unavailable",
        arguments: [
            "failure on connection marked as essential", "could not commit transaction for shard",
            "failed to prepare transaction", "postmaster was shut down, exiting",
            "server closed the connection unexpectedly", "could not receive data from server",
            "could not send data to server", "no connection to the server", "connection not open", "SSL SYSCALL error",
            "SSL connection has been closed unexpectedly",
        ]
    )
    func lossesOfWorkers(_ message: String) {
        #expect(PostgresError(.server, message + ": x", sqlState: .internalError).meansUnavailable)
        #expect(!PostgresError(.server, "x: " + message, sqlState: .internalError).meansUnavailable)
        #expect(!PostgresError(.server, message).meansUnavailable)
    }

    @Test("A log has the kind and the state of an error, and never its text")
    func descriptions() {
        let full = PostgresError(.server, "secret", sqlState: .uniqueViolation, constraint: "product_pkey")
        #expect(full.description == "PostgresError(server, SQLSTATE 23505)")
        #expect(full.debugDescription == "PostgresError(server, SQLSTATE 23505, constraint product_pkey: secret)")
        let bare = PostgresError(.misuse, "secret")
        #expect(bare.description == "PostgresError(misuse)")
        #expect(bare.debugDescription == "PostgresError(misuse, SQLSTATE none, constraint none: secret)")
        #expect("\(full)" == full.description && String(reflecting: full) == full.debugDescription)
    }
}
