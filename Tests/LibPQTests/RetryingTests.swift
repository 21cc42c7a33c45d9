import LibPQ
import Testing

@Suite(.timeLimit(.minutes(15))) struct RetryingTests {
    private struct Result: Equatable {
        var attempts: Int
        /// nil if the work succeeded.
        var failure: PostgresError.Kind?
    }

    /// Retries work that succeeds with an attempt.
    private func result(
        limit: Int = PostgresPool.usualAttempts,
        succeedingWith success: Int,
        _ kind: PostgresError.Kind = .conflict
    ) async throws -> Result {
        var attempts = 0
        do {
            try await retrying(limit: limit) {
                attempts += 1
                if attempts < success { throw PostgresError(kind, "attempt \(attempts)") }
            }
            return Result(attempts: attempts)
        } catch let error as PostgresError { return Result(attempts: attempts, failure: error.kind) }
    }

    @Test("Work is retried until it succeeds")
    func succeeds() async throws {
        #expect(try await result(succeedingWith: 1) == Result(attempts: 1))
        #expect(try await result(succeedingWith: 3) == Result(attempts: 3))
    }

    @Test("The error of the last attempt is thrown")
    func ends() async throws {
        #expect(try await result(limit: 2, succeedingWith: 3) == Result(attempts: 2, failure: .conflict))
        #expect(try await result(limit: 1, succeedingWith: 2) == Result(attempts: 1, failure: .conflict))
    }

    @Test("Other errors are not retried")
    func otherErrors() async throws {
        #expect(try await result(succeedingWith: 3, .deadline) == Result(attempts: 1, failure: .deadline))
    }
}
