internal import Catalog
internal import LibPQ
internal import Synchronization

/// The workers of a Citus cluster, from which a server reads the pages of their stores without the coordinator.
///
/// A monitor asks the coordinator once a second where the shards are. Each read checks that its worker still has the shard; otherwise, and
/// after a lost connection or an error, it is retried through the coordinator. See decision 0049.
package final class StoreWorkers: Sendable {
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
        /// The shards of stores, by the store's id.
        var shardsOfStores: [Int32: Int64] = [:]
        /// The ids of stores whose shards are asked for.
        var unknownStores: Set<Int32> = []
        var workers: [WorkerAddress: Worker] = [:]
        /// The monitors of the workers, and that of the coordinator.
        var monitors: [WorkerAddress?: Task<Void, Never>] = [:]
        /// The time of the last answer of the coordinator.
        var refreshedAt: ContinuousClock.Instant?
        var isShutDown = false
    }

    private let coordinator: PostgresConfiguration
    private let connections: ConnectionCounts
    private let observer: Observer
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
    /// The number of stores whose shards are known: a few megabytes.
    private static let storeLimit = 50_000

    /// - Parameter coordinator: the configuration of the coordinator.
    init(_ coordinator: PostgresConfiguration, _ connections: ConnectionCounts, _ observer: Observer) {
        var monitored = coordinator
        monitored.connectTimeout = .seconds(2)
        (self.coordinator, self.connections, self.observer) = (coordinator, connections, observer)
        probe = ProbeConnection(monitored)
        wakeups = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Whether the tables are distributed, or that is not known yet.
    var isActive: Bool { mayBeDistributed.load(ordering: .relaxed) }

    /// The state of each worker, by name.
    package var status: [WorkerStatus] {
        state.withLock { $0.workers.values.map(\.status) }.sorted { $0.name < $1.name }
    }

    // MARK: - Reads

    /// Returns the worker of a store; nil if only the coordinator can answer.
    ///
    /// - Parameter lane: the connections of the coordinator.
    func read(of store: Int32, _ lane: PageLane) -> WorkerRead? {
        guard isActive else { return nil }
        let now = ContinuousClock.now
        let (found, mustAsk) = state.withLock { state -> (WorkerRead?, Bool) in
            guard let id = state.shardsOfStores[store] else {
                return (nil, !state.shards.isEmpty && state.unknownStores.insert(store).inserted)
            }
            guard let refreshedAt = state.refreshedAt, now <= refreshedAt + Self.lease, let shard = state.shards[id],
                shard.pausedUntil.map({ $0 <= now }) ?? true,
                let worker = state.workers[shard.worker], let pages = worker.pages
            else { return (nil, false) }
            return (
                WorkerRead(shard: shard, worker: worker, pages: pages, workers: self, coordinator: lane), false
            )
        }
        if mustAsk { wakeups.continuation.yield() }
        return found
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
        let (known, wanted) = state.withLock { (Set($0.shards.keys), Array($0.unknownStores)) }
        do {
            let map = try await probe.perform(within: Self.probeLimit) { try ShardMap.read(known, wanted, $0) }
            guard let map else { return false }
            apply(map, wanted)
            return true
        } catch {
            // After a failover another host may be the coordinator, so the next probe reconnects.
            await probe.close()
            return nil
        }
    }

    /// Only the monitor of the coordinator calls this.
    private func apply(_ map: ShardMap, _ wanted: [Int32]) {
        let used = Set(map.placements.map(\.worker))
        let missing = state.withLock { state in used.filter { state.workers[$0] == nil } }
        let added = missing.compactMap { try? Worker($0, coordinator, eventLoops: connections.eventLoops) }
        let removed = state.withLock { state -> [Worker] in
            guard !state.isShutDown else { return added }
            var shards: [Int64: Shard] = [:]
            for placement in map.placements {
                let former = state.shards[placement.shard]
                guard let tables = map.tables[placement.shard].map({ ShardTables($0) }) ?? former?.tables else {
                    continue
                }
                var shard = Shard(id: placement.shard, tables: tables, worker: placement.worker)
                if let former, former.worker == shard.worker { shard.pausedUntil = former.pausedUntil }
                shards[placement.shard] = shard
            }
            state.shards = shards
            // Stores have other shards after a split.
            state.shardsOfStores = state.shardsOfStores.filter { shards[$0.value] != nil }
            if state.shardsOfStores.count > Self.storeLimit { state.shardsOfStores = [:] }
            state.shardsOfStores.merge(map.shardsOfStores) { $1 }
            state.unknownStores.subtract(wanted)
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
        for worker in removed { worker.shutDown() }
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

/// The placements of the shards that have stores.
private struct ShardMap: Sendable {
    struct Placement: Sendable {
        let shard: Int64
        let worker: WorkerAddress
    }

    /// The time before the coordinator was asked.
    let readAt: ContinuousClock.Instant
    var placements: [Placement] = []
    /// The names of shards by table, for each shard of `shelf`; empty if they are known.
    var tables: [Int64: [String: String]] = [:]
    var shardsOfStores: [Int32: Int64] = [:]

    /// - Parameters:
    ///   - known: the shards whose tables are known.
    ///   - stores: the ids of stores whose shards are read.
    /// - Returns: nil without Citus.
    static func read(
        _ known: Set<Int64>,
        _ stores: [Int32],
        _ connection: isolated PostgresConnection
    ) throws -> ShardMap? {
        guard try Distribution.isDistributed(connection) else { return nil }
        var map = ShardMap(readAt: .now)
        map.placements = try connection.query(WorkerStatements.shards) { rows in
            try rows.map { Placement(shard: try $0.int8(0), worker: try WorkerAddress($0, from: 1)) }
        }
        if !Set(map.placements.map(\.shard)).isSubset(of: known) {
            try connection.query(WorkerStatements.tables) { rows in
                try rows.forEach { map.tables[try $0.int8(0), default: [:]][try $0.text(1)] = try $0.text(2) }
            }
        }
        if !stores.isEmpty {
            let ids = PostgresValue.int8Array(stores.map { Int64($0) })
            try connection.query(WorkerStatements.shardsOfStores, [ids]) { rows in
                try rows.forEach { map.shardsOfStores[try $0.int4(0)] = try $0.int8(1) }
            }
        }
        return map
    }
}
