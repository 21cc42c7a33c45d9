import Catalog
import Live
import CatalogHTTP
import CatalogJSON
import Foundation
import Hummingbird
import InMemoryCatalog
import NIOCore
import Testing
import TestSupport

/// The rules of HTTP/1.0 and HTTP/1.1, checked on the bytes of a connection (RFC 9110 and 9112).
@Suite(.timeLimit(.minutes(5))) struct ConformanceTests {
    private static let shelf = "/v1/stores/s/shelves/x"

    /// The resource of a request.
    enum Target: String, CaseIterable {
        /// A page, which is answered on the event loop.
        case page = "/products"
        /// A body in memory.
        case order = "/order"
        /// A stream without a length.
        case events = "/events"
    }

    /// One combination of all that decides on the framing of a response and on the end of its connection.
    struct Exchange: CustomTestStringConvertible {
        let method: String
        let version: String
        let target: Target
        /// The value of the header `Connection`; nil without it.
        let connection: String?

        static let all = ["GET", "HEAD", "POST"].flatMap { method in
            ["1.0", "1.1"].flatMap { version in
                Target.allCases.flatMap { target in
                    [nil, "keep-alive", "close", "Close"].map {
                        Exchange(method: method, version: version, target: target, connection: $0)
                    }
                }
            }
        }

        var testDescription: String { "\(method) \(target) HTTP/\(version) \(connection ?? "")" }

        var isStream: Bool { target == .events && method != "POST" }

        /// Whether the connection stays open after the response.
        var persists: Bool {
            guard !isStream else { return false }
            return version == "1.1" ? connection?.lowercased() != "close" : connection == "keep-alive"
        }

        /// The bytes of the request. A POST sends a body, to a path that accepts it only for diffs.
        var request: String {
            let body = method == "POST" ? #"{"from":[],"to_sort":"price"}"# : nil
            let path = ConformanceTests.shelf + target.rawValue + (method == "POST" && target == .order ? "/diff" : "")
            return "\(method) \(path) HTTP/\(version)\r\nHost: a\r\n"
                + (connection.map { "Connection: \($0)\r\n" } ?? "")
                + (body.map { "Content-Type: application/json\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)" }
                    ?? "\r\n")
        }

        var status: Int { method == "POST" && target != .order ? 405 : 200 }
    }

    /// A catalog whose imports only count their bytes.
    private struct CountingImporter: CatalogImporting {
        func importFile<Chunks: AsyncSequence>(
            _ chunks: Chunks,
            _ options: ImportOptions,
            onReject: (ImportRejection) throws -> Void,
            onProgress: (Int) -> Void,
            onPrune: ([ShelfRemoval]) throws -> Bool
        ) async throws(CatalogError) -> ImportSummary where Chunks.Element == [UInt8] {
            var summary = ImportSummary()
            do { for try await chunk in chunks { summary.read += chunk.count } } catch { throw .unavailable }
            return summary
        }
    }

    /// Runs a body with a server that has a shelf, and with its streams.
    private func withServer(
        importer: any CatalogImporting = CountingImporter(),
        _ body: @escaping @Sendable (PlainClient, LiveHub) async throws -> Void
    ) async throws {
        let catalog = InMemoryCatalog(collate: collator)
        let (store, shelf, sku) = (CatalogKey("s")!, CatalogKey("x")!, SKU("a")!)
        _ = try await catalog.put(Store(key: store, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.put(Shelf(key: shelf, title: "X"), in: store)
        _ = try await catalog.put(Product(sku: sku, name: "A", priceMinor: 1), in: store)
        _ = try await catalog.place(sku, on: shelf, in: store)
        let live = LiveHub(pages: catalog, versions: catalog, source: nil)
        let api = await TestAPI.api(catalog.storage, importer: importer, live: live)
        try await serving(api) { try await body($0, live) }
    }

    private static let probe = "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    @Test("A response is framed, and its connection ends, as its method and version require", arguments: Exchange.all)
    func framesResponses(exchange: Exchange) async throws {
        try await withServer { client, live in
            let raw = try RawClient(client.port)
            var text = ""
            raw.send(exchange.request)
            if exchange.isStream, exchange.method == "GET" {
                while !text.contains(": open\n") {
                    let piece = await raw.receive()
                    guard !piece.isEmpty else { break }
                    text += piece
                }
                live.close()
            } else {
                // It is answered only on a connection that stays open.
                raw.send(Self.probe)
            }
            text += await raw.response()
            let isHead = exchange.method == "HEAD"
            let response = try #require(RawResponse(text, isHead: isHead), "\(text)")
            let fields = response.fields
            #expect(response.version == "HTTP/\(exchange.version)")
            #expect(response.status == exchange.status)
            #expect(fields["date"] != nil)
            if exchange.isStream {
                #expect(fields["content-length"] == nil)
                #expect(fields["transfer-encoding"] == (exchange.version == "1.1" ? "chunked" : nil))
            } else {
                #expect(fields["transfer-encoding"] == nil)
                #expect(isHead || fields["content-length"] == String(response.body.utf8.count))
                #expect(Int(fields["content-length"] ?? "0")! > 0)
            }
            #expect(isHead == response.body.isEmpty)
            let next = RawResponse(response.rest)
            #expect(next?.body == (exchange.persists ? "ok\n" : nil), "\(text)")
            let rest = next?.rest ?? response.rest
            #expect(rest.isEmpty)
            let expected = exchange.persists ? exchange.version == "1.0" ? "keep-alive" : nil : "close"
            #expect(fields["connection"] == expected)
        }
    }

    private static func post(_ path: String, _ fields: String, version: String = "1.1", expect: String = "100-continue")
        -> String
    {
        "POST \(path) HTTP/\(version)\r\nHost: a\r\nExpect: \(expect)\r\n\(fields)\r\n"
    }

    private static let diff = shelf + "/order/diff"
    private static let diffBody = #"{"from":[],"to_sort":"price"}"#
    private static let diffFields = "Content-Type: application/json\r\nContent-Length: \(diffBody.utf8.count)\r\n"
    private static let interim = "HTTP/1.1 100 Continue\r\n\r\n"

    @Test(
        "A client that expects it is asked for its body, and the connection stays open",
        arguments: ["100-continue", "100-Continue"]
    )
    func asksForBodies(expect: String) async throws {
        try await withServer { client, _ in
            let raw = try RawClient(client.port)
            raw.send(Self.post(Self.diff, Self.diffFields, expect: expect))
            #expect(await raw.receive() == Self.interim)
            raw.send(Self.diffBody + Self.probe)
            let response = try #require(RawResponse(await raw.response()))
            #expect(response.status == 200)
            #expect(RawResponse(response.rest)?.body == "ok\n")
        }
    }

    @Test("A client that expects it is asked for the file of an import")
    func asksForImports() async throws {
        let token = try await TestAPI.token("merchandiser", [.catalogWrite])
        try await withServer { client, _ in
            let raw = try RawClient(client.port)
            let fields = "Authorization: Bearer \(token)\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n"
            raw.send(Self.post("/v1/stores/s/imports", fields))
            #expect(await raw.receive() == Self.interim)
            raw.send("5\r\nsku\n1\r\n0\r\n\r\n")
            let response = try #require(RawResponse(await raw.receive()))
            #expect(response.status == 200)
            #expect(response.body.contains(#""read":5,"#), "\(response.body)")
        }
    }

    @Test(
        "A request that is rejected without its body is answered at once, and its connection ends",
        arguments: [
            ("/v1/stores/s/imports", "Content-Type: text/csv\r\nContent-Length: 9\r\n", 401),
            (shelf + "/order/moves", diffFields, 401),
            (diff, "Content-Type: application/json\r\nContent-Length: 99999999\r\n", 413),
            (diff, "Content-Type: text/plain\r\nContent-Length: 9\r\n", 415),
            (shelf + "/products", diffFields, 405),
            ("/nowhere", diffFields, 404),
        ]
    )
    func rejectsBeforeTheBody(path: String, fields: String, status: Int) async throws {
        try await withServer { client, _ in
            let raw = try RawClient(client.port)
            raw.send(Self.post(path, fields))
            let response = try #require(RawResponse(await raw.response()))
            #expect(response.status == status)
            #expect(response.fields["connection"] == "close")
            #expect(response.rest.isEmpty)
        }
    }

    @Test("An import that cannot begin is answered without asking for its file")
    func rejectsImportsBeforeTheFile() async throws {
        let token = try await TestAPI.token("merchandiser", [.catalogWrite])
        try await withServer(importer: TestAPI.NoImports()) { client, _ in
            let raw = try RawClient(client.port)
            let fields = "Authorization: Bearer \(token)\r\nContent-Type: text/csv\r\nContent-Length: 9\r\n"
            raw.send(Self.post("/v1/stores/s/imports", fields))
            let response = try #require(RawResponse(await raw.response()))
            #expect(response.status == 503)
            #expect(response.fields["connection"] == "close")
        }
    }

    @Test(
        "A client that does not wait, or does not know interim responses, gets none",
        arguments: [("1.0", "100-continue"), ("1.1", "100-continue"), ("1.1", "something-else")]
    )
    func sendsNoNeedlessInterimResponse(version: String, expect: String) async throws {
        try await withServer { client, _ in
            let raw = try RawClient(client.port)
            let fields = Self.diffFields + "Connection: close\r\n"
            raw.send(Self.post(Self.diff, fields, version: version, expect: expect) + Self.diffBody)
            let response = try #require(RawResponse(await raw.response()))
            #expect(response.status == 200)
            #expect(response.rest.isEmpty)
        }
    }

    @Test("A client that sends a whole body after a rejection gets the response", arguments: [1 << 10, 4 << 20])
    func rejectionSurvivesTheBody(length: Int) async throws {
        try await withServer { client, _ in
            let raw = try RawClient(client.port)
            raw.send("POST \(Self.shelf)/order/moves HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n")
            raw.send(String(repeating: " ", count: length))
            let text = await raw.receive()
            #expect(RawResponse(text)?.status == 401, "\(text)")
        }
    }

    @Test(
        "If-None-Match: * returns 304 for anything that exists",
        arguments: [
            "/v1/stores", "/v1/stores/s", "/v1/stores/s/shelves", "/v1/stores/s/products/a", shelf, shelf + "/products",
            shelf + "/order", diff + "?from_sort=price&to_sort=name", "/", "/style.css", "/openapi.json",
        ]
    )
    func anyRepresentationIsKnown(path: String) async throws {
        try await withServer { client, _ in
            for method in [HTTPRequest.Method.get, .head] {
                let response = try await client.execute(uri: path, method: method, headers: [.ifNoneMatch: "*"])
                #expect(response.status == .notModified)
                #expect(response.headers[.eTag] != nil)
            }
        }
    }

    @Test("If-None-Match: * returns 404 for anything that does not exist")
    func nothingIsKnown() async throws {
        try await withServer { client, _ in
            for path in ["/v1/stores/none", "/v1/stores/s/shelves/none/products", "/none.css"] {
                let response = try await client.execute(uri: path, method: .get, headers: [.ifNoneMatch: "*"])
                #expect(response.status == .notFound, "\(path)")
            }
        }
    }
}
