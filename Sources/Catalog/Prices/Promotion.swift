/// A price of a product that applies for a time.
package struct Promotion: Hashable, Sendable {
    /// Identifies the promotion among those of its product.
    package var id: PriceID
    /// In minor units.
    package var priceMinor: Int64
    /// The start, inclusive; nil for none.
    package var startsAt: Timestamp?
    /// The end, exclusive; nil for none.
    package var endsAt: Timestamp?
    /// Of several promotions, the one with the highest priority applies.
    package var priority: Int32
    /// The feed that wrote the promotion; nil if no feed did.
    package var feed: CatalogKey?

    package init(
        _ id: PriceID,
        priceMinor: Int64,
        startsAt: Timestamp? = nil,
        endsAt: Timestamp? = nil,
        priority: Int32 = 0,
        feed: CatalogKey? = nil
    ) {
        self.id = id
        self.priceMinor = priceMinor
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.priority = priority
        self.feed = feed
    }

    /// Whether the time is in the promotion's interval, which includes its start and excludes its end.
    package func isInForce(at time: Timestamp) -> Bool {
        if let startsAt, time < startsAt { return false }
        if let endsAt, time >= endsAt { return false }
        return true
    }

    /// Whether this promotion applies instead of another one if both are in force: by priority, then the lower price, then the later start, then
    /// the smaller id.
    package func precedes(_ other: Promotion) -> Bool {
        if priority != other.priority { return priority > other.priority }
        if priceMinor != other.priceMinor { return priceMinor < other.priceMinor }
        switch (startsAt, other.startsAt) {
        case (let start?, let otherStart?) where start != otherStart: return start > otherStart
        case (.some, nil): return true
        case (nil, .some): return false
        default: return id < other.id
        }
    }
}

/// The identity of a promotion, or of a scheduled base price, among those of a product. It follows the rule of SKUs.
package struct PriceID: Hashable, Sendable, Comparable, CustomStringConvertible {
    private let sku: SKU
    package var text: String { sku.text }

    package init?(_ text: some StringProtocol) {
        guard let sku = SKU(text) else { return nil }
        self.sku = sku
    }

    /// Creates an id from storage, without validation.
    package init(stored text: String) { sku = SKU(stored: text) }

    package var description: String { text }
    package static func < (a: PriceID, b: PriceID) -> Bool { a.sku < b.sku }
    package static let rule = SKU.rule

    /// The id of the undated promotion that represents a written price below its regular price.
    package static let direct = PriceID(stored: "direct")
}
