import Catalog
import InMemoryCatalog
import Synchronization
import Testing
import TestSupport

@testable import Live

/// The windows of a shelf's feed, the ids at which they were read, and their events.
@Suite("Windows of shelf feeds", .timeLimit(.minutes(15))) struct ShelfWindowTests {
    private static let address = ShelfAddress(CatalogKey("s")!, CatalogKey("x")!)

    private static func catalog() async throws -> InMemoryCatalog {
        let catalog = InMemoryCatalog(collate: collator)
        _ = try await catalog.put(Store(key: address.store, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.put(Shelf(key: address.shelf, title: "X"), in: address.store)
        for number in 0..<4 {
            let product = Product(sku: SKU("p\(number)")!, name: "P\(number)", priceMinor: Int64(number))
            _ = try await catalog.put(product, in: address.store)
            _ = try await catalog.place(product.sku, on: address.shelf, in: address.store)
        }
        return catalog
    }

    private static func feed(_ catalog: any PageStore & VersionStore, permits: Int = 1) -> ShelfFeed {
        let key = ShelfFeed.Key(address: address, sort: Sort(.price, .ascending), limit: 3)
        return ShelfFeed(key, catalog, catalog, AsyncSemaphore(permits))
    }

    private func text(_ event: LiveEvent?) -> String { event.map { String(decoding: $0.data, as: UTF8.self) } ?? "" }

    private static func setPrice(_ sku: String, _ price: Int64, _ catalog: InMemoryCatalog) async throws {
        _ = try await catalog.setPrices([PriceChange(sku: SKU(sku)!, priceMinor: price)], in: address.store)
    }

    private static func version(_ catalog: InMemoryCatalog) async throws -> Int64 {
        let version = try await catalog.versions(of: [address])[address] ?? nil
        return try #require(version).shelf
    }

    @Test("The last sixteen windows are kept")
    func keepsWindows() async throws {
        let catalog = try await Self.catalog()
        let feed = Self.feed(catalog)
        try await feed.start()
        let first = try await Self.version(catalog)
        for step in 1...16 {
            #expect(feed.window(at: first)?.number == 1, "\(step)")
            // Each check reads the shelf, because it has changed.
            try await Self.setPrice("p1", step % 2 == 1 ? 9 : 1, catalog)
            try await feed.start()
            #expect(feed.event(from: nil)?.shown?.number == step + 1)
        }
        #expect(feed.window(at: first) == nil)
    }

    @Test("Up to 64 versions without a change belong to one window")
    func keepsVersions() async throws {
        let catalog = try await Self.catalog()
        let feed = Self.feed(catalog)
        try await feed.start()
        var versions = [try await Self.version(catalog)]
        for step in 1...64 {
            // The product is beyond the window.
            try await Self.setPrice("p3", Int64(100 + step), catalog)
            try await feed.start()
            versions.append(try await Self.version(catalog))
        }
        #expect(Set(versions).count == 65)
        let windows = versions.map { feed.window(at: $0)?.number }
        #expect(windows.dropLast().allSatisfy { $0 == 1 })
        #expect(windows.count == 65 && windows[64] == nil)
        let shown = try #require(feed.event(from: nil))
        #expect(shown.event.id == versions[0])
        #expect(feed.event(from: shown.shown) == nil)
    }

    @Test("Events have changed products, and the data of those that enter")
    func changedProducts() async throws {
        let catalog = try await Self.catalog()
        let feed = Self.feed(catalog)
        try await feed.start()
        let start = try await Self.version(catalog)
        let shown = feed.event(from: nil)?.shown
        // The order stays, the content does not.
        _ = try await catalog.put(Product(sku: SKU("p1")!, name: "Other", priceMinor: 1), in: Self.address.store)
        try await Self.setPrice("p2", 9, catalog)
        try await feed.start()
        let event = try #require(feed.event(from: shown)?.event)
        #expect(event.name == .order)
        let version = try await Self.version(catalog)
        #expect(event.id == version)
        let data = text(event)
        #expect(
            data.hasPrefix(#"{"from_version":\#(start),"to_version":\#(event.id),"to_sort":"price","old_count":3,"#)
        )
        #expect(
            data.contains(#""deletes":[{"id":"p2","from":2}],"inserts":[{"id":"p3","to":2,"after":"p1","product":{"#)
        )
        #expect(data.contains(#""sku":"p3""#) && !data.contains(#""sku":"p1""#))
        #expect(data.hasSuffix(#""moves":[],"changed":[{"id":"p1","at":1}]}"#))
        // The same event is made once.
        #expect(feed.event(from: shown)?.event == event)
    }

    @Test("An event with the whole order has the products only if they are asked for")
    func wholeOrders() async throws {
        let feed = Self.feed(try await Self.catalog())
        try await feed.start()
        let plain = text(feed.event(from: nil)?.event)
        let rich = text(feed.event(from: nil, includingProducts: true)?.event)
        #expect(plain.hasSuffix(#""mode":"order","ids":["p0","p1","p2"]}"#))
        #expect(rich.contains(#""ids":["p0","p1","p2"],"products":[{"sku":"p0","#))
        #expect(text(feed.event(from: nil)?.event) == plain)
    }

    @Test("A shelf that is gone is up to date while it stays so, and an event says at which version it was shown")
    func goneShelf() async throws {
        let catalog = try await Self.catalog()
        let feed = Self.feed(catalog)
        #expect(feed.isOutdated(nil as ShelfVersion?) == false)
        try await feed.start()
        let shown = try #require(feed.event(from: nil)?.shown)
        let version = try await catalog.versions(of: [Self.address])[Self.address] ?? nil
        #expect(!feed.isOutdated(version) && feed.isOutdated(nil as ShelfVersion?))
        try await catalog.remove(shelf: Self.address.shelf, from: Self.address.store)
        let (number, wakeups) = feed.subscribers.add()
        defer { feed.subscribers.remove(number) }
        feed.refresh()
        #expect(await wakeups.wait())
        #expect(!feed.isOutdated(nil as ShelfVersion?) && feed.isOutdated(version))
        #expect(feed.event(from: shown)?.event == LiveEvent(.gone, id: shown.eventID, data: Array("{}".utf8)))
        #expect(feed.event(from: nil)?.event.id == 0)
    }

    @Test(
        "Before it is read, a feed shows several shelves if it is asked to; then what it has read counts",
        arguments: [(nil, false), (true, true), (false, false)] as [(Bool?, Bool)]
    )
    func unions(_ includesDescendants: Bool?, _ showsUnion: Bool) async throws {
        let catalog = try await Self.catalog()
        let key = ShelfFeed.Key(address: Self.address, includesDescendants: includesDescendants, limit: 3)
        let feed = ShelfFeed(key, catalog, catalog, AsyncSemaphore(1))
        #expect(feed.showsUnion == showsUnion)
        try await feed.start()
        #expect(feed.showsUnion == showsUnion)
        let shelf = Shelf(key: Self.address.shelf, title: "X", includesDescendants: true)
        _ = try await catalog.put(shelf, in: Self.address.store)
        try await feed.start()
        #expect(feed.showsUnion == (includesDescendants != false))
    }

    @Test("A read that began before another one does not replace its result")
    func ignoresLateReads() async throws {
        let catalog = try await Self.catalog()
        let store = LateStore(catalog)
        let feed = Self.feed(store, permits: 2)
        let starting = Task { try await feed.start() }
        var arrivals = store.arrived.stream.makeAsyncIterator()
        _ = await arrivals.next()
        try await Self.setPrice("p0", 9, catalog)
        let (number, wakeups) = feed.subscribers.add()
        defer { feed.subscribers.remove(number) }
        feed.refresh()
        #expect(await wakeups.wait())
        store.gate.continuation.yield()
        try await starting.value
        let shown = text(feed.event(from: nil)?.event)
        #expect(shown.contains(#""ids":["p1","p2","p3"]"#))
        let version = try await catalog.versions(of: [Self.address])[Self.address] ?? nil
        #expect(!feed.isOutdated(version))
    }

    @Test("Updates of a feed are observed, and reads without a change are not")
    func observations() async throws {
        let catalog = try await Self.catalog()
        let key = ShelfFeed.Key(address: Self.address, sort: Sort(.price, .ascending), limit: 3)
        let seen = Observations()
        let feed = ShelfFeed(key, catalog, catalog, AsyncSemaphore(1), seen.observer)
        try await feed.start()
        let start = ContinuousClock.now
        feed.refresh()
        let (number, wakeups) = feed.subscribers.add()
        defer { feed.subscribers.remove(number) }
        try await Self.setPrice("p0", 9, catalog)
        feed.refresh()
        #expect(await wakeups.wait())
        _ = await eventually { seen.all.withLock { !$0.isEmpty } }
        guard case .feedUpdated(.shelf, let delay)? = seen.all.withLock({ $0.first }) else {
            Issue.record("nothing was observed")
            return
        }
        #expect(delay > .zero && delay <= ContinuousClock.now - start)
        #expect(seen.all.withLock { $0.count } == 1)
    }

    private final class Observations: Sendable {
        let all = Mutex<[FeedObservation]>([])
        var observer: Observer<FeedObservation> { Observer { seen in self.all.withLock { $0.append(seen) } } }
    }
}

/// A store whose first page arrives late.
private final class LateStore: PageStore, VersionStore {
    private let catalog: InMemoryCatalog
    private let isFirst = Mutex(true)
    /// The arrival of the first request, and the permission to answer it.
    let arrived = AsyncStream.makeStream(of: Void.self)
    let gate = AsyncStream.makeStream(of: Void.self)

    init(_ catalog: InMemoryCatalog) { self.catalog = catalog }

    func read(
        _ request: PageRequest,
        unless isAnswered: (PageBasis) throws(CatalogError) -> Bool
    ) async throws(CatalogError) -> ShelfRead {
        let found = try await catalog.read(request, unless: isAnswered)
        let waits = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
        }
        if waits {
            arrived.continuation.yield()
            for await _ in gate.stream { break }
        }
        return found
    }

    func currentUnion(_ request: PageRequest) async throws(CatalogError) -> any CurrentShelf {
        try await catalog.currentUnion(request)
    }

    func versions(of shelves: [ShelfAddress]) async throws(CatalogError) -> [ShelfAddress: ShelfVersion?] {
        try await catalog.versions(of: shelves)
    }

    func revisions(of users: [UserID]) async throws(CatalogError) -> [UserID: Int64] {
        try await catalog.revisions(of: users)
    }

    func changes(of user: UserID, since: Int64, limit: Int) async throws(CatalogError) -> ChangesPage {
        try await catalog.changes(of: user, since: since, limit: limit)
    }
}
