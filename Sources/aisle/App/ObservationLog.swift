internal import Catalog
internal import CatalogHTTP
internal import CatalogPostgres
internal import Logging
internal import Synchronization

/// Writes observations to the log, of a kind of problem at most ten lines per second, with the number of suppressed ones.
final class ObservationLog: Sendable {
    private struct Throttle {
        var until: ContinuousClock.Instant
        var lines = 0
        var suppressed = 0
    }

    private let log: ServerLog
    /// Whether each request has a line.
    private let logsRequests: Bool
    private let throttles = Mutex<[String: Throttle]>([:])

    init(_ log: ServerLog, logsRequests: Bool = false) {
        self.log = log
        self.logsRequests = logsRequests
    }

    func observe(_ observation: HTTPObservation) {
        switch observation {
        case .requestCompleted(let request): report(request)
        case .requestFailed(let id, let detail): warnOfFault("request", detail, [("request_id", .text(id))])
        case .connectionRejected(let address):
            warn(
                "connection",
                "rejected a connection from \(address): it already has a tenth of AISLE_CONNECTIONS; if it is a proxy, add it to AISLE_TRUSTED_PROXIES"
            )
        case .requestStarted, .pageReturned, .eventsSent: break
        }
    }

    func observe(_ observation: DatabaseObservation) {
        switch observation {
        case .validationGap(let constraint, let sqlState):
            warn(
                "validation",
                "the database rejected a value that passed validation (\(constraint ?? "SQLSTATE \(sqlState)"))"
            )
        case .databaseUnavailable(let reason):
            warn("database", "the database is unreachable or overloaded: \(reason)")
        case .replicaChanged(let name, nil): write(.notice, "the replica \(name) is used for reads")
        case .replicaChanged(let name, let reason?): write(.warning, "the replica \(name) is passed over: \(reason)")
        case .replicaPassedOver(let name, let reason):
            warn(
                "replica",
                "a read was repeated on the primary, because the replica \(name) could not answer: \(reason)"
            )
        case .workerChanged(let name, nil): write(.notice, "pages are read from the worker \(name)")
        case .workerChanged(let name, let reason?):
            write(.warning, "pages are not read from the worker \(name), but through the coordinator: \(reason)")
        case .workerPassedOver(let name, let reason):
            warn(
                "worker",
                "a read was retried through the coordinator, because the worker \(name) could not answer: \(reason)"
            )
        case .importCompleted(let summary, let duration):
            let counts = summary.counts.filter { $0.count > 0 }.map { (name: $0.name, value: Value.integer($0.count)) }
            let unreadable = summary.unreadableAttributes.entries.map { "\($0.name) \($0.count)" }
            let attributes: [(name: String, value: Value)] =
                unreadable.isEmpty ? [] : [("unreadable_attributes", .text(unreadable.joined(separator: ", ")))]
            write(.info, "import finished", [("duration_ms", Self.milliseconds(duration))] + counts + attributes)
        case .importFailed(let reason, let duration):
            write(
                .warning,
                "import failed; stores that were already imported keep their changes",
                [("reason", .text(String(reason.prefix(500)))), ("duration_ms", Self.milliseconds(duration))]
            )
        case .databaseError, .laneWaited, .shelfRead, .shelfImageWritten: break
        }
    }

    func observe(_ observation: HousekeepingObservation) {
        switch observation {
        case .purchasesFolded(let count, let duration):
            guard count > 0 else { return }
            write(
                .info,
                "purchases folded",
                [("purchases", .integer(count)), ("duration_ms", Self.milliseconds(duration))]
            )
        case .taskFailed(let detail): warnOfFault("housekeeping", detail)
        }
    }

    private typealias Value = LogLine.Value

    private func write(_ level: Logger.Level, _ message: String, _ fields: [(name: String, value: Value)] = []) {
        log.write(LogLine(level: level, message: message, fields: fields))
    }

    /// The maximum number of lines per second about one kind of problem.
    private static let lineLimit = 10

    /// - Parameter kind: one of few.
    private func warn(
        _ kind: String,
        _ text: String,
        _ level: Logger.Level = .warning,
        fields: [(name: String, value: Value)] = []
    ) {
        let suppressed: Int? = throttles.withLock { throttles in
            let now = ContinuousClock.now
            var throttle = throttles[kind] ?? Throttle(until: now + .seconds(1))
            defer { throttles[kind] = throttle }
            if throttle.until <= now { throttle = Throttle(until: now + .seconds(1), suppressed: throttle.suppressed) }
            guard throttle.lines < Self.lineLimit else {
                throttle.suppressed += 1
                return nil
            }
            throttle.lines += 1
            defer { throttle.suppressed = 0 }
            return throttle.suppressed
        }
        guard let suppressed else { return }
        write(level, text, fields + (suppressed > 0 ? [("suppressed", .integer(suppressed))] : []))
    }

    /// - Parameter source: the kind of work: `request` or the name of a task.
    private func warnOfFault(_ source: String, _ detail: String, _ fields: [(name: String, value: Value)] = []) {
        warn("fault of \(source)", "\(source) failed with an internal error: \(detail)", .error, fields: fields)
    }

    // MARK: - Requests

    private func report(_ request: CompletedRequest) {
        guard logsRequests || request.steps != nil else { return }
        var fields: [(name: String, value: Value)] = [("request_id", .text(request.requestID))]
        if let trace = request.traceID { fields.append(("trace_id", .text(trace))) }
        fields += [("method", .text(request.method)), ("endpoint", .text(request.endpoint ?? "unknown"))]
        if let path = request.path { fields.append(("path", .text(path))) }
        fields += [("status", .integer(request.status)), ("duration_ms", Self.milliseconds(request.duration))]
        if let client = request.client { fields.append(("client", .text(client))) }
        if let bytes = request.responseBytes { fields.append(("bytes", .integer(bytes))) }
        if logsRequests { log.write(LogLine(level: .info, message: "request", fields: fields), always: true) }
        if let steps = request.steps {
            warn(
                "slow \(request.endpoint ?? "request")",
                "slow request",
                fields: fields + [("steps", .text(Self.text(of: steps)))]
            )
        }
    }

    private static func milliseconds(_ duration: Duration) -> Value { .decimal(rounded(duration)) }

    /// Returns milliseconds with three decimals.
    private static func rounded(_ duration: Duration) -> Double { (duration / .microseconds(1)).rounded() / 1000 }

    /// Returns steps as `wait writes 0.2 ms, statement ManualOrderStatements.lock 3.1 ms`.
    private static func text(of steps: [CompletedRequest.Step]) -> String {
        steps.map { "\($0.kind) \($0.name) \(rounded($0.duration)) ms" }.joined(separator: ", ")
    }
}
