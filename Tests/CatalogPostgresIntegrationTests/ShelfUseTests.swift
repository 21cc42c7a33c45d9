import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The times at which shelves were used, by which starting servers choose the shelves to read.
@Suite(.timeLimit(.minutes(15))) struct ShelfUseTests {
    private static let (store, shelf) = (CatalogKey("s")!, CatalogKey("dairy")!)
    private static let hour: Int64 = 3_600_000_000

    @Test("The use of a shelf is recorded once an hour, if a request has used it since the last time")
    func useIsRecorded() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "Dairy"), in: Self.store)
            _ = try await catalog.products.put(Product(sku: SKU("a")!, name: "A"), in: Self.store)
            _ = try await catalog.products.place(SKU("a")!, on: Self.shelf, in: Self.store)
            let images = ShelfImages(catalog)
            let start = Timestamp.now().microseconds
            func after(_ microseconds: Int64) -> Timestamp { Timestamp(microseconds: start + microseconds) }
            /// Returns when the shelf was used, in microseconds since the start.
            func usedAt() async throws -> Int64? {
                let found = try await catalog.database.writes.perform(within: .lookup) {
                    try $0.query("SELECT used_at FROM shelf_image") { try $0.first { try $0.timestamptz(0) } }
                }
                return found.map { $0 - start }
            }
            func useShelf() async throws {
                let request = PageRequest(store: Self.store, shelf: Self.shelf, sort: Sort(.name, .ascending)!)
                #expect(try await catalog.pages.page(request).products.count == 1)
            }
            try await useShelf()
            #expect(try await images.write(at: after(0)) == 1)
            #expect(try await usedAt() == 0)
            try await images.markUsed(at: after(Self.hour - 1))
            #expect(try await usedAt() == 0)
            try await useShelf()
            try await images.markUsed(at: after(Self.hour))
            #expect(try await usedAt() == Self.hour)
            // No request has used it since.
            try await images.markUsed(at: after(10 * Self.hour))
            #expect(try await usedAt() == Self.hour)
            try await useShelf()
            images.forgetUse()
            try await images.markUsed(at: after(20 * Self.hour))
            #expect(try await usedAt() == Self.hour)
            try await useShelf()
            try await images.markUsed(at: after(30 * Self.hour))
            #expect(try await usedAt() == 30 * Self.hour)
            // Nothing waits to be stored.
            #expect(try await images.write(at: after(0)) == 0)
            #expect(try await images.deleteUnused(at: after((30 + 30 * 24) * Self.hour - 1)) == 0)
            #expect(try await images.deleteUnused(at: after((30 + 30 * 24) * Self.hour + 1)) == 1)
        }
    }

    @Test("A starting server reads the shelves that have a usable image, and reports them")
    func startingServers() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.store, title: "S", currency: Currency("EUR")!))
            let shelves = ["a", "b", "c"].map { CatalogKey($0)! }
            for (index, key) in shelves.enumerated() {
                _ = try await catalog.shelves.put(Shelf(key: key, title: key.text), in: Self.store)
                let sku = SKU("p\(index)")!
                _ = try await catalog.products.put(Product(sku: sku, name: "P"), in: Self.store)
                _ = try await catalog.products.place(sku, on: key, in: Self.store)
                _ = try await catalog.pages.page(PageRequest(store: Self.store, shelf: key))
            }
            #expect(try await ShelfImages(catalog).write() == 3)
            // One image is damaged.
            try await catalog.database.writes.perform(within: .lookup) {
                try $0.execute(
                    """
                    UPDATE shelf_image SET image = '\\x00' WHERE shelf_id = (SELECT shelf_id FROM shelf WHERE key = 'b')
                    """
                )
            }
            let server = PostgresCatalog(catalog.database, encodingEvents: { _ in [] })
            let read = try await ShelfImages(server).readLastUsed(within: .seconds(60))
            #expect(Set(read.map(\.shelf.text)) == ["a", "c"])
            #expect(read.allSatisfy { $0.store == Self.store })
            #expect(server.shelfMemoryUse.shelves.count == 2)
            // No request needed them.
            #expect(server.pageStore.memory.caches.takeUsed().isEmpty)
            // The server stores an image in place of the damaged one.
            #expect(try await ShelfImages(server).write() == 1)
            let next = PostgresCatalog(catalog.database, encodingEvents: { _ in [] })
            #expect(try await ShelfImages(next).readLastUsed(within: .seconds(60)).count == 3)
        }
    }
}
