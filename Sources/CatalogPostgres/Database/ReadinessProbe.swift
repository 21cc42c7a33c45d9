internal import Catalog
internal import LibPQ
internal import Platform

/// Probes the database for `/readyz` on a separate connection and thread. So exhausted pools, a stalled server and the work of
/// other requests do not delay the response.
actor ReadinessProbe {
    private let connection: ProbeConnection
    private var probe: Task<Readiness, Never>?

    /// The executor of the steps of probes; nil if the system is out of threads. On the shared thread pool, each step would wait
    /// behind all other requests, and the sum of the waits would count as the database's time.
    private static let executor = try? ThreadExecutor(name: "readiness")

    /// The maximum time that a caller waits.
    private static let timeout: Duration = .milliseconds(800)

    init(_ configuration: PostgresConfiguration) { connection = ProbeConnection(configuration) }

    /// Returns the readiness; `unavailable` if the database does not respond in time. Concurrent callers share one
    /// probe.
    nonisolated func readiness() async -> Readiness {
        await result(within: Self.timeout, otherwise: .unavailable, on: Self.executor) { await self.sharedProbe() }
    }

    func close() async { await connection.close() }

    private func sharedProbe() async -> Readiness {
        if let probe { return await probe.value }
        let task = Task(executorPreference: Self.executor) { await self.runProbe() }
        probe = task
        defer { probe = nil }
        return await task.value
    }

    private func runProbe() async -> Readiness {
        do {
            let readiness = try await connection.perform(within: Self.timeout) { connection in
                guard try Migrator.schemaState(connection).isUsable else { return Readiness.unavailable }
                let isReadOnly = try connection.query(
                    DatabaseStatements.isReadOnly
                ) { try $0.first { try $0.bool(0) } ?? true }
                return isReadOnly ? .readOnly : .ready
            }
            // After a failover another host may be the primary, so the next probe reconnects.
            if readiness == .readOnly { await close() }
            return readiness
        } catch { return .unavailable }
    }
}
