import Catalog
import CatalogPostgres
import LibPQ
import Schema
import Synchronization
import TestSupport
import Testing

/// The migration that moves popularity into a table of its own, with data, while an older program writes.
@Suite(.timeLimit(.minutes(15))) struct PopularityMigrationTests {
    private static let before = 13
    /// The last version with the table.
    private static let last = 29

    /// Makes a database of the older schema with a generated catalog.
    private func withOlderCatalog(_ body: (TestDatabase, PostgresPool) async throws -> Void) async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        try await CatalogGenerator(shelves: 250, products: 3000, seed: 3).run(pool)
        _ = try await Migrator(pool).migrate(to: Self.before)
        try await body(database, pool)
        pool.shutDown()
        try await database.drop()
    }

    /// Checks that placements have the columns of their products, and the other table those of placements.
    private static func checkCopies(_ pool: PostgresPool) async throws {
        let columns = try await pool.perform {
            try $0.query(
                """
                SELECT a.column_name::text FROM information_schema.columns a JOIN information_schema.columns b
                    ON b.table_name = 'product' AND b.column_name = a.column_name
                WHERE a.table_name = 'placement' AND a.column_name NOT IN ('store_id', 'sku', 'popularity_log2')
                """
            ) { try $0.map { try $0.text(0) } }
        }
        #expect(columns.count == 18)
        func list(_ table: String) -> String { columns.map { "\(table).\($0)" }.joined(separator: ", ") }
        let wrong = SQL(
            unchecked: """
                SELECT count(*) FROM placement p JOIN product r USING (store_id, sku) JOIN shelf h USING (store_id, shelf_id)
                JOIN store s USING (store_id) WHERE (\(list("p"))) IS DISTINCT FROM (\(list("r")))
                    OR p.availability <> CASE WHEN NOT r.in_stock AND coalesce(h.sold_out, s.sold_out) = 'last' THEN 1 ELSE 0 END
                """
        )
        let differingCopies = try await pool.perform {
            try $0.query(PostgresStatement(wrong)) { try $0.first { try $0.int(0) } }
        }
        #expect(differingCopies == 0)
        let differing = try await pool.perform {
            try $0.query(
                """
                SELECT count(*) FROM placement p FULL JOIN placement_popularity o USING (store_id, shelf_id, sku)
                WHERE (p.popularity_log2, p.availability, p.name) IS DISTINCT FROM (o.popularity_log2, o.availability, o.name)
                """
            ) { try $0.first { try $0.int(0) } }
        }
        #expect(differing == 0)
    }

    /// Writes of an older program to the first shelf and the last one: other scores, a product less, and another one.
    private static let olderWrites = """
        UPDATE placement SET popularity_log2 = popularity_log2 + 1 WHERE shelf_id IN (SELECT shelf_id FROM shelf WHERE key IN ('shelf-1', 'shelf-250'));
        DELETE FROM placement WHERE (shelf_id, sku) = (SELECT shelf_id, min(sku) FROM placement
            WHERE shelf_id = (SELECT min(shelf_id) FROM shelf) GROUP BY shelf_id);
        INSERT INTO placement (store_id, shelf_id, sku, availability, name, brand, price_minor, regular_price_minor, size_amount,
            size_unit, size_packs, size_drained, size_approximate, size_dimension, base_quantity, barcode, image_url, attributes, in_stock,
            tags, popularity_log2, created_at, modified_at)
        SELECT store_id, (SELECT max(shelf_id) FROM shelf), sku, availability, name, brand, price_minor,
            regular_price_minor, size_amount, size_unit, size_packs, size_drained, size_approximate, size_dimension, base_quantity,
            barcode, image_url, attributes, in_stock, tags, popularity_log2, created_at, modified_at
        FROM placement WHERE (shelf_id, sku) = (SELECT shelf_id, max(sku) FROM placement
            WHERE shelf_id = (SELECT min(shelf_id) FROM shelf) GROUP BY shelf_id);
        UPDATE shelf SET version = version + 1
        """

    @Test("Every placement has its popularity after the migration, and after going back and forth")
    func copiesPopularity() async throws {
        try await withOlderCatalog { database, pool in
            let step = Migrator.Step.up(version: Self.before + 1, name: "popularity")
            #expect(try await Migrator(pool).estimate(of: step) == "about 1 s and 1 MB for 3000 rows of placement")
            let progress = Mutex<[String: [Int]]>([:])
            _ = try await Migrator(pool).migrate(to: Self.last) { step in
                #expect(step.total == 3000)
                progress.withLock { $0[step.part, default: []].append(step.rows) }
            }
            let batches = Schema.migrations[Self.before].parts().filter { $0.kind == .batches }.map(\.title)
            let rows = progress.withLock { all in batches.flatMap { all[$0] ?? [] } }
            #expect(rows == rows.sorted())
            #expect(rows.count == 3, "100 shelves at a time")
            #expect(rows.last == 3000)
            try await Self.checkCopies(pool)
            let count = try await pool.perform {
                try $0.query("SELECT count(*) FROM placement_popularity") { try $0.first { try $0.int(0) }! }
            }
            #expect(count == 3000)
            _ = try await Migrator(pool).migrate(to: Self.before)
            try await pool.perform { try $0.run(script: Self.olderWrites) }
            _ = try await Migrator(pool).migrate(to: Self.last)
            try await Self.checkCopies(pool)
        }
    }

    @Test("Changes of an older program during the migration are copied, too", arguments: 0..<5)
    func copiesLateChanges(partsBefore: Int) async throws {
        try await withOlderCatalog { database, pool in
            // The migration is interrupted after some of its parts.
            for part in Schema.migrations[Self.before].parts().prefix(partsBefore) {
                try await pool.perform { try $0.run(script: part.sql) }
            }
            try await pool.perform { try $0.run(script: Self.olderWrites) }
            _ = try await Migrator(pool).migrate(to: Self.last)
            try await Self.checkCopies(pool)
            _ = try await Migrator(pool).migrate()
            #expect(try await Migrator.check(pool) == .current)
        }
    }

    @Test("An interruption before the migration is recorded does no harm")
    func repeatsAllParts() async throws {
        try await withOlderCatalog { database, pool in
            // Later migrations are single transactions.
            _ = try await Migrator(pool).migrate(to: 16)
            try await pool.perform { try $0.run(script: "DELETE FROM schema_migration WHERE version > \(Self.before)") }
            try await pool.perform { try $0.run(script: Self.olderWrites) }
            _ = try await Migrator(pool).migrate(to: Self.last)
            try await Self.checkCopies(pool)
            _ = try await Migrator(pool).migrate()
            #expect(try await Migrator.check(pool) == .current)
        }
    }
}
