internal import Catalog
internal import Live
internal import CatalogHTTP
internal import CatalogJSON
internal import CatalogPostgres
internal import Synchronization

/// Everything that metrics and the status report about a running server, read at one time.
struct ServerState: Sendable {
    var readiness: Readiness
    var isDraining: Bool
    var lanes: [LaneUse]
    var shelves: ShelfMemoryUse
    var replicas: [ReplicaStatus]
    var workers: [WorkerStatus]
    var streams: [LiveHub.Use]
    var connections: Int
    var requests: RecentRequests.Summary
    /// nil if the database does not answer.
    var resort: ResortStatus?
    var process: ProcessUsage
    var droppedLogLines: Int

    func isReady(for purpose: Readiness.Purpose) -> Bool { readiness.allows(purpose) && !isDraining }
}
