internal import HTTPTypes
internal import Platform

extension Call {
    /// Runs work within a time limit, and not on an event loop. A read ends when its client disconnects; a write continues, because the
    /// client may not need the response.
    ///
    /// - Parameter body: gets the call with its deadline.
    /// - Throws: `unavailable` if the limit is exceeded; otherwise the error of the work.
    func within<T: Sendable>(
        _ limit: Duration,
        _ body: @escaping @Sendable (Call) async throws -> T
    ) async throws -> T {
        let (isRead, isAbandoned) = (endpoint.isReadOnly, isAbandoned)
        var context = TaskContext.current
        context.eventLoop = nil
        return try await context.run {
            try await deadlines.run(
                within: limit,
                or: Self.timeoutProblem(limit),
                unless: { isRead && isAbandoned() }
            ) { deadline in
                var call = self
                call.deadline = deadline
                return try await body(call)
            }
        }
    }

    private static func timeoutProblem(_ limit: Duration) -> Problem {
        var late = Problem(.unavailable, "the request timed out after \(limit.components.seconds) seconds")
        late.headers[.retryAfter] = "1"
        return late
    }
}
