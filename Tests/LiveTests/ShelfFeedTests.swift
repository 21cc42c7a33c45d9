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

    /// Returns a feed of the products that a search finds.
    private func feed(of search: String, _ catalog: InMemoryCatalog) throws -> ShelfFeed {
        let key = ShelfFeed.Key(
            address: Self.address,
            sort: Sort(.price, .ascending),
            search: try SearchText(search),
            limit: 3
        )
        return ShelfFeed(key, catalog, catalog, AsyncSemaphore(1))
    }

    @Test("A version of the shelf does not resume a search, because synonyms change what it finds without one")
    func searchesHaveTheirOwnIDs() async throws {
        let catalog = try await fill()
        func version() async throws -> Int64 {
            let versions = try await catalog.versions(of: [Self.address])
            return try #require(versions[Self.address] ?? nil).shelf
        }
        let old = try await version()
        let first = try feed(of: "p1", catalog)
        try await first.start()
        let shown = try #require(first.event(from: nil))
        #expect(text(shown).contains(#""ids":["p1"]"#) && text(shown).contains(#""to_version":null"#))
        _ = try await catalog.set(try Synonyms(groups: [["p1", "p3"]], oneWay: []), for: .deployment)
        #expect(try await version() == old)
        // A client that has read the page at the version cannot resume, neither here nor on another server.
        let second = try feed(of: "p1", catalog)
        for feed in [first, second] {
            try await feed.start()
            #expect(feed.window(at: old) == nil && feed.event(from: nil)?.shown?.ids == ["p1", "p3"])
        }
        let next = try #require(first.event(from: shown.shown))
        #expect(next.event.id > shown.event.id && first.window(at: next.event.id)?.ids == ["p1", "p3"])
        #expect(first.window(at: shown.event.id)?.ids == ["p1"])
        #expect(second.window(at: next.event.id) == nil)
        #expect(text(next).hasPrefix(#"{"from_version":null,"to_version":null,"#))
        #expect(text(next).contains(#""inserts":[{"id":"p3","to":1,"after":"p1""#))
    }

    @Test("A change of the search's own result is an event, also if the products stay")
    func searchSummaryIsFollowed() async throws {
        let catalog = try await fill()
        let feed = try feed(of: "mlik", catalog)
        try await feed.start()
        let shown = try #require(feed.event(from: nil))
        #expect(text(shown).contains(#""missing":["mlik"],"did_you_mean":null"#))
        // A short word has no typing errors, so the product is not found, but it is a correction.
        let milk = Product(sku: SKU("milk")!, name: "Milk")
        _ = try await catalog.put(milk, in: Self.address.store)
        _ = try await catalog.place(milk.sku, on: Self.address.shelf, in: Self.address.store)
        try await feed.start()
        let next = try #require(feed.event(from: shown.shown))
        #expect(text(next).contains(#""did_you_mean":"milk""#) && text(next).contains(#""new_count":0"#))
        #expect(text(feed.event(from: nil)).contains(#""did_you_mean":"milk""#))
        // Nothing changes, so nothing is sent.
        _ = try await catalog.setPrices([PriceChange(sku: SKU("p0")!, priceMinor: 9)], in: Self.address.store)
        try await feed.start()
        #expect(feed.event(from: next.shown) == nil)
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

    /// A way in which a store loses an attribute of a sort or a filter.
    enum Loss: CaseIterable {
        case deletedSort, deletedFilter, retypedFilter

        var sort: Sort? { self == .deletedSort ? try? Sort.parse("-rating") : nil }
        var filter: Filter? { self == .deletedSort ? nil : try? Filter(query: "rating_min=4") }

        func isError(_ error: any Error) -> Bool {
            switch (self, error as? CatalogError) {
            case (.deletedSort, .unknownSortKey), (.deletedFilter, .unknownFilter), (.retypedFilter, .malformed): true
            default: false
            }
        }
    }

    @Test("A feed by an attribute is gone once the store lacks it or gives it another type", arguments: Loss.allCases)
    func lostAttributes(_ loss: Loss) async throws {
        let (catalog, name, owner) = (
            try await fill(), AttributeName("rating")!, DeclarationOwner.store(Self.address.store)
        )
        func declare(_ form: AttributeForm) async throws {
            _ = try await catalog.declare(.definition(try AttributeDefinition(name: name, form: form)), for: owner)
        }
        try await declare(.number(decimals: 1))
        let key = ShelfFeed.Key(address: Self.address, sort: loss.sort, filter: loss.filter, limit: 3)
        let feed = ShelfFeed(key, catalog, catalog, AsyncSemaphore(1))
        try await feed.start()
        let shown = try #require(feed.event(from: nil))
        #expect(shown.event.name == .order)
        let (number, wakeups) = feed.subscribers.add()
        defer { feed.subscribers.remove(number) }
        if loss == .retypedFilter {
            try await declare(.text)
        } else {
            try await catalog.remove(attribute: name, of: owner)
        }
        #expect(feed.isOutdated(try await catalog.versions(of: [Self.address])[Self.address] ?? nil))
        feed.refresh()
        #expect(await wakeups.wait())
        #expect(feed.event(from: shown.shown)?.event.name == .gone)
        // A new subscriber gets the error, until the store has the attribute again.
        await #expect { try await feed.start() } throws: { loss.isError($0) }
        try await declare(.number(decimals: 1))
        try await feed.start()
        #expect(feed.event(from: nil)?.event.name == .order)
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
