/// What an import did, or would do.
package struct ImportSummary: Sendable, Hashable {
    package var read = 0
    package var inserted = 0
    package var updated = 0
    package var unchanged = 0
    package var rejected = 0
    /// Rows that name the same product on the same shelf as a later row, which counts.
    package var repeated = 0
    /// Placements taken away, and products deleted, by pruning.
    package var removedPlacements = 0
    package var removedProducts = 0
    package var sizesApproximate = 0
    package var sizesUnknown = 0
    package var pricesRounded = 0
    package var storesCreated = 0
    package var shelvesCreated = 0
    /// Warnings about the file as a whole, such as columns that are ignored.
    package var warnings: [String] = []

    package init() {}

    /// The name and number of each count, in the order in which they are reported.
    package var counts: [(name: String, count: Int)] {
        [
            ("read", read), ("inserted", inserted), ("updated", updated), ("unchanged", unchanged),
            ("rejected", rejected), ("repeated", repeated), ("removed_placements", removedPlacements),
            ("removed_products", removedProducts), ("sizes_approximate", sizesApproximate),
            ("sizes_unknown", sizesUnknown), ("prices_rounded", pricesRounded), ("stores_created", storesCreated),
            ("shelves_created", shelvesCreated),
        ]
    }
}
