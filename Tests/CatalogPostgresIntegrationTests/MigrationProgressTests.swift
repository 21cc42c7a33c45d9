import LibPQ
import Schema
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// The reports of migrations that run in batches.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "tables of tests are not distributed"),
    .timeLimit(.minutes(15))
) struct MigrationProgressTests {
    /// A report as text: the part, the changed rows and the estimated rows.
    private static func text(_ progress: Migrator.Progress) -> String {
        "\(progress.part): \(progress.rows) of \(progress.total.map { "\($0)" } ?? "?")"
    }

    /// Migrates a database with rows to a next version; returns the reports.
    private static func reports(_ setup: String, _ up: String) async throws -> [String] {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        try await pool.perform { try $0.run(script: setup) }
        let next = Migration(version: Schema.currentVersion + 1, name: "next", up: up, down: "SELECT 1")
        let reports = Mutex<[String]>([])
        let steps = try await Migrator(pool, migrations: Schema.migrations + [next]).migrate { progress in
            reports.withLock { $0.append(text(progress)) }
        }
        #expect(steps == [.up(version: next.version, name: "next")])
        pool.shutDown()
        try await database.drop()
        return reports.withLock { $0 }
    }

    private static let rows =
        "CREATE TABLE progress_test (id integer, twin integer); INSERT INTO progress_test SELECT i FROM generate_series(1, 25) i"
    private static let batches = """
        -- Step: before
        SELECT 1;
        -- Batches: twins
        UPDATE progress_test SET twin = id WHERE id IN (SELECT id FROM progress_test WHERE twin IS NULL LIMIT 10);
        """

    @Test("Each batch reports the rows so far, and the number of rows if the migration names their table")
    func batchesAreReported() async throws {
        let estimate = "-- Takes about: 1 s, 1 MB per million rows of progress_test\n"
        let analyzed = try await Self.reports("\(Self.rows); ANALYZE progress_test", estimate + Self.batches)
        #expect(analyzed == ["twins: 10 of 25", "twins: 20 of 25", "twins: 25 of 25"])
        // The server does not know the number of rows of a table that was never analyzed.
        let unknown = ["twins: 10 of ?", "twins: 20 of ?", "twins: 25 of ?"]
        #expect(try await Self.reports(Self.rows, estimate + Self.batches) == unknown)
        #expect(try await Self.reports("\(Self.rows); ANALYZE progress_test", Self.batches) == unknown)
    }

    @Test("A part that the program runs reports its products after each batch")
    func programsAreReported() async throws {
        let products = """
            INSERT INTO store (store_id, key, title, currency, locale, unit_pricing, sold_out, popularity_metric,
                popularity_half_life_days, newcomer_boost)
            OVERRIDING SYSTEM VALUE VALUES (1, 's', 'S', 'EUR', 'en', 'eu', 'last', 'decay', 14, 0);
            INSERT INTO store_state (store_id) VALUES (1);
            INSERT INTO product (store_id, sku, name, name_key, created_at, modified_at)
            SELECT 1, 'p' || n, 'N', '\\x01', now(), now() FROM generate_series(1, 1001) n
            """
        let reports = try await Self.reports(products, "-- Program: sort keys of products")
        #expect(reports == ["sort keys of products: 1000 of ?", "sort keys of products: 1001 of ?"])
    }
}
