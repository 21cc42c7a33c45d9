import InMemoryCatalog
import CatalogJSON
import AisleDiff
import Catalog
import CatalogPostgres
import TestSupport
import Testing

/// The contract of catalog stores, checked in memory and in PostgreSQL.
@Suite(.timeLimit(.minutes(15))) struct StoreConformanceTests {
    private static let shop = CatalogKey("shop")!
    private static let dairy = CatalogKey("dairy")!
    private static let cheese = CatalogKey("cheese")!

    @Test("The in-memory catalog conforms to the catalog store contract")
    func theStoreInMemory() async throws {
        try await check(InMemoryCatalog(collate: collator()))
    }

    @Test("The PostgreSQL catalog conforms to the catalog store contract")
    func theStoreInPostgreSQL() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in try await check(catalog) }
    }

    @Test("Both orders of a diff are from one snapshot")
    func diffReadsOneSnapshot() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            _ = try await catalog.put(Shelf(key: Self.dairy, title: "Dairy"), in: Self.shop)
            for number in 0..<60 {
                let product = Product(sku: SKU("p\(number)")!, name: "P\(number)", priceMinor: Int64(number * 37 % 50))
                _ = try await catalog.put(product, in: Self.shop)
                _ = try await catalog.place(product.sku, on: Self.dairy, in: Self.shop)
            }
            let request = DiffRequest(
                store: Self.shop,
                shelf: Self.dairy,
                from: .view(ShelfView(sort: Sort(.price, .ascending))),
                to: ShelfView(sort: Sort(.name, .descending))
            )
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<2 {
                    group.addTask {
                        for round in 0..<60 {
                            let sku = SKU("p\((round * 7 + writer * 30) % 60)")!
                            try await catalog.unplace(sku, from: Self.dairy, in: Self.shop)
                            _ = try await catalog.place(sku, on: Self.dairy, in: Self.shop)
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<120 {
                        let diff = try await catalog.diff(request)
                        // In inconsistent orders, a product would be in one and not in the other.
                        #expect(diff.diff.inserts.isEmpty)
                        #expect(diff.diff.deletes.isEmpty)
                        #expect(diff.old.count >= 58)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    private func check(_ catalog: some CatalogStore) async throws {
        try await checkEmptyCatalog(catalog)
        #expect(try await catalog.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!)))
        #expect(try await catalog.put(Store(key: Self.shop, title: "My Shop", currency: Currency("EUR")!)) == false)
        #expect(try await catalog.stores().map(\.title) == ["My Shop"])
        try await checkShelves(catalog)
        try await checkProducts(catalog)
        try await checkPlacements(catalog)
        try await checkDiffs(catalog)
        try await checkRemovals(catalog)
    }

    private func checkDiffs(_ catalog: some CatalogStore) async throws {
        let prices: [String: Int64] = ["d1": 300, "d2": 100, "d3": 200, "d4": 400]
        let bread = CatalogKey("bread")!
        _ = try await catalog.put(Shelf(key: bread, title: "Bread"), in: Self.shop)
        for (sku, price) in prices.sorted(by: { $0.key < $1.key }) {
            _ = try await catalog.put(Product(sku: SKU(sku)!, name: sku, priceMinor: price), in: Self.shop)
            _ = try await catalog.place(SKU(sku)!, on: bread, in: Self.shop)
        }
        var request = DiffRequest(
            store: Self.shop,
            shelf: bread,
            from: .view(ShelfView(sort: Sort(.name, .ascending))),
            to: ShelfView(sort: Sort(.price, .ascending))
        )
        let whole = try await catalog.diff(request)
        #expect(whole.old == ["d1", "d2", "d3", "d4"])
        #expect(whole.new == ["d2", "d3", "d1", "d4"])
        #expect(whole.diff.moves.count == 1)
        #expect(whole.products.isEmpty)
        request.limit = 2
        let window = try await catalog.diff(request)
        #expect(window.old == ["d1", "d2"])
        #expect(window.new == ["d2", "d3"])
        #expect(window.insertedIDs == ["d3"])
        #expect(window.products["d3"]?.priceMinor == 200)
        request.from = .list(["d4", "x"])
        #expect(try await catalog.diff(request).deletedIDs == ["d4", "x"])
        request.limit = 0
        await #expect(throws: CatalogError.self) { try await catalog.diff(request) }
        for sku in prices.keys { try await catalog.remove(product: SKU(sku)!, from: Self.shop) }
        try await catalog.remove(shelf: bread, from: Self.shop)
    }

    private func checkEmptyCatalog(_ catalog: some CatalogStore) async throws {
        #expect(try await catalog.stores().isEmpty)
        await #expect(throws: CatalogError.notFound("store “shop”")) { try await catalog.store(Self.shop) }
        await #expect(throws: CatalogError.notFound("store “shop”")) { try await catalog.shelf(Self.shop, Self.dairy) }
        await #expect(throws: CatalogError.self) {
            try await catalog.put(Shelf(key: Self.dairy, title: "x"), in: Self.shop)
        }
    }

    private func checkShelves(_ catalog: some CatalogStore) async throws {
        await #expect(throws: CatalogError.notFound("shelf “dairy”")) { try await catalog.shelf(Self.shop, Self.dairy) }
        let sort = Sort(.price, .descending)
        #expect(try await catalog.put(Shelf(key: Self.dairy, title: "Dairy", defaultSort: sort), in: Self.shop))
        #expect(try await catalog.put(Shelf(key: Self.cheese, title: "Cheese", parent: Self.dairy), in: Self.shop))
        let head = try await catalog.shelf(Self.shop, Self.cheese)
        #expect(head.resolve().sort == sort)
        #expect(head.resolve().source == .shelf)
        await #expect(throws: CatalogError.self) {
            try await catalog.put(Shelf(key: Self.cheese, title: "Cheese", parent: CatalogKey("none")!), in: Self.shop)
        }
        await #expect(throws: CatalogError.self) {
            try await catalog.put(Shelf(key: Self.cheese, title: "C"), in: Self.shop, replacing: head.state.version - 1)
        }
        let names = try await catalog.shelves(ShelvesRequest(store: Self.shop, sort: .name)).shelves.map(\.shelf.key)
        #expect(names == [Self.cheese, Self.dairy])
        let positions = try await catalog.shelves(ShelvesRequest(store: Self.shop)).shelves.map(\.shelf.key)
        #expect(positions == [Self.dairy, Self.cheese])
        let first = try await catalog.shelves(ShelvesRequest(store: Self.shop, sort: .nameDescending, limit: 1))
        let rest = try await catalog.shelves(
            ShelvesRequest(store: Self.shop, sort: .nameDescending, limit: 1, after: first.next)
        )
        #expect(first.shelves.map(\.shelf.key) == [Self.dairy])
        #expect(rest.shelves.map(\.shelf.key) == [Self.cheese])
        #expect(rest.next == nil)
    }

    private func checkProducts(_ catalog: some CatalogStore) async throws {
        for number in 1...5 {
            let product = Product(sku: SKU("p\(number)")!, name: "Product \(number)", priceMinor: Int64(number * 100))
            #expect(try await catalog.put(product, in: Self.shop))
        }
        let first = try await catalog.product(Self.shop, SKU("p1")!)
        #expect(first.shelves.isEmpty)
        #expect(first.product.priceMinor == 100)
        #expect(first.product.popularity == .none)
        var changed = first.product
        changed.brand = "Brand"
        #expect(
            try await catalog.put(
                changed,
                in: Self.shop,
                pricedIn: Currency("EUR"),
                replacing: first.product.modifiedAt
            ) == false
        )
        await #expect(throws: CatalogError.self) {
            try await catalog.put(changed, in: Self.shop, pricedIn: nil, replacing: Timestamp(microseconds: 1))
        }
        await #expect(throws: CatalogError.self) {
            try await catalog.put(changed, in: Self.shop, pricedIn: Currency("USD"), replacing: nil)
        }
        // A store with prices keeps its currency.
        await #expect(throws: CatalogError.self) {
            try await catalog.put(Store(key: Self.shop, title: "My Shop", currency: Currency("USD")!))
        }
        let second = try await catalog.product(Self.shop, SKU("p1")!).product
        #expect(second.createdAt == first.product.createdAt)
        #expect(second.brand == "Brand")
        #expect(try await catalog.products(Self.shop, [SKU("p3")!, SKU("none")!]).products.map(\.sku.text) == ["p3"])
        let page = try await catalog.products(Self.shop, after: nil, limit: 3)
        #expect(page.products.map(\.sku.text) == ["p1", "p2", "p3"])
        let next = try await catalog.products(Self.shop, after: page.next, limit: 3)
        #expect(next.products.map(\.sku.text) == ["p4", "p5"])
        #expect(next.next == nil)
    }

    private func checkPlacements(_ catalog: some CatalogStore) async throws {
        for sku in ["p2", "p1", "p3"] { #expect(try await catalog.place(SKU(sku)!, on: Self.dairy, in: Self.shop)) }
        let before = try await catalog.shelf(Self.shop, Self.dairy).state
        #expect(try await catalog.place(SKU("p1")!, on: Self.dairy, in: Self.shop) == false)
        #expect(try await catalog.shelf(Self.shop, Self.dairy).state == before)
        #expect(before.productCount == 3)
        #expect(try await catalog.order(Self.shop, Self.dairy, .position).ids == ["p2", "p1", "p3"])
        #expect(try await catalog.order(Self.shop, Self.dairy, nil).ids == ["p3", "p2", "p1"])
        try await catalog.unplace(SKU("p1")!, from: Self.dairy, in: Self.shop)
        #expect(try await catalog.order(Self.shop, Self.dairy, .position).ids == ["p2", "p3"])
        #expect(try await catalog.place(SKU("p1")!, on: Self.dairy, in: Self.shop))
        #expect(try await catalog.order(Self.shop, Self.dairy, .position).ids == ["p2", "p1", "p3"])
        let after = try await catalog.shelf(Self.shop, Self.dairy).state
        #expect(after.version == before.version + 2)
        #expect(after.orderVersion == before.orderVersion + 2)
        await #expect(throws: CatalogError.self) {
            try await catalog.place(SKU("none")!, on: Self.dairy, in: Self.shop)
        }
        await #expect(throws: CatalogError.self) {
            try await catalog.unplace(SKU("p5")!, from: Self.dairy, in: Self.shop)
        }
        let request = PageRequest(store: Self.shop, shelf: Self.dairy)
        let page = try await catalog.page(request)
        #expect(page.products.map(\.sku.text) == ["p3", "p2", "p1"])
        let again = try PlannedPage(request, try await catalog.basis(of: request))
        #expect(again.entityTag(day: 1) == page.planned.entityTag(day: 1))
    }

    private func checkRemovals(_ catalog: some CatalogStore) async throws {
        await #expect(throws: CatalogError.self) { try await catalog.remove(shelf: Self.dairy, from: Self.shop) }
        try await catalog.remove(product: SKU("p2")!, from: Self.shop)
        await #expect(throws: CatalogError.self) { try await catalog.remove(product: SKU("p2")!, from: Self.shop) }
        #expect(try await catalog.order(Self.shop, Self.dairy, .position).ids == ["p1", "p3"])
        try await catalog.remove(shelf: Self.cheese, from: Self.shop)
        let version = try await catalog.shelf(Self.shop, Self.dairy).state.version
        try await catalog.remove(shelf: Self.dairy, from: Self.shop)
        await #expect(throws: CatalogError.self) { try await catalog.remove(shelf: Self.dairy, from: Self.shop) }
        await #expect(throws: CatalogError.self) {
            try await catalog.page(PageRequest(store: Self.shop, shelf: Self.dairy))
        }
        #expect(try await catalog.shelves(ShelvesRequest(store: Self.shop)).shelves.isEmpty)
        #expect(try await catalog.put(Shelf(key: Self.dairy, title: "Again"), in: Self.shop))
        let reborn = try await catalog.shelf(Self.shop, Self.dairy).state
        #expect(reborn.version > version + 1)
        #expect(reborn.productCount == 0)
        #expect(try await catalog.product(Self.shop, SKU("p1")!).shelves.isEmpty)
    }
}
