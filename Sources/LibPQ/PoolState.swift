internal import DequeModule

/// What a pool decides: who gets which connection, when to make one, when to give up. No clock, no I/O: inputs in,
/// actions out.
///
/// Connections are known by number. At most `limit` exist or are being made; idle ones are handed out newest first, so
/// that a quiet pool lets the rest grow old; who waits is served in order.
struct PoolState {
    struct Limits: Sendable {
        var connections = 8
        var waiting = 512
        /// How long a connection may live; a little less by `jitter`, so that they do not all end at once.
        var lifetime: Duration = .seconds(1800)
        /// Pause after the n-th failure in a row to connect: doubles from the first to the longest.
        var firstPause: Duration = .milliseconds(100)
        var longestPause: Duration = .seconds(2)
    }

    enum Action: Equatable {
        case connect(Int)
        case grant(waiter: Int, connection: Int)
        case close(Int)
        case fail(waiter: Int, Failure)
        /// Come back then, with `wake`.
        case wake(ContinuousClock.Instant)
    }

    enum Failure: Equatable {
        case full
        case unavailable
        case timedOut
        case cancelled
        case shutDown
    }

    private struct Idle {
        let connection: Int
        let retireAt: ContinuousClock.Instant
    }

    let limits: Limits
    private var idle: [Idle] = []
    private var leased: [Int: ContinuousClock.Instant] = [:]
    private var connecting: Set<Int> = []
    private var waiters: Deque<Int> = []
    private var nextConnection = 0
    private var failures = 0
    private var pauseUntil: ContinuousClock.Instant?
    private var isShutDown = false
    private var isWakeDue = false
    /// Who was granted a connection that is not in use yet, and whether they have given up meanwhile.
    private var granted: [Int: Failure?] = [:]

    init(limits: Limits) { self.limits = limits }

    var connectionCount: Int { idle.count + leased.count + connecting.count }
    var idleCount: Int { idle.count }
    var leasedCount: Int { leased.count }
    var waitingCount: Int { waiters.count }

    /// Somebody wants a connection.
    mutating func request(_ waiter: Int, now: ContinuousClock.Instant) -> [Action] {
        if isShutDown { return [.fail(waiter: waiter, .shutDown)] }
        var actions: [Action] = []
        while let candidate = idle.popLast() {
            if candidate.retireAt <= now {
                actions.append(.close(candidate.connection))
                continue
            }
            leased[candidate.connection] = candidate.retireAt
            granted[waiter] = .some(nil)
            return actions + [.grant(waiter: waiter, connection: candidate.connection)]
        }
        let isPaused = pauseUntil.map { $0 > now } ?? false
        if isPaused, connectionCount == 0 { return actions + [.fail(waiter: waiter, .unavailable)] }
        guard waiters.count < limits.waiting else { return actions + [.fail(waiter: waiter, .full)] }
        waiters.append(waiter)
        return actions + (isPaused ? wakeIfNeeded() : connectIfNeeded())
    }

    /// Somebody no longer waits. Nothing, where the waiter was served in the meantime.
    mutating func withdraw(_ waiter: Int, _ failure: Failure) -> [Action] {
        if granted[waiter] != nil { granted[waiter] = failure }
        guard let index = waiters.firstIndex(of: waiter) else { return [] }
        waiters.remove(at: index)
        return [.fail(waiter: waiter, failure)]
    }

    /// A granted connection is in use.
    mutating func confirm(_ waiter: Int) { granted[waiter] = nil }

    /// The pause after a failure is over.
    mutating func wake() -> [Action] {
        isWakeDue = false
        return connectIfNeeded()
    }

    /// A connection was made. `jitter` from 0 to 1 shortens its life by up to a tenth.
    mutating func connected(_ connection: Int, now: ContinuousClock.Instant, jitter: Double) -> [Action] {
        connecting.remove(connection)
        failures = 0
        pauseUntil = nil
        if isShutDown { return [.close(connection)] }
        let retireAt = now + limits.lifetime * (1 - jitter / 10)
        return hand(connection, retireAt)
    }

    /// A connection could not be made. Who waits and has no other connection to hope for is told at once.
    mutating func connectFailed(_ connection: Int, now: ContinuousClock.Instant, jitter: Double) -> [Action] {
        connecting.remove(connection)
        failures += 1
        let doubled = limits.firstPause * (1 << min(failures - 1, 10))
        pauseUntil = now + min(doubled, limits.longestPause) * (0.5 + jitter / 2)
        guard connectionCount == 0 else { return wakeIfNeeded() }
        defer { waiters.removeAll() }
        return waiters.map { .fail(waiter: $0, .unavailable) }
    }

    /// A lease ended. A connection that is broken, inside a transaction or too old is closed.
    mutating func release(_ connection: Int, isReusable: Bool, now: ContinuousClock.Instant) -> [Action] {
        guard let retireAt = leased.removeValue(forKey: connection) else { return [] }
        guard isReusable, retireAt > now, !isShutDown else { return [.close(connection)] + connectIfNeeded() }
        return hand(connection, retireAt)
    }

    /// A connection turned out to be broken before its lease began: the waiter goes back to the head of the queue.
    mutating func discard(_ connection: Int, returning waiter: Int) -> [Action] {
        leased[connection] = nil
        if let failure = granted.removeValue(forKey: waiter) ?? nil {
            return [.close(connection), .fail(waiter: waiter, failure)]
        }
        if isShutDown { return [.close(connection), .fail(waiter: waiter, .shutDown)] }
        waiters.prepend(waiter)
        var actions: [Action] = [.close(connection)]
        // The others that idle are likely dead too, but each is checked when its turn comes.
        if let candidate = idle.popLast() {
            actions += hand(candidate.connection, candidate.retireAt)
        } else {
            actions += connectIfNeeded()
        }
        return actions
    }

    /// No more leases; idle connections close now, leased ones when they come back.
    mutating func shutDown() -> [Action] {
        isShutDown = true
        defer {
            idle.removeAll()
            waiters.removeAll()
        }
        return idle.map { .close($0.connection) } + waiters.map { .fail(waiter: $0, .shutDown) }
    }

    private mutating func hand(_ connection: Int, _ retireAt: ContinuousClock.Instant) -> [Action] {
        guard let waiter = waiters.popFirst() else {
            idle.append(Idle(connection: connection, retireAt: retireAt))
            return []
        }
        leased[connection] = retireAt
        granted[waiter] = .some(nil)
        return [.grant(waiter: waiter, connection: connection)]
    }

    /// Who waits while connecting pauses has no event to hope for but the end of the pause.
    private mutating func wakeIfNeeded() -> [Action] {
        guard !waiters.isEmpty, !isWakeDue, let pauseUntil else { return [] }
        isWakeDue = true
        return [.wake(pauseUntil)]
    }

    private mutating func connectIfNeeded() -> [Action] {
        guard !isShutDown, waiters.count > connecting.count, connectionCount < limits.connections else { return [] }
        nextConnection += 1
        connecting.insert(nextConnection)
        return [.connect(nextConnection)]
    }
}
