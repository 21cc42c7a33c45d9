import Catalog
import LibPQ
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// Re-sorts that were interrupted, and are resumed.
@Suite(.timeLimit(.minutes(15))) struct ResortResumeTests {
    private static let (shop, other) = (CatalogKey("shop")!, CatalogKey("other")!)
    private static let shelves = ["first", "second"].map { CatalogKey($0)! }

    /// Two stores with two shelves each, whose products a re-sort by price moves.
    private static func fill(_ catalog: PostgresCatalog) async throws {
        for store in [shop, other] {
            _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            for key in shelves {
                let shelf = Shelf(key: key, title: "S", positionSource: Sort(.price, .ascending))
                _ = try await catalog.shelves.put(shelf, in: store)
            }
            let skus = ["a", "b", "c"].map { SKU($0)! }
            for (sku, price) in zip(skus, [3, 1, 2] as [Int64]) {
                _ = try await catalog.products.put(Product(sku: sku, name: sku.text, priceMinor: price), in: store)
                for key in shelves { _ = try await catalog.products.place(sku, on: key, in: store) }
            }
            // Now other prices than those by which they were placed.
            for (sku, price) in zip(skus, [1, 3, 2] as [Int64]) {
                _ = try await catalog.products.put(Product(sku: sku, name: sku.text, priceMinor: price), in: store)
            }
        }
    }

    private static func run(_ script: String, _ catalog: PostgresCatalog) async throws {
        try await catalog.database.writes.perform { try $0.run(script: script) }
    }

    /// Records a run of a request as one whose process has died.
    private static func recordInterrupted(_ request: String, _ catalog: PostgresCatalog) async throws {
        try await catalog.database.writes.perform { connection in
            _ = try connection.execute(
                "INSERT INTO resort_run (started_at, request) VALUES (now(), $1)",
                [.text(request)]
            )
        }
    }

    /// Returns the shelves that no re-sort has processed, as `store/shelf`.
    private static func unprocessed(_ catalog: PostgresCatalog) async throws -> [String] {
        try await catalog.database.writes.perform { connection in
            try connection.query(
                """
                SELECT s.key || '/' || h.key FROM shelf h JOIN store s USING (store_id) WHERE h.resorted_version IS NULL ORDER BY 1
                """
            ) { try $0.map { try $0.text(0) } }
        }
    }

    @Test("A resumed run processes the shelves of its own request, and reports as the new request asks")
    func resumesOwnRequest() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            let all = ["other/first", "other/second", "shop/first", "shop/second"]
            #expect(try await Self.unprocessed(catalog) == all)
            let request = ResortRequest(store: Self.shop, shelves: [Self.shelves[1]], diffs: .none)
            try await Self.recordInterrupted(request.text, catalog)
            #expect(try await Resorter(catalog).history(1).map(\.state) == [.interrupted])
            let reports = Mutex<[ShelfResort]>([])
            let listener = Resorter.Listener(onShelf: { report in reports.withLock { $0.append(report) } })
            let summary = try await Resorter(catalog).resume(as: ResortRequest(diffs: .moves, jobs: 2), listener)
            #expect(summary?.shelves == 1)
            #expect(try await Self.unprocessed(catalog) == all.filter { $0 != "shop/second" })
            let found = reports.withLock { $0 }
            #expect(found.map(\.shelf.shelf) == [Self.shelves[1]])
            #expect(found.allSatisfy { $0.diff != nil })
            // The run has ended, with its own request and totals.
            let runs = try await Resorter(catalog).history(10)
            #expect(runs.map(\.state) == [.done])
            #expect(runs.map(\.request) == [request.text])
            #expect(runs.map(\.summary.shelves) == [1])
            #expect(try await Resorter(catalog).resume() == nil)
        }
    }

    @Test("A resumed run of all stores processes all of them, whatever the new request names")
    func resumesAllStores() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            try await Self.recordInterrupted(ResortRequest().text, catalog)
            let summary = try await Resorter(catalog).resume(as: ResortRequest(store: Self.shop, diffs: .none))
            #expect(summary?.shelves == 4)
            #expect(try await Self.unprocessed(catalog).isEmpty)
        }
    }

    @Test("A run whose recorded request cannot be read is a fault, and processes nothing")
    func invalidRequests() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            try await Self.recordInterrupted("{", catalog)
            await #expect(throws: CatalogError.fault("invalid recorded re-sort request: {")) {
                try await Resorter(catalog).resume()
            }
            #expect(try await Self.unprocessed(catalog).count == 4)
            #expect(try await Resorter(catalog).history(10).map(\.state) == [.interrupted])
        }
    }
}
