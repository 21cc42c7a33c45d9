import Foundation
import LibPQ
import TestSupport
import Testing

/// What a process that is killed leaves behind in PostgreSQL.
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

    /// Asks until the answer is the expected one; returns the last answer.
    private func answer(
        to question: PostgresStatement,
        _ pool: PostgresPool,
        within limit: Duration,
        until isExpected: (Int) -> Bool
    ) async throws -> Int {
        let deadline = ContinuousClock.now + limit
        while true {
            let answer = try await pool.perform { try $0.query(question) { try $0.first { try $0.int(0) } ?? -1 } }
            if isExpected(answer) || ContinuousClock.now > deadline { return answer }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test("The server ends the statement of a re-sort that was killed, though what it waits for is still locked")
    func theStatementOfAKilledResortEnds() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        let rows = "store,shelf,sku,name,price\nshop,milk,a,A,1\n"
        let importer = try TestProcess(["import", "-", "--format", "csv"], environment: url)
        importer.send(rows)
        #expect(await importer.wait() == 0)
        let observer = PostgresPool(database.configuration, options: .init(size: 1))
        let blocker = try await PostgresConnection.connect(database.configuration)
        try await blocker.perform {
            try $0.begin()
            try $0.execute("LOCK TABLE purchase_day IN ACCESS EXCLUSIVE MODE")
        }
        let resort = try TestProcess(["resort", "--all"], environment: url)
        let waiting = try await answer(to: Self.waiting, observer, within: .seconds(60)) { $0 > 0 }
        try #require(waiting > 0, "\(resort.standardError)")
        resort.signal(SIGKILL)
        #expect(await resort.wait() == 128 + SIGKILL)
        // The blocker's own connection is the one that is left. The lock timeout would take two minutes.
        let left = try await answer(to: Self.others, observer, within: .seconds(30)) { $0 == 1 }
        #expect(left == 1)
        await blocker.close()
        let next = try TestProcess(["resort", "--all"], environment: url)
        #expect(await next.wait() == 0, "\(next.standardError)")
        observer.shutDown()
        try await database.drop()
    }
}
