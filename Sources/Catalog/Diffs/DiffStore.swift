/// Diffs between what a client shows and a shelf's order.
package protocol DiffStore: Sendable {
    /// Returns the diff to a shelf's order now. Both orders, and the products that enter a window, are of one moment.
    ///
    /// - Throws: as `OrderDiff`; `malformed` for a limit below 1; `notFound`.
    func diff(_ request: DiffRequest) async throws(CatalogError) -> OrderDiff
}
