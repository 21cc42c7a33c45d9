import Catalog
import CatalogJSON
import CatalogPostgres
import LibPQ
import TestSupport
import Testing

/// The migration that gives the state of a store a row of its own, with data.
@Suite(.timeLimit(.minutes(15))) struct StoreStateMigrationTests {
    private static let before = 15
    private static let stores = [CatalogKey("a")!, CatalogKey("b")!]

    private static let olderState = """
        UPDATE store SET version = 1700000000000001, shelf_order_version = 1700000000000002, counted_metric = '7d',
            counted_half_life_days = 30, counted_newcomer_boost = 1.5, counted_on = '2026-01-02', customers_kept_from = '2025-01-02'
        WHERE key = 'a';
        UPDATE store SET version = 5, shelf_order_version = 6 WHERE key = 'b'
        """

    /// Returns a statement for all state in a table.
    private static func state(in table: SQL) -> PostgresStatement {
        """
        SELECT string_agg((store_id, version, shelf_order_version, counted_metric, counted_half_life_days,
            counted_newcomer_boost, counted_on, customers_kept_from)::text, ';' ORDER BY store_id) FROM \(table)
        """
    }

    private func text(_ statement: PostgresStatement, _ pool: PostgresPool) async throws -> String {
        try await pool.perform { try $0.query(statement) { try $0.first { try $0.text(0) } ?? "" } }
    }

    /// Makes a database of the older schema with two stores, each with the shelves 1 and 2.
    private func withOlderStores(_ body: (PostgresConfiguration, PostgresPool) async throws -> Void) async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        let catalog = PostgresCatalog(try Database(database.configuration), encodingEvents: \.json)
        for store in Self.stores {
            _ = try await catalog.shelves.put(Store(key: store, title: "Store", currency: Currency("EUR")!))
            for shelf in ["x", "y"] {
                _ = try await catalog.shelves.put(Shelf(key: CatalogKey(shelf)!, title: "Shelf"), in: store)
            }
        }
        catalog.shutDown()
        _ = try await Migrator(pool).migrate(to: Self.before)
        try await pool.perform { try $0.run(script: Self.olderState) }
        try await body(database.configuration, pool)
        pool.shutDown()
        try await database.drop()
    }

    @Test("The state of stores is the same after the migration and after going back, and versions never decrease")
    func keepsState() async throws {
        try await withOlderStores { _, pool in
            let older = try await text(Self.state(in: "store"), pool)
            _ = try await Migrator(pool).migrate()
            #expect(try await text(Self.state(in: "store_state"), pool) == older)
            // One store changes. A server of 0.1 changes the other one.
            let script = """
                UPDATE store_state SET version = version + 10, shelf_order_version = shelf_order_version + 20,
                    counted_on = '2026-02-03', customers_kept_from = '2025-02-03'
                WHERE store_id = (SELECT store_id FROM store WHERE key = 'a');
                UPDATE store SET version = 100, shelf_order_version = 200 WHERE key = 'b'
                """
            try await pool.perform { try $0.run(script: script) }
            _ = try await Migrator(pool).migrate(to: Self.before)
            #expect(
                try await text(
                    """
                    SELECT string_agg((key, version, shelf_order_version, counted_metric, counted_on, customers_kept_from)::text,
                        ';' ORDER BY key) FROM store
                    """,
                    pool
                ) == "(a,1700000000000011,1700000000000022,7d,2026-02-03,2025-02-03);(b,100,200,decay,,)"
            )
            let changed = try await text(Self.state(in: "store"), pool)
            _ = try await Migrator(pool).migrate()
            #expect(try await text(Self.state(in: "store_state"), pool) == changed)
        }
    }

    @Test("New shelves get ids that no shelf of their store had, after the migration and after going back")
    func assignsNewIDs() async throws {
        try await withOlderStores { configuration, pool in
            // The older schema assigns ids for all stores together.
            let script = """
                INSERT INTO shelf (store_id, key, title, position, modified_at)
                SELECT store_id, 'older', 'Older', '\\xbf', now() FROM store ORDER BY key
                """
            try await pool.perform { try $0.run(script: script) }
            let ids: PostgresStatement = "SELECT string_agg(shelf_id::text, ',' ORDER BY store_id, shelf_id) FROM shelf"
            #expect(try await text(ids, pool) == "1,2,3,1,2,4")
            _ = try await Migrator(pool).migrate()
            let catalog = PostgresCatalog(try Database(configuration), encodingEvents: \.json)
            for store in Self.stores {
                _ = try await catalog.shelves.put(Shelf(key: CatalogKey("newer")!, title: "Newer"), in: store)
            }
            catalog.shutDown()
            #expect(try await text(ids, pool) == "1,2,3,4,1,2,4,5")
        }
    }
}
