internal import Catalog
internal import LibPQ
internal import Shelves

/// Pages of a shelf with all shelves below it.
///
/// While a union is in memory at the versions of all its shelves, a page reads these versions and nothing else. Otherwise everything is read in
/// one transaction.
extension PostgresPageStore {
    /// A union with the basis of a page.
    private struct UnionRead: Sendable {
        let basis: PageBasis
        let shelf: ShelfSnapshot

        init(_ head: ShelfHead, _ views: RememberedViews, _ found: (union: ShelfUnion, shelf: ShelfSnapshot)) {
            basis = PageBasis(head: head, views: views, union: found.union)
            shelf = found.shelf
        }
    }

    /// The shelves of a union, with the version of their store, from one snapshot.
    private struct Members: Sendable {
        var storeVersion: Int64 = 0
        var shelves: [ShelfMemory.UnionMember] = []

        init() {}

        init(_ rows: borrowing PostgresRows, of storeID: Int32) throws {
            try rows.forEach { row in
                guard let key = CatalogKey(try row.text(1)) else {
                    throw PostgresError(.decoding, "invalid stored shelf")
                }
                let location = ShelfLocation(storeID: storeID, shelfID: try row.int4(0))
                shelves.append(ShelfMemory.UnionMember(location: location, key: key, version: try row.int8(2)))
                storeVersion = try row.int8(3)
            }
        }

        /// Whether they are from the same state as a head.
        func agree(with head: ShelfHead) -> Bool {
            storeVersion == head.storeVersion
                && shelves.contains { $0.location == head.location && $0.version == head.state.version }
        }
    }

    private static func membersQuery(_ id: Int32, _ shelf: CatalogKey) -> PostgresQuery {
        PostgresQuery(ShelfStatements.withDescendants, [.int4(id), .text(shelf.text)])
    }

    func unionBasis(_ request: PageRequest, _ source: ReadSource) async throws -> PageBasis {
        if let known = try await readUnion(request, source) { return known.basis }
        let load = shelves.beginLoad(source)
        return try await source.snapshot(within: .shelf) { connection in
            for _ in 0..<Self.attempts {
                if let found = try readUnion(request, load, connection) { return found.basis }
            }
            throw CatalogError.unavailable
        }
    }

    func unionPage<Items: PageItems>(
        _ request: PageRequest,
        _ items: @escaping @Sendable (PlannedPage) -> Items,
        _ source: ReadSource
    ) async throws -> PageOf<Items> {
        if let known = try await readUnion(request, source), let page = try await page(request, known, items) {
            return page
        }
        let load = shelves.beginLoad(source)
        return try await source.snapshot(within: .shelf) { connection in
            for _ in 0..<Self.attempts {
                guard let found = try readUnion(request, load, connection),
                    let page = try page(request, found, items, connection),
                    // Only on Citus can they have changed.
                    try readUnion(request, load, connection)?.basis.union == found.basis.union
                else { continue }
                return page
            }
            throw CatalogError.unavailable
        }
    }

    // MARK: - In memory

    /// Returns a union that is in memory at the current versions of its shelves, which are read; nil if it is not.
    private func readUnion(_ request: PageRequest, _ source: ReadSource) async throws -> UnionRead? {
        struct Found: Sendable {
            var head: ShelfHead?
            var views = RememberedViews.none
            var members = Members()
        }
        let views = Self.viewsQuery(request)
        let found = try await ShelfLookup(database: database).reading(request.store, source) { id -> Found? in
            let queries =
                [ShelfLookup.headQuery(id, request.store, request.shelf), Self.membersQuery(id, request.shelf)] + views
            return try await source.read(queries, into: Found()) { found, index, rows in
                switch index {
                case 0: found.head = try rows.first { try ShelfRow.head($0) }
                case 1: found.members = try Members(rows, of: id)
                default: found.views = try PostgresSettingsStore.views(rows)
                }
            }
        }
        guard let found, let head = found.head, found.members.agree(with: head),
            let known = shelves.union(head, found.members.shelves)
        else { return nil }
        return UnionRead(head, found.views, known)
    }

    /// Returns a page whose products its reader has; nil if one must be read.
    private func page<Items: PageItems>(
        _ request: PageRequest,
        _ read: UnionRead,
        _ items: @Sendable (PlannedPage) -> Items
    ) async throws -> PageOf<Items>? {
        let planned = try PlannedPage(request, read.basis)
        let key = ShelfMemory.TableKey.union(read.basis.head.location)
        let view = await shelves.view(planned.plan, of: read.shelf, at: key)
        let selection = Selection(planned.plan, view, of: read.shelf, after: Self.place(planned))
        var page = PageRead(items: items(planned))
        selection.add(to: &page, nil)
        guard page.count == selection.rows.count else { return nil }
        var result = selection.page(planned, page.items, scope: request.scope)
        if !planned.plan.facets.isEmpty {
            result.facets = await shelves.facets(planned.plan, of: read.shelf, at: key)
        }
        return result
    }

    // MARK: - In a transaction

    /// Returns the union at the versions of its shelves; nil if one of them changes meanwhile, on Citus.
    ///
    /// - Throws: `notFound`.
    private func readUnion(
        _ request: PageRequest,
        _ load: ShelfMemory.Load,
        _ connection: isolated PostgresConnection
    ) throws -> UnionRead? {
        let basis = try basis(of: request, connection)
        let id = basis.head.location.storeID
        let query = Self.membersQuery(id, request.shelf)
        let members = try connection.query(query.statement, query.parameters) { try Members($0, of: id) }
        guard members.agree(with: basis.head),
            let found = try shelves.loadUnion(basis.head, members.shelves, load, connection)
        else { return nil }
        return UnionRead(basis.head, basis.views, found)
    }

    /// Returns a page; nil if a product of it is gone, on Citus.
    private func page<Items: PageItems>(
        _ request: PageRequest,
        _ read: UnionRead,
        _ items: @Sendable (PlannedPage) -> Items,
        _ connection: isolated PostgresConnection
    ) throws -> PageOf<Items>? {
        let planned = try PlannedPage(request, read.basis)
        let location = read.basis.head.location
        let view = shelves.viewNow(planned.plan, of: read.shelf, at: .union(location))
        let selection = Selection(planned.plan, view, of: read.shelf, after: Self.place(planned))
        var page = PageRead(items: items(planned))
        selection.add(to: &page, nil)
        let missing = selection.skus.dropFirst(page.count).map(\.text)
        let products = try connection.query(
            PostgresProductStore.productsByKey,
            [.int4(location.storeID), .textArray(missing)]
        ) { rows in
            Dictionary(try rows.map { try ProductRow.read($0) }.map { ($0.sku, $0) }) { first, _ in first }
        }
        guard selection.add(to: &page, products) else { return nil }
        var result = selection.page(planned, page.items, scope: request.scope)
        if !planned.plan.facets.isEmpty {
            result.facets = shelves.facetsNow(planned.plan, of: read.shelf, at: .union(location))
        }
        return result
    }

    private static func place(_ planned: PlannedPage) -> ViewPlace? {
        place(planned.plan.after, in: planned.basis.head.store)
    }
}

extension PostgresPageStore.Selection {
    /// Adds the rest of the products to a page, with the scores by which they are sorted.
    ///
    /// - Returns: false if one is missing.
    fileprivate func add(
        to page: inout PostgresPageStore.PageRead<some PageItems>,
        _ products: [SKU: Product]
    ) -> Bool {
        for row in rows.dropFirst(page.count).lazy.map(Int.init) {
            let (sku, time, popularity) = (table.sku(row), table.modifiedAt(row), table.popularity(row))
            if !page.items.addKnown(sku, modifiedAt: time, popularity: popularity) {
                guard var product = products[sku] else { return false }
                product.popularity = popularity
                page.items.add(product)
            }
            page.count += 1
        }
        return true
    }

    fileprivate func page<Items: PageItems>(_ planned: PlannedPage, _ items: Items, scope: String) -> PageOf<Items> {
        PageOf(planned, items, next: next(planned.plan, scope: scope), matches: count)
    }
}
