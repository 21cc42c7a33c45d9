import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The effects of an import beyond the values of its file: positions, popularity, times and the queue of products.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "rows are inserted as on one server"),
    .timeLimit(.minutes(15))
) struct ImportEffectTests {
    private typealias Probe = StatementProbe
    private static let dairy = CatalogKey("dairy")!

    @discardableResult
    private static func run(_ header: String, _ rows: [String], _ probe: Probe) async throws -> ImportSummary {
        let text = header + "\n" + rows.map { $0 + "\n" }.joined()
        let options = ImportOptions(format: .csv, store: Probe.shop)
        return try await Importer(probe.catalog).importFile(ImporterTests.Chunks(text: text), options)
    }

    private static func order(_ probe: Probe) async throws -> [String] {
        try await probe.catalog.pages.order(Probe.shop, dairy, .position).ids
    }

    // MARK: - Positions

    @Test("New products are appended by their position, then by SKU or line; returning ones get their old place")
    func positions() async throws {
        try await Probe.run { probe in
            let header = "shelf,sku,name,position"
            let rows = ["z,", "b,2", "y,", "d,0.3333", "a,2", "c,1/3", "e,-1"].map { row in
                let fields = row.split(separator: ",", omittingEmptySubsequences: false)
                return "dairy,\(fields[0]),N,\(fields[1])"
            }
            try await Self.run(header, rows, probe)
            let first = ["e", "d", "c", "a", "b", "z", "y"]
            #expect(try await Self.order(probe) == first)
            // The last place belongs to a product that has left.
            for sku in ["y", "c"] {
                try await probe.catalog.products.unplace(SKU(sku)!, from: Self.dairy, in: Probe.shop)
            }
            try await Self.run(header, ["dairy,f,N,-5", "dairy,g,N,"], probe)
            #expect(try await Self.order(probe) == ["e", "d", "a", "b", "z", "f", "g"])
            // A returning product ignores the position in the file.
            try await Self.run(header, ["dairy,c,N,9", "dairy,y,N,0"], probe)
            #expect(try await Self.order(probe) == first + ["f", "g"])
        }
    }

    @Test("Only placed products of the touched shelves get back their positions, and only pairs are removed")
    func pairedPositions() async throws {
        let positions = [
            (1, 1, "a", true), (1, 1, "b", true), (1, 1, "c", false), (1, 2, "a", true), (2, 1, "a", true),
        ].enumerated().map { index, position -> [String: String] in
            let (store, shelf, sku, isRemoved) = position
            return [
                "store_id": "\(store)", "shelf_id": "\(shelf)", "sku": "'\(sku)'", "key": "'\\x0\(index + 1)'",
                "removed_at": isRemoved ? "now()" : "NULL",
            ]
        }
        try await Probe.run { probe in
            let placements = [(1, 1, "a"), (1, 1, "c"), (1, 2, "a"), (1, 2, "c"), (2, 1, "a")].map {
                store,
                shelf,
                sku in
                ["store_id": "\(store)", "shelf_id": "\(shelf)", "sku": "'\(sku)'", "popularity_log2": "0"]
            }
            let scripts = [
                Probe.products(["a", "b", "c", "d"]), Probe.products(["a"], in: 2), Probe.shelves(["x", "y", "z"]),
                Probe.shelves(["x"], in: 2), Probe.inserting("placement", placements),
                Probe.inserting("placement_position", positions),
            ]
            try await probe.run(scripts.joined())
            let shelves: [PostgresValue] = [.int4(1), .int8Array([1, 3])]
            let last = try await probe.catalog.database.writes.perform {
                try $0.query(ImportStatements.lastPositions, shelves) {
                    try $0.map { row in "\(try row.int4(0)) \(try row.byteaOrNil(1) ?? [])" }
                }
            }
            // The last one of the placed and of the removed ones.
            #expect(last.sorted() == ["1 [3]", "3 []"])
            #expect(try await probe.numbers(ImportStatements.restorePositions, shelves) == [1])
            let removed =
                "SELECT concat_ws(' ', store_id, shelf_id, sku) FROM placement_position WHERE is_removed ORDER BY 1"
            #expect(try await probe.rows(removed) == ["1 1 b", "1 2 a", "2 1 a"])
            let pairs: [PostgresValue] = [.int4(1), .int8Array([1, 2, 1]), .textArray(["a", "c", "d"])]
            #expect(try await probe.numbers(ImportStatements.removePlacements, pairs).sorted() == [1, 2])
            let placed = "SELECT concat_ws(' ', store_id, shelf_id, sku) FROM placement ORDER BY 1"
            #expect(try await probe.rows(placed) == ["1 1 c", "1 2 a", "2 1 a"])
            #expect(try await probe.execute(ImportStatements.removePositions, pairs) == 1)
            #expect(try await probe.rows(removed) == ["1 1 a", "1 1 b", "1 2 a", "2 1 a"])
            // Of the given products, c and a are on a shelf, and d of the other store was not given.
            try await probe.run(Probe.products(["d"], in: 2))
            let given: [PostgresValue] = [.int4(1), .textArray(["a", "c", "d", "none"])]
            #expect(try await probe.execute(ImportStatements.deleteProducts, given) == 1)
            let products = try await probe.rows("SELECT store_id || ' ' || sku FROM product ORDER BY 1")
            #expect(products == ["1 a", "1 b", "1 c", "2 a", "2 d"])
        }
    }

    // MARK: - Popularity

    /// The score of products on the day of their imported purchases, this day relative to today, and the imported purchases.
    private static let scores = """
        SELECT concat_ws(' ', sku, CASE popularity_log2 WHEN '-Infinity' THEN 'none' ELSE round((popularity_log2
            - CASE t.counted_metric WHEN 'decay' THEN (r.popularity_seed_day - date '2020-01-01')::double precision / 14 ELSE 0 END
            )::numeric, 3)::text END, r.popularity_seed, r.popularity_seed_day - date '2024-01-01')
        FROM product r JOIN store_state t USING (store_id) ORDER BY sku
        """

    /// Sets the day of all imported purchases to 2024-01-01, and all scores to 7 on this day.
    private static let reset = """
        UPDATE product SET popularity_seed_day = '2024-01-01', popularity_log2 = 7 + 1461::double precision / 14;
        UPDATE placement SET popularity_log2 = 0
        """

    @Test("A changed number of purchases has today's day and another score at once; the same number keeps both")
    func seeds() async throws {
        try await Probe.run { probe in
            let header = "shelf,sku,name,popularity"
            try await Self.run(header, ["dairy,a,N,8", "dairy,b,N,8", "dairy,c,N,8", "dairy,zero,N,0"], probe)
            func scores() async throws -> [String: String] {
                let found = try await probe.rows(Self.scores).map { $0.split(separator: " ") }
                // The days since 2024 of those that have today's day are above 500.
                return Dictionary(
                    uniqueKeysWithValues: found.map { row in
                        let day = Int(row[3])! > 500 ? "today" : String(row[3])
                        return (String(row[0]), "\(row[1]) \(row[2]) \(day)")
                    }
                )
            }
            let first = try await scores()
            #expect(
                first == ["a": "3.000 8 today", "b": "3.000 8 today", "c": "3.000 8 today", "zero": "none 0 today"]
            )
            try await probe.run(Self.reset)
            try await Self.run(header, ["dairy,a,N,16", "dairy,b,Renamed,8"], probe)
            let second = try await scores()
            #expect(second == ["a": "4.000 16 today", "b": "7.000 8 0", "c": "7.000 8 0", "zero": "7.000 0 0"])
            // Placements of products that the file changed have their scores.
            let copied = try await probe.rows(
                "SELECT sku FROM placement p JOIN product r USING (store_id, sku) WHERE p.popularity_log2 = r.popularity_log2 ORDER BY 1"
            )
            #expect(copied == ["a", "b"])
            // A window is counted by the next re-sort.
            try await probe.run(
                "UPDATE store_state SET counted_metric = '7d';"
                    + Self.reset.replacing(" + 1461::double precision / 14", with: "")
            )
            try await Self.run(header, ["dairy,a,N,64", "dairy,new,N,4", "dairy,new-zero,N,0"], probe)
            let third = try await scores()
            #expect(third["a"] == "7.000 64 today")
            #expect(third["new"] == "2.000 4 today")
            #expect(third["new-zero"] == "none 0 today")
        }
    }

    @Test(
        "New products have the boost of the last count, in addition to their imported purchases",
        arguments: ["decay", "7d"]
    )
    func boosts(metric: String) async throws {
        try await Probe.run { probe in
            let rule = "counted_metric = '\(metric)', counted_newcomer_boost = 4"
            // The boost of the store itself is not counted yet.
            try await probe.run(
                "UPDATE store SET newcomer_boost = 60; UPDATE store_state SET \(rule) WHERE store_id = 1"
            )
            try await Self.run("shelf,sku,name,popularity", ["dairy,a,N,4", "dairy,b,N,0"], probe)
            let scores = try await probe.rows(Self.scores).map {
                $0.split(separator: " ").prefix(2).joined(separator: " ")
            }
            #expect(scores == ["a 3.000", "b 2.000"])
        }
    }

    @Test("Only products that an import creates, and that have purchases, are queued for a count")
    func recreatedProducts() async throws {
        try await Probe.run { probe in
            let scripts = [
                Probe.products(["existing", "unlisted"]), Probe.products(["fresh"], in: 2),
                """
                INSERT INTO purchase_count (store_id, sku, day, count)
                VALUES (1, 'again', '2024-01-01', 1), (1, 'existing', '2024-01-01', 1), (1, 'unlisted', '2024-01-01', 1),
                    (2, 'fresh', '2024-01-01', 1);
                """,
            ]
            try await probe.run(scripts.joined())
            try await Self.run("sku,name", ["again,N", "existing,Renamed", "fresh,N"], probe)
            let due = try await probe.rows("SELECT concat_ws(' ', store_id, skus::text, is_counted) FROM due_products")
            #expect(due == ["1 {again} f"])
        }
    }

    // MARK: - Times

    @Test("Changed products have a later time than the changes of their shelves; unchanged ones keep theirs")
    func times() async throws {
        try await Probe.run { probe in
            try await Self.run("shelf,sku,name", ["dairy,a,A", "dairy,b,B", "bakery,c,C"], probe)
            try await probe.run("UPDATE shelf SET modified_at = now() + interval '1 day' WHERE key = 'dairy'")
            let latest = try await probe.rows("SELECT max(modified_at)::text FROM shelf")[0]
            let times = "SELECT sku || ' ' || (modified_at > '\(latest)')::text FROM product ORDER BY 1"
            let unchanged = "SELECT modified_at::text FROM product WHERE sku = 'b'"
            let before = try await probe.rows(unchanged)
            // The same product on another shelf is not a change of the product.
            try await Self.run("shelf,sku,name", ["dairy,a,Renamed", "dairy,b,B", "bakery,b,B"], probe)
            #expect(try await probe.rows(times) == ["a true", "b false", "c false"])
            #expect(try await probe.rows(unchanged) == before)
        }
    }
}
