internal import Catalog
internal import LibPQ
internal import Synchronization

/// The replicas of a database, which are monitored once a second.
package final class Replicas: Sendable {
    let all: [Replica]
    private let primary: ProbeConnection
    private struct State {
        var selection: ReplicaSelection
        /// The problem of each replica that was observed last.
        var observed: [ReplicaProblem?]
    }

    private let state: Mutex<State>
    private let observer: Observer<DatabaseObservation>
    private let monitors = Mutex<[Task<Void, Never>]>([])

    /// The default of the maximum lag of a replica that is used.
    package static let lagLimit: Duration = .seconds(10)

    /// The pause between two probes of a server.
    private static let interval: Duration = .seconds(1)
    /// How long a server may take to answer a probe.
    private static let probeLimit: Duration = .seconds(1)

    /// - Parameter primary: the configuration of the primary.
    init(
        _ configurations: [PostgresConfiguration],
        primary: PostgresConfiguration,
        connections: ConnectionCounts,
        lagLimit: Duration,
        observer: Observer<DatabaseObservation>
    ) throws {
        all = try configurations.map { try Replica($0, connections: connections) }
        var monitored = primary
        monitored.connectTimeout = .seconds(2)
        self.primary = ProbeConnection(monitored)
        state = Mutex(
            State(
                selection: ReplicaSelection(count: configurations.count, lagLimit: lagLimit),
                observed: configurations.map { _ in .unreachable }
            )
        )
        self.observer = observer
    }

    /// The state of each replica.
    var status: [ReadServerStatus] {
        let selection = state.withLock { $0.selection }
        return all.enumerated().map { index, replica in
            ReadServerStatus(
                kind: .replica,
                name: replica.name,
                problem: selection.problem(index)?.rawValue,
                reads: replica.readCount,
                lag: selection.lag(index)
            )
        }
    }

    /// Whether replicas answer reads while the primary does not respond.
    var replacePrimary: Bool { state.withLock { !$0.selection.primaryResponds && $0.selection.hasUsableReplica } }

    // MARK: - Reads

    /// Chooses a replica for a read; nil if only the primary can answer.
    func choose(for position: LogPosition?) -> ReplicaRead? {
        guard let (index, requirement) = state.withLock({ $0.selection.choose(for: position) }) else { return nil }
        all[index].countRead()
        return ReplicaRead(replicas: self, index: index, requirement: requirement)
    }

    /// Records the report that came with a read, unless another epoch has begun.
    func replicaReported(_ report: ReplicaReport, _ index: Int, of epoch: EpochRecord) {
        state.withLock { state in
            if state.selection.epoch == epoch { state.selection.replicaReported(report, index) }
        }
    }

    /// Records that a read will be repeated on the primary. A replica whose connections fail is passed over until its monitor reaches
    /// it again.
    func readFailed(_ error: any Error, _ index: Int) {
        let reason: String
        switch error {
        case let error as PostgresError:
            reason = error.description
            if error.kind == .connection || error.kind == .deadline { update { $0.replicaFailed(.unreachable, index) } }
        case let problem as ReplicaProblem: reason = problem.rawValue
        default: reason = "\(type(of: error))"
        }
        observer.observe(.replicaPassedOver(name: all[index].name, reason: reason))
    }

    // MARK: - Monitors

    func start() {
        monitors.withLock { monitors in
            monitors.append(Task.detached { await self.repeating { await self.probePrimary() } })
            for index in all.indices {
                monitors.append(Task.detached { await self.repeating { await self.probeReplica(index) } })
            }
        }
    }

    func shutDown() {
        for monitor in monitors.withLock({ $0 }) { monitor.cancel() }
        for replica in all { replica.shutDown() }
        Task { [primary] in await primary.close() }
    }

    private func repeating(_ probe: () async -> Void) async {
        while !Task.isCancelled {
            await probe()
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Asks the primary for its epoch and its position.
    func probePrimary() async {
        do {
            // The position is at least as old as the time.
            let (epoch, position) = try await primary.perform(within: Self.probeLimit) { connection in
                let found = try Self.primaryState(connection)
                if let epoch = found.epoch { return (epoch, found.position) }
                try DatabaseEpoch.record(connection)
                let recorded = try Self.primaryState(connection)
                guard let epoch = recorded.epoch else { throw CatalogError.readOnly }
                return (epoch, recorded.position)
            }
            update { $0.primaryReported(epoch, position: position, at: .now) }
        } catch {
            // After a failover another host may be the primary, so the next probe reconnects.
            await primary.close()
            update { $0.primaryFailed() }
        }
    }

    /// Returns the epoch, and the position up to which the log is flushed. The epoch is nil if it is not recorded yet.
    ///
    /// - Throws: `readOnly` on a standby.
    private static func primaryState(
        _ connection: isolated PostgresConnection
    ) throws -> (epoch: EpochRecord?, position: Int64) {
        let found = try connection.query(ReplicaStatements.primary) { rows in
            try rows.first { row in
                (EpochRecord(identity: try row.textOrNil(0), startedAt: try row.int8OrNil(1)), try row.int8OrNil(2))
            }
        }
        guard let found, let position = found.1 else { throw CatalogError.readOnly }
        return (found.0, position)
    }

    /// Asks a replica for a report.
    func probeReplica(_ index: Int) async {
        let epoch = state.withLock { $0.selection.epoch }
        do {
            let (report, isDistributed) = try await all[index].probe.perform(within: Self.probeLimit) { connection in
                let report = try ReplicaStatements.report(epoch, connection)
                return (report, try Distribution.isInstalled(connection))
            }
            update { selection in
                // Meanwhile, another epoch may have begun, of which the report has no record.
                guard selection.epoch == epoch else { return }
                if isDistributed { return selection.replicaFailed(.distributed, index) }
                guard let report else { return selection.replicaFailed(.unreachable, index) }
                selection.replicaReported(report, index)
            }
        } catch { update { $0.replicaFailed(.unreachable, index) } }
    }

    /// Changes the selection, and observes the replicas that are used or passed over from now on.
    private func update(_ change: (inout ReplicaSelection) -> Void) {
        let changed = state.withLock { state in
            change(&state.selection)
            let problems = all.indices.map { state.selection.problem($0) }
            defer { state.observed = problems }
            return all.indices.filter { problems[$0] != state.observed[$0] }.map { ($0, problems[$0]) }
        }
        for (index, problem) in changed {
            observer.observe(.replicaChanged(name: all[index].name, reason: problem?.rawValue))
        }
    }
}
