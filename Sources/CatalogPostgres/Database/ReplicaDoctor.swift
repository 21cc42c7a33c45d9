internal import Catalog
package import LibPQ

/// Checks whether replicas can answer reads.
package struct ReplicaDoctor: Sendable {
    /// The state of a replica that the checks are about.
    struct State: Sendable {
        var isStandby: Bool
        var cluster: Int64
        /// The position up to which it has replayed the log, in bytes; nil if it replays none.
        var replayed: Int64?
        /// The values of `settingNames`.
        var settings: [String: String]
        var schema: Migrator.SchemaState?
        var availableConnections: Int

        func hasReplayed(_ position: LogPosition) -> Bool { replayed.map { $0 >= position.offset } ?? false }
    }

    /// How long a replica may need to replay the position that the primary has at the beginning.
    private let lagLimit: Duration
    private let primary: PostgresPool

    private static let settingNames = ["hot_standby_feedback", "max_standby_streaming_delay"]
    /// The delay of replay, in milliseconds, from which a conflict with a query may make a replica lag too far behind.
    private static let delayLimit = 30_000
    private static let pollInterval: Duration = .milliseconds(100)

    package init(primary: PostgresPool, lagLimit: Duration) {
        self.primary = primary
        self.lagLimit = lagLimit
    }

    /// - Parameters:
    ///   - servers: the number of servers that use each replica.
    ///   - connections: the connections of each to the primary.
    /// - Throws: `PostgresError` if the primary is unreachable.
    package func examine(
        _ replicas: [PostgresConfiguration],
        servers: Int,
        with connections: ConnectionCounts
    ) async throws -> [Doctor.Finding] {
        var findings: [Doctor.Finding] = []
        for configuration in replicas {
            let name = Replica.name(of: configuration)
            let position = try await primary.perform(within: TimeLimit.lookup.duration) {
                try $0.query(LogPositionStatements.flushed) { try LogPositionStatements.position($0) }
            }
            let pool = PostgresPool(configuration, options: .init(size: 1))
            defer { pool.shutDown() }
            do {
                let state = try await self.state(pool, after: position)
                findings += Self.findings(name, state, primary: position, needed: servers * connections.replicaTotal)
            } catch let error as PostgresError {
                findings.append(
                    Doctor.Finding(
                        false,
                        "replica \(name): cannot be reached (\(error))",
                        "start it, or correct AISLE_READ_DSN"
                    )
                )
            }
        }
        return findings
    }

    /// Reads the state of a replica, and waits for it to replay a position.
    private func state(_ pool: PostgresPool, after position: LogPosition?) async throws -> State {
        let deadline = ContinuousClock.now + lagLimit
        var state = try await pool.perform(within: TimeLimit.lookup.duration) { try Self.read($0) }
        while state.isStandby, let position, !state.hasReplayed(position), .now < deadline {
            try await Task.sleep(for: Self.pollInterval)
            state = try await pool.perform(within: TimeLimit.lookup.duration) { try Self.read($0) }
        }
        return state
    }

    private static func read(_ connection: isolated PostgresConnection) throws -> State {
        let settings = try connection.query(DoctorStatements.settings, [.textArray(settingNames)]) { rows in
            Dictionary(uniqueKeysWithValues: try rows.map { (try $0.text(0), try $0.text(1)) })
        }
        let available = try connection.query(DoctorStatements.availableConnections) { try $0.first { try $0.int(0) }! }
        var state = try connection.query(DoctorStatements.replica) { rows in
            try rows.first { row in
                State(
                    isStandby: try row.bool(0),
                    cluster: try row.int8(1),
                    replayed: try row.int8OrNil(2),
                    settings: settings,
                    availableConnections: available
                )
            }!
        }
        state.schema = try Migrator.schemaState(connection)
        return state
    }

    /// Returns the findings about a replica.
    ///
    /// - Parameters:
    ///   - primary: the position of the primary before the replica's state was read; nil if it is a standby itself.
    ///   - needed: the number of connections that servers need.
    static func findings(_ name: String, _ state: State, primary: LogPosition?, needed: Int) -> [Doctor.Finding] {
        guard let primary else { return [] }
        let title = "replica \(name)"
        guard state.cluster == primary.cluster else {
            return [
                Doctor.Finding(
                    false,
                    "\(title): is not a copy of the primary",
                    "set AISLE_READ_DSN to standbys of the database in DATABASE_URL"
                )
            ]
        }
        guard state.isStandby else {
            return [
                Doctor.Finding(
                    false,
                    "\(title): is not a standby",
                    "remove it from AISLE_READ_DSN, or build it again as a standby of the primary"
                )
            ]
        }
        let isCurrent = state.hasReplayed(primary)
        var findings = [
            Doctor.Finding(
                isCurrent,
                isCurrent ? "\(title): follows the primary" : "\(title): lags behind the primary",
                "check its log and pg_stat_replication on the primary"
            )
        ]
        if isCurrent, let schema = state.schema {
            findings.append(Doctor.Finding(schema.isUsable, "\(title): schema: \(schema)", "aisle db migrate"))
        }
        findings.append(
            Doctor.Finding(
                needed <= state.availableConnections,
                "\(title): needs up to \(needed) of \(state.availableConnections) connections",
                "raise max_connections of the replica, or lower AISLE_LONG_READ_CONNECTIONS or AISLE_EVENT_LOOPS"
            )
        )
        return findings + advice(title, state.settings)
    }

    private static func advice(_ title: String, _ settings: [String: String]) -> [Doctor.Finding] {
        var findings: [Doctor.Finding] = []
        func advise(_ text: String, _ assignment: String) {
            findings.append(
                Doctor.Finding(
                    advice: "\(title): \(text)",
                    "on the replica: ALTER SYSTEM SET \(assignment); SELECT pg_reload_conf()"
                )
            )
        }
        if settings["hot_standby_feedback"] == "off" {
            advise(
                "hot_standby_feedback is off: the primary's vacuum cancels reads, which are then repeated on the primary",
                "hot_standby_feedback = on"
            )
        }
        if let delay = settings["max_standby_streaming_delay"].flatMap({ Int($0) }), delay < 0 || delay > delayLimit {
            advise(
                "max_standby_streaming_delay is \(delay < 0 ? "unlimited" : "\(delay / 1000) s"): a long read can delay the replay for that time",
                "max_standby_streaming_delay = '10s'"
            )
        }
        return findings
    }
}
