import Catalog
import CatalogJSON
import InMemoryCatalog
import Ordering
import Testing
import TestSupport

@testable import CatalogPostgres

/// The order of a shelf in memory matches the specification and PostgreSQL's order, for every sort, in both directions and from every
/// cursor.
@Suite(.timeLimit(.minutes(15))) struct SortOracleTests {
    private static let store = CatalogKey("shop")!
    private static let shelf = CatalogKey("dairy")!

    @Test(
        "Each sort pages through exactly the order of the specification",
        arguments: [UInt64(1), 2],
        [SoldOut.last, .mixed]
    ) func pagesMatchSpecification(
        _ seed: UInt64,
        _ soldOut: SoldOut
    ) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var generator = SeededGenerator(seed: seed)
            var products = (0..<90).map { Product.random($0, using: &generator) }
            for index in products.indices {
                products[index].attributes = Product.randomAttributes(using: &generator)
            }
            let memory = InMemoryCatalog(collate: collator)
            let store = Store(key: Self.store, title: "Shop", currency: Currency("EUR")!, soldOut: soldOut)
            let shelf = Shelf(
                key: Self.shelf,
                title: "Dairy",
                dimension: Dimension.allCases.randomElement(using: &generator)!
            )
            _ = try await memory.put(store)
            _ = try await memory.put(shelf, in: Self.store)
            _ = try await catalog.shelves.put(store)
            _ = try await catalog.shelves.put(shelf, in: Self.store)
            for product in products { try memory.seed(product, in: Self.store, on: [Self.shelf]) }
            try await catalog.seed(products, on: Self.shelf, in: Self.store)
            // The name of a built-in key cannot be declared.
            let declared = AttributeSet.sample.attributes.map(\.definition).filter { $0.name.text != "price" }
            for definition in declared {
                _ = try await memory.declare(.definition(definition), for: .deployment)
                _ = try await catalog.attributes.declare(.definition(definition), for: .deployment)
            }
            let attributes = ResolvedAttributes(AttributeSet(deployment: declared.map { .definition($0) }))
            let several = [
                "brand,-price", "-brand,price", "price,name", "-price,name", "unit_price,popularity",
                "-unit_price,-brand,price", "tags,-created",
                "-tags,unit_price", "modified,position", "price,-name", "name,price", "-name,price",
                "brand,-unit_price,-tags", "position,price",
                "popularity,brand", "grade,-rating", "-organic,harvest,price", "brand,-worth",
                "-protein_price,origin,grade",
            ].map { try! Sort.parse($0) }
            let byAttribute = attributes.sortKeys.flatMap { key in
                [SortDirection.ascending, .descending].compactMap { Sort(key, $0) }
            }
            for sort in Sort.allSingle + byAttribute + several {
                let expected = try await memory.order(Self.store, Self.shelf, sort).ids
                #expect(Set(expected).count == products.count)
                #expect(
                    try await catalog.pages.order(Self.store, Self.shelf, sort).ids == expected,
                    "\(sort.description)"
                )
                // Edits and re-sorts read whole orders in their own transactions.
                let own = try await catalog.database.writes.transaction(within: .shelf) {
                    try catalog.pageStore.ids(ShelfAddress(Self.store, Self.shelf), by: sort, $0)
                }
                #expect(own == expected, "\(sort.description)")
                let shelf = try await ShelfLookup(database: catalog.database).readHead(Self.store, Self.shelf)
                let resolved = try sort.resolved(in: attributes)
                if !resolved.attributes.contains(where: { $0.form == .text }) {
                    let sorted = try await catalog.database.writes.perform { try SQLOrder.ids(shelf, resolved, $0) }
                    #expect(sorted == expected, "\(sort.description) by SQL")
                }
                for limit in [1, 7, 100] {
                    let paged = try await catalog.pages.allPages(Self.request(sort, limit))
                    #expect(paged == expected, "\(sort.description) by \(limit)")
                }
                // The specification sorts the whole shelf for each page.
                #expect(try await memory.allPages(Self.request(sort, 7)) == expected)
            }
        }
    }

    private static func request(_ sort: Sort, _ limit: Int) -> PageRequest {
        PageRequest(store: store, shelf: shelf, sort: sort, limit: limit)
    }
}
