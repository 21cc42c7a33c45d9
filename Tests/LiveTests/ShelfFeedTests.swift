import Catalog
@testable import Live
import InMemoryCatalog
import Synchronization
import Testing
import TestSupport

@Suite("Shelf feeds", .timeLimit(.minutes(15))) struct ShelfFeedTests {
    private static let address = ShelfAddress(CatalogKey("s")!, CatalogKey("x")!)
    private static let products = (0..<4).map { Product(sku: SKU("p\($0)")!, name: "P\($0)", priceMinor: Int64($0)) }

    private func fill() async throws -> InMemoryCatalog {
        let catalog = InMemoryCatalog(collate: collator)
        _ = try await catalog.put(Store(key: Self.address.store, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.put(Shelf(key: Self.address.shelf, title: "X"), in: Self.address.store)
        for product in Self.products {
            _ = try await catalog.put(product, in: Self.address.store)
            _ = try await catalog.place(product.sku, on: Self.address.shelf, in: Self.address.store)
        }
        return catalog
    }

    private func feed(_ catalog: any PageStore & VersionStore, limit: Int = 3) -> ShelfFeed {
        let key = ShelfFeed.Key(address: Self.address, sort: Sort(.price, .ascending), limit: limit)
        return ShelfFeed(key, catalog, catalog, AsyncSemaphore(1))
    }

    private func text(_ event: (event: LiveEvent, shown: ShelfFeed.Window?)?) -> String {
        event.map { String(decoding: $0.event.data, as: UTF8.self) } ?? ""
    }

    /// Changes a price, refreshes the feed and waits for its next window.
    private func setPrice(_ sku: String, _ price: Int64, _ catalog: InMemoryCatalog, _ feed: ShelfFeed) async throws {
        let (number, wakeups) = feed.subscribers.add()
        defer { feed.subscribers.remove(number) }
        _ = try await catalog.setPrices([PriceChange(sku: SKU(sku)!, priceMinor: price)], in: Self.address.store)
        feed.refresh()
        #expect(await wakeups.wait())
    }

    @Test("After a failover that lost commits, a feed shows what is left")
    func lostCommitsDisappear() async throws {
        let primary = try await fill()
        let stores = Failover(primary, standby: try await fill())
        let feed = feed(stores)
        try await feed.start()
        let first = feed.event(from: nil)
        try await setPrice("p0", 9, primary, feed)
        let lost = try #require(feed.event(from: first?.shown))
        stores.promote()
        let version = try await stores.versions(of: [Self.address])[Self.address] ?? nil
        #expect(feed.isOutdated(version))
        let (number, wakeups) = feed.subscribers.add()
        defer { feed.subscribers.remove(number) }
        feed.refresh()
        #expect(await wakeups.wait())
        #expect(!feed.isOutdated(version))
        let correction = text(feed.event(from: lost.shown))
        #expect(correction.contains(#""inserts":[{"id":"p0","to":0"#))
        #expect(text(feed.event(from: nil)).contains(#""ids":["p0","p1","p2"]"#))
    }

    @Test("A feed of several shelves follows each of them, with ids of its own")
    func followsDescendants() async throws {
        let catalog = try await fill()
        let below = CatalogKey("y")!
        _ = try await catalog.put(Shelf(key: below, title: "Y", parent: Self.address.shelf), in: Self.address.store)
        var product = Product(sku: SKU("below")!, name: "Below", priceMinor: 0)
        _ = try await catalog.put(product, in: Self.address.store)
        _ = try await catalog.place(product.sku, on: below, in: Self.address.store)
        func feed() -> ShelfFeed {
            let key = ShelfFeed.Key(
                address: Self.address,
                sort: Sort(.price, .ascending),
                includesDescendants: true,
                limit: 3
            )
            return ShelfFeed(key, catalog, catalog, AsyncSemaphore(1))
        }
        let (first, second) = (feed(), feed())
        try await first.start()
        try await second.start()
        #expect(first.showsUnion)
        let shown = try #require(first.event(from: nil))
        #expect(text(shown).contains(#""ids":["below","p0","p1"]"#))
        #expect(text(shown).contains(#""to_version":null"#))
        let (number, wakeups) = first.subscribers.add()
        defer { first.subscribers.remove(number) }
        #expect(first.event(from: shown.shown) == nil)
        product.priceMinor = 9
        _ = try await catalog.put(product, in: Self.address.store)
        first.refreshIfOutdated()
        #expect(await wakeups.wait())
        let next = try #require(first.event(from: shown.shown))
        #expect(text(next).contains(#""deletes":[{"id":"below","from":0}]"#))
        #expect(text(next).contains(#""from_version":null"#))
        #expect(next.event.id > shown.event.id)
        // A subscriber resumes from this server only.
        #expect(first.window(at: shown.event.id)?.number == shown.shown?.number)
        #expect(second.window(at: next.event.id) == nil)
        try await catalog.remove(shelf: below, from: Self.address.store)
        try await catalog.remove(shelf: Self.address.shelf, from: Self.address.store)
        first.refreshIfOutdated()
        #expect(await wakeups.wait())
        #expect(first.event(from: next.shown)?.event.name == .gone)
    }

    @Test("The first event has the whole order, and nothing follows without a change")
    func firstEventIsTheOrder() async throws {
        let feed = feed(try await fill())
        try await feed.start()
        let first = feed.event(from: nil)
        #expect(text(first).contains(#""ids":["p0","p1","p2"]"#))
        #expect(feed.event(from: first?.shown) == nil)
    }

    @Test("A change is sent as the diff from the subscriber's window")
    func changeIsSentAsMoves() async throws {
        let catalog = try await fill()
        let feed = feed(catalog)
        try await feed.start()
        let first = feed.event(from: nil)
        try await setPrice("p0", 9, catalog, feed)
        let change = text(feed.event(from: first?.shown))
        #expect(change.contains(#""deletes":[{"id":"p0","from":0}]"#))
        #expect(change.contains(#""inserts":[{"id":"p3","to":2"#))
    }

    @Test("A window is found by its version, until it is no longer kept")
    func windowIsFoundByVersion() async throws {
        let catalog = try await fill()
        let feed = feed(catalog)
        try await feed.start()
        let version = try #require(try await catalog.versions(of: [Self.address])[Self.address] ?? nil).shelf
        #expect(feed.window(at: version)?.ids == ["p0", "p1", "p2"])
        #expect(feed.window(at: version + 1) == nil)
        for step in 0..<17 { try await setPrice("p1", step % 2 == 0 ? 9 : 1, catalog, feed) }
        #expect(feed.window(at: version) == nil)
    }

    @Test("The feed of a missing shelf does not start")
    func missingShelfFails() async throws {
        let key = ShelfFeed.Key(address: ShelfAddress(Self.address.store, CatalogKey("none")!), sort: nil, limit: 3)
        let catalog = try await fill()
        let feed = ShelfFeed(key, catalog, catalog, AsyncSemaphore(1))
        await #expect(throws: CatalogError.self) { try await feed.start() }
    }
}

/// A store that is replaced by its standby.
private final class Failover: PageStore, VersionStore {
    private let stores: (primary: InMemoryCatalog, standby: InMemoryCatalog)
    private let isPromoted = Mutex(false)

    init(_ primary: InMemoryCatalog, standby: InMemoryCatalog) { stores = (primary, standby) }

    func promote() { isPromoted.withLock { $0 = true } }

    private var store: InMemoryCatalog { isPromoted.withLock { $0 } ? stores.standby : stores.primary }

    func read(
        _ request: PageRequest,
        unless isAnswered: (PageBasis) throws(CatalogError) -> Bool
    ) async throws(CatalogError) -> ShelfRead {
        try await store.read(request, unless: isAnswered)
    }

    func currentUnion(_ request: PageRequest) async throws(CatalogError) -> any CurrentShelf {
        try await store.currentUnion(request)
    }

    func versions(of shelves: [ShelfAddress]) async throws(CatalogError) -> [ShelfAddress: ShelfVersion?] {
        try await store.versions(of: shelves)
    }

    func revisions(of users: [UserID]) async throws(CatalogError) -> [UserID: Int64] {
        try await store.revisions(of: users)
    }

    func changes(of user: UserID, since: Int64, limit: Int) async throws(CatalogError) -> ChangesPage {
        try await store.changes(of: user, since: since, limit: limit)
    }
}
