import AisleDiff
import Catalog
import CatalogJSON
import CatalogPostgres
import InMemoryCatalog
import Testing
import TestSupport

/// The contract of catalog stores, checked in memory and in PostgreSQL.
@Suite(.timeLimit(.minutes(15))) struct StoreConformanceTests {
    static let shop = CatalogKey("shop")!
    static let dairy = CatalogKey("dairy")!
    static let cheese = CatalogKey("cheese")!

    /// The implementations of a catalog store.
    enum Implementation: CaseIterable, CustomTestStringConvertible {
        case inMemory, postgreSQL

        var testDescription: String {
            switch self {
            case .inMemory: "in memory"
            case .postgreSQL: "in PostgreSQL"
            }
        }

        /// Runs a body on an empty catalog.
        func withCatalog(_ body: (CatalogStorage) async throws -> Void) async throws {
            switch self {
            case .inMemory: try await body(InMemoryCatalog(collate: collator).storage)
            case .postgreSQL:
                try await TestSupport.withCatalog { (catalog: PostgresCatalog) in try await body(catalog.storage) }
            }
        }

        /// Runs a body on a catalog with a store.
        func withShop(_ body: (CatalogStorage) async throws -> Void) async throws {
            try await withCatalog { (catalog: CatalogStorage) async throws in
                _ = try await catalog.shelves.put(
                    Store(key: StoreConformanceTests.shop, title: "Shop", currency: Currency("EUR")!)
                )
                try await body(catalog)
            }
        }

        /// Runs a body on a catalog with a store, two shelves and five products, at 1.00 to 5.00. The shelf shows the
        /// most expensive products first.
        func withProducts(_ body: (CatalogStorage) async throws -> Void) async throws {
            try await withShop { (catalog: CatalogStorage) async throws in
                let shelf = Shelf(
                    key: StoreConformanceTests.dairy,
                    title: "Dairy",
                    defaultSort: Sort(.price, .descending)
                )
                _ = try await catalog.shelves.put(shelf, in: StoreConformanceTests.shop)
                for number in 1...5 {
                    _ = try await catalog.products.put(
                        StoreConformanceTests.product(number),
                        in: StoreConformanceTests.shop
                    )
                }
                try await body(catalog)
            }
        }
    }

    static func product(_ number: Int) -> Product {
        Product(sku: SKU("p\(number)")!, name: "Product \(number)", priceMinor: Int64(number * 100))
    }

    // MARK: - Stores and shelves

    @Test(
        "An empty catalog has no stores, and its errors name the missing resource",
        arguments: Implementation.allCases
    )
    func emptyCatalog(_ implementation: Implementation) async throws {
        try await implementation.withCatalog { (catalog: CatalogStorage) async throws in
            #expect(try await catalog.shelves.stores().isEmpty)
            await #expect(throws: CatalogError.notFound("store “shop”")) { try await catalog.shelves.store(Self.shop) }
            await #expect(throws: CatalogError.notFound("store “shop”")) {
                try await catalog.shelves.shelf(Self.shop, Self.dairy)
            }
            await #expect(throws: CatalogError.self) {
                try await catalog.shelves.put(Shelf(key: Self.dairy, title: "x"), in: Self.shop)
            }
        }
    }

    @Test("Putting a store creates or changes it", arguments: Implementation.allCases)
    func storeIsCreatedAndChanged(_ implementation: Implementation) async throws {
        try await implementation.withCatalog { (catalog: CatalogStorage) async throws in
            #expect(try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!)))
            #expect(
                try await catalog.shelves.put(Store(key: Self.shop, title: "My Shop", currency: Currency("EUR")!))
                    == false
            )
            #expect(try await catalog.shelves.stores().map(\.title) == ["My Shop"])
        }
    }

    @Test("A store with prices keeps its currency", arguments: Implementation.allCases)
    func currencyOfPricesStays(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            await #expect(throws: CatalogError.self) {
                try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("USD")!))
            }
        }
    }

    @Test("A shelf inherits the default sort of its parent", arguments: Implementation.allCases)
    func shelfInheritsSort(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            await #expect(throws: CatalogError.notFound("shelf “dairy”")) {
                try await catalog.shelves.shelf(Self.shop, Self.dairy)
            }
            let sort = Sort(.price, .descending)
            #expect(
                try await catalog.shelves.put(Shelf(key: Self.dairy, title: "Dairy", defaultSort: sort), in: Self.shop)
            )
            #expect(
                try await catalog.shelves.put(
                    Shelf(key: Self.cheese, title: "Cheese", parent: Self.dairy),
                    in: Self.shop
                )
            )
            let head = try await catalog.shelves.shelf(Self.shop, Self.cheese)
            #expect(try head.resolve().sort == sort)
            #expect(try head.resolve().source == .shelf)
        }
    }

    @Test("A shelf with an unknown parent is rejected", arguments: Implementation.allCases)
    func invalidShelfIsRejected(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            _ = try await catalog.shelves.put(Shelf(key: Self.cheese, title: "Cheese"), in: Self.shop)
            await #expect(throws: CatalogError.self) {
                try await catalog.shelves.put(
                    Shelf(key: Self.cheese, title: "Cheese", parent: CatalogKey("none")!),
                    in: Self.shop
                )
            }
            #expect(try await catalog.shelves.shelf(Self.shop, Self.cheese).state.shelf.parent == nil)
        }
    }

    @Test("Shelves are sorted by name or position, in pages", arguments: Implementation.allCases)
    func shelvesAreSorted(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            _ = try await catalog.shelves.put(Shelf(key: Self.dairy, title: "Dairy"), in: Self.shop)
            _ = try await catalog.shelves.put(
                Shelf(key: Self.cheese, title: "Cheese", parent: Self.dairy),
                in: Self.shop
            )
            let byName = try await catalog.shelves.shelves(ShelvesRequest(store: Self.shop, sort: .name))
            #expect(byName.shelves.map(\.shelf.key) == [Self.cheese, Self.dairy])
            let byPosition = try await catalog.shelves.shelves(ShelvesRequest(store: Self.shop))
            #expect(byPosition.shelves.map(\.shelf.key) == [Self.dairy, Self.cheese])
            var request = ShelvesRequest(store: Self.shop, sort: .nameDescending, limit: 1)
            let first = try await catalog.shelves.shelves(request)
            request.after = first.next
            let rest = try await catalog.shelves.shelves(request)
            #expect(first.shelves.map(\.shelf.key) == [Self.dairy])
            #expect(rest.shelves.map(\.shelf.key) == [Self.cheese])
            #expect(rest.next == nil)
        }
    }

    @Test(
        "A deleted shelf is not found; when recreated, it is empty and has a higher version",
        arguments: Implementation.allCases
    )
    func removedShelfReturnsEmpty(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            _ = try await catalog.shelves.put(
                Shelf(key: Self.cheese, title: "Cheese", parent: Self.dairy),
                in: Self.shop
            )
            // A shelf with children stays.
            await #expect(throws: CatalogError.self) {
                try await catalog.shelves.remove(shelf: Self.dairy, from: Self.shop)
            }
            _ = try await catalog.products.place(SKU("p1")!, on: Self.dairy, in: Self.shop)
            try await catalog.shelves.remove(shelf: Self.cheese, from: Self.shop)
            let version = try await catalog.shelves.shelf(Self.shop, Self.dairy).state.version
            try await catalog.shelves.remove(shelf: Self.dairy, from: Self.shop)
            await #expect(throws: CatalogError.self) {
                try await catalog.shelves.remove(shelf: Self.dairy, from: Self.shop)
            }
            await #expect(throws: CatalogError.self) {
                try await catalog.pages.page(PageRequest(store: Self.shop, shelf: Self.dairy))
            }
            #expect(try await catalog.shelves.shelves(ShelvesRequest(store: Self.shop)).shelves.isEmpty)
            #expect(try await catalog.shelves.put(Shelf(key: Self.dairy, title: "Again"), in: Self.shop))
            let reborn = try await catalog.shelves.shelf(Self.shop, Self.dairy).state
            #expect(reborn.version > version + 1)
            #expect(reborn.productCount == 0)
            #expect(try await catalog.products.product(Self.shop, SKU("p1")!).shelves.isEmpty)
        }
    }

    @Test(
        "A deleted store is not found; when recreated, it is empty, and its versions are higher",
        arguments: Implementation.allCases
    )
    func removedStoreReturnsEmpty(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            _ = try await catalog.shelves.put(
                Shelf(key: Self.cheese, title: "Cheese", parent: Self.dairy),
                in: Self.shop
            )
            for sku in ["p1", "p2"] { _ = try await catalog.products.place(SKU(sku)!, on: Self.dairy, in: Self.shop) }
            let address = ShelfAddress(Self.shop, Self.dairy)
            let before = try #require(try await catalog.versions.versions(of: [address])[address] ?? nil)
            let (orderVersion, currency) = (
                try await catalog.shelves.shelf(Self.shop, Self.dairy).state.orderVersion,
                try await catalog.shelves.store(Self.shop).currency
            )
            let products = try await catalog.products.products(Self.shop, after: nil, limit: 100).products.count
            #expect(try await catalog.shelves.remove(store: Self.shop) == products)
            #expect(try await catalog.shelves.stores().isEmpty)
            #expect(try await catalog.versions.versions(of: [address]) == [address: nil])
            await #expect(throws: CatalogError.notFound("store “\(Self.shop)”")) {
                try await catalog.shelves.store(Self.shop)
            }
            await #expect(throws: CatalogError.notFound("store “\(Self.shop)”")) {
                try await catalog.pages.page(PageRequest(store: Self.shop, shelf: Self.dairy))
            }
            await #expect(throws: CatalogError.notFound("store “\(Self.shop)”")) {
                try await catalog.products.put(Self.product(1), in: Self.shop)
            }
            await #expect(throws: CatalogError.notFound("store “\(Self.shop)”")) {
                try await catalog.shelves.put(Shelf(key: Self.cheese, title: "Cheese"), in: Self.shop)
            }
            await #expect(throws: CatalogError.notFound("store “\(Self.shop)”")) {
                try await catalog.shelves.moveShelves(
                    [OrderMove(["dairy"], .first)],
                    in: Self.shop,
                    expected: nil,
                    once: nil
                )
            }
            await #expect(throws: CatalogError.notFound("store “\(Self.shop)”")) {
                try await catalog.shelves.remove(store: Self.shop)
            }
            // Without products, it may have another currency.
            let other = Currency(currency.code == "CZK" ? "EUR" : "CZK")!
            #expect(try await catalog.shelves.put(Store(key: Self.shop, title: "Again", currency: other)))
            #expect(
                try await catalog.shelves.store(Self.shop) == Store(key: Self.shop, title: "Again", currency: other)
            )
            #expect(try await catalog.shelves.shelves(ShelvesRequest(store: Self.shop)).shelves.isEmpty)
            #expect(try await catalog.products.products(Self.shop, after: nil, limit: 100).products.isEmpty)
            #expect(try await catalog.shelves.put(Shelf(key: Self.dairy, title: "Dairy"), in: Self.shop))
            let after = try #require(try await catalog.versions.versions(of: [address])[address] ?? nil)
            #expect(after.store > before.store + 1)
            #expect(after.shelf > before.shelf + 1)
            let shelf = try await catalog.shelves.shelf(Self.shop, Self.dairy).state
            #expect(shelf.orderVersion > orderVersion)
            #expect(shelf.productCount == 0)
            #expect(try await catalog.pages.page(PageRequest(store: Self.shop, shelf: Self.dairy)).products.isEmpty)
        }
    }

    // MARK: - Products

    @Test("A new product is on no shelf and has no popularity", arguments: Implementation.allCases)
    func newProduct(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            #expect(try await catalog.products.put(Self.product(1), in: Self.shop))
            let read = try await catalog.products.product(Self.shop, SKU("p1")!)
            #expect(read.shelves.isEmpty)
            #expect(read.product.priceMinor == 100)
            #expect(read.product.popularity == .none)
        }
    }

    @Test("Every field of a product is stored", arguments: Implementation.allCases)
    func everyFieldIsStored(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            var sent = Product.complete
            // As the database writes JSON.
            sent.attributes = #"{"origin": "PT"}"#
            _ = try await catalog.products.put(sent, in: Self.shop)
            _ = try await catalog.products.place(sent.sku, on: Self.dairy, in: Self.shop)
            let read = try await catalog.products.product(Self.shop, sent.sku).product
            #expect(read == sent.withServerFields(of: read))
            let page = try await catalog.pages.page(PageRequest(store: Self.shop, shelf: Self.dairy))
            #expect(page.products == [read])
        }
    }

    @Test(
        "Products are found by their barcodes with and without leading zeros, by sku",
        arguments: Implementation.allCases
    )
    func barcodes(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            // Only the last one but one has a right check digit.
            let barcodes = ["200000000001", "0200000000001", "00200000000001", "12", "96385074", "X-é"]
            for (number, barcode) in barcodes.enumerated() {
                var product = Product(sku: SKU("b\(5 - number)")!, name: "N")
                product.barcode = barcode
                _ = try await catalog.products.put(product, in: Self.shop)
            }
            func skus(_ barcode: String) async throws -> [String] {
                let barcode = try Barcode(barcode, parameter: "barcode")
                return try await catalog.products.products(Self.shop, with: barcode).products.map(\.sku.text)
            }
            for spelling in barcodes.prefix(3) { #expect(try await skus(spelling) == ["b3", "b4", "b5"]) }
            for spelling in ["12", "012", "00000000000012"] { #expect(try await skus(spelling) == ["b2"]) }
            #expect(try await skus("00000096385074") == ["b1"])
            #expect(try await skus("X-e\u{301}") == ["b0"])
            for other in ["20000000001", "4006381333931", "000000000000012", "x-é", "\u{7}"] {
                #expect(try await skus(other).isEmpty)
            }
            await #expect(throws: CatalogError.notFound("store “none”")) {
                let barcode = try Barcode("96385074", parameter: "barcode")
                _ = try await catalog.products.products(CatalogKey("none")!, with: barcode)
            }
        }
    }

    @Test("A barcode returns at most a hundred products", arguments: Implementation.allCases)
    func sharedBarcode(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            for number in 0..<101 {
                var product = Product(sku: SKU("b\(100 + number)")!, name: "N")
                product.barcode = "96385074"
                _ = try await catalog.products.put(product, in: Self.shop)
            }
            let barcode = try Barcode("96385074", parameter: "barcode")
            let found = try await catalog.products.products(Self.shop, with: barcode).products.map(\.sku.text)
            #expect(found == (100..<200).map { "b\($0)" })
        }
    }

    @Test("A changed product keeps its creation time", arguments: Implementation.allCases)
    func changedProduct(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            let before = try await catalog.products.product(Self.shop, SKU("p1")!).product
            let effect = try await catalog.products.update(SKU("p1")!, in: Self.shop) { stored, store in
                #expect(store.currency == Currency("EUR"))
                var changed = stored!
                changed.brand = "Brand"
                return changed
            }
            #expect(effect == .changed)
            let after = try await catalog.products.product(Self.shop, SKU("p1")!).product
            #expect(after.createdAt == before.createdAt)
            #expect(after.brand == "Brand")
        }
    }

    @Test(
        "A product that is written unchanged keeps its time and the version of its shelf",
        arguments: Implementation.allCases
    )
    func unchangedProduct(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            let before = try await catalog.products.product(Self.shop, SKU("p1")!).product
            let version = try await catalog.shelves.shelf(Self.shop, Self.dairy).state.version
            let effect = try await catalog.products.update(SKU("p1")!, in: Self.shop) { stored, _ in stored! }
            #expect(effect == .unchanged)
            let created = try await catalog.products.update(SKU("new")!, in: Self.shop) { _, _ in
                Product(sku: SKU("new")!, name: "New")
            }
            #expect(created == .created)
            #expect(try await catalog.products.product(Self.shop, SKU("p1")!).product == before)
            #expect(try await catalog.shelves.shelf(Self.shop, Self.dairy).state.version == version)
        }
    }

    @Test("A rejected change of a product changes nothing", arguments: Implementation.allCases)
    func rejectedChange(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            let before = try await catalog.products.product(Self.shop, SKU("p1")!).product
            await #expect(throws: CatalogError.invalidCursor) {
                try await catalog.products.update(SKU("p1")!, in: Self.shop) { _, _ throws(CatalogError) in
                    throw .invalidCursor
                }
            }
            await #expect(throws: CatalogError.invalidCursor) {
                try await catalog.products.update(SKU("new")!, in: Self.shop) { stored, _ throws(CatalogError) in
                    #expect(stored == nil)
                    throw .invalidCursor
                }
            }
            #expect(try await catalog.products.product(Self.shop, SKU("p1")!).product == before)
            await #expect(throws: CatalogError.self) { try await catalog.products.product(Self.shop, SKU("new")!) }
        }
    }

    @Test("Concurrent changes of a product and of a shelf are all applied", arguments: Implementation.allCases)
    func concurrentChanges(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            let sku = SKU("lone")!
            _ = try await catalog.products.put(Product(sku: sku, name: "Lone", priceMinor: 0), in: Self.shop)
            _ = try await catalog.shelves.put(Shelf(key: Self.cheese, title: "C"), in: Self.shop)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        _ = try await catalog.products.update(sku, in: Self.shop) { stored, _ in
                            var changed = stored!
                            changed.priceMinor = changed.priceMinor! + 1
                            return changed
                        }
                        _ = try await catalog.shelves.update(shelf: Self.cheese, in: Self.shop) { stored in
                            Shelf(key: Self.cheese, title: stored!.title + "x")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await catalog.products.product(Self.shop, sku).product.priceMinor == 8)
            #expect(try await catalog.shelves.shelf(Self.shop, Self.cheese).state.shelf.title == "Cxxxxxxxx")
        }
    }

    @Test("Products are read by SKU, and in pages", arguments: Implementation.allCases)
    func productsAreRead(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            let found = try await catalog.products.products(Self.shop, [SKU("p3")!, SKU("none")!])
            #expect(found.products.map(\.sku.text) == ["p3"])
            let page = try await catalog.products.products(Self.shop, after: nil, limit: 3)
            #expect(page.products.map(\.sku.text) == ["p1", "p2", "p3"])
            let next = try await catalog.products.products(Self.shop, after: page.next, limit: 3)
            #expect(next.products.map(\.sku.text) == ["p4", "p5"])
            #expect(next.next == nil)
        }
    }

    @Test("A removed product leaves its shelves", arguments: Implementation.allCases)
    func removedProductLeavesShelves(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            for sku in ["p2", "p1", "p3"] {
                _ = try await catalog.products.place(SKU(sku)!, on: Self.dairy, in: Self.shop)
            }
            try await catalog.products.remove(product: SKU("p2")!, from: Self.shop)
            await #expect(throws: CatalogError.self) {
                try await catalog.products.remove(product: SKU("p2")!, from: Self.shop)
            }
            #expect(try await catalog.pages.order(Self.shop, Self.dairy, .position).ids == ["p1", "p3"])
        }
    }

    // MARK: - Placements

    @Test("A placement is the last in the manual order, and is counted once", arguments: Implementation.allCases)
    func placementIsLast(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            for sku in ["p2", "p1", "p3"] {
                #expect(try await catalog.products.place(SKU(sku)!, on: Self.dairy, in: Self.shop))
            }
            let before = try await catalog.shelves.shelf(Self.shop, Self.dairy).state
            #expect(try await catalog.products.place(SKU("p1")!, on: Self.dairy, in: Self.shop) == false)
            #expect(try await catalog.shelves.shelf(Self.shop, Self.dairy).state == before)
            #expect(before.productCount == 3)
            #expect(try await catalog.pages.order(Self.shop, Self.dairy, .position).ids == ["p2", "p1", "p3"])
            #expect(try await catalog.pages.order(Self.shop, Self.dairy, nil).ids == ["p3", "p2", "p1"])
        }
    }

    @Test("A product that returns gets its place back, and each change a version", arguments: Implementation.allCases)
    func returningProductGetsItsPlaceBack(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            for sku in ["p2", "p1", "p3"] {
                _ = try await catalog.products.place(SKU(sku)!, on: Self.dairy, in: Self.shop)
            }
            let before = try await catalog.shelves.shelf(Self.shop, Self.dairy).state
            try await catalog.products.unplace(SKU("p1")!, from: Self.dairy, in: Self.shop)
            #expect(try await catalog.pages.order(Self.shop, Self.dairy, .position).ids == ["p2", "p3"])
            #expect(try await catalog.products.place(SKU("p1")!, on: Self.dairy, in: Self.shop))
            #expect(try await catalog.pages.order(Self.shop, Self.dairy, .position).ids == ["p2", "p1", "p3"])
            let after = try await catalog.shelves.shelf(Self.shop, Self.dairy).state
            #expect(after.version >= before.version + 2)
            #expect(after.orderVersion >= before.orderVersion + 2)
        }
    }

    @Test("Only an existing product is placed, and only a placed one is removed", arguments: Implementation.allCases)
    func invalidPlacementIsRejected(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            await #expect(throws: CatalogError.self) {
                try await catalog.products.place(SKU("none")!, on: Self.dairy, in: Self.shop)
            }
            await #expect(throws: CatalogError.self) {
                try await catalog.products.unplace(SKU("p5")!, from: Self.dairy, in: Self.shop)
            }
        }
    }

    @Test("A page and its basis have the same entity tag", arguments: Implementation.allCases)
    func pageAndBasisHaveOneTag(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            for sku in ["p2", "p1", "p3"] {
                _ = try await catalog.products.place(SKU(sku)!, on: Self.dairy, in: Self.shop)
            }
            let request = PageRequest(store: Self.shop, shelf: Self.dairy)
            let page = try await catalog.pages.page(request)
            #expect(page.products.map(\.sku.text) == ["p3", "p2", "p1"])
            let again = try PlannedPage(request, try await catalog.pages.basis(of: request))
            #expect(again.entityTag(day: 1) == page.planned.entityTag(day: 1))
        }
    }

    // MARK: - Diffs

    /// Runs a body with a request for the diff from names to prices of a shelf with four products.
    private func withDiff(
        _ implementation: Implementation,
        _ body: (CatalogStorage, inout DiffRequest) async throws -> Void
    ) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            _ = try await catalog.shelves.put(Shelf(key: Self.dairy, title: "Dairy"), in: Self.shop)
            for (sku, price) in [("d1", 300), ("d2", 100), ("d3", 200), ("d4", 400)] {
                _ = try await catalog.products.put(
                    Product(sku: SKU(sku)!, name: sku, priceMinor: Int64(price)),
                    in: Self.shop
                )
                _ = try await catalog.products.place(SKU(sku)!, on: Self.dairy, in: Self.shop)
            }
            var request = DiffRequest(
                store: Self.shop,
                shelf: Self.dairy,
                from: .sort(RequestedSort(sort: Sort(.name, .ascending))),
                to: RequestedSort(sort: Sort(.price, .ascending))
            )
            try await body(catalog, &request)
        }
    }

    @Test("A diff of two sorts has both orders and the fewest moves", arguments: Implementation.allCases)
    func diffOfTwoSorts(_ implementation: Implementation) async throws {
        try await withDiff(implementation) { (catalog: CatalogStorage, request: inout DiffRequest) async throws in
            let diff = try await catalog.pages.diff(request)
            #expect(Array(diff.old) == ["d1", "d2", "d3", "d4"])
            #expect(Array(diff.new) == ["d2", "d3", "d1", "d4"])
            #expect(diff.diff.moves.count == 1)
            #expect(diff.products.isEmpty)
        }
    }

    @Test("A diff of a window includes the products that enter it", arguments: Implementation.allCases)
    func diffOfFirstProducts(_ implementation: Implementation) async throws {
        try await withDiff(implementation) { (catalog: CatalogStorage, request: inout DiffRequest) async throws in
            request.limit = 2
            let diff = try await catalog.pages.diff(request)
            #expect(Array(diff.old) == ["d1", "d2"])
            #expect(Array(diff.new) == ["d2", "d3"])
            #expect(diff.insertedIDs == ["d3"])
            #expect(diff.products["d3"]?.product.priceMinor == 200)
            request.limit = 0
            let invalid = request
            await #expect(throws: CatalogError.self) { try await catalog.pages.diff(invalid) }
        }
    }

    @Test("A diff from a list deletes the ids that are not in the window", arguments: Implementation.allCases)
    func diffFromList(_ implementation: Implementation) async throws {
        try await withDiff(implementation) { (catalog: CatalogStorage, request: inout DiffRequest) async throws in
            request.limit = 2
            request.from = .list(["d4", "x"])
            #expect(try await catalog.pages.diff(request).deletedIDs == ["d4", "x"])
        }
    }

    @Test("Pages continue the new order after the window of a diff", arguments: Implementation.allCases)
    func diffContinues(_ implementation: Implementation) async throws {
        try await withDiff(implementation) { (catalog: CatalogStorage, request: inout DiffRequest) async throws in
            for sort in ["price", "-name", "position"].map({ try! Sort.parse($0) }) {
                let order = try await catalog.pages.order(Self.shop, Self.dairy, sort).ids
                request.to = RequestedSort(sort: sort)
                request.limit = nil
                let whole = try await catalog.pages.diff(request)
                #expect(!whole.isWindow && whole.next == nil)
                for limit in 1...5 {
                    request.limit = limit
                    let diff = try await catalog.pages.diff(request)
                    #expect(diff.isWindow && (diff.next == nil) == (limit >= order.count))
                    guard let next = diff.next else { continue }
                    for named in [sort, nil] {
                        let page = PageRequest(store: Self.shop, shelf: Self.dairy, sort: named, limit: 2, after: next)
                        let rest = try await catalog.pages.allPages(page)
                        #expect(Array(diff.new) + rest == order, "\(sort), limit \(limit)")
                    }
                }
            }
        }
    }

    @Test("Both orders of a diff are from one snapshot")
    func diffReadsOneSnapshot() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: Self.dairy, title: "Dairy"), in: Self.shop)
            for number in 0..<60 {
                let product = Product(sku: SKU("p\(number)")!, name: "P\(number)", priceMinor: Int64(number * 37 % 50))
                _ = try await catalog.products.put(product, in: Self.shop)
                _ = try await catalog.products.place(product.sku, on: Self.dairy, in: Self.shop)
            }
            let request = DiffRequest(
                store: Self.shop,
                shelf: Self.dairy,
                from: .sort(RequestedSort(sort: Sort(.price, .ascending))),
                to: RequestedSort(sort: Sort(.name, .descending))
            )
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<2 {
                    group.addTask {
                        for round in 0..<60 {
                            // Each writer has products of its own, however far it lags behind.
                            let sku = SKU("p\(round * 7 % 30 * 2 + writer)")!
                            try await catalog.products.unplace(sku, from: Self.dairy, in: Self.shop)
                            _ = try await catalog.products.place(sku, on: Self.dairy, in: Self.shop)
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<120 {
                        let diff = try await catalog.pages.diff(request)
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

    // MARK: - Languages

    @Test(
        "Names, brands, tags and titles are in the order of each store's language",
        arguments: Implementation.allCases
    )
    func languages(_ implementation: Implementation) async throws {
        let orders: [(store: Store, texts: [String])] = [
            (
                Store(key: CatalogKey("cs")!, title: "Praha", currency: Currency("CZK")!, locale: "cs-CZ"),
                ["Cibule", "Čaj", "Hora", "Chata", "Inkoust"]
            ),
            (
                Store(key: CatalogKey("hr")!, title: "Zagreb", currency: Currency("EUR")!, collation: "hr"),
                ["Cvijet", "Čaj", "Ćevap", "Dud", "Džem", "Đumbir"]
            ),
            (
                Store(key: CatalogKey("en")!, title: "Dublin", currency: Currency("EUR")!),
                ["Cola 0.33 l", "Cola 0,5 l", "Cola 1.25 l", "Cola 1,5 l", "Cola 2 l", "Cola 10 l"]
            ),
        ]
        try await implementation.withCatalog { (catalog: CatalogStorage) async throws in
            for (store, texts) in orders {
                _ = try await catalog.shelves.put(store)
                _ = try await catalog.shelves.put(Shelf(key: Self.dairy, title: texts[0]), in: store.key)
                for (number, text) in texts.enumerated().reversed() {
                    var product = Product(sku: SKU("p\(number)")!, name: text, priceMinor: 100)
                    (product.brand, product.tags) = (text, [text])
                    _ = try await catalog.products.put(product, in: store.key)
                    _ = try await catalog.products.place(product.sku, on: Self.dairy, in: store.key)
                    if number > 0 {
                        _ = try await catalog.shelves.put(
                            Shelf(key: CatalogKey("s\(number)")!, title: text),
                            in: store.key
                        )
                    }
                }
            }
            for (store, texts) in orders {
                var request = PageRequest(store: store.key, shelf: Self.dairy, limit: 2)
                for key in [SortKey.name, .brand] {
                    request.sort = Sort(key, .ascending)
                    var names: [String] = []
                    request.after = nil
                    repeat {
                        let page = try await catalog.pages.page(request)
                        names += page.products.map(\.name)
                        request.after = page.next
                    } while request.after != nil
                    #expect(names == texts, "\(store.key) by \(key)")
                }
                var shelves = ShelvesRequest(store: store.key, sort: .name, limit: 2)
                var titles: [String] = []
                repeat {
                    let page = try await catalog.shelves.shelves(shelves)
                    titles += page.shelves.map(\.shelf.title)
                    shelves.after = page.next
                } while shelves.after != nil
                #expect(titles == texts, "\(store.key)")
                request.facets = [.brand, .tag]
                // A cursor of another language has no place in the order.
                var changed = store
                changed.collation = "sv"
                (request.after, shelves.after) = (nil, nil)
                request.after = try await catalog.pages.page(request).next
                shelves.after = try await catalog.shelves.shelves(shelves).next
                _ = try await catalog.shelves.put(changed)
                await #expect(throws: CatalogError.invalidCursor) { try await catalog.pages.page(request) }
                await #expect(throws: CatalogError.invalidCursor) { try await catalog.shelves.shelves(shelves) }
                _ = try await catalog.shelves.put(store)
                #expect(try await catalog.pages.page(request).products.map(\.name) == Array(texts[2..<4]))
                request.after = nil
                for price in 1...3 as ClosedRange<Int64> {
                    let facets = try #require(try await catalog.pages.page(request).facets)
                    #expect(facets.brands.map(\.value) == texts, "\(store.key)")
                    #expect(facets.tags.map(\.value) == texts, "\(store.key)")
                    // The next page follows this change.
                    var product = try await catalog.products.product(store.key, SKU("p1")!).product
                    product.priceMinor = price
                    _ = try await catalog.products.put(product, in: store.key)
                }
            }
        }
    }
}
