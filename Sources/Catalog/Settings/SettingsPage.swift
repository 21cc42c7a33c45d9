/// What is stored of a user that changed since a revision.
package struct SettingsPage: Sendable, Hashable {
    /// By revision; deleted ones too, where the reader may still have them.
    package var settings: [Setting]
    /// What to ask from next.
    package var revision: Int64
    /// Whether the reader must forget what it has: this is everything.
    package var isResync: Bool

    package init(settings: [Setting], revision: Int64, isResync: Bool) {
        self.settings = settings
        self.revision = revision
        self.isResync = isResync
    }
}
