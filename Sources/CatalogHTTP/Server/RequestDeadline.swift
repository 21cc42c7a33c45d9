internal import Synchronization

/// The point in time by which a request is answered, whatever the database does.
final class RequestDeadline: Sendable {
    /// Of the request that the current task serves; nil where nothing watches.
    @TaskLocal static var current: RequestDeadline?

    private struct State {
        var deadline: ContinuousClock.Instant
        var cancel: (@Sendable () -> Void)?
        var isOverdue = false
        /// The error of the response, whatever the work throws: layers in between may have replaced it.
        var reason: (any Error)?
    }

    private let state: Mutex<State>

    init(_ deadline: ContinuousClock.Instant) { state = Mutex(State(deadline: deadline)) }

    /// Whether it has passed, and the request was cancelled.
    var isOverdue: Bool { state.withLock { $0.isOverdue } }

    /// Ends the current request with an error, whatever the layers in between make of it.
    static func end(with error: any Error) -> any Error {
        current?.state.withLock { $0.reason = $0.reason ?? error }
        return error
    }

    var reason: (any Error)? { state.withLock { $0.reason } }

    /// Gives some work its own limit.
    ///
    /// - Parameter countsTowardsRest: whether the time that it takes is taken from the rest of the request.
    /// - Throws: `late`, if the work is cancelled by the limit; what the work throws.
    static func allow<T>(
        _ limit: Duration,
        or late: @autoclosure () -> any Error,
        countsTowardsRest: Bool = false,
        _ body: () async throws -> T
    ) async throws -> T {
        guard let current else { return try await body() }
        let start = ContinuousClock.now
        let outer = current.state.withLock { state in
            defer { state.deadline = countsTowardsRest ? min(state.deadline, start + limit) : start + limit }
            return state.deadline
        }
        defer { current.state.withLock { $0.deadline = countsTowardsRest ? outer : outer + (.now - start) } }
        // A stream that is cancelled may throw, or simply end.
        do {
            let value = try await body()
            guard current.isOverdue else { return value }
        } catch {
            guard current.isOverdue else { throw error }
        }
        throw end(with: late())
    }

    func setCancel(_ cancel: @escaping @Sendable () -> Void) {
        let isOverdue = state.withLock { state in
            state.cancel = cancel
            return state.isOverdue
        }
        if isOverdue { cancel() }
    }

    func check(_ now: ContinuousClock.Instant) {
        let cancel = state.withLock { state in
            guard state.deadline <= now, !state.isOverdue else { return nil as (@Sendable () -> Void)? }
            state.isOverdue = true
            return state.cancel
        }
        cancel?()
    }
}
