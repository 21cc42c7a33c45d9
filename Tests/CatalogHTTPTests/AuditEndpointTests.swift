import JSON
import Catalog
import CatalogJSON
import HTTPTypes
import TestSupport
import Testing

@testable import CatalogHTTP

/// The endpoint of the audit log, on the in-memory catalog.
@Suite(.timeLimit(.minutes(15))) struct AuditEndpointTests {
    private static let path = "/v1/stores/s/audit"

    private func entries(_ response: MemoryAPI.Response) -> [JSONValue] { response.json["entries"]?.elements ?? [] }

    @Test("An entry says who changed what, from where, by which token and in which request")
    func originIsRecorded() async throws {
        let api = await MemoryAPI { $0.trustedProxies = TrustedProxies([NetworkRange("10.0.0.0/8")!]) }
        _ = try await api.send(.put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#)
        let response = try await api.send(
            .put,
            "/v1/stores/s/products/milk",
            #"{"name":"Milk","price_minor":129}"#,
            as: "mia",
            ["X-Request-Id": "r 7", "X-Forwarded-For": "203.0.113.9, 2001:db8::5, 10.9.9.9"],
            from: "10.1.2.3"
        )
        #expect(response.status == 201)
        let log = try await api.send(.get, Self.path + "?subject=milk")
        #expect(log.status == 200)
        #expect(log.headers[.cacheControl] == "no-store")
        #expect(log.headers[.eTag] == nil)
        let entry = try #require(entries(log).first)
        #expect(entries(log).count == 1)
        #expect(entry["action"] == .string("product.create"))
        #expect(entry["source"] == .string("api"))
        #expect(entry["actor"] == .string("mia"))
        #expect(entry["address"] == .string("2001:db8::5"))
        #expect(entry["request_id"] == .string("r 7"))
        #expect(entry["token"]?.string?.wholeMatch(of: /sha256:[0-9a-f]{16}/) != nil)
        #expect(entry["detail"]?["new"]?["price_minor"] == .number("129"))
    }

    @Test("Pages follow each other, the latest entry first, and a cursor belongs to its conditions")
    func pagesFollow() async throws {
        let api = try await MemoryAPI.withShelf()
        let all = entries(try await api.send(.get, Self.path + "?limit=100"))
        #expect(all.count == 8)
        #expect(all.first?["action"] == .string("placement.create"))
        #expect(all.last?["action"] == .string("store.create"))
        var (paged, cursor): ([JSONValue], String?) = ([], nil)
        repeat {
            let page = try await api.send(.get, Self.path + "?limit=3" + (cursor.map { "&cursor=\($0)" } ?? ""))
            paged += entries(page)
            cursor = page.json["page"]?["next_cursor"]?.string
            if let cursor {
                let other = try await api.send(.get, Self.path + "?actor=ann&cursor=\(cursor)")
                #expect(other.status == 400)
                #expect(other.text("type") == "/problems/invalid-cursor")
            }
        } while cursor != nil
        #expect(paged == all)
    }

    @Test("Conditions are combined")
    func conditionsAreCombined() async throws {
        let api = try await MemoryAPI.withShelf()
        _ = try await api.send(.post, "/v1/stores/s/prices", #"[{"sku":"milk","price_minor":1}]"#, as: "bob")
        let found = try await api.send(.get, Self.path + "?action=prices.set&actor=bob&subject=milk")
        #expect(entries(found).count == 1)
        let at = try #require(entries(found).first?["at"]?.string)
        #expect(entries(try await api.send(.get, Self.path + "?actor=bob&since=\(at)")).count == 1)
        #expect(entries(try await api.send(.get, Self.path + "?actor=bob&until=\(at)")).isEmpty)
        #expect(entries(try await api.send(.get, Self.path + "?action=prices.set&actor=ann")).isEmpty)
    }

    @Test(
        "Invalid parameters are rejected by name",
        arguments: [
            ("since=yesterday", "since"), ("until=2026-13-01T00:00:00Z", "until"), ("action=prices", "action"),
            ("action=settings.change", "action"), ("actor=", "actor"), ("subject=a%01b", "subject"),
            ("actor=\(String(repeating: "x", count: 257))", "actor"), ("limit=0", "limit"), ("limit=101", "limit"),
            ("cursor=abc", "cursor"), ("user=ann", "user"), ("actor=a&actor=b", "actor"),
        ]
    )
    func invalidParameters(query: String, parameter: String) async throws {
        let api = try await MemoryAPI.withShelf()
        let response = try await api.send(.get, Self.path + "?" + query)
        #expect(response.status == 400)
        #expect(response.text("parameter") == parameter)
    }

    @Test("Reading needs the scope audit:read, which allows no writes")
    func scopeIsNeeded() async throws {
        let api = try await MemoryAPI.withShelf()
        func read(_ scopes: Set<Scope>, _ path: String = Self.path) async throws -> MemoryAPI.Response {
            try await api.send(.get, path, as: nil, ["Authorization": "Bearer \(api.token(of: "ann", scopes: scopes))"])
        }
        #expect(try await read([.auditRead]).status == 200)
        #expect(try await read([.catalogWrite]).status == 200)
        let denied = try await read(Set(Scope.allCases).subtracting([.auditRead, .catalogWrite]))
        #expect(denied.status == 403)
        #expect(denied.text("detail")?.contains("audit:read") == true)
        #expect(try await api.send(.get, Self.path, as: nil).status == 401)
        #expect(try await read([.auditRead], "/v1/stores/none/audit").status == 404)
        let token = api.token(of: "ann", scopes: [.auditRead])
        let write = try await api.send(
            .delete,
            "/v1/stores/s/products/milk",
            as: nil,
            ["Authorization": "Bearer \(token)"]
        )
        #expect(write.status == 403)
    }

    @Test("Requests that change nothing, and repeats with the same key, add no entry")
    func noChangeAddsNoEntry() async throws {
        let api = try await MemoryAPI.withShelf()
        let prices = #"[{"sku":"milk","price_minor":5}]"#
        for _ in 0..<2 {
            let response = try await api.send(.post, "/v1/stores/s/prices", prices, ["Idempotency-Key": "k"])
            #expect(response.status == 200)
        }
        let count = entries(try await api.send(.get, Self.path + "?limit=100")).count
        #expect(count == 9)
        _ = try await api.send(.post, "/v1/stores/s/prices", prices)
        _ = try await api.send(.put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#)
        _ = try await api.send(.put, "/v1/stores/s/shelves/dairy", #"{"title":"Dairy"}"#)
        _ = try await api.send(.put, "/v1/stores/s/shelves/dairy/products/milk")
        #expect(try await api.send(.delete, "/v1/stores/s/products/none").status == 404)
        #expect(try await api.send(.post, "/v1/stores/s/prices", #"[{"sku":"none","price_minor":5}]"#).status == 422)
        #expect(entries(try await api.send(.get, Self.path + "?limit=100")).count == count)
    }

    @Test(
        "An address is written in its usual form",
        arguments: [
            ("10.0.0.1", "10.0.0.1"), ("::ffff:10.0.0.1", "10.0.0.1"), ("2001:DB8:0:0::5", "2001:db8::5"),
            ("::1", "::1"),
            ("fe80::1%eth0", "fe80::1"),
        ]
    )
    func addressIsWritten(given: String, text: String) throws {
        #expect(try #require(NetworkAddress(given)).description == text)
    }
}
