import Catalog
import HTTPTypes
import Site
import Testing

@testable import CatalogHTTP

/// The cost and the limits of requests of each endpoint.
@Suite(.timeLimit(.minutes(15))) struct EndpointPolicyTests {
    /// The policy of an endpoint as text: points, time limit, and what differs from most endpoints.
    private static func policy(_ endpoint: Endpoint) -> String {
        var words = ["\(endpoint.cost)", endpoint.timeLimit.map { "\($0.components.seconds) s" } ?? "no limit"]
        if case .large = endpoint.bodyLimit { words.append("large body") }
        if endpoint.isCostly { words.append("costly") }
        if endpoint.runsOnEventLoop { words.append("event loop") }
        if endpoint.isReadOnly { words.append("read") }
        return words.joined(separator: ", ")
    }

    /// A page costs 1 point, a write 3 to 20, an order 10, a diff 10 to 20, an import 100. The time limits are those of `TimeLimit`
    /// with the 10 seconds for a connection and the body.
    private static let policies: [String: String] = {
        let (store, shelf) = ("/v1/stores/{store}", "/v1/stores/{store}/shelves/{shelf}")
        let (product, list) = ("/v1/stores/{store}/products/{sku}", "/v1/me/lists/{list}")
        let (setting, sort) = ("/v1/me/settings/{key}", "/v1/me/stores/{store}/shelves/{shelf}/sort")
        return [
            "GET \(shelf)/products": "1, no limit, event loop, read",
            "GET \(shelf)/order": "10, 40 s, costly, read",
            "GET \(shelf)/order/diff": "10, 40 s, large body, costly, read",
            "POST \(shelf)/order/diff": "20, 40 s, large body, costly, read",
            "POST \(shelf)/order/rank": "10, 40 s, costly, read",
            "POST /v1/order/diff": "20, 40 s, large body, costly, read",
            "PUT \(shelf)/order": "5, 40 s, large body",
            "POST \(shelf)/order/moves": "5, 40 s, large body",
            "POST \(shelf)/order/undo": "5, 40 s, large body",
            "GET \(shelf)/order/changes": "1, 20 s, read",
            "GET /v1/stores": "1, no limit, read",
            "GET \(store)": "1, no limit, read",
            "PUT \(store)": "20, 310 s",
            "DELETE \(store)": "20, 310 s",
            "GET \(store)/shelves": "1, no limit, read",
            "POST \(store)/shelves/order/moves": "5, 20 s, large body",
            "GET \(shelf)": "1, no limit, read",
            "PUT \(shelf)": "5, 20 s",
            "PATCH \(shelf)": "5, 20 s",
            "DELETE \(shelf)": "5, 20 s",
            "GET \(store)/products": "2, 40 s, read",
            "GET \(product)": "1, no limit, read",
            "PUT \(product)": "5, 20 s",
            "PATCH \(product)": "5, 20 s",
            "DELETE \(product)": "5, 20 s",
            "GET /v1/attributes": "1, 20 s, read",
            "GET /v1/attributes/{attribute}": "1, 20 s, read",
            "PUT /v1/attributes/{attribute}": "20, 70 s",
            "DELETE /v1/attributes/{attribute}": "20, 40 s",
            "GET \(store)/attributes": "1, 20 s, read",
            "GET \(store)/attributes/{attribute}": "1, 20 s, read",
            "PUT \(store)/attributes/{attribute}": "20, 70 s",
            "DELETE \(store)/attributes/{attribute}": "20, 40 s",
            "GET \(store)/suggest": "2, 40 s, read",
            "GET /v1/synonyms": "1, 20 s, read",
            "PUT /v1/synonyms": "5, 20 s",
            "DELETE /v1/synonyms": "5, 20 s",
            "GET \(store)/synonyms": "1, 20 s, read",
            "PUT \(store)/synonyms": "5, 20 s",
            "DELETE \(store)/synonyms": "5, 20 s",
            "PUT \(shelf)/products/{sku}": "5, 20 s",
            "DELETE \(shelf)/products/{sku}": "5, 20 s",
            "GET /v1/me/settings": "2, 20 s, read",
            "PUT /v1/me/settings": "10, 20 s",
            "GET \(setting)": "1, 20 s, read",
            "PUT \(setting)": "3, 20 s",
            "DELETE \(setting)": "3, 20 s",
            "GET \(sort)": "1, 20 s, read",
            "PUT \(sort)": "5, 20 s",
            "DELETE \(sort)": "3, 20 s",
            "GET /v1/me/lists": "2, 20 s, read",
            "POST /v1/me/lists": "3, 20 s",
            "POST /v1/me/lists/order/moves": "3, 20 s",
            "POST /v1/me/lists/join": "3, 20 s",
            "GET \(list)": "2, 20 s, read",
            "PATCH \(list)": "3, 20 s",
            "DELETE \(list)": "3, 20 s",
            "GET \(list)/items": "2, 20 s, read",
            "POST \(list)/items": "3, 20 s",
            "PATCH \(list)/items": "3, 20 s",
            "GET \(list)/items/{item}": "2, 20 s, read",
            "PATCH \(list)/items/{item}": "3, 20 s",
            "DELETE \(list)/items/{item}": "3, 20 s",
            "POST \(list)/order/moves": "3, 20 s",
            "GET \(list)/shares": "2, 20 s, read",
            "POST \(list)/shares": "3, 20 s",
            "DELETE \(list)/shares/{share}": "3, 20 s",
            "POST /v1/me/tickets": "3, 20 s",
            "POST /v1/me/merge": "20, 70 s",
            "GET /v1/me/export": "20, 40 s, read",
            "DELETE /v1/me": "20, 70 s",
            "GET /v1/me/events": "5, 20 s, read",
            "GET \(shelf)/events": "5, 20 s, read",
            "GET /v1/import-profiles": "1, 20 s, read",
            "GET /v1/import-profiles/{name}": "1, 20 s, read",
            "PUT /v1/import-profiles/{name}": "5, 20 s",
            "DELETE /v1/import-profiles/{name}": "5, 20 s",
            "POST \(store)/imports": "100, 1800 s",
            "POST \(store)/purchases": "20, 70 s, large body",
            "POST \(store)/prices": "20, 130 s, large body",
            "GET \(store)/audit": "5, 40 s, read",
            "POST /demo/tokens": "1, 20 s",
            "POST /demo/stores/{store}/storm": "20, 70 s",
            "GET /livez": "1, no limit, event loop, read",
            "GET /readyz": "1, no limit, event loop, read",
        ]
    }()

    @Test("Each endpoint has its cost, time limit and body limit, and only short reads run on event loops")
    func endpointsHavePolicies() async {
        var missing = Set(Self.policies.keys)
        for endpoint in await MemoryAPI().api.table.endpoints {
            let name = "\(endpoint.method.rawValue) \(endpoint.path)"
            missing.remove(name)
            // Web pages and documents are free, and come from memory.
            let expected = Self.policies[name] ?? (endpoint.isCharged ? "add \(name)" : "1, no limit, read")
            #expect(Self.policy(endpoint) == expected, "\(name)")
        }
        #expect(missing.isEmpty)
    }

    @Test("Only probes, pages, documents and the demo's own endpoints are free")
    func onlyOpenEndpointsAreFree() async {
        let free = await MemoryAPI().api.table.endpoints.filter { !$0.isCharged }
        #expect(free.allSatisfy { !$0.path.hasPrefix("/v1/") })
        #expect(Set(free.filter { $0.method != .get }.map(\.path)) == ["/demo/tokens"])
        let others = await MemoryAPI().api.table.endpoints.filter { !$0.path.hasPrefix("/v1/") && $0.isCharged }
        #expect(others.map(\.path) == ["/demo/stores/{store}/storm"])
        #expect(free.count { $0.operation == nil } == WebAsset.allCases.count + 4)
    }

    private static func endpoint(cost: Int, surcharge: Int = 0, isCostly: Bool = false) -> Endpoint {
        Endpoint(.post, "/a", .open, nil, cost: cost, surcharge: { _ in surcharge }, isCostly: isCostly) { _ in
            .noContent
        }
    }

    @Test(
        "A request costs its base, its surcharge and a point for every 64 KiB of its body, up to the limit",
        arguments: [
            (0, 7), (65_535, 7), (65_536, 8), (131_071, 8), (131_072, 9), (1 << 20, 23), (1 << 30, 23), (nil, 23),
        ] as [(Int?, Int)]
    )
    func pointsOfRequests(length: Int?, points: Int) throws {
        let endpoint = Self.endpoint(cost: 5, surcharge: 2)
        let target = try RequestTarget(path: "/a", query: nil)
        #expect(endpoint.points(target, body: length, upTo: 1 << 20) == points)
    }

    @Test(
        "A completed request costs a point per 1,000 rows or per 8 KiB beyond the first 32 KiB, whichever is more",
        arguments: [
            (0, 0, 0), (999, 0, 0), (1000, 0, 1), (1999, 0, 1), (2000, 0, 2), (0, 32_768, 0), (0, 40_959, 0),
            (0, 40_960, 1), (0, 49_152, 2), (5000, 40_960, 5), (1000, 81_920, 6),
        ]
    )
    func pointsOfResponses(rows: Int, length: Int, points: Int) {
        #expect(Endpoint.points(rows: rows, responseLength: length) == points)
    }

    @Test("A request takes much time if its endpoint does, or if its body has 64 KiB or an unknown length")
    func costlyRequests() {
        let (small, large) = (Self.endpoint(cost: 1), Self.endpoint(cost: 1, isCostly: true))
        #expect(!small.isCostly(body: 0) && !small.isCostly(body: 65_535))
        #expect(small.isCostly(body: 65_536) && small.isCostly(body: nil))
        #expect(large.isCostly(body: 0))
    }

    @Test("The limit of large bodies is 16 MiB, or the standard one if that is larger")
    func bodyLimits() {
        #expect(Endpoint.BodyLimit.standard.bytes(1 << 20) == 1 << 20)
        #expect(Endpoint.BodyLimit.large.bytes(1 << 20) == 16 << 20)
        #expect(Endpoint.BodyLimit.large.bytes(32 << 20) == 32 << 20)
    }

    @Test("An endpoint has the standard limits, and changes something unless it is a GET")
    func endpointDefaults() {
        let get = Endpoint(.get, "/a", .open, nil) { _ in .noContent }
        let post = Endpoint(.post, "/a", .open, nil) { _ in .noContent }
        #expect(Self.policy(get) == "1, 20 s, read")
        #expect(Self.policy(post) == "1, 20 s")
        #expect(!get.readsReplicas && get.queryNames == nil)
    }

    @Test(
        "A list of all products costs extra only if it is sorted, searched, filtered, faceted, counted, collapsed or continued",
        arguments: [
            ("", 0), ("sku=a", 0), ("limit=3", 0), ("total=false", 0), ("total=maybe", 0), ("cursor=x", 0),
            ("sort=price", 4), ("q=a", 9), ("q=a&sort=price", 9), ("sort=price,name", 6), ("facets=brand", 13),
            ("brand=a", 6), ("in_stock=true", 6),
            ("collapse=true", 6), ("collapse=false", 0), ("members=true", 0), ("collapse=true&members=true", 15),
            ("total=true", 4), ("total", 4), ("facets=brand&brand=a&sort=price,name", 17),
        ]
    )
    func productListsAreCharged(query: String, surcharge: Int) async throws {
        let endpoints = await MemoryAPI().api.table.endpoints
        let list = try #require(endpoints.first { $0.path == "/v1/stores/{store}/products" })
        let target = try RequestTarget(path: "/v1/stores/s/products", query: query)
        #expect(list.surcharge(target) == surcharge)
    }

    @Test(
        "A page costs extra for facets, filters, several sort keys, descendants, groups and their members",
        arguments: [
            ("", 0), ("sort=price", 0), ("sort=price,name", 2), ("facets=brand", 9), ("brand=a", 2), ("total=true", 0),
            ("collapse=true", 2), ("collapse=false", 0), ("members=true", 9), ("collapse=true&members=true", 11),
            ("q=a", 5), ("q=a&facets=brand", 14), ("include=descendants", 4),
            ("include=descendants&facets=tag&tag=a&sort=name,price", 17),
        ]
    )
    func pagesAreCharged(query: String, surcharge: Int) async throws {
        let endpoints = await MemoryAPI().api.table.endpoints
        let page = try #require(endpoints.first { $0.path.hasSuffix("/shelves/{shelf}/products") })
        let target = try RequestTarget(path: "/v1/stores/s/shelves/dairy/products", query: query)
        #expect(page.surcharge(target) == surcharge)
    }

    @Test(
        "An order, its diffs and ranks, and its stream cost five points more with a search",
        arguments: ["order", "order/diff", "order/rank", "events"]
    )
    func searchesAreCharged(path: String) async throws {
        let endpoints = await MemoryAPI().api.table.endpoints.filter {
            $0.path.hasSuffix("/shelves/{shelf}/\(path)") && $0.takesFilters
        }
        #expect(!endpoints.isEmpty)
        for endpoint in endpoints {
            for (query, surcharge) in [("", 0), ("q=a", 5)] {
                let target = try RequestTarget(path: "/v1/stores/s/shelves/dairy/\(path)", query: query)
                #expect(endpoint.surcharge(target) == surcharge)
            }
        }
    }
}
