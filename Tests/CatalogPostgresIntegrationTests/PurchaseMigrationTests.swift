import Catalog
import CatalogPostgres
import LibPQ
import Schema
import TestSupport
import Testing

/// The migration that counts purchases apart from customers, with data.
@Suite(.timeLimit(.minutes(15))) struct PurchaseMigrationTests {
    private static let before = 14
    /// Before refunds cancelled purchases of other days.
    private static let after = 18

    /// Purchases of the older schema: of 40 products by 30 customers on 50 days, refunds and anonymous ones among them, and
    /// some that are not folded.
    private static let olderPurchases = """
        INSERT INTO purchase_day (store_id, sku, day, customer, quantity)
        SELECT s, 'p' || n % 40, date '2026-01-01' + n % 50, decode(md5((n * n % 30)::text), 'hex'), n % 5 - 1
        FROM generate_series(1, 2) s, generate_series(1, 600) n ON CONFLICT DO NOTHING;
        INSERT INTO purchase_day (store_id, sku, day, customer, quantity)
        SELECT 1, 'p' || n % 60, date '2026-01-01' + n % 50, '', n % 7 - 2 FROM generate_series(1, 900) n ON CONFLICT DO NOTHING;
        INSERT INTO purchase_inbox (store_id, sku, day, customer, quantity)
        SELECT 1 + n % 2, 'p' || n % 50, date '2026-02-10', CASE WHEN n % 3 = 0 THEN '' ELSE decode(md5((n % 30)::text), 'hex') END, 1
        FROM generate_series(1, 200) n;
        """
    private static let olderRows: PostgresStatement = """
        SELECT (SELECT string_agg(d::text, ';' ORDER BY d::text) FROM purchase_day d WHERE customer <> '' OR quantity <> 0)
            || (SELECT string_agg((store_id, sku, day, customer, quantity)::text, ';'
                ORDER BY (store_id, sku, day, customer, quantity)::text) FROM purchase_inbox)
        """
    /// The counts of the older schema, by its definition.
    private static let olderCounts: PostgresStatement = """
        SELECT string_agg(c::text, ';' ORDER BY c::text) FROM (SELECT store_id, sku, day,
            sum(CASE WHEN customer = '' THEN quantity WHEN quantity > 0 THEN 1 ELSE 0 END) FROM purchase_day
            GROUP BY store_id, sku, day) c
        """
    private static let counts: PostgresStatement =
        "SELECT string_agg(c::text, ';' ORDER BY c::text) FROM purchase_count c"
    private static let pending: PostgresStatement = """
        SELECT string_agg((store_id, sku, day, customer, quantity)::text, ';'
            ORDER BY (store_id, sku, day, customer, quantity)::text) FROM purchase_inbox
        """

    private func text(_ statement: PostgresStatement, _ pool: PostgresPool) async throws -> String {
        try await pool.perform { try $0.query(statement) { try $0.first { try $0.text(0) } ?? "" } }
    }

    private func withOlderPurchases(_ body: (PostgresPool) async throws -> Void) async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        _ = try await Migrator(pool).migrate(to: Self.before)
        try await pool.perform { try $0.run(script: Self.olderPurchases) }
        try await body(pool)
        pool.shutDown()
        try await database.drop()
    }

    @Test("Counts, customers and pending purchases are the same after the migration, and after going back")
    func keepsPurchases() async throws {
        try await withOlderPurchases { pool in
            let rows = try await text(Self.olderRows, pool)
            let counts = try await text(Self.olderCounts, pool)
            let pending = try await text(Self.pending, pool)
            _ = try await Migrator(pool).migrate(to: Self.after)
            #expect(try await text(Self.counts, pool) == counts)
            #expect(try await text(Self.pending, pool) == pending)
            _ = try await Migrator(pool).migrate(to: Self.before)
            #expect(try await text(Self.olderRows, pool) == rows)
            #expect(try await text(Self.olderCounts, pool).split(separator: ";").count > 400)
        }
    }

    @Test("Going back anonymizes erased customers and keeps counts of zero")
    func goesBackExactly() async throws {
        try await withOlderPurchases { pool in
            _ = try await Migrator(pool).migrate(to: Self.after)
            let script = """
                INSERT INTO purchase_by_customer (store_id, day, quantity, customer, sku) VALUES
                    (1, '2026-03-01', 1, 'kept', 'zero'), (1, '2026-03-01', 2, 'erased', 'one');
                INSERT INTO purchase_count (store_id, sku, day, count) VALUES (1, 'one', '2026-03-01', 1);
                INSERT INTO purchase_erasure (customer, mark) VALUES ('erased', 1);
                INSERT INTO purchase_stray (store_id, event_id, sku, day, customer, quantity)
                VALUES (1, gen_random_uuid(), 'stray', '2026-03-01', 'erased', 1)
                """
            try await pool.perform { try $0.run(script: script) }
            _ = try await Migrator(pool).migrate(to: Self.before)
            #expect(
                try await text(
                    """
                    SELECT string_agg((sku, convert_from(customer, 'UTF8'), quantity)::text, ';' ORDER BY sku, customer)
                    FROM purchase_day WHERE day = '2026-03-01'
                    """,
                    pool
                ) == "(one,\"\",1);(zero,\"\",-1);(zero,kept,1)"
            )
            #expect(try await text("SELECT string_agg(encode(customer, 'hex'), '') FROM purchase_stray", pool) == "")
        }
    }

    @Test("An interrupted migration continues without counting twice", arguments: 0..<4)
    func continuesAfterInterruption(partsBefore: Int) async throws {
        try await withOlderPurchases { pool in
            let counts = try await text(Self.olderCounts, pool)
            let pending = try await text(Self.pending, pool)
            for part in Schema.migrations[Self.before].parts().prefix(partsBefore) {
                try await pool.perform { try $0.run(script: part.sql) }
            }
            _ = try await Migrator(pool).migrate(to: Self.after)
            #expect(try await text(Self.counts, pool) == counts)
            #expect(try await text(Self.pending, pool) == pending)
            _ = try await Migrator(pool).migrate()
            #expect(try await Migrator.check(pool) == .current)
        }
    }

    @Test(
        "Refunds that were folded before cancel purchases of earlier days after the migration, and not after going back"
    )
    func correctsOlderRefunds() async throws {
        try await withOlderPurchases { pool in
            _ = try await Migrator(pool).migrate(to: Self.after)
            let script = """
                DELETE FROM purchase_by_customer; DELETE FROM purchase_count;
                INSERT INTO purchase_by_customer (store_id, customer, day, sku, quantity) VALUES
                    (1, 'a', '2026-01-01', 'p1', 1), (1, 'a', '2026-01-02', 'p1', 2), (1, 'a', '2026-01-03', 'p1', -2),
                    (1, 'b', '2026-01-01', 'p1', 1), (1, 'b', '2026-01-02', 'p1', 0),
                    (2, 'a', '2026-01-02', 'p1', -1), (2, 'a', '2026-01-03', 'p1', 2);
                INSERT INTO purchase_count (store_id, sku, day, count) SELECT store_id, sku, day, count(*) FROM purchase_by_customer
                WHERE quantity > 0 GROUP BY store_id, sku, day;
                INSERT INTO purchase_event (store_id, event_id, day) VALUES (1, '018f9a6e-5b7c-7d10-9d2e-3f8a1c2b4d62', '2026-01-01');
                """
            try await pool.perform { try $0.run(script: script) }
            let older = try await text(Self.counts, pool)
            _ = try await Migrator(pool).migrate()
            let events: PostgresStatement = "SELECT event_id::text FROM purchase_event"
            #expect(try await text(events, pool) == "018f9a6e-5b7c-7d10-9d2e-3f8a1c2b4d62")
            let counted: PostgresStatement = """
                SELECT string_agg(store_id || ' ' || day || ' ' || count, ', ' ORDER BY store_id, day) FROM purchase_count WHERE count <> 0
                """
            #expect(try await text(counted, pool) == "1 2026-01-01 2, 2 2026-01-03 1")
            let due: PostgresStatement = "SELECT string_agg(store_id || ' ' || skus::text, ', ') FROM due_products"
            #expect(try await text(due, pool) == "1 {p1}")
            _ = try await Migrator(pool).migrate(to: Self.after)
            #expect(try await text(Self.counts, pool) == older)
        }
    }
}
