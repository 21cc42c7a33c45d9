internal import Catalog
internal import LibPQ

extension ImportSession {
    /// Compares the staged rows with the catalog and keeps only those that differ.
    func resolve() async throws {
        let (id, columns, count) = (id, columns, summary.read - summary.rejected)
        // The staged rows are compared with each other, or with all rows of their stores: lookups would not help.
        (hasRepeats, summary.repeated) = try await compareTransaction(hashing: true) { connection in
            let hasRepeats = try connection.query(ImportStatements.findRepeats, [id.parameter]) { $0.count > 0 }
            guard hasRepeats else { return (false, 0) }
            try connection.execute(ImportStatements.applyLastRows, [id.parameter])
            return (true, try connection.execute(ImportStatements.dropRepeated, [id.parameter]))
        }
        if options.prunes {
            guard summary.rejected == 0 else {
                throw CatalogError.unprocessable(
                    field: "file",
                    detail:
                        "pruning requires a file without rejected rows (\(summary.rejected) were rejected); correct them, or import "
                        + "without pruning"
                )
            }
            try await findStale()
        }
        let (unchanged, updated, inserted) = try await compareTransaction(
            hashing: count > ImportStatements.hashingLimit
        ) { connection in
            let unchanged = try ImportStatements.dropUnchanged(columns).reduce(0) {
                try $0 + connection.execute($1, [id.parameter])
            }
            let (updated, all) = try connection.query(ImportStatements.countChanged, [id.parameter]) {
                try $0.first { (try $0.int(0), try $0.int(1)) } ?? (0, 0)
            }
            return (unchanged, updated, all - updated)
        }
        summary.unchanged = unchanged
        summary.updated = updated
        summary.inserted = inserted
        summary.storesCreated = stores.values.count { !$0.exists }
        summary.shelvesCreated = newShelves
    }

    /// Runs a comparison, with hash joins or with index lookups.
    private func compareTransaction<T: Sendable>(
        hashing: Bool,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await transaction { [id] connection in
            try id.check(connection)
            if hashing {
                try connection.set("enable_nestloop", "off")
                try connection.set("enable_mergejoin", "off")
            }
            return try body(connection)
        }
    }

    private func findStale() async throws {
        let id = id
        let (placements, products) = try await compareTransaction(hashing: true) { connection in
            (
                try connection.query(ImportStatements.stalePlacements, [id.parameter]) {
                    try $0.map { (try $0.int4(0), try $0.int4(1), try $0.text(2)) }
                },
                try connection.query(ImportStatements.staleProducts, [id.parameter]) {
                    try $0.map { (try $0.int4(0), try $0.text(1)) }
                }
            )
        }
        let pairs = stores.compactMap { key, store in store.id.map { ($0, key) } }
        let keys = Dictionary(uniqueKeysWithValues: pairs)
        // Stores created after the file was read are not pruned.
        for (store, shelf, sku) in placements {
            if let key = keys[store] { stores[key]?.stalePlacements.append((shelf, sku)) }
        }
        for (store, sku) in products { if let key = keys[store] { stores[key]?.staleProducts.append(sku) } }
        summary.removedPlacements = placements.count
        summary.removedProducts = products.count
    }
}
