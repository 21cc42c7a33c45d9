internal import Catalog
internal import Logging
internal import Synchronization

/// Writes observations to a log, at most one line per second and kind of problem, with the number of suppressed ones.
final class ObservationLog: Sendable {
    private struct Throttle {
        var until: ContinuousClock.Instant
        var suppressed = 0
    }

    private let logger: Logger
    private let throttles = Mutex<[String: Throttle]>([:])

    init(_ logger: Logger) { self.logger = logger }

    func observe(_ observation: Observation) {
        switch observation {
        case .requestCompleted(let method, let path, _, let status, let duration):
            guard logger.logLevel <= .debug else { return }
            logger.debug("\(method) \(path) \(status) \(duration)")
        case .fault(let source, let detail):
            logger.error("\(source) failed with an internal error: \(detail)")
        case .validationGap(let constraint, let sqlState):
            warn(
                "validation",
                "the database rejected a value that passed validation (\(constraint ?? "SQLSTATE \(sqlState)"))"
            )
        case .databaseUnavailable(let reason):
            warn("database", "the database is unreachable or overloaded: \(reason)")
        case .replicaChanged(let name, nil): logger.notice("the replica \(name) is used for reads")
        case .replicaChanged(let name, let reason?): logger.warning("the replica \(name) is passed over: \(reason)")
        case .replicaPassedOver(let name, let reason):
            warn(
                "replica",
                "a read was repeated on the primary, because the replica \(name) could not answer: \(reason)"
            )
        case .connectionRejected(let address):
            warn(
                "connection",
                "rejected a connection from \(address): it already has a tenth of AISLE_CONNECTIONS; if it is a proxy, add it to AISLE_TRUSTED_PROXIES"
            )
        case .importEnded(let summary?):
            let counts = summary.counts.filter { $0.count > 0 }.map { "\($0.name) \($0.count)" }
            logger.info("import finished: \(counts.joined(separator: ", "))")
        case .importEnded(nil): logger.info("import failed; stores that were already imported keep their changes")
        }
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
        logger.warning("\(text)\(suppressed > 0 ? " (\(suppressed) more suppressed)" : "")")
    }
}
