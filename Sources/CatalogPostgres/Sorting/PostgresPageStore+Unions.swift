internal import Catalog
internal import LibPQ

/// Shelves with all shelves below them, and all shelves of a store.
extension PostgresPageStore {
    /// Reads the shelves of a union, and returns the union at their versions; nil if a shelf changes meanwhile.
    ///
    /// - Throws: `notFound`.
    func readUnion(_ request: PageRequest, _ source: ReadSource) async throws -> LoadedShelf? {
        struct UnionRows: Sendable {
            var keyed: ShelfUnions.KeyedHead?
            var sorts = RememberedSorts.none
            var members = ShelfUnions.Members()
        }
        let lookup = ShelfLookup(database: database)
        let sorts = Self.sortsQuery(request)
        let found = try await lookup.withStoreID(of: request.store, source) {
            id -> (ShelfUnions.KeyedHead, UnionRows)? in
            let head =
                request.shelf.map { ShelfLookup.headQuery(id, request.store, $0) }
                ?? PostgresQuery(ShelfLookup.oneStore, [.int4(id), .text(request.store.text)])
            let queries = [head, ShelfUnions.Members.query(id, request.shelf)] + sorts
            let found = try await source.read(queries, into: UnionRows()) { found, index, rows in
                switch index {
                case 0:
                    found.keyed = try rows.first { row in
                        try request.shelf == nil
                            ? ShelfUnions.KeyedHead(ShelfRow.store(row)) : ShelfUnions.KeyedHead(ShelfRow.head(row))
                    }
                case 1: found.members = try ShelfUnions.Members(rows, of: id)
                default: found.sorts = try PostgresSettingsStore.sorts(rows)
                }
            }
            return found.keyed.map { ($0, found) }
        }
        guard let (keyed, found) = found else {
            _ = try await lookup.readStore(request.store, source)
            // A store is created at this moment, or its shelf is missing.
            guard let shelf = request.shelf else { return nil }
            throw CatalogError.notFound("shelf “\(shelf)”")
        }
        // The shelf may no longer include those below it.
        guard found.members.agree(with: keyed), request.showsUnion(of: keyed.head) else { return nil }
        guard let attributes = try await attributeSets.attributes(of: keyed.head, in: keyed.key.storeID, source) else {
            return nil
        }
        guard let union = try await unions.union(keyed, found.members, source) else { return nil }
        return try await withRules(loadedShelf(keyed, found.sorts, attributes, union), request, source)
    }

    /// The same in a transaction that has read the head of the union.
    func readUnion(
        _ request: PageRequest,
        _ keyed: ShelfUnions.KeyedHead,
        _ load: ShelfLoad,
        _ connection: isolated PostgresConnection
    ) throws -> LoadedShelf? {
        let storeID = keyed.key.storeID
        let query = ShelfUnions.Members.query(storeID, request.shelf)
        let members = try connection.query(query.statement, query.parameters) {
            try ShelfUnions.Members($0, of: storeID)
        }
        guard members.agree(with: keyed),
            let attributes = try attributeSets.attributes(of: keyed.head, in: storeID, connection)
        else { return nil }
        let sorts = try sorts(of: request, connection)
        guard let union = try unions.union(keyed, members, load, connection) else { return nil }
        return try withRules(loadedShelf(keyed, sorts, attributes, union), request, connection)
    }

    private func loadedShelf(
        _ keyed: ShelfUnions.KeyedHead,
        _ sorts: RememberedSorts,
        _ attributes: ResolvedAttributes,
        _ found: ShelfUnions.LoadedUnion
    ) -> LoadedShelf {
        let basis = PageBasis(head: keyed.head, sorts: sorts, union: found.union, attributes: attributes)
        return LoadedShelf(basis: basis, shelf: found.shelf, key: .union(keyed.key), caches: memory.caches)
    }
}
