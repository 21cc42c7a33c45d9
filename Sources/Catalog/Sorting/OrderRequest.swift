/// A request for the ids of all products of a shelf, in order.
package struct OrderRequest: Sendable, Hashable {
    package var address: ShelfAddress
    package var view: ShelfView
    /// The user whose remembered sort applies if the view names none.
    package var user: UserID?

    package init(address: ShelfAddress, view: ShelfView, user: UserID? = nil) {
        self.address = address
        self.view = view
        self.user = user
    }
}
