/// How many products of a shelf have what.
package struct Facets: Sendable, Hashable {
    /// How many have a brand, or a tag; the empty text stands for those without.
    package struct Count: Sendable, Hashable {
        package let value: String
        package let count: Int

        package init(_ value: String, _ count: Int) {
            self.value = value
            self.count = count
        }
    }

    /// How many the whole filter leaves.
    package var total = 0
    /// The facets that were counted.
    package let counted: Set<Facet>
    /// Most products first, then by the value in the catalog's collation.
    package var brands: [Count] = []
    package var tags: [Count] = []
    package var inStock = 0
    package var soldOut = 0
    /// By price in minor units, ascending.
    package var prices: [PriceCount] = []
    package var unpriced = 0

    package init(counted: Set<Facet>) { self.counted = counted }

    /// The most values of a facet that are told; those that the filter names are told besides.
    package static let valueLimit = 100
}

/// How many products cost so much.
package struct PriceCount: Sendable, Hashable {
    package let minor: Int64
    package let count: Int

    package init(_ minor: Int64, _ count: Int) {
        self.minor = minor
        self.count = count
    }
}
