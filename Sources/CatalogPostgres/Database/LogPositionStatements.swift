internal import Catalog
internal import LibPQ

/// The statements that read the position of the write-ahead log.
enum LogPositionStatements {
    /// The cluster, the timeline and the position at which the next record is inserted. It is after every commit, also after a commit that
    /// is not flushed yet.
    static let current: PostgresStatement = "\(position("pg_current_wal_insert_lsn()"))"

    /// The same for the position up to which the log is flushed. A standby of an idle primary reaches it; the other one may be after the
    /// header of an empty page.
    static let flushed: PostgresStatement = "\(position("pg_current_wal_flush_lsn()"))"

    /// Returns the statement for a position; on a standby, the timeline and the position are NULL. The timeline is the beginning of a log
    /// file's name.
    private static func position(_ function: SQL) -> SQL {
        """
        SELECT (SELECT system_identifier FROM pg_control_system()), left(pg_walfile_name(w.position), 8), \(offset("w.position"))
        FROM (SELECT CASE WHEN NOT pg_is_in_recovery() THEN \(function) END AS position) AS w
        """
    }

    /// Returns the number of bytes before a position.
    static func offset(_ position: SQL) -> SQL { "(\(position) - '0/0'::pg_lsn)::bigint" }

    /// Reads the row of such a statement; nil on a standby.
    static func position(_ rows: borrowing PostgresRows) throws -> LogPosition? {
        try rows.first { row in
            guard let name = try row.textOrNil(1), let timeline = UInt32(name, radix: 16) else { return nil }
            return LogPosition(cluster: try row.int8(0), timeline: timeline, offset: try row.int8(2))
        } ?? nil
    }
}
