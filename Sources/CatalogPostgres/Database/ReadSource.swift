internal import Catalog
internal import LibPQ

/// The server that answers a read of a store.
enum ReadSource: Sendable {
    case primary(PrimaryRead)
    case replica(ReplicaRead)
    /// The worker that has the store, over its connections for short reads. The coordinator answers long reads.
    case worker(WorkerRead, PageLane)
    /// The coordinator, over its connections for the worker that has the store.
    case coordinator(WorkerRead)

    /// The kind of a server, by the commits that its answers include.
    enum Origin: Hashable, Sendable {
        /// The primary or the coordinator.
        case primary
        case worker
        /// A replica, by its number.
        case replica(Int)

        /// Whether the server has all commits.
        var hasAllCommits: Bool { if case .replica = self { false } else { true } }

        /// Lets the primary answer if the server has an older state than an earlier read.
        ///
        /// - Parameter isOlder: is only evaluated for a server that may lack commits.
        /// - Throws: `ReplicaProblem`.
        func requireCommits(if isOlder: @autoclosure () -> Bool) throws {
            if !hasAllCommits, isOlder() { throw ReplicaProblem.lagging }
        }
    }

    var origin: Origin {
        switch self {
        case .primary, .coordinator: .primary
        case .replica(let read): .replica(read.index)
        case .worker: .worker
        }
    }

    /// Checks that this source can find out what does not exist.
    ///
    /// - Throws: `WorkerProblem` on a worker: another store may have its id now.
    func requireAllStores() throws {
        if case .worker = self { throw WorkerProblem.notFound }
    }

    /// Runs queries, as `PostgresPipeline.read` does.
    ///
    /// - Throws: `ReplicaProblem` if the replica does not meet the requirement; `WorkerProblem` if the worker cannot answer.
    func read<Shared: Sendable, Own: Sendable>(
        _ queries: ReadQueries<Shared, Own>
    ) async throws -> (shared: Shared, own: Own) {
        switch self {
        case .primary(let read): try await read.shortReads.current.read(queries)
        case .replica(let read): try await read.read(queries)
        case .worker(let read, let shortReads): try await read.read(queries, from: shortReads)
        case .coordinator(let read): try await read.readThroughCoordinator(queries)
        }
    }

    /// Runs queries in sequence on one connection and folds their rows into a value.
    ///
    /// - Throws: as the other `read`.
    func read<Value: Sendable>(
        _ queries: [PostgresQuery],
        into initial: Value,
        _ receive: @escaping @Sendable (inout Value, Int, borrowing PostgresRows) throws -> Void
    ) async throws -> Value {
        try await read(ReadQueries(sharing: [], into: (), { _, _, _ in }, then: queries, into: initial, receive)).own
    }

    /// Runs a block that only reads, in one transaction whose statements all read the same state.
    ///
    /// - Throws: `ReplicaProblem` if the replica does not meet the requirement.
    func snapshot<T: Sendable>(
        within limit: TimeLimit,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        switch self {
        case .primary(let read): try await read.longReads.snapshot(within: limit, body)
        case .replica(let read): try await read.snapshot(within: limit, body)
        case .worker(let read, _), .coordinator(let read):
            try await read.coordinator.longReads.snapshot(within: limit, of: read.owner, and: read.user, body)
        }
    }

    /// Returns whether the primary, or the coordinator, answers instead after an error.
    func isReplaced(after error: any Error) -> Bool {
        switch self {
        case .primary, .coordinator: false
        case .replica: ReplicaProblem.isRepeatable(error)
        case .worker: error is WorkerProblem
        }
    }

    /// Records the error of a read. Reads from workers do that themselves.
    func readFailed(_ error: any Error) {
        if case .replica(let read) = self { read.replicas.readFailed(error, read.index) }
    }
}

/// The connections for reads from the primary, or from the coordinator of a Citus cluster.
struct PrimaryRead: Sendable {
    let shortReads: PageLane
    let longReads: Lane
}
