import Ordering
import Testing

@testable import LibPQ

/// The turns of groups in a pool, tested without a clock or connections.
@Suite struct PoolGroupTests {
    private let now = ContinuousClock.now
    private let slow = PoolGroup("slow")
    private let other = PoolGroup("other")

    /// Returns a pool of four idle connections, with the numbers 1 to 4, of which a group may use two.
    private func pool(waiting: Int = 4) -> PoolState {
        var state = PoolState(limits: .init(connections: 4, waiting: 2 * waiting, waitingAfterTimeout: 1))
        for number in 1...4 { _ = state.request(-number, now: now) }
        for number in 1...4 {
            _ = state.connected(number, now: now, jitter: 0)
            state.confirm(-number)
        }
        // Released in reverse, so that they are leased in the order of their numbers.
        for number in [4, 3, 2, 1] { _ = state.release(number, isReusable: true, now: now) }
        return state
    }

    /// Requests a connection, and confirms that it is used.
    private func lease(_ waiter: Int, _ group: PoolGroup?, _ state: inout PoolState) -> [PoolState.Action] {
        let actions = state.request(waiter, group, now: now)
        state.confirm(waiter)
        return actions
    }

    @Test("A group uses a part of the connections, and other callers use the rest")
    func limitsGroups() {
        var state = pool()
        #expect(lease(1, slow, &state) == [.grant(waiter: 1, connection: 1)])
        #expect(lease(2, slow, &state) == [.grant(waiter: 2, connection: 2)])
        #expect(state.request(3, slow, now: now) == [])
        #expect(state.waitingCount == 1)
        #expect(lease(4, other, &state) == [.grant(waiter: 4, connection: 3)])
        #expect(lease(5, nil, &state) == [.grant(waiter: 5, connection: 4)])
        // A connection of another caller is not for the group that has its share.
        #expect(state.release(3, isReusable: true, now: now) == [])
        #expect(state.release(1, isReusable: true, now: now) == [.grant(waiter: 3, connection: 1)])
        #expect(state.waitingCount == 0)
    }

    @Test("The waiters of a group are limited, and fail without changing its turns")
    func limitsWaiters() {
        var state = pool(waiting: 1)
        _ = lease(1, slow, &state)
        _ = lease(2, slow, &state)
        #expect(state.request(3, slow, now: now) == [])
        #expect(state.request(4, slow, now: now) == [.fail(waiter: 4, .full)])
        #expect(state.withdraw(3, .timedOut) == [.fail(waiter: 3, .timedOut)])
        #expect(state.withdraw(3, .timedOut) == [])
        #expect(state.release(1, isReusable: true, now: now) == [])
        #expect(lease(5, slow, &state) == [.grant(waiter: 5, connection: 1)])
    }

    @Test("After a timeout, a group has one turn until a lease ends otherwise")
    func triesAfterTimeouts() {
        var state = pool()
        _ = lease(1, slow, &state)
        _ = lease(2, slow, &state)
        #expect(state.request(3, slow, now: now) == [])
        // The second turn is still used.
        #expect(state.release(1, isReusable: false, timedOut: true, now: now) == [.close(1)])
        #expect(state.request(4, slow, now: now) == [.fail(waiter: 4, .full)])
        #expect(
            state.release(2, isReusable: false, timedOut: true, now: now) == [
                .close(2), .grant(waiter: 3, connection: 3),
            ]
        )
        state.confirm(3)
        #expect(state.request(5, slow, now: now) == [])
        // It responds again.
        #expect(state.release(3, isReusable: true, now: now) == [.grant(waiter: 5, connection: 3)])
        #expect(lease(6, slow, &state) == [.grant(waiter: 6, connection: 4)])
        #expect(state.request(7, slow, now: now) == [])
    }

    @Test("A lease that ends before the server responds or a time limit passes changes nothing")
    func ignoresCancelledLeases() {
        var state = pool()
        _ = lease(1, slow, &state)
        _ = state.release(1, isReusable: false, timedOut: true, now: now)
        _ = lease(2, slow, &state)
        _ = state.release(2, isReusable: true, timedOut: nil, now: now)
        #expect(lease(3, slow, &state) == [.grant(waiter: 3, connection: 2)])
        #expect(state.request(4, slow, now: now) == [])
    }

    @Test("A waiter of a group whose connection is dead keeps its turn, also if it gives up")
    func keepsTurns() {
        var state = pool()
        #expect(state.request(1, slow, now: now) == [.grant(waiter: 1, connection: 1)])
        #expect(state.discard(1, returning: 1) == [.close(1), .grant(waiter: 1, connection: 2)])
        #expect(state.withdraw(1, .cancelled) == [])
        #expect(state.discard(2, returning: 1) == [.close(2), .fail(waiter: 1, .cancelled)])
        #expect(lease(2, slow, &state) == [.grant(waiter: 2, connection: 3)])
        #expect(lease(3, slow, &state) == [.grant(waiter: 3, connection: 4)])
        #expect(state.request(4, slow, now: now) == [])
    }

    @Test("Waiters of groups fail when no server is reachable, and with a shutdown")
    func failsWaiters() {
        var state = PoolState(limits: .init(connections: 2))
        #expect(state.request(1, slow, now: now) == [.connect(1)])
        #expect(state.request(2, slow, now: now) == [])
        let failed = state.connectFailed(1, now: now, jitter: 1)
        #expect(failed == [.fail(waiter: 1, .unavailable), .fail(waiter: 2, .unavailable)])
        let later = now + .seconds(1)
        #expect(state.request(3, slow, now: later) == [.connect(2)])
        #expect(state.request(4, slow, now: later) == [])
        #expect(state.shutDown() == [.fail(waiter: 3, .shutDown), .fail(waiter: 4, .shutDown)])
    }

    @Test("No caller is lost and no group exceeds its share, whatever happens", arguments: 0..<50)
    func keepsItsLimits(seed: UInt64) {
        var dice = SeededGenerator(seed: seed)
        var state = PoolState(limits: .init(connections: 4, waiting: 8, waitingAfterTimeout: 1))
        let several = PoolGroup("several", divisor: 4)
        let groups = [slow, other, several, nil]
        var (groupOf, open, connecting): ([Int: PoolGroup?], Set<Int>, [Int]) = ([:], [], [])
        var leases: [Int: Int] = [:]
        var granted: [(waiter: Int, connection: Int)] = []
        var (ended, next, time) = (0, 0, now)
        func follow(_ actions: [PoolState.Action]) {
            for action in actions {
                switch action {
                case .connect(let number): connecting.append(number)
                case .grant(let waiter, let connection):
                    #expect(open.contains(waiter) && leases[connection] == nil)
                    granted.append((waiter, connection))
                case .fail(let waiter, _):
                    #expect(open.remove(waiter) != nil)
                    ended += 1
                case .close, .wake: break
                }
            }
            for group in [slow, other, several] {
                #expect(leases.values.count { groupOf[$0] == .some(group) } <= 4 / group.divisor)
            }
        }
        /// Begins a granted lease, or finds its connection broken; the waiter may have given up in between.
        func settle() {
            while let (waiter, connection) = granted.popLast() {
                if Int.random(in: 0..<4, using: &dice) == 0 { follow(state.withdraw(waiter, .cancelled)) }
                if Int.random(in: 0..<4, using: &dice) == 0 {
                    follow(state.discard(connection, returning: waiter))
                } else {
                    leases[connection] = waiter
                    state.confirm(waiter)
                }
            }
        }
        for _ in 0..<400 {
            time += .milliseconds(50)
            switch Int.random(in: 0..<6, using: &dice) {
            case 0, 1:
                next += 1
                groupOf[next] = groups.randomElement(using: &dice)!
                open.insert(next)
                follow(state.request(next, groupOf[next]!, now: time))
            case 2:
                guard let number = connecting.popLast() else { continue }
                let fails = Bool.random(using: &dice)
                follow(
                    fails
                        ? state.connectFailed(number, now: time, jitter: 0)
                        : state.connected(number, now: time, jitter: 0)
                )
            case 3, 4:
                guard let connection = leases.keys.sorted().randomElement(using: &dice) else { continue }
                open.remove(leases.removeValue(forKey: connection)!)
                ended += 1
                let timedOut: Bool? = [true, nil, false, false].randomElement(using: &dice)!
                follow(state.release(connection, isReusable: timedOut != true, timedOut: timedOut, now: time))
            default:
                let waiting = open.subtracting(leases.values).sorted()
                guard let waiter = waiting.randomElement(using: &dice) else { continue }
                follow(state.withdraw(waiter, .timedOut))
            }
            follow(state.wake())
            settle()
        }
        // Everybody is served in the end.
        for _ in 0..<200 where !open.isEmpty {
            time += .seconds(1)
            follow(state.wake())
            while let number = connecting.popLast() { follow(state.connected(number, now: time, jitter: 0)) }
            settle()
            for connection in leases.keys.sorted() {
                open.remove(leases.removeValue(forKey: connection)!)
                ended += 1
                follow(state.release(connection, isReusable: true, now: time))
            }
        }
        #expect(open.isEmpty && ended == next)
        #expect(state.waitingCount == 0 && state.leasedCount == 0)
    }
}
