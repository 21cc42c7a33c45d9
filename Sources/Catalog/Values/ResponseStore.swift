/// Recorded responses to requests with an idempotency key that do not write to the catalog.
package protocol ResponseStore: Sendable {
    /// Returns the first response under a key; nil for a new key.
    ///
    /// - Parameter store: nil for a request that concerns no store.
    func firstResponse(_ key: String, in store: CatalogKey?) async throws(CatalogError) -> FirstResponse?
    /// Records a response; the first one under a key stays.
    func record(
        _ response: RecordedResponse,
        of call: IdempotentCall,
        in store: CatalogKey?
    ) async throws(CatalogError)
    /// Returns the first response under a key of a user's own; nil for a new key.
    func firstResponse(_ key: String, of user: UserID) async throws(CatalogError) -> FirstResponse?
}
