internal import LibPQ
internal import Synchronization

/// A worker of a Citus cluster, with connections of its own for short reads.
final class Worker: Sendable {
    private struct State {
        /// Opened for the first read through the coordinator.
        var detour: PageLane?
        /// Why it is not used; nil if it is.
        var problem: String? = "not connected yet"
        var wasTried = false
        /// Opened when it first responds.
        var shortReads: PageLane?
        var isShutDown = false
    }

    let address: WorkerAddress
    /// The connection of its monitor.
    let probe: ProbeConnection
    private let configuration: PostgresConfiguration
    /// The configuration of reads through the coordinator.
    private let detourConfiguration: PostgresConfiguration
    private let eventLoops: Int
    private let state = Mutex(State())
    private let reads = Atomic<Int>(0)

    /// The number of statements that a connection prepares: some for each shard.
    private static let statementLimit = 1024

    /// - Parameters:
    ///   - coordinator: the configuration of the coordinator, whose user and options are used.
    ///   - eventLoops: the number of connections for reads to the worker, and also to the coordinator for reads that need this worker.
    ///     Reads are spread over the workers. Reads that arrive together on a connection share the check for their shards.
    init(_ address: WorkerAddress, _ coordinator: PostgresConfiguration, eventLoops: Int) throws {
        self.address = address
        self.eventLoops = eventLoops
        var configuration = try Self.configuration(of: address, coordinator).with(DatabaseSettings.pages)
        // Its statements name ordinary tables, so they are planned like those of a server without Citus.
        configuration.extensionSettings = nil
        configuration.statementLimit = Self.statementLimit
        self.configuration = configuration
        detourConfiguration = coordinator.with(DatabaseSettings.pages)
        probe = ProbeConnection(configuration)
    }

    /// Returns the configuration of a worker: that of the coordinator with another address, and without a pooler.
    static func configuration(
        of address: WorkerAddress,
        _ coordinator: PostgresConfiguration
    ) throws(PostgresError) -> PostgresConfiguration {
        var configuration = try coordinator.server(host: address.host, port: address.port)
        configuration.connectTimeout = .seconds(2)
        configuration.statements = .named
        return configuration
    }

    var name: String { address.name }

    var status: ReadServerStatus {
        ReadServerStatus(
            kind: .worker,
            name: name,
            problem: state.withLock { $0.problem },
            reads: reads.load(ordering: .relaxed)
        )
    }

    /// The connections for reads; nil if it is not used.
    var shortReads: PageLane? { state.withLock { $0.problem == nil ? $0.shortReads : nil } }

    /// The members of its group in pools: those whose transactions need it.
    var group: PoolGroup { PoolGroup(name) }

    /// The connections to the coordinator for reads that need this worker. They do not delay reads for other workers. The value is nil if
    /// they cannot be opened, or after a shutdown.
    var detour: PageLane? {
        state.withLock { state in
            if state.detour == nil, !state.isShutDown {
                state.detour = try? PageLane(detourConfiguration, eventLoops: eventLoops, connections: 1)
            }
            return state.detour
        }
    }

    /// Records that it responds, and opens the connections for short reads.
    ///
    /// - Returns: whether it was not used before.
    func use() throws -> Bool {
        try state.withLock { state in
            guard !state.isShutDown else { return false }
            if state.shortReads == nil {
                state.shortReads = try PageLane(configuration, eventLoops: eventLoops, connections: 1)
            }
            defer { state.problem = nil }
            return state.problem != nil
        }
    }

    /// Records why it is not used.
    ///
    /// - Returns: whether it was used before, or was not tried before.
    func passOver(_ problem: String) -> Bool {
        state.withLock { state in
            defer { (state.problem, state.wasTried) = (problem, true) }
            return state.problem == nil || !state.wasTried
        }
    }

    func countRead() { reads.wrappingAdd(1, ordering: .relaxed) }

    /// Ends the connections when the reads in flight have ended.
    func retire() {
        Task {
            try? await Task.sleep(for: Self.retirement)
            shutDown()
        }
    }

    /// The time after which no read is in flight any more.
    private static let retirement: Duration = .seconds(10)

    func shutDown() {
        let lanes = state.withLock { state in
            state.isShutDown = true
            return [state.shortReads, state.detour]
        }
        for lane in lanes { lane?.shutDown() }
        Task { [probe] in await probe.close() }
    }
}
