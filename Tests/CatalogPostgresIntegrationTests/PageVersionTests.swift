import Catalog
import CatalogPostgres
import InMemoryCatalog
import Ordering
import TestSupport
import Testing

/// The version of a page is that of its products, also while the shelf changes.
@Suite(.timeLimit(.minutes(10))) struct PageVersionTests {
    private static let store = CatalogKey("shop")!
    private static let shelf = CatalogKey("shelf")!

    @Test("No two pages of one version show different products while a merchandiser moves them")
    func onePagePerVersion() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.store, title: "Shop", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "Shelf"), in: Self.store)
            let ids = (0..<12).map { "p\($0)" }
            for id in ids {
                _ = try await catalog.products.put(Product(sku: SKU(id)!, name: id), in: Self.store)
                _ = try await catalog.products.place(SKU(id)!, on: Self.shelf, in: Self.store)
            }
            let inStock = try Filter([.inStock: .flag(true)])
            // Each read starts with the basis of the one before, as requests to a server do.
            let seen = try await withThrowingTaskGroup(of: [Int64: Set<[String]>].self) { group in
                group.addTask {
                    var random = SeededGenerator(seed: 7)
                    for _ in 0..<1500 {
                        let move = OrderMove([ids.randomElement(using: &random)!], .first)
                        _ = try await catalog.manualOrder.editOrder(
                            OrderEditRequest(store: Self.store, shelf: Self.shelf, edit: .moves([move])),
                            once: nil
                        )
                    }
                    return [:]
                }
                // All products are in stock, so pages with the filter have the same products as those without.
                for filter in [Filter.none, Filter.none, inStock, inStock] {
                    group.addTask {
                        var seen: [Int64: Set<[String]>] = [:]
                        let request = PageRequest(
                            store: Self.store,
                            shelf: Self.shelf,
                            sort: Sort(.position, .ascending)!,
                            filter: filter,
                            limit: 5
                        )
                        for _ in 0..<2500 {
                            let page = try await catalog.pages.page(request)
                            seen[page.head.state.version, default: []].insert(page.products.map(\.sku.text))
                        }
                        return seen
                    }
                }
                return try await group.reduce(into: [Int64: Set<[String]>]()) { $0.merge($1) { $0.union($1) } }
            }
            #expect(seen.count > 100)
            let ambiguous = seen.filter { $0.value.count > 1 }
            #expect(ambiguous.isEmpty, "\(ambiguous.count) of \(seen.count) versions have several pages")
        }
    }
}
