internal import LibPQ

/// The distribution of the tables among the servers of a Citus cluster.
package enum Distribution {
    /// The tables that stay on the coordinator. Only batch work uses them.
    static let localTables = ["import_run", "resort_run", "schema_migration"]

    /// Whether the database has the extension.
    static func isInstalled(_ connection: isolated PostgresConnection) throws -> Bool {
        try connection.query(DistributionStatements.extensionVersion) { $0.count > 0 }
    }

    /// Whether tables are distributed.
    static func isDistributed(_ connection: isolated PostgresConnection) throws -> Bool {
        guard try isInstalled(connection) else { return false }
        return try connection.query(DistributionStatements.isDistributed) { $0.count > 0 }
    }

    /// Whether Citus is moving a shard.
    static func movesShard(_ connection: isolated PostgresConnection) throws -> Bool {
        try connection.query(DistributionStatements.movesShard) { $0.count > 0 }
    }

    /// The number of distributed tables and reference tables, with their partitions.
    static func tableCount(_ connection: isolated PostgresConnection) throws -> Int {
        try connection.query(DistributionStatements.tableCount) { try $0.first { try $0.int(0) } ?? 0 }
    }

    /// Checks that tables can be distributed.
    ///
    /// - Throws: kind `misuse` that says what to do.
    static func check(_ connection: isolated PostgresConnection) throws {
        guard try isInstalled(connection) else {
            throw PostgresError(
                .misuse,
                "the database has no extension citus; add citus to shared_preload_libraries on every server, "
                    + "run CREATE EXTENSION citus in this database on every server, "
                    + "and add the servers with citus_set_coordinator_host and citus_add_node on the coordinator"
            )
        }
        guard try connection.query(DistributionStatements.hasWorkers, [], { $0.count > 0 }) else {
            throw PostgresError(
                .misuse,
                "the Citus cluster has no workers; on the coordinator, run citus_set_coordinator_host and, for each worker, citus_add_node"
            )
        }
    }

    /// Whether the server is a worker of a Citus cluster.
    static func isWorker(_ connection: isolated PostgresConnection) throws -> Bool {
        guard try isInstalled(connection) else { return false }
        return try connection.query(DistributionStatements.isCoordinator) { $0.count == 0 }
    }

    /// The message for a connection to a worker.
    package static let workerRefusal = "this server is a worker of a Citus cluster; connect to its coordinator"
}
