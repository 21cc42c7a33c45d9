internal import Catalog
internal import LibPQ

/// A query of an owner's rows, in two forms.
struct OwnersQuery {
    /// For the rows of many owners, who are the first column of its key.
    let ofAll: PostgresStatement
    /// For the rows of one owner, `$1`, who is on one shard.
    let ofOne: PostgresStatement
    let owner: DataOwner
    /// The other columns of the key.
    var key: [PostgresValue] = []
}

extension DataOwner {
    /// The id of the owner, in the type of its column.
    fileprivate var id: PostgresValue {
        switch self {
        case .store(let id): .int4(id)
        case .user(let user): .text(user.text)
        }
    }

    /// The id of the owner as a key of a shared query.
    fileprivate var key: PostgresValue {
        switch self {
        case .store(let id): .int8(Int64(id))
        case .user(let user): .text(user.text)
        }
    }
}

/// Reads that replicas or workers may answer.
extension Database {
    /// Runs a read of a store on a replica if the current task allows replicas and one has the required state. Otherwise the read runs on
    /// the primary. If the replica fails, or has an older state than its monitor found, the read is repeated on the primary.
    ///
    /// On Citus, the worker that has the store answers if it can, and otherwise the coordinator.
    ///
    /// - Parameters:
    ///   - user: the user whose settings the read needs.
    ///   - body: reads from the given source only. It must have no side effects that a repetition would duplicate.
    func reading<T>(
        _ store: CatalogKey,
        for user: UserID?,
        _ body: (ReadSource) async throws -> T
    ) async throws -> T {
        if case .including(let logPosition) = StateContext.current, let source = replicas?.choose(for: logPosition) {
            do { return try await body(source) } catch let error where Self.isRepeatable(error) {
                source.readFailed(error)
            }
        }
        return try await readingPrimary(store, for: user, body)
    }

    /// Runs a read of a store on the primary.
    func readingPrimary<T>(
        _ store: CatalogKey,
        for user: UserID?,
        _ body: (ReadSource) async throws -> T
    ) async throws -> T {
        guard let workers, workers.isActive else { return try await body(ReadSource(self)) }
        // The id says which worker is needed. The coordinator has it itself.
        if storeIDs[store] == nil { storeIDs[store] = try await ShelfLookup(database: self).ids(of: [store])[store] }
        let owner = user.map { DataOwner.user($0) }
        guard let id = storeIDs[store], let worker = workers.read(of: id, for: owner, users: pageLane(of: owner)) else {
            return try await body(ReadSource(self))
        }
        if worker.pages != nil {
            do { return try await body(ReadSource(self, worker)) } catch is WorkerProblem {}
        }
        return try await body(ReadSource(self, worker.throughCoordinator))
    }

    /// Reads values by their keys: on Citus, those of each worker together and apart from those of other workers; otherwise all together.
    ///
    /// - Parameter owner: the owner of a key's rows; nil if it is not known.
    /// - Returns: the values of the workers that answered, at most `patience` after the first one.
    /// - Throws: the error of a worker if none answered.
    func readingByWorker<Key: Hashable & Sendable, Value: Sendable>(
        _ keys: [Key],
        owner: (Key) -> DataOwner?,
        _ read: @escaping @Sendable ([Key], PostgresPipeline) async throws -> [Key: Value]
    ) async throws -> [Key: Value] {
        let groups = Dictionary(grouping: keys) { owner($0).flatMap { workers?.worker(of: $0) }?.address }
        return try await withThrowingTaskGroup(of: [Key: Value]?.self) { tasks in
            for keys in groups.values {
                let pages = pages(of: owner(keys[0]))
                tasks.addTask { try await read(keys, pages) }
            }
            var (values, failure): ([Key: Value], (any Error)?) = ([:], nil)
            var (answers, failures) = (0, 0)
            while answers + failures < groups.count, let result = await tasks.nextResult() {
                switch result {
                case .success(let found?):
                    answers += 1
                    values.merge(found) { $1 }
                    guard answers == 1 else { continue }
                    tasks.addTask {
                        try await Task.sleep(for: Self.patience)
                        return nil
                    }
                // Others are slower; the next poll asks them again.
                case .success(nil): tasks.cancelAll()
                case .failure(let error):
                    failures += 1
                    failure = failure ?? error
                }
            }
            tasks.cancelAll()
            if let failure, answers == 0 { throw failure }
            return values
        }
    }

    /// Returns a query of an owner's rows, which many reads share: those of all owners, or on Citus, those of the same owner.
    func shared(_ query: OwnersQuery) async throws -> SharedQuery {
        try await isDistributed()
            ? SharedQuery(query.ofOne, scope: [query.owner.id], key: query.key)
            : SharedQuery(query.ofAll, key: [query.owner.key] + query.key)
    }

    /// How long the workers that answered wait for others.
    private static let patience: Duration = .milliseconds(500)

    /// Returns whether the primary may answer a read that a replica could not answer: a conflict with the replay, an older schema, the
    /// loss of the replica.
    private static func isRepeatable(_ error: any Error) -> Bool {
        if let error = error as? PostgresError { return error.kind != .cancelled }
        return error is ReplicaProblem
    }
}
