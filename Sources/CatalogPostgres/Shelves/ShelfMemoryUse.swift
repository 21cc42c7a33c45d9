package import Catalog

/// The use of the memory for shelves.
package struct ShelfMemoryUse: Sendable, Hashable {
    /// The limit of everything but one large shelf and one large union, in bytes.
    package var limit: Int
    /// The shelves, with the large one.
    package var shelves: CacheUse
    /// Shelves with those below them, in tables of their own.
    package var unions = CacheUse()
    package var views: CacheUse
    package var facets: CacheUse
    /// Rendered products, which the API keeps.
    package var products = CacheUse()
    /// The number of reads that found their shelf at the required version.
    package var hits: Int

    package var kinds: [(name: String, use: CacheUse)] {
        [("shelves", shelves), ("unions", unions), ("views", views), ("facets", facets), ("products", products)]
    }

    /// The size of everything, in bytes.
    package var bytes: Int { kinds.reduce(0) { $0 + $1.use.size } }
}
