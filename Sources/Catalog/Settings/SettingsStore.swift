/// Users' settings, their remembered sorts among them.
package protocol SettingsStore: Sendable {
    /// - Throws: `notFound` for a setting that does not exist, or was deleted.
    func setting(_ key: SettingKey, of user: UserID) async throws(CatalogError) -> Setting
    /// Returns what changed after a revision, by revision.
    ///
    /// Everything is returned for a revision that the user never had, or from before deletions that are no longer kept.
    ///
    /// - Parameters:
    ///   - since: 0 for everything, with deletions; nil for all current settings.
    ///   - limit: the most settings; the page's revision is then that of the last one.
    func settings(of user: UserID, since: Int64?, limit: Int?) async throws(CatalogError) -> SettingsPage
    /// Returns the views that a user remembers for a shelf.
    func rememberedViews(
        _ user: UserID,
        _ store: CatalogKey,
        _ shelf: CatalogKey
    ) async throws(CatalogError) -> RememberedViews
    /// Changes settings, all or none; results in the order of the writes.
    ///
    /// - Throws: `staleSetting`; `unprocessable` if the user would have too many.
    func edit(_ edit: SettingsEdit, of user: UserID) async throws(CatalogError) -> [SettingsEdit.Result]
}
