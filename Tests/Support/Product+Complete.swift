package import Catalog

extension Product {
    /// A product in euros whose every field differs from a new product's.
    package static let complete = Product(
        sku: SKU("complete")!,
        name: "Tuna, drained",
        brand: "Alma",
        priceMinor: 169,
        regularPriceMinor: 199,
        size: try! Size(
            amount: ExactDecimal("185")!,
            unit: .g,
            packs: 2,
            drained: ExactDecimal("140")!,
            isApproximate: true
        ),
        barcode: "4006381333931",
        imageURL: "https://img.example/tuna.png",
        group: "tuna",
        attributes: #"{"origin":"PT"}"#,
        popularity: Popularity(log2: 3),
        inStock: false,
        tags: ["fish", "sale"],
        createdAt: Timestamp(microseconds: 1_700_000_000_000_000),
        modifiedAt: Timestamp(microseconds: 1_700_000_001_000_000)
    )

    /// The product with another product's fields that only the server sets.
    package func withServerFields(of other: Product) -> Product {
        var product = self
        product.popularity = other.popularity
        product.createdAt = other.createdAt
        product.modifiedAt = other.modifiedAt
        return product
    }
}
