import CatalogHTTP
import HTTPTypes
import Platform
import Synchronization
import Telemetry
import Testing
import Tracing

/// The traces of requests, on the in-memory catalog.
@Suite(.timeLimit(.minutes(2))) struct TraceTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let parent = "00-\(trace)-b7ad6b7169203331-"
    private static let header = HTTPField.Name("traceparent")!

    private final class Spans: Sendable {
        private let spans = Mutex<[FinishedSpan]>([])

        func receive(_ span: FinishedSpan) { spans.withLock { $0.append(span) } }

        /// Returns the spans so far, each after its children, and forgets them.
        func take() -> [FinishedSpan] {
            spans.withLock { spans in
                defer { spans = [] }
                return spans.flatMap { $0.children + [$0] }
            }
        }
    }

    private static func attributes(_ span: FinishedSpan) -> [String: SpanAttribute] {
        Dictionary(uniqueKeysWithValues: span.fields.map { ($0.name.description, $0.value) })
    }

    /// Returns an API with a tracer, and a store with a shelf.
    private static func api(_ sampler: TraceSampler = TraceSampler(.always)) async throws -> (MemoryAPI, Spans) {
        let spans = Spans()
        let api = await MemoryAPI { $0.tracer = AisleTracer(sampler, receive: spans.receive) }
        _ = try await api.send(.put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#)
        _ = try await api.send(.put, "/v1/stores/s/shelves/dairy", #"{"title":"Dairy"}"#)
        _ = spans.take()
        return (api, spans)
    }

    @Test("A page has a span that continues the client's trace, and a child for its rendering")
    func tracesPages() async throws {
        let (api, spans) = try await Self.api()
        let response = try await api.send(
            .get,
            "/v1/stores/s/shelves/dairy/products?sort=price",
            nil,
            ["traceparent": Self.parent + "01", "tracestate": "v=1", "X-Request-Id": "r1"]
        )
        #expect(response.status == 200)
        let ended = spans.take()
        let request = try #require(ended.last)
        #expect(ended.map(\.name) == ["render page", "GET /v1/stores/{store}/shelves/{shelf}/products"])
        #expect(ended.map(\.position.trace.text) == [Self.trace, Self.trace])
        #expect(ended.map(\.position.state) == ["v=1", "v=1"])
        #expect(ended.map(\.parent?.text) == [request.position.span.text, "b7ad6b7169203331"])
        #expect(request.kind == .server)
        #expect(ended[0].start >= request.start && ended[0].end <= request.end)
        #expect(response.headers[Self.header] == request.position.text)
        #expect(
            Self.attributes(request) == [
                "http.request.method": "GET", "http.response.status_code": 200,
                "http.route": "/v1/stores/{store}/shelves/{shelf}/products",
                "url.path": "/v1/stores/s/shelves/dairy/products", "aisle.request_id": "r1",
            ]
        )
        #expect(request.status == nil)
    }

    @Test("A request that the client does not sample has no span, and continues the trace in its response")
    func respectsTheClientsDecision() async throws {
        let (api, spans) = try await Self.api()
        let response = try await api.send(.get, "/v1/stores", nil, ["traceparent": Self.parent + "00"])
        #expect(spans.take().isEmpty)
        let header = try #require(response.headers[Self.header].flatMap { TraceParent($0) })
        #expect(header.trace.text == Self.trace)
        #expect(!header.isSampled)
    }

    @Test(
        "A hostile header begins a new trace",
        arguments: ["", "00-0-0-01", "ff-\(trace)-b7ad6b7169203331-01", "\(parent)01, \(parent)01", "\u{7F}", "x"]
    )
    func ignoresHostileHeaders(header: String) async throws {
        let (api, spans) = try await Self.api()
        let response = try await api.send(.get, "/v1/stores", nil, ["traceparent": header, "tracestate": header])
        #expect(response.status == 200)
        let span = try #require(spans.take().last)
        #expect(span.parent == nil)
        #expect(span.position.trace.text != Self.trace)
        #expect(span.position.state == nil)
    }

    @Test("The spans of errors, unknown paths and methods have a limited number of names, and no queries")
    func namesAreLimited() async throws {
        let (api, spans) = try await Self.api()
        _ = try await api.send(.get, "/v1/stores/none?secret=1")
        _ = try await api.send(.get, "/secret/path")
        _ = try await api.send(HTTPRequest.Method("SECRET")!, "/v1/stores")
        let ended = spans.take().filter { $0.kind == .server }
        #expect(ended.map(\.name) == ["GET /v1/stores/{store}", "GET", "_OTHER"])
        #expect(ended.map { Self.attributes($0)["http.response.status_code"] } == [400, 404, 405])
        #expect(ended.allSatisfy { $0.status == nil })
        for (name, value) in ended.flatMap(Self.attributes) {
            #expect(!"\(value)".lowercased().contains("secret"), "\(name)")
        }
    }

    @Test("The span of a user's own data does not name its path, the user or the token")
    func personalDataIsLeftOut() async throws {
        let (api, spans) = try await Self.api()
        #expect(try await api.send(.put, "/v1/me/settings/private", #"{"value":1}"#, as: "ann").status < 300)
        let span = try #require(spans.take().last)
        #expect(span.name == "PUT /v1/me/settings/{key}")
        for (name, value) in Self.attributes(span) where name != "aisle.request_id" {
            #expect(!["private", "ann", "Bearer"].contains { "\(value)".contains($0) }, "\(name)")
        }
        #expect(Self.attributes(span)["url.path"] == nil)
    }

    @Test("Without a tracer, responses have no header of a trace, and no request has a recorder")
    func isOffByDefault() async throws {
        let api = try await MemoryAPI.withShelf()
        let response = try await api.send(.get, "/v1/stores", nil, ["traceparent": Self.parent + "01"])
        #expect(response.headers[Self.header] == nil)
    }

    @Test(
        "With a limit for slow requests, requests that are not sampled keep their position in the trace and have no spans"
    )
    func slowRequestsWithoutSpans() async throws {
        let spans = Spans()
        let api = await MemoryAPI {
            $0.tracer = AisleTracer(TraceSampler(.never), receive: spans.receive)
            $0.slowRequest = .zero
        }
        let response = try await api.send(.get, "/v1/stores")
        #expect(response.status == 200)
        #expect(spans.take().isEmpty)
        #expect(response.headers[Self.header]?.hasSuffix("-02") == true)
    }

    @Test("A page from another origin may send and read the header")
    func corsAllowsTheHeader() async throws {
        let api = await MemoryAPI { $0.origins = ["https://shop.example"] }
        let headers = ["Origin": "https://shop.example", "Access-Control-Request-Method": "GET"]
        let preflight = try await api.send(.options, "/v1/stores", nil, headers)
        #expect(preflight.headers[.accessControlAllowHeaders]?.contains("traceparent, tracestate") == true)
        let response = try await api.send(.get, "/v1/stores", nil, headers)
        #expect(response.headers[.accessControlExposeHeaders]?.contains("traceparent") == true)
    }
}
