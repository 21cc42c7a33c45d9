internal import Platform
internal import Synchronization

/// A bounded set of connections, leased one at a time. `PoolState` makes the decisions; this class performs them.
package final class PostgresPool: Sendable {
    package struct Options: Sendable {
        /// The maximum number of connections.
        package var size: Int
        /// The maximum wait for a lease.
        package var leaseTimeout: Duration
        /// The maximum number of waiting callers.
        package var maximumWaiting: Int
        /// Called with the time that a caller has waited for its lease.
        package var onLease: @Sendable (Duration) -> Void
        /// The name of the pool in logs and traces.
        package var name: String

        package init(
            size: Int = 8,
            leaseTimeout: Duration = .seconds(3),
            maximumWaiting: Int = 20_000,
            name: String = "pool",
            onLease: @escaping @Sendable (Duration) -> Void = { _ in }
        ) {
            self.size = size
            self.leaseTimeout = leaseTimeout
            self.maximumWaiting = maximumWaiting
            self.name = name
            self.onLease = onLease
        }
    }

    private struct Storage {
        var state: PoolState
        var connections: [Int: PostgresConnection] = [:]
        var continuations: [Int: CheckedContinuation<Lease, any Error>] = [:]
        var timers: [Int: Task<Void, Never>] = [:]
        var nextWaiter = 0
        var lastFailure = ""
    }

    private struct Lease: Sendable {
        let number: Int
        let connection: PostgresConnection
    }

    package let configuration: PostgresConfiguration
    private let options: Options
    private let shell: Mutex<Storage>

    package init(_ configuration: PostgresConfiguration, options: Options = Options()) {
        self.configuration = configuration
        self.options = options
        let limits = PoolState.Limits(connections: options.size, waiting: options.maximumWaiting)
        shell = Mutex(Storage(state: PoolState(limits: limits)))
    }

    // MARK: - Leases

    /// Leases a connection for the duration of a block. A connection that is returned broken, or inside a transaction, is
    /// closed.
    ///
    /// - Parameter group: the callers that need the same other server; nil for one that needs none, or several.
    /// - Throws: kind `exhausted` if no connection became free in time, `connection` if none can be established.
    package func withConnection<T: Sendable>(
        of group: PoolGroup? = nil,
        _ body: (PostgresConnection) async throws -> T
    ) async throws -> T {
        let lease = try await recordedLease(group)
        do {
            let value = try await body(lease.connection)
            await release(lease, timedOut: false)
            return value
        } catch {
            await release(lease, timedOut: Self.timedOut(error))
            throw error
        }
    }

    /// Runs a block of synchronous calls on a leased connection's thread.
    @discardableResult
    package func perform<T: Sendable>(
        within limit: Duration? = nil,
        of group: PoolGroup? = nil,
        epilogue: TransactionEpilogue? = nil,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await perform(until: limit.map { .now + $0 }, group, epilogue, body)
    }

    private func perform<T: Sendable>(
        until deadline: ContinuousClock.Instant?,
        _ group: PoolGroup?,
        _ epilogue: TransactionEpilogue?,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await withConnection(of: group) { try await $0.perform(until: deadline, epilogue: epilogue, body) }
    }

    /// How often a transaction runs at most, if each attempt fails with a retryable error. Each of several writers of the same rows may cost the
    /// others an attempt: four placements of a product used up four attempts of a fifth writer.
    package static let usualAttempts = 10

    /// Runs a block in one transaction, with retries of a retryable error.
    @discardableResult
    package func transaction<T: Sendable>(
        _ mode: StaticString = "",
        within limit: Duration? = nil,
        of group: PoolGroup? = nil,
        epilogue: TransactionEpilogue? = nil,
        attempts: Int = usualAttempts,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        let deadline = limit.map { ContinuousClock.now + $0 }
        return try await retrying(limit: attempts) {
            try await perform(until: deadline, group, epilogue) { try $0.transaction(mode, body) }
        }
    }

    /// Runs a block in one transaction and ends it as the block decides, with retries of a retryable error.
    @discardableResult
    package func transaction<T: Sendable>(
        within limit: Duration? = nil,
        of group: PoolGroup? = nil,
        epilogue: TransactionEpilogue? = nil,
        deciding body: @escaping @Sendable (isolated PostgresConnection) throws -> TransactionEnd<T>
    ) async throws -> T {
        let deadline = limit.map { ContinuousClock.now + $0 }
        return try await retrying {
            try await perform(until: deadline, group, epilogue) { try $0.transaction(deciding: body) }
        }
    }

    /// Closes idle connections and rejects new leases; leased connections close on release.
    package func shutDown() {
        act { $0.shutDown() }
    }

    /// The number of connections, of leased ones, and of waiting callers.
    package var counts: (total: Int, leased: Int, waiting: Int) {
        shell.withLock { ($0.state.connectionCount, $0.state.leasedCount, $0.state.waitingCount) }
    }

    /// The maximum number of connections.
    package var size: Int { options.size }

    // MARK: - Actions

    /// Leases a connection, and reports the wait, also for the current request.
    private func recordedLease(_ group: PoolGroup?) async throws -> Lease {
        let start = ContinuousClock.now
        do {
            let lease = try await lease(group)
            let end = ContinuousClock.now
            options.onLease(end - start)
            StepRecorder.current?.record(.init(.wait, options.name, start: start, end: end))
            return lease
        } catch {
            StepRecorder.current?.record(
                .init(.wait, options.name, start: start, end: .now, failure: PostgresError.kind(of: error))
            )
            throw error
        }
    }

    private func lease(_ group: PoolGroup?) async throws -> Lease {
        try Task.checkCancellation()
        let waiter = shell.withLock {
            $0.nextWaiter += 1
            return $0.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let actions = shell.withLock { shell in
                    shell.continuations[waiter] = continuation
                    return shell.state.request(waiter, group, now: .now)
                }
                perform(actions)
                startTimer(waiter)
                if Task.isCancelled { act { $0.withdraw(waiter, .cancelled) } }
            }
        } onCancel: {
            act { $0.withdraw(waiter, .cancelled) }
        }
    }

    /// Starts a timer, only for callers that actually wait.
    private func startTimer(_ waiter: Int) {
        shell.withLock { shell in
            guard shell.continuations[waiter] != nil else { return }
            shell.timers[waiter] = Task { [weak self, options] in
                guard (try? await Task.sleep(for: options.leaseTimeout)) != nil else { return }
                self?.act { $0.withdraw(waiter, .timedOut) }
            }
        }
    }

    /// Returns whether a lease that ended with an error waited for its server in vain; nil if that is not known.
    static func timedOut(_ error: any Error) -> Bool? {
        if error is CancellationError { return nil }
        guard let error = error as? PostgresError else { return false }
        return error.kind == .cancelled ? nil : error.isTimeout
    }

    private func release(_ lease: Lease, timedOut: Bool?) async {
        let isReusable = await lease.connection.isReusable()
        act { $0.release(lease.number, isReusable: isReusable, timedOut: timedOut, now: .now) }
    }

    private func act(_ decide: (inout PoolState) -> [PoolState.Action]) {
        perform(shell.withLock { decide(&$0.state) })
    }

    private func perform(_ actions: [PoolState.Action]) {
        for action in actions {
            switch action {
            case .connect(let number): connect(number)
            case .close(let number):
                if let connection = shell.withLock({ $0.connections.removeValue(forKey: number) }) {
                    Task { await connection.close() }
                }
            case .grant(let waiter, let number): grant(waiter, number)
            case .wake(let moment):
                Task { [weak self] in
                    try? await Task.sleep(until: moment, clock: .continuous)
                    self?.act { $0.wake() }
                }
            case .fail(let waiter, let failure):
                let (continuation, text) = take(waiter)
                continuation?.resume(throwing: error(failure, text))
            }
        }
    }

    private func grant(_ waiter: Int, _ number: Int) {
        guard let connection = shell.withLock({ $0.connections[number] }) else { return }
        if connection.hasUnexpectedInput { return act { $0.discard(number, returning: waiter) } }
        let (continuation, _) = take(waiter)
        shell.withLock { $0.state.confirm(waiter) }
        guard let continuation else { return act { $0.release(number, isReusable: true, now: .now) } }
        continuation.resume(returning: Lease(number: number, connection: connection))
    }

    private func take(_ waiter: Int) -> (CheckedContinuation<Lease, any Error>?, String) {
        shell.withLock { shell in
            shell.timers.removeValue(forKey: waiter)?.cancel()
            return (shell.continuations.removeValue(forKey: waiter), shell.lastFailure)
        }
    }

    private func connect(_ number: Int) {
        Task {
            do {
                let connection = try await PostgresConnection.connect(configuration)
                shell.withLock { $0.connections[number] = connection }
                act { $0.connected(number, now: .now, jitter: .random(in: 0...1)) }
            } catch {
                shell.withLock { $0.lastFailure = (error as? PostgresError)?.message ?? "\(error)" }
                act { $0.connectFailed(number, now: .now, jitter: .random(in: 0...1)) }
            }
        }
    }

    private func error(_ failure: PoolState.Failure, _ text: String) -> any Error {
        switch failure {
        case .full: PostgresError(.exhausted, "too many callers are waiting for a connection")
        case .timedOut: PostgresError(.exhausted, "no connection became free in time")
        case .shutDown: PostgresError(.exhausted, "the pool was shut down")
        case .unavailable: PostgresError(.connection, text)
        case .cancelled: PostgresError(.cancelled, "the task was cancelled")
        }
    }
}
