import Testing

@testable import LibPQ

/// The pool's decisions, tested without a clock or connections.
@Suite(.timeLimit(.minutes(15))) struct PoolStateTests {
    private let now = ContinuousClock.now

    @Test("Waiters are served in order, and the number of connections is limited")
    func servesWaitersInOrder() {
        var state = PoolState(limits: .init(connections: 1))
        #expect(state.request(1, now: now) == [.connect(1)])
        #expect(state.request(2, now: now) == [])
        #expect(state.connected(1, now: now, jitter: 0) == [.grant(waiter: 1, connection: 1)])
        #expect(state.release(1, isReusable: true, now: now) == [.grant(waiter: 2, connection: 1)])
        #expect(state.release(1, isReusable: true, now: now) == [])
        #expect((state.connectionCount, state.leasedCount) == (1, 0))
    }

    @Test("A broken connection is replaced for the next waiter")
    func replacesBrokenConnections() {
        var state = PoolState(limits: .init(connections: 1))
        _ = state.request(1, now: now)
        _ = state.connected(1, now: now, jitter: 0)
        _ = state.request(2, now: now)
        #expect(state.release(1, isReusable: false, now: now) == [.close(1), .connect(2)])
    }

    @Test("A connection past its age is not leased")
    func retiresOldConnections() {
        var state = PoolState(limits: .init(connections: 2, lifetime: .seconds(10)))
        _ = state.request(1, now: now)
        _ = state.connected(1, now: now, jitter: 0)
        _ = state.release(1, isReusable: true, now: now + .seconds(9))
        #expect(state.request(2, now: now + .seconds(11)) == [.close(1), .connect(2)])
    }

    @Test("An unreachable server fails waiters immediately, and is retried later")
    func unreachableServerFailsFast() {
        var state = PoolState(limits: .init(connections: 2))
        _ = state.request(1, now: now)
        #expect(state.connectFailed(1, now: now, jitter: 1) == [.fail(waiter: 1, .unavailable)])
        #expect(state.request(2, now: now + .milliseconds(50)) == [.fail(waiter: 2, .unavailable)])
        #expect(state.request(3, now: now + .milliseconds(101)) == [.connect(2)])
        #expect(state.connectFailed(2, now: now + .milliseconds(101), jitter: 1) == [.fail(waiter: 3, .unavailable)])
        #expect(state.request(4, now: now + .milliseconds(250)) == [.fail(waiter: 4, .unavailable)])
    }

    @Test("A waiter with a dead connection gets the next one")
    func retriesDeadConnections() {
        var state = PoolState(limits: .init(connections: 2))
        _ = state.request(1, now: now)
        _ = state.request(2, now: now)
        _ = state.connected(1, now: now, jitter: 0)
        _ = state.connected(2, now: now, jitter: 0)
        _ = state.release(1, isReusable: true, now: now)
        _ = state.release(2, isReusable: true, now: now)
        #expect(state.request(3, now: now) == [.grant(waiter: 3, connection: 2)])
        #expect(state.discard(2, returning: 3) == [.close(2), .grant(waiter: 3, connection: 1)])
        #expect(state.discard(1, returning: 3) == [.close(1), .connect(3)])
    }

    @Test("The queue is limited, and a shutdown empties it")
    func limitsQueue() {
        var state = PoolState(limits: .init(connections: 1, waiting: 2))
        _ = state.request(1, now: now)
        _ = state.request(2, now: now)
        #expect(state.request(3, now: now) == [.fail(waiter: 3, .full)])
        #expect(state.withdraw(1, .cancelled) == [.fail(waiter: 1, .cancelled)])
        #expect(state.withdraw(1, .cancelled) == [])
        #expect(state.shutDown() == [.fail(waiter: 2, .shutDown)])
        #expect(state.request(4, now: now) == [.fail(waiter: 4, .shutDown)])
        #expect(state.connected(1, now: now, jitter: 0) == [.close(1)])
    }

    @Test("A waiter is served when a pause after a failure ends")
    func servesWaitersAfterPause() {
        var state = PoolState(limits: .init(connections: 2))
        _ = state.request(1, now: now)
        _ = state.connected(1, now: now, jitter: 0)
        #expect(state.request(2, now: now) == [.connect(2)])
        #expect(state.connectFailed(2, now: now, jitter: 1) == [.wake(now + .milliseconds(100))])
        #expect(state.request(3, now: now + .milliseconds(1)) == [])
        #expect(state.wake() == [.connect(3)])
    }

    @Test("A connection granted to a waiter that gave up goes to the next")
    func passesOnAbandonedGrants() {
        var state = PoolState(limits: .init(connections: 1))
        _ = state.request(1, now: now)
        #expect(state.connected(1, now: now, jitter: 0) == [.grant(waiter: 1, connection: 1)])
        #expect(state.withdraw(1, .timedOut) == [])
        #expect(state.discard(1, returning: 1) == [.close(1), .fail(waiter: 1, .timedOut)])
    }
}
