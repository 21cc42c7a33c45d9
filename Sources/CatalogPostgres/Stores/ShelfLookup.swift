internal import Catalog
internal import LibPQ

/// Reads stores and shelves by their keys.
struct ShelfLookup: Sendable {
    let database: Database

    func readStores() async throws -> [ShelfRow.StoreRead] {
        try await database.router.readAll(Self.allStores) { try $0.map { try ShelfRow.store($0) } }
    }

    /// - Parameter source: nil for the primary.
    /// - Throws: `notFound`.
    func readStore(_ key: CatalogKey, _ source: ReadSource? = nil) async throws -> ShelfRow.StoreRead {
        guard let source else {
            return try await database.router.withPrimarySource(of: key, for: nil) { try await readStore(key, $0) }
        }
        let found = try await withStoreID(of: key, source) { id -> ShelfRow.StoreRead? in
            try await source.read([PostgresQuery(Self.oneStore, [.int4(id), .text(key.text)])], into: nil) {
                found,
                _,
                rows in
                found = try rows.first { try ShelfRow.store($0) }
            }
        }
        guard let found else { throw CatalogError.notFound("store “\(key)”") }
        return found
    }

    /// - Throws: `notFound` for the store or the shelf.
    func readHead(_ store: CatalogKey, _ shelf: CatalogKey) async throws -> LocatedHead {
        try await database.router.withPrimarySource(of: store, for: nil) { source in
            let found = try await withStoreID(of: store, source) { id -> LocatedHead? in
                try await source.read([Self.headQuery(id, store, shelf)], into: nil) { found, _, rows in
                    found = try rows.first { try ShelfRow.head($0) }
                }
            }
            if let found { return found }
            _ = try await readStore(store, source)
            throw CatalogError.notFound("shelf “\(shelf)”")
        }
    }

    /// Reads something of a store by the store's id, which is looked up if it is unknown or outdated.
    ///
    /// - Parameter read: compares the key, too; it returns nil if there is nothing, or if the id belongs to another store.
    /// - Returns: nil if there is nothing.
    func withStoreID<Found>(
        of store: CatalogKey,
        _ source: ReadSource,
        _ read: (Int32) async throws -> Found?
    ) async throws -> Found? {
        let known = database.storeIDs[store]
        if let known, let found = try await read(known) { return found }
        try source.requireAllStores()
        let current: Int32? = try await source.read([PostgresQuery(Self.storeID, [.text(store.text)])], into: nil) {
            id,
            _,
            rows in
            id = try rows.first { try $0.int4(0) }
        }
        database.storeIDs[store] = current
        guard let current, current != known else { return nil }
        return try await read(current)
    }

    // MARK: - On a given connection

    /// Reads a store; nil if it does not exist.
    ///
    /// - Parameter lock: a statement of `ShelfStatements` that locks the store first. The lock needs a separate statement. A statement that
    ///   waits for a lock sees the locked row after the wait, but the store's settings before the wait.
    func storeIfExists(
        _ key: CatalogKey,
        _ connection: isolated PostgresConnection,
        locking lock: PostgresStatement? = nil
    ) throws -> ShelfRow.StoreRead? {
        try withStoreID(of: key, connection) { id, connection in
            if let lock { try connection.executeDeferred(lock, [.int4(id)]) }
            return try connection.query(Self.oneStore, [.int4(id), .text(key.text)]) {
                try $0.first { try ShelfRow.store($0) }
            }
        }
    }

    /// Reads a store, as `storeIfExists` does.
    ///
    /// - Throws: `notFound`.
    func store(
        _ key: CatalogKey,
        _ connection: isolated PostgresConnection,
        locking lock: PostgresStatement? = nil
    ) throws -> ShelfRow.StoreRead {
        guard let found = try storeIfExists(key, connection, locking: lock) else {
            throw CatalogError.notFound("store “\(key)”")
        }
        return found
    }

    /// Returns the id of a store that exists or existed.
    ///
    /// - Throws: `notFound`.
    func idEvenIfDeleted(_ key: CatalogKey, _ connection: isolated PostgresConnection) throws -> Int32 {
        guard let id = try Self.id(of: key, connection) else { throw CatalogError.notFound("store “\(key)”") }
        return id
    }

    private static func id(of key: CatalogKey, _ connection: isolated PostgresConnection) throws -> Int32? {
        try connection.query(storeID, [.text(key.text)]) { try $0.first { try $0.int4(0) } }
    }

    /// Returns the ids of stores that exist. Those of all have been read before, so that this usually needs no query.
    func ids(
        of keys: Set<CatalogKey>,
        _ connection: isolated PostgresConnection
    ) throws -> [CatalogKey: Int32] {
        var ids: [CatalogKey: Int32] = [:]
        for key in keys {
            if let known = database.storeIDs[key] {
                ids[key] = known
            } else {
                ids[key] = try Self.id(of: key, connection)
            }
        }
        return ids
    }

    /// Reads a shelf.
    ///
    /// - Throws: `notFound` for the store or the shelf.
    func head(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ connection: isolated PostgresConnection
    ) throws -> LocatedHead {
        let found = try withStoreID(of: store, connection) { id, connection in
            let query = Self.headQuery(id, store, shelf)
            return try connection.query(query.statement, query.parameters) {
                try $0.first { try ShelfRow.head($0) }
            }
        }
        if let found { return found }
        _ = try self.store(store, connection)
        throw CatalogError.notFound("shelf “\(shelf)”")
    }

    /// Reads something of a store by the store's id, as the method for connections of the page lane does.
    private func withStoreID<Found>(
        of store: CatalogKey,
        _ connection: isolated PostgresConnection,
        _ read: (Int32, isolated PostgresConnection) throws -> Found?
    ) throws -> Found? {
        let known = database.storeIDs[store]
        if let known, let found = try read(known, connection) { return found }
        let current = try Self.id(of: store, connection)
        database.storeIDs[store] = current
        guard let current, current != known else { return nil }
        return try read(current, connection)
    }

    // MARK: - Statements

    static let allStores: PostgresStatement = "SELECT \(ShelfRow.storeColumns) FROM \(ShelfRow.stores) ORDER BY s.key"

    /// `$1` is the store's id, `$2` its key.
    static let oneStore: PostgresStatement = """
        SELECT \(ShelfRow.storeColumns) FROM \(ShelfRow.stores) WHERE s.store_id = $1 AND t.store_id = $1 AND s.key = $2
        """

    /// The id of a store with a key, `$1`, even if it is deleted: then it is the store's again if it is created once more.
    static let storeID: PostgresStatement = "SELECT store_id FROM store WHERE key = $1"

    /// `$1` and `$2` are the store's id and key, `$3` is the shelf's key.
    static let oneHead: PostgresStatement = """
        SELECT \(ShelfRow.storeColumns), \(ShelfRow.stateColumns)
        FROM \(ShelfRow.stores) JOIN shelf h ON h.store_id = s.store_id AND h.key = $3 AND h.deleted_at IS NULL
        WHERE s.store_id = $1 AND t.store_id = $1 AND h.store_id = $1 AND s.key = $2
        """
    /// Returns the query for a shelf.
    ///
    /// - Parameter id: the id of the store.
    static func headQuery(_ id: Int32, _ store: CatalogKey, _ shelf: CatalogKey) -> PostgresQuery {
        PostgresQuery(oneHead, [.int4(id), .text(store.text), .text(shelf.text)])
    }

    /// The versions of shelves and their stores, by location; shared by many reads.
    static let versions: PostgresStatement = """
        SELECT w.number, t.version, h.version, d.attribute_revision, d.synonym_revision
        FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS w (store_id, shelf_id, number)
        JOIN shelf h ON h.store_id = w.store_id AND h.shelf_id = w.shelf_id AND h.deleted_at IS NULL
        JOIN store_state t ON t.store_id = h.store_id JOIN deployment d ON d.deployment_id = 1
        """
    /// The same for shelves, `$2`, of one store, `$1`, which are on one shard.
    static let versionsOfStore: PostgresStatement = """
        SELECT w.number, t.version, h.version, d.attribute_revision, d.synonym_revision
        FROM unnest($2::bigint[]) WITH ORDINALITY AS w (shelf_id, number)
        JOIN shelf h ON h.store_id = $1 AND h.shelf_id = w.shelf_id AND h.deleted_at IS NULL
        JOIN store_state t ON t.store_id = h.store_id JOIN deployment d ON d.deployment_id = 1 WHERE h.store_id = $1 AND t.store_id = $1
        """
    /// Returns the query for the version of a shelf.
    static func sharedVersionQuery(_ location: ShelfLocation) -> OwnersQuery {
        OwnersQuery(
            forms: OwnersForms(ofAll: versions, ofOne: versionsOfStore),
            owner: .store(location.storeID),
            key: [.int8(Int64(location.shelfID))]
        )
    }

    /// The version of a shelf, `$2`, of a store, `$1`, in the columns of `versions`.
    static let oneVersion: PostgresStatement = """
        SELECT 1::bigint, t.version, h.version, d.attribute_revision, d.synonym_revision
        FROM store_state t JOIN shelf h ON h.store_id = t.store_id JOIN deployment d ON d.deployment_id = 1
        WHERE t.store_id = $1 AND h.store_id = $1 AND h.shelf_id = $2 AND h.deleted_at IS NULL
        """

    /// Returns the query for the version of one shelf.
    static func versionQuery(_ location: ShelfLocation) -> PostgresQuery {
        PostgresQuery(oneVersion, [.int4(location.storeID), .int4(location.shelfID)])
    }

    /// Reads the version in a row of `versions`, `versionsOfStore` or `oneVersion`.
    static func version(_ row: borrowing PostgresRow) throws -> ShelfVersion {
        ShelfVersion(
            store: try row.int8(1),
            shelf: try row.int8(2),
            attributes: try row.int8(3),
            synonyms: try row.int8(4)
        )
    }
}
