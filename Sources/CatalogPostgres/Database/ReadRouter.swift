internal import Catalog
internal import LibPQ
internal import Synchronization

/// Two forms of the same work on the rows of stores or users.
struct OwnersForms<Form: Sendable>: Sendable {
    /// For the rows of many owners together.
    let ofAll: Form
    /// For the rows of one owner, who is on one shard of a Citus cluster.
    let ofOne: Form
}

/// A query of an owner's rows.
struct OwnersQuery {
    /// The form for many owners has them as the first column of its key, the other form has its owner as `$1`.
    let forms: OwnersForms<PostgresStatement>
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

/// Chooses the server that answers a read: the primary, a replica, or a worker of a Citus cluster. Also chooses between statements for one
/// server and those for a cluster.
package final class ReadRouter: Sendable {
    /// The replicas that may answer reads; nil if there are none.
    let replicas: Replicas?
    /// The workers of a Citus cluster that may answer reads; nil to treat the cluster as one server. The stores and users of different
    /// workers do not wait for each other.
    let workers: StoreWorkers?
    private let primary: PrimaryRead
    /// The ids of stores, by key, which say where the stores are.
    private let storeIDs: StoreIDs
    /// Whether tables are distributed; nil before it is known.
    private let distribution = Mutex<Bool?>(nil)

    /// How long the workers that answered wait for others.
    private static let patience: Duration = .milliseconds(500)

    init(_ primary: PrimaryRead, replicas: Replicas?, workers: StoreWorkers?, storeIDs: StoreIDs) {
        (self.primary, self.replicas, self.workers, self.storeIDs) = (primary, replicas, workers, storeIDs)
    }

    /// The state of each replica and worker.
    package var status: [ReadServerStatus] { (replicas?.status ?? []) + (workers?.status ?? []) }

    /// Whether replicas answer the most frequent reads while the primary does not respond.
    var replacesPrimary: Bool { replicas?.replacePrimary ?? false }

    /// Begins to monitor the servers.
    func start() {
        replicas?.start()
        workers?.start()
    }

    func shutDown() {
        replicas?.shutDown()
        workers?.shutDown()
    }

    /// Runs queries on every connection for short reads, now and after each reconnect.
    func warmUpShortReads(_ queries: [PostgresQuery]) {
        primary.shortReads.warmUp(queries)
        for replica in replicas?.all ?? [] { replica.shortReads.warmUp(queries) }
    }

    // MARK: - Reads of a store

    /// Runs a read of a store on a replica if the current task allows replicas and one has the required state. Otherwise the read runs on
    /// the primary. If the replica fails, or has an older state than its monitor found, the read is repeated on the primary.
    ///
    /// On Citus, the worker that has the store answers if it can, and otherwise the coordinator.
    ///
    /// - Parameters:
    ///   - user: the user whose settings the read needs.
    ///   - body: reads from the given source only. It must have no side effects that a repetition would duplicate.
    func withSource<T>(
        of store: CatalogKey,
        for user: UserID?,
        _ body: (ReadSource) async throws -> T
    ) async throws -> T {
        if case .including(let logPosition) = StateContext.current, let replica = replicas?.choose(for: logPosition) {
            let source = ReadSource.replica(replica)
            do { return try await body(source) } catch let error where source.isReplaced(after: error) {
                source.readFailed(error)
            }
        }
        return try await withPrimarySource(of: store, for: user, body)
    }

    /// Runs a read of a store on the primary. On Citus, the worker that has the store answers if it can, and otherwise the coordinator.
    func withPrimarySource<T>(
        of store: CatalogKey,
        for user: UserID?,
        _ body: (ReadSource) async throws -> T
    ) async throws -> T {
        guard let workers, workers.isActive else { return try await body(.primary(primary)) }
        let owner = user.map { DataOwner.user($0) }
        // The id says which worker is needed. The coordinator has it itself.
        guard let id = try await storeID(store),
            let found = workers.read(of: id, for: owner, through: coordinator(for: owner))
        else { return try await body(.primary(primary)) }
        if let shortReads = found.shortReads {
            let source = ReadSource.worker(found.read, shortReads)
            do { return try await body(source) } catch let error where source.isReplaced(after: error) {
                source.readFailed(error)
            }
        }
        return try await body(.coordinator(found.read))
    }

    /// Returns the id of a store; nil if the store never existed.
    private func storeID(_ store: CatalogKey) async throws -> Int32? {
        if let known = storeIDs[store] { return known }
        let found = try await ids(of: [store])[store]
        storeIDs[store] = found
        return found
    }

    /// Returns the ids of stores that exist or existed. Those that have been read before need no query.
    private func ids(of keys: Set<CatalogKey>) async throws -> [CatalogKey: Int32] {
        let known = keys.compactMap { key in storeIDs[key].map { (key, $0) } }
        var ids = Dictionary(uniqueKeysWithValues: known)
        let unknown = keys.filter { ids[$0] == nil }
        if !unknown.isEmpty {
            let queries = unknown.map { PostgresQuery(ShelfLookup.storeID, [.text($0.text)]) }
            let found: [Int: Int32] = try await shortReads.read(queries, into: [:]) { found, index, rows in
                found[index] = try rows.first { try $0.int4(0) }
            }
            for (index, key) in unknown.enumerated() { ids[key] = found[index] }
        }
        return ids
    }

    // MARK: - Reads of owners

    /// The pipeline for short reads: pages, settings, revisions, log positions.
    var shortReads: PostgresPipeline { primary.shortReads.current }

    /// The pipeline for short reads of an owner's rows: on Citus, that for the worker that has them.
    func shortReads(of owner: DataOwner?) -> PostgresPipeline { shortReadLane(of: owner).current }

    private func shortReadLane(of owner: DataOwner?) -> PageLane {
        owner.flatMap { workers?.worker(of: $0)?.detour } ?? primary.shortReads
    }

    /// Returns the connections to the coordinator for reads that need an owner's rows.
    func coordinator(for owner: DataOwner?) -> PrimaryRead {
        PrimaryRead(shortReads: shortReadLane(of: owner), longReads: primary.longReads)
    }

    /// Reads the rows of all owners. On Citus, that needs all workers. One of them may not respond, so short reads do not wait for it.
    func readAll<Value: Sendable>(
        _ statement: PostgresStatement,
        _ decode: @escaping @Sendable (borrowing PostgresRows) throws -> [Value]
    ) async throws -> [Value] {
        if try await isDistributed() {
            return try await primary.longReads.perform(within: .lookup) { try $0.query(statement, [], decode) }
        }
        return try await shortReads.read([PostgresQuery(statement)], into: []) { values, _, rows in
            values = try decode(rows)
        }
    }

    /// Reads values of stores by their keys: on Citus, those of each worker together and apart from those of other workers; otherwise all
    /// together.
    ///
    /// - Parameters:
    ///   - store: returns the store of a key.
    ///   - forms: the statement; the form for one owner has the ids of stores as a further parameter.
    ///   - read: gets a form with its further parameters.
    /// - Returns: the values of the workers that answered, at most `patience` after the first one.
    /// - Throws: the error of a worker if none answered.
    func readByStore<Key: Hashable & Sendable, Value: Sendable>(
        _ keys: [Key],
        _ store: @escaping @Sendable (Key) -> CatalogKey,
        _ forms: OwnersForms<PostgresStatement>,
        _ read:
            @escaping @Sendable ([Key], PostgresStatement, [PostgresValue], PostgresPipeline) async throws -> [Key:
            Value]
    ) async throws -> [Key: Value] {
        guard try await isDistributed() else { return try await read(keys, forms.ofAll, [], shortReads) }
        let ids = try await ids(of: Set(keys.map(store)))
        return try await readByOwner(keys, { ids[store($0)].map { .store($0) } }) { keys, shortReads in
            // The ids name the shards that are needed; a worker without one of them does not matter.
            let needed = Set(keys.compactMap { ids[store($0)] }).map { Int64($0) }
            return try await read(keys, forms.ofOne, [.int8Array(needed)], shortReads)
        }
    }

    /// Reads values by their keys, as `readByStore` does.
    ///
    /// - Parameter owner: returns the owner of a key's rows; nil if it is not known.
    func readByOwner<Key: Hashable & Sendable, Value: Sendable>(
        _ keys: [Key],
        _ owner: (Key) -> DataOwner?,
        _ read: @escaping @Sendable ([Key], PostgresPipeline) async throws -> [Key: Value]
    ) async throws -> [Key: Value] {
        let groups = Dictionary(grouping: keys) { owner($0).flatMap { workers?.worker(of: $0) }?.address }
        return try await withThrowingTaskGroup(of: [Key: Value]?.self) { tasks in
            for keys in groups.values {
                let shortReads = shortReads(of: owner(keys[0]))
                tasks.addTask { try await read(keys, shortReads) }
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

    // MARK: - Forms of statements

    /// Returns a query of an owner's rows, which many reads share: those of all owners, or on Citus, those of the same owner.
    func shared(_ query: OwnersQuery) async throws -> SharedQuery {
        try await isDistributed()
            ? SharedQuery(query.forms.ofOne, scope: [query.owner.id], key: query.key)
            : SharedQuery(query.forms.ofAll, key: [query.owner.key] + query.key)
    }

    /// Returns the form for many owners, or on Citus, that for one.
    func form<Form>(_ forms: OwnersForms<Form>) async throws -> Form {
        try await isDistributed() ? forms.ofOne : forms.ofAll
    }

    /// Returns whether the tables are distributed among servers, by Citus.
    func isDistributed() async throws -> Bool {
        if let known = distribution.withLock({ $0 }) { return known }
        let found = try await shortReads.read([PostgresQuery(DistributionStatements.extensionVersion)], into: false) {
            $0 = $2.count > 0; _ = $1
        }
        distribution.withLock { $0 = found }
        return found
    }
}
