/// Checks of a Citus cluster.
enum DoctorCluster {
    static func findings(_ state: ClusterState) -> [Doctor.Finding] {
        guard state.isCoordinator else {
            return [
                Doctor.Finding(
                    false,
                    "this server is a worker of a Citus cluster: local tables, new stores and migrations need the coordinator",
                    "connect to the coordinator"
                )
            ]
        }
        let workers = state.nodes.count { !$0.isCoordinator }
        var findings = [
            Doctor.Finding(
                state.nodes.contains { $0.isCoordinator },
                "Citus \(state.version): a coordinator and \(workers == 1 ? "1 worker" : "\(workers) workers")",
                "SELECT citus_set_coordinator_host('<host>', <port>)"
            )
        ]
        for node in state.nodes where !node.isActive {
            findings.append(
                Doctor.Finding(
                    false,
                    "the server \(node.name) is disabled: its stores and users are unavailable",
                    "start the server, then: SELECT citus_activate_node('<host>', <port>)"
                )
            )
        }
        for node in state.nodes where node.lostShards > 0 {
            findings.append(
                Doctor.Finding(
                    false,
                    "\(node.lostShards) shards of the server \(node.name) cannot be used",
                    "restore the server; see SELECT * FROM citus_shards"
                )
            )
        }
        for node in state.unreachableNodes {
            findings.append(
                Doctor.Finding(
                    false,
                    "the coordinator cannot connect to the server \(node): its stores and users are unavailable",
                    "start PostgreSQL there, or fail over; if it hangs, stop it first; otherwise check pg_hba.conf, ~/.pgpass and the network; then repeat aisle doctor, which has skipped other checks"
                )
            )
        }
        for connection in state.brokenConnections {
            findings.append(
                Doctor.Finding(
                    false,
                    "a connection between servers does not work: \(connection)",
                    "start the server, or check pg_hba.conf, ~/.pgpass and the network; see SELECT * FROM citus_check_cluster_node_health()"
                )
            )
        }
        for node in state.nodesWithFewPreparedTransactions {
            findings.append(
                Doctor.Finding(
                    false,
                    "max_prepared_transactions of the server \(node) is below max_connections: changes of several shards may fail",
                    "ALTER SYSTEM SET max_prepared_transactions to the value of max_connections there, and restart it"
                )
            )
        }
        for node in state.nodesWithoutLogicalDecoding {
            findings.append(
                Doctor.Finding(
                    false,
                    "the server \(node) cannot move shards while they are written, because its wal_level is not logical",
                    "ALTER SYSTEM SET wal_level = logical there, and restart it"
                )
            )
        }
        for node in state.nodesWithOldTransactions {
            findings.append(
                Doctor.Finding(
                    false,
                    "the server \(node) has prepared transactions that are older than five minutes: they hold locks",
                    "SELECT recover_prepared_transactions() on the coordinator; see pg_prepared_xacts on the server"
                )
            )
        }
        if !state.localTables.isEmpty {
            findings.append(
                Doctor.Finding(
                    false,
                    "tables are not distributed: \(state.localTables.joined(separator: ", "))",
                    "aisle db migrate --citus"
                )
            )
        }
        return findings
    }
}
