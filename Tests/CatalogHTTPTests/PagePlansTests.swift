import Catalog
import HTTPTypes
import Hummingbird
import TestSupport
import Testing

@testable import CatalogHTTP

/// The plans of pages that routes remember, and the keys of the cache of pages.
@Suite(.timeLimit(.minutes(15))) struct PagePlansTests {
    private static let request = PageRequest(store: CatalogKey("s")!, shelf: CatalogKey("dairy")!)

    private static func basis(
        store: Int64 = 1,
        shelf: Int64 = 1,
        keys: Int64 = 0,
        sorts: RememberedSorts = .none
    ) -> PageBasis {
        let state = ShelfState(
            shelf: Shelf(key: CatalogKey("dairy")!, title: "Dairy"),
            productCount: 3,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: 0),
            version: shelf,
            orderVersion: 1,
            keyGeneration: keys
        )
        let head = ShelfHead(
            store: Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!),
            storeVersion: store,
            state: state
        )
        return PageBasis(head: head, sorts: sorts)
    }

    private static func sorts(_ text: String, _ filter: Filter = .none) throws -> RememberedSorts {
        RememberedSorts(shelf: RememberedSort(try Sort.parse(text), filter))
    }

    @Test("A plan is used again while the versions, the keys and the day are the same")
    func plansAreReused() throws {
        let plans = PagePlans(Self.request, path: "/a")
        let first = try plans.plan(Self.request, Self.basis(), day: 7)
        #expect(try plans.plan(Self.request, Self.basis(), day: 7) === first)
        for (basis, day) in [
            (Self.basis(), 8), (Self.basis(store: 2), 7), (Self.basis(shelf: 2), 7), (Self.basis(keys: 1), 7),
        ] {
            let plans = PagePlans(Self.request, path: "/a")
            let before = try plans.plan(Self.request, Self.basis(), day: 7)
            let after = try plans.plan(Self.request, basis, day: day)
            #expect(before !== after)
            #expect(!before.isCurrent(basis, day: day) && after.isCurrent(basis, day: day))
            #expect(try plans.plan(Self.request, basis, day: day) === after)
        }
    }

    @Test("Users with different remembered sorts have different plans, of which four are kept")
    func plansOfUsers() throws {
        let plans = PagePlans(Self.request, path: "/a")
        let texts = ["name", "-name", "price", "-price", "brand"]
        var made: [TaggedPlan] = []
        for text in texts.prefix(4) {
            made.append(try plans.plan(Self.request, Self.basis(sorts: Self.sorts(text)), day: 7))
        }
        for (text, plan) in zip(texts, made) {
            #expect(try plans.plan(Self.request, Self.basis(sorts: Self.sorts(text)), day: 7) === plan, "\(text)")
            #expect(plan.plan.sort.description == text)
        }
        #expect(Set(made.map(\.tag)).count == 4)
        // A fifth one replaces the others.
        let fifth = try plans.plan(Self.request, Self.basis(sorts: Self.sorts(texts[4])), day: 7)
        #expect(try plans.plan(Self.request, Self.basis(sorts: Self.sorts(texts[4])), day: 7) === fifth)
        #expect(try plans.plan(Self.request, Self.basis(sorts: Self.sorts(texts[0])), day: 7) !== made[0])
    }

    @Test("A plan with a remembered filter is not kept")
    func filteredPlans() throws {
        let plans = PagePlans(Self.request, path: "/a")
        let basis = Self.basis(sorts: try Self.sorts("name", Filter([.inStock: .flag(true)])))
        #expect(try plans.plan(Self.request, basis, day: 7) !== (try plans.plan(Self.request, basis, day: 7)))
    }

    @Test("The user's remembered sort applies only if the target names no sort")
    func usersOfRequests() throws {
        let user = UserID("ann")!
        var named = Self.request
        named.sort = try Sort.parse("name")
        #expect(PagePlans(Self.request, path: "/a").request(by: user).user == user)
        #expect(PagePlans(Self.request, path: "/a").request(by: nil).user == nil)
        #expect(PagePlans(named, path: "/a").request(by: user).user == nil)
        #expect(PagePlans(named, path: "/a").request(by: user).sort == named.sort)
    }

    @Test("Everything that a page shows is part of its key")
    func keys() throws {
        func key(_ change: (inout PageRequest) throws -> Void, path: String = "/a") throws -> PageCache.Key {
            var request = Self.request
            try change(&request)
            return try PagePlans(request, path: path).plan(request, Self.basis(), day: 7).key
        }
        let keys = [
            try key { _ in }, try key({ _ in }, path: "/b"), try key { $0.limit = 3 }, try key { $0.wantsTotal = true },
            try key { $0.facets = [.brand] }, try key { $0.facets = [.tag] },
            try key { $0.sort = try Sort.parse("name") }, try key { $0.sort = try Sort.parse("-popularity") },
            try key { $0.filter = try Filter([.inStock: .flag(true)]) },
            try key { $0.includesDescendants = true }, try key { $0.collapsesGroups = true },
            try key { $0.collapsesGroups = false },
            try key {
                $0.collapsesGroups = true
                $0.wantsMembers = true
            },
        ]
        for (index, key) in keys.enumerated() {
            #expect(keys.firstIndex(of: key) == index)
        }
        #expect(keys[0].cost == 2 && keys[2].limit == 3 && keys[3].wantsTotal && keys[4].facets == [.brand])
        #expect(!keys[0].variant.namesSort && keys[6].variant.namesSort && keys[8].variant.namesFilter)
        #expect(keys[9].variant.includesDescendants && !keys[0].variant.includesDescendants)
        #expect(keys[10].variant.collapsesGroups == true && keys[12].wantsMembers && !keys[10].wantsMembers)
    }

    @Test("A page of up to a sixteenth of the cache, with 1,024 bytes of overhead and its path, is kept")
    func pagesAreLimited() throws {
        let key = try PagePlans(Self.request, path: "/a").plan(Self.request, Self.basis(), day: 7).key
        for (count, isKept) in [(974, true), (975, false)] {
            let cache = PageCache(limit: 16 * 2000)
            let body = [UInt8](repeating: 1, count: count)
            let page = cache.insert([.vary: "x"], body, key, tag: "\"t\"")
            #expect(page.body == body && page.tag == "\"t\"" && page.headers == [.vary: "x"])
            #expect(page.compressed == nil)
            #expect((cache.page(key, tag: "\"t\"") === page) == isKept)
            #expect(cache.page(key, tag: "\"u\"") == nil)
        }
    }

    @Test("A page is sent in its compressed form only to a client that accepts it")
    func compressedPages() async throws {
        let page = PageCache.Page(
            tag: "\"t\"",
            headers: [.eTag: "\"t\""],
            body: [1, 2],
            compressed: (headers: [.eTag: "\"t-gzip\"", .contentEncoding: "gzip"], body: [3])
        )
        let (plain, gzip) = (page.response(acceptsGzip: false), page.response(acceptsGzip: true))
        #expect(plain.status == .ok && gzip.status == .ok)
        #expect(try await plain.bytes() == [1, 2])
        #expect(try await gzip.bytes() == [3])
        #expect(plain.headers[.eTag] == "\"t\"" && plain.headers[.contentEncoding] == nil)
        #expect(gzip.headers[.eTag] == "\"t-gzip\"" && gzip.headers[.contentEncoding] == "gzip")
        let single = PageCache.Page(tag: "\"t\"", headers: [:], body: [1])
        #expect(try await single.response(acceptsGzip: true).bytes() == [1])
    }
}
