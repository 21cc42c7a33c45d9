import JSON
import Catalog
import CatalogHTTP
import CatalogJSON
import CatalogPostgres
import HTTPTypes
import LibPQ
import NIOCore
import Testing
import TestSupport

/// Details of the contract where code and documentation once differed.
@Suite(.timeLimit(.minutes(5))) struct ContractTests {
    private static let json: HTTPFields = [.contentType: "application/json"]

    @discardableResult
    private func send(
        _ client: any TestClient,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        _ headers: HTTPFields = json
    ) async throws -> (status: HTTPResponse.Status, headers: HTTPFields, body: JSONValue) {
        let response = try await client.execute(
            uri: path,
            method: method,
            headers: body == nil ? [:] : headers,
            body: body.map { ByteBuffer(string: $0) }
        )
        return (response.status, response.headers, (try? JSONReader.parse(Array(buffer: response.body))) ?? .null)
    }

    /// A store with a shelf of two products.
    private func fill(_ client: any TestClient) async throws {
        try await send(client, .put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#)
        for sku in ["a", "b"] {
            try await send(client, .put, "/v1/stores/s/products/\(sku)", #"{"name":"\#(sku)","price_minor":100}"#)
        }
        try await send(client, .put, "/v1/stores/s/shelves/x", #"{"title":"X"}"#)
        for sku in ["a", "b"] { try await send(client, .put, "/v1/stores/s/shelves/x/products/\(sku)") }
    }

    @Test("An inherited default sort changes a page's entity tag, not the shelf's version")
    func inheritedSettingsChangeTheTag() async throws {
        try await TestAPI.withServer { client, _ in
            try await fill(client)
            let before = try await send(client, .get, "/v1/stores/s/shelves/x/products")
            try await send(client, .put, "/v1/stores/s", #"{"title":"S","currency":"EUR","default_sort":"-name"}"#)
            let after = try await send(client, .get, "/v1/stores/s/shelves/x/products")
            #expect(before.headers[.eTag] != after.headers[.eTag])
            #expect(before.body["version"] == after.body["version"])
            #expect(after.body["sort"]?["source"] == .string("store"))
        }
    }

    @Test("An Idempotency-Key reused with another path or query is rejected; a dry run is not recorded")
    func idempotencyKeysBelongToOneRequest() async throws {
        try await TestAPI.withServer { client, _ in
            try await fill(client)
            let headers: HTTPFields = [.contentType: "application/json", .init("Idempotency-Key")!: "k1"]
            let body = #"{"moves":[{"ids":["b"],"place":"first"}]}"#
            let path = "/v1/stores/s/shelves/x/order/moves"
            let first = try await send(client, .post, path, body, headers)
            let again = try await send(client, .post, path, body, headers)
            #expect(first.status == .ok)
            #expect(again.status == .ok)
            #expect(first.body == again.body)
            let other = try await send(client, .post, path + "?indexes=true", body, headers)
            #expect(other.status == .unprocessableContent)
            #expect(other.body["type"] == .string("/problems/idempotency-key-reused"))
            let csv: HTTPFields = [.contentType: "text/csv", .init("Idempotency-Key")!: "k2"]
            let dryRun = try await send(client, .post, "/v1/stores/s/imports?dry_run=true", "sku,name\nc,C\n", csv)
            let imported = try await send(client, .post, "/v1/stores/s/imports", "sku,name\nc,C\n", csv)
            #expect(dryRun.body["dry_run"] == .bool(true))
            #expect(imported.body["dry_run"] == .bool(false))
            #expect(imported.body["inserted"] == .number("1"))
        }
    }

    @Test("An invalid sku returns 400 with the rule on a write, and 404 on a read")
    func invalidSKUs() async throws {
        try await TestAPI.withServer { client, _ in
            try await fill(client)
            let long = String(repeating: "x", count: 65)
            for sku in ["%20a", "a%20", ".", "%2E%2E", long, "a%00b"] {
                for path in ["/v1/stores/s/products/\(sku)", "/v1/stores/s/shelves/x/products/\(sku)"] {
                    let put = try await send(client, .put, path, #"{"name":"x"}"#)
                    #expect(put.status == .badRequest, "\(path)")
                }
                let got = try await send(client, .get, "/v1/stores/s/products/\(sku)")
                #expect([.notFound, .badRequest].contains(got.status), "\(sku)")
            }
            let put = try await send(client, .put, "/v1/stores/s/products/\(long)", #"{"name":"x"}"#)
            #expect(put.body["parameter"] == .string("sku"))
            #expect(put.body["detail"]?.string?.contains(SKU.rule) == true)
        }
    }

    @Test("API endpoints reject unknown query parameters; pages, documents and the liveness check ignore them")
    func unknownParameters() async throws {
        try await TestAPI.withServer { client, _ in
            try await fill(client)
            for path in ["/v1/stores", "/v1/stores/s/shelves/x/products", "/readyz"] {
                #expect(try await send(client, .get, path + "?colour=red").status == .badRequest, "\(path)")
            }
            for path in ["/livez", "/openapi.json", "/docs", "/problems/stale", "/"] {
                #expect(try await send(client, .get, path + "?colour=red").status == .ok, "\(path)")
            }
        }
    }

    @Test("Unknown columns of a CSV file cause a warning; unknown properties of an NDJSON row reject the row")
    func unknownFieldsOfImports() async throws {
        try await TestAPI.withServer { client, _ in
            try await fill(client)
            let csv = try await send(
                client,
                .post,
                "/v1/stores/s/imports",
                "sku,name,colour\nc,C,red\n",
                [.contentType: "text/csv"]
            )
            #expect(csv.body["inserted"] == .number("1"))
            #expect(csv.body["warnings"]?.text.contains("colour") == true)
            let rows = #"{"sku":"d","name":"D","colour":"red"}"# + "\n" + #"{"sku":"e","name":"E"}"# + "\n"
            for type in ["application/x-ndjson", "application/ndjson"] {
                let path = "/v1/stores/s/imports?max_rejects=50"
                let response = try await send(client, .post, path, rows, [.contentType: type])
                let rejects = try #require(response.body["rejects"]?.elements)
                #expect(rejects.count == 1, "\(type)")
                #expect(rejects[0]["line"] == .number("1"), "\(type)")
                #expect(rejects[0]["column"] == .string("colour"))
            }
        }
    }

    @Test("Health checks, documents and every import media type are described")
    func descriptionIsComplete() throws {
        let document = try JSONReader.parse(OpenAPI.document)
        for path in ["/livez", "/readyz", "/openapi.json", "/docs", "/problems/{slug}"] {
            #expect(document["paths"]?[path]?["get"] != nil, "\(path)")
        }
        let imports = document["paths"]?["/v1/stores/{store}/imports"]?["post"]
        let types = try #require(imports?["requestBody"]?["content"]?.members)
        #expect(
            Set(types.map(\.name)) == [
                "text/csv", "text/tab-separated-values", "application/x-ndjson", "application/ndjson",
                "application/xml",
                "text/xml",
            ]
        )
        let paths = try #require(document["paths"]?.members)
        for path in paths where path.name.hasPrefix("/v1/stores") {
            guard let get = path.value["get"], get["responses"]?["304"] == nil else { continue }
            let isUncached = ["/changes", "/events", "/audit", "/suggest"].contains { path.name.hasSuffix($0) }
            #expect(isUncached, "\(path.name) has no 304")
        }
    }

    @Test("A draining server is not ready but still handles requests")
    func draining() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let options = CatalogAPI.Options()
            options.drainState.begin()
            let api = await TestAPI.api(catalog.storage, importer: TestAPI.NoImports(), options: options)
            try await TestAPI.run(api) { client in
                for path in ["/readyz", "/readyz?for=reads"] {
                    let ready = try await client.execute(uri: path, method: .get)
                    #expect(ready.status == .serviceUnavailable)
                    #expect(ready.headers[.retryAfter] != nil)
                    #expect(String(buffer: ready.body).contains("draining"))
                }
                #expect(try await client.execute(uri: "/v1/stores", method: .get).status == .ok)
            }
        }
    }
}
