import JSON
import Catalog
import Testing

@testable import CatalogJSON

@Suite(.timeLimit(.minutes(15))) struct ProductFragmentsTests {
    private static let store = Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!)

    private func product(_ sku: String, price: Int64, log2: Double = 5, modifiedAt: Int64 = 1) -> Product {
        var product = Product(sku: SKU(sku)!, name: "“\(sku)”, fresh", priceMinor: price)
        product.size = try? Size(amount: ExactDecimal("250")!, unit: .g)
        product.popularity = Popularity(log2: log2)
        product.modifiedAt = Timestamp(microseconds: modifiedAt)
        return product
    }

    /// Returns a page's products as rendered, and how many of them were known.
    private func render(
        _ products: [Product],
        _ fragments: ProductFragments,
        store: Store = store,
        day: Int = 20_000
    ) -> (text: String, known: Int) {
        var rendered = RenderedProducts(store, day: day, fragments)
        var known = 0
        for product in products {
            if rendered.addKnown(product.sku, modifiedAt: product.modifiedAt, popularity: product.popularity) {
                known += 1
            } else {
                rendered.add(product)
            }
        }
        return (String(decoding: rendered.bytes, as: UTF8.self), known)
    }

    /// Returns the products as they are written one by one, without fragments.
    private func write(_ products: [Product], store: Store = store, day: Int = 20_000) -> String {
        let presentation = ProductPresentation(store: store, day: day)
        return products.map { product in
            var json = JSONWriter()
            presentation.write(product, to: &json)
            return json.text
        }.joined(separator: ",")
    }

    @Test("Products from fragments are written as without them, on every day")
    func fragmentsChangeNothing() {
        let fragments = ProductFragments(limit: 1 << 20)
        let products = (0..<40).map {
            product("p\($0)", price: Int64($0) * 7, log2: $0 == 3 ? -.infinity : Double($0) - 9)
        }
        #expect(render(products, fragments) == (write(products), 0))
        for day in [20_000, 20_001, 30_000] {
            #expect(render(products, fragments, day: day) == (write(products, day: day), 40))
        }
        let popular = products.map { product in
            var product = product
            product.popularity = Popularity(log2: 30)
            return product
        }
        #expect(render(popular, fragments) == (write(popular), 40))
        #expect(render([], fragments) == ("", 0))
    }

    @Test("A changed product, or one in a store with other rules, is rendered again")
    func outdatedFragmentsAreNotUsed() {
        let fragments = ProductFragments(limit: 1 << 20)
        let old = [product("a", price: 100)]
        _ = render(old, fragments)
        let new = [product("a", price: 200, modifiedAt: 2)]
        #expect(render(new, fragments) == (write(new), 0))
        #expect(render(new, fragments) == (write(new), 1))
        var changed = Self.store
        changed.unitPricing = .us
        #expect(render(new, fragments, store: changed) == (write(new, store: changed), 0))
        changed.currency = Currency("JPY")!
        #expect(render(new, fragments, store: changed) == (write(new, store: changed), 0))
        let other = Store(key: CatalogKey("t")!, title: "T", currency: Currency("EUR")!)
        #expect(render(old, fragments, store: other) == (write(old, store: other), 0))
    }

    @Test("The cache stays within its limit")
    func limitHolds() {
        let fragments = ProductFragments(limit: 100_000)
        let products = (0..<2000).map { product("p\($0)", price: 1) }
        _ = render(products, fragments)
        let known = products.suffix(100).count { product in
            fragments[.init(store: Self.store.key, sku: product.sku)] != nil
        }
        let all = products.count { fragments[.init(store: Self.store.key, sku: $0.sku)] != nil }
        #expect(known > 20)
        #expect(all < 300)
    }
}
