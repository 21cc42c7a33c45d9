internal import Catalog
internal import LibPQ

/// The statements that read the position of the write-ahead log.
enum PositionStatements {
    /// The cluster, the timeline and the position; on a standby, the last two are NULL.
    ///
    /// A commit is before the position at which the next record is inserted, also if it is not flushed yet. The timeline is the
    /// beginning of a log file's name.
    static let current: PostgresStatement = """
        SELECT (SELECT system_identifier FROM pg_control_system()), left(pg_walfile_name(w.position), 8), \(offset("w.position"))
        FROM (SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_insert_lsn() END AS position) AS w
        """

    /// Returns the number of bytes before a position.
    static func offset(_ position: SQL) -> SQL { "(\(position) - '0/0'::pg_lsn)::bigint" }

    /// Reads the row of `current`; nil on a standby.
    static func position(_ rows: borrowing PostgresRows) throws -> LogPosition? {
        try rows.first { row in
            guard let name = try row.textOrNil(1), let timeline = UInt32(name, radix: 16) else { return nil }
            return LogPosition(cluster: try row.int8(0), timeline: timeline, offset: try row.int8(2))
        } ?? nil
    }
}
