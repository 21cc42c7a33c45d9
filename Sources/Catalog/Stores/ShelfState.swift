/// A shelf and what the server knows of it.
package struct ShelfState: Hashable, Sendable {
    package var shelf: Shelf
    package var productCount: Int
    /// The dimension in force: the declared one, else the one that most products have.
    package var comparisonDimension: Dimension
    /// The default sort of the nearest ancestor that has one.
    package var inheritedSort: Sort?
    package var modifiedAt: Timestamp
    /// Grows with every change that could alter the shelf's pages; never repeats.
    package var version: Int64
    /// Grows with every change of the manual order.
    package var orderVersion: Int64
    /// Grows when keys of the manual order were compacted.
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
