/// A shelf and its server-side state.
package struct ShelfState: Hashable, Sendable {
    package var shelf: Shelf
    package var productCount: Int
    /// The effective dimension: the declared one, otherwise the most common one.
    package var comparisonDimension: Dimension
    /// The default sort of the nearest ancestor that has one.
    package var inheritedSort: Sort?
    package var modifiedAt: Timestamp
    /// A counter that grows with every change that can affect the shelf's pages; it never repeats.
    package var version: Int64
    /// A counter that grows with every change to the manual order.
    package var orderVersion: Int64
    /// A counter that grows when the manual order's keys are compacted.
    package var keyGeneration: Int64

    package init(
        shelf: Shelf,
        productCount: Int,
        comparisonDimension: Dimension,
        inheritedSort: Sort?,
        modifiedAt: Timestamp,
        version: Int64,
        orderVersion: Int64,
        keyGeneration: Int64 = 0
    ) {
        self.shelf = shelf
        self.productCount = productCount
        self.comparisonDimension = comparisonDimension
        self.inheritedSort = inheritedSort
        self.modifiedAt = modifiedAt
        self.version = version
        self.orderVersion = orderVersion
        self.keyGeneration = keyGeneration
    }
}
