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

    fileprivate var reason: (any Error)? { state.withLock { $0.reason } }

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

    fileprivate func setCancel(_ cancel: @escaping @Sendable () -> Void) {
        let isOverdue = state.withLock { state in
            state.cancel = cancel
            return state.isOverdue
        }
        if isOverdue { cancel() }
    }

    fileprivate func check(_ now: ContinuousClock.Instant) {
        let cancel = state.withLock { state in
            guard state.deadline <= now, !state.isOverdue else { return nil as (@Sendable () -> Void)? }
            state.isOverdue = true
            return state.cancel
        }
        cancel?()
    }
}

/// Watches the deadlines of all requests of a server, and cancels those that are overdue.
///
/// One look at all of them every tenth of a second costs less than a timer for each.
final class DeadlineWatch: Sendable {
    private struct State {
        var deadlines: [ObjectIdentifier: RequestDeadline] = [:]
        var isWatching = false
    }

    private let state = Mutex(State())
    private static let interval: Duration = .milliseconds(100)

    /// Runs work in a task of its own, which is cancelled once its time is over.
    ///
    /// - Throws: `error`, if the time was over before the work had ended; what the work throws.
    func run<T: Sendable>(
        within limit: Duration,
        or error: @autoclosure () -> any Error,
        _ body: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        let deadline = RequestDeadline(.now + limit)
        add(deadline)
        defer { remove(deadline) }
        let task = RequestDeadline.$current.withValue(deadline) { Task { try await body() } }
        deadline.setCancel { task.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch let failure {
            // What is meant for the client says more.
            throw deadline.reason ?? (deadline.isOverdue && !(failure is Problem) ? error() : failure)
        }
    }

    private func add(_ deadline: RequestDeadline) {
        let starts = state.withLock { state in
            state.deadlines[ObjectIdentifier(deadline)] = deadline
            defer { state.isWatching = true }
            return !state.isWatching
        }
        if starts { Task { [weak self] in await Self.watch { self } } }
    }

    private func remove(_ deadline: RequestDeadline) {
        state.withLock { $0.deadlines[ObjectIdentifier(deadline)] = nil }
    }

    /// Looks until there is nothing to look at.
    private static func watch(_ watch: () -> DeadlineWatch?) async {
        while true {
            try? await Task.sleep(for: interval)
            guard let watched = watch()?.next() else { return }
            let now = ContinuousClock.now
            for deadline in watched { deadline.check(now) }
        }
    }

    private func next() -> [RequestDeadline]? {
        state.withLock { state in
            if state.deadlines.isEmpty {
                state.isWatching = false
                return nil
            }
            return Array(state.deadlines.values)
        }
    }
}
