import Catalog
import CatalogJSON
import HTTPTypes
import Hummingbird
import InMemoryCatalog
import JSON
import Live
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import CatalogHTTP

/// The endpoints of a demo on the in-memory catalog: tokens, days of prices, and who may use them.
@Suite(.timeLimit(.minutes(15))) struct DemoRequestTests {
    private static let secret = Array("a secret of thirty-two bytes, or more".utf8)
    private static let (store, other) = (CatalogKey("s")!, CatalogKey("r")!)

    private static func demo() -> Demo {
        func change(_ sku: String, _ price: Int64) -> PriceChange { PriceChange(sku: SKU(sku)!, priceMinor: price) }
        return Demo(
            signer: TokenSigner(secret: secret),
            storms: [
                store: [[change("milk", 90), change("gone", 1)], [change("milk", 100), change("brie", 7)]],
                other: [[change("x", 1)]], CatalogKey("empty")!: [],
            ]
        )
    }

    private static func api() async throws -> MemoryAPI {
        let api = await MemoryAPI { $0.demo = demo() }
        _ = try await api.send(.put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#)
        for sku in ["milk", "brie"] {
            _ = try await api.send(.put, "/v1/stores/s/products/\(sku)", #"{"name":"P","price_minor":100}"#)
        }
        return api
    }

    @Test("The features list the stores with price changes by their keys")
    func features() async throws {
        let response = try await Self.api().send(.get, "/demo?x=1", as: nil)
        #expect(response.status == 200 && response.headers[.cacheControl] == "no-store")
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"sessions":true,"storms":["r","s"]}"#)
        let none = try await MemoryAPI().send(.get, "/demo", as: nil)
        #expect(String(decoding: none.body, as: UTF8.self) == #"{"sessions":false,"storms":[]}"#)
    }

    @Test("A token is valid for 12 hours, and has the scope that was asked for")
    func tokens() async throws {
        let api = try await Self.api()
        let verifier = TokenVerifier(keys: TokenKeys(secrets: [Self.secret]))
        for (body, scopes) in [
            (#"{"user":"ann"}"#, []), (#"{"user":"ann","scope":null}"#, []),
            (#"{"user":"ann","scope":"order:write"}"#, [.orderWrite]),
        ] as [(String, Set<Scope>)] {
            let before = Timestamp.now().microseconds
            let response = try await api.send(.post, "/demo/tokens", body, as: nil)
            let after = Timestamp.now().microseconds
            #expect(response.status == 201 && response.headers[.cacheControl] == "no-store")
            #expect(response.headers[.contentType] == "application/json" && response.text("user") == "ann")
            let caller = try await verifier.verify(try #require(response.text("token")))
            #expect(caller.user.text == "ann" && caller.scopes == scopes && caller.stores == nil)
            #expect(caller.token.flatMap { UniqueID($0) } != nil)
            let end = try #require(response.text("expires_at").flatMap { Timestamp(rfc3339: $0) }).microseconds
            let hours: Int64 = 12 * 3_600_000_000
            #expect((before + hours...after + hours).contains(end))
            #expect(caller.expiresAt.microseconds == end / 1_000_000 * 1_000_000)
        }
        for (body, field, detail) in [
            ("{}", "user", "user must be 1 to 255 bytes of printable text"),
            (#"{"user":7}"#, "user", "user must be 1 to 255 bytes of printable text"),
            (
                #"{"user":"a","scope":"all"}"#, "scope",
                "scope must be one of: catalog:write, products:write, prices:write, purchases:write, order:write, audit:read"
            ),
            (
                #"{"user":"a","scope":["order:write"]}"#, "scope",
                "scope must be one of: catalog:write, products:write, prices:write, purchases:write, order:write, audit:read"
            ),
        ] {
            let response = try await api.send(.post, "/demo/tokens", body, as: nil)
            #expect(response.status == 422 && response.text("parameter") == field)
            #expect(response.text("detail") == detail)
        }
    }

    @Test("The days of prices are played in order, without products that are gone, and start over")
    func storms() async throws {
        let api = try await Self.api()
        for (day, changed, milk, brie) in [(1, 1, 90, 100), (2, 2, 100, 7), (1, 1, 90, 7)] {
            let response = try await api.send(.post, "/demo/stores/s/storm", "")
            #expect(response.status == 200 && response.headers[.cacheControl] == "no-store")
            #expect(
                String(decoding: response.body, as: UTF8.self) == #"{"day":\#(day),"days":2,"changed":\#(changed)}"#
            )
            #expect(try await api.send(.get, "/v1/stores/s/products/milk").text("price_minor") == "\(milk)")
            #expect(try await api.send(.get, "/v1/stores/s/products/brie").text("price_minor") == "\(brie)")
        }
        let none = try await api.send(.post, "/demo/stores/empty/storm", "")
        #expect(none.status == 404)
        #expect(none.text("detail") == "the demo has no price changes for store “empty”")
        #expect(try await api.send(.post, "/demo/stores/s/storm", "", writes: false).status == 403)
        #expect(try await api.send(.post, "/demo/stores/s/storm", "", as: nil).status == 401)
    }

    @Test("A day whose prices cannot be written is played again, and other stores keep their own days")
    func failedDays() async throws {
        struct Broken: Error {}
        let demo = Self.demo()
        await #expect(throws: Broken.self) { _ = try await demo.play(Self.store) { _ in throw Broken() } }
        let changes = Mutex<[Int]>([])
        let first = try #require(
            try await demo.play(Self.store) { day in
                changes.withLock { $0.append(day.count) }
                return 5
            }
        )
        #expect(first.number == 1 && first.count == 2 && first.changed == 5)
        #expect(changes.withLock { $0 } == [2])
        #expect(try await demo.play(Self.other) { _ in 1 }?.number == 1)
        #expect(try await demo.play(Self.store) { _ in 1 }?.number == 2)
        #expect(try await demo.play(CatalogKey("none")!) { _ in 1 } == nil)
        #expect(demo.stores == [Self.other, Self.store])
    }

    private static func post(_ api: MemoryAPI, authority: String, _ headers: [String: String]) async -> Int {
        var head = HTTPRequest(method: .post, scheme: "http", authority: authority, path: "/demo/tokens")
        head.headerFields[.contentLength] = "14"
        for (name, value) in headers { head.headerFields[HTTPField.Name(name)!] = value }
        let body = RequestBody(buffer: ByteBuffer(string: #"{"user":"ann"}"#))
        return await api.api.respond(to: Request(head: head, body: body)).status.code
    }

    @Test(
        "Only requests to this machine from its own pages, without a proxy, get a token",
        arguments: [
            ("localhost:8080", [:], 201), ("127.0.0.1", [:], 201), ("[::1]:80", [:], 201), ("10.0.0.1", [:], 403),
            ("shop.example", [:], 403), ("localhost:8080", ["Origin": "http://localhost:8080"], 201),
            ("localhost:8080", ["Origin": "http://localhost"], 403),
            ("localhost:8080", ["Origin": "https://localhost:8080"], 403), ("localhost", ["Forwarded": "for=x"], 403),
            ("localhost", ["Via": "1.1 a"], 403), ("localhost", ["X-Forwarded-For": "127.0.0.1"], 403),
            ("localhost", ["X-Forwarded-Host": "a"], 403), ("localhost", ["X-Real-IP": "127.0.0.1"], 403),
        ] as [(String, [String: String], Int)]
    )
    func localRequests(authority: String, headers: [String: String], status: Int) async throws {
        #expect(await Self.post(try await Self.api(), authority: authority, headers) == status)
    }

    @Test(
        "A loopback address is this machine's",
        arguments: [
            ("localhost", true), ("LOCALHOST", true), ("::1", true), ("127.0.0.1", true), ("127.255.0.9", true),
            ("127.0.0", false), ("127.0.0.256", false), ("127.0.0.1.2", false), ("128.0.0.1", false), ("", false),
            ("::2", false), ("127.0..1", false), ("localhost.example", false),
        ]
    )
    func loopback(host: String, isLoopback: Bool) { #expect(Demo.isLoopback(host) == isLoopback) }
}
