import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The statements that apply an import to a store: each condition and each assignment has a row of its own.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "rows are inserted as on one server"),
    .timeLimit(.minutes(15))
) struct ImportApplyingTests {
    private typealias Probe = StatementProbe
    private static let id = "11111111-1111-4111-8111-111111111111"
    private static let otherID = "22222222-2222-4222-8222-222222222222"
    /// A version and a time after now.
    private static let later: Int64 = 4_000_000_000_000_000

    private static func row(_ sku: String, _ values: [String: String] = [:]) -> [String: String] {
        let staged = ["import_id": "'\(id)'", "line": "1", "store_id": "1", "sku": "'\(sku)'", "name": "'N'"]
        return staged.merging(values) { $1 }
    }

    private static func placed(_ sku: String, on shelf: Int, in store: Int = 1, score: String = "0") -> [String: String]
    {
        ["store_id": "\(store)", "shelf_id": "\(shelf)", "sku": "'\(sku)'", "popularity_log2": score]
    }

    private static func position(
        _ sku: String,
        on shelf: Int,
        key: String,
        isRemoved: Bool = false,
        in store: Int = 1
    ) -> [String: String] {
        [
            "store_id": "\(store)", "shelf_id": "\(shelf)", "sku": "'\(sku)'", "key": "'\\x\(key)'",
            "removed_at": isRemoved ? "now()" : "NULL",
        ]
    }

    private static let own: [PostgresValue] = [.text(id), .int4(1)]

    // MARK: - Old runs

    @Test("Runs without a lock are swept; those whose row or whose own lock is held are kept")
    func sweptRuns() async throws {
        try await Probe.run { probe in
            let configuration = probe.catalog.database.writes.configuration
            let sweeper = try await PostgresConnection.connect(configuration)
            let holder = try await PostgresConnection.connect(configuration)
            let ids = (1...4).map { "0000000\($0)-0000-4000-8000-000000000000" }
            let (dead, otherLock, locked, held) = (ids[0], ids[1], ids[2], ids[3])
            let rows = [dead, otherLock, locked, held].map { ["import_id": "'\($0)'", "started_at": "now()"] }
            try await probe.run(Probe.inserting("import_run", rows))
            // The second run has only the lock of another kind of run with its number.
            let locks = [(RunLock.Kind.importRun, held), (.resortRun, otherLock)].map { kind, id in
                "SELECT pg_advisory_xact_lock(\(kind.rawValue), hashtext('\(id)'));"
            }
            try await holder.perform { connection in
                try connection.run(
                    script: "\(Probe.begin); SELECT FROM import_run WHERE import_id = '\(locked)' FOR KEY SHARE"
                )
                try connection.run(script: locks.joined())
            }
            let swept = try await sweeper.perform { connection in
                try connection.run(script: "SET lock_timeout = '20s'")
                return try connection.execute(ImportStatements.sweepRuns)
            }
            #expect(swept == 2)
            let left = try await probe.rows("SELECT import_id::text FROM import_run ORDER BY 1")
            #expect(left == [locked, held])
            try await holder.perform { try $0.run(script: "ROLLBACK") }
            await holder.close()
            await sweeper.close()
        }
    }

    @Test("An import deletes the staged rows of dead runs, and of no others")
    func sweptRows() async throws {
        try await Probe.run { probe in
            let holder = try await PostgresConnection.connect(probe.catalog.database.writes.configuration)
            let ids = (1...3).map { "0000000\($0)-0000-4000-8000-000000000000" }
            // The first has no run, the second one is dead, and the third one holds its lock.
            let runs = ids[1...].map {
                ["import_id": "'\($0)'", "started_at": "now()"]
            }
            let rows = ids.map { Self.row("a", ["import_id": "'\($0)'"]) }
            try await probe.run(Probe.inserting("import_run", runs) + Probe.inserting("import_row", rows))
            let lock = "pg_try_advisory_xact_lock(\(RunLock.Kind.importRun.rawValue), hashtext('\(ids[2])'))"
            try await holder.perform { try $0.run(script: "\(Probe.begin); SELECT \(lock)") }
            let file = ImporterTests.Chunks(text: "sku,name\nnew,New\n")
            let summary = try await Importer(probe.catalog).importFile(
                file,
                ImportOptions(format: .csv, store: Probe.shop)
            )
            #expect(summary.inserted == 1)
            #expect(try await probe.rows("SELECT import_id::text FROM import_row") == [ids[2]])
            #expect(try await probe.rows("SELECT import_id::text FROM import_run") == [ids[2]])
            await holder.close()
        }
    }

    @Test("Rows that get the id of another store have all their values there")
    func copiedRows() async throws {
        let full = [
            "brand": "'B'", "price_minor": "7", "regular_price_minor": "9", "size_amount": "2", "size_unit": "'kg'",
            "size_packs": "3", "size_drained": "1", "size_approximate": "true", "size_dimension": "0",
            "base_quantity": "6", "barcode": "'1'", "image_url": "'u'", "product_group": "'g'", "in_stock": "false",
            "tags": "'{t}'",
            "popularity_seed": "5", "attributes": #"'{"a":1}'"#, "name_key": "'\\x03'", "brand_key": "'\\x04'",
            "line": "8", "part": "2", "shelf_key": "'x'", "position_numerator": "1", "position_denominator": "3",
            "keeps_attributes": "true",
        ]
        // Each row has a name.
        let columns = Set(ProductColumn.staged.map(\.name.text)).subtracting(["name"])
        #expect(columns.isSubset(of: full.keys))
        try await Probe.run { probe in
            let rows = [
                Self.row("a", full), Self.row("b"), Self.row("other-store", ["store_id": "2"]),
                Self.row("other-import", ["import_id": "'\(Self.otherID)'"]),
            ]
            try await probe.run(Probe.inserting("import_row", rows))
            func values(_ condition: String) async throws -> [String] {
                try await probe.rows(
                    "SELECT (to_jsonb(i) - 'store_id')::text FROM import_row i WHERE \(condition) ORDER BY 1"
                )
            }
            let original = try await values("store_id = 1 AND import_id = '\(Self.id)'")
            let others = try await values("sku LIKE 'other%'")
            #expect(try await probe.execute(ImportStatements.copyRows, Self.own + [.int4(9)]) == 2)
            #expect(try await values("store_id = 9") == original)
            #expect(try await probe.execute(ImportStatements.deleteRowsOfStore, Self.own) == 2)
            #expect(try await values("store_id = 9") == original)
            #expect(try await values("sku LIKE 'other%'") == others)
            // Every column of the first row has a value; those that are kept from stored products are unset in a new store.
            let unset = try await probe.rows(
                """
                SELECT key FROM import_row i, jsonb_each(to_jsonb(i)) WHERE sku = 'a' AND value IN ('null', 'false') ORDER BY 1
                """
            )
            #expect(unset == ["in_stock", "keeps_stock"])
        }
    }

    // MARK: - Shelves

    @Test("Deleted shelves of the file are restored without the dimension of their former products")
    func restoredShelves() async throws {
        try await Probe.run { probe in
            let rows = [
                Self.row("a", ["shelf_key": "'gone'"]), Self.row("b", ["shelf_key": "'live'"]),
                Self.row("c", ["shelf_key": "'other-store'", "store_id": "2"]),
                Self.row("d", ["shelf_key": "'other-import'", "import_id": "'\(Self.otherID)'"]),
            ]
            let shelves = ["gone", "live", "unlisted", "other-store", "other-import"]
            let changes = """
                UPDATE shelf SET settled_dimension = 2, version = \(Self.later), modified_at = now() + interval '1 day';
                UPDATE shelf SET deleted_at = now() WHERE key <> 'live';
                """
            let scripts = [
                Probe.shelves(shelves), Probe.shelves(["gone"], in: 2), changes, Probe.inserting("import_row", rows),
            ]
            try await probe.run(scripts.joined())
            let others = "SELECT h::text FROM shelf h WHERE store_id <> 1 OR key <> 'gone' ORDER BY 1"
            let before = try await probe.rows(others)
            let time = try await probe.rows("SELECT modified_at::text FROM shelf WHERE store_id = 1 AND key = 'gone'")
            #expect(try await probe.texts(ImportStatements.restoreShelves, Self.own) == ["gone"])
            #expect(try await probe.rows(others) == before)
            let restored = try await probe.rows(
                """
                SELECT concat_ws(' ', deleted_at IS NULL, settled_dimension, version, modified_at > '\(time[0])') FROM shelf
                WHERE store_id = 1 AND key = 'gone'
                """
            )
            #expect(restored == ["t 0 \(Self.later + 1) t"])
            #expect(try await probe.texts(ImportStatements.restoreShelves, Self.own) == [])
        }
    }

    @Test("An import touches the shelves of its rows, unless they are deleted, and those that have its products")
    func touchedShelves() async throws {
        try await Probe.run { probe in
            let shelves = ["named", "gone", "has-product", "has-other-product", "other-store", "other-import"]
            let rows = [
                Self.row("a", ["shelf_key": "'named'"]), Self.row("a", ["shelf_key": "'gone'"]),
                Self.row("b", ["shelf_key": "'other-store'", "store_id": "2"]),
                Self.row("b", ["shelf_key": "'other-import'", "import_id": "'\(Self.otherID)'"]),
            ]
            let placements = [Self.placed("a", on: 3), Self.placed("b", on: 4), Self.placed("a", on: 2, in: 2)]
            let scripts = [
                Probe.shelves(shelves), Probe.shelves(["x", "y"], in: 2), Probe.products(["a", "b"]),
                Probe.products(["a"], in: 2), "UPDATE shelf SET deleted_at = now() WHERE key = 'gone';",
                Probe.inserting("placement", placements), Probe.inserting("import_row", rows),
            ]
            try await probe.run(scripts.joined())
            #expect(try await probe.numbers(ImportStatements.touchedShelves, Self.own).sorted() == [1, 3])
        }
    }

    @Test(
        "Shelves that exist are neither changed nor counted when an import creates shelves, and deleted ones get back"
    )
    func createdShelves() async throws {
        try await Probe.run { probe in
            let changes = """
                UPDATE shelf SET parent_id = 1, default_sort = 'name', dimension = 1, sold_out = 'mixed', position_source = 'name',
                    includes_descendants = true, collapses_groups = true, settled_dimension = 2, product_count = 4, version = \(Self.later);
                UPDATE shelf SET deleted_at = now() WHERE key = 'gone';
                """
            try await probe.run(Probe.shelves(["live", "gone"]) + Probe.shelves(["gone"], in: 2) + changes)
            let others = "SELECT h::text FROM shelf h WHERE store_id = 2 OR key = 'live' ORDER BY 1"
            let before = try await probe.rows(others)
            let created = try await probe.execute(
                ImportStatements.createShelves,
                [
                    .int4(1), .int8Array([7, 8, 9]), .textArray(["live", "gone", "new"]), .textArray(["L", "G", "N"]),
                    .byteaArray([[7], [8], [9]]), .byteaArray([[17], [18], [19]]),
                ]
            )
            #expect(created == 2)
            #expect(try await probe.rows(others) == before)
            let found = try await probe.rows(
                """
                SELECT concat_ws(' ', shelf_id, key, title, title_key::text, position::text, version > \(Self.later), num_nulls(deleted_at,
                    parent_id, default_sort, dimension, sold_out, position_source), includes_descendants, collapses_groups,
                    settled_dimension)
                FROM shelf WHERE store_id = 1 AND key <> 'live' ORDER BY shelf_id
                """
            )
            // The restored shelf keeps its id and its position.
            #expect(found == [#"2 gone G \x12 \x00000002 t 6 f f 0"#, #"9 new N \x13 \x09 f 6 f f 0"#])
        }
    }

    @Test("Only shelves without a parent are placed, and only under a shelf of the store that is not deleted")
    func parents() async throws {
        try await Probe.run { probe in
            let shelves = ["parent", "child", "has-parent", "gone", "under-gone", "itself", "unlisted", "other"]
            let changes = """
                UPDATE shelf SET parent_id = 8 WHERE key = 'has-parent'; UPDATE shelf SET deleted_at = now() WHERE key = 'gone';
                """
            // The second store has the shelf that the first one lacks as a parent, and a child without a parent.
            let second = Probe.shelves(["a", "b", "missing", "child", "parent"], in: 2)
            try await probe.run(Probe.shelves(shelves) + second + changes)
            let children = ["child", "has-parent", "under-gone", "itself", "other"]
            let parents = ["parent", "parent", "gone", "itself", "missing"]
            let parameters: [PostgresValue] = [.int4(1), .textArray(children), .textArray(parents)]
            #expect(try await probe.execute(ImportStatements.setParents, parameters) == 1)
            let found = try await probe.rows(
                "SELECT store_id || ' ' || key || ' ' || parent_id FROM shelf WHERE parent_id IS NOT NULL ORDER BY 1"
            )
            #expect(found == ["1 child 1", "1 has-parent 8"])
        }
    }

    @Test("Touched shelves get the number of their products, the most common dimension, versions and times")
    func bumpedShelves() async throws {
        try await Probe.run { probe in
            // Dimension and price of products on shelves: two of each dimension, most without a price, nothing, and untouched.
            let products: [(sku: String, shelf: Int, dimension: String, price: String)] = [
                ("a1", 1, "3", "1"), ("a2", 1, "3", "1"), ("a3", 1, "1", "1"), ("a4", 1, "1", "1"),
                ("a5", 1, "NULL", "1"),
                ("b1", 2, "4", "NULL"), ("b2", 2, "4", "NULL"), ("b3", 2, "5", "1"), ("d1", 4, "3", "1"),
            ]
            let rows = products.map { product in
                var row = [
                    "store_id": "1", "sku": "'\(product.sku)'", "name": "'N'", "name_key": "'\\x01'",
                    "created_at": "now()",
                    "modified_at": "now()", "price_minor": product.price,
                ]
                if product.dimension != "NULL" {
                    row.merge(
                        [
                            "size_dimension": product.dimension, "size_amount": "1", "size_unit": "'g'",
                            "size_packs": "1",
                            "size_approximate": "false", "base_quantity": "1",
                        ]
                    ) { $1 }
                }
                return row
            }
            let changes = """
                UPDATE shelf SET settled_dimension = 2, product_count = 9, version = \(Self.later), order_version = \(Self.later),
                    modified_at = now() + interval '1 day';
                """
            let scripts = [
                Probe.shelves(["tie", "unpriced", "empty", "untouched"]), Probe.shelves(["tie"], in: 2), changes,
                Probe.inserting("product", rows),
                Probe.inserting("placement", products.map { Self.placed($0.sku, on: $0.shelf) }),
            ]
            try await probe.run(scripts.joined())
            let time = try await probe.rows("SELECT max(modified_at)::text FROM shelf")[0]
            let bumped = try await probe.execute(
                ImportStatements.bumpShelves,
                [.int4(1), .int8Array([1, 2, 3]), .boolArray([true, false, false])]
            )
            #expect(bumped == 3)
            let found = try await probe.rows(
                """
                SELECT concat_ws(' ', store_id, key, product_count, settled_dimension, version - \(Self.later), order_version - \(Self.later),
                    modified_at > '\(time)') FROM shelf ORDER BY store_id, shelf_id
                """
            )
            let expected = [
                "1 tie 5 1 1 1 t", "1 unpriced 3 5 1 0 t", "1 empty 0 2 1 0 t", "1 untouched 9 2 0 0 f",
                "2 tie 9 2 0 0 f",
            ]
            #expect(found == expected)
        }
    }

    @Test("An export names a shelf by its title although a deleted shelf has the same title")
    func exportedTitles() async throws {
        try await Probe.run { probe in
            let catalog = probe.catalog
            for key in ["fresh-milk", "twin"] {
                _ = try await catalog.shelves.put(Shelf(key: CatalogKey(key)!, title: "Fresh milk"), in: Probe.shop)
            }
            _ = try await catalog.products.put(Product(sku: SKU("a")!, name: "A"), in: Probe.shop)
            _ = try await catalog.products.place(SKU("a")!, on: CatalogKey("fresh-milk")!, in: Probe.shop)
            func shelf() async throws -> Substring? {
                var bytes: [UInt8] = []
                try await CatalogExport(catalog.database).run(of: Probe.shop) { bytes += $0 }
                let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                let column = lines.first?.split(separator: ",").firstIndex(of: "shelf")
                return column.flatMap { lines.last?.split(separator: ",", omittingEmptySubsequences: false)[$0] }
            }
            #expect(try await shelf() == "fresh-milk")
            try await catalog.shelves.remove(shelf: CatalogKey("twin")!, from: Probe.shop)
            #expect(try await shelf() == "Fresh milk")
        }
    }
}
