import Testing

@testable import LibPQ

/// The turns of groups, without a pool.
@Suite(.timeLimit(.minutes(15))) struct PoolTurnsTests {
    private let group = PoolGroup("group")
    private let other = PoolGroup("other")

    /// Turns of a pool with four connections: two for each group.
    private func turns() -> PoolTurns { PoolTurns(.init(connections: 4, waiting: 100)) }

    /// Requests turns, of which all are granted, with connections of the same numbers.
    private func use(_ waiters: ClosedRange<Int>, _ turns: inout PoolTurns) {
        for waiter in waiters {
            #expect(turns.request(waiter, group) == .turn)
            turns.grant(waiter, waiter)
            turns.confirm(waiter)
        }
    }

    @Test("A group has its part of the connections and of the places in the queue, at least one of each")
    func parts() {
        for (connections, waiting, divisor, turnCount, places) in [(12, 6, 3, 4, 2), (1, 1, 2, 1, 1), (7, 5, 2, 3, 2)] {
            var turns = PoolTurns(.init(connections: connections, waiting: waiting))
            let part = PoolGroup("part", divisor: divisor)
            let decisions = (0..<turnCount + places + 1).map { turns.request($0, part) }
            #expect(decisions.count { $0 == .turn } == turnCount)
            #expect(decisions.count { $0 == .wait } == places)
            #expect(decisions.last == .refusal)
            #expect(turns.waitingCount == places)
        }
    }

    @Test("A group shares by two unless it says otherwise, and groups with the same name and share are one")
    func groups() {
        #expect(PoolGroup("a").divisor == 2)
        #expect(PoolGroup("a") == PoolGroup("a", divisor: 2))
        #expect(PoolGroup("a") != PoolGroup("b"))
    }

    @Test("After a timeout, eight callers wait unless the limits say otherwise")
    func placesAfterTimeouts() {
        var turns = turns()
        use(1...1, &turns)
        #expect(turns.release(1, timedOut: true) == [])
        use(2...2, &turns)
        for waiter in 3...10 { #expect(turns.request(waiter, group) == .wait) }
        #expect(turns.request(11, group) == .refusal)
        // Another group has its turns.
        #expect(turns.request(12, other) == .turn)
        #expect(turns.request(13, other) == .turn)
    }

    @Test("When the server responds again, as many waiters get turns as there are")
    func recovery() {
        var turns = turns()
        use(1...1, &turns)
        _ = turns.release(1, timedOut: true)
        use(2...2, &turns)
        for waiter in 3...5 { #expect(turns.request(waiter, group) == .wait) }
        #expect(turns.release(2, timedOut: false) == [3, 4])
        #expect(turns.waitingCount == 1)
        #expect(turns.fail(3) == [5])
    }

    @Test("A lease that ends without knowledge of the server leaves the turns as they were", arguments: [true, false])
    func unknownEnds(timedOut: Bool) {
        var turns = turns()
        use(1...1, &turns)
        _ = turns.release(1, timedOut: timedOut)
        use(2...2, &turns)
        #expect(turns.release(2, timedOut: nil) == [])
        use(3...3, &turns)
        #expect(turns.request(4, group) == (timedOut ? .wait : .turn))
    }

    @Test("A caller that uses its connection keeps its turn until its release, and only once")
    func confirmedTurns() {
        var turns = turns()
        use(1...2, &turns)
        #expect(turns.request(3, group) == .wait)
        #expect(turns.request(4, group) == .wait)
        #expect(turns.fail(1) == [])
        #expect(turns.release(1, timedOut: false) == [3])
        #expect(turns.release(1, timedOut: false) == [])
    }

    @Test("A caller whose connection broke keeps its turn until it fails")
    func discardedConnections() {
        var turns = turns()
        use(1...1, &turns)
        #expect(turns.request(2, group) == .turn)
        turns.grant(2, 7)
        turns.discard(7)
        #expect(turns.request(3, group) == .wait)
        #expect(turns.release(7, timedOut: false) == [])
        #expect(turns.fail(2) == [3])
        #expect(turns.fail(2) == [])
    }

    @Test("A caller that gives up while it waits for a turn is not served")
    func withdrawnWaiters() {
        var turns = turns()
        use(1...2, &turns)
        for waiter in 3...4 { #expect(turns.request(waiter, group) == .wait) }
        let withdrawn = [3, 3, 1].map { turns.withdraw($0) }
        #expect(withdrawn == [true, false, false])
        #expect(turns.fail(3) == [])
        #expect(turns.release(1, timedOut: false) == [4])
        let isWithdrawn = turns.withdraw(4)
        #expect(!isWithdrawn)
    }

    @Test(
        "All callers that wait for turns are removed in the order of their arrival, and their groups keep the turns in use"
    )
    func removedWaiters() {
        var turns = PoolTurns(.init(connections: 2, waiting: 100))
        #expect(turns.request(1, group) == .turn)
        #expect(turns.request(2, other) == .turn)
        for (waiter, member) in [(3, other), (4, group), (5, other)] { #expect(turns.request(waiter, member) == .wait) }
        #expect(turns.removeWaiters() == [3, 4, 5])
        #expect(turns.removeWaiters() == [])
        #expect(turns.waitingCount == 0)
        for waiter in 3...5 { #expect(turns.fail(waiter) == []) }
        #expect(turns.request(6, group) == .wait)
        #expect(turns.request(7, other) == .wait)
    }

    @Test("Callers without a group change nothing")
    func callersWithoutGroups() {
        var turns = turns()
        turns.grant(1, 1)
        #expect(turns.fail(1) == [])
        #expect(turns.release(1, timedOut: true) == [])
        #expect(turns.waitingCount == 0)
        use(2...3, &turns)
    }
}
