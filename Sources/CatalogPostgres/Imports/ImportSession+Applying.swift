internal import Catalog
internal import CatalogImport
internal import LibPQ
internal import Synchronization

extension ImportSession {
    /// The stores that are not changed yet, shared by the connections.
    private final class Queue: Sendable {
        private let rest: Mutex<ArraySlice<ImportApplication>>

        init(_ applications: [ImportApplication]) { rest = Mutex(applications[...]) }

        func next() -> ImportApplication? { rest.withLock { $0.popFirst() } }

        func clear() { rest.withLock { $0 = [] } }
    }

    /// The number of changed rows from which two stores are changed at the same time.
    private static let parallelRows = 5000

    /// Applies the changes, one transaction per store, begun in key order. After a failure, no further store is changed.
    ///
    /// The actual counts replace the predicted ones, because other writers may have interfered.
    func apply() async throws {
        let (id, lookup) = (id, lookup)
        summary.clearChanges()
        let changed = Set(
            try await transaction { connection in
                try connection.query(
                    ImportStatements.stagedStores,
                    [id.parameter]
                ) {
                    try $0.map { try $0.int4(0) }
                }
            }
        )
        let mistyped = Dictionary(grouping: mistyped.values, by: \.store)
        let applications = stores.sorted { $0.key < $1.key }.compactMap { key, store -> ImportApplication? in
            let isStale = !store.stalePlacements.isEmpty || !store.staleProducts.isEmpty
            guard let storeID = store.id, changed.contains(storeID) || isStale || (!store.exists && summary.read > 0)
            else { return nil }
            return ImportApplication(
                id: id,
                lookup: lookup,
                key: key,
                stagedID: storeID,
                store: store,
                columns: columns,
                attributes: columns.hasAttributes ? declared.definitions(in: key) : [:],
                attributeNames: attributeNames[key] ?? [],
                hasAllAttributes: hasAllAttributes,
                hasMergedAttributes: hasMergedAttributes,
                mistyped: mistyped[key] ?? [],
                keepsStock: summary.stockKept > 0,
                keepsAttributes: keepsAttributes,
                hasRepeats: hasRepeats,
                changed: changedRows
            )
        }
        let isParallel = applications.count > 1 && changedRows >= Self.parallelRows
        let second = isParallel ? try? await PostgresConnection.connect(configuration) : nil
        let result: Result<[ImportApplication.Outcome], any Error>
        do {
            result = .success(try await Self.run(applications, on: [connection] + (second.map { [$0] } ?? [])))
        } catch {
            result = .failure(error)
        }
        await second?.close()
        for outcome in try result.get() {
            summary.add(outcome)
            for (values, numbers) in outcome.cleared { reportCleared(values, numbers) }
        }
    }

    private static func run(
        _ applications: [ImportApplication],
        on connections: [PostgresConnection]
    ) async throws -> [ImportApplication.Outcome] {
        let queue = Queue(applications)
        return try await withThrowingTaskGroup(of: [ImportApplication.Outcome].self) { group in
            for connection in connections {
                // Not on the thread of the import's connection, which waits for its own store.
                group.addTask(executorPreference: globalConcurrentExecutor) {
                    var outcomes: [ImportApplication.Outcome] = []
                    while let next = queue.next() {
                        do {
                            outcomes.append(try await transaction(on: connection) { try next.run($0) })
                        } catch {
                            queue.clear()
                            throw error
                        }
                    }
                    return outcomes
                }
            }
            return try await group.allResults().flatMap { $0 }
        }
    }

    /// Runs a block in one transaction, with retries of a retryable error.
    func transaction<T: Sendable>(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await Self.transaction(on: connection, body)
    }

    private static func transaction<T: Sendable>(
        on connection: PostgresConnection,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await retrying { try await connection.perform { try $0.transaction("", body) } }
    }
}
