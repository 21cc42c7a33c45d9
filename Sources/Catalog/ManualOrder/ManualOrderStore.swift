/// The manual orders of shelves.
package protocol ManualOrderStore: Sendable {
    /// Edits a shelf's manual order.
    ///
    /// - Parameter call: nil for a request without an idempotency key.
    /// - Throws: `stale`, `keyReused`, `conflict` (also while the same call is in progress), and as `ManualOrderEdit.check`.
    func editOrder(
        _ request: OrderEditRequest,
        once call: IdempotentCall<ManualOrderOutcome>?
    ) async throws(CatalogError) -> ManualOrderOutcome
    /// Returns the recent changes to a shelf's manual order, the latest first.
    func orderHistory(_ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError) -> [OrderChange]
}

extension ManualOrderStore {
    @discardableResult
    package func editOrder(_ request: OrderEditRequest) async throws(CatalogError) -> ManualOrderOutcome {
        try await editOrder(request, once: nil)
    }
}
