/// Callers of a pool that need the same other server, such as a worker of a cluster.
///
/// Each group uses only a part of the connections, so that a server that does not respond delays no other group.
package struct PoolGroup: Sendable, Hashable {
    /// Identifies the group.
    package let name: String

    package init(_ name: String) { self.name = name }
}

/// The turns of groups: which of a group's callers may have a connection, and which of them wait for one of their own group.
///
/// A caller with a turn keeps it until its lease ends. After a lease that ended with a timeout, its group has one turn until a lease ends
/// otherwise: as long as the server does not respond, its callers fail soon and occupy one connection.
struct PoolTurns {
    struct Limits: Sendable {
        /// The maximum number of turns of a group.
        var turns: Int
        /// The maximum number of callers of a group that wait for a turn.
        var waiting: Int
        /// The same while its server does not respond.
        var waitingForTrial = 8
    }

    enum Decision: Equatable {
        case turn
        case wait
        case refusal
    }

    private struct Member {
        var turns = 0
        var isOnTrial = false
        var waiters: [Int] = []
    }

    let limits: Limits
    private var members: [PoolGroup: Member] = [:]
    /// The groups of the waiters with a turn that have no connection yet, or do not use it yet.
    private var groupsOfWaiters: [Int: PoolGroup] = [:]
    /// The groups of the leased connections.
    private var groupsOfConnections: [Int: PoolGroup] = [:]

    init(_ limits: Limits) { self.limits = limits }

    /// The number of callers that wait for a turn.
    var waitingCount: Int { members.values.reduce(0) { $0 + $1.waiters.count } }

    /// Decides whether a caller gets a turn.
    mutating func request(_ waiter: Int, _ group: PoolGroup) -> Decision {
        var member = members[group] ?? Member()
        defer { members[group] = member }
        if member.turns < (member.isOnTrial ? 1 : limits.turns) {
            member.turns += 1
            groupsOfWaiters[waiter] = group
            return .turn
        }
        guard member.waiters.count < (member.isOnTrial ? limits.waitingForTrial : limits.waiting) else {
            return .refusal
        }
        member.waiters.append(waiter)
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
    /// - Parameter timedOut: whether the caller waited for the server in vain.
    /// - Returns: the waiters of its group that have a turn now.
    mutating func release(_ connection: Int, timedOut: Bool) -> [Int] {
        guard let group = groupsOfConnections.removeValue(forKey: connection) else { return [] }
        members[group]?.isOnTrial = timedOut
        return endTurn(of: group)
    }

    /// Withdraws a waiter that waits for a turn; returns whether it did.
    mutating func withdraw(_ waiter: Int) -> Bool {
        for (group, member) in members {
            guard let index = member.waiters.firstIndex(of: waiter) else { continue }
            members[group]?.waiters.remove(at: index)
            return true
        }
        return false
    }

    /// Removes and returns all callers that wait for a turn.
    mutating func removeWaiters() -> [Int] {
        let removed = members.values.flatMap(\.waiters).sorted()
        for group in members.keys { members[group]?.waiters = [] }
        return removed
    }

    private mutating func endTurn(of group: PoolGroup) -> [Int] {
        guard var member = members[group] else { return [] }
        member.turns -= 1
        let free = max(0, (member.isOnTrial ? 1 : limits.turns) - member.turns)
        let next = Array(member.waiters.prefix(free))
        member.waiters.removeFirst(next.count)
        member.turns += next.count
        for waiter in next { groupsOfWaiters[waiter] = group }
        members[group] = member.turns == 0 && member.waiters.isEmpty && !member.isOnTrial ? nil : member
        return next
    }
}
