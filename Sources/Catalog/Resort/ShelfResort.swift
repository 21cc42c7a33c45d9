/// The result of a re-sort, or of its dry run, for one shelf.
package struct ShelfResort: Sendable {
    package var shelf: ShelfAddress
    package var products: Int
    /// The number of products on the shelf whose score changed.
    package var rescored: Int
    /// The number of moved products: in the manual order if it has a source sort, otherwise in the displayed order.
    package var moved: Int
    package var duration: Duration
    /// The moves, if requested.
    package var diff: OrderDiff?

    package init(
        shelf: ShelfAddress,
        products: Int,
        rescored: Int = 0,
        moved: Int = 0,
        duration: Duration = .zero,
        diff: OrderDiff? = nil
    ) {
        self.shelf = shelf
        self.products = products
        self.rescored = rescored
        self.moved = moved
        self.duration = duration
        self.diff = diff
    }
}
