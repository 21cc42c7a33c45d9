import Catalog
import CatalogJSON
import CatalogPostgres
import InMemoryCatalog
import Ordering
import Testing
import TestSupport

/// PostgreSQL's filtered orders, pages and facets match the in-memory catalog for every filter, alone and in pairs, with every
/// sort and from every cursor.
@Suite(.timeLimit(.minutes(15))) struct FilterOracleTests {
    private static let store = CatalogKey("shop")!
    private static let shelf = CatalogKey("dairy")!
    /// The sample attributes but the one with the name of a built-in key, which cannot be declared.
    private static let declared = AttributeSet.sample.attributes.map(\.definition).filter { $0.name.text != "price" }
    private static let attributes = ResolvedAttributes(AttributeSet(deployment: declared.map { .definition($0) }))

    @Test("Each filter keeps exactly the products that the oracle keeps", arguments: [SoldOut.last, .mixed])
    func filtersMatchOracle(_ soldOut: SoldOut) async throws {
        try await withShelf(soldOut, seed: soldOut == .last ? 1 : 2) { memory, catalog, products, generator in
            let several = ["brand,-price", "-brand,price", "-unit_price,name", "tags,-created", "modified,position"]
            let sorts = Sort.allSingle + several.map { try! Sort.parse($0) }
            let orders = try await Self.orders(memory, sorts)
            let keys = FilterKey.allCases
            let pairs = keys.indices.flatMap { a in keys.indices.filter { $0 >= a }.map { [keys[a], keys[$0]] } }
            var kept = 0
            for (turn, pair) in pairs.enumerated() {
                guard let filter = Self.filter(Set(pair), products, &generator) else { continue }
                let left = Set(products.filter { filter.accepts($0, in: Currency("EUR")!) }.map(\.sku.text))
                kept += left.count
                for (number, (sort, whole)) in zip(sorts, orders).enumerated() {
                    let expected = whole.filter(left.contains)
                    let place = "\(sort.description) where \(filter.query)"
                    #expect(
                        try await catalog.pages.order(Self.store, Self.shelf, sort, filter: filter).ids == expected,
                        "\(place)"
                    )
                    // Pages have the same products; each filter has them in every third sort, and each sort with every third pair.
                    guard (number + turn) % 3 == 0 else { continue }
                    #expect(try await catalog.pages.allPages(Self.request(sort, filter)) == expected, "\(place)")
                }
                let (sort, whole) = (sorts.randomElement(using: &generator)!, products.count)
                let specified = try await memory.order(Self.store, Self.shelf, sort, filter: filter).ids
                #expect(specified.count == left.count)
                #expect(specified.count <= whole)
                #expect(try await memory.allPages(Self.request(sort, filter)) == specified)
            }
            // On average, a filter keeps some products but not all.
            #expect(kept > pairs.count)
            #expect(kept < pairs.count * products.count)
        }
    }

    @Test(
        "Filters by attributes keep exactly the products that the oracle keeps, and facets count them",
        arguments: [SoldOut.last]
    )
    func attributesMatchOracle(_ soldOut: SoldOut) async throws {
        try await withShelf(soldOut, seed: 5) { memory, catalog, products, generator in
            let keys = Self.attributes.filterKeys
            for round in 0..<60 {
                let chosen =
                    [keys[round % keys.count]]
                    + (keys + FilterKey.allCases).shuffled(using: &generator).prefix(round % 3)
                guard let filter = Self.filter(Set(chosen), products, &generator) else { continue }
                let sort = try #require(Sort(Self.attributes.sortKeys.randomElement(using: &generator)!, .descending))
                let left = products.filter { filter.accepts($0, in: Currency("EUR")!) }
                let order = try await catalog.pages.order(Self.store, Self.shelf, sort, filter: filter)
                #expect(Set(order.ids) == Set(left.map(\.sku.text)), "\(filter.query)")
                #expect(
                    try await memory.order(Self.store, Self.shelf, sort, filter: filter).ids == order.ids,
                    "\(filter.query)"
                )
                #expect(
                    try await catalog.pages.allPages(Self.request(sort, filter)) == order.ids,
                    "\(sort) \(filter.query)"
                )
                let facets = Set(
                    (Self.attributes.facets + Facet.allCases).shuffled(using: &generator).prefix(Facet.countLimit)
                )
                let request = PageRequest(
                    store: Self.store,
                    shelf: Self.shelf,
                    sort: sort,
                    filter: filter,
                    facets: facets
                )
                let (page, specified) = (try await catalog.pages.page(request), try await memory.page(request))
                #expect(page.facets == specified.facets, "\(filter.query)")
                #expect(page.products.map(\.sku) == specified.products.map(\.sku))
            }
        }
    }

    @Test("Each facet's counts ignore that facet's own filter", arguments: [SoldOut.last, .mixed])
    func facetsIgnoreOwnFilter(_ soldOut: SoldOut) async throws {
        try await withShelf(soldOut, seed: 3) { memory, catalog, products, generator in
            for round in 0..<60 {
                let keys = Set(FilterKey.allCases.shuffled(using: &generator).prefix(round % 5))
                let filter = Self.filter(keys, products, &generator) ?? .none
                let chosen = Facet.allCases.filter { _ in round % 7 == 0 || Bool.random(using: &generator) }
                let request = PageRequest(
                    store: Self.store,
                    shelf: Self.shelf,
                    sort: .system,
                    filter: filter,
                    facets: Set(chosen),
                    wantsTotal: Bool.random(using: &generator)
                )
                let specified = try await memory.page(request)
                let page = try await catalog.pages.page(request)
                #expect(page.facets == specified.facets, "\(chosen) where \(filter.query)")
                #expect(page.products.map(\.sku) == specified.products.map(\.sku))
                #expect((page.facets == nil) == chosen.isEmpty)
                #expect(page.total == specified.total)
                let matches = products.count { filter.accepts($0, in: Currency("EUR")!) }
                #expect(page.total == (request.wantsTotal ? matches : nil))
                guard let facets = page.facets else { continue }
                #expect(facets.total == products.count { filter.accepts($0, in: Currency("EUR")!) })
                let prices = facets.prices.reduce(0) { $0 + $1.count }
                #expect(PriceBucket.all(facets.prices).reduce(0) { $0 + $1.count } == prices)
            }
        }
    }

    @Test("A cursor is valid for its own filter only")
    func cursorBelongsToFilter() async throws {
        try await withShelf(.last, seed: 4) { _, catalog, _, _ in
            let filter = try Filter([.inStock: .flag(true)])
            var request = PageRequest(store: Self.store, shelf: Self.shelf, sort: .system, filter: filter, limit: 5)
            let first = try await catalog.pages.page(request)
            let tag = first.planned.entityTag(day: 1)
            request.after = first.next
            let second = try await catalog.pages.page(request)
            // The cursor contains the filter.
            request.filter = nil
            let same = try await catalog.pages.page(request)
            #expect(same.products == second.products)
            #expect(same.plan.resolvedSort.filter == filter)
            request.filter = try Filter([.inStock: .flag(false)])
            await #expect(throws: CatalogError.invalidCursor) { try await catalog.pages.page(request) }
            request.filter = Filter.none
            await #expect(throws: CatalogError.invalidCursor) { try await catalog.pages.page(request) }
            // The entity tag distinguishes filters and facets.
            request = PageRequest(store: Self.store, shelf: Self.shelf, sort: .system, limit: 5)
            #expect(try await catalog.pages.page(request).planned.entityTag(day: 1) != tag)
            request.filter = filter
            #expect(try await catalog.pages.page(request).planned.entityTag(day: 1) == tag)
            request.facets = [.brand]
            #expect(try await catalog.pages.page(request).planned.entityTag(day: 1) != tag)
            (request.facets, request.wantsTotal) = ([], true)
            #expect(try await catalog.pages.page(request).planned.entityTag(day: 1) != tag)
        }
    }

    private func withShelf(
        _ soldOut: SoldOut,
        seed: UInt64,
        _ body: (InMemoryCatalog, PostgresCatalog, [Product], inout SeededGenerator) async throws -> Void
    ) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var generator = SeededGenerator(seed: seed)
            var products = (0..<60).map { Product.random($0, using: &generator) }
            for index in products.indices {
                products[index].attributes = Product.randomAttributes(using: &generator)
            }
            let memory = InMemoryCatalog(collate: collator)
            let store = Store(key: Self.store, title: "Shop", currency: Currency("EUR")!, soldOut: soldOut)
            let shelf = Shelf(key: Self.shelf, title: "Dairy", dimension: .mass)
            _ = try await memory.put(store)
            _ = try await memory.put(shelf, in: Self.store)
            _ = try await catalog.shelves.put(store)
            _ = try await catalog.shelves.put(shelf, in: Self.store)
            for product in products { try memory.seed(product, in: Self.store, on: [Self.shelf]) }
            try await catalog.seed(products, on: Self.shelf, in: Self.store)
            for definition in Self.declared {
                _ = try await memory.declare(.definition(definition), for: .deployment)
                _ = try await catalog.attributes.declare(.definition(definition), for: .deployment)
            }
            try await body(memory, catalog, products, &generator)
        }
    }

    private static func orders(_ memory: InMemoryCatalog, _ sorts: [Sort]) async throws -> [[String]] {
        var orders: [[String]] = []
        for sort in sorts { orders.append(try await memory.order(store, shelf, sort).ids) }
        return orders
    }

    /// nil if a range is empty.
    private static func filter(
        _ keys: Set<FilterKey>,
        _ products: [Product],
        _ generator: inout SeededGenerator
    ) -> Filter? {
        for _ in 0..<50 {
            var values: [FilterKey: [String]] = [:]
            for key in keys.sorted(by: { $0.name < $1.name }) {
                values[key] = key.random(products, Currency("EUR")!, using: &generator)
            }
            let found = try? Filter(attributes: values) { values[$0] ?? [] }?.resolved(in: attributes)
            if let filter = found ?? nil { return filter }
        }
        return nil
    }

    private static func request(_ sort: Sort, _ filter: Filter) -> PageRequest {
        PageRequest(store: store, shelf: shelf, sort: sort, filter: filter, limit: 7)
    }
}
