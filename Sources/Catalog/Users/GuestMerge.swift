/// The outcome of merging a guest into an account.
package struct GuestMerge: Sendable, Hashable {
    /// The number of guest settings that were applied.
    package var merged: Int
    /// The number of settings where the account's value was kept.
    package var kept: Int
    /// The account's last revision.
    package var revision: Int64

    package init(merged: Int, kept: Int, revision: Int64) {
        self.merged = merged
        self.kept = kept
        self.revision = revision
    }
}

extension GuestMerge {
    /// Returns the edit that merges a guest's settings into an account.
    package static func edit(_ settings: [Setting]) -> SettingsEdit {
        SettingsEdit(
            settings.sorted { $0.revision < $1.revision }.map { .init($0.key, $0.value, modifiedAt: $0.modifiedAt) }
        )
    }

    package init(_ results: [SettingsEdit.Result], revision: Int64) {
        let merged = results.count(where: \.isApplied)
        self.init(merged: merged, kept: results.count - merged, revision: revision)
    }
}
