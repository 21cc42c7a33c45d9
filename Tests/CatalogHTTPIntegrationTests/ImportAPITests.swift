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
            let (status, answer) = try await post(client, "/v1/stores/new/imports?currency=SEK&max_rejects=50", rows)
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
            #expect(try await post(client, "/v1/stores/new/imports?currency=kr", rows).0 == .badRequest)
        }
    }

    @Test("More than 5 % of rejected rows import nothing")
    func limitsRejectedRows() async throws {
        try await withServer { (client: any TestClient) async throws in
            let (status, problem) = try await post(client, "/v1/stores/new/imports", "sku,name,price\na,A,1\nb,B,x\n")
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
                "/v1/stores/new/imports?encoding=windows-1250&decimal_mark=comma&separator=semicolon&header_line=3"
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
                    uri: "/v1/stores/new/imports",
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
                "/v1/stores/new/imports",
                "sku,name,price\n,A,1\nb,,1\nc,C,x\n"
            )
            #expect(status == .unprocessableContent)
            let rejects = try #require(problem["rejects"]?.elements)
            #expect(rejects.map { $0["column"] } == [.string("sku"), .string("name"), .string("price")])
            #expect(try await client.execute(uri: "/v1/stores/new", method: .get).status == .notFound)
        }
    }
}
