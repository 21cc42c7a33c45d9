internal import Catalog
internal import LibPQ
internal import Synchronization

/// A server that follows the primary, with connection lanes of its own for reads.
final class Replica: Sendable {
    /// The host and the port.
    let name: String
    let shortReads: PageLane
    let longReads: Lane
    /// The connection of its monitor.
    let probe: ProbeConnection
    private let reads = Atomic<Int>(0)

    /// How long a page may take, so that time is left to read it from the primary.
    private static let pageTimeout: Duration = .seconds(1)
    /// How long a long read waits for a connection.
    private static let leaseTimeout: Duration = .seconds(1)

    init(_ configuration: PostgresConfiguration, connections: ConnectionCounts) throws {
        name = Self.name(of: configuration)
        shortReads = try PageLane(
            configuration.with(DatabaseSettings.pages),
            eventLoops: connections.eventLoops,
            connections: connections.pagesPerEventLoop,
            timeout: Self.pageTimeout
        )
        longReads = Lane(
            "replica_long_reads",
            configuration.with(DatabaseSettings.longReads),
            connections: connections.longReads,
            waiting: connections.longReads * Database.waitingLongReads,
            leaseTimeout: Self.leaseTimeout,
            observer: .none
        )
        var monitored = configuration.with(DatabaseSettings.pages)
        monitored.connectTimeout = .seconds(2)
        probe = ProbeConnection(monitored)
    }

    /// Returns the host and the port of a configuration, without its user and password.
    static func name(of configuration: PostgresConfiguration) -> String {
        let parts = (try? PostgresConfiguration.parse(configuration.dsn)) ?? [:]
        let host = parts["host"] ?? parts["hostaddr"] ?? "localhost"
        return "\(host):\(parts["port"] ?? "5432")"
    }

    /// The number of reads that were sent to the replica.
    var readCount: Int { reads.load(ordering: .relaxed) }

    func countRead() { reads.wrappingAdd(1, ordering: .relaxed) }

    func shutDown() {
        shortReads.shutDown()
        longReads.shutDown()
        Task { [probe] in await probe.close() }
    }
}
