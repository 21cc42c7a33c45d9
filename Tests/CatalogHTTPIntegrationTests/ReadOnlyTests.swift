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

/// A read-only database or standby: reads work, writes fail with a clear error, and nothing is an internal error.
@Suite(.timeLimit(.minutes(5))) struct ReadOnlyTests {
    private static let products = """
        store,shelf,sku,name,brand,price,size,unit
        corner,Dairy,m1,Milk,Alma,1.19,1,l
        corner,Dairy,m2,Cream,Alma,1.29,200,ml

        """

    /// Serves a catalog with data that is read-only for new connections.
    private func serving(_ body: @escaping @Sendable (any TestClient) async throws -> Void) async throws {
        let database = try await TestDatabase.migrated()
        let writable = PostgresCatalog(try Database(database.configuration), encodingEvents: \.json)
        _ = try await Importer(writable).importFile(
            SingleChunk(Array(Self.products.utf8)),
            ImportOptions(format: .csv, createsStores: true)
        )
        _ = try await writable.lists.createList(NewList(name: "Week"), of: UserID("ann")!, once: nil)
        try await TestAPI.run(await TestAPI.api(writable.storage, importer: Importer(writable))) { client in
            let first = try await Self.listDiff(client)
            #expect(first.status == .ok)
        }
        try await writable.database.writes.perform(within: .shelf) { database in
            let name = try database.query("SELECT quote_ident(current_database())") { try $0.first { try $0.text(0) } }
            try database.run(script: "ALTER DATABASE \(name ?? "") SET default_transaction_read_only = on")
        }
        writable.shutDown()
        let catalog = PostgresCatalog(
            try Database(database.pooled.inServerRole, direct: database.configuration.inServerRole),
            encodingEvents: \.json
        )
        try await TestAPI.run(await TestAPI.api(catalog.storage, importer: Importer(catalog)), body)
        catalog.shutDown()
        try await database.drop()
    }

    /// Requests the diff of two lists, with an idempotency key.
    private static func listDiff(_ client: any TestClient) async throws -> TestResponse {
        try await client.execute(
            uri: "/v1/order/diff",
            method: .post,
            headers: [.contentType: "application/json", .init("Idempotency-Key")!: "diff"],
            body: ByteBuffer(string: #"{"from":["a","b"],"to":["b","a"]}"#)
        )
    }

    @Test("A read-only database serves every read")
    func readsWork() async throws {
        try await serving { client in
            let token = try await TestAPI.token("ann")
            let shelf = "/v1/stores/corner/shelves/dairy"
            for path in [
                "/v1/stores", "/v1/stores/corner", "/v1/stores/corner/shelves", shelf, shelf + "/products",
                shelf + "/products?sort=unit_price&facets=brand&in_stock=true", shelf + "/order?sort=price",
                shelf + "/order/diff?from_sort=price&to_sort=name", "/v1/stores/corner/products",
                "/v1/stores/corner/products/m1", "/livez", "/readyz?for=reads",
            ] {
                let response = try await client.execute(uri: path, method: .get)
                #expect(response.status == .ok, "\(path): \(String(buffer: response.body))")
            }
            for path in ["/v1/me/settings", "/v1/me/lists", "/v1/me/export", shelf + "/products"] {
                let answer = try await client.execute(
                    uri: path,
                    method: .get,
                    headers: [.authorization: "Bearer \(token)"]
                )
                #expect(answer.status == .ok, "\(path): \(String(buffer: answer.body))")
            }
            // A repeated request writes nothing.
            let repeated = try await Self.listDiff(client)
            #expect(repeated.status == .ok, "\(String(buffer: repeated.body))")
        }
    }

    @Test("A write to a read-only database returns 503 with Retry-After, and the server is not ready for writes")
    func writesAreRefused() async throws {
        try await serving { client in
            let readOnly = JSONValue.string("/problems/read-only")
            var ready = try await client.execute(uri: "/readyz", method: .get)
            // On a busy machine the probe may run into its own deadline first.
            for _ in 0..<20 where try JSONReader.parse(Array(buffer: ready.body))["type"] != readOnly {
                ready = try await client.execute(uri: "/readyz", method: .get)
            }
            #expect(ready.status == .serviceUnavailable)
            #expect(try JSONReader.parse(Array(buffer: ready.body))["type"] == readOnly)
            let wrong = try await client.execute(uri: "/readyz?for=fun", method: .get)
            #expect(wrong.status == .badRequest)
            let shelf = "/v1/stores/corner/shelves/dairy"
            let purchase =
                #"[{"event_id":"7b0c1d3e-52a4-4d0e-9c5e-0a4e1f6b2c11","sku":"m1","quantity":2,"at":"2026-11-20T09:30:00Z"}]"#
            let writes: [(HTTPRequest.Method, String, String)] = [
                (.put, "/v1/stores/other", #"{"title":"Other","currency":"EUR"}"#),
                (.put, shelf, #"{"title":"Milk"}"#), (.patch, shelf, #"{"title":"Milk"}"#), (.delete, shelf, ""),
                (.put, "/v1/stores/corner/products/x", #"{"name":"X"}"#),
                (.patch, "/v1/stores/corner/products/m1", #"{"name":"X"}"#),
                (.delete, "/v1/stores/corner/products/m1", ""), (.put, shelf + "/products/m1", ""),
                (.delete, shelf + "/products/m1", ""),
                (.post, shelf + "/order/moves", #"{"moves":[{"ids":["m1"],"place":"last"}]}"#),
                (.put, shelf + "/order", #"{"from_sort":"name"}"#), (.post, shelf + "/order/undo", ""),
                (.post, "/v1/stores/corner/shelves/order/moves", #"{"moves":[{"ids":["dairy"],"place":"last"}]}"#),
                (.post, "/v1/stores/corner/purchases", purchase),
                (.post, "/v1/stores/corner/prices", #"[{"sku":"m1","price_minor":99}]"#),
                (.put, "/v1/me/settings/a", #"{"value":1}"#), (.delete, "/v1/me/settings/a", ""),
                (.put, "/v1/me/stores/corner/shelves/dairy/sort", #"{"sort":"price"}"#),
                (.post, "/v1/me/lists", #"{"name":"Saturday"}"#), (.post, "/v1/me/tickets", ""),
                (.delete, "/v1/me", ""),
            ]
            for (method, path, body) in writes {
                let answer = try await client.execute(
                    uri: path,
                    method: method,
                    headers: body.isEmpty ? [:] : [.contentType: "application/json"],
                    body: body.isEmpty ? nil : ByteBuffer(string: body)
                )
                let type = try? JSONReader.parse(Array(buffer: answer.body))["type"]
                #expect(
                    answer.status == .serviceUnavailable,
                    "\(method) \(path): \(answer.status) \(String(buffer: answer.body))"
                )
                #expect(
                    type == .string("/problems/read-only"),
                    "\(method) \(path): \(answer.status) \(String(buffer: answer.body))"
                )
                #expect(
                    answer.headers[.retryAfter] != nil,
                    "\(method) \(path): \(answer.status) \(String(buffer: answer.body))"
                )
            }
            let imported = try await client.execute(
                uri: "/v1/stores/corner/imports",
                method: .post,
                headers: [.contentType: "text/csv"],
                body: ByteBuffer(string: "sku,name\nz,Z\n")
            )
            #expect(imported.status == .serviceUnavailable, "\(String(buffer: imported.body))")
            // Unread bodies must not block their imports; send more of them than there are slots.
            let rows = String(repeating: "z,Z\n", count: 500_000)
            for _ in 0..<6 {
                let large = try await client.execute(
                    uri: "/v1/stores/corner/imports",
                    method: .post,
                    headers: [.contentType: "text/csv"],
                    body: ByteBuffer(string: "sku,name\n" + rows)
                )
                #expect(large.status == .serviceUnavailable)
                let type = try JSONReader.parse(Array(buffer: large.body))["type"]
                #expect(type == .string("/problems/read-only"), "\(String(buffer: large.body))")
            }
        }
    }
}

/// Bytes as a sequence of one chunk.
struct SingleChunk: AsyncSequence, Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    struct AsyncIterator: AsyncIteratorProtocol {
        var bytes: [UInt8]?
        mutating func next() async -> [UInt8]? { bytes.take() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes) }
}
