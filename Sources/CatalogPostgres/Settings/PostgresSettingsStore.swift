internal import JSON
internal import Catalog
internal import LibPQ

/// Users' settings in PostgreSQL.
struct PostgresSettingsStore: SettingsStore {
    let database: Database
    /// Combines single settings of many users; nil on Citus, where each user is written separately.
    private let combiners: OwnersForms<SettingsCombiner?>

    init(database: Database) {
        self.database = database
        combiners = OwnersForms(ofAll: SettingsCombiner(database), ofOne: nil)
    }

    func setting(_ key: SettingKey, of user: UserID) async throws(CatalogError) -> Setting {
        try await database.mappingErrors {
            let query = PostgresQuery(Self.oneSetting, [.text(user.text), .text(key.text)])
            let found: Setting? = try await database.router.shortReads(of: .user(user)).read([query], into: nil) {
                found,
                _,
                rows in
                found = try rows.first { try SettingRow.read($0) }
            }
            guard let found else { throw CatalogError.notFound("setting “\(key)”") }
            return found
        }
    }

    func settings(
        of user: UserID,
        since: Int64?,
        limit: Int?
    ) async throws(CatalogError) -> SettingsPage {
        try await database.mappingErrors {
            return try await resyncingDevices(of: user) {
                let queries = Self.changesQueries(of: user, since: since, limit: limit)
                let new = ChangedSettings(since: since ?? 0)
                guard let limit else {
                    // The result may be long: do not read it on the pipeline for short reads.
                    let read = try await database.writes.perform(within: .edit, of: .user(user)) { connection in
                        var read = new
                        try connection.queryBatch(queries) { try Self.add($1, of: $0, to: &read) }
                        return read
                    }
                    return (read.page, read.isFromEarlierEpoch)
                }
                var read = try await database.router.shortReads(of: .user(user)).read(queries, into: new) {
                    try Self.add($2, of: $1, to: &$0)
                }
                // A truncated page continues from its last setting.
                if read.page.settings.count == limit { read.page.revision = read.page.settings.last!.revision }
                return (read.page, read.isFromEarlierEpoch)
            }
        }
    }

    /// Returns the queries for the start of the epoch and for a user's settings that changed after a revision, or for all.
    static func changesQueries(of user: UserID, since: Int64?, limit: Int?) -> [PostgresQuery] {
        [
            PostgresQuery(DatabaseEpoch.readStart),
            PostgresQuery(changedSettings, [.text(user.text), .int8(since), .int8(limit.map { Int64($0) })]),
        ]
    }

    /// Adds the rows of one of these queries.
    static func add(_ rows: borrowing PostgresRows, of query: Int, to read: inout ChangedSettings) throws {
        if query == 0 { try read.addStart(rows) } else { try read.add(rows) }
    }

    /// Reads a user's changes, and again if the database has begun a new epoch since the last read.
    func resyncingDevices<T: Sendable>(
        of user: UserID,
        _ read: () async throws -> (value: T, isFromEarlierEpoch: Bool)
    ) async throws -> T {
        try await attempting(3) {
            let (value, isFromEarlierEpoch) = try await read()
            if !isFromEarlierEpoch { return value }
            try await database.writes.transaction(within: .edit, of: .user(user)) {
                try DatabaseEpoch.makeDevicesResync(of: user, $0)
            }
            database.announcer.announce(.user(user))
            return nil
        }
    }

    func rememberedSorts(
        _ user: UserID,
        _ store: CatalogKey,
        _ shelf: CatalogKey
    ) async throws(CatalogError) -> RememberedSorts {
        try await database.mappingErrors {
            try await database.router.shortReads(of: .user(user)).read(
                [Self.sortsQuery(user, store, shelf)],
                into: .none
            ) {
                sorts,
                _,
                rows in
                sorts = try Self.sorts(rows)
            }
        }
    }

    /// - Parameter shelf: nil for all shelves of the store, to which only the sort for the store applies.
    static func sortsQuery(_ user: UserID, _ store: CatalogKey, _ shelf: CatalogKey?) -> PostgresQuery {
        let (own, wide) = (shelf.map { SettingKey.sort(of: $0, in: store).text } ?? "", SettingKey.sort(in: store))
        return PostgresQuery(rememberedSorts, [.text(user.text), .text(own), .text(wide.text)])
    }

    /// The revisions of users; shared by many reads. On Citus, it names the shards that it needs.
    static let revisions: PostgresStatement = """
        SELECT w.number, a.revision FROM unnest($1::text[]) WITH ORDINALITY AS w (user_id, number)
        JOIN user_account a ON a.user_id = w.user_id WHERE a.user_id = ANY ($1)
        """

    /// The revision of one user, `$1`, who is on one shard.
    static let oneRevision: PostgresStatement = "SELECT 1::bigint, revision FROM user_account WHERE user_id = $1"

    /// Returns the query for a user's revision.
    static func revisionQuery(_ user: UserID) -> OwnersQuery {
        OwnersQuery(forms: OwnersForms(ofAll: revisions, ofOne: oneRevision), owner: .user(user))
    }

    static func sorts(_ rows: borrowing PostgresRows) throws -> RememberedSorts {
        var sorts = RememberedSorts.none
        try rows.forEach { row in
            // A value that is not a string is read as JSON; an invalid sort is ignored.
            let sort = try row.textOrNil(1).map { JSONValue.string($0) }
            let value = try sort ?? row.textOrNil(2).flatMap { try? JSONReader.parse(Array($0.utf8)) }
            let remembered = value.flatMap { try? RememberedSort($0, field: "value") }
            if try row.bool(0) { sorts.shelf = remembered } else { sorts.store = remembered }
        }
        return sorts
    }

    func edit(
        _ edit: SettingsEdit,
        of user: UserID
    ) async throws(CatalogError) -> [SettingsEdit.Result] {
        guard !edit.writes.isEmpty else { return [] }
        return try await database.mappingErrors {
            let results = try await database.retryingErasureConflicts { try await apply(edit, of: user) }
            if results.contains(where: \.isApplied) { database.announcer.announce(.user(user)) }
            return results
        }
    }

    private func apply(_ edit: SettingsEdit, of user: UserID) async throws -> [SettingsEdit.Result] {
        // The combiner sets nearly all settings. The writer applies deletions, edits of several settings or with a condition, and those that
        // must be counted.
        if let write = edit.unconditionalWrite, let combiner = try await database.router.form(combiners) {
            let single = SettingsCombiner.Write(user: user, key: write.key, value: write.value, shelf: edit.shelf)
            switch try await combiner.set(single) {
            case .set(let result): return [result]
            // If the shelf exists meanwhile, the setting is set below.
            case .missingShelf: try await requireShelf(edit.shelf)
            case .nearlyFull: break
            }
        } else {
            try await requireShelf(edit.shelf)
        }
        return try await database.writes.transaction(within: .edit, of: .user(user)) { connection in
            let results = try SettingsWriter(user: user).apply(edit, connection)
            return results.contains(where: \.isApplied) ? .commit(results) : .rollback(results)
        }
    }

    /// - Throws: `notFound` for the store or the shelf.
    private func requireShelf(_ shelf: ShelfAddress?) async throws {
        if let shelf { _ = try await ShelfLookup(database: database).readHead(shelf.store, shelf.shelf) }
    }

    // MARK: - Statements

    static let oneSetting: PostgresStatement = """
        SELECT \(SettingRow.columns) FROM user_setting s
        WHERE s.user_id = $1 AND s.key = $2 AND s.deleted_at IS NULL
        """

    static let rememberedSorts: PostgresStatement = """
        SELECT key = $2, CASE json_typeof(value) WHEN 'string' THEN value #>> '{}' END,
            CASE json_typeof(value) WHEN 'object' THEN value::text END
        FROM user_setting
        WHERE user_id = $1 AND key IN ($2, $3) AND deleted_at IS NULL
        """

    /// Each row includes the account, from one snapshot. Revisions before the horizon or of an erased account get all. The third
    /// column is the later one of the client's revision and the horizon; null without a revision.
    static let changedSettings: PostgresStatement = """
        SELECT a.revision, a.is_resync, CASE WHEN $2 > 0 THEN greatest($2, a.horizon) END, \(SettingRow.columns)
        FROM \(SettingRow.account) AS a
        LEFT JOIN user_setting s ON s.user_id = a.user_id AND s.user_id = $1
            AND s.revision > CASE WHEN a.is_resync THEN 0 ELSE coalesce($2, 0) END
            AND ($2 IS NOT NULL OR s.deleted_at IS NULL)
        ORDER BY s.revision LIMIT $3
        """
}
