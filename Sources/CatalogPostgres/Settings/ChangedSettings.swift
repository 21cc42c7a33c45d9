internal import Catalog
internal import LibPQ

/// A user's changed settings while they are read.
struct ChangedSettings: Sendable {
    var page: SettingsPage
    /// Whether the client's revision belongs to an earlier epoch of the database, and the account's horizon has not been raised yet.
    private(set) var isFromEarlierLife = false

    /// - Parameter since: the client's revision; without an account, it belongs to an erased one.
    init(since: Int64) { page = SettingsPage(settings: [], revision: 0, isResync: since > 0) }

    /// Adds the rows of `PostgresSettingsStore.changedSettings`.
    mutating func add(_ rows: borrowing PostgresRows) throws {
        try rows.forEach { row in
            page.revision = try row.int8(0)
            page.isResync = try row.bool(1)
            isFromEarlierLife = try row.bool(2)
            if !row.isNull(3) { page.settings.append(try SettingRow.read(row, from: 3)) }
        }
    }
}
