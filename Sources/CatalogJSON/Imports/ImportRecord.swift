package import Catalog

/// One checked row of an import.
package struct ImportRecord: Sendable {
    package var line: Int
    package var store: CatalogKey
    /// What the file calls the shelf: a key or a title.
    package var shelf: String?
    package var sku: SKU
    package var currency: Currency
    package var name: String
    package var brand: String?
    package var priceMinor: Int64?
    package var regularPriceMinor: Int64?
    package var wasRounded: Bool
    package var size: Size?
    package var barcode: String?
    package var imageURL: String?
    package var inStock: Bool
    package var tags: [String]
    package var popularity: Double
    /// The manual position as a fraction: numerator ÷ denominator.
    package var position: (ExactDecimal, ExactDecimal)?
}
