import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The state of a store, whose row is the lock of the store.
@Suite(.timeLimit(.minutes(15))) struct StoreStateTests {
    private static let stores = [CatalogKey("a")!, CatalogKey("b")!]
    private static let shelf = CatalogKey("x")!
    private static let sku = SKU("p")!

    private static func store(_ key: CatalogKey) -> Store { Store(key: key, title: "S", currency: Currency("EUR")!) }

    /// Imports rows of store, shelf, SKU, name, price and currency.
    private static func importRows(_ rows: [String], into catalog: PostgresCatalog) async throws {
        let file = (["store,shelf,sku,name,price,currency"] + rows).map { $0 + "\n" }.joined()
        _ = try await Importer(catalog).importFile(
            ImporterTests.Chunks(text: file),
            ImportOptions(format: .csv, createsStores: true)
        )
    }

    private static func id(
        _ shelf: CatalogKey,
        in store: CatalogKey,
        _ catalog: PostgresCatalog
    ) async throws -> Int32 {
        try await ShelfLookup(database: catalog.database).readHead(store, shelf).location.shelfID
    }

    @Test("Shelves that are created at the same time get different ids, from 1 in each store")
    func assignsShelfIDs() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for store in Self.stores { _ = try await catalog.shelves.put(Self.store(store)) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in Self.stores {
                    for number in 1...8 {
                        group.addTask {
                            _ = try await catalog.shelves.put(
                                Shelf(key: CatalogKey("s\(number)")!, title: "S"),
                                in: store
                            )
                        }
                    }
                    group.addTask {
                        try await Self.importRows(["\(store),i1,p,P,,EUR", "\(store),i2,p,P,,EUR"], into: catalog)
                    }
                }
                try await group.waitForAll()
            }
            let ids = try await catalog.database.writes.perform {
                try $0.query("SELECT string_agg(shelf_id::text, ',' ORDER BY shelf_id) FROM shelf GROUP BY store_id") {
                    try $0.map { try $0.text(0) }
                }
            }
            #expect(ids == Array(repeating: "1,2,3,4,5,6,7,8,9,10", count: 2))
        }
    }

    @Test("The id of a deleted shelf is not assigned again, except to the shelf itself")
    func deletedShelvesKeepTheirIDs() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let store = Self.stores[0]
            _ = try await catalog.shelves.put(Self.store(store))
            _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "X"), in: store)
            try await catalog.shelves.remove(shelf: Self.shelf, from: store)
            let next = CatalogKey("next")!
            _ = try await catalog.shelves.put(Shelf(key: next, title: "Next"), in: store)
            #expect(try await Self.id(next, in: store, catalog) == 2)
            try await Self.importRows(["\(store),x,p,P,,EUR", "\(store),last,p,P,,EUR"], into: catalog)
            #expect(try await Self.id(Self.shelf, in: store, catalog) == 1)
            #expect(try await Self.id(CatalogKey("last")!, in: store, catalog) > 2)
        }
    }

    @Test("Changes of a shelf do not affect the shelf of another store with the same id")
    func sameIDsAreSeparate() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for store in Self.stores {
                _ = try await catalog.shelves.put(Self.store(store))
                _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "X"), in: store)
                _ = try await catalog.products.put(Product(sku: Self.sku, name: "P", priceMinor: 1), in: store)
                _ = try await catalog.products.place(Self.sku, on: Self.shelf, in: store)
                #expect(try await Self.id(Self.shelf, in: store, catalog) == 1)
            }
            let (changed, other) = (Self.stores[0], Self.stores[1])
            let before = try await catalog.shelves.shelf(other, Self.shelf)
            try await catalog.prices.setPrices([PriceChange(sku: Self.sku, priceMinor: 2)], in: changed)
            _ = try await Resorter(catalog).run(ResortRequest(store: changed))
            try await catalog.products.unplace(Self.sku, from: Self.shelf, in: changed)
            try await catalog.products.remove(product: Self.sku, from: changed)
            try await catalog.shelves.remove(shelf: Self.shelf, from: changed)
            #expect(try await catalog.shelves.shelf(other, Self.shelf) == before)
            let page = try await catalog.pages.page(PageRequest(store: other, shelf: Self.shelf))
            #expect(page.products.map(\.priceMinor) == [1])
        }
    }

    @Test("A store that is created several times at the same time is created once")
    func createsStoresOnce() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let created = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        do { return try await catalog.shelves.put(Self.store(Self.stores[0])) } catch CatalogError
                            .conflict
                        {
                            return false
                        }
                    }
                }
                return try await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(created.count { $0 } == 1)
            #expect(try await catalog.shelves.stores().count == 1)
        }
    }

    @Test(
        "A changed price keeps a regular price that is set at the same time, on a shelf or not",
        arguments: [false, true]
    )
    func pricesKeepRegularPrices(isPlaced: Bool) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let store = Self.stores[0]
            _ = try await catalog.shelves.put(Self.store(store))
            _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "X"), in: store)
            _ = try await catalog.products.put(Product(sku: Self.sku, name: "P", priceMinor: 1), in: store)
            if isPlaced { _ = try await catalog.products.place(Self.sku, on: Self.shelf, in: store) }
            try await catalog.database.writes.withConnection { holder in
                try await holder.perform {
                    try $0.run(script: "BEGIN; UPDATE product SET regular_price_minor = 9")
                }
                let change = Task {
                    try await catalog.prices.setPrices([PriceChange(sku: Self.sku, priceMinor: 5)], in: store)
                }
                try await catalog.untilLockIsAwaited()
                try await holder.perform { try $0.run(script: "COMMIT") }
                _ = try await change.value
            }
            let product = try await catalog.products.product(store, Self.sku).product
            #expect(product.priceMinor == 5)
            #expect(product.regularPriceMinor == 9)
        }
    }

    @Test("A known id that belongs to another store after a restore is looked up again")
    func outdatedIdsAreNotUsed() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let (a, b) = (Self.stores[0], Self.stores[1])
            for store in [a, b] {
                _ = try await catalog.shelves.put(Self.store(store))
                _ = try await catalog.shelves.store(store)
            }
            _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "Of b"), in: b)
            let ids = catalog.database.storeIDs
            let (first, second) = (try #require(ids[a]), try #require(ids[b]))
            #expect(first != second)
            func exchange() { (ids[a], ids[b]) = (second, first) }
            exchange()
            #expect(try await catalog.shelves.store(a).key == a)
            exchange()
            #expect(try await catalog.shelves.shelf(b, Self.shelf).state.shelf.title == "Of b")
            exchange()
            #expect(try await catalog.products.put(Product(sku: SKU("p")!, name: "P", priceMinor: 1), in: b))
            #expect(try await catalog.products.product(b, SKU("p")!).product.name == "P")
            await #expect(throws: CatalogError.notFound("product “p”")) {
                try await catalog.products.product(a, SKU("p")!)
            }
            exchange()
            #expect(try await catalog.pages.page(PageRequest(store: b, shelf: Self.shelf)).products.isEmpty)
            await #expect(throws: CatalogError.notFound("store “c”")) {
                try await catalog.shelves.store(CatalogKey("c")!)
            }
        }
    }

    @Test("An import that waits for a change of the currency sees the new currency")
    func readsSettingsUnderTheLock() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let store = Self.stores[0]
            _ = try await catalog.shelves.put(Self.store(store))
            try await catalog.database.writes.withConnection { holder in
                try await holder.perform {
                    try $0.run(script: "BEGIN")
                    try $0.run(script: "SELECT 1 FROM store_state WHERE store_id = 1 FOR UPDATE")
                    try $0.run(script: "UPDATE store SET currency = 'SEK'")
                }
                let change = Task { try await Self.importRows(["\(store),x,p,P,1.00,EUR"], into: catalog) }
                try await catalog.untilLockIsAwaited()
                try await holder.perform { try $0.run(script: "COMMIT") }
                let refusal = CatalogError.conflict("store “a” was created with currency SEK during the import")
                await #expect(throws: refusal) { try await change.value }
            }
        }
    }
}
