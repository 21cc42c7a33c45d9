import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The statements that compare staged rows with each other and with the catalog: each condition has a row that only this condition
/// leaves out. The staged rows have one more column, with the name of a row.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "rows are inserted as on one server"),
    .timeLimit(.minutes(15))
) struct ImportComparisonTests {
    private typealias Probe = StatementProbe
    private static let id = "11111111-1111-4111-8111-111111111111"
    private static let otherID = "22222222-2222-4222-8222-222222222222"
    private static let staged = [
        "import_id": "'\(id)'", "line": "1", "store_id": "1", "sku": "'a'", "name": "'N'",
    ]
    private static let columns = WrittenColumns(Set(ImportColumn.allCases), readsSizeFromName: false)

    /// A staged row with a name and other values than `staged`.
    private static func row(_ name: String, _ values: [String: String]) -> [String: String] {
        staged.merging(["label": "'\(name)'"]) { $1 }.merging(values) { $1 }
    }

    /// Runs a test on staged rows that have a column for their name, which no statement reads.
    private static func run(_ body: (Probe) async throws -> Void) async throws {
        try await Probe.run { probe in
            let owner = try await PostgresConnection.connect(probe.catalog.database.writes.configuration.inOwnerRole)
            try await owner.perform { try $0.run(script: #"ALTER TABLE import_row ADD COLUMN label text COLLATE "C""#) }
            await owner.close()
            try await body(probe)
        }
    }

    // MARK: - Values that the file does not have

    @Test(
        "Only rows of the import without an understood availability get that of their stored product; the others are dropped"
    )
    func keptStock() async throws {
        try await Self.run { probe in
            let rows = Probe.variants(
                "import_row",
                named: "label",
                Self.staged,
                failing: [
                    "other-import": ["import_id": "'\(Self.otherID)'", "line": "2"],
                    "other-store": ["store_id": "2", "line": "3"], "other-product": ["sku": "'x'", "line": "4"],
                    "has-stock": ["in_stock": "true", "line": "5"],
                ]
            )
            try await probe.run(Probe.products(["a"]) + "UPDATE product SET in_stock = false;" + rows)
            #expect(try await probe.execute(ImportStatements.keepStock, [.text(Self.id)]) == 1)
            let query = """
                SELECT concat_ws(' ', label, coalesce(in_stock::text, 'none'), keeps_stock) FROM import_row ORDER BY 1
                """
            let kept = [
                "has-stock true f", "meets-all false t", "other-import none f", "other-product none f",
                "other-store none f",
            ]
            #expect(try await probe.rows(query) == kept)
            let dropped = try await probe.catalog.database.writes.perform {
                try $0.query(ImportStatements.dropUnreadableStock, [.text(Self.id)]) { try $0.map { try $0.int8(0) } }
            }
            #expect(dropped.sorted() == [3, 4])
            let left = try await probe.rows("SELECT label FROM import_row ORDER BY 1")
            #expect(left == ["has-stock", "meets-all", "other-import"])
        }
    }

    private static let attributes =
        "SELECT concat_ws(' ', label, attributes::text, keeps_attributes) FROM import_row ORDER BY 1"

    @Test("Rows of the import get the stored attributes that the file does not have")
    func mergedAttributes() async throws {
        try await Self.run { probe in
            let rows = Probe.variants(
                "import_row",
                named: "label",
                Self.staged.merging(["attributes": #"'{"size":"L"}'"#]) { $1 },
                failing: [
                    "other-import": ["import_id": "'\(Self.otherID)'"], "other-store": ["store_id": "2"],
                    "other-product": ["sku": "'x'"], "no-attributes": ["attributes": "NULL"],
                    "nothing-to-add": ["sku": "'b'"],
                ]
            )
            let products = #"""
                UPDATE product SET attributes = '{"size":"M"}';
                UPDATE product SET attributes = '{"size":"M","colour":"red"}' WHERE sku = 'a';
                """#
            try await probe.run(Probe.products(["a", "b"]) + products + rows)
            let names = PostgresValue.textArray(["size"])
            func merge(_ stores: [Int64]) async throws -> Int {
                try await probe.execute(ImportStatements.mergeAttributes, [.text(Self.id), names, .int8Array(stores)])
            }
            #expect(try await merge([2]) == 0)
            #expect(try await merge([1, 2]) == 1)
            let merged = [
                #"meets-all {"size": "L", "colour": "red"} f"#, "no-attributes f", #"nothing-to-add {"size": "L"} f"#,
                #"other-import {"size": "L"} f"#, #"other-product {"size": "L"} f"#, #"other-store {"size": "L"} f"#,
            ]
            #expect(try await probe.rows(Self.attributes) == merged)
            // A file whose rows may lack the column: only the row without it gets all stored attributes.
            #expect(try await probe.execute(ImportStatements.keepAttributes, [.text(Self.id)]) == 1)
            let kept = merged.map {
                $0 == "no-attributes f" ? #"no-attributes {"size": "M", "colour": "red"} t"# : $0
            }
            #expect(try await probe.rows(Self.attributes) == kept)
        }
    }

    @Test("Stored attributes are kept only for rows of the import, the store and the product")
    func keptAttributes() async throws {
        try await Self.run { probe in
            let rows = Probe.variants(
                "import_row",
                named: "label",
                Self.staged,
                failing: [
                    "other-import": ["import_id": "'\(Self.otherID)'"], "other-store": ["store_id": "2"],
                    "other-product": ["sku": "'x'"], "has-attributes": ["attributes": "'{}'"],
                ]
            )
            let products = #"UPDATE product SET attributes = '{"size":"M"}';"#
            try await probe.run(Probe.products(["a"]) + products + rows)
            #expect(try await probe.execute(ImportStatements.keepAttributes, [.text(Self.id)]) == 1)
            let kept = [
                "has-attributes {} f", #"meets-all {"size": "M"} t"#, "other-import f", "other-product f",
                "other-store f",
            ]
            #expect(try await probe.rows(Self.attributes) == kept)
        }
    }

    @Test("The length of attributes has no spaces between values, but those inside of texts")
    func longAttributes() async throws {
        // In the order in which the database stores names: by length, then by bytes.
        let texts = [
            "{}", #"{"a":1}"#, #"{"a":"b c d","x":[1,2]}"#, #"{"a":"x\" : , y","b":"\\"}"#,
            #"{"a":"é  ü","bb":{"c":null,"d":true}}"#,
        ]
        try await Self.run { probe in
            for (index, text) in texts.enumerated() {
                let store = index % 2 + 1
                for (id, line) in [(Self.id, 1), (Self.otherID, 2)] {
                    let statement: PostgresStatement = """
                        INSERT INTO import_row (import_id, line, store_id, sku, name, attributes)
                        VALUES ($1::text::uuid, $2, $3, 'a', 'N', $4)
                        """
                    let values: [PostgresValue] = [.text(id), .int8(Int64(line)), .int4(Int32(store)), .jsonb(text)]
                    try await probe.execute(statement, values)
                }
                func isLong(_ limit: Int, in store: Int) async throws -> Bool {
                    let parameters: [PostgresValue] = [.text(Self.id), .int4(Int32(store)), .int4(Int32(limit))]
                    return try await probe.catalog.database.writes.perform {
                        try $0.query(ImportStatements.hasLongAttributes, parameters) { $0.count > 0 }
                    }
                }
                #expect(try await !isLong(text.utf8.count, in: store), "\(text)")
                #expect(try await isLong(text.utf8.count - 1, in: store), "\(text)")
                #expect(try await !isLong(text.utf8.count - 1, in: 3 - store), "\(text)")
                let drop = ImportStatements.dropLongAttributes
                let limit = Int32(text.utf8.count)
                #expect(try await probe.execute(drop, [.text(Self.id), .int4(limit)]) == 0, "\(text)")
                #expect(try await probe.execute(drop, [.text(Self.id), .int4(limit - 1)]) == 1, "\(text)")
                #expect(try await probe.rows("SELECT line::text FROM import_row") == ["2"], "\(text)")
                try await probe.run("DELETE FROM import_row")
            }
        }
    }

    // MARK: - Repeated products

    @Test("Only rows of the same store, import and product repeat each other")
    func repeats() async throws {
        try await Self.run { probe in
            func findsRepeats() async throws -> Bool {
                try await probe.catalog.database.writes.perform {
                    try $0.query(ImportStatements.findRepeats, [.text(Self.id)]) { $0.count > 0 }
                }
            }
            let rows = [
                Self.row("first", [:]), Self.row("other-product", ["sku": "'b'"]),
                Self.row("other-store", ["store_id": "2"]),
                Self.row("other-import", ["import_id": "'\(Self.otherID)'"]),
            ]
            try await probe.run(Probe.inserting("import_row", rows))
            #expect(try await !findsRepeats())
            try await probe.run(Probe.inserting("import_row", [Self.row("second", ["line": "2"])]))
            #expect(try await findsRepeats())
        }
    }

    @Test(
        "The first 20 of all rows with other values than the last row of their product are reported in the order of lines"
    )
    func conflicts() async throws {
        try await Self.run { probe in
            let rows = [
                // Row 30 differs from the last one in two columns, and row 40 in none.
                Self.row("last", ["line": "50", "price_minor": "7", "brand": "'B'"]),
                Self.row("equal", ["line": "40", "price_minor": "7", "brand": "'B'"]),
                Self.row("differs", ["line": "30", "price_minor": "5"]),
                Self.row("other-store", ["line": "60", "price_minor": "9", "store_id": "2"]),
                Self.row("other-import", ["line": "70", "price_minor": "9", "import_id": "'\(Self.otherID)'"]),
                Self.row("other-product", ["line": "80", "price_minor": "9", "sku": "'b'"]),
            ]
            try await probe.run(Probe.inserting("import_row", rows))
            func count() async throws -> Int? {
                try await probe.catalog.database.writes.perform {
                    try $0.query(ImportStatements.countConflicts(Self.columns), [.text(Self.id)]) {
                        try $0.first { try $0.int(0) }
                    }
                }
            }
            func conflicts() async throws -> [String] {
                try await probe.catalog.database.writes.perform {
                    try $0.query(ImportStatements.conflicts(Self.columns), [.text(Self.id)]) {
                        try $0.map { row in
                            "\(try row.int4(0)) \(try row.text(1)) \(try row.int8(3)) \(try row.int8(4)) \(try row.text(5))"
                        }
                    }
                }
            }
            #expect(try await count() == 1)
            let found = try #require(try await conflicts().first)
            #expect(found.hasPrefix("1 a 30 50 "))
            // In the order of the columns, which is not that of the file.
            #expect(Set(found.dropFirst(10).split(separator: ", ")) == ["brand none and B", "price_minor 5 and 7"])
            let more = (1...25).reversed().map { Self.row("early", ["line": "\($0)", "price_minor": "\($0 + 100)"]) }
            try await probe.run(Probe.inserting("import_row", more))
            #expect(try await count() == 26)
            let lines = try await conflicts().map { $0.split(separator: " ")[2] }
            #expect(lines == (1...20).map { "\($0)" })
        }
    }

    @Test("Earlier rows of a product get every value of its last row, but keep their shelf and position")
    func lastRows() async throws {
        let kept = ["line", "part", "shelf_key", "label", "position_numerator", "position_denominator"]
        let full = [
            "brand": "'B'", "price_minor": "7", "regular_price_minor": "9", "size_amount": "2", "size_unit": "'kg'",
            "size_packs": "3", "size_drained": "1", "size_approximate": "true", "size_dimension": "0",
            "base_quantity": "6", "barcode": "'1'", "image_url": "'u'", "product_group": "'g'", "in_stock": "false",
            "tags": "'{t}'",
            "popularity_seed": "5", "attributes": #"'{"a":1}'"#, "keeps_stock": "true", "keeps_attributes": "true",
            "name_key": "'\\x03'", "brand_key": "'\\x04'", "name": "'Last'",
        ]
        #expect(Set(ProductColumn.staged.map(\.name.text)).isSubset(of: full.keys))
        try await Self.run { probe in
            let rows = [
                Self.row("last", full.merging(["line": "30", "shelf_key": "'x'", "position_numerator": "1"]) { $1 }),
                Self.row("second", ["line": "20", "name": "'Second'", "part": "1"]),
                Self.row("first", ["line": "10", "shelf_key": "'y'", "position_denominator": "2"]),
                Self.row("other-store", ["line": "10", "store_id": "2"]),
                Self.row("other-import", ["line": "10", "import_id": "'\(Self.otherID)'"]),
                Self.row("other-product", ["line": "10", "sku": "'b'"]),
            ]
            try await probe.run(Probe.inserting("import_row", rows))
            let others = "SELECT i::text FROM import_row i WHERE label LIKE 'other%' ORDER BY 1"
            let before = try await probe.rows(others)
            let columns =
                "SELECT concat_ws(' ', label, line, part, shelf_key, position_numerator, position_denominator)"
            let own = columns + " FROM import_row WHERE label NOT LIKE 'other%' ORDER BY line"
            let places = try await probe.rows(own)
            #expect(try await probe.execute(ImportStatements.applyLastRows, [.text(Self.id)]) == 2)
            #expect(try await probe.rows(others) == before)
            #expect(try await probe.rows(own) == places)
            let keptNames = kept.map { "'\($0)'" }.joined(separator: ",")
            let values = try await probe.rows(
                """
                SELECT (to_jsonb(i) - ARRAY[\(keptNames)])::text FROM import_row i WHERE label NOT LIKE 'other%'
                """
            )
            #expect(values.count == 3)
            #expect(Set(values).count == 1)
            // Every column has a value that differs from that of an earlier row, except for the keys.
            let unset = try await probe.rows(
                """
                SELECT key FROM import_row i, jsonb_each(to_jsonb(i) - ARRAY[\(keptNames)]) WHERE label = 'last' AND value = 'null'
                """
            )
            #expect(unset == [])
        }
    }

    @Test(
        "Of the rows of a product on a shelf, only the one with the last line stays, with all other parts of each line"
    )
    func droppedRepeats() async throws {
        try await Self.run { probe in
            let rows = [
                Self.row("repeated", ["shelf_key": "'x'"]),
                Self.row("other-part", ["shelf_key": "'y'", "part": "1"]),
                Self.row("last", ["shelf_key": "'x'", "line": "2"]),
                Self.row("other-line", ["shelf_key": "'z'", "line": "3", "part": "0"]),
                Self.row("other-product", ["shelf_key": "'x'", "line": "4", "sku": "'b'"]),
                Self.row("other-store", ["shelf_key": "'x'", "store_id": "2"]),
                Self.row("other-import", ["shelf_key": "'x'", "import_id": "'\(Self.otherID)'"]),
                Self.row("repeated-without-shelf", ["line": "5", "sku": "'c'"]),
                Self.row("last-without-shelf", ["line": "6", "sku": "'c'"]),
            ]
            try await probe.run(Probe.inserting("import_row", rows))
            #expect(try await probe.execute(ImportStatements.dropRepeated, [.text(Self.id)]) == 2)
            let left = try await probe.rows("SELECT label FROM import_row ORDER BY 1")
            let names = rows.map { String($0["label"]!.dropFirst().dropLast()) }
            #expect(left == names.filter { !$0.hasPrefix("repeated") }.sorted())
        }
    }

    // MARK: - Unchanged rows

    /// SQL values of all columns that imports compare, and of those derived from them.
    private static let product = [
        "name": "'N'", "name_key": "'\\x01'", "brand": "'B'", "brand_key": "'\\x02'", "price_minor": "7",
        "regular_price_minor": "9", "size_amount": "2", "size_unit": "'kg'", "size_packs": "3", "size_drained": "1",
        "size_approximate": "true", "size_dimension": "0", "base_quantity": "6", "attributes": #"'{"a":1}'"#,
        "in_stock": "false", "tags": "'{t}'", "popularity_seed": "5", "barcode": "'1'", "image_url": "'u'",
        "product_group": "'g'",
    ]

    private static func stored(_ sku: String, _ values: [String: String], in store: Int = 1) -> [String: String] {
        values.merging(["store_id": "\(store)", "sku": "'\(sku)'", "created_at": "now()", "modified_at": "now()"]) {
            $1
        }
    }

    private static func placed(_ sku: String, on shelf: Int, in store: Int = 1) -> [String: String] {
        ["store_id": "\(store)", "shelf_id": "\(shelf)", "sku": "'\(sku)'", "popularity_log2": "0"]
    }

    @Test("A row is left out if its placement exists and every compared value is the same", arguments: [false, true])
    func unchangedRows(isOfOneStore: Bool) async throws {
        let compared = Self.columns.compared.map(\.text)
        #expect(Set(compared).isSubset(of: Self.product.keys), "\(compared)")
        let empty = ["name": "'N'", "name_key": "'\\x01'"]
        var (products, placements, rows) = ([[String: String]](), [[String: String]](), [[String: String]]())
        func add(_ sku: String, _ values: [String: String], _ staged: [String: String], on shelf: Int? = 1) {
            products.append(Self.stored(sku, values))
            if let shelf { placements.append(Self.placed(sku, on: shelf)) }
            rows.append(
                Self.row(sku, values).merging(["sku": "'\(sku)'", "shelf_key": "'dairy'"]) { $1 }.merging(staged) { $1 }
            )
        }
        // The staged availability, tags and attributes are never null; a seed of 0 is none.
        let defaults = ["in_stock": "true", "tags": "'{}'", "attributes": "'{}'", "popularity_seed": "0"]
        add("equal", Self.product, [:])
        add("equal-empty", empty, defaults)
        for column in compared { add(column, Self.product, [column: column == "name" ? "'Other'" : "NULL"]) }
        add("derived-only", Self.product, ["size_dimension": "1", "base_quantity": "5", "name_key": "'\\x09'"])
        add("elsewhere", Self.product, [:], on: 2)
        add("nowhere", Self.product, [:], on: nil)
        add("deleted-shelf", Self.product, ["shelf_key": "'gone'"], on: 3)
        add("unknown-shelf", Self.product, ["shelf_key": "'none'"])
        add("other-import", Self.product, ["import_id": "'\(Self.otherID)'"])
        add("without-shelf", Self.product, ["shelf_key": "NULL"], on: nil)
        add("changed-without-shelf", Self.product, ["shelf_key": "NULL", "brand": "NULL"], on: nil)
        // The product of another store has the placement that the first store lacks.
        products.append(Self.stored("nowhere", Self.product, in: 2))
        placements.append(Self.placed("nowhere", on: 1, in: 2))
        rows.append(
            Self.row("other-store", Self.product).merging(["sku": "'nowhere'", "shelf_key": "'dairy'", "store_id": "2"])
            { $1 }
        )
        let scripts = [
            Probe.shelves(["dairy", "bakery", "gone"]), Probe.shelves(["dairy"], in: 2),
            "UPDATE shelf SET deleted_at = now() WHERE key = 'gone';", Probe.inserting("product", products),
            Probe.inserting("placement", placements), Probe.inserting("import_row", rows),
        ]
        var expected = Set(compared)
        expected.formUnion([
            "elsewhere", "nowhere", "deleted-shelf", "unknown-shelf", "other-import", "changed-without-shelf",
        ])
        if isOfOneStore { expected.insert("other-store") }
        let statements =
            isOfOneStore
            ? ImportStatements.dropUnchangedAgain(Self.columns) : ImportStatements.dropUnchanged(Self.columns)
        let parameters: [PostgresValue] = isOfOneStore ? [.text(Self.id), .int4(1)] : [.text(Self.id)]
        try await Self.run { probe in
            try await probe.run(scripts.joined())
            for statement in statements { try await probe.execute(statement, parameters) }
            let left = try await probe.rows("SELECT label FROM import_row")
            #expect(left.sorted() == expected.sorted())
        }
    }

    @Test("Lines of a file count once, whatever the number of their shelves, and apart for stored and new products")
    func counts() async throws {
        try await Self.run { probe in
            let rows = [
                Self.row("stored", ["line": "1"]), Self.row("stored", ["line": "1", "part": "1"]),
                Self.row("new", ["line": "2", "sku": "'b'"]),
                Self.row("new", ["line": "2", "part": "1", "sku": "'b'"]),
                Self.row("other-store", ["line": "3", "store_id": "2"]),
                Self.row("other-import", ["line": "4", "import_id": "'\(Self.otherID)'"]),
            ]
            try await probe.run(Probe.products(["a"]) + Probe.inserting("import_row", rows))
            func counts(_ statement: PostgresStatement, _ store: Int32?, _ width: Int) async throws -> [Int] {
                let parameters: [PostgresValue] = store.map { [.text(Self.id), .int4($0)] } ?? [.text(Self.id)]
                return try await probe.catalog.database.writes.perform {
                    try $0.query(statement, parameters) {
                        try $0.first { row in
                            var counts: [Int] = []
                            for column in 0..<width { counts.append(try row.int(column)) }
                            return counts
                        } ?? []
                    }
                }
            }
            #expect(try await counts(ImportStatements.countRows, nil, 1) == [3])
            // Lines of stored products, all lines, and staged rows.
            #expect(try await counts(ImportStatements.countChanged, nil, 3) == [1, 3, 5])
            #expect(try await counts(ImportStatements.countRowsAgain, 1, 1) == [2])
            #expect(try await counts(ImportStatements.countChangedAgain, 1, 2) == [1, 2])
            #expect(try await counts(ImportStatements.countChangedAgain, 2, 2) == [0, 1])
        }
    }

    // MARK: - Values that changed meanwhile

    @Test("Values that other writers changed are copied again to the rows that keep them, of this store only")
    func keptAgain() async throws {
        try await Self.run { probe in
            let failing: KeyValuePairs<String, [String: String]> = [
                "other-import": ["import_id": "'\(Self.otherID)'"], "other-store": ["store_id": "2", "sku": "'x'"],
                "other-product": ["sku": "'x'"], "same": ["sku": "'b'"],
                "keeps-nothing": ["keeps_stock": "false", "keeps_attributes": "false"],
            ]
            let values = Self.staged.merging(
                ["in_stock": "true", "attributes": "'{}'", "keeps_stock": "true", "keeps_attributes": "true"]
            ) { $1 }
            let rows = Probe.variants("import_row", named: "label", values, failing: failing)
            let products = #"""
                UPDATE product SET in_stock = false, attributes = '{"a":1}' WHERE sku <> 'b';
                """#
            try await probe.run(Probe.products(["a", "b"]) + Probe.products(["x"], in: 2) + products + rows)
            let parameters: [PostgresValue] = [.text(Self.id), .int4(1)]
            #expect(try await probe.execute(ImportStatements.keepStockAgain, parameters) == 1)
            #expect(try await probe.execute(ImportStatements.keepAttributesAgain, parameters) == 1)
            let changed =
                "SELECT label || attributes::text FROM import_row WHERE NOT in_stock OR attributes <> '{}'"
            #expect(try await probe.rows(changed) == [#"meets-all{"a": 1}"#])
        }
    }

    @Test(
        "Attributes that the file does not have follow the stored product, and are dropped if the product was deleted",
        arguments: [false, true]
    )
    func mergedAgain(_ onlyPartialRows: Bool) async throws {
        try await Self.run { probe in
            let failing: KeyValuePairs<String, [String: String]> = [
                "other-import": ["import_id": "'\(Self.otherID)'"], "other-store": ["store_id": "2"],
                "same": ["sku": "'b'"], "deleted": ["sku": "'x'"],
                "deleted-without-others": ["sku": "'y'", "attributes": #"'{"size":"L"}'"#],
                "deleted-in-other-import": ["sku": "'x'", "import_id": "'\(Self.otherID)'"],
                "deleted-in-other-store": ["sku": "'x'", "store_id": "2"],
                "has-all": [
                    "keeps_attributes": onlyPartialRows ? "false" : "true", "sku": onlyPartialRows ? "'a'" : "'b'",
                ],
                "deleted-with-all": ["keeps_attributes": "false", "sku": onlyPartialRows ? "'x'" : "'b'"],
            ]
            let old = #"{"size": "L", "colour": "old"}"#
            let values = Self.staged.merging(["attributes": "'\(old)'", "keeps_attributes": "true"]) { $1 }
            let rows = Probe.variants("import_row", named: "label", values, failing: failing)
            let products = #"""
                UPDATE product SET attributes = '{"size":"M","colour":"new","use":"x"}' WHERE sku = 'a';
                UPDATE product SET attributes = '{"size":"M","colour":"old"}' WHERE sku = 'b';
                """#
            // The product x of another store is not that of the rows.
            try await probe.run(Probe.products(["a", "b"]) + Probe.products(["x"], in: 2) + products + rows)
            let parameters: [PostgresValue] = [.text(Self.id), .int4(1), .textArray(["size"])]
            let statements =
                onlyPartialRows
                ? ImportStatements.mergeAttributesOfPartialRowsAgain : ImportStatements.mergeAttributesAgain
            for statement in statements {
                #expect(try await probe.execute(statement, parameters) == 1)
            }
            let found = try await probe.rows("SELECT label || ' ' || attributes::text FROM import_row")
            let expected = [
                #"meets-all {"use": "x", "size": "L", "colour": "new"}"#, #"deleted {"size": "L"}"#,
                #"deleted-without-others {"size": "L"}"#, "other-import \(old)", "other-store \(old)", "same \(old)",
                "deleted-in-other-import \(old)", "deleted-in-other-store \(old)", "has-all \(old)",
                "deleted-with-all \(old)",
            ]
            #expect(found.sorted() == expected.sorted())
        }
    }

    @Test("A value is cleared only in the given rows of the store that have it, unless the product has the same")
    func clearedAttributes() async throws {
        try await Self.run { probe in
            let failing: KeyValuePairs<String, [String: String]> = [
                "other-import": ["import_id": "'\(Self.otherID)'"], "other-store": ["store_id": "2"],
                "other-line": ["line": "2"], "same": ["sku": "'b'"], "without": ["attributes": #"'{"colour":"red"}'"#],
                "new": ["sku": "'x'"],
            ]
            let values = Self.staged.merging(["attributes": #"'{"size":"L"}'"#]) { $1 }
            let rows = Probe.variants("import_row", named: "label", values, failing: failing)
            let products = #"""
                UPDATE product SET attributes = '{"size":"M"}' WHERE sku = 'a';
                UPDATE product SET attributes = '{"size":"L"}' WHERE sku = 'b';
                """#
            try await probe.run(Probe.products(["a", "b"]) + products + rows)
            let parameters: [PostgresValue] = [.text(Self.id), .int4(1), .text("size"), .int8Array([1])]
            func clear() async throws -> Int {
                try await probe.catalog.database.writes.perform {
                    try $0.query(ImportStatements.clearAttribute, parameters) { $0.count }
                }
            }
            #expect(try await clear() == 2)
            // Rows that were cleared are not counted again.
            #expect(try await clear() == 0)
            let cleared = try await probe.rows("SELECT label FROM import_row WHERE attributes = '{}' ORDER BY 1")
            #expect(cleared == ["meets-all", "new"])
        }
    }

    @Test("All rows of a product have the values of its last row, so they are rows of that value")
    func rowsOfProducts() async throws {
        try await Self.run { probe in
            let rows = [
                Self.row("first", ["line": "1"]), Self.row("last", ["line": "9"]),
                Self.row("superseded", ["line": "2", "sku": "'b'"]), Self.row("valid", ["line": "3", "sku": "'b'"]),
                Self.row("other-store", ["line": "4", "store_id": "2"]),
                Self.row("other-import", ["line": "5", "import_id": "'\(Self.otherID)'"]),
            ]
            try await probe.run(Probe.inserting("import_row", rows))
            let found = try await probe.catalog.database.writes.perform {
                try $0.query(
                    ImportStatements.rowsOfProducts,
                    [.text(Self.id), .int4(1), .int8Array([2, 9])]
                ) { try $0.map { try $0.int8(0) } }
            }
            #expect(found.sorted() == [1, 9])
        }
    }
}
