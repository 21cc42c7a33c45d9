/// Runs work again after some errors, with a pause before each retry.
///
/// - Parameters:
///   - limit: the maximum number of attempts, at least 1.
///   - isRetried: returns whether the work is retried after an error.
/// - Throws: the error of the last attempt.
package func retrying<T>(
    limit: Int = PostgresPool.usualAttempts,
    pause: Duration = .zero,
    when isRetried: (PostgresError) -> Bool = { $0.isRetryable },
    _ work: () async throws -> T
) async throws -> T {
    for _ in 1..<limit {
        do { return try await work() } catch let error as PostgresError where isRetried(error) {
            if pause > .zero { try await Task.sleep(for: pause) }
        }
    }
    return try await work()
}
