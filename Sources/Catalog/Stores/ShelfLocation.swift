/// A shelf's location in storage: the internal ids of its store and shelf.
package struct ShelfLocation: Sendable, Hashable {
    package let storeID: Int32
    package let shelfID: Int32

    /// The location in a storage without internal ids.
    package static let none = ShelfLocation(storeID: 0, shelfID: 0)

    /// The location of all shelves of a store together.
    package static func allShelves(ofStore id: Int32) -> ShelfLocation { ShelfLocation(storeID: id, shelfID: 0) }

    /// Whether it is that of all shelves of the store.
    package var isOfAllShelves: Bool { shelfID == 0 }

    package init(storeID: Int32, shelfID: Int32) {
        self.storeID = storeID
        self.shelfID = shelfID
    }
}
