import Foundation
import LibPQ
import Ordering
import Testing
import TestSupport

/// Migrations of a database with data, by processes that are killed.
@Suite(.timeLimit(.minutes(15))) struct KilledMigrationTests {
    /// How often a migration is killed: 100 times by `make test-upgrade`.
    private static let kills = Int(ProcessInfo.processInfo.environment["AISLE_TEST_KILLS"] ?? "") ?? 10
    /// Before popularity and purchases have tables of their own.
    private static let before = "13"

    private static let purchases = """
        INSERT INTO purchase_day (store_id, sku, day, customer, quantity)
        SELECT store_id, 'g' || n % 700, date '2026-01-01' + n % 90, decode(md5((n % 317 * n % 200)::text), 'hex'), n % 5 - 1
        FROM store, generate_series(1, 60000) n ON CONFLICT DO NOTHING;
        INSERT INTO purchase_inbox (store_id, sku, day, customer, quantity)
        SELECT store_id, 'g' || n % 700, date '2026-04-01', decode(md5((n % 200)::text), 'hex'), 1
        FROM store, generate_series(1, 5000) n
        """
    /// The counts after the migration: a refund cancels the customer's latest purchases before it.
    private static let olderCounts: PostgresStatement = """
        WITH totals AS (
            SELECT d.*, sum(quantity) OVER (PARTITION BY store_id, sku, customer ORDER BY day) AS total FROM purchase_day d),
        lowest AS (
            SELECT t.*, min(total) OVER (PARTITION BY store_id, sku, customer ORDER BY day DESC) AS low FROM totals t)
        SELECT md5(string_agg(c::text, ';' ORDER BY c::text)) FROM (SELECT store_id, sku, day,
            sum((quantity > 0 AND low > greatest(0, total - quantity))::integer) AS count FROM lowest
            GROUP BY store_id, sku, day) c WHERE count <> 0
        """
    private static let counts: PostgresStatement =
        "SELECT md5(string_agg(c::text, ';' ORDER BY c::text)) FROM purchase_count c WHERE count <> 0"
    private static let pending: PostgresStatement = """
        SELECT md5(string_agg((store_id, sku, day, customer, quantity)::text, ';'
            ORDER BY (store_id, sku, day, customer, quantity)::text)) FROM purchase_inbox
        """

    private func run(_ arguments: [String], _ url: [String: String]) async throws {
        let process = try TestProcess(arguments, environment: url)
        #expect(await process.wait() == 0, "\(arguments): \(process.standardError)")
    }

    @Test("Killed migrations complete the next time, and lose or double nothing")
    func killedMigrationsComplete() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        func text(_ statement: PostgresStatement) async throws -> String {
            try await pool.perform { try $0.query(statement) { try $0.first { try $0.text(0) } ?? "" } }
        }
        try await run(["seed", "--shelves", "250", "--products", "3000"], url)
        try await run(["db", "migrate", "--to", Self.before, "--yes"], url)
        try await pool.perform { try $0.run(script: Self.purchases) }
        let (counts, pending) = (try await text(Self.olderCounts), try await text(Self.pending))
        var random = SeededGenerator(seed: 29)
        var kills = 0
        while kills < Self.kills {
            let migration = try TestProcess(["db", "migrate"], environment: url)
            try await Task.sleep(for: .microseconds(Int.random(in: 50_000..<900_000, using: &random)))
            migration.signal(SIGKILL)
            let code = await migration.wait()
            if code == 128 + SIGKILL {
                kills += 1
                continue
            }
            #expect(code == 0, "\(migration.standardError)")
            try await database.checkConsistency()
            #expect(try await text(Self.counts) == counts)
            #expect(try await text(Self.pending) == pending)
            try await run(["db", "migrate", "--to", Self.before, "--yes"], url)
            #expect(try await text(Self.olderCounts) == counts)
        }
        try await run(["db", "migrate"], url)
        try await database.checkConsistency()
        #expect(try await text(Self.counts) == counts)
        #expect(try await text(Self.pending) == pending)
        pool.shutDown()
        try await database.drop()
    }
}
