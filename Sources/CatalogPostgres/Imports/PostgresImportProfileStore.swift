internal import Catalog
internal import LibPQ

/// The profiles of imports in PostgreSQL.
struct PostgresImportProfileStore: ImportProfileStore {
    let database: Database

    func importProfiles() async throws(CatalogError) -> [SavedImportProfile] {
        try await database.mappingErrors {
            try await database.writes.transaction(within: .lookup) { connection in
                try connection.query(Self.all) { try $0.map(Self.profile) }
            }
        }
    }

    func importProfile(_ name: CatalogKey) async throws(CatalogError) -> SavedImportProfile {
        try await database.mappingErrors {
            let found = try await database.writes.transaction(within: .lookup) { connection in
                try connection.query(Self.one, [.text(name.text)]) { try $0.first(Self.profile) }
            }
            guard let found else { throw CatalogError.notFound("import profile “\(name)”") }
            return found
        }
    }

    func put(importProfile document: String, _ name: CatalogKey) async throws(CatalogError) -> Bool {
        try await database.mappingErrors {
            try await database.writes.transaction(within: .edit) { connection in
                let old = try connection.query(Self.one, [.text(name.text)]) { try $0.first(Self.profile) }
                if let old, old.document == document { return false }
                if old == nil {
                    // Writers at the same time can exceed the limit by a few, which does no harm.
                    let count = try connection.query(Self.count) { try $0.first { try $0.int(0) } } ?? 0
                    guard count < ImportProfile.countLimit else {
                        throw CatalogError.conflict(
                            "there are \(count) import profiles, the maximum; delete those that nobody uses"
                        )
                    }
                }
                try connection.execute(Self.upsert, [.text(name.text), .text(document)])
                try Self.record(.importProfilePut, name, connection)
                return old == nil
            }
        }
    }

    func remove(importProfile name: CatalogKey) async throws(CatalogError) {
        try await database.mappingErrors {
            try await database.writes.transaction(within: .edit) { connection in
                guard try connection.execute(Self.delete, [.text(name.text)]) > 0 else {
                    throw CatalogError.notFound("import profile “\(name)”")
                }
                try Self.record(.importProfileDelete, name, connection)
            }
        }
    }

    func localTime(in timeZone: String) async throws(CatalogError) -> Timestamp? {
        try await database.mappingErrors {
            try await database.writes.transaction(within: .edit) { connection in
                try connection.query(Self.localTime, [.text(timeZone)]) {
                    try $0.first { Timestamp(microseconds: try $0.int8(0)) }
                }
            }
        }
    }

    /// Records a change in the log of who made it: profiles belong to no store.
    private static func record(
        _ action: AuditAction,
        _ name: CatalogKey,
        _ connection: isolated PostgresConnection
    ) throws {
        guard let actor = UserID(ChangeOrigin.current.actor) else { return }
        try AuditLog.record(AuditChange(action, name.text), of: actor, connection)
    }

    private static func profile(_ row: borrowing PostgresRow) throws -> SavedImportProfile {
        SavedImportProfile(
            name: try CatalogKey(stored: row.text(0)),
            document: try row.text(1),
            modifiedAt: Timestamp(microseconds: try row.timestamptz(2))
        )
    }

    // MARK: - Statements

    static let all: PostgresStatement = """
        SELECT name, document::text, modified_at FROM import_profile ORDER BY name
        """
    static let one: PostgresStatement = """
        SELECT name, document::text, modified_at FROM import_profile WHERE name = $1
        """
    static let count: PostgresStatement = "SELECT count(*) FROM import_profile"
    static let upsert: PostgresStatement = """
        INSERT INTO import_profile (name, document, modified_at) VALUES ($1, $2::json, now())
        ON CONFLICT (name) DO UPDATE SET document = excluded.document, modified_at = excluded.modified_at
        """
    static let delete: PostgresStatement = "DELETE FROM import_profile WHERE name = $1"
    static let localTime: PostgresStatement = """
        SELECT (extract(epoch FROM now() AT TIME ZONE name) * 1000000)::bigint FROM pg_timezone_names WHERE name = $1
        """
}
