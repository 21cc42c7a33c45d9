import Catalog
import HTTPTypes
import Testing

@testable import CatalogHTTP

@Suite(.timeLimit(.minutes(15))) struct PageCacheTests {
    private static let store = Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!)

    private func planned(limit: Int = 24, version: Int64 = 1, filter: Filter? = nil) throws -> PlannedPage {
        let shelf = Shelf(key: CatalogKey("dairy")!, title: "Dairy")
        let state = ShelfState(
            shelf: shelf,
            productCount: 3,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: 0),
            version: version,
            orderVersion: 1
        )
        let head = ShelfHead(store: Self.store, storeVersion: 1, state: state)
        let request = PageRequest(store: Self.store.key, shelf: shelf.key, filter: filter, limit: limit)
        return try PlannedPage(request, PageBasis(head: head))
    }

    private func key(_ path: String, _ planned: PlannedPage, namesSort: Bool = false) -> PageCache.Key {
        let variant = PageCache.Variant(path: path, namesSort: namesSort, namesFilter: false)
        return PageCache.Key(variant, planned.plan)
    }

    private func insert(_ cache: PageCache, _ path: String, _ planned: PlannedPage, bytes: Int = 100) {
        let body = [UInt8](repeating: 0, count: bytes)
        _ = cache.insert([:], body, key(path, planned), tag: planned.entityTag(day: 1))
    }

    private func has(_ cache: PageCache, _ path: String, _ planned: PlannedPage) -> Bool {
        cache.page(key(path, planned), tag: planned.entityTag(day: 1)) != nil
    }

    @Test("A page is found by its path, plan and tag")
    func findsPages() throws {
        let cache = PageCache(limit: 1 << 20)
        let page = try planned()
        insert(cache, "/a", page)
        #expect(has(cache, "/a", page))
        #expect(!has(cache, "/b", page))
        #expect(cache.page(key("/a", page, namesSort: true), tag: page.entityTag(day: 1)) == nil)
        #expect(cache.page(key("/a", page), tag: "\"other\"") == nil)
    }

    @Test("Plans with different results have different pages")
    func distinguishesPlans() throws {
        let cache = PageCache(limit: 1 << 20)
        insert(cache, "/a", try planned())
        #expect(!has(cache, "/a", try planned(limit: 25)))
        #expect(!has(cache, "/a", try planned(version: 2)))
        #expect(!has(cache, "/a", try planned(filter: Filter([.inStock: .flag(true)]))))
    }

    @Test("A new version replaces the old page")
    func replacesPages() throws {
        let cache = PageCache(limit: 1 << 20)
        insert(cache, "/a", try planned())
        insert(cache, "/a", try planned(version: 2))
        #expect(!has(cache, "/a", try planned()))
        #expect(has(cache, "/a", try planned(version: 2)))
    }

    @Test("Pages that were not used recently are evicted, and no more than necessary")
    func evictsUnusedPages() throws {
        let cache = PageCache(limit: 160_000)
        let page = try planned()
        for number in 0..<100 {
            insert(cache, "/\(number)", page, bytes: 4000)
            #expect(has(cache, "/used", page) == (number > 0))
            insert(cache, "/used", page, bytes: 4000)
        }
        #expect(!has(cache, "/0", page))
        #expect(has(cache, "/99", page))
        // From the last one on, because looking for a page counts as use.
        let kept = (0..<100).reversed().prefix { has(cache, "/\($0)", page) }
        #expect(kept.count >= 13)
        #expect(kept.count <= 32)
    }

    @Test("A page larger than a sixteenth of the cache is not stored")
    func refusesLargePages() throws {
        let cache = PageCache(limit: 16_000)
        insert(cache, "/a", try planned(), bytes: 2000)
        #expect(!has(cache, "/a", try planned()))
    }

    @Test("A cache of 0 bytes stores nothing")
    func storesNothing() throws {
        let cache = PageCache(limit: 0)
        insert(cache, "/a", try planned())
        #expect(!has(cache, "/a", try planned()))
    }
}
