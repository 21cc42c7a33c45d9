internal import Catalog
internal import CatalogJSON
internal import LibPQ
internal import Ordering

extension ImportSession {
    /// Applies the changes, one transaction per store, in key order.
    ///
    /// The actual counts replace the predicted ones, because other writers may have interfered.
    func apply() async throws {
        let id = id
        let changedRows = summary.updated + summary.inserted
        summary.clearChanges()
        let changed = Set(
            try await transaction { connection in
                try connection.query(
                    ImportStatements.stagedStores,
                    [id.parameter]
                ) {
                    try $0.map { try $0.text(0) }
                }
            }
        )
        for (key, store) in stores.sorted(by: { $0.key < $1.key }) {
            let isStale = !store.stalePlacements.isEmpty || !store.staleProducts.isEmpty
            guard changed.contains(key.text) || isStale || (!store.exists && summary.read > 0) else { continue }
            let application = ImportApplication(
                id: id,
                key: key,
                store: store,
                columns: columns,
                hasRepeats: hasRepeats,
                changed: changedRows
            )
            summary.add(try await transaction { try application.run($0) })
        }
    }

    /// Runs a block in one transaction, with up to three retries of a retryable error.
    func transaction<T: Sendable>(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await PostgresPool.retrying { try await connection.perform { try $0.transaction("", body) } }
    }
}
