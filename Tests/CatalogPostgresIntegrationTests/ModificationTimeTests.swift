import Catalog
import CatalogPostgres
import LibPQ
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ModificationTimeTests {
    private static let store = CatalogKey("s")!
    private static let sku = SKU("a")!

    /// Sets the time of the product's last change to an hour from now, as if the clock had been set back since.
    private func postpone(_ catalog: PostgresCatalog) async throws -> Timestamp {
        let microseconds = try await catalog.database.writes.perform(within: .edit) { connection in
            try connection.query("UPDATE product SET modified_at = now() + interval '1 hour' RETURNING modified_at") {
                try $0.first { try $0.timestamptz(0) }!
            }
        }
        return Timestamp(microseconds: microseconds)
    }

    private func modifiedAt(_ catalog: PostgresCatalog) async throws -> Timestamp {
        try await catalog.products.product(Self.store, Self.sku).product.modifiedAt
    }

    @Test("A change of a product has a later time than the one before, whatever the clock says")
    func timesGrow() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.products.put(Product(sku: Self.sku, name: "A", priceMinor: 1), in: Self.store)
            var last = try await postpone(catalog)
            _ = try await catalog.products.put(Product(sku: Self.sku, name: "B", priceMinor: 1), in: Self.store)
            #expect(try await modifiedAt(catalog).microseconds == last.microseconds + 1)
            last = try await postpone(catalog)
            try await catalog.prices.setPrices([PriceChange(sku: Self.sku, priceMinor: 2)], in: Self.store)
            #expect(try await modifiedAt(catalog).microseconds == last.microseconds + 1)
            last = try await postpone(catalog)
            let file = "store,shelf,sku,name,price,currency\ns,X,a,C,0.03,EUR\n"
            let chunks = AsyncStream<[UInt8]> { stream in
                stream.yield(Array(file.utf8))
                stream.finish()
            }
            _ = try await Importer(catalog).importFile(chunks, ImportOptions(format: .csv, createsStores: true))
            #expect(try await modifiedAt(catalog).microseconds == last.microseconds + 1)
        }
    }
}
