import Catalog
import CatalogJSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The tables of the audit log: their partitions, their migration and their plans.
@Suite(.timeLimit(.minutes(15))) struct AuditPartitionTests {
    private static let shop = CatalogKey("shop")!

    /// Runs a body with a catalog in the server's role, and with a connection that has all rights.
    private func withDatabase(
        _ body: (PostgresCatalog, PostgresConnection, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase.migrated()
        let catalog = PostgresCatalog(
            try Database(database.configuration.inServerRole, waitLimit: .seconds(60)),
            encodingEvents: \.json
        )
        let owner = try await PostgresConnection.connect(database.configuration)
        try await body(catalog, owner, database)
        catalog.shutDown()
        await owner.close()
        try await database.drop()
    }

    /// Returns the rows of each partition that has any.
    private func rows(_ owner: PostgresConnection, _ table: SQL = "store_audit") async throws -> [String: Int] {
        try await owner.perform {
            try $0.query("SELECT tableoid::regclass::text, count(*) FROM \(table) GROUP BY 1") { rows in
                // On Citus, the name of a shard ends with its number.
                let counts = try rows.map { (try $0.text(0).replacing(#/_\d+$/#, with: ""), try $0.int(1)) }
                return CitusServers.prefix == nil
                    ? Dictionary(uniqueKeysWithValues: try rows.map { (try $0.text(0), try $0.int(1)) })
                    : Dictionary(counts, uniquingKeysWith: +)
            }
        }
    }

    private func partitions(_ owner: PostgresConnection) async throws -> Set<String> {
        try await owner.perform {
            try $0.query("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'store_audit'::regclass") {
                Set(try $0.map { try $0.text(0) })
            }
        }
    }

    private func insert(_ owner: PostgresConnection, _ times: [String]) async throws {
        try await owner.perform { connection in
            for time in times {
                try connection.run(
                    script: """
                        INSERT INTO store_audit (store_id, at, audit_id, action, source, actor, detail)
                        VALUES (1, '\(time)', gen_random_uuid(), 'store.change', 'api', 'ann', '{}')
                        """
                )
            }
        }
    }

    /// Returns the name of the partition of a day.
    private func name(ofDay day: Int) -> String {
        "store_audit_" + Timestamp.date(ofDay: day).prefix(7).filter { $0 != "-" }
    }

    /// The last day of a month and the first of the next, in the recent past.
    private var monthEnd: (last: Int, first: Int) {
        let today = Timestamp.now().day
        let first = (today - 120..<today - 60).first { Timestamp.date(ofDay: $0).hasSuffix("-01") }!
        return (first - 1, first)
    }

    @Test("A migration creates the partitions of this month and the next, and housekeeping repeats that without effect")
    func partitionsAreCreatedAhead() async throws {
        try await withDatabase { (catalog, owner, _) async throws in
            // The day of the migration, which may have been in another month than the test.
            let today = try await owner.perform {
                try $0.query(
                    "SELECT (max(applied_at AT TIME ZONE 'UTC')::date - date '1970-01-01')::bigint FROM schema_migration"
                ) { try $0.map { try $0.int(0) }[0] }
            }
            #expect(try await partitions(owner).contains(name(ofDay: today)))
            #expect(try await partitions(owner).count == 3)
            for _ in 0..<2 { #expect(try await AuditPartitions(catalog).run(today: today) == (0, 0)) }
            // A month later.
            let next = today + 31
            #expect(try await AuditPartitions(catalog).run(today: next).created > 0)
            #expect(try await partitions(owner).contains(name(ofDay: next)))
            #expect(try await AuditPartitions(catalog).run(today: next) == (0, 0))
        }
    }

    @Test("Servers that create partitions at the same time create each once")
    func concurrentCreation() async throws {
        try await withDatabase { (catalog, owner, database) async throws in
            let others = try (0..<3).map { _ in
                PostgresCatalog(
                    try Database(database.configuration.inServerRole, waitLimit: .seconds(60)),
                    encodingEvents: \.json
                )
            }
            let today = monthEnd.first
            var created = 0
            try await withThrowingTaskGroup(of: Int.self) { group in
                for catalog in others + [catalog] {
                    group.addTask {
                        // Who waits too long for the lock tries again at the next run.
                        do { return try await AuditPartitions(catalog).run(today: today).created } catch CatalogError
                            .unavailable
                        { return 0 }
                    }
                }
                for try await number in group { created += number }
            }
            #expect(created == 4)
            for other in others { other.shutDown() }
            #expect(try await rows(owner).isEmpty)
        }
    }

    @Test("Entries of a month without a partition are kept, and moved when it is created, to the microsecond")
    func straysAreMoved() async throws {
        try await withDatabase { (catalog, owner, _) async throws in
            let (last, first) = monthEnd
            let (before, after) = (Timestamp.date(ofDay: last), Timestamp.date(ofDay: first))
            try await insert(
                owner,
                ["\(before) 23:59:59.999999+00", "\(after) 00:00:00+00", "\(after) 00:00:00.000001+00"]
            )
            #expect(try await rows(owner) == ["store_audit_default": 3])
            try await owner.perform { try $0.run(script: "SET TimeZone = 'Asia/Tokyo'") }
            _ = try await AuditPartitions(catalog).run(today: last)
            #expect(try await rows(owner) == [name(ofDay: last): 1, name(ofDay: first): 2])
            // A partition accepts its own month only.
            try await insert(owner, ["\(before) 23:59:59.999999+00", "\(after) 00:00:00+00"])
            #expect(try await rows(owner) == [name(ofDay: last): 2, name(ofDay: first): 3])
        }
    }

    @Test("Months are dropped as a whole once all of their entries are old enough, and never the last 30 days")
    func oldMonthsAreDropped() async throws {
        try await withDatabase { (catalog, owner, _) async throws in
            let (last, first) = monthEnd
            let today = Timestamp.now().day
            try await insert(
                owner,
                [
                    "2019-05-05 12:00:00+00", "\(Timestamp.date(ofDay: last)) 12:00+00",
                    "\(Timestamp.date(ofDay: first)) 12:00+00",
                ]
            )
            _ = try await AuditPartitions(catalog).run(today: last)
            #expect(try await rows(owner)["store_audit_default"] == nil)
            try await insert(owner, ["2019-05-05 12:00:00+00"])
            let forEver = AuditPartitions(catalog, keeping: AuditRetention(days: 0)!)
            #expect(try await forEver.run(today: today).dropped == 0)
            #expect(try await rows(owner)["store_audit_default"] == 1)
            // The last day is one day too young, then just old enough.
            let keepsLast = AuditPartitions(catalog, keeping: AuditRetention(days: today - last)!)
            #expect(try await keepsLast.run(today: today).dropped == 0)
            #expect(try await rows(owner) == [name(ofDay: last): 1, name(ofDay: first): 1])
            let dropsLast = AuditPartitions(catalog, keeping: AuditRetention(days: today - first)!)
            #expect(try await dropsLast.run(today: today).dropped == 2)
            #expect(try await rows(owner) == [name(ofDay: first): 1])
            // A clock that is wrong by years drops nothing recent.
            await #expect(throws: CatalogError.self) { try await AuditPartitions(catalog).run(today: today + 3000) }
            #expect(try await rows(owner) == [name(ofDay: first): 1])
            let parameters: [PostgresValue] = [.int4(29)]
            await #expect(throws: PostgresError.self) {
                try await catalog.database.batch.perform { try $0.execute(AuditStatements.dropPartitions, parameters) }
            }
        }
    }

    @Test("A transaction that fails leaves no entry")
    func rollbackLeavesNoEntry() async throws {
        try await withDatabase { (catalog, owner, _) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            struct Failure: Error {}
            await #expect(throws: Failure.self) {
                try await catalog.database.writes.transaction(within: .edit) { connection in
                    try AuditLog.record(AuditChange(.storeChange), in: 1, connection)
                    try connection.flushEntries()
                    throw Failure()
                }
            }
            #expect(try await rows(owner).values.reduce(0, +) == 1)
            // An entry that cannot be written takes its change with it.
            try await owner.perform { try $0.run(script: "REVOKE INSERT ON store_audit FROM aisle_server") }
            await #expect(throws: CatalogError.self) {
                try await catalog.products.put(Product(sku: SKU("a")!, name: "A"), in: Self.shop)
            }
            await #expect(throws: CatalogError.self) { try await catalog.products.product(Self.shop, SKU("a")!) }
            try await owner.perform { try $0.run(script: "GRANT INSERT ON store_audit TO aisle_server") }
            _ = try await catalog.products.put(Product(sku: SKU("a")!, name: "A"), in: Self.shop)
            #expect(try await rows(owner).values.reduce(0, +) == 2)
        }
    }

    @Test(
        "Changes are recorded after an upgrade from the previous schema, which keeps its data and the rights of servers"
    )
    func upgradeKeepsData() async throws {
        try await withDatabase { (catalog, owner, database) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            _ = try await catalog.products.put(Product(sku: SKU("a")!, name: "A", priceMinor: 1), in: Self.shop)
            let pool = PostgresPool(database.configuration, options: .init(size: 2))
            _ = try await Migrator(pool).migrate(to: 16)
            _ = try await Migrator(pool).migrate()
            #expect(try await rows(owner).isEmpty)
            try await catalog.prices.setPrices([PriceChange(sku: SKU("a")!, priceMinor: 2)], in: Self.shop)
            let page = try await catalog.audit.audit(AuditRequest(.store(Self.shop)))
            #expect(page.entries.map(\.action) == ["prices.set"])
            #expect(page.entries.first?.origin == .server)
            // The rights do not depend on the script of the roles.
            await #expect(throws: PostgresError.self) {
                try await catalog.database.writes.perform { try $0.execute("DELETE FROM store_audit") }
            }
            #expect(try await AuditPartitions(catalog).run() == (0, 0))
            try await catalog.users.erase(UserID("ann")!, customer: "ann")
            pool.shutDown()
        }
    }

    @Test(
        "A page of the log is read from the primary keys of the needed partitions, without sorting",
        .disabled(if: CitusServers.prefix != nil, "a worker has the plan")
    )
    func pagesUseThePrimaryKey() async throws {
        try await withDatabase { (catalog, owner, _) async throws in
            let (last, first) = monthEnd
            for day in [last - 40, last, first + 31] { _ = try await AuditPartitions(catalog).run(today: day) }
            let lines = try await owner.perform { connection in
                try connection.run(
                    script: """
                        INSERT INTO store_audit (store_id, at, audit_id, action, source, actor, detail)
                        SELECT n % 3, now() - n * interval '5 minutes', gen_random_uuid(), 'store.change', 'api', 'ann', '{}'
                        FROM generate_series(1, 60000) AS n;
                        ANALYZE store_audit;
                        SET plan_cache_mode = force_generic_plan;
                        PREPARE page AS \(AuditStatements.ofStore.sql)
                        """
                )
                let (since, until) = (Timestamp.date(ofDay: first), Timestamp.date(ofDay: first + 10))
                return try connection.query(
                    PostgresStatement(
                        SQL(
                            unchecked: """
                                EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE page (1, '\(since) 00:00+00', '\(until) 00:00+00',
                                    'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff', NULL, NULL, NULL, 25)
                                """
                        )
                    )
                ) { try $0.map { try $0.text(0) } }
            }
            let plan = lines.joined(separator: "\n")
            let scans = lines.filter { $0.contains("Scan") }
            #expect(scans.count == 1, "\(plan)")
            #expect(scans.allSatisfy { $0.contains("Index Scan Backward using \(name(ofDay: first))_pkey") }, "\(plan)")
            #expect(scans.allSatisfy { $0.contains("rows=25 ") }, "\(plan)")
            #expect(!plan.contains("Sort Method") && plan.contains("Subplans Removed"), "\(plan)")
        }
    }
}

extension PostgresConnection {
    /// Sends the entries that wait for the next statement.
    fileprivate func flushEntries() throws { try execute("SELECT 1") }
}
