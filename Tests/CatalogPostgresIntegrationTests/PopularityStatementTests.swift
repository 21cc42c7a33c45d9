import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The statements that score products: the first and the last day of each window, and what is not counted.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "rows are inserted as on one server"),
    .timeLimit(.minutes(15))
) struct PopularityStatementTests {
    private typealias Probe = StatementProbe

    /// The day on which scores are counted, and the same since day 0 of the stored logarithm.
    private static let (day, logDay) = (20_000, 1738)

    /// A product with purchases, and what its score is.
    private struct Scored: Sendable {
        let sku: String
        /// The counts by the number of days before the day of the count.
        var counts: [Int: Int64] = [:]
        /// The imported purchases, and the days before the day of the count.
        var seed = (0, 0)
        /// The hours before the end of the day of the count at which the product was created, in UTC.
        var createdHoursAgo = 100_000
        /// The expected score; nil for none.
        let score: String?

        var script: String {
            let product = """
                INSERT INTO product (store_id, sku, name, name_key, modified_at, created_at, popularity_seed, popularity_seed_day,
                    popularity_log2)
                VALUES (1, '\(sku)', 'N', '\\x01', now(), to_timestamp(\((day + 1) * 86_400 - createdHoursAgo * 3600)), \(seed.0),
                    date '1970-01-01' + \(day - seed.1), 7);

                """
            let counts = counts.map { age, count in
                """
                INSERT INTO purchase_count (store_id, sku, day, count)
                VALUES (1, '\(sku)', date '1970-01-01' + \(day - age), \(count));

                """
            }
            return product + counts.joined()
        }
    }

    /// Runs a statement in a time zone in which noon of a day in UTC is on the next day.
    private static func execute(_ statement: PostgresStatement, _ parameters: [PostgresValue], _ probe: Probe)
        async throws -> Int
    {
        try await probe.catalog.database.writes.perform { connection in
            try connection.run(script: "BEGIN; SET LOCAL TimeZone = 'Pacific/Auckland'")
            let changed = try connection.execute(statement, parameters)
            try connection.run(script: "COMMIT")
            return changed
        }
    }

    private static func expectScores(_ products: [Scored], _ expression: String, _ probe: Probe, _ what: Comment)
        async throws
    {
        let found = try await probe.rows(
            """
            SELECT sku || ' ' || CASE popularity_log2 WHEN '-Infinity' THEN 'none' ELSE round((\(expression))::numeric, 3)::text END
            FROM product WHERE store_id = 1 ORDER BY sku
            """
        )
        #expect(found == products.map { "\($0.sku) \($0.score ?? "none")" }.sorted(), what)
    }

    private static let windows = [
        Scored(sku: "tomorrow", counts: [-1: 8], score: nil), Scored(sku: "today", counts: [0: 8], score: "8.000"),
        Scored(sku: "first-day", counts: [6: 8], score: "8.000"), Scored(sku: "day-before", counts: [7: 8], score: nil),
        Scored(sku: "several-days", counts: [-1: 64, 0: 1, 3: 2, 6: 4, 7: 64], score: "7.000"),
        Scored(sku: "refunded", counts: [0: -3, 1: 3], score: nil),
        Scored(sku: "negative", counts: [0: -3], score: nil),
        Scored(sku: "seed-tomorrow", seed: (8, -1), score: nil),
        Scored(sku: "seed-first-day", seed: (8, 6), score: "8.000"),
        Scored(sku: "seed-day-before", seed: (8, 7), score: nil),
        Scored(sku: "seed-and-purchases", counts: [1: 2], seed: (8, 2), score: "10.000"),
        // Noon of the last day, and of the day before the first one.
        Scored(sku: "new-today", createdHoursAgo: 12, score: "3.000"),
        Scored(sku: "new-on-first-day", createdHoursAgo: 12 + 6 * 24, score: "3.000"),
        Scored(sku: "new-day-before", createdHoursAgo: 12 + 7 * 24, score: nil),
        Scored(sku: "new-and-bought", counts: [0: 2], createdHoursAgo: 12, score: "5.000"),
    ]

    /// The same products by the ratio of the last seven days to the seven days before.
    private static let trends = [
        Scored(sku: "new-product", counts: [0: 8], score: "8.000"),
        Scored(sku: "rising", counts: [6: 8, 7: 4], score: "2.000"),
        Scored(sku: "falling", counts: [0: 2, 13: 8], score: "0.250"),
        Scored(sku: "before-both", counts: [0: 8, 14: 4], score: "8.000"),
        Scored(sku: "refunds-before", counts: [0: 8, 7: -4], score: "8.000"),
        Scored(sku: "only-before", counts: [7: 8], score: nil),
        Scored(sku: "seed-before", counts: [0: 8], seed: (4, 13), score: "2.000"),
        Scored(sku: "seed-before-both", counts: [0: 8], seed: (4, 14), score: "8.000"),
        Scored(sku: "created-before", counts: [0: 9], createdHoursAgo: 12 + 13 * 24, score: "3.000"),
        Scored(sku: "created-before-both", counts: [0: 9], createdHoursAgo: 12 + 14 * 24, score: "9.000"),
    ]

    private static func values(isTrend: Bool) -> [PostgresValue] {
        [.int4(1), .int4(7), .date(Int32(day)), .bool(isTrend)]
    }

    /// Gives new products of the first store, and only there, a boost of three purchases.
    private static let boosts = """
        UPDATE store SET newcomer_boost = 3 WHERE store_id = 1; UPDATE store SET newcomer_boost = 5 WHERE store_id = 2;
        """

    @Test(
        "A window counts seven whole days in UTC, and a trend compares them with the seven days before",
        arguments: [false, true]
    )
    func windowEdges(isTrend: Bool) async throws {
        let products = isTrend ? Self.trends : Self.windows
        try await Probe.run { probe in
            try await probe.run(Self.boosts + products.map(\.script).joined())
            // A product of another store with the same SKU, and purchases of it.
            try await probe.run(
                Probe.products(products.map(\.sku), in: 2)
                    + """
                    INSERT INTO purchase_count (store_id, sku, day, count)
                    SELECT 2, sku, date '1970-01-01' + \(Self.day), 100 FROM product WHERE store_id = 2
                    """
            )
            let values = Self.values(isTrend: isTrend)
            #expect(try await Self.execute(PopularityStatements.windowAll, values, probe) == products.count)
            try await Self.expectScores(products, "power(2::double precision, popularity_log2)", probe, "all")
            #expect(try await Self.execute(PopularityStatements.windowAll, values, probe) == 0)
            let others = "SELECT DISTINCT popularity_log2::text FROM product WHERE store_id = 2"
            #expect(try await probe.rows(others) == ["-Infinity"])
        }
    }

    @Test("Windows and half-lives score only the given products, or those on the given shelves")
    func scopes() async throws {
        let skus = ["a", "b", "c", "d"]
        try await Probe.run { probe in
            let products = skus.map { Scored(sku: $0, counts: [0: 8], score: "8.000") }
            let placements = [("a", 1), ("b", 2), ("b", 1), ("c", 2)].map { sku, shelf in
                ["store_id": "1", "shelf_id": "\(shelf)", "sku": "'\(sku)'", "popularity_log2": "0"]
            }
            let scripts = [
                products.map(\.script).joined(), Probe.shelves(["x", "y"]), Probe.products(skus, in: 2),
                Probe.shelves(["x", "y"], in: 2), Probe.inserting("placement", placements),
                "INSERT INTO placement (store_id, shelf_id, sku, popularity_log2) VALUES (2, 1, 'd', 0)",
            ]
            try await probe.run(scripts.joined())
            func scored() async throws -> [String] {
                let scored = try await probe.rows(
                    "SELECT sku FROM product WHERE store_id = 1 AND popularity_log2 <> 7 ORDER BY sku"
                )
                try await probe.run("UPDATE product SET popularity_log2 = 7, purchases_log2 = 7 WHERE store_id = 1")
                return scored
            }
            let window = Self.values(isTrend: false)
            let some = window + [.textArray(["d", "a", "none"])]
            #expect(try await probe.texts(PopularityStatements.windowSome, some).sorted() == ["a", "d"])
            #expect(try await scored() == ["a", "d"])
            try await probe.execute(PopularityStatements.windowShelves, window + [.int8Array([1])])
            #expect(try await scored() == ["a", "b"])
            let halfLife: [PostgresValue] = [.int4(1), .int4(14)]
            try await probe.execute(PopularityStatements.decaySome, halfLife + [.textArray(["c", "b", "none"])])
            #expect(try await scored() == ["b", "c"])
            try await probe.execute(PopularityStatements.decayShelves, halfLife + [.int8Array([2])])
            #expect(try await scored() == ["b", "c"])
            try await probe.execute(PopularityStatements.decayAll, halfLife)
            #expect(try await scored() == skus)
        }
    }

    /// Scores as logarithms of the counts on the day.
    private static func decayed(halfLife: Int) -> [Scored] {
        let huge: Int64 = 1 << 62
        // The boost of 4 purchases on the day when the other products were created, 4,166 days ago.
        let old = halfLife == 1 ? "-4164.000" : "-1386.667"
        return [
            Scored(sku: "today", counts: [0: 8], score: "3.000"),
            Scored(sku: "two-days", counts: [0: 8, halfLife: 16], score: "4.000"),
            // After 64 half-lives, even 2⁶² purchases do not count; before, they count for a half.
            Scored(sku: "horizon", counts: [0: 1, 64 * halfLife: huge], score: "0.000"),
            Scored(sku: "inside", counts: [0: 1, 63 * halfLife: huge], score: "0.585"),
            // A day without purchases is not the last one with purchases.
            Scored(sku: "zero-day", counts: [0: 0, 100 * halfLife: 1], score: "-100.000"),
            Scored(sku: "refunded", counts: [0: -1, halfLife: 2], score: old),
            Scored(sku: "negative", counts: [0: -1], score: old), Scored(sku: "never", score: old),
            Scored(sku: "seed", seed: (8, halfLife), score: "2.000"),
            Scored(sku: "new", createdHoursAgo: 12, score: "2.000"),
            Scored(sku: "sum", counts: [0: 2, halfLife: 4], seed: (8, halfLife), createdHoursAgo: 12, score: "3.585"),
            Scored(sku: "negative-and-new", counts: [0: -1], createdHoursAgo: 12, score: "2.000"),
        ]
    }

    @Test("Decayed scores add purchases, the imported ones and the boost, each from its own day", arguments: [1, 3])
    func decay(halfLife: Int) async throws {
        let products = Self.decayed(halfLife: halfLife)
        try await Probe.run { probe in
            let boosts = Self.boosts.replacing("boost = 3", with: "boost = 4")
            try await probe.run(boosts + products.map(\.script).joined())
            let values: [PostgresValue] = [.int4(1), .int4(Int32(halfLife))]
            #expect(try await Self.execute(PopularityStatements.decayAll, values, probe) == products.count)
            // The stored logarithm counts half-lives since its day 0.
            let expression = "popularity_log2 - \(Self.logDay)::double precision / \(halfLife)"
            try await Self.expectScores(products, expression, probe, "half-life \(halfLife)")
            #expect(try await Self.execute(PopularityStatements.decayAll, values, probe) == 0)
            // The part of purchases is corrected although the score is right.
            try await probe.run("UPDATE product SET purchases_log2 = 5 WHERE sku = 'today'")
            #expect(try await Self.execute(PopularityStatements.decayAll, values, probe) == 1)
        }
    }

    // MARK: - Copying

    @Test("Outdated scores are copied to the given shelves or placements only, and counted by shelf")
    func copies() async throws {
        try await Probe.run { probe in
            let placements = [(1, 1, "a"), (1, 1, "b"), (1, 1, "same"), (1, 2, "a"), (1, 2, "b"), (2, 1, "a")].map {
                ["store_id": "\($0.0)", "shelf_id": "\($0.1)", "sku": "'\($0.2)'", "popularity_log2": "0"]
            }
            let scripts = [
                Probe.products(["a", "b", "same"]), Probe.products(["a", "b"], in: 2), Probe.shelves(["x", "y"]),
                Probe.shelves(["x", "y"], in: 2), Probe.inserting("placement", placements),
                "UPDATE product SET popularity_log2 = CASE sku WHEN 'same' THEN 0 ELSE 5 END",
            ]
            try await probe.run(scripts.joined())
            func copied() async throws -> [String] {
                let copied = try await probe.rows(
                    "SELECT concat_ws(' ', store_id, shelf_id, sku) FROM placement WHERE popularity_log2 = 5 ORDER BY 1"
                )
                try await probe.run("UPDATE placement SET popularity_log2 = 0")
                return copied
            }
            func counts(_ statement: PostgresStatement, _ parameters: [PostgresValue]) async throws -> [Int32: Int] {
                try await probe.catalog.database.writes.perform {
                    try $0.query(statement, parameters) { rows in
                        Dictionary(uniqueKeysWithValues: try rows.map { (try $0.int4(0), try $0.int(1)) })
                    }
                }
            }
            let shelves = PopularityStatements.copyScoresToShelves
            #expect(try await counts(shelves, [.int4(1), .int8Array([1])]) == [1: 2])
            #expect(try await copied() == ["1 1 a", "1 1 b"])
            #expect(try await counts(shelves, [.int4(1), .int8Array([1, 2])]) == [1: 2, 2: 2])
            #expect(try await copied() == ["1 1 a", "1 1 b", "1 2 a", "1 2 b"])
            let pairs: [PostgresValue] = [.int4(1), .int8Array([1, 2, 1]), .textArray(["a", "b", "same"])]
            #expect(try await counts(PopularityStatements.copyScoresOfProducts, pairs) == [1: 1, 2: 1])
            #expect(try await copied() == ["1 1 a", "1 2 b"])
            #expect(try await probe.execute(PopularityStatements.copyScoresToStore, [.int4(1)]) == 4)
            #expect(try await copied() == ["1 1 a", "1 1 b", "1 2 a", "1 2 b"])
        }
    }

    @Test("Each part of a changed rule, and another day, are recorded with a new version of the store")
    func countedRule() async throws {
        try await Probe.run { probe in
            let changes = [
                "SELECT", "UPDATE store SET popularity_metric = 'trend'",
                "UPDATE store SET popularity_half_life_days = 3",
                "UPDATE store SET newcomer_boost = 2",
            ]
            let versions = "SELECT store_id || ' ' || version FROM store_state ORDER BY 1"
            let state = """
                SELECT concat_ws(' ', store_id, counted_metric, counted_half_life_days, counted_newcomer_boost,
                    counted_on - date '1970-01-01') FROM store_state ORDER BY 1
                """
            let expected = ["1 decay 14 0 9", "1 trend 14 0 9", "1 trend 3 0 9", "1 trend 3 2 9", "1 trend 3 2 10"]
            let other = try await probe.rows(state)[1]
            for (change, expected) in zip(changes + ["SELECT"], expected) {
                try await probe.run(change)
                let before = try await probe.rows(versions)
                let day = PostgresValue.date(expected.hasSuffix("10") ? 10 : 9)
                #expect(try await probe.execute(PopularityStatements.setCounted, [.int4(1), day]) == 1, "\(expected)")
                #expect(try await probe.rows(state) == [expected, other])
                let after = try await probe.rows(versions)
                #expect(after[0] != before[0] && after[1] == before[1], "\(expected)")
                #expect(try await probe.execute(PopularityStatements.setCounted, [.int4(1), day]) == 0, "\(expected)")
            }
        }
    }
}
