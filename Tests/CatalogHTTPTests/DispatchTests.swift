import Catalog
import Glibc
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import CatalogHTTP

/// The way of a request from its path to its handler.
@Suite(.timeLimit(.minutes(15))) struct DispatchTests {
    private static let user = Client.user(UserID("ann")!)

    @Test("A path, a method and a SKU that do not exist are named in their errors")
    func unknownTargets() async throws {
        let api = try await MemoryAPI.withShelf()
        let path = try await api.send(.get, "/v1/nothing")
        #expect(path.status == 404 && path.text("detail") == "unknown path")
        let method = try await api.send(.patch, "/v1/stores/s", "{}")
        #expect(method.status == 405 && method.text("detail") == "this path does not support PATCH")
        #expect(method.headers[.allow] == "HEAD, GET, PUT, DELETE, OPTIONS")
        #expect(try await api.send(.head, "/v1/stores/s/prices").status == 405)
        let sku = String(repeating: "x", count: 65)
        for method in [HTTPRequest.Method.put, .patch] {
            for parent in ["/v1/stores/s", "/v1/stores/s/shelves/dairy"] {
                guard method == .put || parent == "/v1/stores/s" else { continue }
                let response = try await api.send(method, "\(parent)/products/\(sku)", "{}")
                #expect(response.status == 400 && response.text("parameter") == "sku")
                #expect(response.text("detail") == "sku must be \(SKU.rule) (got “\(sku.prefix(64))”)")
            }
        }
        for method in [HTTPRequest.Method.get, .delete, .post] {
            #expect(try await api.send(method, "/v1/stores/s/products/\(sku)").status == 404)
        }
        let encoding = try await api.send(.get, "/v1/%zz")
        #expect(encoding.status == 400)
        #expect(encoding.text("detail") == "the path is not valid percent-encoded UTF-8")
    }

    @Test("An invalid query is charged, and a token that the storage does not know is not")
    func orderOfChecks() async throws {
        let clock = FakeClock()
        let api = await MemoryAPI {
            $0.rateLimit = RateLimitPolicy("100/1")
            $0.clock = { clock.now }
        }
        let limit = HTTPField.Name("RateLimit")!
        let query = try await api.send(.get, "/v1/stores?x=1", as: nil, from: "192.0.2.1")
        #expect(query.status == 400 && query.headers[limit]?.hasPrefix(#""default";r=99;"#) == true)
        let seen = try await api.send(.get, "/v1/stores", as: nil, ["Aisle-Seen": "x"], from: "192.0.2.1")
        #expect(seen.status == 400 && seen.headers[limit] == nil)
        let next = try await api.send(.get, "/v1/stores", as: nil, from: "192.0.2.1")
        #expect(next.headers[limit]?.hasPrefix(#""default";r=98;"#) == true)
        // Other errors of a charged request announce the quota, too.
        let method = try await api.send(.delete, "/v1/stores", as: nil, from: "192.0.2.1")
        #expect(method.status == 405 && method.headers[limit] == nil)
        let missing = try await api.send(.get, "/v1/stores/none", as: nil, from: "192.0.2.1")
        #expect(missing.status == 404 && missing.headers[limit]?.hasPrefix(#""default";r=97;"#) == true)
    }

    @Test("Whole orders and large bodies wait for no other large request, and other requests are not affected")
    func costlyRequests() async throws {
        let api = await MemoryAPI { $0.costlyLimit = 1 }
        _ = try await api.send(.put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#)
        _ = try await api.send(.put, "/v1/stores/s/shelves/dairy", #"{"title":"Dairy"}"#)
        let order = "/v1/stores/s/shelves/dairy/order?sort=name"
        let large = #"{"title":"S","currency":"EUR"}"# + String(repeating: " ", count: 64 << 10)
        let permit = try api.api.admission.costlyRequests.permit(for: .user(UserID("bob")!))
        #expect(try await api.send(.get, order).status == 503)
        #expect(try await api.send(.put, "/v1/stores/s", large).status == 503)
        #expect(try await api.send(.put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#).status == 200)
        #expect(try await api.send(.get, "/v1/stores/s/shelves/dairy/products").status == 200)
        permit.release()
        for _ in 0..<3 {
            #expect(try await api.send(.get, order).status == 200)
            #expect(try await api.send(.put, "/v1/stores/s", large).status == 200)
        }
        #expect(api.api.admission.costlyRequests.amount == 0)
    }

    @Test("Requests with bodies hold a permit for them until they end, and others need none")
    func bodyPermits() async throws {
        let api = await MemoryAPI { $0.rateLimit = .standard }
        let held = try (0..<Admission.bodiesPerClient).map { _ in try api.api.admission.body(for: Self.user) }
        let refused = try await api.send(.put, "/v1/me/settings/a", #"{"value":1}"#)
        #expect(refused.status == 429 && refused.text("type") == "/problems/too-many")
        #expect(refused.headers[.retryAfter] == "30")
        #expect(try await api.send(.get, "/v1/me/settings").status == 200)
        #expect(try await api.send(.put, "/v1/me/settings/a", #"{"value":1}"#, as: "bob").status == 200)
        withExtendedLifetime(held) {}
        #expect(api.api.admission.bodyBytes.amount == 0)
    }

    private final class Status: Sendable {
        let value = Mutex<Int?>(nil)
    }

    @Test("A rejected request is delayed, and no other one")
    func rejectionsAreDelayed() async throws {
        let clock = FakeClock()
        let api = await MemoryAPI {
            $0.rateLimit = RateLimitPolicy("1/1")
            $0.clock = { clock.now }
            $0.rejectionDelay = .seconds(600)
        }
        #expect(try await api.send(.get, "/v1/stores", as: nil, from: "192.0.2.1").status == 200)
        #expect(try await api.send(.get, "/v1/nothing", as: nil, from: "192.0.2.1").status == 404)
        #expect(api.api.admission.delays.amount == 0)
        let status = Status()
        let task = Task {
            let rejected = try await api.send(.get, "/v1/stores", as: nil, from: "192.0.2.1")
            status.value.withLock { $0 = rejected.status }
        }
        let deadline = ContinuousClock.now + .seconds(30)
        while api.api.admission.delays.amount == 0, ContinuousClock.now < deadline { await Task.yield() }
        #expect(api.api.admission.delays.amount == 1)
        #expect(status.value.withLock { $0 } == nil)
        task.cancel()
        try await task.value
        #expect(status.value.withLock { $0 } == 429 && api.api.admission.delays.amount == 0)
    }

    @Test("A read ends when its client disconnects, and a write goes on", arguments: [HTTPRequest.Method.get, .post])
    func abandonedRequests(method: HTTPRequest.Method) async throws {
        let call = try Call.sample(method, "/a", isAbandoned: true)
        let isCancelled = try await call.within(.seconds(600)) { call in
            let deadline = try #require(call.deadline)
            // The task may start before its cancellation is set up.
            let end = ContinuousClock.now + .seconds(30)
            var checks = 0
            while !Task.isCancelled, method == .get ? ContinuousClock.now < end : checks < 1000 {
                deadline.check(.now)
                checks += 1
                await Task.yield()
            }
            return Task.isCancelled
        }
        #expect(isCancelled == (method == .get))
    }

    @Test("The header Date has the current second")
    func dates() {
        let before = time(nil)
        let text = HTTPDate.now()
        let after = time(nil)
        #expect((before...after).contains { HTTPDate.text($0) == text })
    }
}
