import Catalog
import CatalogJSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The statements of re-sorts: the history, which shelves are due, and what is written, each condition with a row of its own.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "rows are inserted as on one server"),
    .timeLimit(.minutes(15))
) struct ResortStatementTests {
    private typealias Probe = StatementProbe
    /// A version and a time after now.
    private static let later: Int64 = 4_000_000_000_000_000

    private static func placed(_ sku: String, on shelf: Int, score: Int = 0, in store: Int = 1) -> [String: String] {
        ["store_id": "\(store)", "shelf_id": "\(shelf)", "sku": "'\(sku)'", "popularity_log2": "\(score)"]
    }

    /// SQL that queues products in a row of the queue.
    private static func due(_ mark: Int, _ skus: [String], isCounted: Bool = true, in store: Int = 1) -> String {
        """
        INSERT INTO due_products (store_id, first_sku, mark, last_sku, size, is_counted, skus)
        VALUES (\(store), '\(skus[0])', \(mark), '\(skus.last!)', \(skus.count), \(isCounted), '{\(skus.joined(separator: ","))}');

        """
    }

    // MARK: - History

    @Test("The last run that has not ended, whose lock is gone, is the interrupted one")
    func interruptedRuns() async throws {
        try await Probe.run { probe in
            let configuration = probe.catalog.database.writes.configuration
            let reader = try await PostgresConnection.connect(configuration)
            let holder = try await PostgresConnection.connect(configuration)
            // The third run has ended.
            let script = """
                INSERT INTO resort_run (run_id, started_at, ended_at, request) OVERRIDING SYSTEM VALUE
                SELECT n, now(), CASE n WHEN 3 THEN now() END, 'request ' || n FROM generate_series(1, 4) n
                """
            try await holder.perform { connection in
                try connection.run(script: script)
                // The lock of the fourth run, and one of another kind with the number of the second.
                try connection.run(
                    script: """
                        \(Probe.begin); SELECT pg_advisory_xact_lock(\(RunLock.Kind.resortRun.rawValue), 4);
                        SELECT pg_advisory_xact_lock(\(RunLock.Kind.importRun.rawValue), 2)
                        """
                )
            }
            for expected in [2, 1] as [Int64] {
                let found = try await reader.perform { connection in
                    try connection.query(ResortStatements.interrupted) {
                        try $0.map { row in "\(try row.int8(0)) \(try row.text(1))" }
                    }
                }
                #expect(found == ["\(expected) request \(expected)"])
                try await reader.perform { _ = try $0.execute(ResortStatements.end, [.int8(expected), .text(nil)]) }
            }
            let none = try await reader.perform { try $0.query(ResortStatements.interrupted) { $0.count } }
            #expect(none == 0)
            let states = try await reader.perform {
                try $0.query(ResortStatements.runs, [.int8(3)]) { try $0.map { "\(try ResortRun($0).state)" } }
            }
            #expect(states == ["running", "done", "done"])
            try await holder.perform { try $0.run(script: "ROLLBACK") }
            await holder.close()
            await reader.close()
        }
    }

    @Test("The totals and the end of a run change no other run")
    func recordedTotals() async throws {
        try await Probe.run { probe in
            for number in 1...2 as ClosedRange<Int64> {
                try await probe.execute(ResortStatements.begin, [.int8(number), .text("r")])
            }
            for _ in 0..<2 {
                let counts = ([1, 2, 3, 4, 5] as [Int64]).map { PostgresValue.int8($0) }
                #expect(try await probe.execute(ResortStatements.add, [.int8(1)] + counts) == 1)
            }
            func isOpen(_ number: Int64) async throws -> Bool {
                try await probe.catalog.database.writes.perform {
                    try $0.query(ResortStatements.isOpen, [.int8(number)]) { $0.count > 0 }
                }
            }
            #expect(try await isOpen(1))
            try await probe.execute(ResortStatements.end, [.int8(1), .text("failed")])
            #expect(try await !isOpen(1))
            #expect(try await isOpen(2))
            #expect(try await !isOpen(3))
            let rows = try await probe.rows(
                "SELECT concat_ws(' ', run_id, events, products, shelves, changed, moved, failure) FROM resort_run ORDER BY 1"
            )
            #expect(rows == ["1 2 4 6 8 10 failed", "2 0 0 0 0 0"])
        }
    }

    // MARK: - Targets

    @Test(
        "The placements of counted products are read once each, up to a limit, and shelves are due by outdated scores alone"
    )
    func dueShelves() async throws {
        try await Probe.run { probe in
            let placements = [
                Self.placed("counted", on: 1), Self.placed("counted", on: 2), Self.placed("again", on: 1),
                Self.placed("uncounted", on: 3), Self.placed("not-due", on: 4), Self.placed("current", on: 5, score: 5),
                Self.placed("other-store", on: 6), Self.placed("counted", on: 4, in: 2),
            ]
            let skus = ["counted", "again", "uncounted", "not-due", "current", "other-store"]
            let scripts = [
                Probe.products(skus), Probe.products(["counted", "other-store"], in: 2),
                Probe.shelves(["a", "b", "c", "d", "e", "f", "gone"]), Probe.shelves(["a", "b", "c", "d"], in: 2),
                "UPDATE product SET popularity_log2 = 5; UPDATE shelf SET deleted_at = now() WHERE key = 'gone';",
                Probe.inserting("placement", placements), Self.due(1, ["again", "counted"]),
                Self.due(2, ["again", "current"]),
                Self.due(3, ["uncounted"], isCounted: false), Self.due(4, ["other-store"], in: 2),
            ]
            try await probe.run(scripts.joined())
            func counted(_ limit: Int64) async throws -> [String] {
                try await probe.catalog.database.writes.perform {
                    try $0.query(ResortStatements.countedProducts, [.int4(1), .int8(limit)]) {
                        try $0.map { row in "\(try row.text(0)) \(try row.int4(1))" }
                    }
                }
            }
            #expect(try await counted(9).sorted() == ["again 1", "counted 1", "counted 2", "current 5"])
            #expect(try await counted(1) == ["again 1"])
            #expect(try await counted(4).count == 4)
            #expect(try await counted(3).count == 3)
            #expect(try await probe.numbers(ResortStatements.dueShelves, [.int4(1)]).sorted() == [1, 2, 3])
            let all = try await probe.numbers(ResortStatements.allShelves, [.int4(1)])
            #expect(all.sorted() == [1, 2, 3, 4, 5, 6])
        }
    }

    @Test("Targets are the shelves with a key that changed since, have a source, are due, or follow an attribute")
    func targets() async throws {
        let since = "2020-01-01T00:00:00Z"
        let cases: [(key: String, changes: String)] = [
            ("gone", "deleted_at = now()"), ("unlisted", "version = 6"), ("unlisted-due", "version = 6"),
            ("never-sorted", "resorted_version = NULL"), ("same", "resorted_version = version"),
            ("same-but-due", "resorted_version = version"),
            ("early", "modified_at = modified_at - interval '1 microsecond'"),
            ("early-with-source", "modified_at = modified_at - interval '1 day', position_source = 'name'"),
            ("early-but-due", "modified_at = modified_at - interval '1 day'"), ("meets-all", "product_count = 7"),
            ("same-by-attribute", "resorted_version = version, position_source = '-price,attributes.price'"),
            ("same-by-built-in", "resorted_version = version, position_source = '-unit_price,name'"),
        ]
        try await Probe.run { probe in
            let keys = cases.map(\.key)
            // The rows are in another order than their ids.
            let changes = cases.reversed().map {
                "UPDATE shelf SET \($0.changes) WHERE key = '\($0.key)' AND store_id = 1;"
            }
            let scripts = [
                Probe.shelves(keys), Probe.shelves(keys, in: 2),
                "UPDATE shelf SET version = 5, resorted_version = 4, modified_at = '\(since)', product_count = 3;",
                changes.joined(),
            ]
            try await probe.run(scripts.joined())
            let microseconds = try await probe.rows(
                "SELECT (extract(epoch FROM timestamptz '\(since)') * 1000000)::bigint::text"
            )
            let time = try #require(Int64(microseconds[0]))
            func targets(named: Bool, since: Int64?) async throws -> [String] {
                let listed = keys.filter { !$0.hasPrefix("unlisted") } + ["unknown"]
                let due = keys.enumerated().filter { $0.element.hasSuffix("due") }.map { Int64($0.offset + 1) }
                let parameters: [PostgresValue] = [
                    .int4(1), .textArray(listed), .bool(named), .timestamptz(since), .int8Array(due),
                    .textArray(SortKey.allCases.map(\.name)),
                ]
                return try await probe.catalog.database.writes.perform {
                    try $0.query(ResortStatements.targets, parameters) {
                        try $0.map { row in "\(keys[Int(try row.int4(0)) - 1]) \(try row.int4(1))" }
                    }
                }
            }
            let named = [
                "never-sorted 3", "same-but-due 3", "early 3", "early-with-source 3", "early-but-due 3", "meets-all 7",
                "same-by-attribute 3",
            ]
            #expect(try await targets(named: true, since: nil) == named)
            #expect(try await targets(named: true, since: time) == named.filter { $0 != "early 3" })
            let all = ["unlisted 3", "unlisted-due 3"] + named
            #expect(try await targets(named: false, since: nil) == all)
        }
    }

    @Test("A run re-sorts all counted products, and names them as changes only if their placements are up to the limit")
    func productLimit() async throws {
        try await Probe.run { probe in
            let catalog = probe.catalog
            let (sorted, plain) = (CatalogKey("sorted")!, CatalogKey("plain")!)
            let skus = ["a", "b", "c", "d"].map { SKU($0)! }
            let popular = Sort(.popularity, .descending)!
            _ = try await catalog.shelves.put(Shelf(key: sorted, title: "S", positionSource: popular), in: Probe.shop)
            _ = try await catalog.shelves.put(Shelf(key: plain, title: "P"), in: Probe.shop)
            for sku in skus {
                _ = try await catalog.products.put(Product(sku: sku, name: "N \(sku)"), in: Probe.shop)
                _ = try await catalog.products.place(sku, on: sorted, in: Probe.shop)
            }
            for sku in skus[2...] { _ = try await catalog.products.place(sku, on: plain, in: Probe.shop) }
            // The purchases of each round reverse the order. There are six placements.
            let rounds: [(limit: Int, counts: [Int])] = [
                (1, [1, 2, 3, 4]), (5, [10, 8, 6, 4]), (6, [1, 3, 5, 7]), (7, [10, 8, 6, 4]), (0, [1, 3, 5, 7]),
            ]
            for (number, round) in rounds.enumerated() {
                var purchases: [Purchase] = []
                for (sku, count) in zip(skus, round.counts) {
                    for event in 0..<count {
                        purchases.append(
                            Purchase(eventID: "\(number) \(sku) \(event)", sku: sku, quantity: 1, at: .now())
                        )
                    }
                }
                _ = try await catalog.purchases.add(purchases, to: Probe.shop)
                let resorter = Resorter(catalog, productLimit: round.limit)
                let summary = try await resorter.run(ResortRequest())
                let what: Comment = "limit \(round.limit)"
                #expect(summary.products == 4, what)
                #expect(summary.changed == 2, what)
                let expected = number % 2 == 0 ? ["d", "c", "b", "a"] : ["a", "b", "c", "d"]
                #expect(try await catalog.pages.order(Probe.shop, sorted, .position).ids == expected, what)
                let onPlain = try await catalog.pages.order(Probe.shop, plain, popular).ids
                #expect(onPlain == expected.filter { $0 > "b" }, what)
                let outdated = try await probe.rows(
                    """
                    SELECT p.sku FROM placement p JOIN product r USING (store_id, sku) WHERE p.popularity_log2 <> r.popularity_log2
                    """
                )
                #expect(outdated == [], what)
                // Of shelves of which all products are compared, no change is recorded.
                let recorded = try await probe.rows(
                    """
                    SELECT h.key || ': ' || array_to_string(ARRAY(SELECT unnest(c.skus) ORDER BY 1), ' ')
                    FROM shelf h JOIN shelf_change c USING (store_id, shelf_id, version) ORDER BY 1
                    """
                )
                #expect(recorded == (round.limit < 6 ? [] : ["plain: c d", "sorted: a b c d"]), what)
                #expect(try await probe.rows("SELECT first_sku FROM due_products") == [], what)
            }
        }
    }

    // MARK: - Dimensions and orders

    @Test(
        "A shelf gets another dimension if most products with a unit price have it; of equally common ones, the first"
    )
    func commonDimensions() async throws {
        try await Probe.run { probe in
            // The dimension and the price of the products of each shelf, which have the numbers of its key.
            let shelves: [(key: String, products: [(dimension: String, price: String)])] = [
                ("most", [("1", "5"), ("1", "5"), ("2", "5")]), ("tie", [("3", "5"), ("2", "5")]),
                ("same", [("4", "5")]), ("unpriced", [("1", "NULL"), ("1", "NULL"), ("2", "5")]),
                ("without-size", [("NULL", "5"), ("NULL", "5"), ("2", "5")]), ("fixed", [("1", "5")]), ("empty", []),
                ("not-asked", [("1", "5")]),
            ]
            var products: [[String: String]] = []
            var placements: [[String: String]] = []
            for (index, shelf) in shelves.enumerated() {
                for (number, product) in shelf.products.enumerated() {
                    var row = [
                        "store_id": "1", "sku": "'\(shelf.key)-\(number)'", "name": "'N'", "name_key": "'\\x01'",
                        "created_at": "now()", "modified_at": "now()", "price_minor": product.price,
                    ]
                    if product.dimension != "NULL" {
                        row["size_dimension"] = product.dimension
                        row["size_amount"] = "1"
                        row["size_unit"] = "'g'"
                        row["size_packs"] = "1"
                        row["size_approximate"] = "false"
                        row["base_quantity"] = "1"
                    }
                    products.append(row)
                    placements.append(Self.placed("\(shelf.key)-\(number)", on: index + 1))
                }
            }
            let scripts = [
                Probe.shelves(shelves.map(\.key)), Probe.inserting("product", products),
                "UPDATE shelf SET settled_dimension = 4; UPDATE shelf SET dimension = 5 WHERE key = 'fixed';",
                Probe.inserting("placement", placements),
            ]
            try await probe.run(scripts.joined())
            let asked = (1...7).map { Int64($0) }
            let found = try await probe.catalog.database.writes.perform {
                try $0.query(ResortStatements.commonDimensions, [.int4(1), .int8Array(asked)]) {
                    try $0.map { row in
                        "\(shelves[Int(try row.int4(0)) - 1].key) \(try row.int2(1)) \(try row.bool(2))"
                    }
                }
            }
            let expected = ["most 1 true", "tie 2 true", "unpriced 2 true", "without-size 2 true", "fixed 1 false"]
            #expect(found.sorted() == expected.sorted())
        }
    }

    @Test("Only the given products lose their positions, or all others that are placed")
    func deletedPositions() async throws {
        let positions = [
            (1, 1, "a", false), (1, 1, "b", false), (1, 1, "removed", true), (1, 2, "a", false), (1, 2, "b", false),
            (1, 3, "a", false), (2, 1, "a", false),
        ].enumerated().map { index, position -> [String: String] in
            let (store, shelf, sku, isRemoved) = position
            return [
                "store_id": "\(store)", "shelf_id": "\(shelf)", "sku": "'\(sku)'", "key": "'\\x0\(index + 1)'",
                "removed_at": isRemoved ? "now()" : "NULL",
            ]
        }
        try await Probe.run { probe in
            func left() async throws -> [String] {
                try await probe.rows(
                    "SELECT concat_ws(' ', store_id, shelf_id, sku) FROM placement_position ORDER BY 1"
                )
            }
            try await probe.run(Probe.inserting("placement_position", positions))
            let read = try await probe.catalog.database.writes.perform {
                try $0.query(ResortStatements.positions, [.int4(1), .int8Array([1, 3])]) {
                    try $0.map { row in "\(try row.int4(0)) \(try row.text(1)) \(try row.bytea(2)) \(try row.bool(3))" }
                }
            }
            #expect(read.sorted() == ["1 a [1] false", "1 b [2] false", "1 removed [3] true", "3 a [6] false"])
            let pairs: [PostgresValue] = [.int4(1), .int8Array([1, 2]), .textArray(["a", "b"])]
            #expect(try await probe.execute(ResortStatements.deletePositions, pairs) == 2)
            #expect(try await left() == ["1 1 b", "1 1 removed", "1 2 a", "1 3 a", "2 1 a"])
            try await probe.run("DELETE FROM placement_position;" + Probe.inserting("placement_position", positions))
            // The product b stays on the first shelf, and a on the second one.
            let staying: [PostgresValue] = [
                .int4(1), .int8Array([1, 2]), .int8Array([1, 2]), .textArray(["b", "a"]),
            ]
            #expect(try await probe.execute(ResortStatements.deleteOtherPositions, staying) == 2)
            #expect(try await left() == ["1 1 b", "1 1 removed", "1 2 a", "1 3 a", "2 1 a"])
        }
    }

    @Test("Finished shelves get versions, a time and a dimension only as far as they changed")
    func finishedShelves() async throws {
        try await Probe.run { probe in
            let keys = ["changed", "reordered", "unchanged", "dimension", "untouched", "earlier"]
            let scripts = [
                Probe.shelves(keys), Probe.shelves(["changed"], in: 2),
                """
                UPDATE shelf SET version = \(Self.later), order_version = \(Self.later), settled_dimension = 1,
                    modified_at = now() + interval '1 day';
                UPDATE shelf SET modified_at = '2020-01-01', version = 1, order_version = 1 WHERE key = 'earlier';
                """,
            ]
            try await probe.run(scripts.joined())
            let before = try await probe.rows("SELECT modified_at::text FROM shelf ORDER BY store_id, shelf_id")
            let finished = try await probe.execute(
                ResortStatements.finishShelves,
                [
                    .int4(1), .int8Array([1, 2, 3, 4, 6]), .boolArray([true, true, false, true, true]),
                    .boolArray([false, true, false, false, false]), .int8Array([nil, nil, nil, 3, nil]),
                ]
            )
            #expect(finished == 5)
            let found = try await probe.rows(
                """
                SELECT concat_ws(' ', store_id, key, version - \(Self.later), coalesce((resorted_version - \(Self.later))::text, 'none'),
                    order_version - \(Self.later), settled_dimension) FROM shelf WHERE key <> 'earlier' ORDER BY store_id, shelf_id
                """
            )
            let expected = [
                "1 changed 1 1 0 1", "1 reordered 1 1 1 1", "1 unchanged 0 0 0 1", "1 dimension 1 1 0 3",
                "1 untouched 0 none 0 1", "2 changed 0 none 0 1",
            ]
            #expect(found == expected)
            // A later time stays, and an earlier one becomes now. The version of an old shelf is the time in microseconds.
            let times = try await probe.rows(
                "SELECT modified_at::text FROM shelf WHERE key <> 'earlier' ORDER BY store_id, shelf_id"
            )
            #expect(times == before.enumerated().filter { $0.offset != 5 }.map(\.element))
            let earlier = try await probe.rows(
                """
                SELECT concat_ws(' ', modified_at > now() - interval '1 hour', version > 1000000, resorted_version = version, order_version)
                FROM shelf WHERE key = 'earlier'
                """
            )
            #expect(earlier == ["t t t 1"])
        }
    }
}
