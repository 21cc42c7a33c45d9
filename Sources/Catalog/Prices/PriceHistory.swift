/// The history of a product's public price. Each price lasts until the next entry.
package struct PriceHistory: Hashable, Sendable {
    /// A price and the time of its start.
    package struct Entry: Hashable, Sendable {
        package var since: Timestamp
        /// In minor units; nil for no price.
        package var priceMinor: Int64?

        package init(since: Timestamp, priceMinor: Int64?) {
            self.since = since
            self.priceMinor = priceMinor
        }
    }

    /// In ascending order of time. The first entry has a price; consecutive prices differ.
    package private(set) var entries: [Entry] = []

    package init() {}

    /// The number of days before a reduction that determine its prior price.
    package static let priorDays = 30

    /// Appends a price. Does nothing if the last one is the same, or for no price before the first one. O(1).
    ///
    /// - Precondition: the time follows that of the last entry.
    package mutating func append(_ priceMinor: Int64?, since: Timestamp) {
        guard priceMinor != entries.last?.priceMinor else { return }
        precondition(entries.last.map { $0.since < since } ?? true, "prices are appended in the order of time")
        entries.append(Entry(since: since, priceMinor: priceMinor))
    }

    /// Returns the lowest price of the 30 days before a time, which is exclusive; nil if there was no price. O(n).
    package func lowestPrice(before time: Timestamp) -> Int64? {
        let start = Self.startOfPriorDays(before: time)
        var lowest: Int64?
        for (index, entry) in entries.enumerated() where entry.since < time {
            // The price ends where the next one begins.
            if index + 1 < entries.count, entries[index + 1].since <= start { continue }
            if let price = entry.priceMinor { lowest = min(lowest ?? price, price) }
        }
        return lowest
    }

    /// Whether the product has had its first price at least 30 days before a time.
    package func isComplete(before time: Timestamp) -> Bool {
        entries.first.map { $0.since <= Self.startOfPriorDays(before: time) } ?? false
    }

    private static func startOfPriorDays(before time: Timestamp) -> Timestamp { time.adding(days: -priorDays) }
}
