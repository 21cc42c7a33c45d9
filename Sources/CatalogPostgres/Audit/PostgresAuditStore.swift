internal import Catalog
internal import LibPQ

/// The audit log in PostgreSQL.
struct PostgresAuditStore: AuditStore {
    let database: Database
    let customers: CustomerHashes

    func audit(_ request: AuditRequest) async throws(CatalogError) -> AuditPage {
        let position = try request.position
        return try await database.mappingErrors {
            let conditions: [PostgresValue] = [
                .timestamptz(request.since?.microseconds ?? .min), .timestamptz(request.until?.microseconds ?? .max),
                .timestamptz(position?.at.microseconds ?? .max), .text(position?.id.text ?? Self.lastID),
                .text(request.action?.rawValue), .text(request.actor), .text(request.subject),
                .int8(Int64(request.limit) + 1),
            ]
            switch request.log {
            case .store(let store):
                return try await database.longReads.snapshot(within: .shelf, of: database.owner(store)) { connection in
                    let id = try ShelfLookup(database: database).idEvenIfDeleted(store, connection)
                    return try Self.page(request, AuditStatements.ofStore, [.int4(id)] + conditions, connection)
                }
            case .user(let user):
                let erased = CustomerHashes.erasedName(CustomerHashes.hash(of: user, try await customers.key()))
                return try await database.longReads.snapshot(within: .shelf, of: .user(user)) { connection in
                    let parameters = [.text(user.text)] + conditions + [.text(erased)]
                    return try Self.page(request, AuditStatements.ofUser, parameters, connection)
                }
            }
        }
    }

    /// Returns all entries of a user, the oldest first.
    static func all(of user: UserID, _ connection: isolated PostgresConnection) throws -> [AuditEntry] {
        try connection.query(AuditStatements.allOfUser, [.text(user.text)]) { try $0.map { try entry($0) } }
    }

    /// An id after all others.
    private static let lastID = "ffffffff-ffff-ffff-ffff-ffffffffffff"

    private static func page(
        _ request: AuditRequest,
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue],
        _ connection: isolated PostgresConnection
    ) throws -> AuditPage {
        AuditPage(request, found: try connection.query(statement, parameters) { try $0.map { try entry($0) } })
    }

    private static func entry(_ row: borrowing PostgresRow) throws -> AuditEntry {
        guard let id = UniqueID(try row.text(0)), let source = ChangeOrigin.Source(rawValue: try row.text(3)) else {
            throw PostgresError(.decoding, "invalid stored audit entry")
        }
        return AuditEntry(
            id: id,
            at: Timestamp(microseconds: try row.timestamptz(1)),
            origin: ChangeOrigin(
                source: source,
                actor: try row.text(4),
                address: try row.textOrNil(5),
                token: try row.textOrNil(6),
                requestID: try row.textOrNil(7)
            ),
            action: try row.text(2),
            subject: try row.textOrNil(8),
            detail: try row.text(9)
        )
    }
}
