package import Catalog

/// A validated row of an import.
package struct ImportRecord: Sendable {
    package let line: Int
    package let store: CatalogKey
    /// The shelf's key or title in the file.
    package let shelf: String?
    package let currency: Currency
    /// The product as the row states it.
    package var product: Product
    /// Whether a price had more digits than the currency.
    package var wasRounded = false
    /// The purchases that the row states.
    package var popularity = 0.0
    /// The manual position as a fraction: numerator ÷ denominator.
    package let position: (ExactDecimal, ExactDecimal)?

    /// Sets the prices: the promotional price is the current one, and makes the price the regular one.
    mutating func set(price: (minor: Int64, wasRounded: Bool)?, promotional: (minor: Int64, wasRounded: Bool)?) {
        product.priceMinor = (promotional ?? price)?.minor
        product.regularPriceMinor = promotional == nil ? nil : price?.minor
        wasRounded = price?.wasRounded ?? false || promotional?.wasRounded ?? false
    }
}
