import Catalog
import HTTPTypes
import Testing

@testable import CatalogHTTP

/// Requests of pages from other origins.
@Suite(.timeLimit(.minutes(15))) struct CORSTests {
    private static let origin = "https://shop.example"
    private static let preflight = ["Origin": origin, "Access-Control-Request-Method": "PUT"]

    /// The names in a list of a header.
    private static func names(_ header: String?) -> Set<String> {
        Set((header ?? "").split(separator: ",").map { $0.filter { $0 != " " } })
    }

    private static func api(_ origins: String...) async -> MemoryAPI { await MemoryAPI { $0.origins = origins } }

    @Test("A preflight from an allowed origin lists methods, headers and its lifetime")
    func preflights() async throws {
        for origins in [[Self.origin], ["*"], ["https://other.example", Self.origin]] {
            let api = await MemoryAPI { $0.origins = origins }
            let response = try await api.send(.options, "/v1/stores/s", as: nil, Self.preflight)
            #expect(response.status == 204 && response.body.isEmpty)
            #expect(response.headers[.accessControlAllowOrigin] == Self.origin)
            #expect(
                Self.names(response.headers[.accessControlAllowMethods]) == ["GET", "POST", "PUT", "PATCH", "DELETE"]
            )
            #expect(
                Self.names(response.headers[.accessControlAllowHeaders]) == [
                    "Aisle-Seen", "Authorization", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key",
                    "Last-Event-ID", "X-Request-Id", "traceparent", "tracestate",
                ]
            )
            #expect(response.headers[.accessControlMaxAge] == "600")
            #expect(response.headers[.allow] == "HEAD, GET, PUT, DELETE, OPTIONS")
            #expect(response.headers[.vary] == "Origin")
        }
    }

    @Test("A preflight from another origin, or without one, allows nothing")
    func otherPreflights() async throws {
        let api = await Self.api(Self.origin)
        for headers in [["Origin": "https://evil.example"], ["Origin": "null"], [:]] as [[String: String]] {
            let response = try await api.send(.options, "/v1/stores", as: nil, headers)
            #expect(response.status == 204)
            #expect(response.headers[.accessControlAllowOrigin] == nil)
            #expect(response.headers[.accessControlAllowMethods] == nil)
            #expect(response.headers[.accessControlAllowHeaders] == nil)
            #expect(response.headers[.accessControlMaxAge] == nil)
            #expect(response.headers[.allow] == "HEAD, GET, OPTIONS" && response.headers[.vary] == "Origin")
        }
    }

    @Test("The preflight of an unknown path is allowed, so that the browser sees its 404; another OPTIONS is not")
    func unknownPaths() async throws {
        let api = await Self.api(Self.origin)
        let preflight = try await api.send(.options, "/v1/nothing", as: nil, Self.preflight)
        #expect(preflight.status == 204 && preflight.headers[.allow] == nil)
        #expect(preflight.headers[.accessControlAllowOrigin] == Self.origin)
        #expect(try await api.send(.options, "/v1/nothing", as: nil, ["Origin": Self.origin]).status == 404)
        #expect(try await api.send(.get, "/v1/nothing", as: nil, Self.preflight).status == 404)
    }

    @Test("A response, also of an error, exposes its headers to an allowed origin and varies by it")
    func responses() async throws {
        let api = await Self.api(Self.origin)
        for (path, vary) in [
            ("/v1/stores", "Origin"), ("/nowhere", "Origin"), ("/openapi.json", "Accept-Encoding, Origin"),
        ] {
            let response = try await api.send(.get, path, as: nil, ["Origin": Self.origin])
            #expect(response.headers[.accessControlAllowOrigin] == Self.origin)
            #expect(
                Self.names(response.headers[.accessControlExposeHeaders]) == [
                    "Aisle-Seen", "ETag", "Link", "Location", "RateLimit", "RateLimit-Policy", "Retry-After",
                    "X-Request-Id", "traceparent",
                ]
            )
            #expect(response.headers[.vary] == vary)
            let other = try await api.send(.get, path, as: nil, ["Origin": "https://evil.example"])
            #expect(other.headers[.accessControlAllowOrigin] == nil)
            #expect(other.headers[.accessControlExposeHeaders] == nil)
            #expect(other.headers[.vary] == vary)
            #expect(try await api.send(.get, path, as: nil).headers[.vary] == vary)
        }
    }

    @Test("Without configured origins, responses do not vary by origin")
    func isOffByDefault() async throws {
        let api = await MemoryAPI()
        let response = try await api.send(.get, "/v1/stores", as: nil, ["Origin": Self.origin])
        #expect(response.headers[.vary] == nil && response.headers[.accessControlAllowOrigin] == nil)
        let preflight = try await api.send(.options, "/v1/stores", as: nil, Self.preflight)
        #expect(preflight.headers[.accessControlAllowOrigin] == nil && preflight.headers[.vary] == nil)
    }

    @Test("With any origin allowed, a request without one gets no header for it")
    func anyOrigin() async throws {
        let response = try await Self.api("*").send(.get, "/v1/stores", as: nil)
        #expect(response.headers[.accessControlAllowOrigin] == nil && response.headers[.vary] == "Origin")
    }
}
