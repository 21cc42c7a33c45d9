internal import Catalog
internal import Collation
internal import LibPQ

/// Stores and shelves in PostgreSQL.
struct PostgresShelfStore: ShelfStore {
    let database: Database

    var lookup: ShelfLookup { ShelfLookup(database: database) }

    func stores() async throws(CatalogError) -> [Store] {
        try await database.mappingErrors { try await lookup.readStores().map(\.store) }
    }

    func store(_ key: CatalogKey) async throws(CatalogError) -> Store {
        try await database.mappingErrors { try await lookup.readStore(key).store }
    }

    func shelf(_ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError) -> ShelfHead {
        try await database.mappingErrors { try await lookup.readHead(store, shelf).head }
    }

    func shelves(_ request: ShelvesRequest) async throws(CatalogError) -> ShelvesPage {
        try await database.mappingErrors {
            let (read, language) = try await readShelves(request)
            let shown = Array(read.prefix(request.limit))
            let last = read.count > request.limit ? shown.last : nil
            let next = last.map { Self.cursor(request, in: language, $0.state, $0.position) }
            return ShelvesPage(shelves: shown.map(\.state), next: next)
        }
    }

    private typealias ListedShelf = (state: ShelfState, position: [UInt8])

    /// Reads the shelves of a page and the next one, and the language by whose rules they are ordered.
    private func readShelves(_ request: ShelvesRequest) async throws -> (shelves: [ListedShelf], language: String) {
        let statement = Self.shelves(request.sort, isFirst: request.after == nil).named("PostgresShelfStore.shelves")
        return try await attempting(4) {
            let store = try await lookup.readStore(request.store)
            let language = store.store.language
            let place = try request.after.map { after in
                guard after.scope == request.scope(in: language), after.sort == request.sort.rawValue else {
                    throw CatalogError.invalidCursor
                }
                return try Self.place(after, of: request.sort, in: language)
            }
            let query = PostgresQuery(statement, [.int4(store.id), .int8(Int64(request.limit + 1))] + (place ?? []))
            let read: (shelves: [ListedShelf], language: String) = try await database.router.shortReads(
                of: .store(store.id)
            )
            .read(
                [query],
                into: ([], language)
            ) { value, _, rows in
                value.shelves = try rows.map { (try ShelfRow.state($0), try $0.bytea(ShelfRow.stateWidth)) }
                value.language = try rows.first { try $0.text(ShelfRow.stateWidth + 1) } ?? language
            }
            // The language may have changed since it was read. A page without shelves does not have it.
            if place == nil || (!read.shelves.isEmpty && read.language == language) { return read }
            if read.shelves.isEmpty, try await lookup.readStore(request.store).store.language == language {
                return read
            }
            return nil
        }
    }

    /// Returns the place of a cursor as parameters, in the order of the columns of its sort.
    ///
    /// - Parameter language: the language of the store.
    private static func place(
        _ cursor: Cursor,
        of sort: ShelfSort,
        in language: String
    ) throws(CatalogError) -> [PostgresValue] {
        let (value, key) = (cursor.values.first, PostgresValue.text(cursor.id))
        switch sort {
        case .position: if case .bytes(let position)? = value { return [.bytea(position), key] }
        case .name, .nameDescending:
            if case .text(let title)? = value {
                return [.bytea(LanguageCollator.of(language).key(title)), .text(title), key]
            }
        case .modified, .modifiedDescending: if case .integer(let time)? = value { return [.timestamptz(time), key] }
        }
        throw .invalidCursor
    }

    private static func cursor(
        _ request: ShelvesRequest,
        in language: String,
        _ last: ShelfState,
        _ position: [UInt8]
    ) -> Cursor {
        let value: SortValue =
            switch request.sort {
            case .position: .bytes(position)
            case .name, .nameDescending: .text(last.shelf.title)
            case .modified, .modifiedDescending: .integer(last.modifiedAt.microseconds)
            }
        return Cursor(
            scope: request.scope(in: language),
            sort: request.sort.rawValue,
            source: .query,
            values: [value],
            id: last.shelf.key.text
        )
    }

    private static func shelves(_ sort: ShelfSort, isFirst: Bool) -> PostgresStatement {
        let (columns, isDescending): ([SQL], Bool) =
            switch sort {
            case .position: (["h.position", "h.key"], false)
            case .name: (["h.title_key", "h.title", "h.key"], false)
            case .nameDescending: (["h.title_key", "h.title", "h.key"], true)
            case .modified: (["h.modified_at", "h.key"], false)
            case .modifiedDescending: (["h.modified_at", "h.key"], true)
            }
        let order: SQL = isDescending ? " DESC" : ""
        let comparison: SQL = isDescending ? "<" : ">"
        let place = columns.indices.map { "$\($0 + 3)" as SQL }.joined()
        let cursorCondition: SQL = isFirst ? "" : " AND (\(columns.joined())) \(comparison) (\(place))"
        return """
            SELECT \(ShelfRow.stateColumns), h.position, \(ShelfRow.language(ofStore: "$1")) FROM shelf h WHERE h.store_id = $1 AND h.deleted_at IS NULL\(cursorCondition)
            ORDER BY \(columns.map { "\($0)\(order)" as SQL }.joined()) LIMIT $2
            """
    }
}
