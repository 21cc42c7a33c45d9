import JSON
import Catalog
import CatalogHTTP
import CatalogJSON
import CatalogPostgres
import HTTPTypes
import NIOCore
import Testing
import TestSupport

/// The demo endpoints and their access rules.
@Suite(.timeLimit(.minutes(15))) struct DemoTests {
    private static let storms: [CatalogKey: [[PriceChange]]] = [
        CatalogKey("s")!: [
            [PriceChange(sku: SKU("a")!, priceMinor: 90), PriceChange(sku: SKU("gone")!, priceMinor: 1)],
            [PriceChange(sku: SKU("a")!, priceMinor: 100)],
        ],
        CatalogKey("empty")!: [],
    ]

    private func withDemo(
        _ body: @escaping @Sendable (any TestClient, PostgresCatalog) async throws -> Void
    ) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.products.put(
                Product(sku: SKU("a")!, name: "A", priceMinor: 100),
                in: CatalogKey("s")!
            )
            var options = CatalogAPI.Options()
            options.demo = Demo(signer: TokenSigner(secret: TestAPI.secret), storms: Self.storms)
            let api = await TestAPI.api(catalog.storage, importer: TestAPI.NoImports(), options: options)
            try await TestAPI.run(api) { try await body($0, catalog) }
        }
    }

    private func post(
        _ client: any TestClient,
        _ uri: String,
        _ body: String = "",
        _ headers: HTTPFields = [:]
    ) async throws -> (status: HTTPResponse.Status, body: JSONValue) {
        var headers = headers
        if !body.isEmpty { headers[.contentType] = "application/json" }
        let response = try await client.execute(
            uri: uri,
            method: .post,
            headers: headers,
            body: ByteBuffer(string: body)
        )
        return (response.status, try JSONReader.parse(Array(buffer: response.body)))
    }

    @Test("Demo endpoints are off unless configured")
    func demoIsOffByDefault() async throws {
        try await TestAPI.withServer { client, _ in
            let parts = try await client.execute(uri: "/demo", method: .get)
            #expect(String(buffer: parts.body) == #"{"sessions":false,"storms":[]}"#)
            for path in ["/demo/tokens", "/demo/stores/s/storm"] {
                let response = try await post(client, path, #"{"user":"ann"}"#)
                #expect(response.status == .notFound)
                #expect(response.body["detail"] == .string("this server is not a demo"))
            }
        }
    }

    @Test("A request from this machine gets a demo token")
    func localRequestGetsToken() async throws {
        try await withDemo { client, _ in
            let parts = try await client.execute(uri: "/demo", method: .get)
            #expect(String(buffer: parts.body) == #"{"sessions":true,"storms":["s"]}"#)
            let ann = try await post(client, "/demo/tokens", #"{"user":"ann"}"#)
            #expect(ann.status == .created)
            #expect(ann.body["user"] == .string("ann"))
            let token = try #require(ann.body["token"]?.string)
            let settings = try await client.execute(
                uri: "/v1/me/settings",
                method: .get,
                headers: [.authorization: "Bearer \(token)"]
            )
            #expect(settings.status == .ok)
            // Only a demo user's own token is issued.
            let storm = try await post(
                client,
                "/demo/stores/s/storm",
                "",
                [.authorization: "Bearer \(token)"]
            )
            #expect(storm.status == .forbidden)
            for body in [#"{}"#, #"{"user":""}"#, #"{"user":"a","scope":"all"}"#, #"{"user":"a","scope":1}"#] {
                #expect(try await post(client, "/demo/tokens", body).status == .unprocessableContent, "\(body)")
            }
        }
    }

    /// A page of another site that resolves its own name to this machine (DNS rebinding) gets nothing.
    @Test(
        "An authority that names this machine is accepted",
        arguments: ["localhost", "127.0.0.1:80", "127.1.2.3", "[::1]:8080", "[::1]", "LocalHost:1"]
    )
    func acceptsLoopbackAuthority(_ authority: String) { #expect(Demo.isLoopback(authority: authority)) }

    @Test(arguments: [
        "", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "192.168.1.2", "127.0.0.300",
        "127.0.0",
        "[::2]", "[::ffff:10.0.0.1]", "localhost@evil.example", "[::1", "::1.evil.example",
    ])
    func rejectsOtherAuthority(_ authority: String) { #expect(!Demo.isLoopback(authority: authority)) }

    /// Requests from pages of another site and through a proxy.
    @Test("A request from another origin or through a proxy is rejected")
    func rejectsOtherOriginsAndProxies() async throws {
        try await withDemo { client, _ in
            for (name, value) in [
                ("Origin", "https://evil.example"), ("Origin", "null"), ("Forwarded", "for=10.0.0.1"),
                ("X-Forwarded-For", "10.0.0.1"), ("Via", "1.1 proxy"),
            ] {
                let response = try await post(client, "/demo/tokens", #"{"user":"ann"}"#, [.init(name)!: value])
                #expect(response.status == .forbidden, "\(name): \(value)")
            }
        }
    }

    /// With concurrent requests, each day is played once and in order.
    @Test("Concurrent price storms are serialized")
    func concurrentStormsAreSerialized() async throws {
        try await withDemo { client, catalog in
            let days = try await withThrowingTaskGroup(of: JSONValue?.self) { group in
                for _ in 0..<8 { group.addTask { try await post(client, "/demo/stores/s/storm").body["day"] } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(days.count { $0 == .number("1") } == 4)
            #expect(days.count { $0 == .number("2") } == 4)
            let price = try await catalog.products.product(CatalogKey("s")!, SKU("a")!).product.priceMinor
            #expect(price == 100)
        }
    }

    @Test("The days of a price storm are played in order and restart at the end")
    func stormDaysRestartAtEnd() async throws {
        try await withDemo { client, catalog in
            for (day, price) in [(1, 90), (2, 100), (1, 90)] {
                let storm = try await post(client, "/demo/stores/s/storm")
                #expect(storm.status == .ok)
                #expect(storm.body["day"] == .number("\(day)"))
                #expect(storm.body["days"] == .number("2"))
                // Deleted products are skipped.
                #expect(storm.body["changed"] == .number("1"))
                let product = try await catalog.products.product(CatalogKey("s")!, SKU("a")!).product
                #expect(product.priceMinor == Int64(price))
            }
            #expect(try await post(client, "/demo/stores/empty/storm").status == .notFound)
        }
    }
}
