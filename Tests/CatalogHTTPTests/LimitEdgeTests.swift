import Catalog
import CatalogJSON
import HTTPTypes
import InMemoryCatalog
import Testing

@testable import CatalogHTTP

/// Limits of the HTTP layer that the description does not state, each at its edge.
@Suite(.timeLimit(.minutes(15))) struct LimitEdgeTests {
    @Test("A request may have 16 tokens of states, and not 17")
    func tokensOfStates() async throws {
        let api = try await MemoryAPI.withShelf()
        let token = Base64URL.encode(InMemoryCatalog.state.bytes)
        for (count, status) in [(1, 200), (16, 200), (17, 400)] {
            let value = Array(repeating: token, count: count).joined(separator: ",")
            let response = try await api.send(.get, "/v1/stores", nil, ["Aisle-Seen": value])
            #expect(response.status == status, "\(count)")
        }
    }

    @Test(
        "A page is kept up to a sixteenth of the cache, with 1 KiB for its entry",
        arguments: [(1 << 20, 1 << 16), (1 << 22, 1 << 18)]
    )
    func largePages(_ limit: Int, _ largest: Int) throws {
        let shelf = Shelf(key: CatalogKey("dairy")!, title: "Dairy")
        let state = ShelfState(
            shelf: shelf,
            productCount: 3,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: 0),
            version: 1,
            orderVersion: 1
        )
        let store = Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!)
        let basis = PageBasis(head: ShelfHead(store: store, storeVersion: 1, state: state))
        let planned = try PlannedPage(PageRequest(store: store.key, shelf: shelf.key), basis)
        let cache = PageCache(limit: limit)
        let path = "/path"
        for (surplus, isKept) in [(-1, true), (0, true), (1, false)] {
            let variant = PageCache.Variant(path: "\(path)\(surplus + 1)", namesSort: false, namesFilter: false)
            let key = PageCache.Key(variant, planned.plan)
            let body = [UInt8](repeating: 0, count: largest - 1024 - path.utf8.count - 1 + surplus)
            let page = cache.insert([:], body, key, tag: "\"t\"")
            #expect(page.body.count == body.count)
            #expect((cache.page(key, tag: "\"t\"") != nil) == isKept, "\(surplus)")
        }
    }
}
