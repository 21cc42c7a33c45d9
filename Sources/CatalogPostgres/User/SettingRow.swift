internal import Catalog
internal import Postgres

/// The columns of a setting, in the order in which they are read.
enum SettingRow {
    static let columns = "s.key, s.value::text, s.revision, s.modified_at"

    static func read(_ row: borrowing PostgresRow, from column: Int = 0) throws -> Setting {
        let value = try row.textOrNil(column + 1).map { text in
            do { return try JSONReader.parse(Array(text.utf8)) } catch {
                throw PostgresError(.decoding, "a stored setting cannot be read")
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
