internal import Catalog
internal import LibPQ

/// The server that answers a read: the primary, a replica that must meet a requirement, or the worker that has a store.
struct ReadSource: Sendable {
    private struct Choice: Sendable {
        let replicas: Replicas
        let index: Int
        let requirement: ReplicaRequirement

        /// - Throws: `ReplicaProblem` if the replica does not meet the requirement.
        func check(_ report: ReplicaReport?) throws {
            if let report { replicas.replicaReported(report, index, of: requirement.epoch) }
            try requirement.check(report)
        }
    }

    private let pages: PageLane
    private let longReads: Lane
    /// nil for the primary and for a worker.
    private let choice: Choice?
    /// The worker that has the store: for short reads, and for the group of others, which the primary answers as the coordinator.
    private let worker: WorkerRead?

    /// The primary.
    ///
    /// - Parameter worker: the worker that has the store that is read.
    init(_ database: Database, _ worker: WorkerRead? = nil) {
        (pages, longReads) = (database.pageLane, database.longReads)
        (choice, self.worker) = (nil, worker)
    }

    /// A replica.
    init(_ replicas: Replicas, _ index: Int, _ requirement: ReplicaRequirement) {
        (pages, longReads) = (replicas.all[index].pages, replicas.all[index].longReads)
        choice = Choice(replicas: replicas, index: index, requirement: requirement)
        worker = nil
    }

    /// The number of the replica; nil for the primary.
    var replica: Int? { choice?.index }

    /// Checks that this source can find out what does not exist.
    ///
    /// - Throws: `WorkerProblem` on a worker: another store may have its id now.
    func requireAllStores() throws {
        if worker?.pages != nil { throw WorkerProblem.notFound }
    }

    /// Runs shared queries, and then queries in sequence, as `PostgresPipeline.read` does.
    ///
    /// - Throws: `ReplicaProblem` if the replica does not meet the requirement; `WorkerProblem` if the worker cannot answer.
    func read<Shared: Sendable, Own: Sendable>(
        sharing shared: [SharedQuery],
        into initialShared: Shared,
        _ sharedRow: @escaping @Sendable (inout Shared, Int, borrowing PostgresRow) throws -> Void,
        then queries: [PostgresQuery],
        into initialOwn: Own,
        _ rows: @escaping @Sendable (inout Own, Int, borrowing PostgresRows) throws -> Void
    ) async throws -> (shared: Shared, own: Own) {
        if let worker {
            return try await worker.read(
                sharing: shared,
                into: initialShared,
                sharedRow,
                then: queries,
                into: initialOwn,
                rows
            )
        }
        guard let choice else {
            return try await pages.current.read(
                sharing: shared,
                into: initialShared,
                sharedRow,
                then: queries,
                into: initialOwn,
                rows
            )
        }
        // The report comes first, so that everything else is read later.
        let report = SharedQuery(ReplicaStatements.report, key: [.text(choice.requirement.epoch.identity)])
        let found = try await pages.current.read(
            sharing: [report] + shared,
            into: Reported(value: initialShared),
            { state, index, row in
                if index == 0 {
                    state.report = try ReplicaStatements.report(row)
                } else {
                    try sharedRow(&state.value, index - 1, row)
                }
            },
            then: queries,
            into: initialOwn,
            rows
        )
        try choice.check(found.shared.report)
        return (found.shared.value, found.own)
    }

    /// Runs queries in sequence on one connection and folds their rows into a value.
    ///
    /// - Throws: as the other `read`.
    func read<Value: Sendable>(
        _ queries: [PostgresQuery],
        into initial: Value,
        _ receive: @escaping @Sendable (inout Value, Int, borrowing PostgresRows) throws -> Void
    ) async throws -> Value {
        try await read(sharing: [], into: (), { _, _, _ in }, then: queries, into: initial, receive).own
    }

    /// Runs a block that only reads, in one transaction whose statements all read the same state.
    ///
    /// - Parameter limit: a replica has half of it, so that time is left to read from the primary.
    /// - Throws: `ReplicaProblem` if the replica does not meet the requirement.
    func snapshot<T: Sendable>(
        within limit: TimeLimit,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        guard let choice else {
            return try await longReads.snapshot(within: limit, of: worker?.owner, and: worker?.user, body)
        }
        return try await longReads.pool.perform(within: limit.duration / 2) { connection in
            // Before the transaction, whose snapshot would be older than the report.
            try choice.check(try ReplicaStatements.report(choice.requirement.epoch, connection))
            return try connection.transaction(Lane.snapshotMode, body)
        }
    }

    /// Records that a read failed and will be repeated on the primary.
    func readFailed(_ error: any Error) {
        if let choice { choice.replicas.readFailed(error, choice.index) }
    }

    /// The value of shared queries, and the replica's report before them.
    private struct Reported<Value: Sendable>: Sendable {
        var value: Value
        var report: ReplicaReport?
    }
}
