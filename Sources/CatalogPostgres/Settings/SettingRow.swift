internal import Catalog
internal import JSON
internal import LibPQ

/// The columns of a setting, in read order.
enum SettingRow {
    static let columns: SQL = "s.key, s.value::text, s.revision, s.modified_at"

    /// The account of the user `$1`, and whether a client at revision `$2` must resync: later tombstones were
    /// purged, or the revision belongs to an erased account.
    static let account: SQL = """
        (SELECT user_id, revision, horizon, coalesce($2, 0) > 0 AND ($2 < horizon OR $2 > revision) AS is_resync
            FROM user_account WHERE user_id = $1)
        """

    static func read(_ row: borrowing PostgresRow, from column: Int = 0) throws -> Setting {
        let value = try row.textOrNil(column + 1).map { text in
            do { return try JSONReader.parse(Array(text.utf8)) } catch {
                throw PostgresError(.decoding, "invalid stored setting")
            }
        }
        return Setting(
            key: SettingKey(stored: try row.text(column)),
            value: value,
            revision: try row.int8(column + 2),
            modifiedAt: Timestamp(microseconds: try row.timestamptz(column + 3))
        )
    }
}
