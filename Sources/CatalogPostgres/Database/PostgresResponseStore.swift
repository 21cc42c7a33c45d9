internal import Catalog
internal import LibPQ

/// Recorded responses in PostgreSQL.
struct PostgresResponseStore: ResponseStore {
    let database: Database
    private var lookup: ShelfLookup { ShelfLookup(database: database) }

    func firstResponse(_ key: String, in store: CatalogKey?) async throws(CatalogError) -> FirstResponse? {
        try await database.mappingErrors {
            let storeID = try await ownerID(store)
            return try await database.writes.perform(within: .lookup, of: .store(storeID)) {
                try IdempotencyRecords(storeID: storeID).firstResponse(key, $0)
            }
        }
    }

    func record(
        _ response: RecordedResponse,
        of call: IdempotentCall<RecordedResponse>,
        in store: CatalogKey?
    ) async throws(CatalogError) {
        try await database.mappingErrors {
            try await database.writes.transaction(within: .lookup, of: store.flatMap(database.owner)) { connection in
                // The lock keeps the store from being deleted meanwhile.
                let storeID = try store.map {
                    try lookup.store($0, connection, locking: ShelfStatements.lockStoreAgainstDeletion).id
                }
                try IdempotencyRecords(storeID: storeID ?? 0).record(response, call, connection)
            }
        }
    }

    /// Returns the id of the store that a response belongs to; 0 for none.
    private func ownerID(_ store: CatalogKey?) async throws -> Int32 {
        if let store { try await lookup.readStore(store).id } else { 0 }
    }

    /// Deletes expired responses and returns their number.
    func sweep() async throws(CatalogError) -> Int {
        try await database.mappingErrors {
            try await database.batch.transaction(within: .edit) { try IdempotencyRecords.sweep($0) }
        }
    }
}
