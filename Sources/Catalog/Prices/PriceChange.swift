/// A new price of a product.
package struct PriceChange: Sendable, Hashable {
    package var sku: SKU
    /// nil where it has none.
    package var priceMinor: Int64?
    /// nil leaves the crossed-out price as it is; a nil inside takes it away.
    package var regularPriceMinor: Int64??

    package init(sku: SKU, priceMinor: Int64?, regularPriceMinor: Int64?? = nil) {
        self.sku = sku
        self.priceMinor = priceMinor
        self.regularPriceMinor = regularPriceMinor
    }

    /// The most changes of one request.
    package static let countLimit = 10_000

    /// - Throws: `unprocessable`, naming a product that is there twice.
    package static func checkRepeats(_ changes: [PriceChange]) throws(CatalogError) {
        var seen: Set<SKU> = []
        for change in changes where !seen.insert(change.sku).inserted {
            throw .unprocessable(field: "sku", detail: "product “\(change.sku)” is there more than once")
        }
    }

    package static func unknown(_ sku: SKU) -> CatalogError {
        .unprocessable(field: "sku", detail: "the store has no product “\(sku)”; no price was changed")
    }
}
