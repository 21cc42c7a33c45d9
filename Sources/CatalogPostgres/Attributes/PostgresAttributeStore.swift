internal import Catalog
internal import JSON
internal import LibPQ

/// The declarations of attributes in PostgreSQL.
///
/// A change of a store's declarations raises the version of the store, and one of the deployment's the revision in the row of the
/// deployment. The row is locked then, so that changes follow each other. A store does not lock it. So a store and the deployment may declare
/// contradicting types at the same time; `AttributeSet` then decides for the deployment.
struct PostgresAttributeStore: AttributeStore {
    let database: Database

    private var lookup: ShelfLookup { ShelfLookup(database: database) }

    func attributes(of owner: AttributeOwner) async throws(CatalogError) -> AttributeSet {
        try await database.mappingErrors {
            guard case .store(let store) = owner else {
                let query = PostgresQuery(Self.ofDeployment)
                return try await database.router.shortReads.read([query], into: AttributeSet.none) { set, _, rows in
                    set = AttributeSet(deployment: try rows.map { try Self.attribute($0) })
                }
            }
            let id = try await lookup.readStore(store).id
            let query = PostgresQuery(Self.inEffect, [.int4(id)])
            return try await database.router.shortReads(of: .store(id)).read([query], into: AttributeSet.none) {
                set,
                _,
                rows in
                set = try Self.set(rows)
            }
        }
    }

    /// Reads the attributes in effect in a store.
    static func effective(in storeID: Int32, _ connection: isolated PostgresConnection) throws -> AttributeSet {
        try connection.query(inEffect, [.int4(storeID)]) { try set($0) }
    }

    func declare(_ declaration: AttributeDeclaration, for owner: AttributeOwner) async throws(CatalogError) -> Bool {
        guard case .store(let store) = owner else { return try await declareForAll(declaration) }
        return try await database.write(to: store) { connection in
            let found = try lookup.store(store, connection, locking: ShelfStatements.lockStore)
            let change = try Self.readChange(of: store, found.id, connection)
            let (new, old) = try change.declaring(declaration, for: owner)
            guard new != old else { return false }
            let revision = try connection.query(Self.bumpStore, [.int4(found.id)]) { try $0.first { try $0.int8(0) }! }
            try connection.execute(Self.upsertOfStore, [.int4(found.id)] + Self.values(new, revision))
            try AuditLog.record(.attribute(old, new, of: owner), in: found.id, connection)
            return old == nil
        }
    }

    private func declareForAll(_ declaration: AttributeDeclaration) async throws(CatalogError) -> Bool {
        try await database.mappingErrors {
            try await database.writes.transaction(within: .edit) { connection in
                let revision = try Self.bumpDeployment(connection)
                let change = try Self.readChange(connection)
                let (new, old) = try change.declaring(declaration, for: .deployment)
                guard new != old else { return TransactionEnd.rollback(false) }
                try connection.execute(Self.upsert, Self.values(new, revision))
                try Self.record(old, new, connection)
                return .commit(old == nil)
            }
        }
    }

    func remove(attribute name: AttributeName, of owner: AttributeOwner) async throws(CatalogError) {
        guard case .store(let store) = owner else { return try await removeForAll(name) }
        try await database.write(to: store) { connection in
            let found = try lookup.store(store, connection, locking: ShelfStatements.lockStore)
            let old = try Self.readChange(of: store, found.id, connection).removing(name, of: owner)
            try connection.query(Self.bumpStore, [.int4(found.id)]) { _ in }
            try connection.execute(Self.deleteOfStore, [.int4(found.id), .text(name.text)])
            try AuditLog.record(.attribute(old, nil, of: owner), in: found.id, connection)
        }
    }

    private func removeForAll(_ name: AttributeName) async throws(CatalogError) {
        try await database.mappingErrors {
            try await database.writes.transaction(within: .edit) { connection in
                _ = try Self.bumpDeployment(connection)
                let old = try Self.readChange(connection).removing(name, of: .deployment)
                try connection.execute(Self.delete, [.text(name.text)])
                try connection.execute(Self.deleteTitles, [.text(name.text)])
                try Self.record(old, nil, connection)
            }
        }
    }

    func unreadableValues(
        of name: AttributeName,
        in owner: AttributeOwner
    ) async throws(CatalogError) -> Int {
        guard let definition = try await attributes(of: owner)[name]?.definition else {
            throw .unknownAttribute(name, of: owner)
        }
        return try await database.mappingErrors {
            let text = PostgresValue.text(name.text)
            guard case .store(let store) = owner else {
                return try await database.longReads.snapshot(within: .bulk) { connection in
                    try connection.query(Self.allValues, [text]) { try Self.unreadable($0, definition) }
                }
            }
            let id = try await lookup.readStore(store).id
            return try await database.longReads.snapshot(within: .bulk, of: .store(id)) { connection in
                try connection.query(Self.values, [.int4(id), text]) { try Self.unreadable($0, definition) }
            }
        }
    }

    // MARK: - Parts

    private static func readChange(
        of store: CatalogKey,
        _ id: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> AttributeChange {
        let (shared, own) = try connection.query(inEffect, [.int4(id)]) { try divided($0) }
        return AttributeChange(deployment: shared, stores: [store: own])
    }

    private static func readChange(_ connection: isolated PostgresConnection) throws -> AttributeChange {
        let shared = try connection.query(ofDeployment) { try $0.map { try attribute($0) } }
        let own = try connection.query(ofStores) {
            try $0.map { (store: try CatalogKey(stored: $0.text(3)), attribute: try attribute($0)) }
        }
        let stores = Dictionary(grouping: own, by: \.store).mapValues { $0.map(\.attribute) }
        return AttributeChange(deployment: shared, stores: stores)
    }

    /// Locks the deployment's declarations, and returns the revision of their next state.
    private static func bumpDeployment(_ connection: isolated PostgresConnection) throws -> Int64 {
        try connection.query(bumpRevision) { try $0.first { try $0.int8(0) }! }
    }

    /// Records a change in the log of who made it: the attributes of all stores belong to none.
    private static func record(
        _ old: AttributeDeclaration?,
        _ new: AttributeDeclaration?,
        _ connection: isolated PostgresConnection
    ) throws {
        guard let actor = UserID(ChangeOrigin.current.actor) else { return }
        try AuditLog.record(.attribute(old, new, of: .deployment), of: actor, connection)
    }

    /// The columns of a declaration but the store.
    private static func values(_ declaration: AttributeDeclaration, _ revision: Int64) -> [PostgresValue] {
        [.text(declaration.name.text), .text(declaration.document.text), .int8(revision)]
    }

    private static func set(_ rows: borrowing PostgresRows) throws -> AttributeSet {
        let (shared, own) = try divided(rows)
        return AttributeSet(deployment: shared, store: own)
    }

    /// Reads the rows of `inEffect`: the declarations of the deployment and those of the store.
    private static func divided(
        _ rows: borrowing PostgresRows
    ) throws -> (deployment: [StoredAttribute], store: [StoredAttribute]) {
        let all = try rows.map { (isOfStore: try $0.bool(3), attribute: try attribute($0)) }
        return (all.filter { !$0.isOfStore }.map(\.attribute), all.filter(\.isOfStore).map(\.attribute))
    }

    private static func attribute(_ row: borrowing PostgresRow) throws -> StoredAttribute {
        let text = try row.text(0)
        do {
            guard let name = AttributeName(text) else { throw CatalogError.fault("the name is invalid") }
            let document = try JSONReader.parse(Array(try row.text(1).utf8))
            let declaration = try AttributeDeclaration(name, document, isStored: true)
            return StoredAttribute(declaration: declaration, revision: try row.int8(2))
        } catch {
            throw PostgresError(.decoding, "invalid stored attribute “\(text)”")
        }
    }

    /// Counts the products whose value does not have the type.
    private static func unreadable(
        _ rows: borrowing PostgresRows,
        _ definition: AttributeDefinition
    ) throws -> Int {
        try rows.map { row in
            let value = try JSONReader.parse(Array(try row.text(0).utf8))
            do { _ = try definition.value(value) } catch { return Int(try row.int8(1)) }
            return 0
        }.reduce(0, +)
    }

    // MARK: - Statements

    private static let columns: SQL = "name, document::text, revision"

    static let ofDeployment: PostgresStatement = "SELECT \(columns) FROM attribute"
    /// The declarations of the deployment, and those of a store, `$1`.
    static let inEffect: PostgresStatement = """
        SELECT \(columns), false FROM attribute
        UNION ALL SELECT \(columns), true FROM store_attribute WHERE store_id = $1
        """
    /// The declarations of all stores.
    static let ofStores: PostgresStatement = """
        SELECT a.name, a.document::text, a.revision, s.key FROM store_attribute a JOIN store s ON s.store_id = a.store_id
        WHERE s.deleted_at IS NULL
        """
    static let bumpRevision: PostgresStatement = """
        UPDATE deployment SET attribute_revision = \(SQL.nextVersion(after: "attribute_revision")) WHERE deployment_id = 1
        RETURNING attribute_revision
        """
    /// Bumps the version of a store, `$1`, and returns it.
    static let bumpStore: PostgresStatement = """
        UPDATE store_state SET version = \(SQL.nextVersion(after: "version")) WHERE store_id = $1 RETURNING version
        """
    static let upsert: PostgresStatement = """
        INSERT INTO attribute (name, document, revision) VALUES ($1, $2::json, $3)
        ON CONFLICT (name) DO UPDATE SET document = excluded.document, revision = excluded.revision
        """
    static let upsertOfStore: PostgresStatement = """
        INSERT INTO store_attribute (store_id, name, document, revision) VALUES ($1, $2, $3::json, $4)
        ON CONFLICT (store_id, name) DO UPDATE SET document = excluded.document, revision = excluded.revision
        """
    static let delete: PostgresStatement = "DELETE FROM attribute WHERE name = $1"
    static let deleteOfStore: PostgresStatement = "DELETE FROM store_attribute WHERE store_id = $1 AND name = $2"
    /// Deletes the titles that stores give to an attribute of the deployment, `$1`.
    static let deleteTitles: PostgresStatement = """
        DELETE FROM store_attribute WHERE name = $1 AND document ->> 'type' IS NULL
        """
    /// The different values of an attribute, `$2`, of a store's products, with the number of products.
    static let values: PostgresStatement = """
        SELECT (attributes -> $2::text)::text, count(*) FROM product WHERE store_id = $1 AND attributes ? $2::text GROUP BY 1
        """
    /// The different values of an attribute, `$1`, of all products, with the number of products.
    static let allValues: PostgresStatement = """
        SELECT (attributes -> $1::text)::text, count(*) FROM product WHERE attributes ? $1::text GROUP BY 1
        """
}
