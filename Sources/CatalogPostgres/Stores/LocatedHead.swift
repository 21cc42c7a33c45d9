internal import Catalog

/// The head of a shelf, with the shelf's location.
struct LocatedHead: Sendable {
    let head: ShelfHead
    let location: ShelfLocation
}

/// A shelf's location in the database: the internal ids of its store and shelf.
struct ShelfLocation: Sendable, Hashable {
    let storeID: Int32
    let shelfID: Int32
}
