internal import Catalog
package import LibPQ

/// The epochs of the database, which the table `database_life` records. A failover or a restore begins a new epoch, which
/// may lack the last commits of the previous one.
///
/// Versions never repeat in another epoch, because they grow with the clock (`SQL.nextVersion`). But a device may know
/// settings and lists whose commits were lost, so devices that last synced in an earlier epoch resync. Whether they did
/// is checked when they ask for changes; other requests cost nothing. See decision 0031.
package enum DatabaseEpoch {
    /// Identifies this database among its copies: the cluster, its timeline, the database and the table. NULL on
    /// a standby, which has no timeline of its own.
    ///
    /// `pg_control_checkpoint()` would name the old timeline until the first checkpoint after a failover.
    package static let identity: SQL = """
        CASE WHEN NOT pg_is_in_recovery() THEN (SELECT system_identifier FROM pg_control_system()) || '/'
            || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/'
            || (SELECT oid FROM pg_database WHERE datname = current_database()) || '/'
            || (SELECT 'database_life'::regclass::oid) END
        """

    /// Records the current epoch, which is not recorded yet.
    ///
    /// - Throws: `unavailable` on a standby.
    @discardableResult
    static func record(_ connection: isolated PostgresConnection) throws -> String {
        let identity = try connection.query(readIdentity) { try $0.first { try $0.textOrNil(0) } ?? nil }
        // The database has become a standby.
        guard let identity else { throw CatalogError.unavailable }
        try connection.execute(insert, [.text(identity)])
        return identity
    }

    /// Makes a user's devices resync if they last synced in an earlier epoch.
    static func makeDevicesResync(of user: UserID, _ connection: isolated PostgresConnection) throws {
        let identity = try record(connection)
        try connection.execute(raiseHorizon, [.text(user.text), .text(identity)])
    }

    /// Begins a new epoch with the next request for changes, so that all devices resync: after a restore that leaves no
    /// trace in the database, such as that of a disk's snapshot.
    package static func begin(_ pool: PostgresPool) async throws {
        try await pool.perform(within: TimeLimit.lookup.duration) { try $0.execute(forgetAll) }
    }

    /// The start of the current epoch, in microseconds since 1970: 0 on a standby, and later than every revision if the epoch is not
    /// recorded yet. On Citus, a statement on a shard would see the identity of a worker.
    static let readStart: PostgresStatement = """
        SELECT CASE WHEN pg_is_in_recovery() THEN 0
            ELSE coalesce((SELECT started_at FROM database_life WHERE identity = \(identity)), 9223372036854775807) END
        """
    static let readIdentity: PostgresStatement = "SELECT \(identity)"
    static let insert: PostgresStatement = """
        INSERT INTO database_life (identity, started_at) VALUES ($1, \(SQL.microseconds)) ON CONFLICT DO NOTHING
        """
    static let raiseHorizon: PostgresStatement = """
        UPDATE user_account SET revision = \(SQL.nextVersion(after: "revision")),
            horizon = \(SQL.nextVersion(after: "revision"))
        WHERE user_id = $1 AND horizon < (SELECT started_at FROM database_life WHERE identity = $2)
        """
    static let forgetAll: PostgresStatement = "DELETE FROM database_life WHERE identity NOT LIKE 'worker %'"

    // MARK: - Workers

    /// Returns the identity of a worker of a Citus cluster: its number, its cluster and its timeline; nil on a standby.
    static func worker(_ connection: isolated PostgresConnection) throws -> WorkerIdentity? {
        try connection.query(readWorker) { rows in
            try rows.first { WorkerIdentity(worker: try $0.text(0), life: try $0.text(1)) }
        }
    }

    /// Records the identity of a worker, on the coordinator. If the worker had another one, it may lack the last commits, so a new epoch
    /// begins.
    static func record(_ identity: WorkerIdentity, _ connection: isolated PostgresConnection) throws {
        try connection.transaction { connection in
            let worker = PostgresValue.text(identity.worker)
            // The first of several servers that notice it removes the former identity.
            let isChanged = try connection.execute(forgetWorker, [worker, .text(identity.text)]) > 0
            try connection.execute(insert, [.text(identity.text)])
            if isChanged { try connection.execute(forgetAll) }
        }
    }

    /// The worker and its life, on a server that accepts writes.
    static let readWorker: PostgresStatement = """
        SELECT 'worker ' || g.groupid, s.system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
        FROM pg_dist_local_group g CROSS JOIN pg_control_system() s WHERE NOT pg_is_in_recovery()
        """
    static let forgetWorker: PostgresStatement = """
        DELETE FROM database_life WHERE starts_with(identity, $1 || '/') AND identity <> $2
        """
}

/// Identifies a worker among the copies of its data.
struct WorkerIdentity: Sendable, Hashable {
    /// The name of its row in `database_life`, which the identity begins with.
    let worker: String
    let life: String

    var text: String { "\(worker)/\(life)" }
}

/// The record of the database's current epoch. A server that shows it has the whole history up to the start of the epoch.
///
/// A standby shows it after it has replayed the commit of the record. So a standby with the record follows the history of the
/// primary, also if another standby was promoted with the same timeline: its record has another start.
struct EpochRecord: Sendable, Hashable {
    /// `DatabaseEpoch.identity`.
    let identity: String
    /// Microseconds since 1970.
    let startedAt: Int64
    let cluster: Int64
    let timeline: UInt32

    /// - Parameter identity: nil for the identity of a standby.
    init?(identity: String?, startedAt: Int64?) {
        guard let identity, let startedAt else { return nil }
        let parts = identity.split(separator: "/")
        guard parts.count == 4, let cluster = Int64(parts[0]), let timeline = UInt32(parts[1], radix: 16) else {
            return nil
        }
        (self.identity, self.startedAt) = (identity, startedAt)
        (self.cluster, self.timeline) = (cluster, timeline)
    }
}
