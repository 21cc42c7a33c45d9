internal import DequeModule

/// The decisions of a pool: which waiter gets which connection, when to connect, when to give up. It has no clock and no
/// I/O: events in, actions out.
///
/// Connections are identified by number. At most `limit` exist or are connecting; idle ones are leased newest first, so
/// that a quiet pool lets the others expire. Waiters are served in order.
struct PoolState {
    struct Limits: Sendable {
        var connections = 8
        var waiting = 512
        /// The maximum number of callers of a group that wait for a server that does not respond.
        var waitingAfterTimeout = 8
        /// The maximum lifetime of a connection; shortened by `jitter`, so that connections do not all end at once.
        var lifetime: Duration = .seconds(1800)
        /// The delay after consecutive connection failures; doubles from the first to the longest.
        var initialDelay: Duration = .milliseconds(100)
        var maximumDelay: Duration = .seconds(1)
    }

    enum Action: Equatable {
        case connect(Int)
        case grant(waiter: Int, connection: Int)
        case close(Int)
        case fail(waiter: Int, Failure)
        /// Call `wake` at this time.
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
    private var retryAt: ContinuousClock.Instant?
    private var isShutDown = false
    private var isWakeDue = false
    /// Waiters that were granted a connection but do not use it yet. A waiter that has given up has a failure.
    private var granted: [Int: Failure?] = [:]
    private var turns: PoolTurns

    init(limits: Limits) {
        self.limits = limits
        turns = PoolTurns(
            .init(
                connections: limits.connections,
                waiting: limits.waiting,
                waitingAfterTimeout: limits.waitingAfterTimeout
            )
        )
    }

    var connectionCount: Int { idle.count + leased.count + connecting.count }
    var leasedCount: Int { leased.count }
    var waitingCount: Int { waiters.count + turns.waitingCount }

    /// Requests a connection for a waiter.
    ///
    /// - Parameter group: the group whose turns are limited; nil for a caller that needs no other server, or several.
    mutating func request(_ waiter: Int, _ group: PoolGroup? = nil, now: ContinuousClock.Instant) -> [Action] {
        if isShutDown { return [.fail(waiter: waiter, .shutDown)] }
        if let group {
            switch turns.request(waiter, group) {
            case .turn: break
            case .wait: return []
            case .refusal: return [.fail(waiter: waiter, .full)]
            }
        }
        let actions = connection(for: waiter, now)
        if case .fail(waiter, _)? = actions.last { return actions + serve(turns.fail(waiter), now) }
        return actions
    }

    private mutating func connection(for waiter: Int, _ now: ContinuousClock.Instant) -> [Action] {
        var actions: [Action] = []
        if let candidate = takeIdle(now, &actions) {
            return actions + [lease(candidate.connection, candidate.retireAt, to: waiter)]
        }
        let isPaused = retryAt.map { $0 > now } ?? false
        if isPaused, connectionCount == 0 { return actions + [.fail(waiter: waiter, .unavailable)] }
        guard waiters.count < limits.waiting else { return actions + [.fail(waiter: waiter, .full)] }
        waiters.append(waiter)
        return actions + (isPaused ? wakeIfNeeded() : connectIfNeeded())
    }

    /// Withdraws a waiter. Does nothing if the waiter was already served.
    mutating func withdraw(_ waiter: Int, _ failure: Failure, now: ContinuousClock.Instant = .now) -> [Action] {
        if granted[waiter] != nil { granted[waiter] = failure }
        if turns.withdraw(waiter) { return [.fail(waiter: waiter, failure)] }
        guard let index = waiters.firstIndex(of: waiter) else { return [] }
        waiters.remove(at: index)
        return [.fail(waiter: waiter, failure)] + serve(turns.fail(waiter), now)
    }

    /// Confirms that a granted connection is in use.
    mutating func confirm(_ waiter: Int) {
        granted[waiter] = nil
        turns.confirm(waiter)
    }

    /// Handles the end of the delay after a failure.
    mutating func wake() -> [Action] {
        isWakeDue = false
        return connectIfNeeded()
    }

    /// Handles a new connection. `jitter` from 0 to 1 shortens its lifetime by up to a tenth.
    mutating func connected(_ connection: Int, now: ContinuousClock.Instant, jitter: Double) -> [Action] {
        connecting.remove(connection)
        failures = 0
        retryAt = nil
        if isShutDown { return [.close(connection)] }
        let retireAt = now + limits.lifetime * (1 - jitter / 10)
        return grantOrIdle(connection, retireAt)
    }

    /// Handles a failed connection attempt. If there is no other connection, all waiters fail immediately.
    mutating func connectFailed(_ connection: Int, now: ContinuousClock.Instant, jitter: Double) -> [Action] {
        connecting.remove(connection)
        failures += 1
        let doubled = limits.initialDelay * (1 << min(failures - 1, 10))
        retryAt = now + min(doubled, limits.maximumDelay) * (0.5 + jitter / 2)
        guard connectionCount == 0 else { return wakeIfNeeded() }
        return removeWaiters().map { .fail(waiter: $0, .unavailable) }
    }

    /// Ends a lease. A connection that is broken, in a transaction or too old is closed.
    ///
    /// - Parameter timedOut: whether the caller waited for the server in vain; nil if that is not known.
    mutating func release(
        _ connection: Int,
        isReusable: Bool,
        timedOut: Bool? = false,
        now: ContinuousClock.Instant
    ) -> [Action] {
        guard let retireAt = leased.removeValue(forKey: connection) else { return [] }
        let next = turns.release(connection, timedOut: timedOut)
        let isKept = isReusable && retireAt > now && !isShutDown
        return (isKept ? grantOrIdle(connection, retireAt) : [.close(connection)] + connectIfNeeded())
            + serve(next, now)
    }

    /// Discards a connection that broke before its lease began; its waiter returns to the head of the queue.
    mutating func discard(
        _ connection: Int,
        returning waiter: Int,
        now: ContinuousClock.Instant = .now
    ) -> [Action] {
        leased[connection] = nil
        turns.discard(connection)
        if let failure = (granted.removeValue(forKey: waiter) ?? nil) ?? (isShutDown ? .shutDown : nil) {
            return [.close(connection), .fail(waiter: waiter, failure)] + connectIfNeeded()
                + serve(turns.fail(waiter), now)
        }
        waiters.prepend(waiter)
        var actions: [Action] = [.close(connection)]
        // Other idle connections are probably broken, too, but each one is checked before its lease.
        if let candidate = takeIdle(now, &actions) {
            actions += grantOrIdle(candidate.connection, candidate.retireAt)
        } else {
            actions += connectIfNeeded()
        }
        return actions
    }

    /// Stops leasing; idle connections close now, leased ones on release.
    mutating func shutDown() -> [Action] {
        isShutDown = true
        defer { idle.removeAll() }
        return idle.map { .close($0.connection) } + removeWaiters().map { .fail(waiter: $0, .shutDown) }
    }

    /// Removes and returns all waiters.
    private mutating func removeWaiters() -> [Int] {
        // First those that would get the turns of the others.
        let held = turns.removeWaiters()
        for waiter in waiters { _ = turns.fail(waiter) }
        defer { waiters.removeAll() }
        return waiters + held
    }

    /// Serves waiters that have a turn now.
    private mutating func serve(_ next: [Int], _ now: ContinuousClock.Instant) -> [Action] {
        var actions: [Action] = []
        for waiter in next {
            waiters.append(waiter)
            if let candidate = takeIdle(now, &actions) {
                actions += grantOrIdle(candidate.connection, candidate.retireAt)
            } else {
                actions += retryAt == nil ? connectIfNeeded() : wakeIfNeeded()
            }
        }
        return actions
    }

    /// Takes the idle connection that was used last, and closes those past their lifetime.
    private mutating func takeIdle(_ now: ContinuousClock.Instant, _ actions: inout [Action]) -> Idle? {
        while let candidate = idle.popLast() {
            if candidate.retireAt > now { return candidate }
            actions.append(.close(candidate.connection))
        }
        return nil
    }

    private mutating func lease(_ connection: Int, _ retireAt: ContinuousClock.Instant, to waiter: Int) -> Action {
        leased[connection] = retireAt
        granted[waiter] = .some(nil)
        turns.grant(waiter, connection)
        return .grant(waiter: waiter, connection: connection)
    }

    private mutating func grantOrIdle(_ connection: Int, _ retireAt: ContinuousClock.Instant) -> [Action] {
        guard let waiter = waiters.popFirst() else {
            idle.append(Idle(connection: connection, retireAt: retireAt))
            return []
        }
        return [lease(connection, retireAt, to: waiter)]
    }

    /// Schedules a wake-up for waiters during the delay, because no other event would serve them.
    private mutating func wakeIfNeeded() -> [Action] {
        guard !waiters.isEmpty, !isWakeDue, let retryAt else { return [] }
        isWakeDue = true
        return [.wake(retryAt)]
    }

    private mutating func connectIfNeeded() -> [Action] {
        guard !isShutDown, waiters.count > connecting.count, connectionCount < limits.connections else { return [] }
        nextConnection += 1
        connecting.insert(nextConnection)
        return [.connect(nextConnection)]
    }
}

/// Callers of a pool that need the same other server, such as a worker of a cluster.
///
/// Each group uses only a part of the connections, so that a server that does not respond delays no other group.
package struct PoolGroup: Sendable, Hashable {
    /// Identifies the group.
    package let name: String
    /// The part of the connections, and of the places in the queue, that the group may use: one of so many.
    package let divisor: Int

    package init(_ name: String, divisor: Int = 2) {
        self.name = name
        self.divisor = divisor
    }
}
