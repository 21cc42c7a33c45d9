import Testing

@testable import LibPQ

/// The renewal of connections at the end of their lifetime.
@Suite(.timeLimit(.minutes(15))) struct PoolRenewalTests {
    private let start = ContinuousClock.now

    /// Returns a pool with two idle connections, which live for ten seconds. The first one is leased first.
    private func pool() -> PoolState {
        var state = PoolState(limits: .init(connections: 2, lifetime: .seconds(10)))
        for waiter in [-1, -2] { _ = state.request(waiter, now: start) }
        for number in [1, 2] {
            _ = state.connected(number, now: start, jitter: 0)
            state.confirm(-number)
        }
        for number in [2, 1] { _ = state.release(number, isReusable: true, now: start) }
        return state
    }

    @Test("A connection that is released at the end of its lifetime is closed, and kept just before")
    func closesOldConnections() {
        var state = pool()
        #expect(state.request(1, now: start) == [.grant(waiter: 1, connection: 1)])
        #expect(state.request(2, now: start) == [.grant(waiter: 2, connection: 2)])
        #expect(state.release(1, isReusable: true, now: start + .milliseconds(9_999)) == [])
        #expect((state.connectionCount, state.leasedCount) == (2, 1))
        #expect(state.release(2, isReusable: true, now: start + .seconds(10)) == [.close(2)])
        #expect(state.connectionCount == 1)
    }

    @Test("A waiter gets a new connection instead of one that is released at the end of its lifetime")
    func renewsForWaiters() {
        var state = pool()
        _ = state.request(1, now: start)
        _ = state.request(2, now: start)
        #expect(state.request(3, now: start) == [])
        #expect(state.release(1, isReusable: true, now: start + .seconds(10)) == [.close(1), .connect(3)])
        #expect(state.connected(3, now: start + .seconds(10), jitter: 0) == [.grant(waiter: 3, connection: 3)])
        // Its lifetime begins with it.
        #expect(state.release(3, isReusable: true, now: start + .seconds(19)) == [])
    }

    @Test("Jitter shortens the lifetime by up to a tenth")
    func jitter() {
        var state = PoolState(limits: .init(connections: 1, lifetime: .seconds(10)))
        _ = state.request(1, now: start)
        _ = state.connected(1, now: start, jitter: 1)
        state.confirm(1)
        #expect(state.release(1, isReusable: true, now: start + .milliseconds(8_999)) == [])
        #expect(state.request(2, now: start + .milliseconds(8_999)) == [.grant(waiter: 2, connection: 1)])
        #expect(state.release(1, isReusable: true, now: start + .milliseconds(9_001)) == [.close(1)])
    }

    @Test("A waiter of a group that gets its turn gets no idle connection past its lifetime")
    func turnsRenewIdleConnections() {
        // The group may use one of the two connections.
        var state = pool()
        let group = PoolGroup("g")
        #expect(state.request(1, group, now: start) == [.grant(waiter: 1, connection: 1)])
        state.confirm(1)
        #expect(state.request(2, group, now: start) == [])
        let actions = state.release(1, isReusable: true, now: start + .seconds(11))
        #expect(!actions.contains(.grant(waiter: 2, connection: 2)))
        #expect(actions.contains(.close(2)))
    }
}
