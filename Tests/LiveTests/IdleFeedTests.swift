import Catalog
import InMemoryCatalog
import Testing
import TestSupport

@testable import Live

/// Feeds without subscribers, and the groups in which subscribers are woken.
@Suite(.timeLimit(.minutes(5))) struct IdleFeedTests {
    private static let (ann, bob) = (UserID("ann")!, UserID("bob")!)
    private static let address = ShelfAddress(CatalogKey("s")!, CatalogKey("x")!)

    private func withHub(
        _ change: (inout LiveHub.Options) -> Void,
        _ body: (LiveHub) async throws -> Void
    ) async throws {
        let catalog = InMemoryCatalog(collate: collator)
        _ = try await catalog.put(Store(key: Self.address.store, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.put(Shelf(key: Self.address.shelf, title: "X"), in: Self.address.store)
        var options = LiveHub.Options()
        #expect(options.idleTimeout == .seconds(60) && options.poll == .seconds(1) && options.heartbeat == .seconds(15))
        options.poll = .milliseconds(5)
        options.heartbeat = .milliseconds(40)
        change(&options)
        let hub = LiveHub(pages: catalog, versions: catalog, source: nil, options: options)
        let running = Task { await hub.run() }
        defer { running.cancel() }
        try await body(hub)
    }

    /// The numbers of feeds and subscriptions of shelves and users.
    private func uses(_ hub: LiveHub) -> [Int] { hub.uses.flatMap { [$0.feeds, $0.subscriptions] } }

    @Test("A feed without subscribers is dropped after the timeout, and one with a subscriber stays")
    func idleFeedsAreDropped() async throws {
        try await withHub({ $0.idleTimeout = .milliseconds(1) }) { hub in
            let kept = try await hub.subscribe(Self.bob, from: .now)
            var user: UserSubscription? = try await hub.subscribe(Self.ann, from: .now)
            var shelf: ShelfSubscription? = try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now)
            #expect(uses(hub) == [1, 1, 2, 2])
            #expect(user != nil && shelf != nil)
            (user, shelf) = (nil, nil)
            _ = await eventually { uses(hub) == [0, 0, 1, 1] }
            #expect(uses(hub) == [0, 0, 1, 1])
            // The feed of another user has heartbeats, so the hub has looked for idle feeds again.
            for _ in 0..<3 { _ = try await kept.next() }
            #expect(uses(hub) == [0, 0, 1, 1])
        }
    }

    @Test("A feed without subscribers is kept for those that reconnect in time")
    func feedsAreKept() async throws {
        try await withHub({ $0.idleTimeout = .seconds(3600) }) { hub in
            let other = try await hub.subscribe(Self.bob, from: .now)
            var user: UserSubscription? = try await hub.subscribe(Self.ann, from: .now)
            var shelf: ShelfSubscription? = try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now)
            #expect(user != nil && shelf != nil)
            (user, shelf) = (nil, nil)
            for _ in 0..<3 { _ = try await other.next() }
            #expect(hub.uses.map(\.feeds) == [1, 2])
        }
    }

    @Test("A heartbeat is due before the limit, although a subscription is woken only once in three turns")
    func heartbeats() {
        let catalog = InMemoryCatalog(collate: collator)
        let hub = LiveHub(pages: catalog, versions: catalog, source: nil)
        #expect(hub.idleInterval == .seconds(11))
        #expect(LiveHub.minimumReadInterval == .milliseconds(50))
    }

    @Test("Each turn wakes the subscribers of one group, and repeated wake-ups are one")
    func groups() async {
        let subscribers = Subscribers()
        #expect(subscribers.idleSince != nil)
        let added = (0..<6).map { _ in subscribers.add() }
        #expect(added.map(\.number) == [1, 2, 3, 4, 5, 6] && subscribers.idleSince == nil)
        subscribers.wake(turn: 4, of: 3)
        subscribers.wake(turn: 7, of: 3)
        subscribers.remove(6)
        #expect(subscribers.idleSince == nil)
        subscribers.end()
        var wakes: [Int] = []
        for (_, stream) in added { wakes.append(await stream.reduce(0) { count, _ in count + 1 }) }
        #expect(wakes == [1, 0, 0, 1, 0, 0])
        let all = Subscribers()
        let two = (0..<2).map { _ in all.add() }
        all.wake()
        all.remove(two[0].number)
        #expect(all.idleSince == nil)
        all.remove(two[1].number)
        #expect(all.idleSince != nil)
        for (_, stream) in two { #expect(await stream.reduce(0) { count, _ in count + 1 } == 1) }
    }
}
