internal import Catalog
internal import LibPQ
internal import Synchronization

/// The workers of a Citus cluster, from which a server reads the pages of their stores without the coordinator.
///
/// A monitor asks the coordinator once a second where the shards are. Each read checks that its worker still has the shard; otherwise, and
/// after a lost connection or an error, it is retried through the coordinator. See decision 0049.
///
/// Reads through the coordinator have separate connections for each worker. In each pool of connections for transactions, the callers
/// that need the same worker are a group. So a worker that does not respond delays only its own stores and users. See decision 0060.
final class StoreWorkers: Sendable {
    /// The shards that have the same stores: a shard of `shelf`, and those of other tables.
    struct Shard: Sendable {
        /// The id of the shard of `shelf`.
        let id: Int64
        let tables: ShardTables
        /// The address of the worker that has it.
        let worker: WorkerAddress
        /// Reads use the coordinator until then.
        var pausedUntil: ContinuousClock.Instant?
    }

    private struct State {
        var shards: [Int64: Shard] = [:]
        /// The shards of stores, and those of users.
        var ranges = ShardRanges()
        var workers: [WorkerAddress: Worker] = [:]
        /// The monitors of the workers, and that of the coordinator.
        var monitors: [WorkerAddress?: Task<Void, Never>] = [:]
        /// The time of the last answer of the coordinator.
        var refreshedAt: ContinuousClock.Instant?
        var isShutDown = false
    }

    private let coordinator: PostgresConfiguration
    private let connections: ConnectionCounts
    private let observer: Observer<DatabaseObservation>
    private let probe: ProbeConnection
    private let state = Mutex(State())
    private let mayBeDistributed = Atomic<Bool>(true)
    /// Wakes the monitor of the coordinator.
    private let wakeups: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

    var names: StatementNames { coordinator.statementNames }

    /// The pause between two probes of a server.
    private static let interval: Duration = .seconds(1)
    /// The pause between two probes of a worker that does not answer.
    private static let intervalOfFailures: Duration = .seconds(5)
    /// The pause after a probe that a read has caused.
    private static let minimumInterval: Duration = .milliseconds(50)
    /// How long the answer of the coordinator holds. Without it, a server that cannot reach the coordinator might read from a worker that a
    /// standby has replaced.
    private static let lease: Duration = .seconds(5)
    /// How long a server may take to answer a probe.
    private static let probeLimit: Duration = .seconds(2)
    /// How long a shard is read through the coordinator after its worker could not answer.
    private static let pause: Duration = .seconds(5)

    /// - Parameter coordinator: the configuration of the coordinator.
    init(
        _ coordinator: PostgresConfiguration,
        _ connections: ConnectionCounts,
        _ observer: Observer<DatabaseObservation>
    ) {
        var monitored = coordinator
        monitored.connectTimeout = .seconds(2)
        (self.coordinator, self.connections, self.observer) = (coordinator, connections, observer)
        probe = ProbeConnection(monitored)
        wakeups = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Whether the tables are distributed, or that is not known yet.
    var isActive: Bool { mayBeDistributed.load(ordering: .relaxed) }

    /// The state of each worker, by name.
    var status: [ReadServerStatus] {
        state.withLock { $0.workers.values.map(\.status) }.sorted { $0.name < $1.name }
    }

    // MARK: - Reads

    /// Returns a way to read a store; nil if it is not known which worker has it.
    ///
    /// - Parameters:
    ///   - user: the user whose rows the read needs, too.
    ///   - coordinator: the connections to the coordinator for these rows, and for long reads.
    /// - Returns: the connections of the worker are nil if the coordinator must answer.
    func read(
        of store: Int32,
        for user: DataOwner? = nil,
        through coordinator: PrimaryRead
    ) -> (read: WorkerRead, shortReads: PageLane?)? {
        guard isActive else { return nil }
        let now = ContinuousClock.now
        let owner = DataOwner.store(store)
        let hash = owner.hash
        let found = state.withLock { state -> (shard: Shard, worker: Worker, isUsable: Bool)? in
            guard let placement = state.ranges.stores.placement(of: hash), let shard = state.shards[placement.shard],
                let worker = state.workers[shard.worker]
            else { return nil }
            let isCurrent = state.refreshedAt.map { now <= $0 + Self.lease } ?? false
            return (shard, worker, isCurrent && shard.pausedUntil.map { $0 <= now } ?? true)
        }
        guard let found else { return nil }
        let read = WorkerRead(
            owner: owner,
            user: user,
            shard: found.shard,
            worker: found.worker,
            workers: self,
            coordinator: coordinator
        )
        return (read, found.isUsable ? found.worker.shortReads : nil)
    }

    /// Returns the worker that has the rows of an owner; nil if it is not known.
    func worker(of owner: DataOwner) -> Worker? {
        guard isActive else { return nil }
        let hash = owner.hash
        return state.withLock { state in
            state.ranges[owner].placement(of: hash).flatMap { state.workers[$0.worker] }
        }
    }

    /// The group of the callers with an unknown worker or several workers. If a worker does not respond, its group and this group leave a
    /// quarter of the connections to other callers.
    private static let otherGroup = PoolGroup("several workers", divisor: 4)

    /// Returns the group of the callers that need the rows of one or two owners; nil without Citus or known workers.
    func group(of owner: DataOwner?, and other: DataOwner? = nil) -> PoolGroup? {
        guard isActive, state.withLock({ !$0.workers.isEmpty }) else { return nil }
        guard let worker = owner.flatMap({ worker(of: $0) }) else { return Self.otherGroup }
        if let other, self.worker(of: other) !== worker { return Self.otherGroup }
        return worker.group
    }

    /// Whether a worker still has shards.
    func uses(_ worker: Worker) -> Bool { state.withLock { $0.workers[worker.address] === worker } }

    /// Records that a worker could not answer a read.
    func readFailed(_ error: PostgresError, _ shard: Shard, _ worker: Worker) {
        observer.observe(.workerPassedOver(name: worker.name, reason: error.description))
        if error.kind == .connection { passOver(worker, error.description) } else { pause(shard) }
    }

    /// Records that a worker no longer has a shard.
    func shardMoved(_ shard: Shard, from worker: Worker) {
        observer.observe(.workerPassedOver(name: worker.name, reason: "the shard \(shard.id) is on another server"))
        pause(shard)
        wakeups.continuation.yield()
    }

    /// Lets reads of a shard use the coordinator for a while, unless it has moved.
    private func pause(_ shard: Shard) {
        state.withLock { state in
            if state.shards[shard.id]?.worker == shard.worker {
                state.shards[shard.id]?.pausedUntil = .now + Self.pause
            }
        }
    }

    private func passOver(_ worker: Worker, _ reason: String) {
        if worker.passOver(reason) { observer.observe(.workerChanged(name: worker.name, reason: reason)) }
    }

    // MARK: - Monitors

    func start() {
        let monitor = Task.detached { [self] in
            var wakeups = wakeups.stream.makeAsyncIterator()
            while !Task.isCancelled {
                if await refresh() == false {
                    // Without Citus, there is nothing to do.
                    mayBeDistributed.store(false, ordering: .relaxed)
                    return await probe.close()
                }
                // A second later, or when a read needs something.
                try? await Task.sleep(for: Self.minimumInterval)
                let timer = Task { [continuation = self.wakeups.continuation] in
                    // A cancelled timer must not wake the monitor again.
                    guard (try? await Task.sleep(for: Self.interval)) != nil else { return }
                    continuation.yield()
                }
                _ = await wakeups.next()
                timer.cancel()
            }
        }
        add(monitor, of: nil)
    }

    func shutDown() {
        let (workers, monitors) = state.withLock { state in
            state.isShutDown = true
            defer { (state.workers, state.monitors) = ([:], [:]) }
            return (Array(state.workers.values), Array(state.monitors.values))
        }
        for monitor in monitors { monitor.cancel() }
        wakeups.continuation.finish()
        for worker in workers { worker.shutDown() }
        Task { [probe] in await probe.close() }
    }

    /// - Parameter address: nil for the monitor of the coordinator.
    private func add(_ monitor: Task<Void, Never>, of address: WorkerAddress?) {
        let isShutDown = state.withLock { state in
            if !state.isShutDown { state.monitors[address] = monitor }
            return state.isShutDown
        }
        if isShutDown { monitor.cancel() }
    }

    /// Asks the coordinator where the shards are.
    ///
    /// - Returns: false without Citus; nil if the coordinator does not answer. The last known placements remain valid for a while.
    private func refresh() async -> Bool? {
        let known = state.withLock { Set($0.shards.keys) }
        do {
            let map = try await probe.perform(within: Self.probeLimit) { try ShardMap.read(known, $0) }
            guard let map else { return false }
            apply(map)
            return true
        } catch {
            // After a failover another host may be the coordinator, so the next probe reconnects.
            await probe.close()
            return nil
        }
    }

    /// Uses the shards and workers of a map. Only the monitor of the coordinator calls this.
    func apply(_ map: ShardMap) {
        let used = map.ranges.workers
        let missing = state.withLock { state in used.filter { state.workers[$0] == nil } }
        let added = missing.compactMap { try? Worker($0, coordinator, eventLoops: connections.eventLoops) }
        let removed = state.withLock { state -> [Worker] in
            guard !state.isShutDown else { return added }
            var shards: [Int64: Shard] = [:]
            for placement in map.ranges.stores.placements {
                let former = state.shards[placement.shard]
                guard let tables = map.tables[placement.shard].map({ ShardTables($0) }) ?? former?.tables else {
                    continue
                }
                var shard = Shard(id: placement.shard, tables: tables, worker: placement.worker)
                if let former, former.worker == shard.worker { shard.pausedUntil = former.pausedUntil }
                shards[placement.shard] = shard
            }
            state.shards = shards
            state.ranges = map.ranges
            state.refreshedAt = map.readAt
            for worker in added { state.workers[worker.address] = worker }
            let removed = state.workers.filter { !used.contains($0.key) }.map(\.value)
            for worker in removed {
                state.workers[worker.address] = nil
                state.monitors.removeValue(forKey: worker.address)?.cancel()
            }
            return removed
        }
        for worker in added { add(Task.detached { await self.monitor(worker) }, of: worker.address) }
        for worker in removed { worker.retire() }
    }

    private func monitor(_ worker: Worker) async {
        var recorded: WorkerIdentity?
        while !Task.isCancelled {
            do {
                let identity = try await worker.probe.perform(within: Self.probeLimit) { try DatabaseEpoch.worker($0) }
                if let identity, identity != recorded {
                    // After a failover, it may lack commits that devices know.
                    try await probe.perform(within: Self.probeLimit) { try DatabaseEpoch.record(identity, $0) }
                    recorded = identity
                }
                if identity == nil {
                    passOver(worker, "it is a standby")
                } else if try worker.use() {
                    observer.observe(.workerChanged(name: worker.name, reason: nil))
                }
                try? await Task.sleep(for: Self.interval)
            } catch {
                passOver(worker, (error as? PostgresError)?.description ?? "\(type(of: error))")
                try? await Task.sleep(for: Self.intervalOfFailures)
            }
        }
    }
}

/// The shards as the coordinator knows them.
struct ShardMap: Sendable {
    /// The time before the coordinator was asked.
    let readAt: ContinuousClock.Instant
    var ranges = ShardRanges()
    /// The names of shards by table, for each shard of `shelf`; empty if they are known.
    var tables: [Int64: [String: String]] = [:]

    /// - Parameter known: the shards whose tables are known.
    /// - Returns: nil without Citus.
    static func read(_ known: Set<Int64>, _ connection: isolated PostgresConnection) throws -> ShardMap? {
        guard try Distribution.isDistributed(connection) else { return nil }
        var map = ShardMap(readAt: .now)
        map.ranges = try connection.query(WorkerStatements.shards) { try ShardRanges($0) }
        if !map.ranges.stores.placements.allSatisfy({ known.contains($0.shard) }) {
            try connection.query(WorkerStatements.tables) { rows in
                try rows.forEach { map.tables[try $0.int8(0), default: [:]][try $0.text(1)] = try $0.text(2) }
            }
        }
        return map
    }
}
