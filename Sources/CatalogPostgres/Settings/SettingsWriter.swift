internal import JSON
internal import Catalog
internal import LibPQ

/// Changes a user's settings in a transaction that locks the account's row. `SettingsCombiner` usually writes single settings instead.
struct SettingsWriter {
    let user: UserID

    /// Applies an edit. If no write is applied, the transaction has only incremented the revision.
    ///
    /// - Parameter isAudited: whether to record the change of each setting in the audit log.
    func apply(
        _ edit: SettingsEdit,
        isAudited: Bool = true,
        _ connection: isolated PostgresConnection
    ) throws -> [SettingsEdit.Result] {
        let now = Timestamp.now()
        let last = try UserAccount(user: user).reserveRevisions(edit.writes.count, at: now, connection)
        let existing = try connection.query(
            Self.existing,
            [.text(user.text), .textArray(edit.writes.map(\.key.text))]
        ) { try $0.map { try SettingRow.read($0) } }
        let results = try edit.decide(
            Dictionary(existing.map { ($0.key, $0) }) { a, _ in a },
            after: last.subtractingReportingOverflow(Int64(edit.writes.count)).partialValue,
            now: now
        )
        let written = results.filter(\.isApplied)
        guard !written.isEmpty else { return results }
        try connection.execute(
            Self.write,
            [
                .text(user.text), .textArray(written.map(\.setting.key.text)),
                .textArray(written.map { $0.setting.value?.text ?? "" }), .int8Array(written.map(\.setting.revision)),
                .int8Array(written.map(\.setting.modifiedAt.microseconds)),
            ]
        )
        if isAudited { try AuditLog.record(.settings(results), of: user, connection) }
        try checkLimits(results, connection)
        return results
    }

    /// Counts the user's settings, and purges excess tombstones, oldest first.
    ///
    /// - Throws: `unprocessable` if the user has too many settings.
    private func checkLimits(_ results: [SettingsEdit.Result], _ connection: isolated PostgresConnection) throws {
        let applied = results.filter(\.isApplied)
        let adds = applied.contains { !$0.setting.isDeleted && $0.previous?.isDeleted ?? true }
        guard adds || applied.contains(where: \.setting.isDeleted) else { return }
        let (current, deleted) = try connection.query(Self.countSettings, [.text(user.text)]) {
            try $0.first { (try $0.int(0), try $0.int(1)) } ?? (0, 0)
        }
        guard current <= Setting.countLimit || !adds else { throw SettingsEdit.tooManySettings() }
        let surplus = deleted - Setting.tombstoneLimit
        guard surplus > 0 else { return }
        try connection.execute(Self.purgeOldestTombstones, [.text(user.text), .int8(Int64(surplus))])
    }

    // MARK: - Statements

    static let existing: PostgresStatement =
        "SELECT \(SettingRow.columns) FROM user_setting s WHERE s.user_id = $1 AND s.key = ANY ($2)"
    static let write: PostgresStatement = """
        INSERT INTO user_setting (user_id, key, value, revision, modified_at, deleted_at)
        SELECT a.user_id, w.key, nullif(w.value, '')::json, w.revision,
            timestamptz 'epoch' + w.modified_at * interval '1 microsecond', CASE WHEN w.value = '' THEN now() END
        FROM user_account a CROSS JOIN unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[])
            AS w (key, value, revision, modified_at)
        WHERE a.user_id = $1
        ON CONFLICT (user_id, key) DO UPDATE SET value = excluded.value, revision = excluded.revision,
            modified_at = excluded.modified_at, deleted_at = excluded.deleted_at
        """
    static let countSettings: PostgresStatement = """
        SELECT count(*) FILTER (WHERE deleted_at IS NULL), count(*) FILTER (WHERE deleted_at IS NOT NULL)
        FROM user_setting WHERE user_id = $1
        """
    static let purgeOldestTombstones: PostgresStatement = """
        WITH gone AS (DELETE FROM user_setting WHERE user_id = $1 AND revision IN (SELECT revision FROM user_setting
            WHERE user_id = $1 AND deleted_at IS NOT NULL ORDER BY revision LIMIT $2) RETURNING revision)
        UPDATE user_account SET horizon = greatest(horizon, (SELECT max(revision) FROM gone)) WHERE user_id = $1
        """
}
