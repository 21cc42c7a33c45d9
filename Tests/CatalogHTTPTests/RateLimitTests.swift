import Catalog
import HTTPTypes
import InMemoryCatalog
import TestSupport
import Testing

@testable import CatalogHTTP

@Suite("Rate limits", .timeLimit(.minutes(15))) struct RateLimitTests {
    private static let page = "/v1/stores/s/shelves/dairy/products"

    /// An API whose clients have a quota that does not refill, because its clock is stopped.
    private func api(_ points: Int) async -> MemoryAPI {
        let clock = FakeClock()
        return await MemoryAPI {
            $0.rateLimit = RateLimitPolicy("\(points)/1")
            $0.clock = { clock.now }
            $0.trustedProxies = TrustedProxies([NetworkRange("10.0.0.0/8")!])
        }
    }

    private func status(_ api: MemoryAPI, _ path: String, as user: String? = nil, from address: String) async throws
        -> Int
    {
        try await api.send(.get, path, nil, as: user, from: address).status
    }

    @Test("A client that exceeds its quota gets Retry-After; other clients are not affected")
    func quotaIsPerClient() async throws {
        let api = await api(20)
        for left in (10..<20).reversed() {
            let response = try await api.send(.get, "/v1/stores", nil, as: nil, from: "192.0.2.1")
            #expect(response.status == 200)
            #expect(response.headers[.rateLimitPolicy] == #""default";q=20;w=20"#)
            #expect(response.headers[.rateLimit]?.hasPrefix("\"default\";r=\(left);t=") == true)
        }
        // An order costs ten points.
        #expect(try await status(api, "/v1/stores/s/shelves/dairy/order", from: "192.0.2.1") == 404)
        let rejected = try await api.send(.get, "/v1/stores/s/shelves/dairy/order", nil, as: nil, from: "192.0.2.1")
        #expect(rejected.status == 429)
        #expect(rejected.text("type") == "/problems/rate-limited")
        #expect(rejected.headers[.retryAfter].flatMap { Int($0) }.map { (1...10).contains($0) } == true)
        #expect(rejected.headers[.rateLimit]?.hasPrefix(#""default";r=0;"#) == true)
        #expect(try await status(api, "/v1/stores", from: "192.0.2.2") == 200)
    }

    @Test("A user has one quota at all addresses, apart from the addresses' own")
    func userHasOneQuota() async throws {
        let api = await api(4)
        for number in 1...4 {
            #expect(try await status(api, "/v1/stores", as: "ann", from: "192.0.2.\(number)") == 200)
        }
        #expect(try await status(api, "/v1/stores", as: "ann", from: "192.0.2.9") == 429)
        #expect(try await status(api, "/v1/stores", as: "bob", from: "192.0.2.1") == 200)
        #expect(try await status(api, "/v1/stores", from: "192.0.2.1") == 200)
    }

    @Test("Behind a trusted proxy, each client has its quota")
    func proxyForwardsClients() async throws {
        let api = await api(2)
        for number in 1...5 {
            let headers = ["X-Forwarded-For": "198.51.100.\(number)"]
            for _ in 0..<2 {
                #expect(try await api.send(.get, "/v1/stores", nil, as: nil, headers, from: "10.0.0.1").status == 200)
            }
            #expect(try await api.send(.get, "/v1/stores", nil, as: nil, headers, from: "10.0.0.1").status == 429)
            // An untrusted peer's header is ignored.
            let lie = try await api.send(.get, "/v1/stores", nil, as: nil, headers, from: "192.0.2.1")
            #expect(lie.status == (number <= 2 ? 200 : 429))
        }
    }

    @Test("Guessing tokens costs the address, not the user")
    func guessingCosts() async throws {
        let api = await api(3)
        for expected in [401, 401, 401, 429] {
            let headers = ["Authorization": "Bearer x.y.z"]
            let response = try await api.send(.get, "/v1/me/settings", nil, as: nil, headers, from: "192.0.2.1")
            #expect(response.status == expected)
        }
        #expect(try await status(api, "/v1/me/settings", as: "ann", from: "192.0.2.1") == 200)
    }

    @Test("A request without the scope costs the user, not the address")
    func missingScopesCost() async throws {
        let api = await api(3)
        for expected in [403, 403, 403, 429] {
            let headers = ["Authorization": "Bearer \(api.token(of: "ann"))"]
            let path = "/v1/stores/s/products/x"
            let response = try await api.send(.delete, path, nil, as: nil, headers, from: "192.0.2.1")
            #expect(response.status == expected)
        }
        #expect(try await api.send(.get, "/v1/stores", nil, as: nil, from: "192.0.2.1").status == 200)
    }

    @Test("A page costs more with facets, filters and several sort keys")
    func surchargesAreCharged() async throws {
        for (query, cost) in [
            ("", 1), ("?sort=price", 1), ("?sort=price,-name", 3), ("?brand=x", 3), ("?facets=brand", 10),
            ("?facets=brand&brand=x&sort=price,-name", 14), ("?collapse=true", 3), ("?collapse=false", 1),
            ("?members=true", 10), ("?collapse=true&members=true&sort=price", 12),
        ] {
            let response = try await api(100).send(.get, Self.page + query, nil, as: nil, from: "192.0.2.1")
            #expect(response.headers[.rateLimit]?.hasPrefix("\"default\";r=\(100 - cost);") == true, "\(query)")
        }
    }

    @Test("A page of several shelves costs as much if its shelf asks for them as if its query does")
    func unionsAreCharged() async throws {
        let api = await api(1000)
        _ = try await api.send(.put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#)
        _ = try await api.send(.put, "/v1/stores/s/shelves/dairy", #"{"title":"Dairy","includes_descendants":true}"#)
        for (number, query) in ["", "?include=descendants"].enumerated() {
            let response = try await api.send(.get, Self.page + query, nil, as: nil, from: "192.0.2.\(number)")
            #expect(response.status == 200)
            #expect(response.headers[.rateLimit]?.hasPrefix("\"default\";r=995;") == true, "\(query)")
        }
    }

    @Test("A page of groups costs as much if its shelf asks for them as if its query does")
    func groupsAreCharged() async throws {
        let api = await api(1000)
        _ = try await api.send(.put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#)
        _ = try await api.send(.put, "/v1/stores/s/shelves/dairy", #"{"title":"Dairy","collapses_groups":true}"#)
        for (number, (query, rest)) in [("", 997), ("?collapse=true", 997), ("?collapse=false", 999)].enumerated() {
            let response = try await api.send(.get, Self.page + query, nil, as: nil, from: "192.0.2.\(number)")
            #expect(response.status == 200)
            #expect(response.headers[.rateLimit]?.hasPrefix("\"default\";r=\(rest);") == true, "\(query)")
        }
    }

    @Test("A large body costs extra, and one of unknown length as much as the largest")
    func bodiesAreCharged() async throws {
        let api = await api(1000)
        let body = #"{"from":["\#(String(repeating: "x", count: 200))"],"to":[]}"#
        let small = try await api.send(.post, "/v1/order/diff", body, as: nil, from: "192.0.2.1")
        #expect(small.headers[.rateLimit]?.hasPrefix(#""default";r=980;"#) == true)
        let ids = (0..<20_000).map { "\"\($0)-sku\"" }.joined(separator: ",")
        let large = #"{"from":[\#(ids)],"to":[]}"#
        let response = try await api.send(.post, "/v1/order/diff", large, as: nil, from: "192.0.2.2")
        let points = large.utf8.count >> 16 + (response.body.count - 32 << 10) >> 13
        #expect(response.headers[.rateLimit]?.hasPrefix("\"default\";r=\(980 - points);") == true)
    }

    @Test("A large response can leave a debt; the next request waits until it is repaid")
    func responsesAreCharged() async throws {
        let api = await api(30)
        let ids = (0..<20_000).map { "\"\($0)\"" }.joined(separator: ",")
        let body = #"{"from":[\#(ids)],"to":[]}"#
        let large = try await api.send(.post, "/v1/order/diff", body, as: nil, from: "192.0.2.1")
        #expect(large.status == 200)
        #expect(large.headers[.rateLimit]?.hasPrefix(#""default";r=0;"#) == true)
        let rejected = try await api.send(.get, "/v1/stores", nil, as: nil, from: "192.0.2.1")
        #expect(rejected.status == 429)
        #expect(rejected.headers[.retryAfter].flatMap { Int($0) }.map { (2...31).contains($0) } == true)
        #expect(try await status(api, "/v1/stores", from: "192.0.2.2") == 200)
    }

    @Test("Rows cost a point per thousand, however short the response is")
    func rowsHaveTheirPrice() {
        #expect(Endpoint.points(rows: 999, responseLength: 0) == 0)
        #expect(Endpoint.points(rows: 100_000, responseLength: 0) == 100)
        #expect(Endpoint.points(rows: 100_000, responseLength: 889_009) == 104)
        #expect(Endpoint.points(rows: 0, responseLength: 40_000) == 0)
    }

    @Test("Orders and diffs are charged for the rows that they read, even if they return nothing")
    func readsAreCharged() async throws {
        let api = await api(1_000_000)
        _ = try await api.send(.put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#)
        _ = try await api.send(.put, "/v1/stores/s/shelves/dairy", #"{"title":"Dairy"}"#)
        for number in 0..<1500 {
            let product = Product(sku: SKU("p\(number)")!, name: "P")
            try api.catalog.seed(product, in: CatalogKey("s")!, on: [CatalogKey("dairy")!])
        }
        let order = "/v1/stores/s/shelves/dairy/order"
        let tag = try #require(try await api.send(.get, order + "?sort=name", as: nil).headers[.eTag])
        let diff = order + "/diff?from_sort=name&to_sort=name"
        for (number, (path, status, cost)) in [(order + "?sort=name", 304, 11), (diff, 200, 13)].enumerated() {
            let address = "192.0.2.\(number)"
            let response = try await api.send(.get, path, nil, as: nil, ["If-None-Match": tag], from: address)
            #expect(response.status == status)
            #expect(response.headers[.rateLimit]?.hasPrefix("\"default\";r=\(1_000_000 - cost);") == true)
        }
    }

    @Test("Probes and the description cost nothing", arguments: ["/livez", "/readyz", "/openapi.json"])
    func probesAreFree(path: String) async throws {
        let api = await api(1)
        for _ in 0..<3 {
            let response = try await api.send(.get, path, nil, as: nil, from: "192.0.2.1")
            #expect(response.status == 200)
            #expect(response.headers[.rateLimit] == nil)
        }
    }

    @Test("Without a quota, nothing is limited or announced")
    func limitCanBeOff() async throws {
        let response = try await MemoryAPI().send(.get, "/v1/stores", nil, as: nil, from: "192.0.2.1")
        #expect(response.status == 200)
        #expect(response.headers[.rateLimitPolicy] == nil)
    }

    @Test("A client whose quota has refilled is served again")
    func quotaRefills() throws {
        let clock = FakeClock()
        let limiter = RateLimiter(RateLimitPolicy("2/1")!, clock: { clock.now })
        var quota: RateLimiter.Quota?
        for _ in 0..<2 { try limiter.charge(1, to: .local, &quota) }
        #expect(throws: Problem.self) { try limiter.charge(1, to: .local, &quota) }
        clock.advance(.seconds(1))
        #expect(throws: Never.self) { try limiter.charge(1, to: .local, &quota) }
        #expect(throws: Problem.self) { try limiter.charge(1, to: .local, &quota) }
    }
}
