/// A purchase of a product, or a refund: an event that counts once, however often it is sent.
package struct Purchase: Sendable, Hashable {
    /// A UUID in lower case.
    package var eventID: String
    package var sku: SKU
    /// Pieces; below zero for a refund, never zero.
    package var quantity: Int32
    package var at: Timestamp
    /// Whatever the caller tells customers apart by; only a keyed hash of it is kept.
    package var customer: String?

    package init(eventID: String, sku: SKU, quantity: Int32, at: Timestamp, customer: String? = nil) {
        self.eventID = eventID
        self.sku = sku
        self.quantity = quantity
        self.at = at
        self.customer = customer
    }

    /// The most events of one request.
    package static let countLimit = 10_000
    package static let quantityLimit: Int32 = 1_000_000
    /// The most bytes of a customer.
    package static let customerLimit = 200
    /// How far ahead of ours a clock may be, in microseconds.
    package static let leeway: Int64 = 300_000_000
    /// The days for which customers and event ids are kept by default. An older event is refused: nothing would show whether
    /// it was counted.
    package static let keptDays = 400
}
