internal import LibPQ
internal import Platform
internal import Synchronization

/// The pipelines for pages and other short reads: one for each event loop, so that a page waits for no read of another
/// event loop.
final class PageLane: Sendable {
    private let pipelines: [PostgresPipeline]
    private let next = Atomic<Int>(0)
    /// The number of connections.
    let size: Int

    /// - Parameters:
    ///   - eventLoops: the number of pipelines.
    ///   - connections: the number of connections of each.
    ///   - timeout: the timeout of a read; nil for the default.
    init(
        _ configuration: PostgresConfiguration,
        eventLoops: Int,
        connections: Int,
        timeout: Duration? = nil
    ) throws {
        var options = PostgresPipeline.Options()
        options.connections = connections
        size = eventLoops * connections
        options.name = "pages"
        if let timeout { options.timeout = timeout }
        pipelines = try (0..<eventLoops).map { _ in try PostgresPipeline(configuration, options: options) }
    }

    /// The pipeline of the current event loop; elsewhere, each of them in turn.
    var current: PostgresPipeline {
        if pipelines.count == 1 { return pipelines[0] }
        let number = CurrentEventLoop.value?.number ?? next.wrappingAdd(1, ordering: .relaxed).oldValue
        return pipelines[Int(UInt(bitPattern: number) % UInt(pipelines.count))]
    }

    /// Runs queries on every connection, now and after each reconnect, so that the first reads need not wait for plans.
    func warmUp(_ queries: [PostgresQuery]) { for pipeline in pipelines { pipeline.warmUp(queries) } }

    /// The number of reads in flight, including those that wait.
    var readsInFlight: Int { pipelines.reduce(0) { $0 + $1.readsInFlight } }

    func shutDown() { for pipeline in pipelines { pipeline.shutDown() } }
}
