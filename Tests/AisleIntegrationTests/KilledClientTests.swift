import Foundation
import LibPQ
import Testing
import TestSupport

/// Cleanup in PostgreSQL after a client process was killed.
@Suite(.timeLimit(.minutes(5))) struct KilledClientTests {
    /// Backends of a database that wait for a lock.
    private static let waiting: PostgresStatement = """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND wait_event_type = 'Lock'
        """
    private static let others: PostgresStatement = """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
        """

    /// Repeats a query until its result is the expected one; returns the last result.
    private func poll(
        to question: PostgresStatement,
        _ pool: PostgresPool,
        within limit: Duration,
        until isExpected: (Int) -> Bool
    ) async throws -> Int {
        let deadline = ContinuousClock.now + limit
        while true {
            let response = try await pool.perform { try $0.query(question) { try $0.first { try $0.int(0) } ?? -1 } }
            if isExpected(response) || ContinuousClock.now > deadline { return response }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test("The server cancels the statement of a killed re-sort although it still waits for a lock")
    func killedResortCancelsStatement() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        let rows = "store,shelf,sku,name,price\nshop,milk,a,A,1\n"
        let importer = try TestProcess(["import", "-", "--format", "csv", "--create-store"], environment: url)
        importer.send(rows)
        #expect(await importer.wait() == 0)
        let observer = PostgresPool(database.configuration, options: .init(size: 1))
        let blocker = try await PostgresConnection.connect(database.configuration)
        try await blocker.perform {
            try $0.begin()
            try $0.execute("LOCK TABLE purchase_by_customer IN ACCESS EXCLUSIVE MODE")
        }
        let resort = try TestProcess(["resort", "--all"], environment: url)
        let waiting = try await poll(to: Self.waiting, observer, within: .seconds(60)) { $0 > 0 }
        try #require(waiting > 0, "\(resort.standardError)")
        resort.signal(SIGKILL)
        #expect(await resort.wait() == 128 + SIGKILL)
        // Only the blocker's own connection remains. The lock timeout would take two minutes.
        let left = try await poll(to: Self.others, observer, within: .seconds(30)) { $0 == 1 }
        #expect(left == 1)
        await blocker.close()
        let next = try TestProcess(["resort", "--all"], environment: url)
        #expect(await next.wait() == 0, "\(next.standardError)")
        observer.shutDown()
        try await database.drop()
    }
}
