import Catalog
import CatalogJSON
import HTTPTypes
import Hummingbird
import InMemoryCatalog
import Live
import NIOCore
import Platform
import Synchronization
import Telemetry
import TestSupport
import Testing
import Tracing

@testable import CatalogHTTP

/// The observations of requests for logs and metrics.
@Suite(.timeLimit(.minutes(15))) struct ObservationTests {
    private final class Observations: Sendable {
        private let all = Mutex<[HTTPObservation]>([])

        func receive(_ observation: HTTPObservation) { all.withLock { $0.append(observation) } }

        /// Returns the observations so far, and forgets them.
        func take() -> [HTTPObservation] {
            all.withLock { all in
                defer { all = [] }
                return all
            }
        }
    }

    /// A storage that is as ready as a test says.
    private struct FixedReadiness: ReadinessSource {
        let value: Readiness
        func readiness() async -> Readiness { value }
    }

    /// An audit log that fails with an error of the server.
    private struct FaultyAudit: AuditStore {
        func audit(_ request: AuditRequest) async throws(CatalogError) -> AuditPage { throw .fault("secret text") }
    }

    private final class Spans: Sendable {
        let all = Mutex<[FinishedSpan]>([])

        func receive(_ span: FinishedSpan) { all.withLock { $0.append(span) } }
    }

    private struct Server {
        let api: CatalogAPI
        let observations: Observations

        /// Sends a request without a body from an address.
        func send(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ headers: [String: String] = [:],
            body: String = "",
            authority: String? = "localhost",
            isAbandoned: Bool = false
        ) async throws -> Response {
            var head = HTTPRequest(method: method, scheme: "http", authority: authority, path: path)
            for (name, value) in headers { head.headerFields[HTTPField.Name(name)!] = value }
            let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
            let peer = try SocketAddress(ipAddress: "192.0.2.1", port: 80)
            return await api.respond(to: request, nil, from: peer, nil) { isAbandoned }
        }

        /// Returns the completed requests of the observations, which are forgotten.
        func completed() -> [CompletedRequest] {
            observations.take().compactMap { if case .requestCompleted(let request) = $0 { request } else { nil } }
        }
    }

    private static func server(
        readiness: Readiness = .ready,
        _ change: (inout CatalogAPI.Options) -> Void = { _ in }
    ) async throws -> Server {
        let observations = Observations()
        let memory = await MemoryAPI(
            audit: FaultyAudit(),
            readiness: FixedReadiness(value: readiness),
            observer: Observer { observations.receive($0) },
            change
        )
        let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
        _ = try await memory.catalog.put(Store(key: store, title: "S", currency: Currency("EUR")!))
        _ = try await memory.catalog.put(Shelf(key: shelf, title: "X"), in: store)
        return Server(api: memory.api, observations: observations)
    }

    private static func bearer(_ scopes: Set<Scope> = []) -> String {
        let expiry = Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000)
        let caller = Caller(user: UserID("ann")!, scopes: scopes, expiresAt: expiry)
        return "Bearer " + TokenSigner(secret: MemoryAPI.secret).token(for: caller)
    }

    @Test("A request is observed when it starts and when it is completed, with its path, status and length")
    func requestsAreObserved() async throws {
        let server = try await Self.server()
        let response = try await server.send(.get, "/v1/stores/s?", ["X-Request-Id": "r 1"])
        #expect(response.headers[RequestID.header] == "r 1")
        let all = server.observations.take()
        #expect(all.count == 2 && all.first == .requestStarted)
        guard case .requestCompleted(let request)? = all.last else {
            Issue.record("the request was not observed")
            return
        }
        #expect(request.method == "GET" && request.path == "/v1/stores/s")
        #expect(request.endpoint == "/v1/stores/{store}" && request.status == 200)
        #expect(request.requestID == "r 1" && request.traceID == nil)
        #expect(request.client == nil && request.steps == nil)
        #expect(request.responseBytes == (try await response.bytes().count))
        #expect(request.duration > .zero && request.duration < .seconds(60))
    }

    @Test("The response to HEAD has the length of the other, and no bytes")
    func headRequests() async throws {
        let server = try await Self.server()
        let whole = try await server.send(.get, "/v1/stores")
        let head = try await server.send(.head, "/v1/stores")
        #expect(try await head.bytes().isEmpty)
        #expect(head.body.contentLength == whole.body.contentLength)
        #expect(head.headers[.eTag] == whole.headers[.eTag])
        let requests = server.completed()
        #expect(requests.map(\.responseBytes) == [whole.body.contentLength, 0])
        #expect(requests.map(\.method) == ["GET", "HEAD"])
        #expect(requests.map(\.endpoint) == ["/v1/stores", "/v1/stores"])
    }

    @Test("The path of a user's data, and an unknown one, are not observed")
    func pathsArePrivate() async throws {
        let server = try await Self.server()
        _ = try await server.send(.get, "/v1/me/settings/theme", ["Authorization": Self.bearer()])
        _ = try await server.send(.get, "/secret")
        _ = try await server.send(.delete, "/v1/stores/s/shelves")
        let requests = server.completed()
        #expect(requests.map(\.path) == [nil, nil, nil])
        #expect(requests.map(\.endpoint) == ["/v1/me/settings/{key}", nil, nil])
        #expect(requests.map(\.status) == [404, 404, 405])
    }

    @Test("The network of the client is observed only if that is configured")
    func clientsAreObserved() async throws {
        let server = try await Self.server {
            $0.observesClients = true
            $0.trustedProxies = TrustedProxies([NetworkRange("192.0.2.0/24")!])
        }
        _ = try await server.send(.get, "/livez")
        _ = try await server.send(.get, "/livez", ["X-Forwarded-For": "2001:db8:1:2:3::4"])
        // A user's address, too.
        _ = try await server.send(.get, "/v1/stores", ["Authorization": Self.bearer()])
        #expect(server.completed().map(\.client) == ["192.0.2.1", "2001:db8:1:2::/64", "192.0.2.1"])
    }

    @Test("A slow request is observed with its steps and its client")
    func slowRequests() async throws {
        let slow = try await Self.server { $0.slowRequest = .zero }
        _ = try await slow.send(.get, "/v1/stores/s")
        let request = try #require(slow.completed().first)
        #expect(request.client == "192.0.2.1")
        #expect(request.steps?.map(\.kind) == ["rendering"] && request.steps?.map(\.name) == ["JSON"])
        let step = try #require(request.steps?.first)
        #expect(step.duration <= request.duration)
        let fast = try await Self.server { $0.slowRequest = .seconds(600) }
        _ = try await fast.send(.get, "/v1/stores/s")
        let other = try #require(fast.completed().first)
        #expect(other.client == nil && other.steps == nil)
    }

    @Test("A request is slow from the limit on")
    func slowLimit() async throws {
        let api = try await Self.server { $0.slowRequest = .seconds(2) }.api
        let trace = RequestTrace(nil, recordsSteps: true, [:], .now)
        #expect(api.slowSteps(trace, .seconds(2)) == [])
        #expect(api.slowSteps(trace, .milliseconds(1999)) == nil)
        #expect(api.slowSteps(nil, .seconds(2)) == nil)
        #expect(try await Self.server().api.slowSteps(trace, .seconds(2)) == nil)
        #expect(RequestTrace(nil, recordsSteps: false, [:], .now) == nil)
    }

    @Test("A page says whether it came from the client, the cache or the shelf")
    func pagesAreObserved() async throws {
        let server = try await Self.server()
        let path = "/v1/stores/s/shelves/x/products?sort=price"
        let tag = try #require(try await server.send(.get, path).headers[.eTag])
        _ = try await server.send(.get, path)
        _ = try await server.send(.get, path, ["If-None-Match": tag])
        let results = server.observations.take().compactMap { observation -> String? in
            if case .pageReturned(let result) = observation { result.rawValue } else { nil }
        }
        #expect(results == ["rendered", "cached", "not_modified"])
    }

    @Test("An internal error is observed with its text and the request, which the response does not show")
    func faultsAreObserved() async throws {
        let server = try await Self.server()
        let headers = ["Authorization": Self.bearer([.auditRead]), "X-Request-Id": "r 2"]
        let response = try await server.send(.get, "/v1/stores/s/audit", headers)
        #expect(response.status == .internalServerError)
        let text = String(decoding: try await response.bytes(), as: UTF8.self)
        #expect(text.contains("/problems/fault") && !text.contains("secret"))
        #expect(server.observations.take().contains(.requestFailed(id: "r 2", detail: "secret text")))
    }

    @Test("A request that its client abandoned has the status 499 in logs only")
    func abandonedRequests() async throws {
        let server = try await Self.server(readiness: .unavailable)
        for (isAbandoned, status) in [(true, 499), (false, 503)] {
            let response = try await server.send(.get, "/readyz", isAbandoned: isAbandoned)
            #expect(response.status == .serviceUnavailable)
            #expect(server.completed().map(\.status) == [status])
        }
        // Other errors keep their status.
        _ = try await server.send(.get, "/nowhere", isAbandoned: true)
        #expect(server.completed().map(\.status) == [404])
    }

    @Test("The id of a trace is observed, and a failed request is an error in it")
    func tracesAreObserved() async throws {
        let spans = Spans()
        let tracer = AisleTracer(TraceSampler(.always), receive: spans.receive)
        let server = try await Self.server(readiness: .unavailable) { $0.tracer = tracer }
        _ = try await server.send(.get, "/readyz")
        _ = try await server.send(.get, "/livez")
        let ended = spans.all.withLock { $0 }
        #expect(ended.map { $0.status?.code == .error } == [true, false])
        let types = ended.map { span in span.fields.first { $0.name.description == "error.type" }?.value }
        #expect(types == ["503", nil])
        #expect(server.completed().map(\.traceID) == ended.map(\.position.trace.text))
        #expect(ended.allSatisfy { $0.children.isEmpty })
    }

    // MARK: - The Host header

    @Test(
        "A request needs exactly one host, which its target must not contradict",
        arguments: [
            (nil, "/livez", [:], "the Host header is required"), ("", "/livez", [:], "the Host header is required"),
            ("a", "/livez", ["Host": "a"], "the Host header must be given only once"),
            ("a", "http://b/livez", [:], "the request target and the Host header name different hosts"),
            ("a:80", "http://a/livez", [:], "the request target and the Host header name different hosts"),
            ("a:80", "http://A:80/livez", [:], nil), ("a", "/livez", [:], nil),
        ] as [(String?, String, [String: String], String?)]
    )
    func hosts(authority: String?, path: String, headers: [String: String], detail: String?) async throws {
        let server = try await Self.server()
        let response = try await server.send(.get, path, headers, authority: authority)
        #expect(response.status.code == (detail == nil ? 200 : 400))
        let text = String(decoding: try await response.bytes(), as: UTF8.self)
        if let detail { #expect(text.contains("\"detail\":\"\(detail)\"")) }
    }

    @Test("A large or endless body that nobody reads ends the connection after an error, and a small one does not")
    func unreadBodies() async throws {
        let server = try await Self.server { $0.bodyLimit = 100 }
        for (headers, path, closes) in [
            (["Content-Length": "100"], "/nowhere", false), (["Content-Length": "101"], "/nowhere", true),
            (["Transfer-Encoding": "chunked"], "/nowhere", true), ([:], "/nowhere", false),
            // Prices may be longer.
            (["Content-Length": "101"], "/v1/stores/s/prices", false),
            (["Content-Length": "16777217"], "/v1/stores/s/prices", true),
        ] as [([String: String], String, Bool)] {
            let response = try await server.send(.post, path, headers)
            #expect(response.status.code == (path == "/nowhere" ? 404 : 401))
            #expect(response.headers[.connection] == (closes ? "close" : nil), "\(headers)")
        }
    }

    // MARK: - Probes

    @Test(
        "A server is ready for what its storage allows",
        arguments: [
            (Readiness.ready, "/readyz", 200, nil), (.ready, "/readyz?for=writes", 200, nil),
            (.ready, "/readyz?for=reads", 200, nil), (.readOnly, "/readyz?for=reads", 200, nil),
            (.readOnly, "/readyz", 503, "read-only"), (.readOnly, "/readyz?for=writes", 503, "read-only"),
            (.unavailable, "/readyz?for=reads", 503, "unavailable"), (.unavailable, "/readyz", 503, "unavailable"),
        ] as [(Readiness, String, Int, String?)]
    )
    func probes(readiness: Readiness, path: String, status: Int, type: String?) async throws {
        let response = try await Self.server(readiness: readiness).send(.get, path)
        #expect(response.status.code == status)
        let text = String(decoding: try await response.bytes(), as: UTF8.self)
        if let type {
            #expect(text.contains("/problems/\(type)"))
            #expect(response.headers[.retryAfter] != nil)
        } else {
            #expect(text == "ok\n")
            #expect(response.headers[.contentType] == "text/plain; charset=utf-8")
            #expect(response.headers[.cacheControl] == "no-store")
        }
    }

    @Test("A draining server is not ready, whatever its storage is; another purpose is malformed")
    func draining() async throws {
        let server = try await Self.server()
        let wrong = String(repeating: "w", count: 65)
        let malformed = try await server.send(.get, "/readyz?for=\(wrong)")
        #expect(malformed.status == .badRequest)
        let text = String(decoding: try await malformed.bytes(), as: UTF8.self)
        #expect(text.contains("for must be reads or writes (got “\(wrong.prefix(64))”)"))
        #expect(text.contains(#""parameter":"for","allowed":["reads","writes"]"#))
        #expect(!server.api.options.drainState.isDraining)
        server.api.options.drainState.begin()
        #expect(server.api.options.drainState.isDraining)
        let response = try await server.send(.get, "/readyz")
        #expect(response.status == .serviceUnavailable && response.headers[.retryAfter] == "5")
        let reason = String(decoding: try await response.bytes(), as: UTF8.self)
        #expect(reason.contains("the server is draining; send requests to another server"))
        #expect(try await server.send(.get, "/livez").status == .ok)
    }
}
