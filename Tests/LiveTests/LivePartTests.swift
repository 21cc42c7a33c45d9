import Catalog
import CatalogJSON
import InMemoryCatalog
import Synchronization
import Testing
import TestSupport

@testable import Live

/// The parts of live updates: timers, semaphores, subscribers, limits and polling.
@Suite("Parts of live updates", .timeLimit(.minutes(15))) struct LivePartTests {
    private static let (ann, bob) = (UserID("ann")!, UserID("bob")!)
    private static let address = ShelfAddress(CatalogKey("s")!, CatalogKey("x")!)

    @Test("A heartbeat is due after a time of silence, once, and output postpones it")
    func heartbeats() {
        let start = ContinuousClock.now
        var timer = HeartbeatTimer(.seconds(10), at: start)
        func isDue(_ seconds: Double) -> Bool { timer.isDue(at: start + .seconds(seconds)) }
        #expect(!isDue(9.99))
        #expect(isDue(10))
        #expect(!isDue(10))
        #expect(!isDue(19.99))
        timer.restart(at: start + .seconds(15))
        #expect(!isDue(24.99))
        #expect(isDue(25))
    }

    @Test("A semaphore admits as many as it has permits, and the others in their order")
    func semaphores() async {
        let semaphore = AsyncSemaphore(2)
        let (entered, enter) = AsyncStream.makeStream(of: Int.self)
        let gates = (0..<5).map { _ in AsyncStream.makeStream(of: Void.self) }
        var tasks: [Task<Int, Never>] = []
        var entries = entered.makeAsyncIterator()
        func start(_ number: Int) -> Task<Int, Never> {
            let gate = gates[number].stream
            return Task {
                await semaphore.run {
                    enter.yield(number)
                    for await _ in gate { break }
                    return number
                }
            }
        }
        for number in 0..<2 {
            tasks.append(start(number))
            #expect(await entries.next() == number)
        }
        // Each of the others is in the queue before the next one starts.
        for number in 2..<5 {
            tasks.append(start(number))
            let deadline = ContinuousClock.now + .seconds(60)
            while await semaphore.waitingCount < number - 1, ContinuousClock.now < deadline { await Task.yield() }
        }
        for number in 2..<5 {
            // One leaves, and only the next one enters.
            gates[number - 2].continuation.yield()
            #expect(await tasks[number - 2].value == number - 2)
            #expect(await entries.next() == number)
        }
        for number in 3..<5 { gates[number].continuation.yield() }
        for number in 3..<5 { #expect(await tasks[number].value == number) }
        #expect(await semaphore.run { 7 } == 7)
    }

    @Test("Subscribers are woken all at once, or one group after another")
    func subscribers() async {
        /// Returns which of five subscribers are woken.
        func woken(_ wake: (Subscribers) -> Void) async -> [Int] {
            let subscribers = Subscribers()
            let all = (0..<5).map { _ in subscribers.add() }
            wake(subscribers)
            // A stream that has ended still has its wake-up.
            subscribers.end()
            var woken: [Int] = []
            for (number, wakes) in all { if await wakes.wait() { woken.append(number) } }
            return woken
        }
        #expect(await woken { _ in } == [])
        #expect(await woken { $0.wake() } == [1, 2, 3, 4, 5])
        #expect(await woken { $0.wake(turn: 1, of: 3) } == [1, 4])
        #expect(await woken { $0.wake(turn: 5, of: 3) } == [2, 5])
        #expect(await woken { $0.wake(turn: 6, of: 3) } == [3])
        #expect(await woken { $0.remove(2) } == [])
        #expect(
            await woken {
                $0.remove(2); $0.wake()
            } == [1, 3, 4, 5]
        )
    }

    @Test("A feed is idle before its first subscriber and after its last one, whose stream ends")
    func idleness() async throws {
        let subscribers = Subscribers()
        #expect(subscribers.idleSince != nil)
        let (first, second) = (subscribers.add(), subscribers.add())
        #expect(subscribers.idleSince == nil)
        subscribers.remove(first.number)
        #expect(subscribers.idleSince == nil)
        let before = ContinuousClock.now
        subscribers.remove(second.number)
        let idle = try #require(subscribers.idleSince)
        #expect(idle >= before)
        #expect(await !first.wakes.wait())
        #expect(await !second.wakes.wait())
        // Repeated wake-ups are one.
        let third = subscribers.add()
        subscribers.wake()
        subscribers.wake()
        subscribers.end()
        #expect(await third.wakes.wait())
        #expect(await !third.wakes.wait())
    }

    // MARK: - The hub

    @Test("The options have the documented values, and subscribers are woken in three groups")
    func options() {
        let options = LiveHub.Options()
        #expect(options.poll == .seconds(1) && options.heartbeat == .seconds(15))
        #expect(options.subscriptionLimit == 10_000 && options.subscriptionsPerUserLimit == 64)
        #expect(options.shelfFeedLimit == 2000 && options.idleTimeout == .seconds(60))
        #expect(LiveHub.minimumReadInterval == .milliseconds(50))
        let store = RecordingStore()
        #expect(LiveHub(pages: store, versions: store, source: nil).idleInterval == .seconds(11))
    }

    private struct Source: ChangeSource {
        let stream: AsyncStream<ChangeNotice>
        func notices() -> AsyncStream<ChangeNotice> { stream }
    }

    /// A catalog with the shelves x and y, each with a product.
    private static func catalog() async throws -> InMemoryCatalog {
        let catalog = InMemoryCatalog(collate: collator)
        _ = try await catalog.put(Store(key: address.store, title: "S", currency: Currency("EUR")!))
        for (shelf, sku) in [("x", "p"), ("y", "q")] {
            let product = Product(sku: SKU(sku)!, name: sku, priceMinor: 1)
            _ = try await catalog.put(Shelf(key: CatalogKey(shelf)!, title: shelf), in: address.store)
            _ = try await catalog.put(product, in: address.store)
            _ = try await catalog.place(product.sku, on: CatalogKey(shelf)!, in: address.store)
        }
        return catalog
    }

    private static func hub(
        _ store: RecordingStore,
        _ notices: AsyncStream<ChangeNotice>? = nil,
        _ change: (inout LiveHub.Options) -> Void = { _ in }
    ) -> LiveHub {
        var options = LiveHub.Options()
        options.poll = .seconds(3600)
        options.heartbeat = .seconds(36_000)
        change(&options)
        return LiveHub(pages: store, versions: store, source: notices.map { Source(stream: $0) }, options: options)
    }

    @Test("A notice asks for the versions and revisions that it names, of feeds with subscribers")
    func asksForWhatChanged() async throws {
        let store = RecordingStore(try await Self.catalog())
        let (notices, notice) = AsyncStream.makeStream(of: ChangeNotice.self)
        let hub = Self.hub(store, notices)
        let other = ShelfAddress(Self.address.store, CatalogKey("y")!)
        var subscriptions: [any LiveSubscription] = [
            try await hub.subscribe(Self.ann, from: .now), try await hub.subscribe(Self.bob, from: .now),
            try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now),
            try await hub.subscribe(Self.address, by: .position, limit: 5, from: .now),
            try await hub.subscribe(other, by: nil, limit: 5, from: .now),
        ]
        _ = store.takeAsked()
        let running = Task { await hub.run() }
        defer { running.cancel() }
        /// Returns the users and shelves of the calls that a notice causes, until a call for a marker.
        func asked(_ given: ChangeNotice) async -> (users: Set<String>, shelves: Set<String>, calls: Int) {
            notice.yield(given)
            // Notices are handled one after the other, so a call for bob alone ends those of the given one.
            notice.yield(.changed([.user(Self.bob)]))
            var (users, shelves, calls): ([[UserID]], [[ShelfAddress]], Int) = ([], [], 0)
            let deadline = ContinuousClock.now + .seconds(60)
            while users.last != [Self.bob], ContinuousClock.now < deadline {
                let part = store.takeAsked()
                users += part.users
                shelves += part.shelves
                calls += part.users.count + part.shelves.count
                await Task.yield()
            }
            #expect(users.allSatisfy { !$0.isEmpty } && shelves.allSatisfy { !$0.isEmpty })
            return (
                Set(users.dropLast().joined().map(\.text)), Set(shelves.joined().map(\.shelf.text)), calls - 1
            )
        }
        let user = await asked(.changed([.user(Self.ann)]))
        #expect(user.users == ["ann"] && user.shelves.isEmpty && user.calls == 1)
        let shelf = await asked(.changed([.store(Self.address.store)]))
        #expect(shelf.users.isEmpty && shelf.shelves == ["x", "y"] && shelf.calls == 1)
        let unknown = await asked(.changed([.store(CatalogKey("t")!), .user(UserID("eve")!)]))
        #expect(unknown.calls == 0)
        subscriptions.remove(at: 4)
        subscriptions.remove(at: 0)
        let rest = await asked(.changed([.store(Self.address.store), .user(Self.ann)]))
        #expect(rest.users.isEmpty && rest.shelves == ["x"] && rest.calls == 1)
        #expect(subscriptions.count == 3)
    }

    @Test("A shelf feed without subscribers makes room for another one, and goes after its time")
    func idleFeeds() async throws {
        let store = RecordingStore(try await Self.catalog())
        let hub = Self.hub(store) { $0.shelfFeedLimit = 2 }
        func subscribe(_ limit: Int) async throws -> ShelfSubscription {
            try await hub.subscribe(Self.address, by: nil, limit: limit, from: .now)
        }
        func uses(_ hub: LiveHub) -> [LiveHub.Use] { hub.uses }
        func use(_ kind: FeedKind, _ subscriptions: Int, _ feeds: Int) -> LiveHub.Use {
            .init(kind: kind, subscriptions: subscriptions, feeds: feeds)
        }
        var held: [ShelfSubscription] = [try await subscribe(1), try await subscribe(2)]
        let user = try await hub.subscribe(Self.ann, from: .now)
        #expect(uses(hub) == [use(.shelf, 2, 2), use(.user, 1, 1)])
        // A feed that is there needs no room.
        held.append(try await subscribe(2))
        await #expect(throws: CatalogError.unavailable) { try await subscribe(3) }
        held.removeFirst()
        #expect(uses(hub) == [use(.shelf, 2, 2), use(.user, 1, 1)])
        held.append(try await subscribe(3))
        #expect(uses(hub) == [use(.shelf, 3, 2), use(.user, 1, 1)])
        #expect(await user.revision == 0)
        await #expect(throws: CatalogError.unavailable) { try await subscribe(4) }
        #expect(held.count == 3)
    }

    @Test(
        "Feeds that have been idle for their time are dropped; those with subscribers and others stay",
        arguments: [true, false]
    )
    func dropsIdleFeeds(isShort: Bool) async throws {
        let store = RecordingStore(try await Self.catalog())
        let hub = Self.hub(store) {
            $0.poll = .milliseconds(2)
            $0.idleTimeout = isShort ? .zero : .seconds(3600)
        }
        var subscriptions: [any LiveSubscription] = [
            try await hub.subscribe(Self.ann, from: .now),
            try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now),
        ]
        let user = try await hub.subscribe(Self.bob, from: .now)
        let shelf = try await hub.subscribe(Self.address, by: nil, limit: 6, from: .now)
        subscriptions.removeAll()
        #expect(subscriptions.isEmpty && hub.uses.map(\.feeds) == [2, 2])
        _ = store.takeAsked()
        let running = Task { await hub.run() }
        defer { running.cancel() }
        // Several polls.
        var polls = 0
        _ = await eventually {
            polls += store.takeAsked().users.count
            return polls >= 5 && (!isShort || hub.uses.map(\.feeds) == [1, 1])
        }
        #expect(polls >= 5)
        #expect(hub.uses.map(\.feeds) == (isShort ? [1, 1] : [2, 2]))
        #expect(await user.revision == 0)
        withExtendedLifetime((user, shelf)) {}
    }

    @Test("The first heartbeats go to the first group, and then to the next ones")
    func heartbeatGroups() async throws {
        let store = RecordingStore()
        let hub = Self.hub(store) { ($0.poll, $0.heartbeat) = (.milliseconds(50), .milliseconds(200)) }
        var subscriptions: [UserSubscription] = []
        for _ in 0..<3 { subscriptions.append(try await hub.subscribe(Self.ann, from: .now)) }
        let running = Task { await hub.run() }
        let third = try await subscriptions[2].next()
        running.cancel()
        hub.close()
        // A stream that has ended still has its wake-up.
        let outputs = [try await subscriptions[0].next(), try await subscriptions[1].next(), third]
        for output in outputs {
            guard case .heartbeat? = output else {
                Issue.record("not a heartbeat: \(String(describing: output))")
                continue
            }
        }
    }

    @Test("Limits are checked before a user subscribes, whether the user is known or not")
    func limits() async throws {
        let store = RecordingStore()
        let hub = Self.hub(store) { ($0.subscriptionLimit, $0.subscriptionsPerUserLimit) = (3, 2) }
        var subscriptions = [
            try await hub.subscribe(Self.ann, from: .now), try await hub.subscribe(Self.ann, from: .now),
        ]
        #expect(throws: CatalogError.tooMany("a user can have at most 2 event streams; close unused ones")) {
            try hub.checkLimits(for: Self.ann)
        }
        try hub.checkLimits(for: Self.bob)
        try hub.checkLimits(for: nil)
        subscriptions.append(try await hub.subscribe(Self.bob, from: .now))
        for user in [Self.bob, nil] {
            #expect(throws: CatalogError.unavailable) { try hub.checkLimits(for: user) }
        }
        subscriptions.removeAll()
        try hub.checkLimits(for: nil)
        #expect(subscriptions.isEmpty && !hub.isClosed)
        hub.close()
        #expect(hub.isClosed)
        #expect(throws: CatalogError.unavailable) { try hub.checkLimits(for: nil) }
        await #expect(throws: CatalogError.unavailable) {
            try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now)
        }
    }

    @Test("A stream shows several shelves if it is asked to, or if that is a setting of the shelf")
    func unions() async throws {
        let catalog = try await Self.catalog()
        let hub = Self.hub(RecordingStore(catalog))
        #expect(try await !hub.showsUnion(Self.address, nil))
        #expect(try await hub.showsUnion(Self.address, true))
        _ = try await catalog.put(
            Shelf(key: Self.address.shelf, title: "X", includesDescendants: true),
            in: Self.address.store
        )
        #expect(try await hub.showsUnion(Self.address, nil))
        #expect(try await !hub.showsUnion(Self.address, false))
        let none = ShelfAddress(Self.address.store, CatalogKey("none")!)
        await #expect(throws: CatalogError.self) { try await hub.showsUnion(none, nil) }
    }

    @Test("A shelf exists if the database has it or cannot be reached")
    func existence() async throws {
        let hub = Self.hub(RecordingStore(try await Self.catalog()))
        #expect(await hub.exists(Self.address))
        #expect(await !hub.exists(ShelfAddress(Self.address.store, CatalogKey("none")!)))
        #expect(await Self.hub(RecordingStore(nil)).exists(Self.address))
    }
}
