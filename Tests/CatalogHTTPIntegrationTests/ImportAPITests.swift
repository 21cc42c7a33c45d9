import JSON
import Catalog
import CatalogHTTP
import CatalogJSON
import CatalogPostgres
import HTTPTypes
import Hummingbird
import NIOCore
import Platform
import Testing
import TestSupport

/// Imports over a real socket, into a real database.
@Suite(.timeLimit(.minutes(15))) struct ImportAPITests {
    private func withServer(_ body: @escaping @Sendable (any TestClient) async throws -> Void) async throws {
        try await TestAPI.withServer { client, _ in try await body(client) }
    }

    private func post(
        _ client: any TestClient,
        _ path: String,
        _ body: String
    ) async throws -> (HTTPResponse.Status, JSONValue) {
        let response = try await client.execute(
            uri: path,
            method: .post,
            headers: [.contentType: "text/csv"],
            body: ByteBuffer(string: body)
        )
        return (response.status, try JSONReader.parse(Array(buffer: response.body)))
    }

    @Test("An import creates a missing store in the requested currency")
    func importCreatesStore() async throws {
        try await withServer { (client: any TestClient) async throws in
            let rows = "shelf,sku,name,price,colour\nDairy,a,A,10.5,red\nDairy,b,B,x,red\n"
            let (status, answer) = try await post(
                client,
                "/v1/stores/new/imports?create_store=true&currency=SEK&max_rejects=50",
                rows
            )
            #expect(status == .ok)
            #expect(answer["inserted"] == .number("1"))
            #expect(answer["stores_created"] == .number("1"))
            let warnings = try #require(answer["warnings"]?.elements)
            let rejects = try #require(answer["rejects"]?.elements)
            #expect(warnings.count == 1)
            try #require(rejects.count == 1)
            #expect(rejects[0]["line"] == .number("3"))
            let store = try await client.execute(uri: "/v1/stores/new", method: .get)
            #expect(String(buffer: store.body).contains(#""currency":"SEK""#))
            #expect(
                try await post(client, "/v1/stores/new/imports?create_store=true&currency=kr", rows).0 == .badRequest
            )
        }
    }

    @Test("A saved profile reads a file of XML, and the parameters of a request take precedence")
    func profiles() async throws {
        let token = try await TestAPI.token("ann", [.catalogWrite])
        try await withServer { (client: any TestClient) async throws in
            func send(
                _ method: HTTPRequest.Method,
                _ path: String,
                _ body: String = "",
                type: String = "application/json"
            )
                async throws -> (HTTPResponse.Status, JSONValue)
            {
                let response = try await client.execute(
                    uri: path,
                    method: method,
                    headers: [.contentType: type, .authorization: "Bearer \(token)"],
                    body: body.isEmpty ? nil : ByteBuffer(string: body)
                )
                let bytes = Array(buffer: response.body)
                return (response.status, bytes.isEmpty ? .null : try JSONReader.parse(bytes))
            }
            let path = "/v1/import-profiles/feed"
            let document = #"{"format":"xml","records":["p"],"columns":{"sku":"id","name":"n","price":"cost"}}"#
            #expect(try await send(.put, path, document).0 == .created)
            #expect(try await send(.put, path, document).0 == .ok)
            #expect(try await send(.get, path).1 == JSONReader.parse(Array(document.utf8)))
            let names = try await send(.get, "/v1/import-profiles").1["profiles"]?.elements?.compactMap {
                $0["name"]?.string
            }
            #expect(names?.contains("feed") == true && names?.contains("shopify") == true)
            #expect(try await send(.put, "/v1/import-profiles/shopify", document).0 == .conflict)
            #expect(try await send(.delete, "/v1/import-profiles/shopify").0 == .conflict)
            #expect(try await send(.put, path, #"{"columns":{"foo":"x"}}"#).0 == .badRequest)
            #expect(try await send(.put, path, #"{"time_zone":"Nowhere"}"#).0 == .unprocessableContent)

            let feed =
                "<l><p><id>a</id><n>A &amp; B</n><cost>SEK 9,90</cost></p><p><id>b</id><n>B</n><cost>?</cost></p></l>"
            let imports = "/v1/stores/s/imports?create_store=true&max_rejects=50"
            var (status, answer) = try await send(
                .post,
                imports + "&profile=feed&dry_run=true",
                feed,
                type: "application/xml"
            )
            #expect(status == .ok, "\(answer.text)")
            let preview = try #require(answer["preview"]?.elements?.first)
            #expect(preview["name"] == .string("A & B") && preview["price_minor"] == .number("990"))
            #expect(preview["currency"] == .string("SEK") && answer["rejected"] == .number("1"))
            (status, answer) = try await send(
                .post,
                imports + "&profile=feed&decimal_mark=comma",
                feed,
                type: "text/xml"
            )
            #expect(status == .ok && answer["inserted"] == .number("1"), "\(answer.text)")
            #expect(answer["preview"] == nil)
            (status, answer) = try await send(.post, imports + "&profile=feed", "sku,name\n", type: "text/csv")
            #expect(status == .unprocessableContent && answer["parameter"] == .string("profile"), "\(answer.text)")
            (status, answer) = try await send(.post, imports + "&profile=nobody", feed, type: "text/xml")
            #expect(status == .notFound && answer["detail"]?.string?.contains("shopify") == true, "\(answer.text)")
            #expect(try await send(.delete, path).0 == .noContent)
            (status, answer) = try await send(.get, path)
            #expect(status == .notFound)
            #expect(answer["detail"]?.string?.split(separator: "does not exist").count == 1, "\(answer.text)")
        }
    }

    @Test("An import creates a store only with create_store, and otherwise names the closest one")
    func unknownStoreIsNotFound() async throws {
        try await withServer { (client: any TestClient) async throws in
            let rows = "sku,name\na,A\n"
            let (first, empty) = try await post(client, "/v1/stores/corner/imports", rows)
            #expect(first == .notFound)
            #expect(empty["detail"]?.string?.contains("the catalog has no stores yet") == true, "\(empty.text)")
            #expect(empty["hint"] == nil)
            #expect(try await post(client, "/v1/stores/corner/imports?create_store=true", rows).0 == .ok)
            for query in ["", "?dry_run=true", "?create_store=false"] {
                let (status, problem) = try await post(client, "/v1/stores/cornr/imports\(query)", rows)
                #expect(status == .notFound)
                #expect(problem["type"] == .string("/problems/not-found"))
                #expect(problem["parameter"] == .string("store"))
                #expect(problem["hint"] == .string("corner"))
                #expect(problem["detail"]?.string?.contains("set create_store (command line: --create-store)") == true)
            }
            #expect(try await client.execute(uri: "/v1/stores/cornr", method: .get).status == .notFound)
            #expect(try await post(client, "/v1/stores/corner/imports", rows).0 == .ok)
        }
    }

    @Test(
        "Removing more than a tenth of a shelf is a 422 unless confirm_prune is set, and removed_by_shelf says what goes"
    )
    func pruneIsConfirmed() async throws {
        try await withServer { (client: any TestClient) async throws in
            func rows(_ count: Int) -> String { "shelf,sku,name\n" + (0..<count).map { "dairy,p\($0),A\n" }.joined() }
            let path = "/v1/stores/corner/imports"
            #expect(try await post(client, path + "?create_store=true", rows(20)).0 == .ok)
            let (status, problem) = try await post(client, path + "?prune=true", rows(17))
            #expect(status == .unprocessableContent)
            #expect(problem["parameter"] == .string("prune"))
            #expect(problem["detail"]?.string?.contains("3 of 20 products from the shelf “dairy” of “corner”") == true)
            let (_, dry) = try await post(client, path + "?prune=true&dry_run=true", rows(17))
            let (_, other) = try await post(client, path, rows(20))
            #expect(other["unchanged"] == .number("20") && other["removed_by_shelf"]?.elements?.isEmpty == true)
            let (done, summary) = try await post(client, path + "?prune=true&confirm_prune=true", rows(17))
            #expect(done == .ok)
            #expect(summary["removed_products"] == .number("3"))
            for answer in [dry, summary] {
                let removed = try #require(answer["removed_by_shelf"]?.elements)
                #expect(removed.map(\.text) == [#"{"store":"corner","shelf":"dairy","removed":3,"remaining":17}"#])
            }
            #expect(try await client.execute(uri: "/v1/stores/corner/products/p17", method: .get).status == .notFound)
        }
    }

    @Test("More than 5 % of rejected rows import nothing")
    func limitsRejectedRows() async throws {
        try await withServer { (client: any TestClient) async throws in
            let (status, problem) = try await post(
                client,
                "/v1/stores/new/imports?create_store=true",
                "sku,name,price\na,A,1\nb,B,x\n"
            )
            #expect(status == .unprocessableContent)
            #expect(problem["rejects"]?.elements?.count == 1)
            #expect(try await client.execute(uri: "/v1/stores/new", method: .get).status == .notFound)
        }
    }

    @Test("A file in another encoding, or compressed with gzip, is imported, and the response says how it was read")
    func readsOtherFiles() async throws {
        try await withServer { (client: any TestClient) async throws in
            let text = "Products of today\n\nsku;name;price\na;A;1,5\n"
            let headers: HTTPFields = [.contentType: "text/csv", .contentEncoding: "gzip"]
            let path =
                "/v1/stores/new/imports?create_store=true&encoding=windows-1250&decimal_mark=comma&separator=semicolon&header_line=3"
            let file = ByteBuffer(bytes: Gzip.compress(Array(text.utf8))!)
            let response = try await client.execute(uri: path, method: .post, headers: headers, body: file)
            let answer = try JSONReader.parse(Array(buffer: response.body))
            #expect(response.status == .ok, "\(answer)")
            #expect(answer["inserted"] == .number("1"))
            #expect(answer["file"]?["encoding"] == .string("windows-1250"))
            #expect(answer["file"]?["header_line"] == .number("3"))
            let plain = ByteBuffer(string: text)
            let wrong = try await client.execute(uri: path, method: .post, headers: headers, body: plain)
            #expect(wrong.status == .unprocessableContent)
            let truncated = ByteBuffer(bytes: Gzip.compress(Array(text.utf8))!.dropLast(3))
            let cut = try await client.execute(uri: path, method: .post, headers: headers, body: truncated)
            #expect(cut.status == .unprocessableContent)
            #expect(try await post(client, path + "x", "sku,name\na,A\n").0 == .badRequest)
        }
    }

    @Test("A repeated import with the same key gets the recorded response")
    func repeatedImportGetsRecordedResponse()
        async throws
    {
        try await withServer { (client: any TestClient) async throws in
            func send(_ body: String) async throws -> (Int, String) {
                let response = try await client.execute(
                    uri: "/v1/stores/new/imports?create_store=true",
                    method: .post,
                    headers: [.contentType: "text/csv", .init("Idempotency-Key")!: "one"],
                    body: ByteBuffer(string: body)
                )
                return (response.status.code, String(buffer: response.body))
            }
            let first = try await send("sku,name\na,A\n")
            #expect(first.0 == 200)
            #expect(first.1.contains(#""inserted":1"#))
            #expect(try await send("sku,name\na,A\n") == first)
            #expect(try await send("sku,name\na,B\n").0 == 422)
        }
    }

    @Test("A file without a valid row is rejected with the reason for each row")
    func invalidFileReportsEveryRow() async throws {
        try await withServer { (client: any TestClient) async throws in
            let (status, problem) = try await post(
                client,
                "/v1/stores/new/imports?create_store=true",
                "sku,name,price\n,A,1\nb,,1\nc,C,x\n"
            )
            #expect(status == .unprocessableContent)
            let rejects = try #require(problem["rejects"]?.elements)
            #expect(rejects.map { $0["column"] } == [.string("sku"), .string("name"), .string("price")])
            #expect(try await client.execute(uri: "/v1/stores/new", method: .get).status == .notFound)
        }
    }
}
