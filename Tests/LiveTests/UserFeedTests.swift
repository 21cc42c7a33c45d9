import Catalog
import Synchronization
import Testing
import TestSupport

@testable import Live

/// A user's feed and subscriptions on a store whose answers are fixed.
@Suite("Feeds of users", .timeLimit(.minutes(15))) struct UserFeedTests {
    private static let user = UserID("ann")!

    private final class Observations: Sendable {
        let all = Mutex<[FeedObservation]>([])
        var observer: Observer<FeedObservation> { Observer { seen in self.all.withLock { $0.append(seen) } } }
    }

    /// The ids of the changes after a revision; nil if they are too old.
    private func ids(_ feed: UserFeed, after position: Int64, resets: Int = 0) -> (ids: [Int64], end: Int64)? {
        switch feed.changes(after: position, resets: resets) {
        case .events(let events, let end): (events.map(\.id), end)
        case .tooOld: nil
        case .reset(let revision, let resets): ([-1, Int64(resets)], revision)
        }
    }

    /// Refreshes a feed and waits until it has a revision.
    private func refresh(_ feed: UserFeed, until revision: Int64) async {
        let (number, wakeups) = feed.subscribers.add()
        defer { feed.subscribers.remove(number) }
        feed.refresh()
        while feed.revision != revision { guard await wakeups.wait() else { return } }
    }

    @Test("A feed reads pages of 128 changes until one is not full, and keeps the last 128 changes")
    func readsPages() async {
        let store = RecordingStore()
        let observations = Observations()
        let feed = UserFeed(Self.user, store, revision: 10, observations.observer)
        #expect(feed.revision == 10 && feed.resets == 0)
        store.add(ChangesPage(events: LiveEvent.many(11...138), revision: 138, isResync: false))
        store.add(ChangesPage(events: LiveEvent.many(139...140), revision: 141, isResync: false))
        let start = ContinuousClock.now
        await refresh(feed, until: 141)
        #expect(store.calls == [.init(since: 10, limit: 128), .init(since: 138, limit: 128)])
        for position in [141, 200] as [Int64] {
            let none = ids(feed, after: position)
            #expect(none?.ids == [] && none?.end == position)
        }
        let kept = ids(feed, after: 12)
        #expect(kept?.ids == Array(13...140) && kept?.end == 141)
        #expect(ids(feed, after: 138)?.ids == [139, 140])
        #expect(ids(feed, after: 140)?.ids == [])
        #expect(ids(feed, after: 11) == nil)
        _ = await eventually { observations.all.withLock { !$0.isEmpty } }
        let observed = observations.all.withLock { $0 }
        #expect(observed.count == 1)
        guard case .feedUpdated(.user, let delay)? = observed.first else {
            Issue.record("\(observed)")
            return
        }
        #expect(delay > .zero && delay <= ContinuousClock.now - start)
    }

    @Test(
        "A feed keeps changes of 64 KiB in all",
        arguments: [(64, 1024, 64), (65, 1024, 64), (64, 1025, 63)] as [(Int64, Int, Int)]
    )
    func keepsBytes(_ count: Int64, _ bytes: Int, _ kept: Int) async {
        let store = RecordingStore()
        let feed = UserFeed(Self.user, store, revision: 0)
        store.add(ChangesPage(events: LiveEvent.many(1...count, bytes: bytes), revision: count, isResync: false))
        await refresh(feed, until: count)
        let first = count - Int64(kept)
        #expect(ids(feed, after: first)?.ids.count == kept)
        #expect(ids(feed, after: first - 1) == nil)
    }

    @Test("After a resync, a feed has the user's revision, and subscribers learn of it once")
    func resyncs() async {
        let store = RecordingStore()
        let feed = UserFeed(Self.user, store, revision: 5)
        store.add(ChangesPage(events: LiveEvent.many(6...7), revision: 7, isResync: false))
        await refresh(feed, until: 7)
        store.set(3, of: Self.user)
        store.add(ChangesPage(events: [], revision: 0, isResync: true))
        await refresh(feed, until: 3)
        #expect(feed.resets == 1)
        let reset = ids(feed, after: 7)
        #expect(reset?.ids == [-1, 1] && reset?.end == 3)
        let next = ids(feed, after: 3, resets: 1)
        #expect(next?.ids == [] && next?.end == 3)
        #expect(ids(feed, after: 2, resets: 1) == nil)
        // An erased user has no revision.
        store.set(nil, of: Self.user)
        store.add(ChangesPage(events: [], revision: 0, isResync: true))
        await refresh(feed, until: 0)
        #expect(feed.resets == 2)
    }

    @Test("A feed that cannot be read stays as it is, and is not observed")
    func unavailable() async {
        let store = RecordingStore()
        let observations = Observations()
        let feed = UserFeed(Self.user, store, revision: 5, observations.observer)
        feed.refresh()
        let deadline = ContinuousClock.now + .seconds(60)
        while store.calls.isEmpty, ContinuousClock.now < deadline { await Task.yield() }
        store.add(ChangesPage(events: LiveEvent.many(6...6), revision: 6, isResync: false))
        await refresh(feed, until: 6)
        while observations.all.withLock({ $0.isEmpty }), ContinuousClock.now < deadline { await Task.yield() }
        #expect(observations.all.withLock { $0.count } == 1)
    }

    // MARK: - Subscriptions

    private func hub(_ store: RecordingStore, _ change: (inout LiveHub.Options) -> Void = { _ in }) -> LiveHub {
        var options = LiveHub.Options()
        options.poll = .seconds(3600)
        options.heartbeat = .seconds(36_000)
        change(&options)
        return LiveHub(pages: store, versions: store, source: nil, options: options)
    }

    private func next(_ subscription: UserSubscription) async throws -> [LiveEvent] {
        guard case .events(let events)? = try await subscription.next() else { return [] }
        return events
    }

    @Test("A device that resumes reads pages of 100 changes from the database until one is not full")
    func resumes() async throws {
        let store = RecordingStore()
        store.set(205, of: Self.user)
        let subscription = try await hub(store).subscribe(Self.user, from: .after(5))
        #expect(await subscription.revision == 5)
        store.add(ChangesPage(events: LiveEvent.many(6...105), revision: 105, isResync: false))
        store.add(ChangesPage(events: LiveEvent.many(106...204), revision: 204, isResync: false))
        #expect(try await next(subscription).map(\.id) == Array(6...105))
        #expect(await subscription.revision == 105)
        #expect(try await next(subscription).map(\.id) == Array(106...204))
        #expect(await subscription.revision == 204)
        #expect(store.calls == [.init(since: 5, limit: 100), .init(since: 105, limit: 100)])
    }

    @Test("A device with a revision of another time resyncs at the current one, and goes on from there")
    func resumesElsewhere() async throws {
        let store = RecordingStore()
        store.set(7, of: Self.user)
        let hub = self.hub(store)
        let subscription = try await hub.subscribe(Self.user, from: .after(99))
        store.add(ChangesPage(events: [], revision: 0, isResync: true))
        #expect(
            try await next(subscription) == [.init(.gap, id: 7, data: Array(#"{"revision":7,"resync":true}"#.utf8))]
        )
        #expect(await subscription.revision == 7)
        hub.close()
        #expect(try await subscription.next() == nil)
        #expect(store.calls.count == 1)
    }

    @Test("A device that must resync has no revision before it knows that")
    func unknownState() async throws {
        let store = RecordingStore()
        store.set(7, of: Self.user)
        let hub = self.hub(store)
        let unknown = try await hub.subscribe(Self.user, from: .unknown)
        #expect(await unknown.revision == nil)
        store.set(8, of: Self.user)
        #expect(try await next(unknown).map(\.id) == [8])
        #expect(await unknown.revision == 8)
        store.set(nil, of: Self.user)
        let new = try await hub.subscribe(UserID("bob")!, from: .now)
        #expect(await new.revision == 0)
    }

    @Test("A feed that is behind is read when a device subscribes")
    func refreshesAtSubscription() async throws {
        let store = RecordingStore()
        store.set(3, of: Self.user)
        let hub = self.hub(store)
        let first = try await hub.subscribe(Self.user, from: .now)
        #expect(store.calls.isEmpty)
        store.set(4, of: Self.user)
        store.add(ChangesPage(events: LiveEvent.many(4...4), revision: 4, isResync: false))
        let second = try await hub.subscribe(Self.user, from: .now)
        #expect(try await next(first).map(\.id) == [4])
        #expect(await second.revision == 4)
        #expect(store.calls == [.init(since: 3, limit: 128)])
    }

    @Test("A waiting device whose changes are no longer in the feed reads them from the database")
    func catchesUp() async throws {
        let store = RecordingStore()
        store.set(3, of: Self.user)
        let hub = self.hub(store)
        let slow = try await hub.subscribe(Self.user, from: .now)
        let waiting = Task { try await next(slow).map(\.id) }
        // So that it waits already. Otherwise it reads the same.
        for _ in 0..<1000 { await Task.yield() }
        // The feed keeps 64 KiB.
        store.set(5, of: Self.user)
        let large = LiveEvent.many(4...5, bytes: 40 << 10)
        store.add(ChangesPage(events: large, revision: 5, isResync: false))
        store.add(ChangesPage(events: large, revision: 5, isResync: false))
        _ = try await hub.subscribe(Self.user, from: .now)
        _ = await eventually { store.calls.count == 2 }
        #expect(store.calls == [.init(since: 3, limit: 128), .init(since: 3, limit: 100)])
        // Ends the wait for further changes.
        hub.close()
        #expect(try await waiting.value == [4, 5])
    }

    @Test("A stream ends at the first wake-up after its token has expired")
    func expiry() async throws {
        let store = RecordingStore()
        let hub = self.hub(store) { $0.poll = .milliseconds(1) }
        let running = Task { await hub.run() }
        defer { running.cancel() }
        let expired = try await hub.subscribe(Self.user, from: .now, until: Timestamp(microseconds: 0))
        #expect(try await expired.next() == nil)
    }
}
