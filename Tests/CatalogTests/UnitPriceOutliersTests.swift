import Catalog
import Ordering
import Testing
import TestSupport

@Suite struct UnitPriceOutliersTests {
    private func product(_ price: Int64?, _ amount: String, _ unit: MeasureUnit = .g) throws -> Product {
        var product = Product(sku: SKU("a")!, name: "Name", priceMinor: price)
        product.size = try Size(amount: ExactDecimal(amount)!, unit: unit)
        return product
    }

    private func find(_ products: [Product], shelf: (Int) -> String = { _ in "dairy" }) -> (
        count: Int, warnings: [String]
    ) {
        var outliers = UnitPriceOutliers()
        for (index, product) in products.enumerated() {
            outliers.add(
                line: index + 2,
                product,
                on: CatalogKey(shelf(index))!,
                of: CatalogKey("corner")!,
                pricing: .eu,
                currency: Currency("EUR")!
            )
        }
        return outliers.find()
    }

    @Test("A unit price more than 1000 times the median of its shelf is reported with line, name and both prices")
    func reportsOutliers() throws {
        var products = try (0..<9).map { try product(100 + $0, "1000") }
        products.append(try product(149, "1"))
        products.append(try product(1, "20", .kg))
        let (count, warnings) = find(products)
        #expect(count == 2)
        try #require(warnings.count == 2)
        #expect(
            warnings[0]
                == "line 11: “Name” costs 1.49 EUR, 1490.00 EUR per 1 kg; the median of its shelf “dairy” of “corner” is 1.04 EUR per 1 kg"
        )
        #expect(warnings[1].hasPrefix("line 12: “Name” costs 0.01 EUR, 0.00 EUR per 1 kg"))
    }

    @Test("Other shelves, other dimensions, prices of 0, unknown sizes and few products are not compared")
    func comparesOnlyWhatCompares() throws {
        let normal = try (0..<9).map { try product(100 + $0, "1000") }
        let outlier = try product(149, "1")
        #expect(find(normal + [outlier]).count == 1)
        #expect(find(normal + [outlier]) { $0 < 9 ? "dairy" : "spices" }.count == 0)
        #expect(find(normal + [try product(149, "1", .ml)]).count == 0)
        #expect(find(normal + [try product(0, "1"), try product(nil, "1")]).count == 0)
        var unknown = outlier
        unknown.size = nil
        #expect(find(normal + [unknown]).count == 0)
        #expect(find(Array(normal.prefix(3)) + [outlier]).count == 0)
        #expect(find(Array(normal.prefix(4)) + [outlier]).count == 1)
        #expect(find([]).count == 0)
    }

    @Test("The count agrees with a sorted list, except near the limit", arguments: 0..<8)
    func agreesWithSorting(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed + 5)
        let products = try (0..<500).map { _ in
            let isFar = Int.random(in: 0..<25, using: &generator) == 0
            return try product(
                Int64.random(in: 100...400, using: &generator),
                isFar
                    ? ["0.01", "9000000"].randomElement(using: &generator)!
                    : "\(Int.random(in: 500...900, using: &generator))"
            )
        }
        let values = products.map { UnitPrice(priceMinor: $0.priceMinor, size: $0.size)!.approximateValue }
        let median = values.sorted()[(values.count - 1) / 2]
        let expected = values.count { $0 > median * 1000 || $0 * 1000 < median }
        let (count, warnings) = find(products)
        #expect(count == expected && expected > 5)
        #expect(warnings.count == min(expected, warnings.count) && warnings.count <= UnitPriceOutliers.warningLimit)
    }
}
