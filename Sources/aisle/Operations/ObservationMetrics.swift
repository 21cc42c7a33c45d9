internal import Catalog
internal import CatalogHTTP
internal import CatalogPostgres
internal import Live
internal import Metrics
internal import Synchronization
internal import Telemetry

/// Counts observations.
final class ObservationMetrics: Sendable {
    let recent = RecentRequests()
    private let factory: any MetricsFactory
    private let requests = Mutex<[RequestLabels: RequestSeries]>([:])
    private let pages: [HTTPObservation.PageResult: Counter]
    private let events: [FeedKind: Counter]
    private let lanes = Mutex<[String: Metrics.Timer]>([:])
    private let requestsInFlight: Meter

    private struct RequestLabels: Hashable {
        var endpoint: String?
        var method: String
        var status: Int
    }

    private struct RequestSeries {
        let count: Counter
        let duration: Metrics.Timer
        let bytes: Counter
    }

    init(_ factory: any MetricsFactory) {
        self.factory = factory
        pages = Dictionary(
            uniqueKeysWithValues: HTTPObservation.PageResult.allCases.map { result in
                (result, Self.counter(ServerMetrics.pages, [("result", result.rawValue)], factory))
            }
        )
        events = Dictionary(
            uniqueKeysWithValues: FeedKind.allCases.map { kind in
                (kind, Self.counter(ServerMetrics.eventsSent, [("kind", kind.rawValue)], factory))
            }
        )
        requestsInFlight = Meter(label: ServerMetrics.requestsInFlight.name, dimensions: [], factory: factory)
        // Without a first value, a rate would miss the first increase.
        for definition in [
            ServerMetrics.connectionsRejected, ServerMetrics.validationGaps, ServerMetrics.foldedPurchases,
            ServerMetrics.shelfImages,
        ] {
            _ = Self.counter(definition, [], factory)
        }
        for kind in DatabaseObservation.ShelfReadKind.allCases {
            _ = timer(ServerMetrics.shelfReads, [("kind", kind.rawValue)])
        }
        for outcome in ["completed", "failed"] { _ = counter(ServerMetrics.imports, [("outcome", outcome)]) }
        _ = counter(ServerMetrics.faults, [("source", "request")])
    }

    func observe(_ observation: HTTPObservation) {
        switch observation {
        case .requestStarted: requestsInFlight.increment()
        case .requestCompleted(let request): count(request)
        case .requestFailed: countFault("request")
        case .pageReturned(let result): pages[result]?.increment()
        case .connectionRejected: counter(ServerMetrics.connectionsRejected).increment()
        case .eventsSent(let kind, let count): events[kind]?.increment(by: count)
        }
    }

    func observe(_ observation: DatabaseObservation) {
        switch observation {
        case .validationGap: counter(ServerMetrics.validationGaps).increment()
        case .databaseUnavailable: break
        case .databaseError(let kind): counter(ServerMetrics.databaseErrors, [("class", kind)]).increment()
        case .laneWaited(let lane, let duration): laneTimer(lane).record(duration: duration)
        case .shelfRead(let kind, let duration):
            timer(ServerMetrics.shelfReads, [("kind", kind.rawValue)]).record(duration: duration)
        case .shelfImageWritten: counter(ServerMetrics.shelfImages).increment()
        case .replicaPassedOver(let name, _):
            counter(ServerMetrics.replicaFallbacks, [("replica", name)]).increment()
        case .workerPassedOver(let name, _): counter(ServerMetrics.workerFallbacks, [("worker", name)]).increment()
        case .replicaChanged, .workerChanged: break
        case .importCompleted(let summary, let duration): count(summary, duration)
        case .importFailed(_, let duration): count(nil, duration)
        }
    }

    func observe(_ observation: FeedObservation) {
        switch observation {
        case .feedUpdated(let kind, let delay):
            timer(ServerMetrics.eventDelay, [("kind", kind.rawValue)]).record(duration: delay)
        }
    }

    func observe(_ observation: HousekeepingObservation) {
        switch observation {
        case .purchasesFolded(let count, let duration):
            counter(ServerMetrics.foldedPurchases).increment(by: count)
            timer(ServerMetrics.foldDuration).record(duration: duration)
            Gauge(label: ServerMetrics.lastFold.name, dimensions: [], factory: factory)
                .record(Double(Timestamp.now().microseconds) / 1e6)
        case .taskFailed: countFault("housekeeping")
        }
    }

    private func countFault(_ source: String) { counter(ServerMetrics.faults, [("source", source)]).increment() }

    private func count(_ request: CompletedRequest) {
        requestsInFlight.decrement()
        let series = series(
            RequestLabels(
                endpoint: request.endpoint,
                method: Self.methods.contains(request.method) ? request.method : "other",
                status: request.status
            )
        )
        series.count.increment()
        series.duration.record(duration: request.duration)
        if let bytes = request.responseBytes { series.bytes.increment(by: bytes) }
        recent.add(status: request.status, request.duration)
        if request.status == 429 {
            counter(ServerMetrics.rateLimited, [("endpoint", request.endpoint ?? Self.unknown)]).increment()
        }
    }

    /// The methods that are labels. A client may send any others.
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    /// The label of unknown paths.
    private static let unknown = "unknown"

    private func series(_ labels: RequestLabels) -> RequestSeries {
        if let known = requests.withLock({ $0[labels] }) { return known }
        let endpoint = ("endpoint", labels.endpoint ?? Self.unknown)
        let method = ("method", labels.method)
        let series = RequestSeries(
            count: counter(ServerMetrics.requests, [endpoint, method, ("status", "\(labels.status)")]),
            duration: timer(ServerMetrics.requestDuration, [endpoint, method]),
            bytes: counter(ServerMetrics.responseBytes, [endpoint])
        )
        requests.withLock { $0[labels] = series }
        return series
    }

    private func count(_ summary: ImportSummary?, _ duration: Duration) {
        counter(ServerMetrics.imports, [("outcome", summary == nil ? "failed" : "completed")]).increment()
        timer(ServerMetrics.importDuration).record(duration: duration)
        guard let summary else { return }
        let rows = [
            ("inserted", summary.inserted), ("updated", summary.updated), ("unchanged", summary.unchanged),
            ("rejected", summary.rejected), ("repeated", summary.repeated),
        ]
        for (result, count) in rows { counter(ServerMetrics.importRows, [("result", result)]).increment(by: count) }
    }

    private func laneTimer(_ lane: String) -> Metrics.Timer {
        if let known = lanes.withLock({ $0[lane] }) { return known }
        let timer = timer(ServerMetrics.laneWait, [("lane", lane)])
        lanes.withLock { $0[lane] = timer }
        return timer
    }

    private func timer(_ definition: MetricDefinition, _ labels: [(String, String)] = []) -> Metrics.Timer {
        Metrics.Timer(label: definition.name, dimensions: labels, factory: factory)
    }

    private func counter(_ definition: MetricDefinition, _ labels: [(String, String)] = []) -> Counter {
        Self.counter(definition, labels, factory)
    }

    private static func counter(
        _ definition: MetricDefinition,
        _ labels: [(String, String)],
        _ factory: any MetricsFactory
    ) -> Counter {
        Counter(label: definition.name, dimensions: labels, factory: factory)
    }
}
