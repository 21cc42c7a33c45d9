internal import Catalog
internal import LibPQ

/// Manual orders in PostgreSQL.
struct PostgresManualOrderStore: ManualOrderStore {
    let database: Database
    let pages: PostgresPageStore
    let compactionSignal: CompactionSignal
    private var lookup: ShelfLookup { ShelfLookup(database: database) }

    func editOrder(
        _ request: OrderEditRequest,
        once call: IdempotentCall<ManualOrderOutcome>?
    ) async throws(CatalogError) -> ManualOrderOutcome {
        try request.edit.check()
        return try await database.mappingErrors {
            let (outcome, isCommitted) = try await database.writes.transaction(
                within: .shelf,
                of: database.owner(request.store)
            ) { connection in
                let store = try lookup.store(
                    request.store,
                    connection,
                    locking: ShelfStatements.lockStoreAgainstDeletion
                )
                let outcome = try IdempotencyRecords(storeID: store.id).performOnce(call, connection) {
                    try ManualOrderEditor.lockShelf(request, store.id, pages, connection).run(connection)
                }
                // Acquiring the lock already counted a change; roll back if nothing changed.
                let commits = outcome.change != nil && !request.isDryRun
                return commits ? .commit((outcome, true)) : .rollback((outcome, false))
            }
            if outcome.needsCompaction, isCommitted { compactionSignal.send() }
            if isCommitted { database.announcer.announce(.store(request.store)) }
            if isCommitted || request.isDryRun { return outcome }
            // Record the response even without a change: the same request could change the order later.
            return try await database.writes.transaction(within: .lookup, of: database.owner(request.store)) {
                connection in
                let store = try lookup.store(
                    request.store,
                    connection,
                    locking: ShelfStatements.lockStoreAgainstDeletion
                )
                return try IdempotencyRecords(storeID: store.id).performOnce(call, connection) { outcome }
            }
        }
    }

    func orderHistory(
        _ store: CatalogKey,
        _ shelf: CatalogKey
    ) async throws(CatalogError) -> [OrderChange] {
        try await database.mappingErrors {
            let location = try await lookup.readHead(store, shelf).location
            return try await database.writes.perform(within: .lookup, of: .store(location.storeID)) {
                try ManualOrderEditor.history(location.storeID, location.shelfID, $0)
            }
        }
    }
}
