/// What a re-sort did to a shelf, or would do.
package struct ShelfResort: Sendable {
    package var shelf: ShelfAddress
    package var products: Int
    /// Products whose score on the shelf is another.
    package var rescored: Int
    /// Products that moved: in the manual order where the shelf has a source for it, else in the order that it shows.
    package var moved: Int
    package var duration: Duration
    /// The moves, where they were asked for.
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
