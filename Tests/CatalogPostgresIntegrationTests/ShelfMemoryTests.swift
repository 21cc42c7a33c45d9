import Catalog
import CatalogJSON
import LibPQ
import Ordering
import TestSupport
import Testing

@testable import CatalogPostgres

/// Pages from memory follow every change of their shelf.
@Suite(.timeLimit(.minutes(15))) struct ShelfMemoryTests {
    private static let (store, shelf) = (CatalogKey("s")!, CatalogKey("dairy")!)

    @Test("Facets follow every change of the shelf, in every sort")
    func followsChanges() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "Dairy"), in: Self.store)
            func put(_ sku: String, _ brand: String?, _ price: Int64, inStock: Bool = true) async throws {
                var product = Product(sku: SKU(sku)!, name: sku, priceMinor: price)
                product.brand = brand
                product.inStock = inStock
                _ = try await catalog.products.put(product, in: Self.store)
            }
            func facets(_ filter: Filter? = nil) async throws -> Facets {
                var found: [Facets] = []
                for sort in ["price", "-popularity", "name"] {
                    let request = PageRequest(
                        store: Self.store,
                        shelf: Self.shelf,
                        sort: try Sort.parse(sort),
                        filter: filter,
                        facets: [.brand, .price, .inStock]
                    )
                    found.append(try #require(try await catalog.pages.page(request).facets))
                }
                #expect(Set(found).count == 1, "each sort has the same facets")
                return found[0]
            }
            for (index, brand) in ["Arla", "Arla", "Oatly", nil].enumerated() {
                try await put("p\(index)", brand, Int64(100 + index))
                _ = try await catalog.products.place(SKU("p\(index)")!, on: Self.shelf, in: Self.store)
            }
            #expect(try await facets().brands.map(\.count).sorted() == [1, 1, 2])
            try await put("p3", "Arla", 103)
            #expect(try await facets().brands.map(\.count).sorted() == [1, 3])
            try await put("p2", "Oatly", 999, inStock: false)
            #expect(try await facets().prices.map(\.minor).max() == 999)
            #expect(try await facets().soldOut == 1)
            let arla = try Filter([.brand: .texts(["Arla"])])
            #expect(try await facets(arla).total == 3)
            try await catalog.products.unplace(SKU("p0")!, from: Self.shelf, in: Self.store)
            #expect(try await facets(arla).total == 2)
            #expect(try await facets().total == 3)
        }
    }

    @Test("Times of changes on a shelf grow, though the transaction of a later change began earlier")
    func timesGrowOnShelves() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "T"), in: Self.store)
            for sku in ["a", "b"] {
                _ = try await catalog.products.put(Product(sku: SKU(sku)!, name: sku, priceMinor: 1), in: Self.store)
                _ = try await catalog.products.place(SKU(sku)!, on: Self.shelf, in: Self.store)
            }
            // As if the last change had been made by a clock that is ahead.
            let last = try await catalog.database.writes.perform(within: .edit) { connection in
                try connection.query("UPDATE shelf SET modified_at = now() + interval '1 hour' RETURNING modified_at") {
                    try $0.first { try $0.timestamptz(0) }!
                }
            }
            try await catalog.prices.setPrices([PriceChange(sku: SKU("a")!, priceMinor: 2)], in: Self.store)
            let first = try await catalog.products.product(Self.store, SKU("a")!).product.modifiedAt.microseconds
            #expect(first == last + 1)
            _ = try await catalog.products.put(Product(sku: SKU("b")!, name: "B", priceMinor: 3), in: Self.store)
            let second = try await catalog.products.product(Self.store, SKU("b")!).product.modifiedAt.microseconds
            #expect(second > first)
        }
    }

    private static let inStock = try! Filter([.inStock: .flag(true)])

    /// Fills shelves with the same 40 products.
    private static func fill(_ catalog: PostgresCatalog, _ shelves: [CatalogKey]) async throws {
        _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
        for key in shelves { _ = try await catalog.shelves.put(Shelf(key: key, title: "T"), in: store) }
        for number in 0..<40 {
            let sku = SKU("p\(number)")!
            _ = try await catalog.products.put(
                Product(sku: sku, name: "N\(number)", priceMinor: Int64(number)),
                in: store
            )
            for key in shelves { _ = try await catalog.products.place(sku, on: key, in: store) }
        }
    }

    private static func request(_ sort: String, on shelf: CatalogKey = shelf) throws -> PageRequest {
        PageRequest(store: store, shelf: shelf, sort: try Sort.parse(sort), filter: inStock, limit: 7)
    }

    @Test("The entity tag of a page follows from the current basis, without its shelf in memory")
    func tagsNeedNoShelf() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog, [Self.shelf])
            let server = PostgresCatalog(catalog.database, encodingEvents: \.json)
            func tag(_ request: PageRequest) async throws -> String {
                try PlannedPage(request, try await server.pages.basis(of: request)).entityTag(day: 1)
            }
            var request = try Self.request("price")
            let first = try await catalog.pages.page(request)
            request.after = first.next
            for _ in 0..<2 {
                let page = try await catalog.pages.page(request)
                #expect(try await tag(request) == page.planned.entityTag(day: 1))
                #expect(server.shelfMemoryUse.shelves.count == 0)
                try await catalog.prices.setPrices([PriceChange(sku: SKU("p39")!, priceMinor: 5)], in: Self.store)
            }
            #expect(try await server.pages.page(request).products.isEmpty == false)
            #expect(server.shelfMemoryUse.shelves.count == 1)
        }
    }

    @Test("Pages continue at the same product after all keys of the manual order were replaced")
    func cursorsSurviveCompaction() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog, [Self.shelf])
            let whole = try await catalog.pages.allPages(try Self.request("position"))
            var request = try Self.request("position")
            let first = try await catalog.pages.page(request)
            request.after = first.next
            try await catalog.database.writes.perform {
                try $0.execute("UPDATE placement_position SET key = '\\xf0'::bytea || key")
                try $0.execute("UPDATE shelf SET version = version + 1, key_generation = key_generation + 1")
            }
            let second = try await catalog.pages.page(request)
            #expect((first.products + second.products).map(\.sku.text) == Array(whole.prefix(14)))
            // The cursor's product has left the shelf, and keeps its place.
            try await catalog.products.unplace(first.products.last!.sku, from: Self.shelf, in: Self.store)
            #expect(try await catalog.pages.page(request).products.map(\.sku) == second.products.map(\.sku))
        }
    }

    @Test("A database that has lost commits replaces the shelf in memory")
    func lostCommits() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog, [Self.shelf])
            let request = try Self.request("-price")
            let before = try await catalog.pages.page(request)
            // The state before, as after a failover: the change to the last product is not there.
            try await catalog.database.writes.perform {
                try $0.execute("UPDATE shelf SET version = version - 1000")
                try $0.execute("UPDATE product SET price_minor = 1000, modified_at = '2020-01-01' WHERE sku = 'p3'")
            }
            for _ in 0..<3 {
                let after = try await catalog.pages.page(request)
                #expect(after.head.state.version == before.head.state.version - 1000)
                #expect(after.products.map(\.sku.text).prefix(2) == ["p3", "p39"])
            }
        }
    }

    @Test("Shelves that are too large for the memory are served, one at a time from memory")
    func largeShelves() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let shelves = [Self.shelf, CatalogKey("other")!]
            try await Self.fill(catalog, shelves)
            // A table of 40 products takes more than 4,000 bytes.
            let small = PostgresCatalog(catalog.database, encodingEvents: \.json, shelfMemory: 10_000)
            for round in 0..<3 {
                for shelf in shelves {
                    for sort in ["-price", "name,price", "position"] {
                        let request = try Self.request(sort, on: shelf)
                        #expect(try await small.pages.allPages(request) == catalog.pages.allPages(request), "\(sort)")
                    }
                    let change = PriceChange(sku: SKU("p\(round)")!, priceMinor: Int64(100 + round))
                    try await catalog.prices.setPrices([change], in: Self.store)
                }
            }
        }
    }

    @Test("Shelves use what views, facets and unions leave of the memory, and give it back")
    func lendsMemory() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            // A table of 120 products takes about 15,000 bytes.
            let shelves = (0..<26).map { CatalogKey("shelf-\($0)")! }
            let rows = shelves.flatMap { shelf in
                (0..<120).map { "s,\(shelf),p\($0),Product \($0),Brand \($0 % 5),\($0).99,true\n" }
            }
            let text = "store,shelf,sku,name,brand,price,in_stock\n" + rows.joined()
            var options = ImportOptions(format: .csv, createsStores: true)
            options.newShelfLimit = shelves.count
            _ = try await Importer(catalog).importFile(ImporterTests.Chunks(text: text), options)
            let shares = ShelfMemoryShares(limit: 400_000)
            let small = PostgresCatalog(catalog.database, encodingEvents: \.json, shelfMemory: shares.limit)
            for shelf in shelves { _ = try await small.pages.page(Self.request("-price", on: shelf)) }
            var use = small.shelfMemoryUse
            #expect(use.shelves.size > shares.shelves, "they use more than their share")
            #expect(use.shelves.evictions > 0, "not all have room")
            for key in ["price", "name", "-name", "created", "-created", "modified", "-modified", "brand", "position"] {
                for (second, shelf) in zip(["unit_price", "popularity", "-popularity", "tags"], shelves) {
                    _ = try await small.pages.page(Self.request("\(key),\(second)", on: shelf))
                }
            }
            use = small.shelfMemoryUse
            #expect(use.views.size > shares.views / 2)
            #expect(use.bytes <= shares.shelvesLimit)

            // The union of the whole store, which has the products of one shelf.
            let whole = PageRequest(store: Self.store, shelf: nil, sort: try Sort.parse("price"))
            _ = try await small.pages.page(whole)
            use = small.shelfMemoryUse
            #expect(use.unions.count == 1)
            #expect(use.bytes <= shares.shelvesLimit)
            for shelf in shelves {
                for facets in [[.brand], [.inStock], [.brand, .inStock]] as [Set<Facet>] {
                    let request = PageRequest(store: Self.store, shelf: shelf, facets: facets)
                    _ = try await small.pages.page(request)
                }
            }
            use = small.shelfMemoryUse
            #expect(use.facets.size > shares.facets / 2)
            #expect(use.bytes <= shares.shelvesLimit)
        }
    }
}
