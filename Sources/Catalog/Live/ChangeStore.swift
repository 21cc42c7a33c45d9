/// The versions and revisions by which changes are noticed.
package protocol ChangeStore: Sendable {
    /// Returns the versions of those of the shelves that exist.
    func versions(of shelves: [ShelfAddress]) async throws(CatalogError) -> [ShelfAddress: ShelfVersion]
    /// Returns the latest revision of each user who has any.
    func revisions(of users: [UserID]) async throws(CatalogError) -> [UserID: Int64]
    /// Returns what changed in a user's settings and lists after a revision, as events for their devices.
    ///
    /// - Parameter limit: the most events; the page's revision is then that of the last one.
    func changes(of user: UserID, since: Int64, limit: Int) async throws(CatalogError) -> ChangesPage
}
