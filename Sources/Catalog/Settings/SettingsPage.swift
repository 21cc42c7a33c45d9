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
