/// A request for the ids of all products of a shelf, in order.
package struct OrderRequest: Sendable, Hashable {
    package var address: ShelfAddress
    package var view: ShelfView
    /// Whether the order has the products of the shelves below, too; nil for what the shelf says.
    package var includesDescendants: Bool?
    /// The user whose remembered sort applies if the view names none.
    package var user: UserID?

    package init(address: ShelfAddress, view: ShelfView, user: UserID? = nil) {
        self.address = address
        self.view = view
        self.user = user
    }

    /// - Throws: `malformed` for the manual order of several shelves.
    package func check() throws(CatalogError) {
        if includesDescendants == true, view.readsPositions { throw PageRequest.positionOfSeveral("sort") }
    }

    /// Whether the order has the products of the shelves below, too: not the manual order, unless the request asks for them; nil for what the shelf
    /// says.
    package var showsDescendants: Bool? { includesDescendants ?? (view.readsPositions ? false : nil) }
}
