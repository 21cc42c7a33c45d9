internal import Catalog
internal import LibPQ

/// Diffs in PostgreSQL.
struct PostgresDiffStore: DiffStore {
    let pages: PostgresPageStore

    func diff(_ request: DiffRequest) async throws(CatalogError) -> OrderDiff {
        try request.check()
        let start = ContinuousClock.now
        return try await pages.database.mappingErrors {
            try await pages.database.reading(request.store, for: request.user) { source in
                let address = ShelfAddress(request.store, request.shelf)
                try await pages.prepareUnion(address, request.showsDescendants, source)
                let load = pages.shelves.beginLoad(source)
                // All statements see one snapshot.
                return try await source.snapshot(within: .shelf) { connection in
                    let orders = try pages.orders(
                        address,
                        request.views,
                        includesDescendants: request.showsDescendants,
                        of: request.user,
                        first: request.limit,
                        load,
                        connection
                    )
                    let diff = try OrderDiff(request, orders)
                    var products: [Product] = []
                    if diff.includesProducts(for: request) {
                        products = try connection.query(
                            PostgresProductStore.productsByKey,
                            [.int4(orders[0].head.location.storeID), .textArray(diff.insertedIDs)]
                        ) { try $0.map { try ProductRow.read($0) } }
                    }
                    return diff.with(products, readDuration: ContinuousClock.now - start - diff.compareDuration)
                }
            }
        }
    }
}
