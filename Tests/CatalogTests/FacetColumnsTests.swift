import Catalog
import Ordering
import TestSupport
import Testing

/// Facets that are counted in memory.
@Suite(.timeLimit(.minutes(5))) struct FacetColumnsTests {
    private static let euro = Currency("EUR")!

    private static func columns(_ products: [Product]) -> FacetColumns {
        var columns = FacetColumns()
        for product in products { columns.append(row(product)) }
        return ranked(columns)
    }

    private static func row(_ product: Product) -> FacetColumns.Row {
        FacetColumns.Row(
            sku: product.sku,
            brand: product.brand,
            tags: product.tags,
            inStock: product.inStock,
            priceMinor: product.priceMinor
        )
    }

    /// Sets the order of texts to that of their bytes.
    private static func ranked(_ columns: FacetColumns) -> FacetColumns {
        var columns = columns
        if let texts = columns.unrankedTexts {
            columns.rank(texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        }
        return columns
    }

    private static func counts(_ values: [String]) -> [Facets.Count] {
        var counts: [[UInt8]: Int] = [:]
        for value in values { counts[Array(value.utf8), default: 0] += 1 }
        return counts.sorted { $0.value == $1.value ? $0.key.lexicographicallyPrecedes($1.key) : $0.value > $1.value }
            .map { Facets.Count(String(decoding: $0.key, as: UTF8.self), $0.value) }
    }

    /// Counts by the definition: each facet without its own filter.
    private static func expected(_ products: [Product], _ filter: Filter) -> Facets {
        func left(without facet: Facet) -> [Product] {
            products.filter { filter.without(facet.keys).accepts($0, in: euro) }
        }
        var facets = Facets(counted: Set(Facet.allCases))
        facets.total = products.count { filter.accepts($0, in: euro) }
        facets.brands = counts(left(without: .brand).map { $0.brand ?? "" })
        facets.tags = counts(left(without: .tag).flatMap { $0.tags.isEmpty ? [""] : $0.tags })
        facets.inStock = left(without: .inStock).count(where: \.inStock)
        facets.soldOut = left(without: .inStock).count { !$0.inStock }
        let prices = left(without: .price).map(\.priceMinor)
        facets.unpriced = prices.count { $0 == nil }
        facets.prices = Set(prices.compactMap { $0 }).sorted().map { price in
            PriceCount(price, prices.count { $0 == price })
        }
        return facets
    }

    @Test("Counts follow replaced products, for every combination of filters", arguments: 0..<20)
    func countsFollowChanges(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var products = (0..<Int.random(in: 0...50, using: &generator)).map { Product.random($0, using: &generator) }
        var columns = Self.columns(products)
        for _ in 0..<10 {
            for index in products.indices where Int.random(in: 0..<5, using: &generator) == 0 {
                var changed = Product.random(index + 1000, using: &generator)
                changed.sku = products[index].sku
                products[index] = changed
                let isKnown = columns.replace(Self.row(changed))
                #expect(isKnown)
            }
            columns = Self.ranked(columns)
            for keys in [[], [FilterKey.brand], [.tag, .inStock], [.priceMin], [.brand, .tag, .priceMax, .inStock]] {
                var values: [FilterKey: [String]] = [:]
                for key in keys { values[key] = key.random(products, Self.euro, using: &generator) }
                guard let filter = try Filter({ values[$0] ?? [] }) ?? (keys.isEmpty ? Filter.none : nil) else {
                    continue
                }
                let found = columns.facets(Set(Facet.allCases), filter, in: Self.euro)
                #expect(found == Self.expected(products, filter), "\(filter.query)")
            }
        }
    }

    @Test("Texts that look equal but have other bytes are counted apart")
    func comparesBytes() {
        let brands = ["e\u{301}", "\u{e9}"]
        let products = brands.enumerated().map { Product(sku: SKU("p\($0)")!, name: "N", brand: $1) }
        let facets = Self.columns(products).facets([.brand], .none, in: Self.euro)
        #expect(facets.brands.map(\.count) == [1, 1])
        #expect(facets.prices.isEmpty && facets.tags.isEmpty && facets.unpriced == 0)
    }

    @Test("A product that was not there is not replaced, and a new text needs a rank")
    func reportsTheUnknown() {
        var columns = Self.columns([Product(sku: SKU("a")!, name: "N", brand: "B")])
        let other = Self.row(Product(sku: SKU("b")!, name: "N"))
        let isKnown = columns.replace(other)
        #expect(!isKnown && columns.count == 1)
        #expect(columns.unrankedTexts == nil)
        _ = columns.replace(Self.row(Product(sku: SKU("a")!, name: "N", brand: "B", tags: ["new"])))
        #expect(columns.unrankedTexts.map(Set.init) == ["B", "new"])
    }

    @Test("Columns notice many values that no product has any more")
    func noticesUnusedValues() {
        let products = (0..<2000).map {
            Product(sku: SKU("p\($0)")!, name: "N", brand: "\($0)", priceMinor: Int64($0), tags: ["\($0)"])
        }
        var columns = Self.columns(products)
        #expect(!columns.hasManyUnusedValues)
        for price in 0..<10_000 {
            _ = columns.replace(Self.row(Product(sku: SKU("p0")!, name: "N", priceMinor: Int64(100_000 + price))))
        }
        #expect(columns.hasManyUnusedValues)
    }
}
