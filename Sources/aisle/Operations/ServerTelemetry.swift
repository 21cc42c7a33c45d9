internal import Catalog
internal import CatalogHTTP
internal import CatalogPostgres
internal import Live
internal import Logging
internal import Platform
internal import Telemetry

/// The log and the metrics of a server.
struct ServerTelemetry: Sendable {
    let startedAt = Timestamp.now()
    let log: ServerLog
    let registry: MetricRegistry
    let observations: ObservationMetrics
    let database: Observer<DatabaseObservation>
    let http: Observer<HTTPObservation>
    let feeds: Observer<FeedObservation>
    let housekeeping: Observer<HousekeepingObservation>

    /// - Throws: `OSThreadError` if the system is out of threads.
    init(_ settings: ServerSettings) throws(OSThreadError) {
        let log = try ServerLog(settings.logFormat, level: settings.logLevel)
        let registry = MetricRegistry(ServerMetrics.all)
        let observations = ObservationMetrics(registry)
        let lines = ObservationLog(log, logsRequests: settings.logsRequests)
        self.log = log
        self.registry = registry
        self.observations = observations
        // Without an admin port, nobody can read the metrics.
        let isMeasured = settings.adminPort != nil
        database = Observer {
            lines.observe($0)
            if isMeasured { observations.observe($0) }
        }
        http = Observer {
            lines.observe($0)
            if isMeasured { observations.observe($0) }
        }
        feeds = Observer { if isMeasured { observations.observe($0) } }
        housekeeping = Observer {
            lines.observe($0)
            if isMeasured { observations.observe($0) }
        }
    }

    /// Reports something about the server's start to the person or program that started it, whatever the level of the log.
    func note(_ text: String) {
        switch log.format {
        case .json: log.write(LogLine(level: .notice, message: text), always: true)
        case .text: Console.note(text)
        }
    }
}
