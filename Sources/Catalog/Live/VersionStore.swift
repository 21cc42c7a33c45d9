/// The versions of shelves and the revisions of users, by which changes are detected.
package protocol VersionStore: Sendable {
    /// Returns the versions of the given shelves; nil for those that do not exist. Shelves that cannot be read now are left out.
    ///
    /// - Throws: `unavailable` if none can be read.
    func versions(of shelves: [ShelfAddress]) async throws(CatalogError) -> [ShelfAddress: ShelfVersion?]
    /// Returns the latest revision of each user; 0 for those who have none. Users who cannot be read now are left out.
    ///
    /// - Throws: `unavailable` if none can be read.
    func revisions(of users: [UserID]) async throws(CatalogError) -> [UserID: Int64]
    /// Returns the changes to a user's settings and lists after a revision, as events.
    ///
    /// - Parameter limit: the maximum number of events; the page's revision is that of the last event.
    func changes(of user: UserID, since: Int64, limit: Int) async throws(CatalogError) -> ChangesPage
}

/// Changes to a user's settings and lists, as events.
package struct ChangesPage: Sendable {
    /// The events, by revision.
    package var events: [LiveEvent]
    /// The revision to continue from.
    package var revision: Int64
    /// Whether older changes were purged: the devices must resync.
    package var isResync: Bool

    package init(events: [LiveEvent], revision: Int64, isResync: Bool) {
        self.events = events
        self.revision = revision
        self.isResync = isResync
    }
}
