import Catalog
import LibPQ
import Ordering
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// Facets are counted once, and follow every change.
@Suite(.timeLimit(.minutes(15))) struct FacetCacheTests {
    private static let (store, shelf) = (CatalogKey("s")!, CatalogKey("dairy")!)

    private static func key(version: Int64 = 1) throws -> FacetCache.Key {
        let state = ShelfState(
            shelf: Shelf(key: shelf, title: "Dairy"),
            productCount: 1,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: 0),
            version: version,
            orderVersion: 1
        )
        let head = ShelfHead(
            store: Store(key: store, title: "S", currency: Currency("EUR")!),
            storeVersion: 1,
            state: state
        )
        let request = PageRequest(store: store, shelf: shelf, facets: [.brand])
        return FacetCache.Key(try PlannedPage(request, PageBasis(head: head)))
    }

    private typealias Found = (version: ShelfVersion, facets: Facets)

    private static func facets(_ total: Int, version: Int64 = 1) -> Found {
        var facets = Facets(counted: [.brand])
        facets.total = total
        return (ShelfVersion(store: 1, shelf: version), facets)
    }

    /// A count that waits for `end`, or until it is cancelled.
    private final class Gate: Sendable {
        private let counts = Atomic<Int>(0)
        private let cancelled = Atomic<Bool>(false)
        private let open = AsyncStream<Void>.makeStream()

        var number: Int { counts.load(ordering: .relaxed) }
        var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

        func end() { open.continuation.finish() }

        func count(_ result: Found) async throws -> Found? {
            counts.add(1, ordering: .relaxed)
            for await _ in open.stream {}
            if Task.isCancelled {
                cancelled.store(true, ordering: .relaxed)
                throw CancellationError()
            }
            return result
        }
    }

    /// Waits until a condition holds.
    private static func until(_ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !condition() {
            try #require(ContinuousClock.now < deadline)
            await Task.yield()
        }
    }

    @Test("Readers who wait for the same facets share one count, and later ones its result")
    func countsOnce() async throws {
        let (cache, gate, key) = (FacetCache(), Gate(), try Self.key())
        let readers = (0..<50).map { _ in
            Task { try await cache.facets(key) { try await gate.count(Self.facets(7)) } }
        }
        try await Self.until { gate.number == 1 }
        gate.end()
        for reader in readers { #expect(try await reader.value?.total == 7) }
        #expect(gate.number == 1)
        #expect(try await cache.facets(key) { Self.facets(8) }?.total == 7)
        #expect(try await cache.facets(Self.key(version: 2)) { Self.facets(8, version: 2) }?.total == 8)
    }

    @Test("A reader who gives up does not end the count of the others; the last one does")
    func cancelsAbandonedCounts() async throws {
        let (cache, gate, key) = (FacetCache(), Gate(), try Self.key())
        let first = Task { try await cache.facets(key) { try await gate.count(Self.facets(7)) } }
        try await Self.until { gate.number == 1 }
        let second = Task { try await cache.facets(key) { try await gate.count(Self.facets(9)) } }
        try await Self.until { cache.readers(of: key) == 2 }
        first.cancel()
        // It does not wait for the count.
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(cache.readers(of: key) == 1)
        #expect(!gate.isCancelled)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        try await Self.until { gate.isCancelled }
        // The next reader counts again.
        #expect(try await cache.facets(key) { Self.facets(3) }?.total == 3)
    }

    @Test("A count that fails, or whose shelf has changed, is not kept")
    func keepsOnlyResults() async throws {
        let (cache, key) = (FacetCache(), try Self.key())
        await #expect(throws: CancellationError.self) { try await cache.facets(key) { throw CancellationError() } }
        #expect(try await cache.facets(key) { nil } == nil)
        // The counts of a newer version are kept for those who ask for it.
        #expect(try await cache.facets(key) { Self.facets(4, version: 2) } == nil)
        #expect(try await cache.facets(Self.key(version: 2)) { nil }?.total == 4)
        #expect(try await cache.facets(key) { Self.facets(3) }?.total == 3)
    }

    /// Catalogs count the facets of small shelves by statements or, like those of large ones, in memory.
    private static func catalog(_ catalog: PostgresCatalog, inMemory: Bool) -> PostgresCatalog {
        var limits = PageLimits()
        if inMemory { limits.countedInMemory = 0...1000 }
        return PostgresCatalog(catalog.database, pageLimits: limits)
    }

    @Test("Facets follow every change of the shelf, in every sort", arguments: [false, true])
    func followsChanges(inMemory: Bool) async throws {
        try await withCatalog { (empty: PostgresCatalog) async throws in
            let catalog = Self.catalog(empty, inMemory: inMemory)
            _ = try await catalog.put(Store(key: Self.store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.put(Shelf(key: Self.shelf, title: "Dairy"), in: Self.store)
            func put(_ sku: String, _ brand: String?, _ price: Int64, inStock: Bool = true) async throws {
                var product = Product(sku: SKU(sku)!, name: sku, priceMinor: price)
                product.brand = brand
                product.inStock = inStock
                _ = try await catalog.put(product, in: Self.store)
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
                    found.append(try #require(try await catalog.page(request).facets))
                }
                #expect(Set(found).count == 1, "each sort has the same facets")
                return found[0]
            }
            for (index, brand) in ["Arla", "Arla", "Oatly", nil].enumerated() {
                try await put("p\(index)", brand, Int64(100 + index))
                _ = try await catalog.place(SKU("p\(index)")!, on: Self.shelf, in: Self.store)
            }
            #expect(try await facets().brands.map(\.count).sorted() == [1, 1, 2])
            try await put("p3", "Arla", 103)
            #expect(try await facets().brands.map(\.count).sorted() == [1, 3])
            try await put("p2", "Oatly", 999, inStock: false)
            #expect(try await facets().prices.map(\.minor).max() == 999)
            #expect(try await facets().soldOut == 1)
            let arla = try Filter([.brand: .texts(["Arla"])])
            #expect(try await facets(arla).total == 3)
            try await catalog.unplace(SKU("p0")!, from: Self.shelf, in: Self.store)
            #expect(try await facets(arla).total == 2)
            #expect(try await facets().total == 3)
        }
    }

    @Test("Counts in memory equal those of the statement, while writers change the shelf")
    func countsConcurrentChanges() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var generator = SeededGenerator(seed: 11)
            _ = try await catalog.put(Store(key: Self.store, title: "S", currency: Currency("EUR")!))
            let other = CatalogKey("other")!
            for key in [Self.shelf, other] { _ = try await catalog.put(Shelf(key: key, title: "T"), in: Self.store) }
            let products = (0..<40).map { Product.random($0, using: &generator) }
            try await catalog.seed(products, on: Self.shelf, in: Self.store)
            for product in products.prefix(20) { _ = try await catalog.place(product.sku, on: other, in: Self.store) }
            let inMemory = Self.catalog(catalog, inMemory: true)
            let seeds = (0..<3).map { _ in UInt64.random(in: 0 ... .max, using: &generator) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for seed in seeds {
                    group.addTask { try await Self.write(catalog, products, seed: seed) }
                }
                group.addTask { try await Self.importPrices(catalog, products) }
                for filter in [
                    nil, try Filter([.inStock: .flag(true)]), try Filter([.priceMin: .amount(ExactDecimal(2))]),
                ] {
                    group.addTask {
                        for _ in 0..<40 { try await Self.compare(inMemory, catalog, filter, other) }
                    }
                }
                try await group.waitForAll()
            }
            for shelf in [Self.shelf, other] { try await Self.compare(inMemory, catalog, nil, shelf) }
        }
    }

    /// Compares the facets of one version of a shelf, counted in both ways.
    private static func compare(
        _ inMemory: PostgresCatalog,
        _ catalog: PostgresCatalog,
        _ filter: Filter?,
        _ shelf: CatalogKey
    ) async throws {
        let request = PageRequest(
            store: store,
            shelf: shelf,
            sort: .system,
            filter: filter,
            facets: Set(Facet.allCases)
        )
        let counted = try await inMemory.page(request)
        let expected = try await catalog.page(request)
        guard ShelfVersion(counted.planned.basis.head) == ShelfVersion(expected.planned.basis.head) else { return }
        #expect(counted.facets == expected.facets)
    }

    /// Changes products in random ways, some of them in one transaction on two shelves.
    private static func write(_ catalog: PostgresCatalog, _ products: [Product], seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            var product = products.randomElement(using: &generator)!
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                product.tags = [["a"], ["a", "b"], []].randomElement(using: &generator)!
                product.brand = ["Arla", "arla", nil].randomElement(using: &generator)!
                _ = try await catalog.put(product, in: store)
            case 1:
                let prices = products.shuffled(using: &generator).prefix(5).map {
                    PriceChange(sku: $0.sku, priceMinor: Int64.random(in: 1...500, using: &generator))
                }
                try await catalog.setPrices(prices, in: store)
            case 2: try? await catalog.unplace(product.sku, from: shelf, in: store)
            default: _ = try await catalog.place(product.sku, on: shelf, in: store)
            }
        }
    }

    private static func importPrices(_ catalog: PostgresCatalog, _ products: [Product]) async throws {
        for round in 1...5 {
            let file = products.prefix(10).reduce("store,shelf,sku,name,price,currency\n") {
                $0 + "\(store),T,\($1.sku),\"N\",\(round).50,EUR\n"
            }
            let pieces = AsyncStream<[UInt8]> { stream in
                stream.yield(Array(file.utf8))
                stream.finish()
            }
            _ = try await Importer(catalog).run(pieces, ImportOptions(format: .csv, createsStores: true))
        }
    }

    @Test("Times of changes on a shelf grow, though the transaction of a later change began earlier")
    func timesGrowOnShelves() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.put(Store(key: Self.store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.put(Shelf(key: Self.shelf, title: "T"), in: Self.store)
            for sku in ["a", "b"] {
                _ = try await catalog.put(Product(sku: SKU(sku)!, name: sku, priceMinor: 1), in: Self.store)
                _ = try await catalog.place(SKU(sku)!, on: Self.shelf, in: Self.store)
            }
            // As if the last change had been made by a clock that is ahead.
            let last = try await catalog.database.writes.perform(within: .edit) { connection in
                try connection.query("UPDATE shelf SET modified_at = now() + interval '1 hour' RETURNING modified_at") {
                    try $0.first { try $0.timestamptz(0) }!
                }
            }
            try await catalog.setPrices([PriceChange(sku: SKU("a")!, priceMinor: 2)], in: Self.store)
            let first = try await catalog.product(Self.store, SKU("a")!).product.modifiedAt.microseconds
            #expect(first == last + 1)
            _ = try await catalog.put(Product(sku: SKU("b")!, name: "B", priceMinor: 3), in: Self.store)
            let second = try await catalog.product(Self.store, SKU("b")!).product.modifiedAt.microseconds
            #expect(second > first)
        }
    }
}
