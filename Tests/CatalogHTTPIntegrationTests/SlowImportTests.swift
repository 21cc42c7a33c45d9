import Catalog
import CatalogHTTP
import CatalogPostgres
import HTTPTypes
import LibPQ
import NIOCore
import Synchronization
import Testing
import TestSupport

/// Imports whose clients are slow or disconnect.
@Suite(.timeLimit(.minutes(5))) struct SlowImportTests {
    private static func head(_ token: String) -> String {
        """
        POST /v1/stores/s/imports?create_store=true HTTP/1.1\r
        Host: localhost\r
        Authorization: Bearer \(token)\r
        Content-Type: text/csv\r
        Transfer-Encoding: chunked\r
        \r

        """
    }

    private static func chunk(_ text: String) -> String { "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n" }

    private static func runs(_ catalog: PostgresCatalog) async throws -> Int {
        try await catalog.database.writes.perform(within: .edit) {
            try $0.query("SELECT (SELECT count(*) FROM import_run) + (SELECT count(*) FROM import_row)") {
                try $0.first { try $0.int(0) } ?? -1
            }
        }
    }

    @Test("Imports that send nothing end with 408 and free their slots")
    func slowImportsAreEnded() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var options = CatalogAPI.Options()
            options.concurrentImportLimit = 2
            options.importPace.gracePeriod = .milliseconds(300)
            let api = await TestAPI.api(catalog.storage, importer: Importer(catalog), options: options)
            let token = try await TestAPI.token("till", [.catalogWrite])
            try await TestAPI.run(api) { client in
                let stuck = try (0..<2).map { _ in try RawClient(client.port) }
                for socket in stuck { socket.send(Self.head(token) + Self.chunk("sku,name\na,A\n")) }
                for socket in stuck {
                    let response = await socket.response()
                    #expect(response.hasPrefix("HTTP/1.1 408"), "\(response)")
                    #expect(response.contains("payload-timeout"), "\(response)")
                }
                let imported = try await client.execute(
                    uri: "/v1/stores/s/imports?create_store=true",
                    method: .post,
                    headers: [.contentType: "text/csv"],
                    body: ByteBuffer(string: "sku,name\nb,B\n")
                )
                #expect(imported.status == .ok, "\(String(buffer: imported.body))")
            }
            #expect(try await Self.runs(catalog) == 0)
        }
    }

    @Test("An import ends when its client disconnects, and changes nothing")
    func anImportEndsWithItsClient() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let api = await TestAPI.api(catalog.storage, importer: Importer(catalog))
            let token = try await TestAPI.token("till", [.catalogWrite])
            try await TestAPI.run(api) { client in
                let leaving = try RawClient(client.port)
                let rows = (0..<4000).map { "p\($0),Product \($0)\n" }.joined()
                leaving.send(Self.head(token) + Self.chunk("sku,name\n") + Self.chunk(rows))
                #expect(try await eventually { try await Self.runs(catalog) > 0 })
                leaving.disconnect()
                #expect(try await eventually { try await Self.runs(catalog) == 0 })
            }
            await #expect(throws: CatalogError.self) { try await catalog.shelves.store(CatalogKey("s")!) }
        }
    }

    @Test("An import that loses its connection changes nothing")
    func anImportThatLosesItsConnectionLeavesNothing() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let rows = (0..<8000).map { "s,p\($0),Product \($0)\n" }.joined()
            let sent = Mutex(0)
            let chunks = AsyncThrowingStream<[UInt8], any Error> {
                let number = sent.withLock { sent in
                    defer { sent += 1 }
                    return sent
                }
                guard number < 3 else { return nil }
                guard number > 0 else { return Array("store,sku,name\n".utf8) + Array(rows.utf8) }
                let owner = try await PostgresConnection.connect(catalog.database.writes.configuration.inOwnerRole)
                _ = try await owner.perform {
                    try $0.execute(
                        """
                        SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                        WHERE datname = current_database() AND query LIKE 'COPY import_row%'
                        """
                    )
                }
                await owner.close()
                return Array(rows.utf8)
            }
            let options = ImportOptions(format: .csv, currency: Currency("EUR")!, createsStores: true)
            await #expect(throws: CatalogError.self) { try await Importer(catalog).importFile(chunks, options) }
            #expect(try await Self.runs(catalog) == 0)
        }
    }
}
