import CatalogPostgres
import Foundation
import LibPQ
import Schema
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct MigratorTests {
    @Test("The embedded migrations equal the files byte for byte")
    func embedsTheFiles() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = root.appending(path: "sql/migrations")
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

    @Test("What a migration to a lower version deletes is known before")
    func lossesAreKnown() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        try await pool.perform {
            try $0.run(script: "INSERT INTO user_account (user_id, revision, horizon) VALUES ('ann', 1, 1); ANALYZE")
        }
        #expect(try await Migrator(pool).losses(to: Schema.currentVersion) == [])
        let lists = try await Migrator(pool).losses(to: 7)
        #expect(lists.contains(.table(name: "user_list", rows: 0)))
        #expect(!lists.contains { $0.description.contains("user_account") })
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

    @Test("A migration does not wait for a lock with others behind it, but tries again")
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
            let deadline = ContinuousClock.now + .seconds(60)
            while try await observer.perform({ try $0.query(Self.lockWaits) { $0.count > 0 } }) != isWaiting {
                try #require(ContinuousClock.now < deadline)
            }
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
        try await pool.perform { try $0.run(script: "UPDATE schema_migration SET checksum = 'x' WHERE version = 2") }
        #expect(try await Migrator.check(pool) == .altered(version: 2))
        await #expect(throws: PostgresError.self) { try await Migrator(pool).migrate() }
        try await pool.perform {
            try $0.run(script: "INSERT INTO schema_migration (version, name, checksum) VALUES (99, 'later', 'y')")
        }
        #expect(try await Migrator.check(pool) == .newer(version: 99))
        await #expect(throws: PostgresError.self) { try await Migrator(pool).migrate() }
        await #expect(throws: PostgresError.self) { try await Migrator(pool).migrate(locale: "x'; DROP") }
        pool.shutDown()
        try await database.drop()
    }

    @Test("The doctor reports problems of a database")
    func doctorReportsProblems() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        let bad = try await Doctor(pool).examine().filter { !$0.isOK }
        try await pool.perform { try $0.run(script: "DROP INDEX placement_by_brand") }
        let worse = try await Doctor(pool).examine().filter { !$0.isOK }
        #expect(worse.count == bad.count + 1)
        #expect(worse.contains { $0.text.contains("placement_by_brand") && $0.remedy != nil })
        pool.shutDown()
        try await database.drop()
    }
}
