internal import Catalog
internal import LibPQ

/// The statements about replicas.
enum ReplicaStatements {
    /// The report of a replica, with its record of an epoch, `$1`. Reads share it.
    ///
    /// A read comes after it in the same transaction, whose statements have snapshots of their own. So the read's state includes the
    /// position.
    static let report: PostgresStatement = """
        SELECT w.number, pg_is_in_recovery(), \(LogPositionStatements.offset("pg_last_wal_replay_lsn()")), e.started_at
        FROM unnest($1::text[]) WITH ORDINALITY AS w (identity, number) LEFT JOIN database_life e ON e.identity = w.identity
        """

    /// The current epoch of the primary with its start, and the position up to which its log is flushed; NULL on a standby.
    static let primary: PostgresStatement = """
        SELECT w.identity, e.started_at, \(LogPositionStatements.offset("w.position"))
        FROM (SELECT \(DatabaseEpoch.identity) AS identity,
            CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_flush_lsn() END AS position) AS w
        LEFT JOIN database_life e ON e.identity = w.identity
        """

    /// Reads a row of `report`.
    static func report(_ row: borrowing PostgresRow) throws -> ReplicaReport {
        ReplicaReport(isStandby: try row.bool(1), replayed: try row.int8OrNil(2), epochStart: try row.int8OrNil(3))
    }

    /// Returns the report of the replica of a connection.
    ///
    /// - Parameter epoch: nil if it is unknown.
    static func report(
        _ epoch: EpochRecord?,
        _ connection: isolated PostgresConnection
    ) throws -> ReplicaReport? {
        try connection.query(report, [.textArray([epoch?.identity ?? ""])]) { try $0.first { try report($0) } }
    }
}
