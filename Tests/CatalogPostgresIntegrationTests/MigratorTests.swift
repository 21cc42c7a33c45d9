import Catalog
import CatalogJSON
import CatalogPostgres
import Foundation
import LibPQ
import Schema
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct MigratorTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test("The upgrade guide describes every migration since 0.1.0")
    func upgradesAreDescribed() throws {
        let guide = try String(contentsOf: Self.root.appending(path: "docs/upgrading.md"), encoding: .utf8)
        var described: Set<Int> = []
        for match in guide.matches(of: /[Mm]igrations?\s+(\d+)(?:\s+(to|and)\s+(\d+))?/) {
            guard let first = Int(match.1) else { continue }
            let last = match.3.flatMap { Int($0) } ?? first
            described.formUnion(match.2 == "to" ? Array(first...last) : [first, last])
        }
        #expect(Schema.migrations.map(\.version).filter { $0 > 9 && !described.contains($0) } == [])
    }

    @Test("The embedded migrations equal the files byte for byte")
    func embedsTheFiles() throws {
        let folder = Self.root.appending(path: "sql/migrations")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".up.sql") }
        #expect(names.count == Schema.migrations.count)
        for migration in Schema.migrations {
            let number = String(String(migration.version + 1000).dropFirst())
            let stem = "v\(number)_\(migration.name)"
            #expect(try String(contentsOf: folder.appending(path: stem + ".up.sql"), encoding: .utf8) == migration.up)
            #expect(
                try String(contentsOf: folder.appending(path: stem + ".down.sql"), encoding: .utf8) == migration.down
            )
        }
    }

    @Test("The schema migrates up, down and up again")
    func migratesUpAndDown() async throws {
        let database = try await TestDatabase.empty()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        #expect(try await Migrator.check(pool) == .empty)
        #expect(try await Migrator(pool).migrate(isDryRun: true).count == Schema.currentVersion + 1)
        #expect(try await Migrator.check(pool) == .empty)
        #expect(try await Migrator(pool).migrate().count == Schema.currentVersion + 1)
        #expect(try await Migrator(pool).migrate().isEmpty)
        #expect(try await Migrator(pool).migrate(to: 0).count == Schema.currentVersion)
        #expect(try await Migrator.check(pool) == .empty)
        #expect(try await Migrator(pool).migrate().count == Schema.currentVersion)
        #expect(try await Migrator.check(pool) == .current)
        pool.shutDown()
        try await database.drop()
    }

    @Test("A downgrade removes deleted stores, and what servers of earlier versions have written to them")
    func removesDeletedStores() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        try await pool.perform { connection in
            try connection.run(
                script: """
                    INSERT INTO store (key, title, currency, locale, unit_pricing, sold_out, popularity_metric,
                        popularity_half_life_days, newcomer_boost, deleted_at)
                    VALUES ('a', 'A', 'EUR', 'en', 'eu', 'last', 'decay', 14, 0, now()),
                        ('b', 'B', 'EUR', 'en', 'eu', 'last', 'decay', 14, 0, NULL);
                    INSERT INTO store_state (store_id) SELECT store_id FROM store;
                    INSERT INTO shelf (store_id, shelf_id, key, title, title_key, position, modified_at, deleted_at)
                    SELECT store_id, 1, 'dairy', 'Dairy', '', '\\x80', now(), now() FROM store;
                    INSERT INTO purchase_count (store_id, sku, day, count)
                    SELECT store_id, 'p', date '2026-01-01', 1 FROM store;
                    """
            )
        }
        _ = try await Migrator(pool).migrate(to: 23)
        let rows = try await pool.perform { connection in
            try connection.query(
                """
                SELECT (SELECT string_agg(key, ',') FROM store), (SELECT count(*) FROM store_state),
                    (SELECT count(*) FROM shelf), (SELECT count(*) FROM purchase_count)
                """
            ) { try $0.first { (try $0.text(0), [try $0.int(1), try $0.int(2), try $0.int(3)]) } }
        }
        #expect(rows?.0 == "b")
        #expect(rows?.1 == [1, 1, 1])
        pool.shutDown()
        try await database.drop()
    }

    @Test("Migration 36 deletes the recorded responses with secrets, and no others")
    func deletesRecordedSecrets() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        _ = try await Migrator(pool).migrate(to: 35)
        try await pool.perform { connection in
            try connection.run(
                script: #"""
                    INSERT INTO user_account (user_id, revision, horizon) VALUES ('ann', 1, 1);
                    INSERT INTO user_idempotency_record
                    SELECT 'ann', key, '\x01', 201, 'application/json', convert_to(body, 'UTF8'), now() FROM (VALUES
                        ('old ticket', '{"ticket":"a","expires_at":"2026-03-01T09:30:00Z"}'),
                        ('old share', '{"id":"b","role":"reader","token":"c","created_at":"2026-03-01T09:30:00Z"}'),
                        ('ticket', '{"id":"d","expires_at":"2026-03-01T09:30:00Z"}'),
                        ('share', '{"id":"e","role":"reader","created_at":"2026-03-01T09:30:00Z"}'),
                        ('list', '{"id":"f","name":"\",\"token\":\"","role":"owner"}')) r (key, body)
                    """#
            )
        }
        _ = try await Migrator(pool).migrate()
        let keys = try await pool.perform {
            try $0.query("SELECT key FROM user_idempotency_record ORDER BY key") { try $0.map { try $0.text(0) } }
        }
        #expect(keys == ["list", "share", "ticket"])
        pool.shutDown()
        try await database.drop()
    }

    @Test("A downgrade reports the tables and columns that it would delete")
    func lossesAreKnown() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        try await pool.perform {
            try $0.run(script: "INSERT INTO user_account (user_id, revision, horizon) VALUES ('ann', 1, 1); ANALYZE")
        }
        #expect(try await Migrator(pool).losses(to: Schema.currentVersion) == [])
        let lists = try await Migrator(pool).losses(to: 7)
        #expect(lists.contains(.table(name: "user_list", rows: 0)))
        #expect(!lists.contains { $0.description.contains("user_setting") })
        let everything = try await Migrator(pool).losses(to: 0)
        #expect(everything.contains(.table(name: "user_account", rows: 1)))
        #expect(everything.contains(.table(name: "product", rows: 0)))
        // Nothing was changed.
        #expect(try await Migrator.check(pool) == .current)
        pool.shutDown()
        try await database.drop()
    }

    private static let lockWaits: PostgresStatement = """
        SELECT 1 FROM pg_locks WHERE relation = to_regclass('product') AND NOT granted
        """

    @Test("A migration that cannot get a lock times out and retries")
    func migrationRetriesItsLocks() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        let blocker = try await PostgresConnection.connect(database.configuration)
        try await blocker.perform {
            try $0.begin()
            _ = try $0.query("SELECT count(*) FROM product") { $0.count }
        }
        let migration = Task { try await Migrator(pool).migrate(to: 0) }
        let observer = try await PostgresConnection.connect(database.configuration)
        func waitUntil(isWaiting: Bool) async throws {
            let isMet = try await eventually {
                try await observer.perform { try $0.query(Self.lockWaits) { $0.count > 0 } } == isWaiting
            }
            try #require(isMet)
        }
        try await waitUntil(isWaiting: true)
        try await waitUntil(isWaiting: false)
        // Meanwhile others read the table.
        let read = try await observer.perform(within: .seconds(30)) {
            try $0.query("SELECT sku FROM product") { $0.count }
        }
        #expect(read == 0)
        try await blocker.perform { $0.rollback() }
        #expect(try await migration.value.count == Schema.currentVersion)
        await blocker.close()
        await observer.close()
        pool.shutDown()
        try await database.drop()
    }

    @Test("Concurrent migrators migrate once")
    func concurrentMigratorsMigrateOnce() async throws {
        let database = try await TestDatabase.empty()
        let pool = PostgresPool(database.configuration, options: .init(size: 8))
        let steps = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { try await Migrator(pool).migrate().count } }
            return try await group.reduce(0, +)
        }
        #expect(steps == Schema.currentVersion + 1)
        pool.shutDown()
        try await database.drop()
    }

    @Test("An unknown or altered schema is rejected")
    func rejectsForeignSchemas() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        try await pool.perform {
            try $0.run(script: "INSERT INTO schema_migration (version, name, checksum) VALUES (99, 'later', 'y')")
        }
        #expect(try await Migrator.check(pool) == .newer(version: 99))
        await #expect(throws: PostgresError.self) { try await Migrator(pool).migrate() }
        try await pool.perform { try $0.run(script: "UPDATE schema_migration SET checksum = 'x' WHERE version = 2") }
        #expect(try await Migrator.check(pool) == .altered(version: 2))
        await #expect(throws: PostgresError.self) { try await Migrator(pool).migrate() }
        pool.shutDown()
        try await database.drop()
    }

    @Test("A migration says in comments what it is compatible with, and its parts")
    func migrationsSayHowTheyRun() {
        let whole = Migration(version: 11, name: "whole", up: "-- A table.\nCREATE TABLE x ();", down: "")
        #expect(whole.oldestCompatible == 11)
        #expect(whole.parts().isEmpty)
        #expect(whole.estimate == nil)
        let up = """
            -- Takes about: 12 s, 345 MB per million rows of product
            -- Compatible with: 9
            -- Step: column x
            ALTER;
            -- Batches: values of x
            -- Some.
            UPDATE;
            -- Step: index
            CREATE INDEX CONCURRENTLY y;
            """
        let split = Migration(version: 11, name: "split", up: up, down: "")
        #expect(split.oldestCompatible == 9)
        let estimate = split.estimate.map { ($0.table, $0.seconds, $0.megabytes) }
        #expect(estimate.map { $0 == ("product", 12, 345) } == true)
        #expect(split.parts().map(\.title) == ["column x", "values of x", "index"])
        #expect(split.parts().map(\.sql) == ["ALTER;", "-- Some.\nUPDATE;", "CREATE INDEX CONCURRENTLY y;"])
        #expect(split.parts().map(\.kind) == [.step, .batches, .step])
        #expect(split.parts().map(\.isConcurrent) == [false, false, true])
    }

    /// The program's migrations, and one more.
    private static func next(_ up: String, down: String = "SELECT 1", after: [Migration] = Schema.migrations)
        -> [Migration]
    {
        after + [Migration(version: after.count + 1, name: "next", up: up, down: down)]
    }

    @Test("A server works with a newer schema that declares itself compatible")
    func worksWithCompatibleSchemas() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        let version = Schema.currentVersion
        let compatible = Self.next("-- Compatible with: \(version)\nALTER TABLE shelf ADD COLUMN next integer")
        #expect(try await Migrator(pool, migrations: compatible).migrate().count == 1)
        #expect(try await Migrator.check(pool) == .compatible(version: version + 1))
        #expect(try await Migrator.check(pool, against: compatible) == .current)
        let catalog = PostgresCatalog(try Database(database.configuration), encodingEvents: \.json)
        #expect(await catalog.readiness.readiness() == .ready)
        #expect(try await Migrator(pool).migrate().isEmpty)
        await #expect(throws: PostgresError.self) { try await Migrator(pool).migrate(to: 0) }

        let incompatible = Self.next("ALTER TABLE shelf DROP COLUMN next", after: compatible)
        #expect(try await Migrator(pool, migrations: incompatible).migrate().count == 1)
        #expect(try await Migrator.check(pool) == .newer(version: version + 2))
        #expect(await catalog.readiness.readiness() == .unavailable)
        #expect(try await Migrator(pool, migrations: incompatible).migrate(to: version).count == 2)
        #expect(await catalog.readiness.readiness() == .ready)
        catalog.shutDown()
        pool.shutDown()
        try await database.drop()
    }

    @Test("A migration in parts runs in batches and outside of transactions, and again after an interruption")
    func migratesInParts() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        try await pool.perform {
            try $0.run(
                script:
                    "CREATE TABLE part_test (id integer, twin integer); INSERT INTO part_test SELECT i FROM generate_series(1, 2500) i"
            )
        }
        let migrations = Self.next(
            """
            -- Step: batches done
            CREATE SEQUENCE IF NOT EXISTS part_test_batches;
            -- Batches: twins
            UPDATE part_test SET twin = id + 0 * (SELECT nextval('part_test_batches'))
            WHERE id IN (SELECT id FROM part_test WHERE twin IS NULL LIMIT 1000);
            -- Step: index
            CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS part_test_twin ON part_test (twin);
            """
        )
        let migrator = Migrator(pool, migrations: migrations)
        // The twin of row 1 is there already, so the index fails and remains invalid.
        try await pool.perform { try $0.run(script: "INSERT INTO part_test VALUES (1, 1)") }
        await #expect(throws: PostgresError.self) { try await migrator.migrate() }
        #expect(try await Migrator.check(pool) == .current)
        let batches: PostgresStatement = "SELECT last_value FROM part_test_batches"
        #expect(try await pool.perform { try $0.query(batches) { try $0.first { try $0.int8(0) } } } == 3)
        let isValid: PostgresStatement = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'part_test_twin'::regclass"
        #expect(try await pool.perform { try $0.query(isValid) { try $0.first { try $0.bool(0) } } } == false)

        try await pool.perform {
            try $0.run(script: "DELETE FROM part_test WHERE ctid IN (SELECT max(ctid) FROM part_test WHERE id = 1)")
        }
        #expect(try await migrator.migrate() == [.up(version: migrations.count, name: "next")])
        #expect(try await pool.perform { try $0.query(isValid) { try $0.first { try $0.bool(0) } } } == true)
        #expect(try await Migrator.check(pool, against: migrations) == .current)
        pool.shutDown()
        try await database.drop()
    }

    @Test("A schema of 0.1.0, which recorded no compatibility, is migrated")
    func recordsCompatibilityInOldSchemas() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        try await pool.perform { try $0.run(script: "ALTER TABLE schema_migration DROP COLUMN oldest_compatible") }
        #expect(try await Migrator.check(pool) == .current)
        let migrations = Self.next("-- Compatible with: 1\nSELECT 1")
        #expect(try await Migrator(pool, migrations: migrations).migrate().count == 1)
        #expect(try await Migrator.check(pool) == .compatible(version: migrations.count))
        pool.shutDown()
        try await database.drop()
    }

    @Test("The doctor reports problems of a database")
    func doctorReportsProblems() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        let bad = try await Doctor(pool).examine().filter { !$0.isOK }
        try await pool.perform { try $0.run(script: "DROP INDEX placement_by_shelf") }
        let worse = try await Doctor(pool).examine().filter { !$0.isOK }
        #expect(worse.count == bad.count + 1)
        #expect(worse.contains { $0.text.contains("placement_by_shelf") && $0.remedy != nil })
        pool.shutDown()
        try await database.drop()
    }
}
