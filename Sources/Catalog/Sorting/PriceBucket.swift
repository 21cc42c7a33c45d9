/// A range of prices with round ends, in minor units; what `price_min` and `price_max` take.
package struct PriceBucket: Sendable, Hashable {
    /// nil for the first.
    package var from: Int64?
    /// nil for the last.
    package var to: Int64?
    package var count: Int

    package init(from: Int64? = nil, to: Int64? = nil, count: Int) {
        self.from = from
        self.to = to
        self.count = count
    }

    /// How many there are at most.
    package static let limit = 5

    /// Ranges that follow one another and hold about as many products each, as far as round ends allow; none is empty.
    ///
    /// - Parameter prices: ascending, none twice.
    /// - Complexity: O(n).
    package static func all(_ prices: [PriceCount]) -> [PriceBucket] {
        let total = prices.reduce(0) { $0 + $1.count }
        guard total > 0 else { return [] }
        var ends: [Int64] = []
        var below = 0
        for price in prices {
            // The price that a fifth, two fifths … of the products are below or at.
            let passed = (1..<limit).filter { below < $0 * total / limit && below + price.count >= $0 * total / limit }
            for _ in passed { ends.append(round(price.minor)) }
            below += price.count
        }
        var buckets = [PriceBucket(count: 0)]
        var rest = ends.sorted()[...]
        for price in prices {
            while let end = rest.first, end <= price.minor {
                rest.removeFirst()
                // An end below which there is nothing parts nothing.
                guard buckets[buckets.count - 1].count > 0 else { continue }
                buckets[buckets.count - 1].to = end - 1
                buckets.append(PriceBucket(from: end, count: 0))
            }
            buckets[buckets.count - 1].count += price.count
        }
        return buckets
    }

    /// The nearest of 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten.
    package static func round(_ minor: Int64) -> Int64 {
        let minor = min(minor, Int64(Product.priceLimit))
        var power: Int64 = 1
        while power * 10 <= max(minor, 1) { power *= 10 }
        let candidates = [10, 15, 20, 25, 30, 40, 50, 60, 80, 100].map { $0 * power }.filter { $0 % 10 == 0 }
        return candidates.map { $0 / 10 }.min { abs($0 - minor) < abs($1 - minor) }!
    }
}
