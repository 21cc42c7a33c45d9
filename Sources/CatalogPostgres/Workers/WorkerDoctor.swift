internal import Catalog
package import LibPQ

/// Checks whether servers can read pages from the workers of a Citus cluster.
package struct WorkerDoctor: Sendable {
    private let coordinator: PostgresPool

    package init(coordinator: PostgresPool) { self.coordinator = coordinator }

    /// Connects to each worker that has stores; returns nothing without Citus.
    ///
    /// - Throws: `PostgresError` if the coordinator is unreachable.
    package func examine() async throws -> [Doctor.Finding] {
        let addresses = try await coordinator.perform(within: TimeLimit.lookup.duration) { connection in
            guard try Distribution.isDistributed(connection) else { return Set<WorkerAddress>() }
            return try connection.query(WorkerStatements.shards) { rows in
                Set(try rows.map { try WorkerAddress($0, from: 1) })
            }
        }
        var findings: [Doctor.Finding] = []
        for address in addresses.sorted(by: { $0.name < $1.name }) { findings.append(await examine(address)) }
        return findings
    }

    private func examine(_ address: WorkerAddress) async -> Doctor.Finding {
        if await isReachable(address) {
            return Doctor.Finding(true, "pages are read from the worker \(address.name)")
        }
        return Doctor.Finding(
            advice:
                "the worker \(address.name) cannot be reached from here: pages of its stores go through the coordinator",
            "allow the connections of servers in its pg_hba.conf, or set AISLE_READ_WORKERS=false"
        )
    }

    private func isReachable(_ address: WorkerAddress) async -> Bool {
        guard let configuration = try? Worker.configuration(of: address, coordinator.configuration),
            let connection = try? await PostgresConnection.connect(configuration)
        else { return false }
        let identity = try? await connection.perform(within: TimeLimit.lookup.duration) {
            try DatabaseEpoch.worker($0)
        }
        await connection.close()
        return identity != nil
    }
}
