package import Catalog

extension Purchase {
    /// Creates a purchase of a whole number of pieces.
    package init(eventID: String, sku: SKU, quantity: Int, at: Timestamp, customer: String? = nil) {
        let quantity = ExactDecimal(Int128(quantity))
        self.init(eventID: eventID, sku: sku, quantity: quantity, at: at, customer: customer)
    }
}
