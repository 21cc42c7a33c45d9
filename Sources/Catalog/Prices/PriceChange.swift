/// A new price of a product.
package struct PriceChange: Sendable, Hashable {
    package var sku: SKU
    /// nil for no price.
    package var priceMinor: Int64?
    /// nil keeps the crossed-out price as long as it exceeds the price; a nested nil removes it.
    package var regularPriceMinor: Int64??

    package init(sku: SKU, priceMinor: Int64?, regularPriceMinor: Int64?? = nil) {
        self.sku = sku
        self.priceMinor = priceMinor
        self.regularPriceMinor = regularPriceMinor
    }

    /// The maximum number of changes per request.
    package static let countLimit = 10_000

    /// - Throws: `unprocessable` for a duplicate product.
    package static func checkRepeats(_ changes: [PriceChange]) throws(CatalogError) {
        var seen: Set<SKU> = []
        for change in changes where !seen.insert(change.sku).inserted {
            throw .unprocessable(field: "sku", detail: "duplicate product “\(change.sku)”")
        }
    }

    package static func unknown(_ sku: SKU) -> CatalogError {
        .unprocessable(field: "sku", detail: "the store has no product “\(sku)”; no price was changed")
    }
}
