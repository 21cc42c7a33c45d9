package import Catalog
package import Ordering

extension Product {
    /// Returns a product with values from a small set, so that ties, missing values and unusual names are frequent.
    package static func random(_ number: Int, using generator: inout SeededGenerator) -> Product {
        let names = [
            "Milk", "milk", "Ärla Milk", "Arla Milk", "Zebra", "zebra 10", "zebra 9", "Ёжик", "ель", "Élan", "élan",
            "e\u{301}lan",
            "牛乳", "2 dl Cream", "10 dl Cream", "O'Brien \"Best\"", "🍎 Apple", "Apfel", "Straße", "Strasse", "a-b", "ab",
            "İz", "ız",
        ]
        let brands: [String?] = [
            nil, "Buddy", "buddy", "Ärla", "Arla", "Zott", "Żywiec", "ООО Молоко", "Brand 2", "Brand 10",
        ]
        let units: [MeasureUnit] = [.g, .kg, .ml, .l, .piece, .dose, .m, .m2, .lb, .floz_us]
        let amounts = [
            ExactDecimal(1), ExactDecimal(3), ExactDecimal(7), ExactDecimal(330), ExactDecimal(500),
            ExactDecimal(75, scale: 2),
        ]
        let size: Size? =
            Int.random(in: 0..<5, using: &generator) == 0
            ? nil
            : try! Size(
                amount: amounts.randomElement(using: &generator)!,
                unit: units.randomElement(using: &generator)!,
                packs: [1, 1, 2, 6].randomElement(using: &generator)!,
                drained: Int.random(in: 0..<8, using: &generator) == 0 ? ExactDecimal(1, scale: 1) : nil
            )
        let prices: [Int64?] = [nil, 0, 99, 99, 199, 297, 100, 300, 999_999_999_999]
        let moments: [Int64] = [0, 1_700_000_000_000_000, 1_700_000_000_000_001, 1_750_000_000_123_456]
        return Product(
            sku: SKU("s\(number)-\(["a", "B", "ä", "'", " x"].randomElement(using: &generator)!)")!,
            name: names.randomElement(using: &generator)!,
            brand: brands.randomElement(using: &generator)!,
            priceMinor: prices.randomElement(using: &generator)!,
            size: size,
            barcode: [nil, "4006381333931"].randomElement(using: &generator)!,
            imageURL: [nil, "https://images.example/\(number).webp", "https://images.example/b.webp"]
                .randomElement(using: &generator)!,
            group: number % 3 == 0 ? nil : "g/\(number / 7)",
            attributes: ["{}", #"{"origin": "HR"}"#].randomElement(using: &generator)!,
            popularity: [Popularity.none, Popularity(log2: 1), Popularity(log2: 1.5), Popularity(log2: -0.333333)]
                .randomElement(using: &generator)!,
            inStock: Int.random(in: 0..<4, using: &generator) > 0,
            tags: Array(["organic", "čaj", "ärla"].prefix(Int.random(in: 0...3, using: &generator))),
            createdAt: Timestamp(microseconds: moments.randomElement(using: &generator)!),
            modifiedAt: Timestamp(microseconds: moments.randomElement(using: &generator)!)
        )
    }
}
