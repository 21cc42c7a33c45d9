internal import Catalog
internal import LibPQ

/// Checks of the operation of a database: archiving, replication slots, transaction ids and re-sorts.
struct DoctorOperations: Sendable {
    /// The state of the database server.
    struct ServerState: Sendable {
        /// Whether the write-ahead log is archived.
        var archives = true
        /// Whether the last attempt to archive a segment failed.
        var archivingFails = false
        /// The inactive replication slots that keep more than a gigabyte of the write-ahead log.
        var idleSlots: [String] = []
        /// The age of the oldest transaction id that is not frozen.
        var transactionAge: Int64 = 0
    }

    /// The age of transaction ids from which the server is close to stopping, at 2,000,000,000; autovacuum freezes rows at 200,000,000.
    private static let oldTransactions: Int64 = 1_000_000_000
    /// The age of the last re-sort from which a nightly one was missed, in microseconds.
    private static let oldResort: Int64 = 26 * 3_600_000_000

    static func findings(_ state: ServerState) -> [Doctor.Finding] {
        var findings: [Doctor.Finding] = []
        if !state.archives {
            findings.append(
                Doctor.Finding(
                    advice:
                        "the write-ahead log is not archived: a backup can only be restored to the time when it was taken",
                    "set archive_mode and archive_command, or run pg_receivewal"
                )
            )
        }
        if state.archivingFails {
            findings.append(
                Doctor.Finding(
                    false,
                    "archiving of the write-ahead log fails: the disk fills up, and backups cannot be restored to later times",
                    "check archive_command and the log of PostgreSQL; see SELECT * FROM pg_stat_archiver"
                )
            )
        }
        for slot in state.idleSlots {
            findings.append(
                Doctor.Finding(
                    false,
                    "the inactive replication slot \(slot) keeps more than 1 GB of the write-ahead log",
                    "start its standby, or: psql \"$DATABASE_URL\" -c \"SELECT pg_drop_replication_slot('\(slot)')\""
                )
            )
        }
        if state.transactionAge >= oldTransactions {
            findings.append(
                Doctor.Finding(
                    false,
                    "the oldest transaction id has the age \(state.transactionAge); at 2,000,000,000, PostgreSQL accepts no writes",
                    "end old transactions (see pg_stat_activity) and prepared ones, then: psql \"$DATABASE_URL\" -c \"VACUUM\""
                )
            )
        }
        return findings
    }

    /// Returns the findings about re-sorts.
    ///
    /// - Parameter runs: the latest first.
    static func findings(_ runs: [ResortRun], now: Timestamp) -> [Doctor.Finding] {
        // A catalog that was never re-sorted may need none.
        guard let ended = runs.first(where: { $0.state != .running }) else { return [] }
        if ended.state != .done {
            return [
                Doctor.Finding(
                    false,
                    "the last re-sort \(ended.state == .failed ? "failed" : "was interrupted")",
                    ended.state == .failed
                        ? "aisle resort log says why; repeat it with: aisle resort --all" : "aisle resort --resume"
                )
            ]
        }
        guard let end = ended.endedAt, now.microseconds - end.microseconds > oldResort else {
            return [Doctor.Finding(true, "the last re-sort succeeded")]
        }
        return [
            Doctor.Finding(
                advice: "the last re-sort ended at \(end.rfc3339): popularity scores and derived orders are old",
                "schedule aisle resort --all every night"
            )
        ]
    }

    /// Reads the state of the database server.
    static func serverState(_ connection: isolated PostgresConnection) throws -> ServerState {
        var state = try connection.query(DoctorStatements.operation) { rows in
            try rows.first {
                ServerState(
                    archives: try $0.bool(0),
                    archivingFails: try $0.bool(1),
                    transactionAge: try $0.int8(2)
                )
            }!
        }
        state.idleSlots = try connection.query(DoctorStatements.idleSlots) { try $0.map { try $0.text(0) } }
        return state
    }

    /// The runs that are examined.
    private static let runCount: Int64 = 20

    /// Reads the last re-sorts, the latest first.
    static func runs(_ connection: isolated PostgresConnection) throws -> [ResortRun] {
        try connection.query(ResortStatements.runs, [.int8(runCount)]) { try $0.map { try ResortRun($0) } }
    }
}
