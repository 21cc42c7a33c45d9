/// A purchase or refund event; it counts once, however often it is sent.
package struct Purchase: Sendable, Hashable {
    /// A UUID in lower case.
    package var eventID: String
    package var sku: SKU
    /// How many were bought; negative for a refund, never zero.
    package var quantity: Int32
    package var at: Timestamp
    /// The caller's customer identifier; only a keyed hash of it is stored.
    package var customer: String?

    package init(eventID: String, sku: SKU, quantity: Int32, at: Timestamp, customer: String? = nil) {
        self.eventID = eventID
        self.sku = sku
        self.quantity = quantity
        self.at = at
        self.customer = customer
    }

    /// The maximum number of events per request.
    package static let countLimit = 10_000
    package static let quantityLimit: Int32 = 1_000_000
    /// The maximum length of a customer identifier, in bytes.
    package static let customerLimit = 200
    /// How far a client's clock may run ahead, in microseconds.
    package static let leeway: Int64 = 300_000_000
    /// The default retention of customers and event ids, in days. An older event is rejected, because a duplicate
    /// could not be detected.
    package static let retentionDays = 400
}
