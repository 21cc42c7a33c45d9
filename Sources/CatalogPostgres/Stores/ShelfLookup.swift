internal import Catalog
internal import LibPQ

/// Reads stores and shelves by their keys.
struct ShelfLookup: Sendable {
    let database: Database

    func readStores() async throws -> [ShelfRow.StoreRead] {
        try await database.pages.read([PostgresQuery(Self.allStores)], into: []) { stores, _, rows in
            stores = try rows.map { try ShelfRow.store($0) }
        }
    }

    /// - Parameter source: nil for the primary.
    func readStore(_ key: CatalogKey, _ source: ReadSource? = nil) async throws -> ShelfRow.StoreRead {
        let found = try await (source ?? ReadSource(database)).read(
            [PostgresQuery(ShelfLookup.oneStore, [.text(key.text)])],
            into: nil
        ) {
            found,
            _,
            rows in
            found = try rows.first { try ShelfRow.store($0) }
        }
        guard let found else { throw CatalogError.notFound("store “\(key)”") }
        return found
    }

    /// - Throws: `notFound` for the store or the shelf.
    func readHead(_ store: CatalogKey, _ shelf: CatalogKey) async throws -> ShelfHead {
        let query = PostgresQuery(ShelfLookup.oneHead, [.text(store.text), .text(shelf.text)])
        let found: ShelfHead? = try await database.pages.read([query], into: nil) { found, _, rows in
            found = try rows.first { try ShelfRow.head($0) }
        }
        if let found { return found }
        _ = try await readStore(store)
        throw CatalogError.notFound("shelf “\(shelf)”")
    }

    // MARK: - On a given connection

    /// Reads a store; nil if it does not exist.
    ///
    /// - Parameter lock: a statement of `ShelfStatements` that locks the store first. It must be another statement than the one that reads:
    ///   a statement that waits for a lock sees the locked row as it is afterwards, but the store's settings as they were before.
    static func storeIfExists(
        _ key: CatalogKey,
        _ connection: isolated PostgresConnection,
        _ lock: PostgresStatement? = nil
    ) throws -> ShelfRow.StoreRead? {
        if let lock {
            let id = try connection.query(storeID, [.text(key.text)]) { try $0.first { try $0.int4(0) } }
            guard let id else { return nil }
            try connection.executeDeferred(lock, [.int4(id)])
        }
        return try connection.query(oneStore, [.text(key.text)]) { try $0.first { try ShelfRow.store($0) } }
    }

    /// Reads a store, as `storeIfExists` does.
    ///
    /// - Throws: `notFound`.
    static func store(
        _ key: CatalogKey,
        _ connection: isolated PostgresConnection,
        _ lock: PostgresStatement? = nil
    ) throws -> ShelfRow.StoreRead {
        guard let found = try storeIfExists(key, connection, lock) else {
            throw CatalogError.notFound("store “\(key)”")
        }
        return found
    }

    /// Reads a shelf on a given connection.
    static func head(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ connection: isolated PostgresConnection
    ) throws -> ShelfHead {
        let found = try connection.query(oneHead, [.text(store.text), .text(shelf.text)]) {
            try $0.first { try ShelfRow.head($0) }
        }
        if let found { return found }
        _ = try self.store(store, connection)
        throw CatalogError.notFound("shelf “\(shelf)”")
    }

    // MARK: - Statements

    static let allStores: PostgresStatement = "SELECT \(ShelfRow.storeColumns) FROM \(ShelfRow.stores) ORDER BY s.key"

    static let oneStore: PostgresStatement = "SELECT \(ShelfRow.storeColumns) FROM \(ShelfRow.stores) WHERE s.key = $1"

    static let storeID: PostgresStatement = "SELECT store_id FROM store WHERE key = $1"

    static let oneHead: PostgresStatement = """
        SELECT \(ShelfRow.storeColumns), \(ShelfRow.stateColumns)
        FROM \(ShelfRow.stores) JOIN shelf h ON h.store_id = s.store_id AND h.key = $2 AND h.deleted_at IS NULL WHERE s.key = $1
        """
    /// The versions of shelves and their stores, by location; shared by many reads.
    static let versions: PostgresStatement = """
        SELECT w.number, t.version, h.version
        FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS w (store_id, shelf_id, number)
        JOIN shelf h ON h.store_id = w.store_id AND h.shelf_id = w.shelf_id AND h.deleted_at IS NULL
        JOIN store_state t ON t.store_id = h.store_id
        """

    /// Returns the query for the version of one shelf.
    static func versionQuery(_ location: ShelfLocation) -> PostgresQuery {
        PostgresQuery(versions, [Int64(location.storeID), Int64(location.shelfID)].map { .int8Array([$0]) })
    }

    /// Reads the version in a row of `versions`.
    static func version(_ row: borrowing PostgresRow) throws -> ShelfVersion {
        ShelfVersion(store: try row.int8(1), shelf: try row.int8(2))
    }
}
