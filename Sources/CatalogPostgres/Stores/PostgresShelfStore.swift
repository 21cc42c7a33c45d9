internal import Catalog
internal import CatalogJSON
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
        try await database.mappingErrors { try await lookup.readHead(store, shelf) }
    }

    func shelves(_ request: ShelvesRequest) async throws(CatalogError) -> ShelvesPage {
        try await database.mappingErrors {
            let store = try await lookup.readStore(request.store)
            let after = request.after
            guard after == nil || (after!.scope == request.scope && after!.sort == request.sort.rawValue) else {
                throw CatalogError.invalidCursor
            }
            let value = try after.map { try Self.parameter($0, of: request.sort) }
            let query = PostgresQuery(
                Self.shelves(request.sort, isFirst: after == nil).named("PostgresShelfStore.shelves"),
                [.int4(store.id), .int8(Int64(request.limit + 1))] + (value.map { [$0, .text(after!.id)] } ?? [])
            )
            let read: [(ShelfState, [UInt8])] = try await database.pages.read([query], into: []) { value, _, rows in
                value = try rows.map { (try ShelfRow.state($0), try $0.bytea(ShelfRow.stateWidth)) }
            }
            let shown = Array(read.prefix(request.limit))
            let next: Cursor? = read.count > request.limit ? shown.last.map { Self.cursor(request, $0.0, $0.1) } : nil
            return ShelvesPage(shelves: shown.map(\.0), next: next)
        }
    }

    /// Returns a cursor's value as a parameter of its sort's type.
    private static func parameter(_ cursor: Cursor, of sort: ShelfSort) throws(CatalogError) -> PostgresValue {
        let value = cursor.values.first
        switch sort {
        case .position: if case .bytes(let key)? = value { return .bytea(key) }
        case .name, .nameDescending: if case .text(let title)? = value { return .text(title) }
        case .modified, .modifiedDescending: if case .integer(let time)? = value { return .timestamptz(time) }
        }
        throw .invalidCursor
    }

    private static func cursor(_ request: ShelvesRequest, _ last: ShelfState, _ position: [UInt8]) -> Cursor {
        let value: SortValue =
            switch request.sort {
            case .position: .bytes(position)
            case .name, .nameDescending: .text(last.shelf.title)
            case .modified, .modifiedDescending: .integer(last.modifiedAt.microseconds)
            }
        return Cursor(
            scope: request.scope,
            sort: request.sort.rawValue,
            source: .query,
            values: [value],
            id: last.shelf.key.text
        )
    }

    private static func shelves(_ sort: ShelfSort, isFirst: Bool) -> PostgresStatement {
        let (column, isDescending): (SQL, Bool) =
            switch sort {
            case .position: ("position", false)
            case .name: ("title", false)
            case .nameDescending: ("title", true)
            case .modified: ("modified_at", false)
            case .modifiedDescending: ("modified_at", true)
            }
        let order: SQL = isDescending ? " DESC" : ""
        let comparison: SQL = isDescending ? "<" : ">"
        let cursorCondition: SQL = isFirst ? "" : " AND (h.\(column), h.key) \(comparison) ($3, $4)"
        return """
            SELECT \(ShelfRow.stateColumns), h.position FROM shelf h
            WHERE h.store_id = $1 AND h.deleted_at IS NULL\(cursorCondition) ORDER BY h.\(column)\(order), h.key\(order) LIMIT $2
            """
    }
}
