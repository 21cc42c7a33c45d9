internal import Catalog
internal import JSON
internal import LibPQ

/// The declarations of attributes in PostgreSQL.
///
/// A change of a store's declarations raises the version of the store, and one of the deployment's the revision in the row of the
/// deployment. That row is locked for both: exclusively for a change of the deployment's declarations, and shared for one of a store's. So a
/// store and the deployment decide one after the other, and stores do not wait for each other.
struct PostgresAttributeStore: AttributeStore {
    let database: Database
    /// The attributes that pickers have read.
    let sets: AttributeSets

    /// The number of products whose values are counted at once. A product's attributes have at most 4 KiB.
    static let batch = 2000

    var lookup: ShelfLookup { ShelfLookup(database: database) }

    func attributes(of owner: DeclarationOwner) async throws(CatalogError) -> AttributeSet {
        try await database.mappingErrors {
            guard case .store(let store) = owner else {
                let query = PostgresQuery(Self.ofDeployment)
                return try await database.router.shortReads.read([query], into: AttributeSet.none) { set, _, rows in
                    set = AttributeSet(deployment: try rows.map { try Self.declaration($0) })
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

    func titledAttributes(of head: ShelfHead) async throws(CatalogError) -> TitledAttributes {
        try await database.mappingErrors {
            try await sets.titledAttributes(of: head) {
                let id = try await lookup.readStore(head.store.key).id
                return (id, database.router.shortReads(of: .store(id)))
            }
        }
    }

    /// Reads those of some attributes that are in effect in a store.
    static func effective(
        _ names: [AttributeName],
        in storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> AttributeSet {
        try connection.query(someInEffect, [.int4(storeID), .textArray(names.map(\.text))]) { try set($0) }
    }

    /// Reads all attributes that are in effect in a store.
    static func effective(
        in storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> AttributeSet {
        try connection.query(inEffect, [.int4(storeID)]) { try set($0) }
    }

    /// Reads the declarations of the deployment, and those of a store, or, for nil, of all stores.
    static func declarations(
        of store: CatalogKey?,
        _ connection: isolated PostgresConnection
    ) throws -> (deployment: [AttributeDeclaration], stores: [CatalogKey: [AttributeDeclaration]]) {
        let shared = try connection.query(ofDeployment) { try $0.map { try declaration($0) } }
        let own = try connection.query(ofStores, [.text(store?.text)]) {
            try $0.map { (store: try CatalogKey(stored: $0.text(2)), declaration: try declaration($0)) }
        }
        return (shared, Dictionary(grouping: own, by: \.store).mapValues { $0.map(\.declaration) })
    }

    func declare(
        _ declaration: AttributeDeclaration,
        for owner: DeclarationOwner,
        expecting expectation: AttributeExpectation?,
        keepingTypeFor uses: AttributeUses
    ) async throws(CatalogError) -> DeclaredAttribute {
        guard case .store(let store) = owner else { return try await declareForAll(declaration, expectation, uses) }
        return try await database.write(to: store) { connection in
            let (id, change) = try lockedChange(of: store, connection)
            let declared = try change.declaring(
                declaration,
                for: owner,
                expecting: expectation,
                keepingTypeFor: uses
            )
            guard declared.isChange else { return declared }
            try connection.execute(ShelfStatements.bumpStore, [.int4(id)])
            try connection.execute(Self.upsertOfStore, [.int4(id)] + Self.columns(of: declared.new))
            try AuditLog.record(.attribute(declared.old, declared.new, of: owner), in: id, connection)
            return declared
        }
    }

    private func declareForAll(
        _ declaration: AttributeDeclaration,
        _ expectation: AttributeExpectation?,
        _ uses: AttributeUses
    ) async throws(CatalogError) -> DeclaredAttribute {
        try await database.mappingErrors {
            let declared = try await database.writes.transaction(within: .edit) { connection in
                let change = try Self.lockedChange(connection)
                let declared = try change.declaring(
                    declaration,
                    for: .deployment,
                    expecting: expectation,
                    keepingTypeFor: uses
                )
                guard declared.isChange else { return TransactionEnd.rollback(declared) }
                try connection.execute(Self.upsert, Self.columns(of: declared.new))
                try Self.record(declared.old, declared.new, connection)
                return .commit(declared)
            }
            // Orders by the attribute may change in all stores.
            if declared.isChange { database.announcer.announce(.all) }
            return declared
        }
    }

    func remove(
        attribute name: AttributeName,
        of owner: DeclarationOwner,
        expecting expectation: AttributeExpectation?,
        keepingFor uses: AttributeUses
    ) async throws(CatalogError) {
        guard case .store(let store) = owner else { return try await removeForAll(name, expectation, uses) }
        try await database.write(to: store) { connection in
            let (id, change) = try lockedChange(of: store, connection)
            let old = try change.removing(name, of: owner, expecting: expectation, keepingFor: uses)
            try connection.execute(ShelfStatements.bumpStore, [.int4(id)])
            try connection.execute(Self.deleteOfStore, [.int4(id), .text(name.text)])
            try AuditLog.record(.attribute(old, nil, of: owner), in: id, connection)
        }
    }

    private func removeForAll(
        _ name: AttributeName,
        _ expectation: AttributeExpectation?,
        _ uses: AttributeUses
    ) async throws(CatalogError) {
        try await database.mappingErrors {
            try await database.writes.transaction(within: .edit) { connection in
                let change = try Self.lockedChange(connection)
                let old = try change.removing(name, of: .deployment, expecting: expectation, keepingFor: uses)
                try connection.execute(Self.delete, [.text(name.text)])
                try connection.execute(Self.deleteTitles, [.text(name.text)])
                try Self.record(old, nil, connection)
            }
            database.announcer.announce(.all)
        }
    }

    func unreadableValues(
        of definition: AttributeDefinition,
        in owner: DeclarationOwner,
        within limit: Duration
    ) async throws(CatalogError) -> Int? {
        try await database.mappingErrors {
            let deadline = ContinuousClock.now + limit
            let stores =
                switch owner {
                case .deployment: try await lookup.readStores().map(\.id)
                case .store(let store): [try await lookup.readStore(store).id]
                }
            var count = 0
            for id in stores {
                var last: String? = ""
                while let after = last {
                    guard ContinuousClock.now < deadline else { return nil }
                    let found = try await database.longReads.perform(within: .lookup, of: .store(id)) { connection in
                        try connection.query(
                            Self.someValues,
                            [.int4(id), .text(after), .text(definition.name.text), .int8(Int64(Self.batch))]
                        ) { try Self.unreadable($0, definition) }
                    }
                    count += found.count
                    last = found.last
                }
            }
            return count
        }
    }

    // MARK: - Parts

    /// Locks the declarations of a store, and those of the deployment against changes, and reads both.
    private func lockedChange(
        of store: CatalogKey,
        _ connection: isolated PostgresConnection
    ) throws -> (id: Int32, AttributeChange) {
        let id = try lookup.store(store, connection, locking: ShelfStatements.lockStore).id
        // In a statement of its own, because the declarations are read as they are after the wait.
        try connection.query(Self.lockDeployment) { _ in }
        let (shared, own) = try connection.query(Self.inEffect, [.int4(id)]) { try Self.divided($0) }
        return (id, AttributeChange(deployment: shared, stores: [store: own]))
    }

    /// Locks the declarations of the deployment, raises their revision, and reads those of the deployment and of all stores.
    private static func lockedChange(_ connection: isolated PostgresConnection) throws -> AttributeChange {
        try connection.execute(bumpRevision)
        let (shared, own) = try declarations(of: nil, connection)
        return AttributeChange(deployment: shared, stores: own)
    }

    /// Records a change in the log of who made it: attributes of the deployment belong to no store.
    private static func record(
        _ old: AttributeDeclaration?,
        _ new: AttributeDeclaration?,
        _ connection: isolated PostgresConnection
    ) throws {
        guard let actor = UserID(ChangeOrigin.current.actor) else { return }
        try AuditLog.record(.attribute(old, new, of: .deployment), of: actor, connection)
    }

    /// The columns of a declaration but the store.
    private static func columns(of declaration: AttributeDeclaration) -> [PostgresValue] {
        [.text(declaration.name.text), .text(declaration.document.text)]
    }

    private static func set(_ rows: borrowing PostgresRows) throws -> AttributeSet {
        let (shared, own) = try divided(rows)
        return AttributeSet(deployment: shared, store: own)
    }

    /// Reads the rows of `inEffect`: the declarations of the deployment and those of the store.
    private static func divided(
        _ rows: borrowing PostgresRows
    ) throws -> (deployment: [AttributeDeclaration], store: [AttributeDeclaration]) {
        let all = try rows.map { (isOfStore: try $0.bool(2), declaration: try declaration($0)) }
        return (all.filter { !$0.isOfStore }.map(\.declaration), all.filter(\.isOfStore).map(\.declaration))
    }

    /// Reads a declaration from the first columns of a row: its name and its document.
    static func declaration(_ row: borrowing PostgresRow) throws -> AttributeDeclaration {
        // A later release may allow a document that this one cannot parse.
        let document = try? JSONReader.parse(Array(try row.text(1).utf8))
        return AttributeDeclaration(AttributeName(stored: try row.text(0)), stored: document ?? .object([]))
    }

    /// Counts the values of a batch that do not have the type.
    ///
    /// - Returns: the last product, too; nil if no others follow.
    private static func unreadable(
        _ rows: borrowing PostgresRows,
        _ definition: AttributeDefinition
    ) throws -> (count: Int, last: String?) {
        var (count, last) = (0, "")
        try rows.forEach { row in
            last = try row.text(0)
            guard let text = try row.textOrNil(1) else { return }
            let value = try JSONReader.parse(Array(text.utf8))
            do { _ = try definition.value(value) } catch { count += 1 }
        }
        return (count, rows.count < batch ? nil : last)
    }

    // MARK: - Statements

    private static let columns: SQL = "name, document::text"

    static let ofDeployment: PostgresStatement = "SELECT \(columns) FROM attribute"
    /// The declarations of the deployment, and those of a store, `$1`.
    static let inEffect: PostgresStatement = """
        SELECT \(columns), false FROM attribute
        UNION ALL SELECT \(columns), true FROM store_attribute WHERE store_id = $1
        """
    /// The same for attributes with some names, `$2`.
    static let someInEffect: PostgresStatement = """
        SELECT \(columns), false FROM attribute WHERE name = ANY ($2)
        UNION ALL SELECT \(columns), true FROM store_attribute WHERE store_id = $1 AND name = ANY ($2)
        """
    /// The declarations of a store with a key, `$1`, or, for null, of all stores.
    static let ofStores: PostgresStatement = """
        SELECT a.name, a.document::text, s.key FROM store_attribute a JOIN store s ON s.store_id = a.store_id
        WHERE s.deleted_at IS NULL AND ($1::text IS NULL OR s.key = $1)
        """
    /// Locks the declarations of the deployment against changes.
    static let lockDeployment: PostgresStatement = "SELECT 1 FROM deployment WHERE deployment_id = 1 FOR SHARE"
    static let bumpRevision: PostgresStatement = """
        UPDATE deployment SET attribute_revision = \(SQL.nextVersion(after: "attribute_revision")) WHERE deployment_id = 1
        """
    static let upsert: PostgresStatement = """
        INSERT INTO attribute (name, document) VALUES ($1, $2::json)
        ON CONFLICT (name) DO UPDATE SET document = excluded.document
        """
    static let upsertOfStore: PostgresStatement = """
        INSERT INTO store_attribute (store_id, name, document) VALUES ($1, $2, $3::json)
        ON CONFLICT (store_id, name) DO UPDATE SET document = excluded.document
        """
    static let delete: PostgresStatement = "DELETE FROM attribute WHERE name = $1"
    static let deleteOfStore: PostgresStatement = "DELETE FROM store_attribute WHERE store_id = $1 AND name = $2"
    /// Deletes the titles that stores give to an attribute of the deployment, `$1`.
    static let deleteTitles: PostgresStatement = """
        DELETE FROM store_attribute WHERE name = $1 AND document ->> 'type' IS NULL
        """
    /// The values of an attribute, `$3`, of the first `$4` products of a store, `$1`, after a product, `$2`; null without a value.
    static let someValues: PostgresStatement = """
        SELECT sku, (attributes -> $3::text)::text FROM product WHERE store_id = $1 AND sku > $2 ORDER BY sku LIMIT $4
        """
}
