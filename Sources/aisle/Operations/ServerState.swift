internal import Catalog
internal import CatalogHTTP
internal import CatalogJSON
internal import CatalogPostgres
internal import Live
internal import Synchronization

/// Everything that metrics and the status report about a running server, read at one time.
struct ServerState: Sendable {
    var readiness: Readiness
    var isDraining: Bool
    var lanes: [LaneUse]
    var shelves: ShelfMemoryUse
    /// The replicas, and the workers of a Citus cluster.
    var readServers: [ReadServerStatus]
    var streams: [LiveHub.Use]
    var connections: Int
    var requests: RecentRequests.Summary
    /// nil if the database does not answer.
    var resort: ResortStatus?
    var process: ProcessUsage
    var droppedLogLines: Int

    func isReady(for purpose: Readiness.Purpose) -> Bool { readiness.allows(purpose) && !isDraining }
}

/// The state of re-sorts, as the database records it.
struct ResortStatus: Sendable, Hashable {
    /// The last successful run; nil if none is recorded.
    var lastSuccess: ResortRun?
    /// Whether the last ended run failed or was interrupted.
    var hasFailed = false
    var runningCount = 0

    /// - Parameter runs: the latest first.
    init(_ runs: [ResortRun]) {
        lastSuccess = runs.first { $0.state == .done }
        let ended = runs.first { $0.state != .running }
        hasFailed = ended.map { $0.state != .done } ?? false
        runningCount = runs.count { $0.state == .running }
    }

    /// The runs that are examined.
    private static let runCount = 100

    /// Reads the state; nil if the database does not answer.
    static func read(_ catalog: PostgresCatalog) async -> ResortStatus? {
        guard let runs = try? await Resorter(catalog).history(runCount) else { return nil }
        return ResortStatus(runs)
    }
}
