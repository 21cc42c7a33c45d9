/// Runs a body that must end in time; one that does not is cancelled.
///
/// - Parameters:
///   - limit: how long it may take.
///   - error: what is thrown where it takes longer.
package func withDeadline<T: Sendable>(
    _ limit: Duration,
    or error: any Error,
    _ body: @escaping @Sendable () async throws -> T
) async throws -> T {
    try await withThrowingTaskGroup(of: T.self) { group in
        group.addTask(operation: body)
        group.addTask {
            try await Task.sleep(for: limit)
            throw error
        }
        defer { group.cancelAll() }
        return try await group.next()!
    }
}
