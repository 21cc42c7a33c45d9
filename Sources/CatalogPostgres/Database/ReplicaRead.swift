internal import Catalog
internal import LibPQ

/// A read from a replica that must meet a requirement.
struct ReplicaRead: Sendable {
    let replicas: Replicas
    /// The number of the replica.
    let index: Int
    let requirement: ReplicaRequirement

    private var replica: Replica { replicas.all[index] }

    /// - Throws: `ReplicaProblem` if the replica does not meet the requirement.
    func read<Shared: Sendable, Own: Sendable>(
        _ queries: ReadQueries<Shared, Own>
    ) async throws -> (shared: Shared, own: Own) {
        let report = SharedQuery(ReplicaStatements.report, key: [.text(requirement.epoch.identity)])
        let found = try await replica.shortReads.current.read(
            checking: report,
            { try ReplicaStatements.report($0) },
            before: queries
        )
        try check(found.state)
        return found.values
    }

    /// Runs a block that only reads, in one transaction whose statements all read the same state.
    ///
    /// - Parameter limit: the read has half of it, so that time is left to read from the primary.
    /// - Throws: `ReplicaProblem` if the replica does not meet the requirement.
    func snapshot<T: Sendable>(
        within limit: TimeLimit,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await replica.longReads.pool.perform(within: limit.duration / 2) { connection in
            // Before the transaction, whose snapshot would be older than the report.
            try check(try ReplicaStatements.report(requirement.epoch, connection))
            return try connection.transaction(Lane.snapshotMode, body)
        }
    }

    private func check(_ report: ReplicaReport?) throws {
        if let report { replicas.replicaReported(report, index, of: requirement.epoch) }
        try requirement.check(report)
    }
}
