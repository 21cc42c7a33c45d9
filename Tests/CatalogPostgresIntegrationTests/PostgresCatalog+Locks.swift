import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

extension PostgresCatalog {
    /// Waits until a transaction of the database waits for a lock.
    func untilLockIsAwaited() async throws {
        let waiting: PostgresStatement =
            CitusServers.prefix == nil
            ? """
            SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
            WHERE NOT l.granted AND a.datname = current_database()
            """
            : """
            SELECT 1 FROM citus_lock_waits w JOIN citus_stat_activity a ON a.global_pid = w.waiting_gpid
            WHERE a.datname = current_database()
            """
        let deadline = ContinuousClock.now + .seconds(60)
        while try await database.writes.perform({ try $0.query(waiting) { $0.count } }) == 0 {
            try #require(ContinuousClock.now < deadline)
        }
    }
}
