/// A shelf and all shelves below it, or all shelves of a store, shown as one shelf.
package struct ShelfUnion: Sendable, Hashable {
    /// Identifies the shelves and their versions.
    package let digest: String
    /// The dimension whose unit prices come first: the declared one of the upper shelf, or else the most frequent one of the products.
    package let dimension: Dimension

    package init(digest: String, dimension: Dimension) {
        self.digest = digest
        self.dimension = dimension
    }
}
