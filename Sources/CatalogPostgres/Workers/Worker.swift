internal import LibPQ
internal import Synchronization

/// A worker of a Citus cluster, with connections of its own for pages.
final class Worker: Sendable {
    /// The host and port, as the cluster knows them.
    let name: String
    let pages: PageLane
    /// The connection of its monitor.
    let probe: ProbeConnection
    private let reads = Atomic<Int>(0)
    /// Why it is not used; nil if it is.
    private let currentProblem = Mutex<String?>("it was not reached yet")

    /// How long a page may take, so that time is left to read it through the coordinator.
    private static let pageTimeout: Duration = .seconds(1)
    /// The number of statements that a connection prepares: some for each shard.
    private static let statementLimit = 1024

    /// - Parameter coordinator: the configuration of the coordinator, whose user and options are used.
    init(host: String, port: Int, _ coordinator: PostgresConfiguration, _ connections: ConnectionCounts) throws {
        name = Self.name(host: host, port: port)
        var configuration = try coordinator.server(host: host, port: port).with(DatabaseSettings.pages)
        // Its statements name ordinary tables, so they are planned like those of a server without Citus.
        configuration.extensionSettings = nil
        configuration.statementLimit = Self.statementLimit
        configuration.connectTimeout = .seconds(2)
        // Reads are spread over the workers, and those of a connection that arrive together share its check.
        pages = try PageLane(
            configuration,
            eventLoops: connections.eventLoops,
            connections: 1,
            timeout: Self.pageTimeout
        )
        probe = ProbeConnection(configuration)
    }

    static func name(host: String, port: Int) -> String { "\(host):\(port)" }

    var status: WorkerStatus {
        WorkerStatus(name: name, problem: currentProblem.withLock { $0 }, reads: reads.load(ordering: .relaxed))
    }

    var isUsable: Bool { currentProblem.withLock { $0 == nil } }

    /// Sets or clears the reason for which it is not used; returns whether that changes whether it is used.
    func setProblem(_ problem: String?) -> Bool {
        currentProblem.withLock { current in
            defer { current = problem }
            return (current == nil) != (problem == nil)
        }
    }

    func countRead() { reads.wrappingAdd(1, ordering: .relaxed) }

    func shutDown() {
        pages.shutDown()
        Task { [probe] in await probe.close() }
    }
}
