package import Catalog

/// A subscription, from which output is pulled at the subscriber's own pace.
package protocol LiveSubscription: Actor {
    /// Returns the next output; nil at the end.
    ///
    /// - Throws: `unavailable` if the database is needed but unreachable.
    func next() async throws(CatalogError) -> LiveOutput?
}

extension AsyncStream<Void> {
    /// Waits for the next wake-up; false at the end.
    func wait() async -> Bool {
        var iterator = makeAsyncIterator()
        return await iterator.next() != nil
    }
}
