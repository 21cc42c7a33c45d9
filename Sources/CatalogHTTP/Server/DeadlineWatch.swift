internal import Synchronization

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
