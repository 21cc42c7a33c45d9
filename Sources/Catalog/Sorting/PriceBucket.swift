/// A price range with round limits, in minor units, for `price_min` and `price_max`.
package struct PriceBucket: Sendable, Hashable {
    /// The lower limit; nil for the first bucket.
    package var from: Int64?
    /// The upper limit; nil for the last bucket.
    package var to: Int64?
    package var count: Int

    package init(from: Int64? = nil, to: Int64? = nil, count: Int) {
        self.from = from
        self.to = to
        self.count = count
    }

    /// Returns whether a price is in the range.
    package func contains(_ minor: Int64) -> Bool { (from ?? .min)...(to ?? .max) ~= minor }

    /// The maximum number of buckets.
    package static let limit = 5

    /// Returns adjacent, non-empty buckets with about equal counts, as far as round limits allow.
    ///
    /// - Parameter prices: ascending, without duplicates.
    /// - Complexity: O(n).
    package static func all(_ prices: [PriceCount]) -> [PriceBucket] {
        let total = prices.reduce(0) { $0 + $1.count }
        guard total > 0 else { return [] }
        var ends: [Int64] = []
        var below = 0
        for price in prices {
            // The quantiles: the prices at or below which 1/5, 2/5 … of the products are.
            let passed = (1..<limit).filter { below < $0 * total / limit && below + price.count >= $0 * total / limit }
            for _ in passed { ends.append(round(price.minor)) }
            below += price.count
        }
        var buckets = [PriceBucket(count: 0)]
        var rest = ends.sorted()[...]
        for price in prices {
            while let end = rest.first, end <= price.minor {
                rest.removeFirst()
                // Skip a limit that would leave an empty bucket.
                guard buckets[buckets.count - 1].count > 0 else { continue }
                buckets[buckets.count - 1].to = end - 1
                buckets.append(PriceBucket(from: end, count: 0))
            }
            buckets[buckets.count - 1].count += price.count
        }
        return buckets
    }

    /// Returns the nearest of 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten.
    package static func round(_ minor: Int64) -> Int64 {
        Int64(nearestRound(min(Int128(minor), Product.priceLimit)))
    }

    /// The same for any number that is not negative.
    static func nearestRound(_ number: Int128) -> Int128 {
        var power: Int128 = 1
        while power * 10 <= max(number, 1) { power *= 10 }
        let candidates = [10, 15, 20, 25, 30, 40, 50, 60, 80, 100].map { $0 * power }.filter { $0 % 10 == 0 }
        return candidates.map { $0 / 10 }.min { abs($0 - number) < abs($1 - number) }!
    }
}
