import Catalog
import CatalogHTTP
import CatalogPostgres
import Foundation
import HummingbirdCore
import InMemoryCatalog
import LibPQ
import Testing
import TestSupport

/// Clients that close the connection before the response.
@Suite(.timeLimit(.minutes(5))) struct DepartureTests {
    /// The statements that sleep because of the policy below.
    private static let sleeping: PostgresStatement = """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'
        """

    @Test("A stream ends with its connection, even if the client has sent a part of a body")
    func abandonedStreamsEnd() async throws {
        let departures = Departures()
        var options = CatalogAPI.Options()
        options.rateLimit = .standard
        options.streamsPerClientLimit = 1
        options.departures = departures
        let catalog = InMemoryCatalog(collate: collator)
        let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
        _ = try await catalog.put(Store(key: store, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.put(Shelf(key: shelf, title: "X"), in: store)
        let api = await TestAPI.api(catalog.storage, importer: TestAPI.NoImports(), options: options)
        let channel = HTTP1Channel.Configuration(additionalChannelHandlers: [departures.handler()])
        try await serving(api, channel: channel) { client in
            let head = "GET /v1/stores/s/shelves/x/events HTTP/1.1\r\nHost: a\r\n"
            let first = try RawClient(client.port)
            first.send(head + "Content-Length: 4000000\r\n\r\n")
            #expect(await first.receive().hasPrefix("HTTP/1.1 200 "))
            first.send(String(repeating: "x", count: 1_000_000))
            first.disconnect()
            let deadline = ContinuousClock.now + .seconds(20)
            var answer = ""
            repeat {
                let second = try RawClient(client.port)
                second.send(head + "\r\n")
                answer = await second.receive()
            } while !answer.hasPrefix("HTTP/1.1 200 ") && ContinuousClock.now < deadline
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
        }
    }

    @Test(
        "A read is cancelled in PostgreSQL when its client disconnects",
        .disabled(if: CitusServers.prefix != nil, "a worker has the policy and the activity")
    )
    func abandonedReadsEnd() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
            _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: "X"), in: store)
            _ = try await catalog.products.put(Product(sku: SKU("a")!, name: "A", priceMinor: 1), in: store)
            _ = try await catalog.products.place(SKU("a")!, on: shelf, in: store)
            let owner = try await PostgresConnection.connect(catalog.database.writes.configuration.inOwnerRole)
            // Reading a placement takes as long as a statement may.
            try await owner.perform {
                try $0.run(
                    script: """
                        ALTER TABLE placement ENABLE ROW LEVEL SECURITY;
                        CREATE POLICY slow ON placement USING (pg_sleep(60) IS NOT NULL)
                        """
                )
            }
            @Sendable func sleeping() async throws -> Int {
                try await owner.perform { try $0.query(Self.sleeping) { try $0.first { try $0.int(0) } ?? 0 } }
            }
            let departures = Departures()
            var options = CatalogAPI.Options()
            options.departures = departures
            let api = await TestAPI.api(catalog.storage, importer: Importer(catalog), options: options)
            let channel = HTTP1Channel.Configuration(additionalChannelHandlers: [departures.handler()])
            try await serving(api, channel: channel) { client in
                let leaving = try RawClient(client.port)
                leaving.send("GET /v1/stores/s/shelves/x/order?sort=price HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await eventually(within: .seconds(10)) { try await sleeping() == 1 })
                leaving.disconnect()
                #expect(try await eventually(within: .seconds(10)) { try await sleeping() == 0 })
            }
            await owner.close()
        }
    }
}
