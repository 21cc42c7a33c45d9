internal import Catalog
internal import LibPQ
internal import Shelves

/// Pages of a shelf with all shelves below it, and of all shelves of a store.
///
/// Like a page of one shelf, such a page is read again if something changes in between, and after some attempts in one transaction.
extension PostgresPageStore {
    /// A union with the basis of a page.
    private struct UnionRead: Sendable {
        let basis: PageBasis
        let found: ShelfUnions.Found

        init(_ head: ShelfHead, _ views: RememberedViews, _ found: ShelfUnions.Found) {
            basis = PageBasis(head: head, views: views, union: found.union)
            self.found = found
        }

        var key: ShelfMemory.TableKey { .union(basis.head.location) }
    }

    private static let unionAttempts = 2

    func unionBasis(_ request: PageRequest, _ source: ReadSource) async throws -> PageBasis {
        try await union(request, source).basis
    }

    func unionPage<Items: PageItems>(
        _ request: PageRequest,
        _ items: @escaping @Sendable (PlannedPage) -> Items,
        _ source: ReadSource
    ) async throws -> PageOf<Items> {
        let read = try await union(request, source)
        let (planned, shelf) = (try PlannedPage(request, read.basis), read.found.shelf)
        let view = await shelves.view(planned.plan, of: shelf, at: read.key)
        let place = Self.place(planned.plan.after, in: read.basis.head.store)
        var page = try Selection(planned.plan, view, of: shelf, after: place).page(planned, items(planned))
        if !planned.plan.facets.isEmpty {
            page.facets = await shelves.facets(planned.plan, of: shelf, at: read.key)
        }
        return page
    }

    private func union(_ request: PageRequest, _ source: ReadSource) async throws -> UnionRead {
        for _ in 0..<Self.unionAttempts {
            if let read = try await readUnion(request, source) { return read }
        }
        return try await inTransaction(source) { try readUnion(request, $0, $1) }
    }

    // MARK: - Statement by statement

    /// Returns the union at the versions of its shelves, which are read; nil if one of them changes meanwhile.
    ///
    /// - Throws: `notFound`.
    private func readUnion(_ request: PageRequest, _ source: ReadSource) async throws -> UnionRead? {
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
        guard found.members.agrees(with: head), let union = try await unions.union(head, found.members, source) else {
            return nil
        }
        return UnionRead(head, found.views, union)
    }

    // MARK: - In a transaction

    /// Runs a read in a transaction, again if it returns nil, as it may on Citus, whose transactions see what others commit meanwhile.
    private func inTransaction<T: Sendable>(
        _ source: ReadSource,
        _ read: @escaping @Sendable (ShelfMemory.Load, isolated PostgresConnection) throws -> T?
    ) async throws -> T {
        let load = shelves.beginLoad(source)
        return try await source.snapshot(within: .shelf) { connection in
            for _ in 0..<Self.attempts {
                if let found = try read(load, connection) { return found }
            }
            throw CatalogError.unavailable
        }
    }

    private func readUnion(
        _ request: PageRequest,
        _ load: ShelfMemory.Load,
        _ connection: isolated PostgresConnection
    ) throws -> UnionRead? {
        let basis = try basis(of: request, connection)
        let members = try members(request, basis.head, connection)
        guard members.agrees(with: basis.head), let found = try unions.union(basis.head, members, load, connection)
        else { return nil }
        return UnionRead(basis.head, basis.views, found)
    }

    /// Reads a union with its basis; nil if a shelf changes meanwhile.
    func unionTable(
        _ request: PageRequest,
        _ load: ShelfMemory.Load,
        _ connection: isolated PostgresConnection
    ) throws -> (basis: PageBasis, shelf: ShelfSnapshot, key: ShelfMemory.TableKey)? {
        try readUnion(request, load, connection).map { ($0.basis, $0.found.shelf, $0.key) }
    }

    private func members(
        _ request: PageRequest,
        _ head: ShelfHead,
        _ connection: isolated PostgresConnection
    ) throws -> ShelfUnions.Members {
        let id = head.location.storeID
        let query = ShelfUnions.Members.query(id, request.shelf)
        return try connection.query(query.statement, query.parameters) { try ShelfUnions.Members($0, of: id) }
    }
}
