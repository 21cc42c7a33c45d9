import Catalog
import CatalogJSON
import HTTPTypes
import Hummingbird
import InMemoryCatalog
import Live
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import CatalogHTTP

/// How reads and writes use the states of the storage, and what becomes of errors that are not the catalog's.
@Suite(.timeLimit(.minutes(15))) struct StateFlowTests {
    /// A source of states that records how it is used, and may fail.
    private final class States: StateSource {
        private let failure: (any Error)?
        let uses = Mutex<[String]>([])

        init(failure: (any Error)? = nil) { self.failure = failure }

        private func note(_ use: String) { uses.withLock { $0.append(use) } }

        /// The sum of the first bytes, so that the order and number of the tokens matter.
        func token(including tokens: [StateToken]) -> StateToken? {
            note("including \(tokens.map(\.bytes))")
            return tokens.contains(StateToken([9])) ? nil : StateToken([UInt8(100 + tokens.count)])
        }

        func performReads<T>(after token: StateToken?, _ body: () async throws -> T) async throws -> T {
            note("read after \(token.map { "\($0.bytes)" } ?? "any")")
            if let failure { throw failure }
            return try await body()
        }

        func performWrites<T>(
            _ body: (_ token: @Sendable () async -> StateToken) async throws -> T
        ) async throws -> T {
            note("write")
            return try await body { StateToken([7, 7]) }
        }

        func take() -> [String] {
            uses.withLock { uses in
                defer { uses = [] }
                return uses
            }
        }
    }

    private static let seen = HTTPField.Name("Aisle-Seen")!

    private struct Server {
        let api: CatalogAPI
        let observed: Observed

        func send(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ body: String = "",
            _ headers: [String: String] = [:]
        ) async -> Response {
            let expiry = Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000)
            let caller = Caller(user: UserID("ann")!, scopes: [.catalogWrite], expiresAt: expiry)
            let token = TokenSigner(secret: MemoryAPI.secret).token(for: caller)
            var head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
            head.headerFields[.authorization] = "Bearer \(token)"
            head.headerFields[.contentLength] = "\(body.utf8.count)"
            for (name, value) in headers { head.headerFields[HTTPField.Name(name)!] = value }
            return await api.respond(to: Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body))))
        }
    }

    /// The details of the requests that failed.
    private final class Observed: Sendable {
        let failures = Mutex<[String]>([])

        func receive(_ observation: HTTPObservation) {
            if case .requestFailed(_, let detail) = observation { failures.withLock { $0.append(detail) } }
        }
    }

    private static func server(_ states: States) async throws -> Server {
        let observed = Observed()
        let memory = await MemoryAPI(states: states, observer: Observer { observed.receive($0) })
        let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
        _ = try await memory.catalog.put(Store(key: store, title: "S", currency: Currency("EUR")!))
        _ = try await memory.catalog.put(Shelf(key: shelf, title: "X"), in: store)
        return Server(api: memory.api, observed: observed)
    }

    private static let page = "/v1/stores/s/shelves/x/products"

    @Test("Only reads that replicas may answer are reads of a state, and only changes are writes")
    func usesOfStates() async throws {
        let states = States()
        let server = try await Self.server(states)
        for (method, path, body, uses) in [
            (.get, Self.page, "", ["read after any"]), (.get, "/v1/stores", "", []),
            (.get, "/v1/me/settings", "", []),
            (.post, "/v1/order/diff", #"{"from":[],"to":[]}"#, []),
            (.post, "/v1/stores/s/shelves/x/order/diff", #"{"from":[],"to_sort":"name"}"#, ["read after any"]),
            (.put, "/v1/me/settings/a", #"{"value":1}"#, ["write"]),
        ] as [(HTTPRequest.Method, String, String, [String])] {
            let response = await server.send(method, path, body)
            #expect(response.status == .ok, "\(path)")
            #expect(states.take() == uses, "\(path)")
            #expect(response.headers[Self.seen] == (uses == ["write"] ? Base64URL.encode([7, 7]) : nil))
        }
    }

    @Test("A read is at least as new as all states that the client names, which may be 16")
    func readsFollowSeenStates() async throws {
        let states = States()
        let server = try await Self.server(states)
        let tokens = (1...17).map { Base64URL.encode([1, UInt8($0)]) }
        let two = await server.send(.get, Self.page, "", ["Aisle-Seen": "\(tokens[0]) ,\t\(tokens[1])"])
        #expect(two.status == .ok)
        #expect(states.take() == ["including [[1, 1], [1, 2]]", "read after [102]"])
        let most = await server.send(.get, Self.page, "", ["Aisle-Seen": tokens.prefix(16).joined(separator: ",")])
        #expect(most.status == .ok)
        #expect(states.take().last == "read after [116]")
        let unknown = Base64URL.encode([9])
        for value in [
            tokens.joined(separator: ","), unknown, "\(tokens[0]),!", "!\(String(repeating: "x", count: 70))",
        ] {
            let response = await server.send(.get, Self.page, "", ["Aisle-Seen": value])
            #expect(response.status == .badRequest)
            let text = String(decoding: try await response.bytes(), as: UTF8.self)
            #expect(
                text.contains(
                    "Aisle-Seen must be the value of that header in an earlier response, or up to 16 of them (got “\(value.prefix(64))”)"
                )
            )
            #expect(text.contains(#""parameter":"Aisle-Seen""#))
            #expect(!states.take().contains { $0.hasPrefix("read") })
        }
    }

    @Test("A failed write names the state that it contradicts, and other failures name none")
    func failedWrites() async throws {
        let server = try await Self.server(States())
        for (path, body, headers, status, isSeen) in [
            ("/v1/me/settings/a", #"{"value":1}"#, ["If-Match": "*"], 412, true),
            ("/v1/me/settings/a", #"{"value":null}"#, [:], 422, false),
            ("/v1/me/settings/a", "{", [:], 400, false),
        ] as [(String, String, [String: String], Int, Bool)] {
            let response = await server.send(.put, path, body, headers)
            #expect(response.status.code == status)
            #expect(response.headers[Self.seen] == (isSeen ? Base64URL.encode([7, 7]) : nil))
        }
        let missing = await server.send(.delete, "/v1/me/settings/a")
        #expect(missing.status == .notFound && missing.headers[Self.seen] == nil)
    }

    private struct Surprise: Error { var text = "secret" }

    @Test("An error that no layer expects is logged as it is, and the client learns nothing of it")
    func unexpectedErrors() async throws {
        let server = try await Self.server(States(failure: Surprise()))
        let response = await server.send(.get, Self.page)
        #expect(response.status == .internalServerError)
        let text = String(decoding: try await response.bytes(), as: UTF8.self)
        #expect(text.contains("an internal error occurred; report the request_id") && !text.contains("secret"))
        let failures = server.observed.failures.withLock { $0 }
        #expect(failures.count == 1 && failures.first?.contains("Surprise(text: \"secret\")") == true)
    }

    @Test("A cancelled request is unavailable, and a body above the server's own limit is too large")
    func otherErrors() async throws {
        for (failure, status, detail) in [
            (CancellationError(), 503, "the service is overloaded or its database is unreachable"),
            (NIOTooManyBytesError(maxBytes: 7), 413, "the body exceeds the limit of 1048576 bytes"),
            (HTTPError(.contentTooLarge), 413, "the body exceeds the limit of 1048576 bytes"),
            (HTTPError(.badRequest), 500, "an internal error occurred; report the request_id"),
            (CatalogError.readOnly, 503, "the database is read-only; nothing was changed"),
            (Problem(.conflict, "own"), 409, "own"),
        ] as [(any Error, Int, String)] {
            let server = try await Self.server(States(failure: failure))
            let response = await server.send(.get, Self.page)
            #expect(response.status.code == status, "\(failure)")
            let text = String(decoding: try await response.bytes(), as: UTF8.self)
            #expect(text.contains("\"detail\":\"\(detail)\""), "\(failure)")
            #expect(response.headers[.connection] == (status == 413 ? "close" : nil))
            #expect(server.observed.failures.withLock { $0.isEmpty } == (status != 500))
        }
    }
}
