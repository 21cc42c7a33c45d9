/// The outcome of merging a guest into an account.
package struct GuestMerge: Sendable, Hashable {
    /// How many of the guest's settings the account now has.
    package var merged: Int
    /// How many it had in a later state, or the same.
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
    /// What a guest's settings ask of an account.
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
