internal import Synchronization

/// Monitors the deadlines of all requests, and cancels overdue and abandoned ones.
///
/// One scan every 100 ms is cheaper than one timer per request.
final class DeadlineWatch: Sendable {
    private struct State {
        var deadlines: [ObjectIdentifier: RequestDeadline] = [:]
        var isWatching = false
    }

    private let state = Mutex(State())
    private static let interval: Duration = .milliseconds(100)

    /// Runs work in its own task and cancels it at the deadline.
    ///
    /// - Parameter isAbandoned: whether the client has disconnected; the work is then cancelled.
    /// - Throws: `error` if the deadline passed before the work ended; otherwise the error of the work.
    func run<T: Sendable>(
        within limit: Duration,
        or error: @autoclosure () -> any Error,
        unless isAbandoned: @escaping @Sendable () -> Bool,
        _ body: @escaping @Sendable (RequestDeadline) async throws -> T
    ) async throws -> T {
        let deadline = RequestDeadline(.now + limit, unless: isAbandoned)
        add(deadline)
        defer { remove(deadline) }
        let task = Task { try await body(deadline) }
        deadline.setCancel { task.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch let failure {
            if let reason = deadline.reason { throw reason }
            guard deadline.isOverdue else { throw failure }
            // A problem for the client is more specific than the timeout.
            switch failure {
            case let closing as ClosingError: throw closing.error is Problem ? closing : ClosingError(error: error())
            case is Problem: throw failure
            default: throw error()
            }
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

    /// Checks deadlines until none are left.
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
