import Testing

@testable import LibPQ

/// Errors that Citus reports without a SQLSTATE of their own.
@Suite struct LostWorkerTests {
    @Test(
        "The loss of a worker means that the database is unavailable, and other internal errors do not",
        arguments: [
            ("failure on connection marked as essential: db1:5432", true),
            ("could not commit transaction for shard 102315 on at least one active node", true),
            ("failed to prepare transaction 'citus_0_1_2_3' on host db1:5432", true),
            ("server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally", true),
            ("cache lookup failed for relation 16384", false),
            ("", false),
        ]
    )
    func lossOfWorkers(_ message: String, _ isUnavailable: Bool) {
        let error = PostgresError(.server, message, sqlState: .internalError)
        #expect(error.meansUnavailable == isUnavailable)
        #expect(!PostgresError(.server, message, sqlState: SQLState("22000")).meansUnavailable)
    }
}
