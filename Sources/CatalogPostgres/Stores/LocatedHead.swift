internal import Catalog

/// The head of a shelf, with the shelf's location.
struct LocatedHead: Sendable {
    let head: ShelfHead
    let location: ShelfLocation
}
