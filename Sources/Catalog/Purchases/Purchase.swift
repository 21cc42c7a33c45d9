/// A purchase or refund event; it counts once, however often it is sent.
package struct Purchase: Sendable, Hashable {
    /// The caller's id of the event: printable ASCII. The case of letters matters, except in a UUID.
    package var eventID: String
    package var sku: SKU
    /// How many were bought; negative for a refund, never zero.
    package var quantity: ExactDecimal
    package var at: Timestamp
    /// The caller's customer identifier; only a keyed hash of it is stored.
    package var customer: String?

    package init(eventID: String, sku: SKU, quantity: ExactDecimal, at: Timestamp, customer: String? = nil) {
        self.eventID = eventID
        self.sku = sku
        self.quantity = quantity
        self.at = at
        self.customer = customer
    }

    /// The maximum number of events per request.
    package static let countLimit = 10_000
    /// The largest quantity of a purchase or refund, and its maximum number of decimals.
    package static let quantityLimit = ExactDecimal(1_000_000)
    package static let quantityScale = 3
    /// The maximum length of an event's id.
    package static let eventIDLimit = 64
    /// The maximum length of a customer identifier, in bytes.
    package static let customerLimit = 200
    /// How far a client's clock may run ahead, in microseconds.
    package static let leeway: Int64 = 300_000_000
    /// The default retention of customers and event ids, in days. An older event is rejected, because a duplicate
    /// could not be detected.
    package static let retentionDays = 400
}
