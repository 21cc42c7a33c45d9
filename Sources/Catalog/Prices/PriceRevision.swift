/// The prices of a product before and after a change, in minor units.
package struct PriceRevision: Sendable, Hashable {
    /// A price and a regular price; nil for none.
    package struct Prices: Sendable, Hashable {
        package var price: Int64?
        package var regular: Int64?

        package init(price: Int64?, regular: Int64?) {
            self.price = price
            self.regular = regular
        }

        /// Whether the prices follow `rule`.
        package var isValid: Bool { regular == nil || price != nil }
        package static let rule =
            "regular_price_minor requires price_minor; set price_minor, too, or omit regular_price_minor"
    }

    package var sku: SKU
    package var old: Prices
    package var new: Prices

    package init(_ sku: SKU, old: Prices, new: Prices) {
        self.sku = sku
        self.old = old
        self.new = new
    }
}
