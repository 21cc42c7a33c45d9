/// The base prices and promotions of a product, which determine its price at any time.
///
/// The current price is that of the first promotion in force, by `Promotion.precedes`; without one, the base price. A promotion that is not
/// below the base price does not apply.
package struct PriceSchedule: Hashable, Sendable {
    /// A base price that replaces the one before.
    package struct BasePrice: Hashable, Sendable {
        package var id: PriceID
        /// In minor units; nil for no price.
        package var priceMinor: Int64?
        /// The start, inclusive.
        package var startsAt: Timestamp
        /// The feed that wrote the price; nil if no feed did.
        package var feed: CatalogKey?

        package init(_ id: PriceID, priceMinor: Int64?, startsAt: Timestamp, feed: CatalogKey? = nil) {
            self.id = id
            self.priceMinor = priceMinor
            self.startsAt = startsAt
            self.feed = feed
        }
    }

    /// The base price before the first of the scheduled ones, in minor units; nil for no price.
    package var basePriceMinor: Int64?
    /// The scheduled base prices, in any order. Of those with the same start, the one with the smallest id counts.
    package var basePrices: [BasePrice]
    /// The promotions, in any order.
    package var promotions: [Promotion]

    package init(basePriceMinor: Int64?, basePrices: [BasePrice] = [], promotions: [Promotion] = []) {
        self.basePriceMinor = basePriceMinor
        self.basePrices = basePrices
        self.promotions = promotions
    }

    /// Returns the base price at a time, in minor units; nil for none. O(n) for n scheduled base prices.
    package func basePriceMinor(at time: Timestamp) -> Int64? {
        let latest = basePrices.lazy.filter { $0.startsAt <= time }.max {
            $0.startsAt != $1.startsAt ? $0.startsAt < $1.startsAt : $0.id > $1.id
        }
        return latest.map(\.priceMinor) ?? basePriceMinor
    }

    /// Returns the promotion that applies at a time; nil if none does. O(n) for n prices.
    package func promotion(at time: Timestamp) -> Promotion? {
        guard let base = basePriceMinor(at: time) else { return nil }
        return promotions.lazy.filter { $0.priceMinor < base && $0.isInForce(at: time) }.min { $0.precedes($1) }
    }

    /// Returns the current price at a time, and the base price as regular price while a promotion applies. O(n) for n prices.
    package func prices(at time: Timestamp) -> PriceRevision.Prices {
        let base = basePriceMinor(at: time)
        guard let promotion = promotion(at: time) else { return .init(price: base, regular: nil) }
        return .init(price: promotion.priceMinor, regular: base)
    }

    /// Returns the times after `start`, up to `end`, at which the prices differ from those just before, in ascending order. O(n²) for n prices.
    package func changes(after start: Timestamp, through end: Timestamp) -> [Timestamp] {
        var previous = prices(at: start)
        return boundaries.filter { start < $0 && $0 <= end }.filter { time in
            let prices = prices(at: time)
            defer { previous = prices }
            return prices != previous
        }
    }

    /// Returns the first time after another one at which the prices change; nil if they no longer do. O(n²) for n prices.
    package func nextChange(after time: Timestamp) -> Timestamp? {
        let current = prices(at: time)
        return boundaries.first { time < $0 && prices(at: $0) != current }
    }

    /// The times at which a price starts or ends, in ascending order.
    private var boundaries: [Timestamp] {
        var times = Set(basePrices.map(\.startsAt))
        for promotion in promotions { times.formUnion([promotion.startsAt, promotion.endsAt].compactMap(\.self)) }
        return times.sorted()
    }
}
