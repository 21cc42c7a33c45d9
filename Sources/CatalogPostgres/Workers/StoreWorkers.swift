internal import Catalog
internal import LibPQ
internal import Synchronization

/// The workers of a Citus cluster, from which a server reads the pages of their stores without the coordinator.
///
/// A monitor asks the coordinator once a second where the shards are. Each read checks that its worker still has the shard; otherwise, and
/// after each other failure, it is repeated through the coordinator. See decision 0049.
package final class StoreWorkers: Sendable {
    /// The shards that have the same stores: a shard of `shelf`, and those of other tables.
    struct Shard: Sendable {
        /// The id of the shard of `shelf`.
        let id: Int64
        let tables: ShardTables
        /// The name of the worker that has it.
        var worker: String
        /// Reads use the coordinator until then.
        var pausedUntil: ContinuousClock.Instant?
    }

    private struct State {
        var shards: [Int64: Shard] = [:]
        /// The shards of stores, by the store's id.
        var shardsOfStores: [Int32: Int64] = [:]
        /// The ids of stores whose shards are asked for.
        var unknownStores: Set<Int32> = []
        var workers: [String: Worker] = [:]
        var monitors: [String: Task<Void, Never>] = [:]
        var isShutDown = false
    }

    private let coordinator: PostgresConfiguration
    private let connections: ConnectionCounts
    private let observer: Observer
    private let probe: ProbeConnection
    private let state = Mutex(State())
    /// Wakes the monitor of the coordinator.
    private let wakeups: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

    var names: StatementNames { coordinator.statementNames }

    /// The pause between two probes of a server.
    private static let interval: Duration = .seconds(1)
    /// How long a server may take to answer a probe.
    private static let probeLimit: Duration = .seconds(2)
    /// How long a shard is read through the coordinator after a statement failed on its worker.
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

    /// The state of each worker, by name.
    package var status: [WorkerStatus] {
        state.withLock { $0.workers.values.map(\.status) }.sorted { $0.name < $1.name }
    }

    // MARK: - Reads

    /// Returns the worker of a store; nil if only the coordinator can answer.
    ///
    /// - Parameter lane: the connections of the coordinator.
    func read(of store: Int32, _ lane: PageLane) -> WorkerRead? {
        let (found, mustAsk) = state.withLock { state -> (WorkerRead?, Bool) in
            guard let id = state.shardsOfStores[store] else {
                return (nil, !state.shards.isEmpty && state.unknownStores.insert(store).inserted)
            }
            guard let shard = state.shards[id], let worker = state.workers[shard.worker], worker.isUsable,
                shard.pausedUntil.map({ $0 <= .now }) ?? true
            else { return (nil, false) }
            return (WorkerRead(shard: shard, worker: worker, workers: self, coordinator: lane), false)
        }
        if mustAsk { wakeups.continuation.yield() }
        return found
    }

    /// Records that a worker could not answer a read.
    func readFailed(_ error: PostgresError, _ shard: Shard, _ worker: Worker) {
        observer.observe(.workerPassedOver(name: worker.name, reason: error.description))
        if error.kind == .connection || error.kind == .deadline {
            update(worker, error.description)
        } else {
            pause(shard)
        }
    }

    /// Records that a worker no longer has a shard.
    func shardMoved(_ shard: Shard, from worker: Worker) {
        observer.observe(.workerPassedOver(name: worker.name, reason: "the shard \(shard.id) is on another server"))
        state.withLock { state in
            if state.shards[shard.id]?.worker == worker.name { state.shards[shard.id] = nil }
        }
        wakeups.continuation.yield()
    }

    private func pause(_ shard: Shard) {
        state.withLock { $0.shards[shard.id]?.pausedUntil = .now + Self.pause }
    }

    private func update(_ worker: Worker, _ problem: String?) {
        if worker.setProblem(problem) { observer.observe(.workerChanged(name: worker.name, reason: problem)) }
    }

    // MARK: - Monitors

    func start() {
        let monitor = Task.detached { [self] in
            var wakeups = wakeups.stream.makeAsyncIterator()
            while !Task.isCancelled {
                // Without Citus, there is nothing to do.
                if await refresh() == false { return }
                // A second later, or when a read needs something.
                let timer = Task { [continuation = self.wakeups.continuation] in
                    // A cancelled timer must not wake the monitor again.
                    guard (try? await Task.sleep(for: Self.interval)) != nil else { return }
                    continuation.yield()
                }
                _ = await wakeups.next()
                timer.cancel()
            }
        }
        add(monitor, "coordinator")
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

    private func add(_ monitor: Task<Void, Never>, _ name: String) {
        let isShutDown = state.withLock { state in
            if !state.isShutDown { state.monitors[name] = monitor }
            return state.isShutDown
        }
        if isShutDown { monitor.cancel() }
    }

    /// Asks the coordinator where the shards are.
    ///
    /// - Returns: false without Citus; nil if the coordinator does not answer. The known places still hold then, because only the coordinator
    ///   moves shards.
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

    private func apply(_ map: ShardMap, _ wanted: [Int32]) {
        let (added, removed) = state.withLock { state -> ([Worker], [Worker]) in
            guard !state.isShutDown else { return ([], []) }
            var shards: [Int64: Shard] = [:]
            for place in map.places {
                let tables = map.tables[place.shard].map { ShardTables($0) } ?? state.shards[place.shard]?.tables
                guard let tables else { continue }
                let name = Worker.name(host: place.host, port: place.port)
                let pausedUntil = state.shards[place.shard]?.pausedUntil
                shards[place.shard] = Shard(id: place.shard, tables: tables, worker: name, pausedUntil: pausedUntil)
            }
            // Stores have other shards after a split.
            if !map.tables.isEmpty || state.shardsOfStores.count > Self.storeLimit { state.shardsOfStores = [:] }
            state.shards = shards
            state.shardsOfStores.merge(map.shardsOfStores) { $1 }
            state.unknownStores.subtract(wanted)
            var added: [Worker] = []
            for place in map.places where state.workers[Worker.name(host: place.host, port: place.port)] == nil {
                guard let worker = try? Worker(host: place.host, port: place.port, coordinator, connections) else {
                    continue
                }
                state.workers[worker.name] = worker
                added.append(worker)
            }
            let used = Set(map.places.map { Worker.name(host: $0.host, port: $0.port) })
            let removed = state.workers.filter { !used.contains($0.key) }.map(\.value)
            for worker in removed {
                state.workers[worker.name] = nil
                state.monitors[worker.name]?.cancel()
                state.monitors[worker.name] = nil
            }
            return (added, removed)
        }
        for worker in added { add(Task.detached { await self.monitor(worker) }, worker.name) }
        for worker in removed { worker.shutDown() }
    }

    private func monitor(_ worker: Worker) async {
        while !Task.isCancelled {
            do {
                let isPrimary = try await worker.probe.perform(within: Self.probeLimit) {
                    try $0.query(WorkerStatements.isPrimary) { $0.count > 0 }
                }
                update(worker, isPrimary ? nil : "it is a standby")
            } catch { update(worker, "it cannot be reached") }
            try? await Task.sleep(for: Self.interval)
        }
    }
}

/// Where the shards of stores are.
private struct ShardMap: Sendable {
    struct Place: Sendable {
        let shard: Int64
        let host: String
        let port: Int
    }

    var places: [Place] = []
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
        var map = ShardMap()
        map.places = try connection.query(WorkerStatements.shards) { rows in
            try rows.map { Place(shard: try $0.int8(0), host: try $0.text(1), port: try $0.int(2)) }
        }
        if !Set(map.places.map(\.shard)).isSubset(of: known) {
            try connection.query(WorkerStatements.tables) { rows in
                try rows.forEach { row in
                    let table = try row.text(1)
                    map.tables[try row.int8(0), default: [:]][table] = "\(table)_\(try row.int8(2))"
                }
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
