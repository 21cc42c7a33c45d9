/// The outcome of price changes.
package struct PriceOutcome: Sendable, Hashable {
    /// Products whose price is another now.
    package var changed = 0
    /// Products that had that price already.
    package var unchanged = 0
    /// The shelves that changed.
    package var shelves: Set<CatalogKey> = []

    package init() {}
}
