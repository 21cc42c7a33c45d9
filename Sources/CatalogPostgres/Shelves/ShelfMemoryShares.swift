/// How the memory for shelves is divided.
package struct ShelfMemoryShares: Sendable, Hashable {
    /// The size of everything that is kept but one large shelf and one large union, in bytes.
    package let limit: Int

    package init(limit: Int) { self.limit = limit }

    /// The share of shelves, which also get what unions, views and facets leave of theirs.
    var shelves: Int { limit / 2 }
    /// The limit for shelves while the caches of unions, views and facets are empty.
    var shelvesLimit: Int { limit - products }
    var unions: Int { limit / 8 }
    var views: Int { limit / 32 * 5 }
    var facets: Int { limit / 32 }
    /// The share of rendered products, which the API keeps.
    package var products: Int { limit / 16 * 3 }
}
