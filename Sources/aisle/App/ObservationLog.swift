internal import Catalog
internal import Logging
internal import Synchronization

/// Writes observations to the log, at most one line per second and kind of problem, with the number of suppressed ones.
final class ObservationLog: Sendable {
    private struct Throttle {
        var until: ContinuousClock.Instant
        var suppressed = 0
    }

    private let log: ServerLog
    /// Whether each request has a line.
    private let logsRequests: Bool
    /// The duration from which a request counts as slow; nil for no lines about slow requests.
    private let slowRequest: Duration?
    private let throttles = Mutex<[String: Throttle]>([:])

    init(_ log: ServerLog, logsRequests: Bool = false, slowRequest: Duration? = nil) {
        self.log = log
        self.logsRequests = logsRequests
        self.slowRequest = slowRequest
    }

    func observe(_ observation: Observation) {
        switch observation {
        case .requestCompleted(let request): report(request)
        case .fault(let source, let id, let detail):
            write(
                .error,
                "\(source) failed with an internal error: \(detail)",
                id.map { [("request_id", .text($0))] } ?? []
            )
        case .validationGap(let constraint, let sqlState):
            warn(
                "validation",
                "the database rejected a value that passed validation (\(constraint ?? "SQLSTATE \(sqlState)"))"
            )
        case .databaseUnavailable(let reason):
            warn("database", "the database is unreachable or overloaded: \(reason)")
        case .connectionRejected(let address):
            warn(
                "connection",
                "rejected a connection from \(address): it already has a tenth of AISLE_CONNECTIONS; if it is a proxy, add it to AISLE_TRUSTED_PROXIES"
            )
        case .importEnded(let summary?, let duration):
            let counts = summary.counts.filter { $0.count > 0 }.map { (name: $0.name, value: Value.integer($0.count)) }
            write(.info, "import finished", [("duration_ms", Self.milliseconds(duration))] + counts)
        case .importEnded(nil, let duration):
            write(
                .warning,
                "import failed; stores that were already imported keep their changes",
                [("duration_ms", Self.milliseconds(duration))]
            )
        case .purchasesFolded(let count, let duration):
            guard count > 0 else { return }
            write(
                .info,
                "purchases folded",
                [("purchases", .integer(count)), ("duration_ms", Self.milliseconds(duration))]
            )
        case .requestStarted, .pageReturned, .databaseError, .laneWaited, .eventsSent, .feedUpdated: break
        }
    }

    private typealias Value = LogLine.Value

    private func write(_ level: Logger.Level, _ message: String, _ fields: [(name: String, value: Value)] = []) {
        log.write(LogLine(level: level, message: message, fields: fields))
    }

    private func warn(_ kind: String, _ text: String) {
        let suppressed: Int? = throttles.withLock { troubles in
            let now = ContinuousClock.now
            if let known = troubles[kind], now < known.until {
                troubles[kind]!.suppressed += 1
                return nil
            }
            defer { troubles[kind] = Throttle(until: now + .seconds(1)) }
            return troubles[kind]?.suppressed ?? 0
        }
        guard let suppressed else { return }
        write(.warning, text, suppressed > 0 ? [("suppressed", .integer(suppressed))] : [])
    }

    // MARK: - Requests

    private func report(_ request: CompletedRequest) {
        let isSlow = slowRequest.map { request.duration >= $0 && !request.isStream } ?? false
        guard isSlow || logsRequests else { return }
        var fields: [(name: String, value: Value)] = [
            ("request_id", .text(request.requestID)), ("method", .text(request.method)),
            ("endpoint", .text(request.endpoint ?? "unknown")),
        ]
        if let path = request.loggedPath { fields.append(("path", .text(path))) }
        fields += [("status", .integer(request.status)), ("duration_ms", Self.milliseconds(request.duration))]
        if let client = request.client { fields.append(("client", .text(client))) }
        if let bytes = request.responseBytes { fields.append(("bytes", .integer(bytes))) }
        if logsRequests { log.write(LogLine(level: .info, message: "request", fields: fields), always: true) }
        if isSlow { write(.warning, "slow request", fields) }
    }

    private static func milliseconds(_ duration: Duration) -> Value {
        .decimal((duration / .microseconds(1)).rounded() / 1000)
    }
}

extension CompletedRequest {
    /// Whether the response is a stream of events, which lasts as long as its client wants.
    fileprivate var isStream: Bool { endpoint?.hasSuffix("/events") ?? false }

    /// The path if it names only parts of the catalog. Other paths may contain secrets, such as share tokens, or personal data.
    fileprivate var loggedPath: String? {
        guard let endpoint, endpoint.hasPrefix("/v1/stores") else { return nil }
        return path
    }
}
