import Catalog
import CatalogPostgres
import LibPQ
import TestSupport
import Testing

/// Changes between a diff and the page after its window.
@Suite(.timeLimit(.minutes(15))) struct DiffCursorTests {
    private static let (store, shelf) = (CatalogKey("s")!, CatalogKey("dairy")!)
    private static let sorts = ["price", "-price", "name", "-popularity", "brand,-price", "position"]

    /// Fills a shelf with 14 products, of which every third has another brand.
    private static func fill(_ catalog: PostgresCatalog) async throws {
        _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.shelves.put(Shelf(key: shelf, title: "T"), in: store)
        for number in 0..<14 {
            var product = Product(
                sku: SKU("p\(number)")!,
                name: "N\(number * 5 % 14)",
                priceMinor: Int64(number * 3 % 7)
            )
            product.brand = number % 3 == 0 ? "Oatly" : "Arla"
            _ = try await catalog.products.put(product, in: store)
            _ = try await catalog.products.place(product.sku, on: shelf, in: store)
        }
    }

    /// Replaces a product by a changed one.
    private static func change(
        _ catalog: PostgresCatalog,
        _ sku: SKU,
        _ change: (inout Product) -> Void
    ) async throws {
        var product = try await catalog.products.product(store, sku).product
        change(&product)
        #expect(try await !catalog.products.put(product, in: store))
    }

    /// Takes the cursor from a diff, makes a change, and compares the following pages with the order then.
    ///
    /// - Parameters:
    ///   - place: the index of the last product of the window after the change; nil if it is not shown. Behind the window,
    ///     pages show it again.
    ///   - change: changes the last product of the window.
    private static func check(
        _ sort: String,
        _ filter: Filter? = nil,
        movingTo place: Int? = nil,
        _ change: (_ catalog: PostgresCatalog, _ last: SKU) async throws -> Void
    ) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await fill(catalog)
            let sort = try Sort.parse(sort)
            let request = DiffRequest(
                store: store,
                shelf: shelf,
                from: .sort(RequestedSort(sort: Sort(.name, .ascending), filter: filter)),
                to: RequestedSort(sort: sort, filter: filter),
                limit: 4
            )
            let window = try await catalog.pages.diff(request)
            let (shown, next) = (Array(window.new), try #require(window.next))
            let last = try #require(shown.last)
            #expect(shown.count == 4)
            let before = try await catalog.pages.order(store, shelf, sort, filter: filter).ids
            try await change(catalog, try #require(SKU(last)))
            let order = try await catalog.pages.order(store, shelf, sort, filter: filter).ids
            let rest = order.filter { !shown.contains($0) }
            let expected = order.filter { rest.contains($0) || $0 == last && (place ?? 0) >= shown.count }
            #expect(rest == Array(before.dropFirst(4)), "the other products keep their order")
            #expect(order.firstIndex(of: last) == place)
            for named in [sort, nil] {
                var page = PageRequest(store: store, shelf: shelf, sort: named, filter: filter, limit: 3, after: next)
                #expect(try await catalog.pages.allPages(page) == expected, "\(sort)")
                page.filter = nil
                #expect(try await catalog.pages.allPages(page) == expected, "\(sort)")
            }
        }
    }

    @Test("Pages continue after the window of a diff whose last product was deleted", arguments: sorts)
    func deleted(_ sort: String) async throws {
        try await Self.check(sort) { catalog, last in
            try await catalog.products.remove(product: last, from: Self.store)
        }
    }

    @Test(
        "Pages continue after the window of a diff whose last product is sold out",
        arguments: sorts
    )
    func soldOut(_ sort: String) async throws {
        // The manual order is shown as arranged. In other sorts, the only sold-out product is the last of 14.
        try await Self.check(sort, movingTo: sort == "position" ? 3 : 13) { catalog, last in
            try await Self.change(catalog, last) { $0.inStock = false }
        }
    }

    @Test("Pages continue after the window of a diff whose last product is hidden by the filter", arguments: sorts)
    func hidden(_ sort: String) async throws {
        let filter = try Filter([.brand: .texts(["Arla"])])
        try await Self.check(sort, filter) { catalog, last in
            try await Self.change(catalog, last) { $0.brand = "Oatly" }
        }
    }

    @Test(
        "Pages continue after the window of a diff whose last product was deleted after all ordering keys were replaced"
    )
    func deletedAfterCompaction() async throws {
        try await Self.check("position") { catalog, last in
            try await catalog.database.writes.perform {
                try $0.execute("UPDATE placement_position SET key = '\\xf0'::bytea || key")
                try $0.execute("UPDATE shelf SET version = version + 1, key_generation = key_generation + 1")
            }
            try await catalog.products.remove(product: last, from: Self.store)
        }
    }
}
