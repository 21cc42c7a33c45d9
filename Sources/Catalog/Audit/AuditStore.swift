/// The audit log, which records every change of a store or of a user's data with the change.
package protocol AuditStore: Sendable {
    /// Returns a page of entries, the latest first.
    ///
    /// The log of a deleted store stays.
    ///
    /// - Throws: `notFound` for a store that never existed; `invalidCursor`.
    func audit(_ request: AuditRequest) async throws(CatalogError) -> AuditPage
}
