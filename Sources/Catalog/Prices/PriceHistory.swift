/// The public prices that a product has had, each from a moment until the next one.
package struct PriceHistory: Hashable, Sendable {
    /// A price and its first moment.
    package struct Entry: Hashable, Sendable {
        package var since: Timestamp
        /// In minor units; nil for no price.
        package var priceMinor: Int64?

        package init(since: Timestamp, priceMinor: Int64?) {
            self.since = since
            self.priceMinor = priceMinor
        }
    }

    /// In ascending order. Consecutive entries have different prices.
    package private(set) var entries: [Entry] = []

    package init() {}

    /// The number of days before a reduction whose lowest price is its prior price.
    package static let priorDays = 30
    /// The number of days for which prices are kept.
    package static let daysKept = 400

    /// Appends a price. Does nothing if the last one is the same. O(1).
    ///
    /// - Precondition: the moment follows that of the last entry.
    package mutating func append(_ priceMinor: Int64?, since: Timestamp) {
        if let last = entries.last {
            guard last.priceMinor != priceMinor else { return }
            precondition(last.since < since, "prices are appended in the order of time")
        }
        entries.append(Entry(since: since, priceMinor: priceMinor))
    }

    /// Returns the lowest price of the 30 days before a moment, which the moment is not part of; nil if there was no price. O(n).
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

    /// Whether the prices of all 30 days before a moment are known.
    package func isComplete(before time: Timestamp) -> Bool {
        entries.first.map { $0.since <= Self.startOfPriorDays(before: time) } ?? false
    }

    private static func startOfPriorDays(before time: Timestamp) -> Timestamp { time.adding(days: -priorDays) }
}
