/// Users' settings, their remembered sorts among them.
package protocol SettingsStore: Sendable {
    /// - Throws: `notFound` for a setting that does not exist, or was deleted.
    func setting(_ key: SettingKey, of user: UserID) async throws(CatalogError) -> Setting
    /// Returns the changes after a revision, ordered by revision.
    ///
    /// Returns everything for an unknown revision, or for one older than purged tombstones.
    ///
    /// - Parameters:
    ///   - since: 0 for everything, tombstones included; nil for all current settings.
    ///   - limit: the maximum number of settings; the page's revision is that of the last one.
    func settings(of user: UserID, since: Int64?, limit: Int?) async throws(CatalogError) -> SettingsPage
    /// Returns the sorts that a user remembers for a shelf.
    func rememberedSorts(
        _ user: UserID,
        _ store: CatalogKey,
        _ shelf: CatalogKey
    ) async throws(CatalogError) -> RememberedSorts
    /// Changes settings atomically and returns results in the order of the writes.
    ///
    /// - Throws: `staleSetting`; `unprocessable` if the user would have too many; `notFound` for the edit's shelf.
    func edit(_ edit: SettingsEdit, of user: UserID) async throws(CatalogError) -> [SettingsEdit.Result]
}

/// A user's settings that changed since a revision.
package struct SettingsPage: Sendable, Hashable {
    /// The settings by revision, including deleted ones that the client may still have.
    package var settings: [Setting]
    /// The revision to continue from.
    package var revision: Int64
    /// Whether this is a full resync: the client must discard its local settings.
    package var isResync: Bool

    package init(settings: [Setting], revision: Int64, isResync: Bool) {
        self.settings = settings
        self.revision = revision
        self.isResync = isResync
    }
}
