internal import Catalog
internal import LibPQ

/// Shelves with all shelves below them, and all shelves of a store.
extension PostgresPageStore {
    /// Reads the shelves of a union, and returns the union at their versions; nil if a shelf changes meanwhile.
    ///
    /// - Throws: `notFound`.
    func readUnion(_ request: PageRequest, _ source: ReadSource) async throws -> LoadedShelf? {
        struct Found: Sendable {
            var head: ShelfHead?
            var views = RememberedViews.none
            var members = ShelfUnions.Members()
        }
        let lookup = ShelfLookup(database: database)
        let views = Self.viewsQuery(request)
        let found = try await lookup.reading(request.store, source) { id -> (ShelfHead, Found)? in
            let head = ShelfLookup.headQuery(id, request)
            let queries = [head, ShelfUnions.Members.query(id, request.shelf)] + views
            let found = try await source.read(queries, into: Found()) { found, index, rows in
                switch index {
                case 0: found.head = try ShelfLookup.head(rows, of: request)
                case 1: found.members = try ShelfUnions.Members(rows, of: id)
                default: found.views = try PostgresSettingsStore.views(rows)
                }
            }
            return found.head.map { ($0, found) }
        }
        guard let (head, found) = found else {
            _ = try await lookup.readStore(request.store, source)
            // A store is created at this moment, or its shelf is missing.
            guard let shelf = request.shelf else { return nil }
            throw CatalogError.notFound("shelf “\(shelf)”")
        }
        guard found.members.agrees(with: head) else { return nil }
        return try await unions.union(head, found.members, source).map { loadedShelf(head, found.views, $0) }
    }

    /// The same in a transaction, with the basis of the upper shelf.
    func readUnion(
        _ request: PageRequest,
        _ basis: PageBasis,
        _ load: ShelfMemory.Load,
        _ connection: isolated PostgresConnection
    ) throws -> LoadedShelf? {
        let query = ShelfUnions.Members.query(basis.head.location.storeID, request.shelf)
        let members = try connection.query(query.statement, query.parameters) {
            try ShelfUnions.Members($0, of: basis.head.location.storeID)
        }
        guard members.agrees(with: basis.head) else { return nil }
        return try unions.union(basis.head, members, load, connection).map { loadedShelf(basis.head, basis.views, $0) }
    }

    private func loadedShelf(_ head: ShelfHead, _ views: RememberedViews, _ found: ShelfUnions.Found) -> LoadedShelf {
        let basis = PageBasis(head: head, views: views, union: found.union)
        return LoadedShelf(basis: basis, shelf: found.shelf, key: .union(head.location), memory: memory)
    }
}
