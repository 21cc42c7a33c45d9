import TestSupport
import Testing

@testable import LibPQ

/// Connections behind a transaction pooler.
@Suite(.enabled(if: TestPooler.isUsed, "needs a PgBouncer: make test-pooler"), .timeLimit(.minutes(5)))
struct PoolerTests {
    private static let marker = "pooler_test_first"
    private static let first: PostgresStatement = "SELECT 'pooler_test_first' FROM pg_sleep(0.5)"
    private static let second: PostgresStatement = "SELECT 'a secret' FROM pg_sleep(2)"
    private static let running: PostgresStatement =
        "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND position($1 IN query) > 0"
    private static let own: PostgresStatement = "SELECT 'its own'"

    @Test("A lost connection leaves no result for the next client")
    func leavesNoResults() async throws {
        let configuration = TestPooler.pooled(TestServer.configuration)
        try #require(configuration.dsn != TestServer.configuration.dsn)
        let observer = try await PostgresConnection.connect(TestServer.configuration)
        for _ in 0..<5 {
            var options = PostgresPipeline.Options()
            options.connections = 1
            let pipeline = try PostgresPipeline(configuration, options: options)
            let first = Task { try await Self.read(Self.first, pipeline) }
            let deadline = ContinuousClock.now + .seconds(30)
            while try await !observer.perform({ try $0.query(Self.running, [.text(Self.marker)]) { $0.count > 0 } }) {
                try #require(.now < deadline, "the first read does not start")
            }
            // Sent while the first one runs, if two transactions may be in flight.
            let second = Task { try await Self.read(Self.second, pipeline) }
            #expect(try await first.value == Self.marker)
            pipeline.shutDown()
            await #expect(throws: PostgresError.self) { try await second.value }
            let client = try await PostgresConnection.connect(configuration)
            let found = try await client.perform { try $0.query(Self.own) { try $0.first { try $0.text(0) } } }
            #expect(found == "its own")
            await client.close()
        }
        await observer.close()
    }

    private static func read(_ statement: PostgresStatement, _ pipeline: PostgresPipeline) async throws -> String {
        try await pipeline.read([PostgresQuery(statement)], into: "") { value, _, rows in
            value = try rows.first { try $0.text(0) } ?? ""
        }
    }
}
