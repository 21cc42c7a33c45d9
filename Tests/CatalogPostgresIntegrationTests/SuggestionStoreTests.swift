import Catalog
import CatalogJSON
import Shelves
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// Suggestions in memory and in PostgreSQL.
@Suite(.timeLimit(.minutes(15))) struct SuggestionStoreTests {
    typealias Implementation = StoreConformanceTests.Implementation

    private static let shop = StoreConformanceTests.shop
    private static let dairy = StoreConformanceTests.dairy
    private static let drinks = CatalogKey("drinks")!

    private static func put(
        _ sku: String,
        _ name: String,
        on shelves: [CatalogKey],
        _ catalog: CatalogStorage,
        _ change: (inout Product) -> Void = { _ in }
    ) async throws {
        var product = Product(sku: SKU(sku)!, name: name)
        change(&product)
        _ = try await catalog.products.put(product, in: shop)
        for shelf in shelves { _ = try await catalog.products.place(product.sku, on: shelf, in: shop) }
    }

    /// Runs a body on a catalog with two shelves and three products, of which one is on no shelf.
    private static func withMilk(
        _ implementation: Implementation,
        _ body: (CatalogStorage) async throws -> Void
    ) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            try await fill(catalog)
            try await body(catalog)
        }
    }

    private static func fill(_ catalog: CatalogStorage) async throws {
        for (key, title) in [(dairy, "Milk and cheese"), (drinks, "Drinks")] {
            _ = try await catalog.shelves.put(Shelf(key: key, title: title), in: shop)
        }
        try await put("a", "Milk", on: [dairy, drinks], catalog) { $0.brand = "Milka" }
        try await put("b", "Oat milk", on: [drinks], catalog) { $0.inStock = false }
        try await put("c", "Milk powder", on: [], catalog)
    }

    /// Returns suggestions, each as its kind and text.
    private static func texts(_ text: String, _ catalog: CatalogStorage, limit: Int = 20) async throws -> [String] {
        try await catalog.suggestions.suggestions(for: SuggestionRequest(store: shop, text: text, limit: limit))
            .suggestions.map { "\($0.subject.kind) \($0.text)" }
    }

    @Test(
        "Suggestions are words, shelves, brands and products of all shelves, each product once",
        arguments: Implementation.allCases
    )
    func kinds(_ implementation: Implementation) async throws {
        try await Self.withMilk(implementation) { catalog in
            let all = [
                "word milk", "word milka", "shelf Milk and cheese", "brand Milka", "product Milk", "product Oat milk",
            ]
            #expect(try await Self.texts("mil", catalog) == all)
            #expect(try await Self.texts("MIL", catalog, limit: 2) == ["product Milk", "product Oat milk"])
            #expect(try await Self.texts("powder", catalog).isEmpty, "it is on no shelf")
            #expect(try await Self.texts("", catalog).isEmpty)
            let found = try await catalog.suggestions.suggestions(for: SuggestionRequest(store: Self.shop, text: "oat"))
                .suggestions
            #expect(found.map(\.subject) == [.product(SKU("b")!)] && found.map(\.matches) == [[0..<3]])
        }
    }

    @Test("Shelves come by the number of products that they show", arguments: Implementation.allCases)
    func shelvesWithDescendants(_ implementation: Implementation) async throws {
        try await Self.withMilk(implementation) { catalog in
            let upper = Shelf(key: CatalogKey("all")!, title: "Milk of all kinds", includesDescendants: true)
            _ = try await catalog.shelves.put(upper, in: Self.shop)
            let lower = Shelf(key: Self.drinks, title: "Drinks", parent: upper.key)
            _ = try await catalog.shelves.put(lower, in: Self.shop)
            let shelves = try await Self.texts("milk", catalog).filter { $0.hasPrefix("shelf") }
            #expect(shelves == ["shelf Milk of all kinds", "shelf Milk and cheese"])
        }
    }

    @Test("Stores that do not exist are not found, and long texts are malformed", arguments: Implementation.allCases)
    func errors(_ implementation: Implementation) async throws {
        try await Self.withMilk(implementation) { catalog in
            await #expect(throws: CatalogError.notFound("store “none”")) {
                try await catalog.suggestions.suggestions(
                    for: SuggestionRequest(store: CatalogKey("none")!, text: "mil")
                )
            }
            let error = await #expect(throws: CatalogError.self) {
                try await Self.texts(String(repeating: "a", count: 101), catalog)
            }
            guard case .malformed("q", _, _, _)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
        }
    }

    @Test(
        "Synonyms of the deployment and of the store, and forms in its language, find products",
        arguments: Implementation.allCases
    )
    func words(_ implementation: Implementation) async throws {
        try await Self.withMilk(implementation) { catalog in
            _ = try await catalog.synonyms.set(Synonyms(groups: [["leche", "milk"]], oneWay: []), for: .deployment)
            _ = try await catalog.synonyms.set(
                Synonyms(groups: [], oneWay: [.init(from: "hafer", to: ["oat"])]),
                for: .store(Self.shop)
            )
            #expect(try await Self.texts("leche", catalog) == ["product Milk", "product Oat milk"])
            #expect(try await Self.texts("hafer", catalog) == ["product Oat milk"])
            #expect(try await Self.texts("milks", catalog) == ["product Milk", "product Oat milk"])
        }
    }

    // MARK: - In PostgreSQL

    /// A clock that only the test advances.
    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func advance(by duration: Duration) { time.withLock { $0 += duration } }
    }

    @Test("Suggestions are those of the last second; after it, each change is seen")
    func freshness() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            try await Self.fill(catalog.storage)
            let clock = Clock()
            let store = PostgresSuggestionStore(catalog.pageStore) { clock.now }
            func products(_ text: String) async throws -> [String] {
                try await store.suggestions(for: SuggestionRequest(store: Self.shop, text: text, limit: 20))
                    .suggestions.filter { $0.subject.kind == .product }.map(\.text)
            }
            func shelves() async throws -> [String] {
                try await store.suggestions(for: SuggestionRequest(store: Self.shop, text: "cheese"))
                    .suggestions.filter { $0.subject.kind == .shelf }.map(\.text)
            }
            #expect(try await products("oat") == ["Oat milk"])
            try await Self.put("d", "Oat flakes", on: [Self.drinks], catalog.storage)
            clock.advance(by: .milliseconds(999))
            #expect(try await products("oat") == ["Oat milk"])
            clock.advance(by: .milliseconds(1))
            #expect(try await products("oat") == ["Oat flakes", "Oat milk"])

            _ = try await catalog.synonyms.set(Synonyms(groups: [["hafer", "oat"]], oneWay: []), for: .deployment)
            _ = try await catalog.shelves.put(Shelf(key: Self.dairy, title: "Cheese"), in: Self.shop)
            #expect(try await products("hafer").isEmpty)
            clock.advance(by: PostgresSuggestionStore.freshness)
            #expect(try await products("hafer") == ["Oat flakes", "Oat milk"])
            #expect(try await shelves() == ["Cheese"])

            _ = try await catalog.shelves.remove(store: Self.shop)
            #expect(try await shelves() == ["Cheese"])
            clock.advance(by: PostgresSuggestionStore.freshness)
            await #expect(throws: CatalogError.notFound("store “\(Self.shop)”")) { try await shelves() }
        }
    }

    @Test("Known suggestions need no database, and what leaves the memory is read again")
    func memory() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            try await Self.fill(catalog.storage)
            let clock = Clock()
            let store = PostgresSuggestionStore(catalog.pageStore) { clock.now }
            let request = SuggestionRequest(store: Self.shop, text: "oat")
            let first = try await store.suggestions(for: request)
            let found = first.suggestions
            #expect(found.count == 1 && first.hasRead && first.indexedProducts == 2)
            // The index, the rules, and the entry of the store that has them.
            #expect(catalog.shelfMemoryUse.indexes.count == 3)
            try await Self.put("d", "Oat flakes", on: [Self.drinks], catalog.storage)
            let caches = catalog.pageStore.memory.caches
            let union = try #require(caches.unions.entries.first?.key)
            let second = try await store.suggestions(for: request)
            #expect(second.suggestions == found && !second.hasRead && second.indexedProducts == 0)
            caches.indexes.remove(.union(union))
            let third = try await store.suggestions(for: request)
            #expect(third.suggestions.count == 2 && third.hasRead && third.indexedProducts == 3)
        }
    }

    @Test("A request that waits for a read from more than a second before it reads once more")
    func oldRead() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            try await Self.fill(catalog.storage)
            let now = ContinuousClock.now
            // The arrival of the request, and the start of the read that it waits for.
            let times = Mutex([now, now - .seconds(2)])
            let store = PostgresSuggestionStore(catalog.pageStore) {
                times.withLock { $0.isEmpty ? now : $0.removeFirst() }
            }
            let request = SuggestionRequest(store: Self.shop, text: "oat")
            #expect(try await store.suggestions(for: request).hasRead)
            // The source that was read again is known.
            #expect(try await !store.suggestions(for: request).hasRead)
        }
    }

    @Test(
        "A store's other language is used, and a store that is created again does not have the suggestions of the deleted one"
    )
    func changedStore() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var shop = Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!)
            shop.locale = "en"
            _ = try await catalog.shelves.put(shop)
            try await Self.fill(catalog.storage)
            let clock = Clock()
            let store = PostgresSuggestionStore(catalog.pageStore) { clock.now }
            func texts() async throws -> [String] {
                let request = SuggestionRequest(store: Self.shop, text: "oat")
                return try await store.suggestions(for: request).suggestions.map(\.text)
            }
            let caches = catalog.pageStore.memory.caches
            func inflections() -> [Inflection] { caches.indexes.entries.map(\.value.index.inflection) }
            #expect(try await texts() == ["Oat milk"] && inflections() == [Inflection([.english])])
            shop.locale = "hr"
            _ = try await catalog.shelves.put(shop)
            #expect(try await texts() == ["Oat milk"] && inflections() == [Inflection([.english])])
            clock.advance(by: PostgresSuggestionStore.freshness)
            #expect(try await texts() == ["Oat milk"] && inflections() == [Inflection([.croatian])])

            _ = try await catalog.shelves.remove(store: Self.shop)
            _ = try await catalog.shelves.put(shop)
            _ = try await catalog.shelves.put(Shelf(key: Self.dairy, title: "Dairy"), in: Self.shop)
            try await Self.put("e", "Oat bread", on: [Self.dairy], catalog.storage)
            #expect(try await texts() == ["Oat milk"], "within a second")
            clock.advance(by: PostgresSuggestionStore.freshness)
            #expect(try await texts() == ["Oat bread"])
        }
    }
}
