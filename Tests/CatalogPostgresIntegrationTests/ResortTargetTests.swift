import Catalog
import CatalogJSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Which shelves a re-sort processes: each shelf of the test is left out, or included, by one condition only.
@Suite(.timeLimit(.minutes(15))) struct ResortTargetTests {
    private static let (shop, other) = (CatalogKey("shop")!, CatalogKey("other")!)
    private static let names = ["moved", "sourced", "edge", "early", "bought", "same", "gone"]

    private static func fill(_ store: CatalogKey, _ catalog: PostgresCatalog) async throws {
        _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
        for name in names {
            let key = CatalogKey(name)!
            let source = name == "sourced" ? Sort(.name, .ascending) : nil
            _ = try await catalog.shelves.put(Shelf(key: key, title: name, positionSource: source), in: store)
            for letter in ["a", "b"] {
                let sku = SKU("\(name)-\(letter)")!
                _ = try await catalog.products.put(Product(sku: sku, name: letter, priceMinor: 1), in: store)
                _ = try await catalog.products.place(sku, on: key, in: store)
            }
        }
    }

    /// Changes the shelves after a re-sort.
    private static func change(_ store: CatalogKey, since: Timestamp, _ catalog: PostgresCatalog) async throws {
        for name in ["moved", "sourced", "gone"] {
            let edit = ManualOrderEdit.moves([OrderMove(["\(name)-b"], .first)])
            try await catalog.manualOrder.editOrder(
                OrderEditRequest(store: store, shelf: CatalogKey(name)!, edit: edit)
            )
        }
        for name in ["edge", "early"] {
            try await catalog.prices.setPrices([PriceChange(sku: SKU("\(name)-a")!, priceMinor: 9)], in: store)
        }
        let purchase = Purchase(eventID: "1", sku: SKU("bought-a")!, quantity: 1, at: .now())
        try await catalog.purchases.add([purchase], to: store)
        try await catalog.shelves.remove(shelf: CatalogKey("gone")!, from: store)
        let times = [
            "edge": since.microseconds, "early": since.microseconds - 1, "moved": 0, "sourced": 0, "bought": 0,
        ]
        try await catalog.database.writes.perform { connection in
            for (name, time) in times {
                try connection.execute(
                    "UPDATE shelf SET modified_at = $2 WHERE key = $1",
                    [.text(name), .timestamptz(time)]
                )
            }
        }
    }

    @Test("A re-sort since a time processes shelves that changed or were moved since, and those with purchases")
    func changedSince() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for store in [Self.other, Self.shop] { try await Self.fill(store, catalog) }
            let resorter = Resorter(catalog)
            _ = try await resorter.run(ResortRequest())
            let since = Timestamp(microseconds: Timestamp.now().microseconds - 3_600_000_000)
            for store in [Self.other, Self.shop] { try await Self.change(store, since: since, catalog) }
            func shelves(_ names: [String], _ since: Timestamp?) async throws -> Int {
                let keys = names.map { CatalogKey($0)! }
                let request = ResortRequest(store: Self.shop, shelves: keys, changedSince: since)
                return try await resorter.run(request).shelves
            }
            #expect(try await shelves(["edge", "early", "same"], since) == 1)
            // The shelf with a source is processed, although a move does not change its time.
            #expect(try await shelves([], since) == 2)
            #expect(
                try await catalog.pages.order(Self.shop, CatalogKey("sourced")!, .position).ids == [
                    "sourced-a", "sourced-b",
                ]
            )
            let others = try await catalog.pages.order(Self.other, CatalogKey("sourced")!, .position).ids
            #expect(others == ["sourced-b", "sourced-a"])
            #expect(try await shelves([], nil) == 2)
            #expect(try await shelves([], nil) == 0)
        }
    }
}
