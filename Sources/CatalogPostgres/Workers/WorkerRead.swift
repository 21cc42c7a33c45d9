internal import LibPQ

/// A read of a store on the worker that has it, or through the coordinator over the connections for that worker.
struct WorkerRead: Sendable {
    /// The store.
    let owner: DataOwner
    /// The user whose rows the read needs, too.
    let user: DataOwner?
    /// The shard of `shelf` that has the store.
    let shard: StoreWorkers.Shard
    let worker: Worker
    let workers: StoreWorkers
    /// The connections to the coordinator: those for short reads are for what the read needs of the user.
    let coordinator: PrimaryRead

    /// Runs queries over the worker's connections. Those about users go to the coordinator.
    ///
    /// - Throws: `WorkerProblem` if the worker cannot answer; an error of the coordinator; kind `deadline` or `exhausted` if the worker is
    ///   overloaded.
    func read<Shared: Sendable, Own: Sendable>(
        _ queries: ReadQueries<Shared, Own>,
        from shortReads: PageLane
    ) async throws -> (shared: Shared, own: Own) {
        let rest = try await readUsers(queries, namesShards: true)
        guard !rest.isEmpty else { return (rest.initialShared, rest.initialOwn) }
        do {
            let found = try await shortReads.current.read(
                checking: SharedQuery(WorkerStatements.present, key: [.int8(shard.id)]),
                { try $0.bool(1) },
                before: rest
            )
            guard found.state == true else {
                workers.shardMoved(shard, from: worker)
                throw WorkerProblem.failed
            }
            worker.countRead()
            return found.values
        } catch let error as PostgresError where error.kind != .cancelled && error.kind != .deadline {
            // A worker that is slow, or has too many reads in flight, would get more work through the coordinator. But a worker without
            // shards was shut down, and then the coordinator can answer.
            if error.kind == .exhausted, workers.uses(worker) { throw error }
            workers.readFailed(error, shard, worker)
            throw WorkerProblem.failed
        }
    }

    /// Runs queries through the coordinator.
    func readThroughCoordinator<Shared: Sendable, Own: Sendable>(
        _ queries: ReadQueries<Shared, Own>
    ) async throws -> (shared: Shared, own: Own) {
        let rest = try await readUsers(queries, namesShards: false)
        guard !rest.isEmpty else { return (rest.initialShared, rest.initialOwn) }
        return try await (worker.detour ?? coordinator.shortReads).current.read(rest)
    }

    /// Runs those queries through the coordinator that are about users, who may be on other workers.
    ///
    /// - Parameter namesShards: whether the other queries name shards instead of tables.
    /// - Returns: the other queries.
    private func readUsers<Shared: Sendable, Own: Sendable>(
        _ queries: ReadQueries<Shared, Own>,
        namesShards: Bool
    ) async throws -> ReadQueries<Shared, Own> {
        let shared = queries.shared.map { query in
            statement(query.statement).map { namesShards ? query.replacing($0) : query }
        }
        let own = queries.own.map { query in
            statement(query.statement).map { namesShards ? PostgresQuery($0, query.parameters) : query }
        }
        var values = (shared: queries.initialShared, own: queries.initialOwn)
        if shared.contains(where: { $0 == nil }) || own.contains(where: { $0 == nil }) {
            let users = queries.part(
                zip(queries.shared, shared).map { $1 == nil ? $0 : nil },
                zip(queries.own, own).map { $1 == nil ? $0 : nil },
                into: values
            )
            values = try await coordinator.shortReads.current.read(users)
        }
        return queries.part(shared, own, into: values)
    }

    /// Returns a statement that names shards; nil if it also needs other tables.
    private func statement(_ original: PostgresStatement) -> PostgresStatement? {
        shard.tables.statement(original, workers.names)
    }
}
