/// Diffs between the order that a client shows and a shelf's current order.
package protocol DiffStore: Sendable {
    /// Returns the diff to a shelf's current order. All data is read in one snapshot.
    ///
    /// - Throws: as `OrderDiff`; `malformed` for a limit below 1; `notFound`.
    func diff(_ request: DiffRequest) async throws(CatalogError) -> OrderDiff
}
