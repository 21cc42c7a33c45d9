import Catalog
import JSON
import Testing

@testable import CatalogImport

/// The parts from which an import puts a row together.
@Suite struct RowPartsTests {
    // MARK: - Lists in cells

    @Test(
        "A list has quotes around values with commas",
        arguments: [
            ("a,b", nil), ("\"a\"", ["a"]), ("\"a, b\",c", ["a, b", "c"]), (" \"a\" , b ", ["a", "b"]),
            ("a,\"b\"", ["a", "b"]), ("\"a \"\"b\"\"\"", ["a \"b\""]), ("\"a\"b", nil), ("a\"b", nil), ("\"a", nil),
            ("\"\",\"b\"", ["b"]), ("\"\",b", ["b"]), ("\"a\",,\"b\",", ["a", "b"]), ("\" \",\"b\"", ["b"]),
            ("\"\"\"\"", ["\""]),
        ] as [(String, [String]?)]
    )
    func quotedValues(_ text: String, _ expected: [String]?) {
        #expect(ImportRecordReader.quotedValues(text) == expected)
    }

    @Test(
        "A text is split at a separator that no backslash precedes",
        arguments: [
            (" a > b ", nil, ["a > b"]), ("  ", nil, []), ("a>b", ">", ["a", "b"]), (" a > > b >", ">", ["a", "b"]),
            (#"a\>b > c"#, ">", ["a>b", "c"]), (#"a\b>c"#, ">", [#"a\b"#, "c"]), ("a :: b:c", "::", ["a", "b:c"]),
            (#"\> > "#, ">", [">"]),
        ] as [(String, String?, [String])]
    )
    func parts(_ text: String, _ separator: String?, _ expected: [String]) {
        #expect(ImportRecordReader.parts(text, separator) == expected)
    }

    // MARK: - Variants

    private func cell(_ texts: [Int: String]) -> (Int) -> String? { { texts[$0] } }

    @Test("Without keys, the first of the rows with one reference is the product")
    func variantsByReference() throws {
        var table = VariantTable(usesKeys: false)
        table.set(reference: 0, "Handle", keys: [], inherited: [1, 2])
        #expect(Set(table.columns) == [0, 1, 2])
        #expect(try table.product(of: 1, cell([0: " tea ", 1: " Tea ", 2: " ", 3: "x"])) == nil)
        #expect(try table.product(of: 2, cell([0: "tea", 1: "Other"])) == [1: "Tea"])
        #expect(try table.product(of: 3, cell([0: "tea"])) == [1: "Tea"])
        #expect(try table.product(of: 4, cell([0: "jam", 2: "Jam"])) == nil)
        #expect(try table.product(of: 5, cell([0: "tea"])) == nil, "its product is too far above")
        #expect(try table.product(of: 6, cell([0: ""])) == nil)
        #expect(try table.product(of: 7, cell([0: ""])) == nil, "rows without a reference are products")
        #expect(try table.product(of: 8, cell([:])) == nil)
    }

    @Test("With keys, a reference names a product above it")
    func variantsByKey() throws {
        var table = VariantTable(usesKeys: true)
        table.set(reference: 0, "Parent", keys: [(column: 1, prefix: ""), (column: 2, prefix: "id:")], inherited: [3])
        #expect(Set(table.columns) == [0, 1, 2, 3])
        #expect(try table.product(of: 1, cell([1: " T1 ", 2: "7", 3: " Tea "])) == nil)
        #expect(try table.product(of: 2, cell([0: " ", 1: "T2", 2: " ", 3: ""])) == nil)
        #expect(try table.product(of: 3, cell([0: " T1 ", 3: "Own"])) == [0: "T1", 3: "Tea"])
        #expect(try table.product(of: 4, cell([0: "id:7"])) == [0: "T1", 3: "Tea"], "one reference for all variants")
        #expect(try table.product(of: 5, cell([0: "T2"])) == [0: "T2"])
        #expect(try table.product(of: 5, cell([2: "8", 3: "Jam"])) == nil)
        #expect(try table.product(of: 5, cell([0: "id:8"])) == [0: "id:8", 3: "Jam"])
        for reference in ["7", "id:", "id:T1", "t1"] {
            let rejection = #expect(throws: ImportRejection.self) { try table.product(of: 6, cell([0: reference])) }
            #expect(rejection?.line == 6 && rejection?.column == "Parent" && rejection?.value == reference)
        }
    }

    // MARK: - Columns

    @Test("A file has the columns of the profile, and others that it does not use")
    func columns() throws {
        var profile = ImportProfile()
        profile.mapping.columns[.price] = ColumnSource([["Preis", "Cent"], ["Cost"]])
        profile.mapping.columns[.brand] = ColumnSource([["Marke"]])
        profile.mapping.columns[.unit] = ColumnSource([], constant: "g")
        profile.mapping.attributes["origin"] = ColumnSource([["Origin"]])
        var columns = FileColumns(profile)
        try columns.setHeader(["SKU", "Name", "Preis", "Cost", "cent", "Origin", "Extra", ""])
        #expect(columns.hasHeader)
        #expect(columns.found == [.sku, .name, .price, .unit, .attributes])
        #expect(columns.indexes(of: .price) == [2, 4, 3])
        #expect(columns.index(of: .price) == nil)
        #expect(columns.index(of: .sku) == 0)
        #expect(columns.index(of: .unit) == nil && columns.indexes(of: .brand) == [])
        #expect(columns.title(of: .price) == "Preis cent")
        #expect(columns.title(of: .unit) == nil)
        #expect(columns.unused == ["Extra"])
        #expect(columns.missing == ["brand"])
        #expect(columns.attributeNames(of: CatalogKey("s")!) == ["origin"])
        #expect(columns.amounts == [2: [.price], 3: [.price], 4: [.price]])
        #expect(!columns.hasConditions)
        var row = [2: "1", 3: "3", 4: "50"]
        #expect(columns.resolved.text(.price, cell(row)) == "1 50")
        row[4] = " "
        #expect(columns.resolved.text(.price, cell(row)) == "1")
        row[2] = "\t"
        #expect(columns.resolved.text(.price, cell(row)) == "3")
        #expect(columns.resolved.text(.unit, cell(row)) == "g")
        #expect(columns.resolved.text(.brand, cell(row)) == nil)
    }

    @Test("A column that is read must not occur twice, and one that is required must be there")
    func invalidHeaders() {
        var profile = ImportProfile()
        var columns = FileColumns(profile)
        let twice = #expect(throws: CatalogError.self) { try columns.setHeader(["sku", "name", "SKU"]) }
        #expect("\(twice!)".contains("the file has the column “sku” 2 times; keep only one"))
        #expect(throws: Never.self) { try columns.setHeader(["sku", "name", "x", "x"]) }
        profile.mapping.columns[.price] = ColumnSource("Preis")
        columns = FileColumns(profile)
        let missing = #expect(throws: CatalogError.self) { try columns.setHeader(["sku", "name"]) }
        #expect(
            "\(missing!)".contains(
                "the file has no column “Preis”, which is mapped to price. Columns of the file: sku, name"
            )
        )
    }

    @Test("Rows that name their columns have the known ones, and those of the profile that they name")
    func namedColumns() throws {
        var profile = ImportProfile()
        profile.mapping.columns[.price] = ColumnSource("Preis")
        profile.mapping.columns[.tags] = ColumnSource([["tag*"]])
        for readsAll in [true, false] {
            var columns = FileColumns(profile, hasNamedProfile: !readsAll)
            columns.setNoHeader()
            #expect(!columns.hasHeader)
            #expect(columns.index(of: "preis") != nil && columns.index(of: "PREIS") == columns.index(of: "preis"))
            #expect(columns.index(of: "other") == nil && columns.index(of: "other") == nil)
            #expect(columns.index(of: "sku") != nil)
            let number = columns.index(of: "tag_1")
            let tag = try #require(number)
            #expect(columns.titles[tag] == "tag_1")
            #expect(columns.resolved.text(.tags, cell([tag: "new"])) == "new")
            #expect(columns.index(of: "tag" + String(repeating: "x", count: 197)) != nil)
            #expect(columns.index(of: "tag" + String(repeating: "x", count: 198)) == nil)
            #expect(throws: Never.self) { try columns.checkRequired() }
        }
        var columns = FileColumns(profile)
        columns.setNoHeader()
        let missing = #expect(throws: CatalogError.self) { try columns.checkRequired() }
        #expect("\(missing!)".contains("no row has “Preis”, which is mapped to price"))
        #expect(columns.missing == ["price", "tags"])
        _ = columns.index(of: "Preis")
        #expect(columns.missing == ["tags"])
    }

    @Test("A source takes the first alternative with a text, the part that counts, or its constant")
    func sources() throws {
        func text(_ source: ColumnSource, _ row: [Int: String], titles: [String] = ["A", "B", "C"]) throws -> String? {
            var profile = ImportProfile()
            profile.mapping.columns[.brand] = source
            var columns = FileColumns(profile)
            try columns.setHeader(titles)
            return columns.resolved.text(.brand, cell(row))
        }
        let plain = ColumnSource([["A"]], constant: "x")
        #expect(try text(plain, [0: " a "]) == " a ")
        #expect(try text(plain, [0: " "]) == "x" && text(plain, [:]) == "x")
        let ignoring = ColumnSource([["A"], ["B"]], ignoring: ["None"], constant: "x")
        #expect(try text(ignoring, [0: " NONE ", 1: "b"]) == "b" && text(ignoring, [0: "none"]) == "x")
        let joined = ColumnSource([["A", "B"], ["C"]], ignoring: ["-"])
        #expect(try text(joined, [0: "a ", 1: " b"]) == "a b" && text(joined, [0: "a", 1: "-"]) == "a")
        #expect(try text(joined, [0: "-", 1: "b", 2: "c"]) == "c" && text(joined, [1: "b"]) == nil)
        var first = ColumnSource([["A"]], constant: "x")
        first.part = .first(of: ",")
        #expect(try text(first, [0: " , a, b"]) == "a" && text(first, [0: " , "]) == "x")
        first.part = .last(of: ",")
        #expect(try text(first, [0: "a, b ,"]) == "b")
        first.part = .all(",")
        #expect(try text(first, [0: "a, b"]) == "a, b")
        var lines = ColumnSource([["A"]])
        lines.lineBreak = "#"
        #expect(try text(lines, [0: "a#b\\#c"]) == "a\nb#c")
        let conditional = ColumnSource([["A"]], when: [RowCondition(["B", "C"], ["yes"])], constant: "x")
        #expect(
            try text(conditional, [0: "a", 1: "YES"]) == "a" && text(conditional, [0: "a", 1: "no", 2: "yes"]) == "x"
        )
        #expect(try text(conditional, [0: "a", 1: " ", 2: "yes"]) == "a" && text(conditional, [0: "a"]) == "x")
        // Without the column of the condition, the condition holds; without its own column, the source has no constant.
        #expect(try text(conditional, [0: "a"], titles: ["A"]) == "a")
        #expect(try text(conditional, [1: "yes"], titles: ["X", "B"]) == nil)
        #expect(try text(plain, [:], titles: ["X"]) == "x")
    }

    @Test("A row is skipped for a condition that it, or its product, does not meet")
    func conditions() throws {
        var profile = ImportProfile()
        profile.rows = [
            RowCondition(["Status"], ["active"]), RowCondition(["Missing"], ["x"]),
            RowCondition(["Type", "Kind"], ["", "food"]),
        ]
        var columns = FileColumns(profile)
        try columns.setHeader(["sku", "name", "Status", "Type", "Kind"])
        #expect(columns.hasConditions)
        func reason(_ row: [Int: String], _ product: [Int: String]? = nil) -> String? {
            columns.reasonToSkip(cell(row), product).map { "\($0.column)=\($0.value)" }
        }
        #expect(reason([2: "Active"]) == nil)
        #expect(reason([:]) == "Status=")
        #expect(reason([2: " draft "]) == "Status=draft")
        #expect(reason([2: "active", 3: " ", 4: "tool"]) == "Kind=tool")
        #expect(reason([2: "active", 3: "food", 4: "tool"]) == nil)
        #expect(reason([2: "active"], [2: "draft"]) == "Status=draft")
        #expect(reason([:], [2: "active"]) == nil)
        #expect(reason([2: "draft"], [2: "active"]) == "Status=draft")
        #expect(columns.unused == [])
    }

    // MARK: - Stores and forms

    @Test("The key of a store is parsed once for rows that follow each other")
    func storeKeys() {
        var stores = StoreCurrencies(currencies: [:])
        #expect(stores.key("a")?.text == "a" && stores.key("a")?.text == "a")
        #expect(stores.key("b")?.text == "b" && stores.key("A") == nil && stores.key("b")?.text == "b")
    }

    @Test("The facts about a store and a shelf decide the meaning of sizes")
    func sizeContexts() {
        let (a, b) = (CatalogKey("a")!, CatalogKey("b")!)
        var contexts = SizeContexts()
        contexts.add(a, pricing: .us, locale: "EN-us")
        contexts.add(.volume, of: "drinks", in: a)
        #expect(contexts.context(of: a, shelf: nil) == SizeText.Context(pricing: .us, language: "en"))
        #expect(
            contexts.context(of: a, shelf: "drinks")
                == SizeText.Context(pricing: .us, language: "en", dimension: .volume)
        )
        #expect(contexts.context(of: a, shelf: "other") == SizeText.Context(pricing: .us, language: "en"))
        #expect(contexts.context(of: b, shelf: "drinks") == SizeText.Context())
        #expect(SizeText.Context().pricing == .eu)
    }

    @Test("Field names lose their prefix, and XML is escaped")
    func fieldRecords() {
        #expect(
            FieldRecord.localName("g:id") == "id" && FieldRecord.localName("a:b:c") == "c"
                && FieldRecord.localName("id") == "id"
        )
        var record = FieldRecord(line: 1)
        record.add("a", "1 < 2 & 3 > 2")
        record.add("a", "&amp;")
        #expect(record.content == "<a>1 &lt; 2 &amp; 3 &gt; 2</a><a>&amp;amp;</a>")
    }

    @Test(
        "A letter without an accent in ASCII is spelled out in keys of shelves",
        arguments: [
            ("абвгдежзиклмнопрстуфхцчшщъыьэюя", "abvgdezhziklmnoprstufkhtschshshchyeyuya"), ("ЙЁЇ", "iei"),
            ("ієґјљњћђџ", "iyegjljnjcddz"), ("ßæœøđðþłı", "ssaeoeoddthli"), ("Молоко 3,2 %", "moloko-3-2"),
            (String(repeating: "a", count: 59) + "  b", String(repeating: "a", count: 59)),
            (String(repeating: "a", count: 58) + " bc", String(repeating: "a", count: 58) + "-b"),
            (String(repeating: "a", count: 61), String(repeating: "a", count: 60)), ("a--b", "a-b"), ("", "shelf"),
        ]
    )
    func slugs(_ title: String, _ expected: String) { #expect(ShelfKeyGenerator.slug(title) == expected) }

    @Test("The number of a key is the next free one, and makes room for itself")
    func numberedKeys() throws {
        let taken = ["milk", "milk-2"].map { (key: CatalogKey($0)!, title: $0.uppercased(), parent: CatalogKey?.none) }
        var generator = ShelfKeyGenerator(existing: taken)
        #expect(generator.existingKeys == ["milk", "milk-2"])
        #expect(generator.key(for: "Milk").text == "milk-3")
        #expect(generator.key(for: "milk!").text == "milk-4")
        #expect(generator.key(for: "MILK-2").text == "milk-2", "the title of a shelf")
        #expect(generator.key(for: "milk-4").text == "milk-4", "the key of a new shelf")
        #expect(generator.created.map(\.key.text) == ["milk-3", "milk-4"])
        let long = String(repeating: "a", count: 64)
        #expect(generator.key(for: long).text == long)
        #expect(generator.key(for: [long]).text == long)
        var other = ShelfKeyGenerator(existing: [(CatalogKey(long)!, "Other", nil)], usesPaths: true)
        #expect(other.key(for: ["Other"]).text == long && other.key(for: [long]).text == long)
        #expect(ShelfKeyGenerator.derives("milk", from: "milk") && !ShelfKeyGenerator.derives("milk", from: "milk "))
        #expect(!ShelfKeyGenerator.derives("milk", from: "mi\u{7}lk") && !ShelfKeyGenerator.derives("shelf", from: ""))
    }
}
