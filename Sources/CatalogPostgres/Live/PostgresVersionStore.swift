internal import Catalog
internal import LibPQ

/// Versions of shelves and revisions of users in PostgreSQL.
struct PostgresVersionStore: VersionStore {
    let database: Database
    let settings: PostgresSettingsStore
    let encode: UserEvent.Encoder

    func versions(of shelves: [ShelfAddress]) async throws(CatalogError) -> [ShelfAddress: ShelfVersion?] {
        try await database.mappingErrors {
            let forms = OwnersForms(ofAll: Self.shelfVersions, ofOne: Self.shelfVersionsOfStores)
            return try await database.router.readByStore(shelves, { $0.store }, forms) {
                try await versions(of: $0, $1, $2, $3)
            }
        }
    }

    private func versions(
        of shelves: [ShelfAddress],
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue],
        _ shortReads: PostgresPipeline
    ) async throws -> [ShelfAddress: ShelfVersion?] {
        let keys = [PostgresValue.textArray(shelves.map(\.store.text)), .textArray(shelves.map(\.shelf.text))]
        let missing = Dictionary(shelves.map { ($0, ShelfVersion?.none) }) { first, _ in first }
        return try await shortReads.read([PostgresQuery(statement, keys + parameters)], into: missing) {
            versions,
            _,
            rows in
            try rows.forEach { row in
                let index = try row.int(0) - 1
                guard shelves.indices.contains(index) else { return }
                versions[shelves[index]] = .some(try ShelfLookup.version(row))
            }
        }
    }

    func revisions(of users: [UserID]) async throws(CatalogError) -> [UserID: Int64] {
        try await database.mappingErrors {
            try await database.router.readByOwner(users, { .user($0) }) { try await revisions(of: $0, $1) }
        }
    }

    private func revisions(of users: [UserID], _ shortReads: PostgresPipeline) async throws -> [UserID: Int64] {
        let query = PostgresQuery(PostgresSettingsStore.revisions, [.textArray(users.map(\.text))])
        let none = Dictionary(users.map { ($0, Int64(0)) }) { first, _ in first }
        return try await shortReads.read([query], into: none) { revisions, _, rows in
            try rows.forEach { row in revisions[users[try row.int(0) - 1]] = try row.int8(1) }
        }
    }

    func changes(of user: UserID, since: Int64, limit: Int) async throws(CatalogError) -> ChangesPage {
        try await database.mappingErrors {
            try await settings.resyncingDevices(of: user) {
                try await readChanges(of: user, since: since, limit: limit)
            }
        }
    }

    private func readChanges(
        of user: UserID,
        since: Int64,
        limit: Int
    ) async throws -> (value: ChangesPage, isFromEarlierEpoch: Bool) {
        let (name, maximum) = (PostgresValue.text(user.text), PostgresValue.int8(Int64(limit)))
        let queries = PostgresSettingsStore.changesQueries(of: user, since: since, limit: limit)
        let initial = (read: ChangedSettings(since: since), lists: [LiveEvent]())
        // Read the account first: later list events follow with the next read.
        let (read, lists) = try await database.router.shortReads(of: .user(user)).read(
            queries + [PostgresQuery(ListStatements.changes, [name, .int8(since), maximum])],
            into: initial
        ) { value, index, rows in
            if queries.indices.contains(index) {
                try PostgresSettingsStore.add(rows, of: index, to: &value.read)
            } else {
                try rows.forEach { row in
                    // Events may have been purged between the two statements.
                    if since > 0, try row.int8(0) > since { value.read.page.isResync = true }
                    guard !row.isNull(1) else { return }
                    let data = Array(try row.text(2).utf8)
                    value.lists.append(LiveEvent(.list, id: try row.int8(1), data: data))
                }
            }
        }
        let page = read.page
        let settings = page.settings.map { LiveEvent(.setting, id: $0.revision, data: encode(.setting($0))) }
        // If one source reached the limit, events after its last one must wait, too.
        let ends = [settings, lists].filter { $0.count == limit }.map { $0.last!.id }
        let end = min(page.revision, ends.min() ?? .max)
        let events = (settings + lists).filter { $0.id <= end }.sorted {
            $0.id < $1.id
        }
        let shown = Array(events.prefix(limit))
        let changes = ChangesPage(
            events: shown,
            revision: shown.count < events.count ? shown.last!.id : end,
            isResync: page.isResync
        )
        return (changes, read.isFromEarlierEpoch)
    }

    static let shelfVersions: PostgresStatement = """
        SELECT w.number, t.version, h.version, d.attribute_revision, d.synonym_revision
        FROM unnest($1, $2) WITH ORDINALITY AS w (store, shelf, number) JOIN store s
            ON s.key = w.store AND s.deleted_at IS NULL
        JOIN shelf h ON h.store_id = s.store_id AND h.key = w.shelf AND h.deleted_at IS NULL
        JOIN store_state t ON t.store_id = h.store_id JOIN deployment d ON d.deployment_id = 1
        """

    /// The same for stores with known ids, `$3`, which name their shards.
    static let shelfVersionsOfStores: PostgresStatement = """
        SELECT w.number, t.version, h.version, d.attribute_revision, d.synonym_revision
        FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w (store, shelf, number) JOIN store s
            ON s.key = w.store AND s.deleted_at IS NULL
        JOIN shelf h ON h.store_id = s.store_id AND h.key = w.shelf AND h.deleted_at IS NULL
        JOIN store_state t ON t.store_id = h.store_id JOIN deployment d ON d.deployment_id = 1
        WHERE h.store_id = ANY ($3) AND t.store_id = ANY ($3)
        """
}
