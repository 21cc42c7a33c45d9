/// A shelf's location in storage: the internal ids of its store and shelf.
package struct ShelfLocation: Sendable, Hashable {
    package let storeID: Int32
    package let shelfID: Int32

    /// The location in a storage without internal ids.
    package static let none = ShelfLocation(storeID: 0, shelfID: 0)

    package init(storeID: Int32, shelfID: Int32) {
        self.storeID = storeID
        self.shelfID = shelfID
    }
}
