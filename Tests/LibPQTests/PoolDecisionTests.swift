import Testing

@testable import LibPQ

/// The pool's decisions at its limits, tested without a clock or connections.
@Suite(.timeLimit(.minutes(15))) struct PoolDecisionTests {
    private let now = ContinuousClock.now
    private let group = PoolGroup("group")
    private let other = PoolGroup("other")

    @Test("Without settings, a connection lives for half an hour", arguments: [(1_799, true), (1_800, false)])
    func defaultLifetime(age: Int, isKept: Bool) {
        var state = PoolState(limits: .init(connections: 1))
        _ = state.request(1, now: now)
        _ = state.connected(1, now: now, jitter: 0)
        state.confirm(1)
        let expected: [PoolState.Action] = isKept ? [] : [.close(1)]
        #expect(state.release(1, isReusable: true, now: now + .seconds(age)) == expected)
        #expect(state.release(1, isReusable: true, now: now) == [], "the lease has ended")
    }

    @Test("An idle connection is leased until just before the end of its lifetime")
    func lifetimeOfIdleConnections() {
        for (age, isLeased) in [(9_999, true), (10_000, false)] {
            var state = PoolState(limits: .init(connections: 1, lifetime: .seconds(10)))
            _ = state.request(1, now: now)
            _ = state.connected(1, now: now, jitter: 0)
            state.confirm(1)
            _ = state.release(1, isReusable: true, now: now)
            let actions = state.request(2, now: now + .milliseconds(age))
            let expected: [PoolState.Action] =
                isLeased ? [.grant(waiter: 2, connection: 1)] : [.close(1), .connect(2)]
            #expect(actions == expected)
        }
    }

    @Test("The pause after failures doubles from 100 milliseconds to a second")
    func pausesDouble() {
        var state = PoolState(limits: .init(connections: 1))
        var time = now
        for (index, pause) in [100, 200, 400, 800, 1_000, 1_000].enumerated() {
            let number = index + 1
            #expect(state.request(number, now: time) == [.connect(number)])
            let failed = state.connectFailed(number, now: time, jitter: 1)
            #expect(failed == [.fail(waiter: number, .unavailable)])
            let early = state.request(-number, now: time + .milliseconds(pause - 1))
            #expect(early == [.fail(waiter: -number, .unavailable)])
            time += .milliseconds(pause)
        }
        // A success makes the next pause short again.
        #expect(state.request(7, now: time) == [.connect(7)])
        #expect(state.connected(7, now: time, jitter: 0) == [.grant(waiter: 7, connection: 7)])
        state.confirm(7)
        #expect(state.release(7, isReusable: false, now: time) == [.close(7)])
        #expect(state.request(8, now: time) == [.connect(8)])
        _ = state.connectFailed(8, now: time, jitter: 1)
        #expect(state.request(9, now: time + .milliseconds(99)) == [.fail(waiter: 9, .unavailable)])
        #expect(state.request(10, now: time + .milliseconds(100)) == [.connect(9)])
    }

    @Test("Jitter shortens a pause by up to a half")
    func pausesVary() {
        var state = PoolState(limits: .init(connections: 1))
        _ = state.request(1, now: now)
        _ = state.connectFailed(1, now: now, jitter: 0)
        #expect(state.request(2, now: now + .milliseconds(49)) == [.fail(waiter: 2, .unavailable)])
        #expect(state.request(3, now: now + .milliseconds(50)) == [.connect(2)])
    }

    @Test("Each waiter causes one connection attempt, up to the limit")
    func attemptsFollowWaiters() {
        var state = PoolState(limits: .init(connections: 2))
        #expect(state.request(1, now: now) == [.connect(1)])
        #expect(state.request(2, now: now) == [.connect(2)])
        #expect(state.request(3, now: now) == [])
        #expect((state.connectionCount, state.leasedCount, state.waitingCount) == (2, 0, 3))
        #expect(state.connected(2, now: now, jitter: 0) == [.grant(waiter: 1, connection: 2)])
        #expect((state.connectionCount, state.leasedCount, state.waitingCount) == (2, 1, 2))
    }

    @Test("A waiter uses the connection attempt of one that gave up")
    func attemptsAreShared() {
        var state = PoolState(limits: .init(connections: 2))
        #expect(state.request(1, now: now) == [.connect(1)])
        #expect(state.withdraw(1, .timedOut, now: now) == [.fail(waiter: 1, .timedOut)])
        #expect(state.request(2, now: now) == [])
        #expect(state.connected(1, now: now, jitter: 0) == [.grant(waiter: 2, connection: 1)])
    }

    @Test("A shutdown closes idle connections now, and leased ones with their release")
    func shutdown() {
        var state = PoolState(limits: .init(connections: 3))
        for number in 1...3 {
            #expect(state.request(number, now: now) == [.connect(number)])
            #expect(state.connected(number, now: now, jitter: 0) == [.grant(waiter: number, connection: number)])
        }
        state.confirm(1)
        state.confirm(2)
        #expect(state.release(1, isReusable: true, now: now) == [])
        #expect(state.shutDown() == [.close(1)])
        #expect(state.connectionCount == 2)
        #expect(state.release(2, isReusable: true, now: now) == [.close(2)])
        // The third connection breaks before its lease begins.
        #expect(state.discard(3, returning: 3, now: now) == [.close(3), .fail(waiter: 3, .shutDown)])
        #expect((state.connectionCount, state.leasedCount, state.waitingCount) == (0, 0, 0))
        #expect(state.shutDown() == [])
    }

    @Test("A pause has one wake-up, which connects, and each further pause has another one")
    func wakeups() {
        var state = PoolState(limits: .init(connections: 2))
        _ = state.request(1, now: now)
        _ = state.connected(1, now: now, jitter: 0)
        state.confirm(1)
        #expect(state.request(2, now: now) == [.connect(2)])
        #expect(state.connectFailed(2, now: now, jitter: 1) == [.wake(now + .milliseconds(100))])
        #expect(state.request(3, now: now + .milliseconds(1)) == [])
        #expect(state.wake() == [.connect(3)])
        let later = now + .milliseconds(100)
        #expect(state.connectFailed(3, now: later, jitter: 1) == [.wake(later + .milliseconds(200))])
        // A connection that becomes free serves a waiter during the pause, too.
        #expect(state.release(1, isReusable: true, now: later) == [.grant(waiter: 2, connection: 1)])
        #expect(state.withdraw(3, .timedOut, now: later) == [.fail(waiter: 3, .timedOut)])
        #expect(state.wake() == [])
    }

    @Test("During a pause, a waiter with a new turn waits for the wake-up")
    func turnsDuringPauses() {
        // The group may use one of the two connections.
        var state = PoolState(limits: .init(connections: 2))
        _ = state.request(1, group, now: now)
        _ = state.connected(1, now: now, jitter: 0)
        state.confirm(1)
        #expect(state.request(2, group, now: now) == [])
        #expect(state.request(3, now: now) == [.connect(2)])
        #expect(state.connectFailed(2, now: now, jitter: 1) == [.wake(now + .milliseconds(100))])
        // The first waiter in the queue gets the place of the closed connection.
        #expect(state.release(1, isReusable: false, now: now) == [.close(1), .connect(3)])
        #expect(state.connected(3, now: now, jitter: 0) == [.grant(waiter: 3, connection: 3)])
        state.confirm(3)
        #expect(state.release(3, isReusable: true, now: now) == [.grant(waiter: 2, connection: 3)])
    }

    @Test("A broken connection is replaced by an idle one only within its lifetime")
    func discardedConnections() {
        var state = PoolState(limits: .init(connections: 2, lifetime: .seconds(10)))
        _ = state.request(1, now: now)
        _ = state.request(2, now: now)
        _ = state.connected(1, now: now, jitter: 0)
        _ = state.connected(2, now: now + .seconds(5), jitter: 0)
        for number in [1, 2] {
            state.confirm(number)
            _ = state.release(number, isReusable: true, now: now + .seconds(5))
        }
        let later = now + .seconds(11)
        #expect(state.request(3, now: later) == [.grant(waiter: 3, connection: 2)])
        #expect(state.discard(2, returning: 3, now: later) == [.close(2), .close(1), .connect(3)])
        #expect((state.connectionCount, state.leasedCount, state.waitingCount) == (1, 0, 1))
    }

    @Test("A waiter that gave up before its connection broke leaves its place to the next one")
    func discardedConnectionsOfOthers() {
        var state = PoolState(limits: .init(connections: 1))
        _ = state.request(1, now: now)
        _ = state.connected(1, now: now, jitter: 0)
        #expect(state.request(2, now: now) == [])
        #expect(state.withdraw(1, .cancelled, now: now) == [])
        #expect(
            state.discard(1, returning: 1, now: now) == [.close(1), .fail(waiter: 1, .cancelled), .connect(2)]
        )
    }

    @Test("A waiter that returns to the queue is served first")
    func returningWaitersAreFirst() {
        var state = PoolState(limits: .init(connections: 1))
        _ = state.request(1, now: now)
        _ = state.connected(1, now: now, jitter: 0)
        #expect(state.request(2, now: now) == [])
        #expect(state.discard(1, returning: 1, now: now) == [.close(1), .connect(2)])
        #expect(state.connected(2, now: now, jitter: 0) == [.grant(waiter: 1, connection: 2)])
    }

    @Test("A waiter with a turn that gives up passes it on")
    func withdrawnTurns() {
        var state = PoolState(limits: .init(connections: 2))
        #expect(state.request(1, group, now: now) == [.connect(1)])
        #expect(state.request(2, group, now: now) == [])
        #expect(state.waitingCount == 2)
        #expect(state.withdraw(1, .timedOut, now: now) == [.fail(waiter: 1, .timedOut)])
        #expect(state.waitingCount == 1)
        #expect(state.connected(1, now: now, jitter: 0) == [.grant(waiter: 2, connection: 1)])
    }

    @Test("A caller that finds the queue full gives its turn back")
    func turnsOfRefusedCallers() {
        var state = PoolState(limits: .init(connections: 2, waiting: 1))
        #expect(state.request(1, group, now: now) == [.connect(1)])
        #expect(state.request(2, other, now: now) == [.fail(waiter: 2, .full)])
        #expect(state.connected(1, now: now, jitter: 0) == [.grant(waiter: 1, connection: 1)])
        #expect(state.request(3, other, now: now) == [.connect(2)])
    }

    @Test("A caller that finds no server gives its turn back")
    func turnsOfFailedCallers() {
        var state = PoolState(limits: .init(connections: 2))
        _ = state.request(1, group, now: now)
        _ = state.connectFailed(1, now: now, jitter: 1)
        #expect(state.request(2, group, now: now) == [.fail(waiter: 2, .unavailable)])
        #expect(state.request(3, group, now: now + .milliseconds(100)) == [.connect(2)])
    }

    @Test("Without settings, eight callers of a group wait for a server that does not respond")
    func defaultWaiting() {
        var state = PoolState(limits: .init(connections: 2))
        _ = state.request(1, group, now: now)
        _ = state.connected(1, now: now, jitter: 0)
        state.confirm(1)
        _ = state.release(1, isReusable: true, timedOut: true, now: now)
        #expect(state.request(2, group, now: now) == [.grant(waiter: 2, connection: 1)])
        for waiter in 3...10 { #expect(state.request(waiter, group, now: now) == []) }
        #expect(state.request(11, group, now: now) == [.fail(waiter: 11, .full)])
    }
}
