/// A shelf and all shelves below it, whose products are shown as those of one shelf.
package struct ShelfUnion: Sendable, Hashable {
    /// A shelf of the union at one of its versions.
    package struct Member: Sendable, Hashable {
        package let shelf: CatalogKey
        package let version: Int64

        package init(shelf: CatalogKey, version: Int64) {
            self.shelf = shelf
            self.version = version
        }
    }

    /// The shelves, by key.
    package let members: [Member]
    /// The dimension whose unit prices come first: the declared one of the upper shelf, or else the most frequent one.
    package let dimension: Dimension

    package init(members: [Member], dimension: Dimension) {
        self.members = members
        self.dimension = dimension
    }
}
