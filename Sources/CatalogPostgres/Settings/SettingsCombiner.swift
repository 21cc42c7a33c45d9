internal import JSON
internal import Catalog
internal import LibPQ

/// Sets single settings of many users together; this is the most frequent write. It needs all users in one database: on Citus,
/// `SettingsWriter` sets each setting alone.
///
/// The previous value and the number of settings are read at the start of the statement, before the account is locked. Meanwhile, others may
/// add settings of the user. So a new setting is only set here while `margin` more are allowed; after that, `SettingsWriter` counts under
/// the lock. An edit of many settings that reaches the limit meanwhile may be exceeded by one setting for each server.
final class SettingsCombiner: Sendable {
    private let database: Database
    private let combiner: WriteCombiner<Write, Outcome>

    /// The maximum number of settings in a transaction.
    private static let batchLimit = 64
    /// How many settings fewer than the maximum a user may have here: more than servers can add one by one at the same moment.
    private static let margin = 100
    /// How long a write waits for a lock, alone and in a batch, which also makes others wait.
    private static let (lockTimeout, batchLockTimeout) = ("3s", "100ms")

    init(_ database: Database) {
        self.database = database
        combiner = WriteCombiner(limit: Self.batchLimit, parallel: 4, key: \.user.text) { writes in
            try await database.writes.perform(within: .edit) { try Self.set(writes, $0) }
        }
    }

    func set(_ write: Write) async throws -> Outcome { try await combiner.perform(write) }

    private static func set(_ writes: [Write], _ connection: isolated PostgresConnection) throws -> [Outcome] {
        let now = Timestamp.now()
        var outcomes = [Outcome](repeating: .missingShelf, count: writes.count)
        try connection.query(
            setMany,
            [
                .textArray(writes.map(\.user.text)), .textArray(writes.map(\.key.text)),
                .textArray(writes.map(\.value.text)), .textArray(writes.map { $0.shelf?.store.text ?? "" }),
                .textArray(writes.map { $0.shelf?.shelf.text ?? "" }), .int8(SettingsEdit.firstRevision(now)),
                .timestamptz(now.microseconds), .int8(Int64(Setting.countLimit - margin)),
                .text(writes.count == 1 ? lockTimeout : batchLockTimeout),
                .textArray(writes.map { _ in UniqueID.random().text }),
                .textArray(writes.map(\.origin.source.rawValue)),
                .textArray(writes.map(\.origin.actor)), .textArray(writes.map { $0.origin.address ?? "" }),
                .textArray(writes.map { $0.origin.token ?? "" }), .textArray(writes.map { $0.origin.requestID ?? "" }),
            ]
        ) { rows in
            try rows.forEach { row in
                let index = try row.int(0) - 1
                outcomes[index] = try outcome(writes[index], row, from: 1)
            }
        }
        return outcomes
    }

    /// Reads the new revision and time, and the previous setting.
    private static func outcome(
        _ write: Write,
        _ row: borrowing PostgresRow,
        from column: Int
    ) throws -> Outcome {
        guard !row.isNull(column) else { return .nearlyFull }
        return .set(
            SettingsEdit.Result(
                setting: Setting(
                    key: write.key,
                    value: write.value,
                    revision: try row.int8(column),
                    modifiedAt: Timestamp(microseconds: try row.timestamptz(column + 1))
                ),
                previous: row.isNull(column + 2) ? nil : try SettingRow.read(row, from: column + 2),
                isApplied: true
            )
        )
    }

    // MARK: - Statements

    /// Locks the accounts in the order of their users, so that batches wait for each other without a deadlock.
    ///
    /// Subqueries with a limit are looked up for each write; joins might read whole tables. The order makes the primary key the
    /// cheapest index even before the table has statistics; the other one reads all settings of the user.
    static let setMany: PostgresStatement = """
        WITH wanted AS MATERIALIZED (
            SELECT w.number, w.user_id, w.key AS wanted_key, w.new_value, w.audit_id, w.source, w.actor, w.address, w.token,
                w.request_id, s.value IS NULL AND $8 <= (SELECT count(*) FROM (SELECT FROM user_setting c
                    WHERE c.user_id = w.user_id AND c.deleted_at IS NULL LIMIT $8) AS counted) AS is_full, \(SettingRow.columns)
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $10::text[], $11::text[], $12::text[], $13::text[],
                $14::text[], $15::text[]) WITH ORDINALITY
                AS w (user_id, key, new_value, store, shelf, audit_id, source, actor, address, token, request_id, number)
            CROSS JOIN (SELECT set_config('lock_timeout', $9, true)) AS settings
            LEFT JOIN LATERAL (SELECT * FROM user_setting s WHERE s.user_id = w.user_id AND s.key >= w.key
                ORDER BY s.key LIMIT 1) AS s ON s.key = w.key
            WHERE w.shelf = '' OR (SELECT true FROM store t JOIN shelf h ON h.store_id = t.store_id
                WHERE t.key = w.store AND t.deleted_at IS NULL AND h.key = w.shelf AND h.deleted_at IS NULL LIMIT 1)),
        account AS (INSERT INTO user_account AS a (user_id, revision, horizon)
            SELECT user_id, $6 + 1, $6 FROM wanted ORDER BY user_id COLLATE "C"
            ON CONFLICT (user_id) DO UPDATE SET revision = greatest(a.revision, $6) + 1
            RETURNING user_id, revision),
        written AS (INSERT INTO user_setting AS s (user_id, key, value, revision, modified_at)
            SELECT w.user_id, w.wanted_key, w.new_value::json, account.revision, $7
            FROM wanted w JOIN account USING (user_id)
            WHERE NOT w.is_full
            ON CONFLICT (user_id, key) DO UPDATE SET value = excluded.value, revision = excluded.revision,
                modified_at = greatest(excluded.modified_at, s.modified_at), deleted_at = NULL
            RETURNING user_id, revision, modified_at),
        recorded AS (INSERT INTO user_audit
            (user_id, at, audit_id, action, source, actor, address, token, request_id, subject, detail)
            SELECT w.user_id, now(), w.audit_id::uuid, '\(change)', w.source, w.actor, nullif(w.address, ''), nullif(w.token, ''),
                nullif(w.request_id, ''), w.wanted_key, \(detail(of: "w.wanted_key"))
            FROM wanted w JOIN written USING (user_id))
        SELECT w.number, written.revision, written.modified_at, w.key, w.value, w.revision, w.modified_at
        FROM wanted w LEFT JOIN written USING (user_id)
        """

    /// Returns the detail of `AuditChange.settings` for a set key. The functions that build JSON would add spaces.
    private static func detail(of key: SQL) -> SQL { "('{\"set\":[' || to_json(\(key))::text || ']}')::json" }

    /// The name of `AuditAction.settingsChange`.
    private static let change: SQL = "settings.change"
}

extension SettingsCombiner {
    struct Write: Sendable {
        let user: UserID
        let key: SettingKey
        let value: JSONValue
        /// The shelf that must exist; nil if there is none.
        let shelf: ShelfAddress?
        /// The origin of the task that makes the write; another task performs it.
        let origin = ChangeOrigin.current
    }

    enum Outcome: Sendable {
        case set(SettingsEdit.Result)
        /// The user has almost too many settings; they must be counted under the lock.
        case nearlyFull
        case missingShelf
    }
}
