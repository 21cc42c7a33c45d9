internal import Synchronization

/// The point in time by which a request gets a response, whatever the database does.
final class RequestDeadline: Sendable {
    private struct State {
        var deadline: ContinuousClock.Instant
        var cancel: (@Sendable () -> Void)?
        var isOverdue = false
        /// The error to respond with, whatever the work throws: intermediate layers may replace errors.
        var reason: (any Error)?
    }

    private let state: Mutex<State>

    private let isAbandoned: @Sendable () -> Bool

    /// - Parameter isAbandoned: whether the client has disconnected.
    init(_ deadline: ContinuousClock.Instant, unless isAbandoned: @escaping @Sendable () -> Bool) {
        state = Mutex(State(deadline: deadline))
        self.isAbandoned = isAbandoned
    }

    /// Whether the deadline has passed and the request was cancelled.
    var isOverdue: Bool { state.withLock { $0.isOverdue } }

    /// Fails the request with an error, even if intermediate layers replace it.
    func fail(with error: any Error) -> any Error {
        state.withLock { $0.reason = $0.reason ?? error }
        return error
    }

    var reason: (any Error)? { state.withLock { $0.reason } }

    /// Runs work with its own time limit.
    ///
    /// - Parameter countsTowardsRequest: whether the time counts towards the request's own limit.
    /// - Throws: `late` if the limit is exceeded; otherwise the error of the work.
    func withLimit<T>(
        _ limit: Duration,
        or late: @autoclosure () -> any Error,
        countsTowardsRequest: Bool = false,
        _ body: () async throws -> T
    ) async throws -> T {
        let start = ContinuousClock.now
        let outer = state.withLock { state in
            defer { state.deadline = countsTowardsRequest ? min(state.deadline, start + limit) : start + limit }
            return state.deadline
        }
        defer { state.withLock { $0.deadline = countsTowardsRequest ? outer : outer + (.now - start) } }
        // A cancelled stream may throw or just end.
        do {
            let value = try await body()
            guard isOverdue else { return value }
        } catch {
            guard isOverdue else { throw error }
        }
        throw fail(with: late())
    }

    func setCancel(_ cancel: @escaping @Sendable () -> Void) {
        let isOverdue = state.withLock { state in
            state.cancel = cancel
            return state.isOverdue
        }
        if isOverdue { cancel() }
    }

    /// Cancels the request if it is overdue or abandoned.
    func check(_ now: ContinuousClock.Instant) {
        if isAbandoned() {
            state.withLock { $0.cancel }?()
            return
        }
        let cancel = state.withLock { state in
            guard state.deadline <= now, !state.isOverdue else { return nil as (@Sendable () -> Void)? }
            state.isOverdue = true
            return state.cancel
        }
        cancel?()
    }
}
