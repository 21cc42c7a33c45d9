/// Where a storage keeps a shelf: its own numbers of the store and the shelf.
package struct ShelfLocation: Sendable, Hashable {
    package let storeID: Int32
    package let shelfID: Int32

    /// For a storage that has no numbers.
    package static let none = ShelfLocation(storeID: 0, shelfID: 0)

    package init(storeID: Int32, shelfID: Int32) {
        self.storeID = storeID
        self.shelfID = shelfID
    }
}
