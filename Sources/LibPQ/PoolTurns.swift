internal import DequeModule

/// The turns of groups: the callers of a group that may have a connection, and the callers that wait for their own group.
///
/// A caller with a turn keeps it until its lease ends. After a lease that ended with a timeout, the group has one turn until its server
/// answers a lease. As long as the server does not respond, the callers fail soon and occupy one connection.
struct PoolTurns {
    struct Limits: Sendable {
        /// The connections of the pool, and the places in its queue, of which groups have parts.
        var connections: Int
        var waiting: Int
        /// The maximum number of callers of a group that wait for a server that does not respond.
        var waitingAfterTimeout = 8
    }

    enum Decision: Equatable {
        case turn
        case wait
        case refusal
    }

    private struct Member {
        var turns = 0
        var hasTimedOut = false
        var waiters: Deque<Int> = []
    }

    let limits: Limits
    private var members: [PoolGroup: Member] = [:]
    /// The groups of all waiters that have no connection yet, or do not use it yet.
    private var groupsOfWaiters: [Int: PoolGroup] = [:]
    /// The groups of the leased connections.
    private var groupsOfConnections: [Int: PoolGroup] = [:]

    init(_ limits: Limits) { self.limits = limits }

    /// The number of callers that wait for a turn.
    var waitingCount: Int { members.values.reduce(0) { $0 + $1.waiters.count } }

    /// Decides whether a caller gets a turn.
    mutating func request(_ waiter: Int, _ group: PoolGroup) -> Decision {
        if freeTurns(of: group) > 0 {
            members[group, default: Member()].turns += 1
            groupsOfWaiters[waiter] = group
            return .turn
        }
        let member = members[group, default: Member()]
        let places = member.hasTimedOut ? limits.waitingAfterTimeout : max(1, limits.waiting / group.divisor)
        guard member.waiters.count < places else { return .refusal }
        members[group, default: Member()].waiters.append(waiter)
        groupsOfWaiters[waiter] = group
        return .wait
    }

    /// Records that a waiter was granted a connection.
    mutating func grant(_ waiter: Int, _ connection: Int) {
        if let group = groupsOfWaiters[waiter] { groupsOfConnections[connection] = group }
    }

    /// Records that a waiter uses its connection.
    mutating func confirm(_ waiter: Int) { groupsOfWaiters[waiter] = nil }

    /// Records that a connection broke before its lease began.
    mutating func discard(_ connection: Int) { groupsOfConnections[connection] = nil }

    /// Ends the turn of a waiter that fails.
    ///
    /// - Returns: the waiters of its group that have a turn now.
    mutating func fail(_ waiter: Int) -> [Int] {
        guard let group = groupsOfWaiters.removeValue(forKey: waiter) else { return [] }
        return endTurn(of: group)
    }

    /// Ends the turn of a lease.
    ///
    /// - Parameter timedOut: whether the caller waited for the server in vain; nil if that is not known.
    /// - Returns: the waiters of its group that have a turn now.
    mutating func release(_ connection: Int, timedOut: Bool?) -> [Int] {
        guard let group = groupsOfConnections.removeValue(forKey: connection) else { return [] }
        if let timedOut { members[group]?.hasTimedOut = timedOut }
        return endTurn(of: group)
    }

    /// Withdraws a waiter that waits for a turn; returns whether it did.
    ///
    /// - Complexity: O(*n*) for *n* waiters of its group.
    mutating func withdraw(_ waiter: Int) -> Bool {
        guard let group = groupsOfWaiters[waiter], let index = members[group]?.waiters.firstIndex(of: waiter) else {
            return false
        }
        members[group]?.waiters.remove(at: index)
        groupsOfWaiters[waiter] = nil
        return true
    }

    /// Removes and returns all callers that wait for a turn.
    mutating func removeWaiters() -> [Int] {
        let removed = members.values.flatMap(\.waiters).sorted()
        for group in members.keys { members[group]?.waiters = [] }
        for waiter in removed { groupsOfWaiters[waiter] = nil }
        return removed
    }

    private func freeTurns(of group: PoolGroup) -> Int {
        guard let member = members[group] else { return 1 }
        return (member.hasTimedOut ? 1 : max(1, limits.connections / group.divisor)) - member.turns
    }

    private mutating func endTurn(of group: PoolGroup) -> [Int] {
        members[group]?.turns -= 1
        var next: [Int] = []
        while freeTurns(of: group) > 0, let waiter = members[group]?.waiters.popFirst() {
            members[group]?.turns += 1
            next.append(waiter)
        }
        if let member = members[group], member.turns == 0, member.waiters.isEmpty, !member.hasTimedOut {
            members[group] = nil
        }
        return next
    }
}
