internal import Catalog
internal import LibPQ

// Whole orders.
extension PostgresPageStore {
    func order(_ request: OrderRequest) async throws(CatalogError) -> ShelfOrder {
        try request.check()
        return try await database.mappingErrors {
            // All statements see one snapshot, so that the version is that of the order.
            try await database.reading(request.address.store, for: request.user) { source in
                try await prepareUnion(request.address, request.showsDescendants, source)
                let load = shelves.beginLoad(source)
                return try await source.snapshot(within: .shelf) { connection in
                    try orders(
                        request.address,
                        [request.view],
                        includesDescendants: request.showsDescendants,
                        of: request.user,
                        first: nil,
                        load,
                        connection
                    )[0]
                }
            }
        }
    }

    /// Merges the shelves of a request that probably shows several, once for all requests that wait, so that its transaction has them in memory.
    func prepareUnion(_ address: ShelfAddress, _ includesDescendants: Bool?, _ source: ReadSource) async throws {
        var request = PageRequest(store: address.store, shelf: address.shelf)
        request.includesDescendants = includesDescendants
        let isUnion = memory.basis(of: request).map { request.showsDescendants(of: $0.head) }
        if isUnion ?? (includesDescendants == true) { _ = try await unionBasis(request, source) }
    }

    /// Returns the ids that several views of a shelf show, from one snapshot.
    func orders(_ address: ShelfAddress, _ views: [ShelfView]) async throws(CatalogError) -> [ShelfOrder] {
        try await database.mappingErrors {
            let load = shelves.beginLoad(ReadSource(database))
            return try await database.longReads.snapshot(within: .shelf, of: database.owner(address.store)) {
                try orders(address, views, includesDescendants: false, of: nil, first: nil, load, $0)
            }
        }
    }

    /// Returns the ids of a shelf's products in the order of a sort, in a transaction that has locked the shelf, but not changed it yet.
    func ids(
        _ address: ShelfAddress,
        by sort: Sort,
        _ connection: isolated PostgresConnection
    ) throws -> [String] {
        let request = PageRequest(store: address.store, shelf: address.shelf, sort: sort)
        let head = try basis(of: request, connection).head
        return try shelves.locked(head, connection).ids(try request.plan(for: head))
    }

    /// Reads the basis of a page on a given connection.
    func basis(of request: PageRequest, _ connection: isolated PostgresConnection) throws -> PageBasis {
        let head = try ShelfLookup(database: database).head(of: request, connection)
        var views = RememberedViews.none
        for query in Self.viewsQuery(request) {
            views = try connection.query(query.statement, query.parameters) { try PostgresSettingsStore.views($0) }
        }
        return PageBasis(head: head, views: views)
    }
}
