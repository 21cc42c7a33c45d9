import Catalog
import Testing

@Suite("Price changes") struct PriceChangeTests {
    private static func prices(_ price: Int64?, _ regular: Int64?) -> PriceRevision.Prices {
        .init(price: price, regular: regular)
    }

    @Test(
        "A regular price that is not set stays only above the price",
        arguments: [
            (299, prices(199, 349), prices(299, 349)), (348, prices(199, 349), prices(348, 349)),
            (349, prices(199, 349), prices(349, nil)), (350, prices(199, 349), prices(350, nil)),
            (nil, prices(199, 349), prices(nil, nil)), (299, prices(199, nil), prices(299, nil)),
        ] as [(Int64?, PriceRevision.Prices, PriceRevision.Prices)]
    )
    func regularPriceStays(_ price: Int64?, old: PriceRevision.Prices, new: PriceRevision.Prices) {
        #expect(PriceChange(sku: SKU("a")!, priceMinor: price).applied(to: old) == new)
    }

    @Test("A regular price that is set replaces the old one, and null removes it")
    func regularPriceIsReplaced() {
        let old = Self.prices(199, 349)
        #expect(
            PriceChange(sku: SKU("a")!, priceMinor: 99, regularPriceMinor: 129).applied(to: old) == Self.prices(99, 129)
        )
        #expect(
            PriceChange(sku: SKU("a")!, priceMinor: 99, regularPriceMinor: .some(nil)).applied(to: old)
                == Self.prices(99, nil)
        )
    }

    @Test("A regular price without a price is refused, and so are two changes of one product")
    func requestsAreChecked() throws {
        let (a, b) = (SKU("a")!, SKU("b")!)
        try PriceChange.check([
            PriceChange(sku: a, priceMinor: 1, regularPriceMinor: 2),
            PriceChange(sku: b, priceMinor: nil, regularPriceMinor: .some(nil)),
        ])
        let regular = PriceChange(sku: b, priceMinor: nil, regularPriceMinor: 2)
        #expect(
            throws: CatalogError.unprocessable(
                field: "regular_price_minor",
                detail:
                    "product “b”: regular_price_minor requires price_minor; set price_minor, too, or omit regular_price_minor"
            )
        ) { try PriceChange.check([PriceChange(sku: a, priceMinor: 1), regular]) }
        #expect(throws: CatalogError.unprocessable(field: "sku", detail: "duplicate product “a”")) {
            try PriceChange.check([PriceChange(sku: a, priceMinor: 1), PriceChange(sku: a, priceMinor: 1)])
        }
    }
}
