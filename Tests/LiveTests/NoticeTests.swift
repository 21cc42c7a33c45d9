import Catalog
import CatalogJSON
import InMemoryCatalog
import JSON
import Live
import TestSupport
import Testing

/// Notices are the only source of changes: the counters are polled once an hour.
@Suite(.timeLimit(.minutes(15))) struct NoticeTests {
    private static let (ann, bob) = (UserID("ann")!, UserID("bob")!)
    private static let address = ShelfAddress(CatalogKey("s")!, CatalogKey("x")!)
    private static let sku = SKU("p")!

    private struct Source: ChangeSource {
        let stream: AsyncStream<ChangeNotice>
        func notices() -> AsyncStream<ChangeNotice> { stream }
    }

    private static func set(_ value: Int, of user: UserID, _ catalog: InMemoryCatalog) async throws {
        let write = SettingsEdit.Write(SettingKey("k")!, .number("\(value)"))
        _ = try await catalog.edit(SettingsEdit([write]), of: user)
    }

    private static func setPrice(_ price: Int64, _ catalog: InMemoryCatalog) async throws {
        _ = try await catalog.setPrices([PriceChange(sku: sku, priceMinor: price)], in: address.store)
    }

    @Test(
        "Subscribers of users and shelves get the changes that a notice covers, and after a gap all changes",
        arguments: [ChangeNotice.gap, .changed([.all]), .changed([.user(ann), .user(bob), .store(address.store)])]
    )
    func noticesRefreshFeeds(_ notice: ChangeNotice) async throws {
        let catalog = InMemoryCatalog(collate: collator)
        _ = try await catalog.put(Store(key: Self.address.store, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.put(Shelf(key: Self.address.shelf, title: "X"), in: Self.address.store)
        for (sku, price) in [(Self.sku, 1), (SKU("q")!, 10)] as [(SKU, Int64)] {
            _ = try await catalog.put(Product(sku: sku, name: sku.text, priceMinor: price), in: Self.address.store)
            _ = try await catalog.place(sku, on: Self.address.shelf, in: Self.address.store)
        }
        for user in [Self.ann, Self.bob] { try await Self.set(0, of: user, catalog) }
        var options = LiveHub.Options()
        options.poll = .seconds(3600)
        options.heartbeat = .seconds(36_000)
        let (stream, continuation) = AsyncStream.makeStream(of: ChangeNotice.self)
        let hub = LiveHub(pages: catalog, versions: catalog, source: Source(stream: stream), options: options)
        let running = Task { await hub.run() }
        defer { running.cancel() }
        let subscriptions: [any LiveSubscription] = [
            try await hub.subscribe(Self.ann, from: .now), try await hub.subscribe(Self.bob, from: .now),
            try await hub.subscribe(Self.address, by: Sort(.price, .ascending), limit: 5, from: .now),
        ]
        // The first event of a shelf has its whole order.
        #expect(try await subscriptions[2].nextEventNames() == [.order])
        for round in 1...2 {
            for user in [Self.ann, Self.bob] { try await Self.set(round, of: user, catalog) }
            // The product moves behind the other one, and back.
            try await Self.setPrice(round == 1 ? 20 : 5, catalog)
            continuation.yield(notice)
            #expect(try await subscriptions[0].nextEventNames() == [.setting])
            #expect(try await subscriptions[1].nextEventNames() == [.setting])
            #expect(try await subscriptions[2].nextEventNames() == [.order])
        }
    }
}
