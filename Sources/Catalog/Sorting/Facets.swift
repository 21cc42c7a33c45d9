/// The facet counts of a shelf: numbers of products, or of groups if these are collapsed. A group counts where any of its products does.
package struct Facets: Sendable, Hashable {
    /// The number of products or groups with a brand or tag; the empty value counts those without one.
    package struct Count: Sendable, Hashable {
        package let value: String
        package let count: Int

        package init(_ value: String, _ count: Int) {
            self.value = value
            self.count = count
        }
    }

    /// The number of products or groups that match the whole filter.
    package var total = 0
    /// The facets that were counted.
    package let counted: Set<Facet>
    /// The counts by descending count, then by value in the language of the store.
    package var brands: [Count] = []
    package var tags: [Count] = []
    package var inStock = 0
    package var soldOut = 0
    /// The counts by ascending price.
    package var prices: [PriceCount] = [] { didSet { buckets = PriceBucket.all(prices) } }
    /// The ranges of the prices, which every page of these facets shows.
    package private(set) var buckets: [PriceBucket] = []
    package var unpriced = 0
    /// The counts by attributes, in the order of their names.
    package var attributes: [AttributeFacet] = []

    package init(counted: Set<Facet>) { self.counted = counted }

    /// Counts the groups in each range of prices: one with several prices in a range counts once.
    package mutating func recountBuckets(_ count: (PriceBucket) -> Int) {
        for index in buckets.indices { buckets[index].count = count(buckets[index]) }
    }

    /// The maximum number of values per facet; values in the filter are added to them.
    package static let valueLimit = 100
}

/// The number of products or groups at a price.
package struct PriceCount: Sendable, Hashable {
    package let minor: Int64
    package let count: Int

    package init(_ minor: Int64, _ count: Int) {
        self.minor = minor
        self.count = count
    }
}
