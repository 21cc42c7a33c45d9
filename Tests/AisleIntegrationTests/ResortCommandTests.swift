import Foundation
import LibPQ
import Ordering
import Testing
import TestSupport

/// End-to-end tests of the re-sort, purchase and price commands, with processes that are killed.
@Suite(.timeLimit(.minutes(15))) struct ResortCommandTests {
    private func run(_ arguments: [String], _ url: [String: String], input: String = "") async throws -> (
        Int32, String, String
    ) {
        let process = try TestProcess(arguments, environment: url)
        process.send(input)
        let code = await process.wait()
        return (code, process.standardOutput, process.standardError)
    }

    private static let shelves = 12
    private static let products = 240

    /// Imports products on several shelves, all arranged by −popularity.
    private func fill(_ url: [String: String], _ database: TestDatabase) async throws {
        let rows = (0..<Self.products).map { "shop,shelf \($0 % Self.shelves),p\($0),Product \($0),1.00" }
        let file = "store,shelf,sku,name,price\n" + rows.joined(separator: "\n") + "\n"
        #expect(try await run(["import", "-", "--format", "csv", "--create-store"], url, input: file).0 == 0)
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        try await pool.perform { try $0.run(script: "UPDATE shelf SET position_source = '-popularity'") }
        pool.shutDown()
    }

    private func events(_ range: Range<Int>, _ random: inout SeededGenerator) -> String {
        let lines = range.map { number in
            let digits = String(number)
            let id = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
            let product = Int.random(in: 0..<Self.products, using: &random)
            return "shop,\(id),p\(product),1,\(Self.now),customer \(number)"
        }
        return "store,event_id,sku,quantity,at,customer\n" + lines.joined(separator: "\n") + "\n"
    }

    private static let now = Date.now.ISO8601Format()

    private func value(_ database: TestDatabase, _ sql: PostgresStatement) async throws -> Int {
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        defer { pool.shutDown() }
        return try await pool.perform { try $0.query(sql) { try $0.first { try $0.int(0) }! } }
    }

    /// Counts shelves that a re-sort has processed but whose manual order does not match their scores. Both belong to
    /// one transaction.
    private static let halfDone: PostgresStatement = """
        SELECT count(*) FROM (
            SELECT p.store_id, p.shelf_id, array_agg(p.sku ORDER BY p.popularity_log2 DESC, r.name_key, r.name COLLATE "C", p.sku) AS shown,
                (SELECT array_agg(o.sku ORDER BY o.key) FROM placement_position o
                    WHERE o.store_id = p.store_id AND o.shelf_id = p.shelf_id) AS arranged
            FROM placement p JOIN product r USING (store_id, sku) GROUP BY p.store_id, p.shelf_id) s
        JOIN shelf h ON h.store_id = s.store_id AND h.shelf_id = s.shelf_id
        WHERE h.resorted_version IS NOT NULL AND shown <> arranged
        """
    private static let outOfOrder: PostgresStatement = """
        SELECT count(*) FROM placement_position a JOIN placement_position b
            ON b.store_id = a.store_id AND b.shelf_id = a.shelf_id AND b.key > a.key
        JOIN placement pa ON pa.store_id = a.store_id AND pa.shelf_id = a.shelf_id AND pa.sku = a.sku
        JOIN placement pb ON pb.store_id = b.store_id AND pb.shelf_id = b.shelf_id AND pb.sku = b.sku
        WHERE pa.popularity_log2 < pb.popularity_log2
        """
    private static let wronglyCounted: PostgresStatement = """
        SELECT count(*) FROM placement p LEFT JOIN (
            SELECT sku, count(DISTINCT customer) AS bought FROM purchase_by_customer WHERE quantity > 0 GROUP BY sku) d ON d.sku = p.sku
        JOIN store_state t ON t.store_id = p.store_id
        WHERE round(CASE WHEN p.popularity_log2 = '-Infinity' THEN 0 ELSE power(2, p.popularity_log2
            - (current_date - date '2020-01-01')::double precision / t.counted_half_life_days) END) <> coalesce(d.bought, 0)
        """

    @Test("Each purchase counts once, however often imports and re-sorts are killed")
    func killedResortsCountPurchasesOnce() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        try await fill(url, database)
        var random = SeededGenerator(seed: 17)
        var (sent, kills) = (0, 0)
        while kills < 100, sent < 40_000 {
            let file = events(sent..<sent + 40, &random)
            // A killed import is repeated from the start.
            let importer = try TestProcess(["purchases", "import", "-", "--format", "csv"], environment: url)
            importer.send(file)
            if sent % 80 == 0 {
                try await Task.sleep(for: .microseconds(Int.random(in: 0..<90_000, using: &random)))
                importer.signal(SIGKILL)
                kills += await importer.wait() == 128 + SIGKILL ? 1 : 0
                #expect(try await run(["purchases", "import", "-", "--format", "csv"], url, input: file).0 == 0)
            } else {
                #expect(await importer.wait() == 0)
            }
            sent += 40
            for _ in 0..<3 {
                let resort = try TestProcess(["resort", "--all", "--jobs", "2"], environment: url)
                try await Task.sleep(for: .microseconds(Int.random(in: 0..<120_000, using: &random)))
                resort.signal(SIGKILL)
                kills += await resort.wait() == 128 + SIGKILL ? 1 : 0
            }
            #expect(try await value(database, Self.halfDone) == 0)
        }
        #expect(try await run(["resort", "--resume"], url).0 == 0)
        #expect(try await run(["resort", "--all"], url).0 == 0)
        #expect(
            try await value(
                database,
                "SELECT count(*) FROM purchase_inbox i JOIN purchase_cell c ON c.cell = i.cell AND c.state IN ('open', 'sealed')"
            ) == 0
        )
        #expect(try await value(database, "SELECT count(*) FROM purchase_event") == sent)
        #expect(try await value(database, "SELECT sum(quantity)::bigint FROM purchase_by_customer") == sent)
        #expect(try await value(database, Self.wronglyCounted) == 0)
        #expect(try await value(database, Self.outOfOrder) == 0)
        let idle = try await run(["resort", "--all", "--check"], url)
        #expect(idle.0 == 0, "\(idle)")
        try await database.drop()
    }

    @Test("A check reports pending work, and the log past runs")
    func checkAndLogReportResorts()
        async throws
    {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        try await fill(url, database)
        var random = SeededGenerator(seed: 1)
        #expect(
            try await run(["purchases", "import", "-", "--format", "csv"], url, input: events(0..<50, &random)).0 == 0
        )
        let check = try await run(["resort", "--all", "--check"], url)
        #expect(check.0 == 3)
        #expect(check.2.contains("would fold 50 events"))
        let path = FileManager.default.temporaryDirectory.appending(path: "resort-\(UUID().uuidString)").path
        let done = try await run(
            ["resort", "--store", "shop", "--diff", "json-patch", "--out", path, "--format", "json"],
            url
        )
        #expect(done.0 == 0)
        #expect(done.1.contains(#"{"summary":{"events":50,"#))
        let report = try String(contentsOfFile: path, encoding: .utf8)
        try FileManager.default.removeItem(atPath: path)
        #expect(report.contains(#""diff":[{"op":"move""#))
        let lines = report.split(separator: "\n")
        #expect(lines.count == Self.shelves)
        for line in lines {
            #expect(
                line.contains(/"products":20,"rescored":\d+,"moved":\d+,"ms":\d+,"diff":\[/)
            )
        }
        #expect(try await run(["resort", "--all", "--check"], url).0 == 0)
        let log = try await run(["resort", "log", "--format", "ndjson"], url)
        #expect(log.1.contains(#""state":"done""#))
        #expect(log.1.contains(#""events":50"#))
        #expect(try await run(["resort", "--resume"], url).2.contains("no interrupted run to resume"))
        for (arguments, code) in [
            (["resort"], 64), (["resort", "--all", "--store", "shop"], 64), (["resort", "--all", "--diff", "x"], 64),
            (["resort", "--all", "--jobs", "0"], 64), (["resort", "--store", "none"], 66),
            (["resort", "shop/none"], 66), (["resort", "--all", "--changed-since", "yesterday"], 64),
            (["resort", "--resume", "--check"], 64), (["resort", "log", "--limit", "0"], 64),
        ] as [([String], Int32)] {
            let response = try await run(arguments, url)
            #expect(response.0 == code, "\(arguments): \(response)")
        }
        try await database.drop()
    }

    @Test("Prices are set, imported and replayed by commands")
    func setsAndReplaysPrices() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        try await fill(url, database)
        #expect(try await run(["prices", "set", "p0=0.49", "p1=none"], url).2.contains("changed 2"))
        #expect(try await run(["prices", "set", "p0=0.1", "nobody=1"], url).0 == 65)
        #expect(try await run(["prices", "set", "p0=0.999"], url).0 == 64)
        let days = """
            date,store,sku,price
            2026-01-01,shop,p0,0.99
            2026-01-01,shop,p12,0.10
            2026-01-02,shop,p24,0.05
            2026-01-02,shop,nobody,0.05
            2026-01-02,shop,p36,dear

            """
        let refused = try await run(["prices", "import", "-", "--format", "csv"], url, input: days)
        #expect(refused.0 == 65)
        #expect(refused.2.contains("--replay"))
        let played = try await run(
            ["prices", "import", "-", "--format", "csv", "--replay", "--max-rejects", "50"],
            url,
            input: days
        )
        #expect(played.0 == 0, "\(played)")
        #expect(
            played.2.contains("days 2, changed 3, unchanged 0, rounded 0, prices_future 0, rejected 2"),
            "\(played)"
        )
        #expect(played.1.contains("2026-01-02\tshop/shelf-0\tprice\t20\t1\n"))
        let unsortedFile = "date,sku,price\n2026-01-02,p0,1\n2026-01-01,p0,2\n"
        let unsorted = try await run(
            ["prices", "import", "-", "--format", "csv", "--replay", "--store", "shop"],
            url,
            input: unsortedFile
        )
        #expect(unsorted.0 == 65)
        #expect(unsorted.2.contains("sort the file by date"))
        let unknownColumn = try await run(["prices", "import", "-", "--format", "csv"], url, input: "sku,cost\n")
        #expect(unknownColumn.0 == 65)
        #expect(unknownColumn.2.contains("unknown column “cost”"))
        #expect(try await run(["purchases", "forget", "--customer", "nobody"], url).2.contains("0 rows"))
        #expect(try await run(["purchases", "forget", "--customer", " "], url).0 == 64)
        // An unknown store rejects its rows, not the file.
        let unknownStores = "store,sku,price\nnowhere,p0,1\nshop,p0,\nshop,p0,-1\nshop,p0,0.3334\n"
        let priceCommand = ["prices", "import", "-", "--format", "csv"]
        // More than 5 % of rejected rows change nothing.
        #expect(try await run(priceCommand, url, input: unknownStores).0 == 65)
        let allRejected = try await run(
            priceCommand + ["--max-rejects", "100"],
            url,
            input: "store,sku,price\nshop,no,1\n"
        )
        #expect(allRejected.0 == 65 && allRejected.2.contains("the only row was rejected"), "\(allRejected)")
        let future = try await run(priceCommand, url, input: "date,store,sku,price\n2099-01-01,shop,p0,9\n")
        #expect(future.0 == 0 && future.2.contains("changed 0, unchanged 0, rounded 0, prices_future 1"), "\(future)")
        let some = try await run(priceCommand + ["--max-rejects", "75"], url, input: unknownStores)
        #expect(some.0 == 0, "\(some)")
        #expect(some.2.contains("changed 1, unchanged 0, rounded 1, prices_future 0, rejected 3"), "\(some)")
        var random = SeededGenerator(seed: 4)
        let events = events(0..<3, &random) + events(3..<5, &random).replacing("shop,", with: "nowhere,").dropFirst(40)
        let purchaseCommand = ["purchases", "import", "-", "--format", "csv"]
        #expect(try await run(purchaseCommand, url, input: events).0 == 65)
        let imported = try await run(purchaseCommand + ["--max-rejects", "40"], url, input: events)
        #expect(imported.0 == 0, "\(imported)")
        #expect(imported.1.contains("accepted\t3"), "\(imported)")
        #expect(imported.1.contains("rejected\t2"), "\(imported)")
        try await database.drop()
    }
}
