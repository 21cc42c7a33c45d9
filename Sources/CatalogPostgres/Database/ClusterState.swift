package import LibPQ

/// The servers of a Citus cluster, and their state.
package struct ClusterState: Sendable {
    /// A server of the cluster.
    package struct Node: Sendable {
        /// Host and port.
        package let name: String
        package let isCoordinator: Bool
        /// Whether Citus uses it; a disabled worker is not.
        package let isActive: Bool
        /// The number of its shards, including copies of reference tables.
        package let shards: Int
        /// The number of its shards that cannot be used.
        package let lostShards: Int
    }

    /// The version of the extension.
    package let version: String
    /// Whether this server is the coordinator.
    package let isCoordinator: Bool
    /// The coordinator first.
    package let nodes: [Node]
    /// The active workers to which the coordinator cannot connect. If there are any, the following lists of servers stay empty.
    package var unreachableNodes: [String] = []
    /// The connections between servers that do not work, as `from → to`.
    package var brokenConnections: [String] = []
    /// The servers whose `max_prepared_transactions` is below `max_connections`.
    package var nodesWithFewPreparedTransactions: [String] = []
    /// The servers with shards whose `wal_level` is not `logical`.
    package var nodesWithoutLogicalDecoding: [String] = []
    /// The servers with prepared transactions that are older than five minutes.
    package var nodesWithOldTransactions: [String] = []
    /// Tables that are not distributed, but should be.
    package var localTables: [String] = []

    /// Whether a worker, or a shard of one, cannot be read.
    var hasLostWorkers: Bool {
        !unreachableNodes.isEmpty || nodes.contains { !$0.isActive || $0.lostShards > 0 }
    }

    /// Reads the state of the cluster that a database belongs to.
    ///
    /// - Returns: nil for a database without Citus.
    package static func read(_ connection: isolated PostgresConnection) throws -> ClusterState? {
        let version = try connection.query(DistributionStatements.extensionVersion) {
            try $0.first { try $0.text(0) }
        }
        guard let version else { return nil }
        let isCoordinator = try connection.query(DistributionStatements.isCoordinator) { $0.count > 0 }
        let nodes = try connection.query(DistributionStatements.nodes) { rows in
            try rows.map {
                Node(
                    name: try $0.text(0),
                    isCoordinator: try $0.bool(1),
                    isActive: try $0.bool(2),
                    shards: try $0.int(3),
                    lostShards: try $0.int(4)
                )
            }
        }
        var state = ClusterState(version: version, isCoordinator: isCoordinator, nodes: nodes)
        guard isCoordinator, !nodes.isEmpty else { return state }
        state.localTables = try names(
            DistributionStatements.localTables,
            connection,
            [.textArray(Distribution.localTables)]
        )
        // The other checks would wait for a server that hangs.
        state.unreachableNodes = try connection.transaction { connection in
            try connection.set("citus.node_connection_timeout", "2s")
            return try names(DistributionStatements.unreachableNodes, connection)
        }
        guard state.unreachableNodes.isEmpty else { return state }
        state.brokenConnections = try names(DistributionStatements.brokenConnections, connection)
        state.nodesWithFewPreparedTransactions = try names(
            DistributionStatements.withFewPreparedTransactions,
            connection
        )
        state.nodesWithoutLogicalDecoding = try names(DistributionStatements.withoutLogicalDecoding, connection)
        state.nodesWithOldTransactions = try names(DistributionStatements.withOldTransactions, connection)
        return state
    }

    /// Returns the first column of a query's rows.
    private static func names(
        _ statement: PostgresStatement,
        _ connection: isolated PostgresConnection,
        _ parameters: [PostgresValue] = []
    ) throws -> [String] {
        try connection.query(statement, parameters) { try $0.map { try $0.text(0) } }
    }
}
