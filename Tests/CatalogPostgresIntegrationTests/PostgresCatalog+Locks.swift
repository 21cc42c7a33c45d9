import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

extension PostgresCatalog {
    /// Waits until some transactions of the database wait for a lock.
    func untilLockIsAwaited(by count: Int = 1) async throws {
        let waiting: PostgresStatement =
            CitusServers.prefix == nil
            ? """
            SELECT DISTINCT a.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
            WHERE NOT l.granted AND a.datname = current_database()
            """
            : """
            SELECT DISTINCT a.global_pid FROM citus_lock_waits w JOIN citus_stat_activity a ON a.global_pid = w.waiting_gpid
            WHERE a.datname = current_database()
            """
        let isAwaited = try await eventually {
            try await database.writes.perform { try $0.query(waiting) { $0.count } } >= count
        }
        try #require(isAwaited)
    }
}
