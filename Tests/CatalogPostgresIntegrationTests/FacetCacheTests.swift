import Catalog
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

    @Test("Facets follow every change of the shelf, in every sort")
    func followsChanges() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
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
}
