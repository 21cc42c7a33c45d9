internal import Catalog
internal import CatalogHTTP
internal import CatalogJSON
internal import CatalogPostgres
internal import Live
internal import Metrics
internal import NIOCore
internal import NIOPosix
internal import Platform
internal import ServiceLifecycle
internal import Synchronization
internal import Telemetry

/// Reads the state of a running server, and exports it together with the counted observations.
final class ServerMonitor: Sendable {
    private let catalog: PostgresCatalog
    private let products: ProductFragments
    private let live: LiveHub
    private let drainState: DrainState
    private let connections: ConnectionCount
    private let log: ServerLog
    /// nil without tracing.
    private let spans: SpanExporter?
    private let observations: ObservationMetrics
    private let registry: MetricRegistry
    let startedAt: Timestamp
    /// The values of counters that were exported last. A counter can only be increased.
    private let exported = Mutex<[String: Double]>([:])
    private let resort = Mutex(KnownResort())
    /// The names of the workers that were exported last.
    private let exportedWorkers = Mutex<Set<String>>([])

    /// How long the state of re-sorts is remembered.
    private static let resortLifetime: Duration = .seconds(10)
    /// How long a scrape waits for the state of re-sorts; a slow database must not hide the other metrics.
    private static let resortPatience: Duration = .milliseconds(500)

    /// The state of re-sorts that was read last.
    private struct KnownResort {
        /// nil if none could be read yet.
        var status: ResortStatus?
        var until = ContinuousClock.now
        var isBeingRead = false
    }

    init(
        startedAt: Timestamp,
        catalog: PostgresCatalog,
        products: ProductFragments,
        live: LiveHub,
        drainState: DrainState,
        connections: ConnectionCount,
        log: ServerLog,
        spans: SpanExporter?,
        observations: ObservationMetrics,
        registry: MetricRegistry
    ) {
        self.startedAt = startedAt
        self.catalog = catalog
        self.products = products
        self.live = live
        self.drainState = drainState
        self.connections = connections
        self.log = log
        self.spans = spans
        self.observations = observations
        self.registry = registry
        gauge(ServerMetrics.startTime).record(Double(startedAt.microseconds) / 1e6)
        gauge(
            ServerMetrics.build,
            [("version", Aisle.version), ("build_id", CrashReport.buildID ?? "unknown")]
        ).record(1)
    }

    func state() async -> ServerState {
        async let readiness = catalog.database.readiness()
        async let resort = resortStatus()
        var shelves = catalog.shelfMemoryUse
        shelves.products = products.use
        return ServerState(
            readiness: await readiness,
            isDraining: drainState.isDraining,
            lanes: catalog.database.laneUses,
            shelves: shelves,
            readServers: catalog.database.router.status,
            streams: live.uses,
            connections: connections.current,
            requests: observations.recent.summary(),
            resort: await resort,
            process: .current(),
            droppedLogLines: log.droppedLines
        )
    }

    /// Returns the last known state of re-sorts; nil if there is none. An old one is read again.
    private func resortStatus() async -> ResortStatus? {
        let mustRead = resort.withLock { known in
            guard known.until <= .now, !known.isBeingRead else { return false }
            known.isBeingRead = true
            return true
        }
        if mustRead {
            await result(within: Self.resortPatience, otherwise: ()) { [self] in
                let status = await ResortStatus.read(catalog)
                resort.withLock {
                    $0 = KnownResort(status: status ?? $0.status, until: .now + Self.resortLifetime)
                }
            }
        }
        return resort.withLock { $0.status }
    }

    func isReady(for purpose: Readiness.Purpose) async -> Bool {
        await catalog.database.readiness().allows(purpose) && !drainState.isDraining
    }

    /// Returns all metrics.
    func metrics(_ format: MetricFormat) async -> String {
        export(await state())
        return registry.text(format)
    }

    private func export(_ state: ServerState) {
        gauge(ServerMetrics.connections).record(state.connections)
        for lane in state.lanes {
            for (name, value) in [("limit", lane.limit), ("open", lane.open), ("in_use", lane.inUse)] {
                guard let value else { continue }
                gauge(ServerMetrics.laneConnections, [("lane", lane.lane), ("state", name)]).record(value)
            }
            gauge(ServerMetrics.laneWaiting, [("lane", lane.lane)]).record(lane.waiting)
        }
        gauge(ServerMetrics.databaseReady, [("for", "reads")]).record(state.readiness.allows(.reads) ? 1 : 0)
        gauge(ServerMetrics.databaseReady, [("for", "writes")]).record(state.readiness.allows(.writes) ? 1 : 0)
        gauge(ServerMetrics.shelves).record(state.shelves.shelves.count)
        gauge(ServerMetrics.shelfMemoryLimit).record(state.shelves.limit)
        raise(ServerMetrics.shelfHits, to: Double(state.shelves.hits))
        for (kind, use) in state.shelves.kinds {
            gauge(ServerMetrics.shelfMemory, [("kind", kind)]).record(use.size)
            raise(ServerMetrics.shelfEvictions, [("kind", kind)], to: Double(use.evictions))
        }
        let workers = Set(state.readServers.filter { $0.kind == .worker }.map(\.name))
        let removed = exportedWorkers.withLock { exported in
            defer { exported = workers }
            return exported.subtracting(workers)
        }
        // Otherwise a worker that left the cluster would remain unusable.
        for name in removed { gauge(ServerMetrics.workerUsable, [("worker", name)]).destroy() }
        for server in state.readServers {
            let labels = [(server.kind.rawValue, server.name)]
            let isReplica = server.kind == .replica
            gauge(isReplica ? ServerMetrics.replicaUsable : ServerMetrics.workerUsable, labels)
                .record(server.isUsable ? 1 : 0)
            raise(
                isReplica ? ServerMetrics.replicaReads : ServerMetrics.workerReads,
                labels,
                to: Double(server.reads)
            )
            if let lag = server.lag { gauge(ServerMetrics.replicaLag, labels).record(lag / .seconds(1)) }
        }
        for use in state.streams {
            gauge(ServerMetrics.streams, [("kind", use.kind.rawValue)]).record(use.subscriptions)
            gauge(ServerMetrics.feeds, [("kind", use.kind.rawValue)]).record(use.feeds)
        }
        if let resort = state.resort {
            let last = resort.lastSuccess
            let end = last?.endedAt.map { Double($0.microseconds) / 1e6 } ?? 0
            gauge(ServerMetrics.lastResort).record(end)
            gauge(ServerMetrics.lastResortDuration)
                .record(last.map { end - Double($0.startedAt.microseconds) / 1e6 } ?? 0)
            for (kind, count) in (last?.summary ?? ResortSummary()).counts {
                gauge(ServerMetrics.lastResortChanges, [("kind", kind)]).record(count)
            }
            gauge(ServerMetrics.resortRunning).record(resort.runningCount)
            gauge(ServerMetrics.resortFailed).record(resort.hasFailed ? 1 : 0)
        }
        gauge(ServerMetrics.residentMemory).record(state.process.residentBytes)
        gauge(ServerMetrics.virtualMemory).record(state.process.virtualBytes)
        gauge(ServerMetrics.openDescriptors).record(state.process.openDescriptors)
        if let limit = state.process.descriptorLimit { gauge(ServerMetrics.descriptorLimit).record(limit) }
        raise(ServerMetrics.processorSeconds, to: state.process.processorSeconds)
        raise(ServerMetrics.logLinesDropped, to: Double(state.droppedLogLines))
        if let counts = spans?.counts {
            raise(ServerMetrics.spansExported, to: Double(counts.exported))
            raise(ServerMetrics.spansDropped, to: Double(counts.dropped + counts.failed))
        }
    }

    private func gauge(_ definition: MetricDefinition, _ labels: [(String, String)] = []) -> Gauge {
        Gauge(label: definition.name, dimensions: labels, factory: registry)
    }

    /// Increases a counter to a value that was measured elsewhere.
    private func raise(_ definition: MetricDefinition, _ labels: [(String, String)] = [], to value: Double) {
        let key = definition.name + labels.map(\.1).joined()
        let increase = exported.withLock { exported in
            defer { exported[key] = max(value, exported[key] ?? 0) }
            return value - (exported[key] ?? 0)
        }
        FloatingPointCounter(label: definition.name, dimensions: labels, factory: registry)
            .increment(by: max(0, increase))
    }
}

/// Measures how late the event loops run tasks that are due. A late event loop delays all its connections.
struct EventLoopMonitor: Service {
    let group: any EventLoopGroup
    let factory: any MetricsFactory

    /// The time between two measurements of an event loop.
    private static let interval: TimeAmount = .milliseconds(250)

    func run() async throws {
        let timer = Metrics.Timer(label: ServerMetrics.eventLoopDelay.name, dimensions: [], factory: factory)
        let tasks = group.makeIterator().map { Self.measure($0, with: timer) }
        try? await gracefulShutdown()
        for task in tasks { task.cancel() }
    }

    private static func measure(_ loop: any EventLoop, with timer: Metrics.Timer) -> RepeatedTask {
        let due = NIOLoopBoundBox.makeBoxSendingValue(NIODeadline.now() + interval, eventLoop: loop)
        return loop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            let now = NIODeadline.now()
            timer.recordNanoseconds(max(0, (now - due.value).nanoseconds))
            due.value = now + interval
        }
    }
}
