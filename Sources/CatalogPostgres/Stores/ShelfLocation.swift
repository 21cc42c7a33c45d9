/// A shelf's location in the database: the internal ids of its store and shelf.
struct ShelfLocation: Sendable, Hashable {
    let storeID: Int32
    let shelfID: Int32
}
