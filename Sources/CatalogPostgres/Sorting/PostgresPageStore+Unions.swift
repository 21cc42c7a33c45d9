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

        /// Whether shelves that were read later have the versions of the union, and their store that of the basis.
        func isConfirmed(by members: ShelfUnions.Members) -> Bool {
            members.digest == found.members.digest && members.agrees(with: basis.head)
        }
    }

    /// Products with the versions after them.
    private struct ProductsRead: Sendable {
        var products: [SKU: Product] = [:]
        var members = ShelfUnions.Members()
    }

    private static let unionAttempts = 2

    func unionBasis(_ request: PageRequest, _ source: ReadSource) async throws -> PageBasis {
        for _ in 0..<Self.unionAttempts {
            if let read = try await readUnion(request, source) { return read.basis }
        }
        return try await inTransaction(source) { try readUnion(request, $0, $1)?.basis }
    }

    func unionPage<Items: PageItems>(
        _ request: PageRequest,
        _ items: @escaping @Sendable (PlannedPage) -> Items,
        _ source: ReadSource
    ) async throws -> PageOf<Items> {
        for _ in 0..<Self.unionAttempts {
            if let read = try await readUnion(request, source),
                let page = try await page(request, read, items, source)
            {
                return page
            }
        }
        return try await inTransaction(source) { load, connection in
            guard let read = try readUnion(request, load, connection) else { return nil }
            return try page(request, read, items, connection)
        }
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

    /// Returns a page; nil if a shelf changes before all products are read.
    private func page<Items: PageItems>(
        _ request: PageRequest,
        _ read: UnionRead,
        _ items: @Sendable (PlannedPage) -> Items,
        _ source: ReadSource
    ) async throws -> PageOf<Items>? {
        let (planned, shelf) = (try PlannedPage(request, read.basis), read.found.shelf)
        let view = await shelves.view(planned.plan, of: shelf, at: read.key)
        let selection = Selection(planned.plan, view, of: shelf, after: Self.place(planned))
        var page = PageRead(items: items(planned))
        selection.add(to: &page, nil)
        if page.count < selection.rows.count {
            let id = read.basis.head.location.storeID
            // The products are of the union's versions only if these are still the current ones.
            let queries = [selection.missingQuery(page, id), ShelfUnions.Members.query(id, request.shelf)]
            let found = try await source.read(queries, into: ProductsRead()) { found, index, rows in
                if index == 0 {
                    found.products = try Self.products(rows)
                } else {
                    found.members = try ShelfUnions.Members(rows, of: id)
                }
            }
            guard read.isConfirmed(by: found.members), selection.complete(&page, found.products) else { return nil }
        }
        var result = selection.page(planned, page.items)
        if !planned.plan.facets.isEmpty {
            result.facets = await shelves.facets(planned.plan, of: shelf, at: read.key)
        }
        return result
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

    private func page<Items: PageItems>(
        _ request: PageRequest,
        _ read: UnionRead,
        _ items: @Sendable (PlannedPage) -> Items,
        _ connection: isolated PostgresConnection
    ) throws -> PageOf<Items>? {
        let (planned, shelf) = (try PlannedPage(request, read.basis), read.found.shelf)
        let view = shelves.viewNow(planned.plan, of: shelf, at: read.key)
        let selection = Selection(planned.plan, view, of: shelf, after: Self.place(planned))
        var page = PageRead(items: items(planned))
        selection.add(to: &page, nil)
        let query = selection.missingQuery(page, read.basis.head.location.storeID)
        let products = try connection.query(query.statement, query.parameters) { try Self.products($0) }
        let members = try members(request, read.basis.head, connection)
        guard read.isConfirmed(by: members), selection.complete(&page, products) else { return nil }
        var result = selection.page(planned, page.items)
        if !planned.plan.facets.isEmpty {
            result.facets = shelves.facetsNow(planned.plan, of: shelf, at: read.key)
        }
        return result
    }

    private static func products(_ rows: borrowing PostgresRows) throws -> [SKU: Product] {
        Dictionary(try rows.map { try ProductRow.read($0) }.map { ($0.sku, $0) }) { first, _ in first }
    }

    private static func place(_ planned: PlannedPage) -> ViewPlace? {
        place(planned.plan.after, in: planned.basis.head.store)
    }
}

extension PostgresPageStore.Selection {
    /// Adds the rest of the products to a page.
    ///
    /// - Returns: false if one is missing.
    fileprivate func complete(
        _ page: inout PostgresPageStore.PageRead<some PageItems>,
        _ products: [SKU: Product]
    ) -> Bool {
        add(to: &page) { sku, popularity in
            var product = products[sku]
            product?.popularity = popularity
            return product
        }
        return page.count == rows.count
    }

    /// The query for the products that a page does not have yet.
    fileprivate func missingQuery(_ page: PostgresPageStore.PageRead<some PageItems>, _ storeID: Int32) -> PostgresQuery
    {
        let missing = skus.dropFirst(page.count).map(\.text)
        return PostgresQuery(PostgresProductStore.productsByKey, [.int4(storeID), .textArray(missing)])
    }

    fileprivate func page<Items: PageItems>(_ planned: PlannedPage, _ items: Items) -> PageOf<Items> {
        PageOf(planned, items, next: next(planned.plan), matches: count)
    }
}
