import Catalog
import CatalogJSON
import JSON
import LibPQ
import Ordering
import TestSupport
import Testing

@testable import CatalogPostgres

/// The memory of a server is divided by store, shelf, user, sort, filter and set of facets.
///
/// Two stores have shelves with the same keys, ids and versions, and products with the same SKUs.
@Suite(.timeLimit(.minutes(15))) struct CacheKeyTests {
    private struct Shop: Sendable {
        let key: CatalogKey
        let prices: [Int64]
        /// The products on each shelf.
        let placed: [String: ClosedRange<Int>]
        let brands: Int

        func brand(_ product: Int) -> String { "\(key) \(product % brands)" }
        func isInStock(_ product: Int) -> Bool { product % brands == 0 }
    }

    private static let shops = [
        Shop(
            key: CatalogKey("north")!,
            prices: [30, 10, 20, 60, 50, 40, 90, 80, 70],
            placed: ["a": 0...5, "b": 3...8],
            brands: 2
        ),
        Shop(
            key: CatalogKey("south")!,
            prices: [5, 6, 4, 3, 2, 1, 9, 8, 7],
            placed: ["a": 2...7, "b": 0...3],
            brands: 3
        ),
    ]
    private static let users = ["ann", "bob"].map { UserID($0)! }

    /// Whether the remembered sort of a user for a shelf is descending.
    private static func isDescending(_ user: UserID, _ shop: Shop, _ shelf: String) -> Bool {
        let properties = [user.text == "ann", shop.key.text == "north", shelf == "a"]
        return properties.count { $0 } % 2 == 0
    }

    private static func fill(_ catalog: PostgresCatalog) async throws {
        for shop in shops {
            _ = try await catalog.shelves.put(
                Store(key: shop.key, title: "S", currency: Currency("EUR")!, soldOut: .mixed)
            )
            for shelf in ["a", "b"] {
                _ = try await catalog.shelves.put(Shelf(key: CatalogKey(shelf)!, title: shelf), in: shop.key)
            }
            for (number, price) in shop.prices.enumerated() {
                let product = Product(
                    sku: SKU("p\(number)")!,
                    name: "P",
                    brand: shop.brand(number),
                    priceMinor: price,
                    inStock: shop.isInStock(number)
                )
                _ = try await catalog.products.put(product, in: shop.key)
                for (shelf, placed) in shop.placed where placed.contains(number) {
                    _ = try await catalog.products.place(product.sku, on: CatalogKey(shelf)!, in: shop.key)
                }
            }
            for user in users {
                for shelf in ["a", "b"] {
                    let key = SettingKey.sort(of: CatalogKey(shelf)!, in: shop.key)
                    let value = JSONValue.string(isDescending(user, shop, shelf) ? "-price" : "price")
                    _ = try await catalog.settings.edit(SettingsEdit([.init(key, value)]), of: user)
                }
            }
        }
        // Nothing but the keys differs.
        let version: Int64 = 4_000_000_000_000_000
        try await catalog.database.writes.perform { connection in
            for table in ["shelf", "store_state"] as [SQL] {
                try connection.execute("UPDATE \(table) SET version = $1", [.int8(version)])
            }
            try connection.execute("UPDATE user_account SET revision = $1", [.int8(version)])
        }
    }

    @Test("Pages, facets and unions of two stores and two users are their own, in any order of requests")
    func keys() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            var cases: [(request: PageRequest, products: [String], brands: [Facets.Count])] = []
            for shop in Self.shops {
                for shelf in ["a", "b", nil] as [String?] {
                    for isFiltered in [false, true] {
                        for (user, descends) in [(nil, false), (nil, true), (Self.users[0], nil), (Self.users[1], nil)]
                            as [(UserID?, Bool?)]
                        {
                            // All shelves of a store have no remembered sort of a shelf.
                            guard
                                let isDescending = descends
                                    ?? user.flatMap({ user in
                                        shelf.map { Self.isDescending(user, shop, $0) }
                                    })
                            else { continue }
                            // The second store has a product on no shelf.
                            let placed =
                                shelf.map { Array(shop.placed[$0]!) }
                                ?? (0...8).filter { number in shop.placed.values.contains { $0.contains(number) } }
                            let shown = placed.filter { !isFiltered || shop.isInStock($0) }
                            let sorted = shown.sorted {
                                isDescending ? shop.prices[$0] > shop.prices[$1] : shop.prices[$0] < shop.prices[$1]
                            }
                            var counts: [String: Int] = [:]
                            for number in shown { counts[shop.brand(number), default: 0] += 1 }
                            var request = PageRequest(
                                store: shop.key,
                                shelf: shelf.map { CatalogKey($0)! },
                                filter: try Filter(isFiltered ? [.inStock: .flag(true)] : [:]),
                                facets: [.brand],
                                user: user
                            )
                            if let descends { request.sort = try Sort.parse(descends ? "-price" : "price") }
                            cases.append(
                                (
                                    request, sorted.map { "p\($0) \(shop.prices[$0])" },
                                    counts.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }.map {
                                        Facets.Count($0.key, $0.value)
                                    }
                                )
                            )
                        }
                    }
                }
            }
            var random = SeededGenerator(seed: 5)
            for _ in 0..<3 {
                for (request, products, brands) in cases.shuffled(using: &random) {
                    let page = try await catalog.pages.page(request)
                    #expect(page.products.map { "\($0.sku.text) \($0.priceMinor ?? 0)" } == products, "\(request)")
                    #expect(page.facets?.brands == brands, "\(request)")
                }
            }
        }
    }
}
