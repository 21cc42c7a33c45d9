import JSON
import Catalog
import CatalogHTTP
import CatalogJSON
import Foundation
import HTTPTypes
import Hummingbird
import InMemoryCatalog
import NIOCore
import Testing
import TestSupport

/// The API over a real socket, on the in-memory catalog: response formats, headers and errors.
@Suite(.timeLimit(.minutes(15))) struct APITests {
    /// Runs a body with a server that has a shelf of 30 products.
    func withServer(_ body: @escaping @Sendable (any TestClient) async throws -> Void) async throws {
        let catalog = InMemoryCatalog(collate: collator)
        let (store, shelf) = (CatalogKey("s")!, CatalogKey("dairy")!)
        _ = try await catalog.put(Store(key: store, title: "Shop", currency: Currency("EUR")!))
        _ = try await catalog.put(Shelf(key: shelf, title: "Dairy", defaultSort: Sort(.name, .ascending)), in: store)
        let liter = try Size(amount: ExactDecimal(1), unit: .l)
        for number in 0..<30 {
            let product = Product(
                sku: SKU("m\(number)")!,
                name: "Milk \(number)",
                priceMinor: number % 3 == 0 ? nil : Int64(100 + number % 5),
                size: liter,
                inStock: number % 7 > 0
            )
            _ = try await catalog.put(product, in: store)
            _ = try await catalog.place(product.sku, on: shelf, in: store)
        }
        var options = CatalogAPI.Options()
        options.origins = ["https://shop.example"]
        let api = await TestAPI.api(catalog.storage, importer: TestAPI.NoImports(), options: options)
        try await TestAPI.run(api, body)
    }

    func put(_ client: any TestClient, _ path: String, _ body: String) async throws -> TestResponse {
        try await client.execute(
            uri: path,
            method: .put,
            headers: [.contentType: "application/json"],
            body: ByteBuffer(string: body)
        )
    }

    func get(_ client: any TestClient, _ path: String, _ headers: HTTPFields = [:]) async throws
        -> TestResponse
    {
        try await client.execute(uri: path, method: .get, headers: headers)
    }

    func json(_ response: TestResponse) throws -> JSONValue {
        try JSONReader.parse(Array(buffer: response.body))
    }

    @Test("Following cursors visits every product once")
    func cursorsVisitEveryPage()
        async throws
    {
        try await withServer { (client: any TestClient) async throws in
            var ids: [JSONValue?] = []
            var path: String? = "/v1/stores/s/shelves/dairy/products?sort=price&limit=7"
            while let next = path {
                let response = try await get(client, next)
                #expect(response.status == .ok)
                guard case .array(let products)? = try json(response)["products"] else { break }
                ids += products.map { $0["sku"] }
                let link = response.headers[.init("Link")!]
                path = link.map { String($0.dropFirst().prefix { $0 != ">" }) }
            }
            #expect(ids.count == 30)
            #expect(Set(ids).count == 30)
            let first = try json(try await get(client, "/v1/stores/s/shelves/dairy/products?sort=-price&limit=1"))
            #expect(first["sort"]?["source"] == .string("query"))
            #expect(first["page"]?["limit"] == .number("1"))
        }
    }

    @Test("A page names the source of its default sort, and is private for requests with a token")
    func defaultSortHasSource() async throws {
        try await withServer { (client: any TestClient) async throws in
            let response = try await get(client, "/v1/stores/s/shelves/dairy/products")
            #expect(
                try json(response)["sort"]
                    == .object([.init("keys", .string("name")), .init("source", .string("shelf"))])
            )
            #expect(response.headers[.cacheControl] == "private, no-cache")
            let shelf = try json(
                try await get(client, "/v1/stores/s/shelves/dairy", [.acceptLanguage: "ru-RU,ru;q=0.9,en;q=0.5"])
            )
            let options = try #require(shelf["sort_options"]?.elements)
            #expect(options.filter { $0["selected"] == .bool(true) }.map { $0["sort"] } == [.string("name")])
            #expect(options.contains { $0["title"] == .string("По популярности") })
        }
    }

    @Test("A matching If-None-Match returns 304")
    func ifNoneMatchReturns304() async throws {
        try await withServer { (client: any TestClient) async throws in
            let path = "/v1/stores/s/shelves/dairy/products?sort=price"
            let tag = try #require(try await get(client, path).headers[.eTag])
            let again = try await get(client, path, [.ifNoneMatch: tag])
            #expect(again.status == .notModified)
            #expect(again.body.readableBytes == 0)
            #expect(again.headers[.eTag] == tag)
            #expect(try await get(client, path + "&limit=5", [.ifNoneMatch: tag]).status == .ok)
            _ = try await put(client, "/v1/stores/s/products/m1", #"{"name":"Milk 1","price_minor":1}"#)
            #expect(try await get(client, path, [.ifNoneMatch: tag]).status == .ok)
        }
    }

    @Test(
        "An invalid query returns a problem that names the parameter",
        arguments: [
            ("sort=prize", 400, "unknown-sort-key"), ("sort=price,price", 400, "unknown-sort-key"),
            ("sort=", 400, "unknown-sort-key"),
            ("sort=-position", 400, "unknown-sort-key"), ("limit=0", 400, "malformed-request"),
            ("limit=101", 400, "malformed-request"),
            ("limit=x", 400, "malformed-request"), ("limit=5&limit=6", 400, "malformed-request"),
            ("colour=red", 400, "malformed-request"),
            ("cursor=abc", 400, "invalid-cursor"), ("cursor=", 400, "invalid-cursor"),
            ("sort=%00", 400, "malformed-request"), ("sort=%FF", 400, "malformed-request"),
            ("sort=%zz", 400, "malformed-request"),
        ]
    )
    func invalidQueryNamesParameter(_ query: String, _ status: Int, _ slug: String) async throws {
        try await withServer { (client: any TestClient) async throws in
            let response = try await get(client, "/v1/stores/s/shelves/dairy/products?\(query)")
            #expect(response.status.code == status)
            #expect(response.headers[.contentType] == "application/problem+json")
            let problem = try json(response)
            #expect(problem["type"] == .string("/problems/\(slug)"))
            #expect(problem["detail"] != nil)
            #expect(problem["request_id"] != nil)
            #expect(problem["title"] != nil)
            #expect(try await get(client, "/problems/\(slug)").status == .ok)
        }
    }

    @Test("A misspelled sort key gets a suggestion")
    func misspelledSortKeyGetsSuggestion() async throws {
        try await withServer { (client: any TestClient) async throws in
            let problem = try json(try await get(client, "/v1/stores/s/shelves/dairy/products?sort=prise"))
            #expect(problem["hint"] == .string("price"))
            let allowed = try #require(problem["allowed"]?.elements)
            #expect(allowed.contains(.string("-unit_price")))
        }
    }

    @Test("A cursor with any altered character is rejected")
    func rejectsAlteredCursors() async throws {
        try await withServer { (client: any TestClient) async throws in
            let page = try json(try await get(client, "/v1/stores/s/shelves/dairy/products?sort=price&limit=3"))
            let cursor = try #require(page["page"]?["next_cursor"]?.string)
            let path = "/v1/stores/s/shelves/dairy/products?sort=price&cursor="
            #expect(try await get(client, path + cursor).status == .ok)
            for index in stride(from: 0, to: cursor.count, by: 3) {
                var characters = Array(cursor)
                characters[index] = characters[index] == "A" ? "B" : "A"
                #expect(try await get(client, path + String(characters)).status == .badRequest)
            }
            #expect(try await get(client, path + cursor + "=").status == .badRequest)
            #expect(
                try await get(client, path.replacing("sort=price", with: "sort=-price") + cursor).status == .badRequest
            )
            _ = try await put(client, "/v1/stores/s/shelves/other", #"{"title":"Other"}"#)
            #expect(try await get(client, path.replacing("dairy", with: "other") + cursor).status == .badRequest)
        }
    }

    @Test("Products are created, read, patched and deleted")
    func productLifecycle() async throws {
        try await withServer { (client: any TestClient) async throws in
            let path = "/v1/stores/s/products/a%20%22b%22%20%F0%9F%8D%8E"
            let body =
                #"{"name":"Tuna","brand":"Mar","price_minor":169,"size":{"amount":"145","unit":"g","drained":"102"},"tags":["fish"],"attributes":{"x":[1,{"y":null}]}}"#
            let created = try await put(client, path, body)
            #expect(created.status == .created)
            #expect(created.headers[.location] == path)
            let product = try json(created)
            #expect(
                product["unit_price"] == .object([.init("value", .string("16.57")), .init("per", .string("1 kg"))])
            )
            #expect(try await put(client, path, String(buffer: created.body)).status == .ok)
            let patch = ByteBuffer(string: #"{"price_minor":null,"brand":"New","attributes":{"x":null,"z":2}}"#)
            let patched = try await client.execute(
                uri: path,
                method: .patch,
                headers: [.contentType: "application/merge-patch+json"],
                body: patch
            )
            #expect(patched.status == .ok)
            #expect(try json(patched)["price_minor"] == .null)
            #expect(try json(patched)["attributes"]?.text == #"{"z":2}"#)
            #expect(try await client.execute(uri: path, method: .delete).status == .noContent)
            #expect(try await client.execute(uri: path, method: .delete).status == .notFound)
        }
    }

    @Test("A store is deleted only if its key is confirmed")
    func deletesStore() async throws {
        try await withServer { (client: any TestClient) async throws in
            for query in ["", "?confirm=", "?confirm=S", "?confirm=true"] {
                let refused = try await client.execute(uri: "/v1/stores/s" + query, method: .delete)
                #expect(refused.status == .unprocessableContent, "\(query)")
                #expect(try json(refused)["detail"]?.text.contains("the key of the store, “s”") == true)
            }
            #expect(try await client.execute(uri: "/v1/stores/s/shelves/dairy", method: .get).status == .ok)
            #expect(
                try await client.execute(uri: "/v1/stores/s?confirm=s&x=1", method: .delete).status == .badRequest
            )
            #expect(try await client.execute(uri: "/v1/stores/s?confirm=s", method: .delete).status == .noContent)
            for path in ["/v1/stores/s", "/v1/stores/s/shelves/dairy/products", "/v1/stores/s/products"] {
                #expect(try await client.execute(uri: path, method: .get).status == .notFound, "\(path)")
            }
            #expect(try await client.execute(uri: "/v1/stores/s?confirm=s", method: .delete).status == .notFound)
            #expect(
                try await put(client, "/v1/stores/s", #"{"title":"Shop","currency":"CZK"}"#).status == .created
            )
        }
    }

    @Test(
        "An invalid body is rejected with its status",
        arguments: [
            (#"{"name":"x","price_minor":1000000000000}"#, 422), (#"{"name":"x","price_minor":-1}"#, 422),
            (#"{"name":"x","price_minor":1.5}"#, 400),
            (#"{"name":""}"#, 422), (#"{}"#, 422), (#"{"name":"x","colour":"red"}"#, 400),
            (#"{"name":"x","currency":"USD"}"#, 422),
            (#"{"name":"x","size":{"amount":"-5","unit":"g"}}"#, 422),
            (#"{"name":"x","size":{"amount":"5","unit":"smoot"}}"#, 400),
            (#"{"name":"\u0000"}"#, 400), (#"{"name":"x","name":"y"}"#, 400), (#"{"name":"x""#, 400), ("[]", 400),
            ("", 400), ("{\"name\":\"\u{1}\"}", 400),
            (#"{"name":"\ud800"}"#, 400), (#"{"name":"x","tags":["a","b",3]}"#, 400),
            (#"{"name":"x","sku":"other"}"#, 422),
            (#"{"name":"a\nb"}"#, 422), (#"{"name":" "}"#, 422), (#"{"name":"x","brand":"\u001b[31m"}"#, 422),
            (#"{"name":"x","tags":["a","a"]}"#, 422), (#"{"name":"x","tags":["a|b"]}"#, 422),
            (#"{"name":"x","tags":[" "]}"#, 422), (#"{"name":"x","image_url":"javascript:alert(1)"}"#, 422),
            (#"{"name":"x","attributes":["#, 400), (String(repeating: "[", count: 100), 400),
        ]
    )
    func rejectsInvalidBodies(_ body: String, _ status: Int) async throws {
        try await withServer { (client: any TestClient) async throws in
            #expect(try await put(client, "/v1/stores/s/products/bad", body).status.code == status, "\(body)")
            #expect(try await get(client, "/v1/stores/s/products/bad").status == .notFound)
        }
    }

    @Test("A body above the limit returns 413 and closes the connection")
    func largeBodyReturns413() async throws {
        try await withServer { (client: any TestClient) async throws in
            let response = try await put(
                client,
                "/v1/stores/s/products/huge",
                "{\"name\":\"" + String(repeating: "x", count: 10 << 20) + "\"}"
            )
            #expect(response.status == .contentTooLarge)
        }
    }

    @Test("Unknown paths return 404, and other methods 405")
    func unknownPathsAndMethods() async throws {
        try await withServer { (client: any TestClient) async throws in
            for path in [
                "/index.html", "/v1", "/v1/stores/s/nothing", "/v1/stores/S", "/v1/stores/none",
                "/v1/stores/s/shelves/none/products", "/v1//stores", "/v1/stores/s/products/a%2Fb",
            ] {
                #expect(try await get(client, path).status == .notFound, "\(path)")
            }
            let response = try await client.execute(uri: "/v1/stores/s", method: .post)
            #expect(response.status == .methodNotAllowed)
            #expect(response.headers[.allow] == "HEAD, GET, PUT, DELETE, OPTIONS")
            let options = try await client.execute(uri: "/v1/stores/s/imports", method: .options)
            #expect(options.status == .noContent)
            #expect(options.headers[.allow] == "POST, OPTIONS")
            #expect(
                try await client.execute(
                    uri: "/v1/stores/s/products/x",
                    method: .put,
                    headers: [.contentType: "text/plain"]
                ).status == .unsupportedMediaType
            )
        }
    }

    @Test("CORS allows the configured origins only")
    func corsAllowsConfiguredOrigins() async throws {
        try await withServer { (client: any TestClient) async throws in
            let asked = try await client.execute(
                uri: "/v1/stores",
                method: .options,
                headers: [.origin: "https://shop.example", .accessControlRequestMethod: "PUT"]
            )
            #expect(asked.status == .noContent)
            #expect(asked.headers[.accessControlAllowOrigin] == "https://shop.example")
            let answered = try await get(client, "/v1/stores", [.origin: "https://shop.example"])
            #expect(answered.headers[.accessControlAllowOrigin] == "https://shop.example")
            #expect(answered.headers[.accessControlExposeHeaders]?.contains("ETag") == true)
            #expect(
                try await get(client, "/v1/stores", [.origin: "https://evil.example"]).headers[
                    .accessControlAllowOrigin
                ] == nil
            )
        }
    }

    @Test("Every response has a request id: the client's own, or a new one")
    func everyResponseHasRequestID() async throws {
        try await withServer { (client: any TestClient) async throws in
            let name = HTTPField.Name("X-Request-Id")!
            for path in ["/v1/stores", "/v1/none", "/", "/healthz"] {
                #expect(try await get(client, path, [name: "phone-7 #12"]).headers[name] == "phone-7 #12", "\(path)")
                var ids: Set<String?> = []
                for own in [nil, "", "caf\u{E9}", String(repeating: "x", count: 129)] {
                    var fields = HTTPFields()
                    fields[name] = own
                    let response = try await get(client, path, fields)
                    let id = try #require(response.headers[name], "\(path)")
                    #expect(!id.isEmpty && id != own && ids.insert(id).inserted)
                    if response.status == .notFound { #expect(try json(response)["request_id"] == .string(id)) }
                }
            }
            let problem = try json(try await get(client, "/v1/none", [name: "phone-7"]))
            #expect(problem["request_id"] == .string("phone-7"))
        }
    }

    /// A page loads only the server's own files, which exist and have entity tags; no other script may run.
    @Test(
        "A page loads the server's own files only",
        arguments: ["", "devices", "merchandise", "lists", "docs", "problems/stale"]
    )
    func pageLoadsOwnFilesOnly(_ name: String) async throws {
        try await withServer { (client: any TestClient) async throws in
            // Query parameters are evaluated by the page itself.
            let page = try await client.execute(uri: "/\(name)?store=s&utm_source=x", method: .get)
            #expect(page.status == .ok)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            let html = String(buffer: page.body)
            var waiting = html.matches(of: /(?:src|href)="(\/[a-z.]+\.[a-z]+)"/).map { String($0.1) }
            var seen: Set<String> = []
            while let path = waiting.popLast() {
                guard seen.insert(path).inserted else { continue }
                let response = try await client.execute(uri: path, method: .get)
                let tag = try #require(response.headers[.eTag], "\(path)")
                #expect(response.status == .ok, "\(path)")
                #expect(response.body.readableBytes > 100, "\(path)")
                #expect(
                    response.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'; script-src 'self';")
                        == true
                )
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
                let again = try await client.execute(uri: path, method: .get, headers: [.ifNoneMatch: tag])
                #expect(again.status == .notModified)
                let text = String(buffer: response.body)
                waiting += text.matches(of: /from "(\/[a-z.]+)"/).map { String($0.1) }
            }
            #expect(seen.contains("/style.css"))
            #expect(seen.contains("/icon.svg"))
            #expect(seen.contains("/aisle.js") == !name.hasPrefix("problems"))
            #expect(!html.contains("style="))
            #expect(!html.contains("onclick"))
            #expect(!html.contains("http:"))
            #expect(try await client.execute(uri: "/nothing.js", method: .get).status == .notFound)
        }
    }

    @Test("Products requested by SKU are returned in the requested order")
    func productsKeepRequestedOrder() async throws {
        try await withServer { (client: any TestClient) async throws in
            let response = try json(try await get(client, "/v1/stores/s/products?sku=m5&sku=nope&sku=m2"))
            let products = try #require(response["products"]?.elements)
            #expect(products.map { $0["sku"] } == [.string("m5"), .string("m2")])
            #expect(response["missing"] == .array([.string("nope")]))
        }
    }

    @Test("An empty or malformed Content-Type is handled", arguments: ["", ";", "; charset=utf-8"])
    func malformedContentType(_ type: String) async throws {
        try await withServer { (client: any TestClient) async throws in
            let response = try await client.execute(
                uri: "/v1/stores/s/products/x",
                method: .put,
                headers: [.contentType: type],
                body: ByteBuffer(string: "{}")
            )
            #expect(response.status == .unsupportedMediaType)
        }
    }

    @Test(
        "Numbers with huge exponents are rejected",
        arguments: [
            #"{"name":"x","size":{"amount":"0.0001","unit":"g","packs":3000000000}}"#,
            #"{"name":"x","attributes":{"a":1e131071}}"#,
            #"{"name":"x","attributes":{"a":[{"b":-1.5E-99}]}}"#,
        ]
    ) func rejectsHugeExponents(_ body: String) async throws {
        try await withServer { (client: any TestClient) async throws in
            #expect(try await put(client, "/v1/stores/s/products/x", body).status == .unprocessableContent)
        }
    }

    @Test("Concurrent patches of different fields are all kept")
    func concurrentPatchesAreKept() async throws {
        try await withServer { (client: any TestClient) async throws in
            try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        try await client.execute(
                            uri: "/v1/stores/s/products/m1",
                            method: .patch,
                            body: ByteBuffer(string: #"{"attributes":{"k\#(number)":\#(number)}}"#)
                        ).status
                    }
                }
                for try await status in group { #expect(status == .ok) }
            }
            let attributes = try json(try await get(client, "/v1/stores/s/products/m1"))["attributes"]
            for number in 0..<4 { #expect(attributes?["k\(number)"] == .number("\(number)")) }
        }
    }

    @Test("The entity tag of an order is stable until the order changes")
    func orderEntityTagIsStable() async throws {
        try await withServer { (client: any TestClient) async throws in
            for query in ["sort=price,-name", "sort=position", ""] {
                let path = "/v1/stores/s/shelves/dairy/order?" + query
                let tag = try #require(try await get(client, path).headers[.eTag])
                #expect(try await get(client, path, [.ifNoneMatch: tag]).status == .notModified)
            }
        }
    }

    @Test("A cached page is never older than its shelf")
    func cachedPageIsFresh() async throws {
        try await withServer { (client: any TestClient) async throws in
            let path = "/v1/stores/s/shelves/dairy/products?sort=price&limit=100"
            for round in 1...20 {
                let price = #"{"name":"Milk 4","price_minor":\#(round)}"#
                _ = try await put(client, "/v1/stores/s/products/m4", price)
                for _ in 0..<2 {
                    let response = try await get(client, path)
                    guard case .array(let products)? = try json(response)["products"] else { return }
                    #expect(products.first { $0["sku"] == .string("m4") }?["price_minor"] == .number("\(round)"))
                    let tag = try #require(response.headers[.eTag])
                    #expect(try await get(client, path, [.ifNoneMatch: tag]).status == .notModified)
                }
            }
        }
    }
}
