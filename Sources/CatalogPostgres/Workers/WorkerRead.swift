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
    /// The connections of the worker; nil to read through the coordinator.
    var pages: PageLane?
    let workers: StoreWorkers
    /// The connections for what the read needs of users.
    let users: PageLane

    /// The same read through the coordinator.
    var throughCoordinator: WorkerRead {
        var copy = self
        copy.pages = nil
        return copy
    }

    /// Runs shared queries, and then queries in sequence, as `PostgresPipeline.read` does. Those about users, who may be on other
    /// workers, come first and go to the coordinator.
    ///
    /// - Throws: `WorkerProblem` if the worker cannot answer; an error of the coordinator; kind `deadline` or `exhausted` if the worker is
    ///   overloaded.
    func read<Shared: Sendable, Own: Sendable>(
        sharing shared: [SharedQuery],
        into initialShared: Shared,
        _ sharedRow: @escaping @Sendable (inout Shared, Int, borrowing PostgresRow) throws -> Void,
        then queries: [PostgresQuery],
        into initialOwn: Own,
        _ rows: @escaping @Sendable (inout Own, Int, borrowing PostgresRows) throws -> Void
    ) async throws -> (shared: Shared, own: Own) {
        let sharedHere = shared.map { query in statement(query.statement).map { query.replacing($0) } }
        let queriesHere = queries.map { query in statement(query.statement).map { PostgresQuery($0, query.parameters) }
        }
        let (sharedElsewhere, elsewhere) = (Self.missing(sharedHere), Self.missing(queriesHere))
        var state = (shared: initialShared, own: initialOwn)
        if !sharedElsewhere.isEmpty || !elsewhere.isEmpty {
            state = try await users.current.read(
                sharing: sharedElsewhere.map { shared[$0] },
                into: initialShared,
                { try sharedRow(&$0, sharedElsewhere[$1], $2) },
                then: elsewhere.map { queries[$0] },
                into: initialOwn,
                { try rows(&$0, elsewhere[$1], $2) }
            )
        }
        let (sharedIndexes, indexes) = (Self.present(sharedHere), Self.present(queriesHere))
        guard !sharedIndexes.isEmpty || !indexes.isEmpty else { return state }
        guard let pages else {
            return try await (worker.detour ?? users).current.read(
                sharing: sharedIndexes.map { shared[$0] },
                into: state.shared,
                { try sharedRow(&$0, sharedIndexes[$1], $2) },
                then: indexes.map { queries[$0] },
                into: state.own,
                { try rows(&$0, indexes[$1], $2) }
            )
        }
        do {
            let found = try await pages.current.read(
                sharing: [SharedQuery(WorkerStatements.present, key: [.int8(shard.id)])] + sharedHere.compactMap { $0 },
                into: Checked(value: state.shared),
                { found, index, row in
                    if index == 0 {
                        found.hasShard = try row.bool(1)
                    } else {
                        try sharedRow(&found.value, sharedIndexes[index - 1], row)
                    }
                },
                then: queriesHere.compactMap { $0 },
                into: state.own,
                { try rows(&$0, indexes[$1], $2) }
            )
            guard found.shared.hasShard else {
                workers.shardMoved(shard, from: worker)
                throw WorkerProblem.failed
            }
            worker.countRead()
            return (found.shared.value, found.own)
        } catch let error as PostgresError where error.kind != .cancelled && error.kind != .deadline {
            // A worker that is slow, or has too many reads in flight, would get more work through the coordinator. But a worker without
            // shards was shut down, and then the coordinator can answer.
            if error.kind == .exhausted, workers.uses(worker) { throw error }
            workers.readFailed(error, shard, worker)
            throw WorkerProblem.failed
        }
    }

    private func statement(_ original: PostgresStatement) -> PostgresStatement? {
        shard.tables.statement(original, workers.names)
    }

    private static func missing<T>(_ values: [T?]) -> [Int] { values.indices.filter { values[$0] == nil } }
    private static func present<T>(_ values: [T?]) -> [Int] { values.indices.filter { values[$0] != nil } }

    /// The value of shared queries, and whether the worker had the shard before them.
    private struct Checked<Value: Sendable>: Sendable {
        var value: Value
        var hasShard = false
    }
}
