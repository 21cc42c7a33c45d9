package import Catalog

/// One who follows something, and pulls what there is to write at its own pace.
package protocol LiveChanges: Actor {
    /// What is to be written next; nil at the end.
    ///
    /// - Throws: `unavailable`, where the database is away when it is needed.
    func next() async throws(CatalogError) -> LiveOutput?
}

extension AsyncStream<Void> {
    /// Waits for the next wake; false at the end.
    func wake() async -> Bool {
        var iterator = makeAsyncIterator()
        return await iterator.next() != nil
    }
}
