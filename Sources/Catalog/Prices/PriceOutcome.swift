/// The outcome of price changes.
package struct PriceOutcome: Sendable, Hashable {
    /// The number of products whose price changed.
    package var changed = 0
    /// The number of products that already had the price.
    package var unchanged = 0
    /// The shelves that show a changed product.
    package var shelves: Set<CatalogKey> = []

    package init() {}
}
