/// One purchase of a product, or a refund: an event that counts once, however often it is told.
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
    /// How many days customers and the ids of events are kept, where nothing else is said. What is told later than that
    /// cannot be told from what was counted.
    package static let keptDays = 400
}
