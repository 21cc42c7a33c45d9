import Catalog
import CatalogJSON
import JSON
import TestSupport
import Testing

/// The ranks of products, in memory and in PostgreSQL.
@Suite(.timeLimit(.minutes(15))) struct ProductRankTests {
    typealias Implementation = StoreConformanceTests.Implementation

    private static let shop = StoreConformanceTests.shop
    private static let dairy = StoreConformanceTests.dairy

    /// Runs a body on a catalog with a shelf of five products, at 1.00 to 5.00, of which the third is sold out.
    private static func withShelf(
        _ implementation: Implementation,
        _ body: (CatalogStorage) async throws -> Void
    ) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            for number in 1...5 {
                var product = StoreConformanceTests.product(number)
                product.inStock = number != 3
                _ = try await catalog.products.put(product, in: shop)
                _ = try await catalog.products.place(product.sku, on: dairy, in: shop)
            }
            _ = try await catalog.products.put(StoreConformanceTests.product(9), in: shop)
            try await body(catalog)
        }
    }

    private static func request(_ skus: [String], sort: String?, filter: String? = nil) throws -> RankRequest {
        let page = PageRequest(
            store: shop,
            shelf: dairy,
            sort: try sort.map { try Sort.parse($0) },
            filter: try filter.map { try Filter(query: $0) }
        )
        return RankRequest(page: page, skus: skus)
    }

    @Test("A product has its place in the order, and those next to it", arguments: Implementation.allCases)
    func places(_ implementation: Implementation) async throws {
        try await Self.withShelf(implementation) { catalog in
            // The order is p1, p2, p4, p5, p3.
            let found = try await catalog.pages.ranks(Self.request(["p3", "p1", "p4", "p1"], sort: "price"))
            #expect(found.count == 5 && found.plan.sort.description == "price")
            #expect(found.ranks.map(\.sku) == ["p3", "p1", "p4", "p1"])
            #expect(found.ranks.map(\.rank) == [4, 0, 2, 0])
            #expect(found.ranks.map(\.before) == ["p5", nil, "p2", nil])
            #expect(found.ranks.map(\.after) == [nil, "p2", "p5", "p2"])
            #expect(found.ranks.allSatisfy { $0.reason == .shown && $0.filters.isEmpty })
            // The shelf's own sort, which has the most expensive products first.
            let own = try await catalog.pages.ranks(Self.request(["p5", "p1"], sort: nil))
            #expect(own.ranks.map(\.rank) == [0, 3] && own.plan.source == .shelf)
        }
    }

    @Test(
        "A product without a rank has the reason, and the filters that exclude it",
        arguments: Implementation.allCases
    )
    func reasons(_ implementation: Implementation) async throws {
        try await Self.withShelf(implementation) { catalog in
            let filter = "price_max=3.50&in_stock=true"
            let found = try await catalog.pages.ranks(
                Self.request(["p1", "p3", "p5", "p9", "unknown"], sort: "price", filter: filter)
            )
            #expect(found.count == 2)
            #expect(found.ranks.map(\.reason) == [.shown, .filteredOut, .filteredOut, .notOnShelf, .notOnShelf])
            #expect(found.ranks.map(\.rank) == [0, nil, nil, nil, nil])
            #expect(found.ranks.map(\.filters) == [[], [.inStock], [.priceMax], [], []])
            #expect(found.ranks.map { $0.product?.sku.text } == ["p1", "p3", "p5", nil, nil])
        }
    }

    @Test(
        "The tuple has the compared values: availability, the keys of the sort, name and sku",
        arguments: Implementation.allCases
    )
    func tuples(_ implementation: Implementation) async throws {
        try await Self.withShelf(implementation) { catalog in
            func tuple(_ sku: String, _ sort: String) async throws -> [String] {
                let found = try await catalog.pages.ranks(Self.request([sku], sort: sort))
                let presentation = ProductPresentation(store: found.basis.head.store)
                return found.tuple(of: found.ranks[0], presentation).map { "\($0.key)=\($0.value.text)" }
            }
            #expect(
                try await tuple("p3", "-price,brand") == [
                    "in_stock=false", "price=300", "brand=null", #"name="Product 3""#, #"sku="p3""#,
                ]
            )
            #expect(try await tuple("p1", "name") == ["in_stock=true", #"name="Product 1""#, #"sku="p1""#])
            #expect(try await tuple("p2", "position") == ["position=null", #"name="Product 2""#, #"sku="p2""#])
            #expect(
                try await tuple("p2", "tags,popularity").prefix(3) == ["in_stock=true", "tags=0", "popularity=0.0"]
            )
            #expect(try await tuple("p9", "price").isEmpty)
            var priced = StoreConformanceTests.product(1)
            priced.size = try Size(amount: ExactDecimal(300), unit: .g)
            _ = try await catalog.products.put(priced, in: Self.shop)
            #expect(
                try await tuple("p1", "unit_price")[1]
                    == #"unit_price={"dimension":"mass","value":"0.\#(String(repeating: "3", count: 33))"}"#
            )
        }
    }

    @Test(
        "At most a hundred products have their ranks read, of a shelf that exists",
        arguments: Implementation.allCases
    )
    func errors(_ implementation: Implementation) async throws {
        try await Self.withShelf(implementation) { catalog in
            let many = (0..<100).map { "x\($0)" }
            #expect(try await catalog.pages.ranks(Self.request(many, sort: "price")).ranks.count == 100)
            await #expect(
                throws: CatalogError.unprocessable(field: "skus", detail: "skus has 101 ids; the maximum is 100")
            ) { try await catalog.pages.ranks(Self.request(many + ["y"], sort: "price")) }
            var request = try Self.request(["p1"], sort: "price")
            request.page.shelf = CatalogKey("none")
            await #expect(throws: CatalogError.notFound("shelf “none”")) { try await catalog.pages.ranks(request) }
            #expect(try await catalog.pages.ranks(Self.request([], sort: "price")).count == 5)
        }
    }
}
