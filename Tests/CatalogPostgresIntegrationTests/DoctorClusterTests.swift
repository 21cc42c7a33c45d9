import Testing

@testable import CatalogPostgres

/// The doctor's checks of a Citus cluster.
@Suite struct DoctorClusterTests {
    private static let coordinator = ClusterState.Node(
        name: "db0:5432",
        isCoordinator: true,
        isActive: true,
        shards: 4,
        lostShards: 0
    )

    private static func worker(isActive: Bool = true, lostShards: Int = 0) -> ClusterState.Node {
        ClusterState.Node(
            name: "db1:5432",
            isCoordinator: false,
            isActive: isActive,
            shards: 90,
            lostShards: lostShards
        )
    }

    private static func cluster(
        isCoordinator: Bool = true,
        _ nodes: [ClusterState.Node] = [coordinator, worker()],
        _ change: (inout ClusterState) -> Void = { _ in }
    ) -> ClusterState {
        var state = ClusterState(version: "13.2-1", isCoordinator: isCoordinator, nodes: nodes)
        change(&state)
        return state
    }

    @Test("A healthy cluster has its size as the only finding")
    func healthyCluster() {
        let findings = DoctorCluster.findings(Self.cluster())
        #expect(findings.map(\.verdict) == [.ok])
        #expect(findings.map(\.text) == ["Citus 13.2-1: a coordinator and 1 worker"])
    }

    @Test("Each problem of a cluster is reported with a remedy")
    func problems() {
        let states: [(ClusterState, String, String)] = [
            (Self.cluster(isCoordinator: false), "is a worker", "connect to the coordinator"),
            (Self.cluster([Self.worker()]), "Citus 13.2-1", "citus_set_coordinator_host"),
            (
                Self.cluster([Self.coordinator, Self.worker(isActive: false)]), "db1:5432 is disabled",
                "citus_activate_node"
            ),
            (Self.cluster([Self.coordinator, Self.worker(lostShards: 3)]), "3 shards", "citus_shards"),
            (Self.cluster { $0.unreachableNodes = ["db1:5432"] }, "cannot connect to the server db1:5432", "fail over"),
            (Self.cluster { $0.brokenConnections = ["db0:5432 → db1:5432"] }, "db0:5432 → db1:5432", "pg_hba.conf"),
            (
                Self.cluster { $0.nodesWithFewPreparedTransactions = ["db1:5432"] }, "db1:5432",
                "max_prepared_transactions"
            ),
            (Self.cluster { $0.nodesWithoutLogicalDecoding = ["db1:5432"] }, "db1:5432", "wal_level = logical"),
            (
                Self.cluster { $0.nodesWithOldTransactions = ["db1:5432"] }, "five minutes",
                "recover_prepared_transactions"
            ),
            (Self.cluster { $0.localTables = ["user_token"] }, "user_token", "aisle db migrate --citus"),
        ]
        for (state, text, remedy) in states {
            let problems = DoctorCluster.findings(state).filter { $0.verdict == .problem }
            #expect(problems.count == 1, "\(text)")
            #expect(problems.first?.text.contains(text) == true, "\(problems)")
            #expect(problems.first?.remedy?.contains(remedy) == true, "\(problems)")
        }
    }
}
