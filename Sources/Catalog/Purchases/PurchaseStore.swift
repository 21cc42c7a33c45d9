/// The purchases from which popularity is computed.
package protocol PurchaseStore: Sendable {
    /// Adds purchases, each event once. The next re-sort counts them.
    ///
    /// - Throws: `notFound` if there is no such store.
    func add(
        _ purchases: [Purchase],
        to store: CatalogKey,
        once call: IdempotentCall?
    ) async throws(CatalogError) -> PurchaseOutcome
}

extension PurchaseStore {
    @discardableResult
    package func add(_ purchases: [Purchase], to store: CatalogKey) async throws(CatalogError) -> PurchaseOutcome {
        try await add(purchases, to: store, once: nil)
    }
}
