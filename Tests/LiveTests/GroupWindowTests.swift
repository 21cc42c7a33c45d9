import Catalog
import InMemoryCatalog
import JSON
import TestSupport
import Testing

@testable import Live

/// Streams of a shelf with collapsed groups.
@Suite("Groups in shelf feeds", .timeLimit(.minutes(15))) struct GroupWindowTests {
    private static let address = ShelfAddress(CatalogKey("s")!, CatalogKey("x")!)

    private static func product(_ sku: String, _ price: Int64, _ group: String?) -> Product {
        var product = Product(sku: SKU(sku)!, name: sku, priceMinor: price)
        product.group = group
        return product
    }

    /// Returns a shelf with the group `g` of `a` (100) and `b` (200), and `c` (300) without a group.
    private static func catalog(collapses: Bool = false) async throws -> InMemoryCatalog {
        let catalog = InMemoryCatalog(collate: collator)
        _ = try await catalog.put(Store(key: address.store, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.put(
            Shelf(key: address.shelf, title: "X", collapsesGroups: collapses),
            in: address.store
        )
        for product in [product("a", 100, "g"), product("b", 200, "g"), product("c", 300, nil)] {
            _ = try await catalog.put(product, in: address.store)
            _ = try await catalog.place(product.sku, on: address.shelf, in: address.store)
        }
        return catalog
    }

    private static func feed(_ catalog: InMemoryCatalog, collapses: Bool? = true) -> ShelfFeed {
        let key = ShelfFeed.Key(
            address: address,
            sort: Sort(.price, .ascending),
            collapsesGroups: collapses,
            limit: 3
        )
        return ShelfFeed(key, catalog, catalog, AsyncSemaphore(1))
    }

    /// Returns the data of the event after a change, and the window that it leads to.
    private static func event(
        after shown: ShelfFeed.Window?,
        of feed: ShelfFeed
    ) async throws -> (data: JSONValue, shown: ShelfFeed.Window) {
        try await feed.start()
        let found = try #require(feed.event(from: shown))
        return (try JSONReader.parse(found.event.data), try #require(found.shown))
    }

    private static func ids(_ data: JSONValue, _ list: String) -> [String] {
        guard case .array(let values)? = data[list] else { return [] }
        return values.compactMap { value in
            if case .string(let text) = value["id"] ?? value { text } else { nil }
        }
    }

    private static func sku(_ data: JSONValue, _ list: String, at index: Int = 0) -> JSONValue? {
        guard case .array(let values)? = data[list], index < values.count else { return nil }
        return values[index]["product"]?["sku"]
    }

    @Test("A new representative in its place is changed, with its product, and so are other counts")
    func representatives() async throws {
        let catalog = try await Self.catalog()
        let feed = Self.feed(catalog)
        var (data, shown) = try await Self.event(after: nil, of: feed)
        #expect(Self.ids(data, "ids") == ["group/g", "c"] && data["collapse"] == .bool(true))
        // Now b is the cheapest one.
        _ = try await catalog.put(Self.product("a", 250, "g"), in: Self.address.store)
        (data, shown) = try await Self.event(after: shown, of: feed)
        #expect(Self.ids(data, "changed") == ["group/g"] && Self.sku(data, "changed") == .string("b"))
        #expect(data["moves"] == .array([]) && data["inserts"] == .array([]) && data["deletes"] == .array([]))
        // The representative stays, the group grows.
        _ = try await catalog.put(Self.product("d", 900, "g"), in: Self.address.store)
        _ = try await catalog.place(SKU("d")!, on: Self.address.shelf, in: Self.address.store)
        (data, shown) = try await Self.event(after: shown, of: feed)
        #expect(Self.ids(data, "changed") == ["group/g"] && Self.sku(data, "changed") == .string("b"))
        #expect(data.text.contains(#""members_matching":3,"members_total":3"#))
        // A member that is not shown changes nothing that is shown.
        _ = try await catalog.put(Self.product("d", 901, "g"), in: Self.address.store)
        try await feed.start()
        #expect(feed.event(from: shown) == nil)
        // The representative leads its group to another place.
        _ = try await catalog.put(Self.product("b", 500, "g"), in: Self.address.store)
        _ = try await catalog.put(Self.product("a", 400, "g"), in: Self.address.store)
        (data, shown) = try await Self.event(after: shown, of: feed)
        #expect(Self.ids(data, "moves").count == 1 && Self.ids(data, "changed") == ["group/g"])
        #expect(Self.sku(data, "changed") == .string("a"))
    }

    @Test("A group whose last member leaves is deleted, and a product that changes its group inserts another one")
    func membership() async throws {
        let catalog = try await Self.catalog()
        let feed = Self.feed(catalog)
        var (data, shown) = try await Self.event(after: nil, of: feed)
        _ = try await catalog.put(Self.product("a", 100, "h"), in: Self.address.store)
        (data, shown) = try await Self.event(after: shown, of: feed)
        #expect(Self.ids(data, "inserts") == ["group/h"] && Self.sku(data, "inserts") == .string("a"))
        #expect(Self.ids(data, "changed") == ["group/g"] && Self.sku(data, "changed") == .string("b"))
        try await catalog.unplace(SKU("b")!, from: Self.address.shelf, in: Self.address.store)
        (data, shown) = try await Self.event(after: shown, of: feed)
        #expect(Self.ids(data, "deletes") == ["group/g"] && Self.ids(data, "inserts") == [])
        // A product that leaves its group is a card of its own.
        _ = try await catalog.put(Self.product("a", 100, nil), in: Self.address.store)
        (data, shown) = try await Self.event(after: shown, of: feed)
        #expect(Self.ids(data, "deletes") == ["group/h"] && Self.ids(data, "inserts") == ["a"])
        #expect(shown.ids == ["a", "c"])
    }

    @Test("A stream without collapse follows the shelf, and another one does not")
    func defaults() async throws {
        let catalog = try await Self.catalog()
        let (following, plain) = (Self.feed(catalog, collapses: nil), Self.feed(catalog, collapses: false))
        var (data, shown) = try await Self.event(after: nil, of: following)
        #expect(Self.ids(data, "ids") == ["a", "b", "c"] && data["collapse"] == nil)
        #expect(try await Self.event(after: nil, of: plain).shown.ids == ["a", "b", "c"])
        let shelf = Shelf(key: Self.address.shelf, title: "X", collapsesGroups: true)
        _ = try await catalog.put(shelf, in: Self.address.store)
        (data, shown) = try await Self.event(after: shown, of: following)
        #expect(Self.ids(data, "inserts") == ["group/g"] && Set(Self.ids(data, "deletes")) == ["a", "b"])
        #expect(shown.ids == ["group/g", "c"])
        #expect(try await Self.event(after: nil, of: plain).shown.ids == ["a", "b", "c"])
    }
}
