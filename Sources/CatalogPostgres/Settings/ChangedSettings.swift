internal import Catalog
internal import LibPQ

/// A user's changed settings while they are read.
struct ChangedSettings: Sendable {
    var page: SettingsPage
    /// The start of the database's current epoch, in microseconds since 1970; 0 if it does not matter.
    private var epochStart: Int64 = 0
    /// The later one of the client's revision and the account's horizon; nil without a revision.
    private var lastSync: Int64?

    /// - Parameter since: the client's revision; without an account, it belongs to an erased one.
    init(since: Int64) { page = SettingsPage(settings: [], revision: 0, isResync: since > 0) }

    /// Whether the client's revision belongs to an earlier epoch of the database, and the account's horizon has not been raised yet.
    var isFromEarlierEpoch: Bool { lastSync.map { $0 < epochStart } ?? false }

    /// Adds the row of `DatabaseEpoch.readStart`, which must be read first.
    mutating func addStart(_ rows: borrowing PostgresRows) throws {
        epochStart = try rows.first { try $0.int8(0) } ?? 0
    }

    /// Adds the rows of `PostgresSettingsStore.changedSettings`.
    mutating func add(_ rows: borrowing PostgresRows) throws {
        try rows.forEach { row in
            page.revision = try row.int8(0)
            page.isResync = try row.bool(1)
            lastSync = try row.int8OrNil(2)
            if !row.isNull(3) { page.settings.append(try SettingRow.read(row, from: 3)) }
        }
    }
}
