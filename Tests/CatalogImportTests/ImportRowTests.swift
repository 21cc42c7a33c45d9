import Catalog
import JSON
import Testing

@testable import CatalogImport

/// Rows of files with limits, variants of texts, and the findings of their report.
@Suite(.timeLimit(.minutes(15))) struct ImportRowTests {
    private struct Outcome {
        var records: [ImportRecord] = []
        var rejections: [String] = []
        var skipped: [String] = []
        var warnings: [String] = []
    }

    private func read(
        _ text: String,
        _ format: ImportOptions.Format = .csv,
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> Outcome {
        var options = ImportOptions(format: format, store: CatalogKey("s"), currency: Currency("EUR"))
        change(&options)
        var reader = ImportReader(options, currencies: [:])
        var outcome = Outcome()
        func take(_ event: ImportReader.Event) {
            switch event {
            case .header: break
            case .record(let record): outcome.records.append(record)
            case .rejected(let rejection): outcome.rejections.append(rejection.description)
            case .skipped(let column, let value): outcome.skipped.append("\(column)=\(value)")
            }
        }
        try Array(text.utf8).withUnsafeBytes { try reader.read($0, take) }
        try reader.end(take)
        outcome.warnings = reader.warnings
        return outcome
    }

    /// Reads one row between tabs with further columns.
    private func row(_ cells: [(String, String)], _ change: (inout ImportOptions) -> Void = { _ in }) throws -> Outcome
    {
        let all = cells.contains { $0.0 == "sku" } ? cells : [("sku", "a")] + cells
        let named = all.contains { $0.0 == "name" } ? all : [("name", "Tea")] + all
        return try read(
            named.map(\.0).joined(separator: "\t") + "\n" + named.map(\.1).joined(separator: "\t") + "\n",
            .csv
        ) {
            $0.dialect.isQuoted = false
            $0.dialect.separator = .tab
            change(&$0)
        }
    }

    @Test("Each text has a limit in bytes, which the composed text must not exceed")
    func limits() throws {
        for (column, limit) in [
            ("name", 500), ("brand", 200), ("barcode", 64), ("size", 200), ("unit", 64), ("in_stock", 200),
        ] {
            let digits = String(repeating: "1", count: limit)
            let fits = try row([(column, digits)])
            #expect(fits.rejections.isEmpty, "\(column)")
            let record = try #require(fits.records.first)
            #expect(!record.emptied.contains { $0.reason.contains("bytes") })
            let exceeds = try row([(column, digits + "1")])
            let reasons =
                exceeds.rejections
                + exceeds.records.flatMap { record in
                    (record.emptied + [record.unreadableStock].compactMap(\.self)).map(\.description)
                }
            #expect(reasons.contains { $0.hasSuffix("exceeds \(limit) bytes; shorten it") }, "\(column)")
        }
        let composed = try row([("name", String(repeating: "e\u{301}", count: 250))])
        #expect(composed.records.first?.product.name == String(repeating: "\u{E9}", count: 250))
        #expect(try row([("name", String(repeating: "e\u{301}", count: 251))]).records.isEmpty)
    }

    @Test("White space around a text does not count, and line breaks and tabs inside it are one space")
    func whiteSpace() throws {
        let rows = try read("sku,name,brand\n\"\u{A0}a \",\" Tea \t\n green \",\" \n \"\nb,\"x\u{2028}y\",\"a  b\"\n")
        #expect(rows.records.map(\.product.name) == ["Tea green", "x y"])
        #expect(rows.records.map(\.product.sku.text) == ["a", "b"])
        #expect(rows.records.map(\.product.brand) == [nil, "a  b"])
        #expect(
            try read("sku,name\na,\"x\u{1}y\"\n").rejections == [
                "line 2, name: contains a control character; remove it"
            ]
        )
        #expect(try read("sku,name\na,x\u{7F}y\n").records.isEmpty)
    }

    @Test(
        "The marks of spreadsheets around a text do not belong to it",
        arguments: [
            ("sku", "=\"0099\"", "0099"), ("sku", "'0099", "0099"), ("sku", "'a", "'a"), ("sku", "'", "'"),
            ("sku", "'=1", "=1"), ("name", "'0099", "'0099"), ("name", "'=1", "=1"), ("name", "'+1", "+1"),
            ("name", "'-1", "-1"), ("name", "'@x", "@x"), ("name", "=\"\"", "=\"\""), ("name", "=\"a\"", "a"),
            ("name", "=\" a \"", "a"), ("name", "=\"a\"\"b\"", "=\"a\"\"b\""), ("name", "=\"a", "=\"a"),
            ("name", "=1", "=1"),
        ]
    )
    func spreadsheetMarks(_ column: String, _ text: String, _ expected: String) throws {
        let record = try #require(try row([(column, text)]).records.first)
        #expect((column == "sku" ? record.product.sku.text : record.product.name) == expected)
    }

    @Test("A barcode with an apostrophe is its digits")
    func barcodes() throws {
        #expect(try row([("barcode", "'0036000291452")]).records.first?.product.barcode == "0036000291452")
    }

    @Test("A row has at most 50 different shelves, each with titles of limited length and depth")
    func shelves() throws {
        func shelves(_ text: String) throws -> Outcome {
            try row([("shelf", text)]) {
                $0.profile.separators[.shelf] = "|"
                $0.profile.shelfPathSeparator = ">"
            }
        }
        let fifty = (1...50).map { "s\($0)" }
        #expect(try shelves((fifty + ["s1"]).joined(separator: "|")).records.first?.shelves == fifty.map { [$0] })
        #expect(
            try shelves((fifty + ["s51"]).joined(separator: "|")).rejections
                == ["line 2, shelf: has more than 50 shelves"]
        )
        let deepest = (1...Shelf.depthLimit).map { "d\($0)" }
        #expect(try shelves(deepest.joined(separator: ">")).records.first?.shelves == [deepest])
        #expect(try shelves((deepest + ["x"]).joined(separator: ">")).records.isEmpty)
        let longest = String(repeating: "x", count: Shelf.titleLimit)
        #expect(try shelves("a>\(longest)").records.first?.shelves == [["a", longest]])
        #expect(
            try shelves("a>\(longest)y").rejections.first?.hasSuffix("levels of at most \(Shelf.titleLimit) bytes")
                == true
        )
        // Without separators, a text is one title.
        #expect(try row([("shelf", "a > b|c")]).records.first?.shelves == [["a > b|c"]])
        #expect(try row([("shelf", longest)]).records.first?.shelves == [[longest]])
        #expect(try row([("shelf", longest + "y")]).records.isEmpty)
        #expect(try row([("shelf", " ")]).records.first?.shelves == [])
    }

    @Test("Paths with commas between others are reported once, with the first of them")
    func doubtfulPaths() throws {
        let outcome = try read(
            "sku\tname\tshelf\na\tA\tx > y, z > w\nb\tB\tx > y, z\nc\tC\tx, y > z\nd\tD\tq > r > s, t > u\n",
            .csv
        ) {
            $0.dialect.separator = .tab
            $0.profile.separators[.shelf] = "|"
            $0.profile.shelfPathSeparator = ">"
        }
        #expect(
            outcome.warnings == [
                """
                read one shelf where a path has commas, in 2 rows, such as “x > y, z > w” on line 2; if these are several \
                shelves, put quotes around each
                """
            ]
        )
    }

    @Test("Attributes of a product fit into 4096 bytes together")
    func attributes() throws {
        var profile = ImportProfile()
        profile.mapping.attributes = ["a": ColumnSource([["A"]]), "b": ColumnSource([["B"]])]
        func attributes(_ a: String, _ b: String) throws -> ImportRecord {
            let outcome = try read("sku\tname\tA\tB\ns\tS\t\(a)\t\(b)\n", .csv) { $0.profile = profile }
            return try #require(outcome.records.first)
        }
        // {"a":"","b":"y"} has 16 bytes.
        let fits = try attributes(String(repeating: "x", count: 4080), "y")
        #expect(fits.product.attributes.utf8.count == 4096)
        #expect(fits.emptied.isEmpty && fits.hasAttributes)
        let exceeds = try attributes(String(repeating: "x", count: 4081), "y")
        #expect(exceeds.emptied.map(\.column) == ["b"])
        #expect(exceeds.emptied.first?.reason == "attributes of a product have at most 4096 bytes")
        #expect(try attributes(" x ", " ").product.attributes == #"{"a":"x"}"#)
        let control = try attributes("x\u{1}", "y")
        #expect(control.product.attributes == #"{"b":"y"}"#)
        #expect(control.emptied.map(\.description) == ["line 2, a: contains a control character; remove it"])
    }

    @Test(
        "The currency of a new store is that of the row, of the options, of the profile, of the first price, or the euro"
    )
    func currencies() throws {
        func code(_ text: String, _ option: String? = nil, _ profile: String? = nil) throws -> String? {
            try read(text) {
                $0.currency = option.flatMap { Currency($0) }
                $0.profile.currency = profile.flatMap { Currency($0) }
            }.records.first?.currency.code
        }
        let price = "sku\tname\tprice\tpromo_price\na\tA\t5 zł\t\n"
        #expect(try code(price, "PLN", "SEK") == "PLN")
        #expect(try code("sku\tname\na\tA\n", nil, "SEK") == "SEK")
        #expect(try code(price) == "PLN")
        #expect(try code(price.replacing("5 zł\t", with: "\t5 Kč")) == "CZK")
        #expect(try code(price.replacing("5 zł", with: "5 $")) == nil)
        #expect(try code(price.replacing("5 zł", with: "5")) == "EUR")
        #expect(try code("sku\tname\tcurrency\na\tA\tGBP\n", "PLN") == "GBP")
    }

    @Test("A member of an object of JSON has a known name and a value of a known kind, once")
    func objects() throws {
        for (members, reason) in [
            (#""x":1"#, "line 1, x: is not an import column"), (#""x":null"#, nil),
            (#""Name":"B""#, "line 1, Name: is in the row twice"),
            (#""brand":["B"]"#, "line 1, brand: must be a string or a number"),
            (#""brand":{}"#, "line 1, brand: must be a string or a number"), (#""brand":null"#, nil),
            (#""in_stock":false"#, nil),
            (#""tags":["a|b"]"#, "line 1, tags: “\"a|b\"” must be \(Product.tagRule)"),
            (#""tags":[1]"#, "line 1, tags: “1” must be \(Product.tagRule)"), (#""tags":["a","b"]"#, nil),
            (#""attributes":{"o":1}"#, nil), (#""attributes":[1]"#, "line 1, attributes: must be a string or a number"),
        ] as [(String, String?)] {
            let outcome = try read("{\"sku\":\"a\",\"name\":\"A\",\(members)}\n", .ndjson)
            #expect(outcome.rejections == [reason].compactMap(\.self), "\(members)")
            #expect(outcome.records.count == (reason == nil ? 1 : 0))
        }
        let full = try read(
            #"{"sku":1.50,"name":"A","in_stock":false,"tags":["a","b c"],"attributes":{"o":1},"price":2,"x":null}"#,
            .ndjson
        )
        let product = try #require(full.records.first).product
        #expect(product.sku.text == "1.50" && !product.inStock && product.tags == ["a", "b c"])
        #expect(product.attributes == #"{"o":1}"# && product.priceMinor == 200)
        #expect(full.records.first?.hasAttributes == true)
        let bare = try read(#"{"sku":"a","name":"A"}"#, .ndjson)
        #expect(bare.records.first?.hasAttributes == false, "the stored attributes stay")
        #expect(try read("[1]\n{\"sku\":\"a\",\"name\":\"A\"}", .ndjson).rejections == ["line 1: is not a JSON object"])
        let unknown = try read(#"{"sku":"a","name":"A","x":1}"#, .ndjson) { $0.profileName = "p" }
        #expect(unknown.records.count == 1 && unknown.rejections.isEmpty)
    }

    @Test("Of several elements with one name the first counts, unless the column has a separator")
    func elements() throws {
        let text = """
            <a><item><sku>a</sku><name>A</name><name>B</name><tags>x</tags><tags>y</tags><g:brand>G</g:brand>\
            <size><value>5 g</value></size></item><x:entry><g:sku>b</g:sku><sku>c</sku><name href="h"/></x:entry></a>
            """
        let outcome = try read(text, .xml) {
            $0.profile.separators[.tags] = ","
            $0.profile.mapping.columns[.size] = ColumnSource([["size.value"]])
        }
        let first = try #require(outcome.records.first)
        #expect(first.product.name == "A" && first.product.tags == ["x", "y"] && first.product.brand == "G")
        #expect(first.product.size?.baseQuantity == ExactDecimal(5))
        let second = try #require(outcome.records.last)
        #expect(second.product.sku.text == "c" && second.product.name == "h")
        #expect(outcome.records.count == 2)
    }

    @Test("A record of XML has at most 1024 elements and a megabyte")
    func largeRecords() throws {
        func item(_ count: Int, _ text: String = "") -> String {
            "<item><sku>a</sku><name>A</name><x>\(text)</x>" + String(repeating: "<y/>", count: count - 3) + "</item>"
        }
        let outcome = try read(
            "<r>\(item(1024))\(item(1025))\(item(4, String(repeating: "x", count: 1 << 20)))\(item(4))</r>",
            .xml
        )
        #expect(outcome.records.count == 2)
        #expect(
            outcome.rejections
                == Array(repeating: "line 1: the record exceeds 1048576 bytes or 1024 elements", count: 2)
        )
    }

    // MARK: - Findings

    private func record(_ change: (inout ImportRecord) -> Void = { _ in }) throws -> ImportRecord {
        var record = ImportRecord(
            line: 7,
            store: try #require(CatalogKey("s")),
            shelves: [["Tea"]],
            currency: try #require(Currency("EUR")),
            product: Product(sku: try #require(SKU("a")), name: "A", priceMinor: 100),
            position: nil
        )
        record.product.size = try Size(amount: ExactDecimal(1), unit: .kg)
        change(&record)
        return record
    }

    @Test("Each finding of a row is counted")
    func findings() throws {
        let shelf = try #require(CatalogKey("tea"))
        func counts(_ change: (inout ImportRecord) -> Void) throws -> [String: Int] {
            var (findings, summary) = (RowFindings(previewLimit: 0), ImportSummary())
            findings.add(try record(change), on: shelf, .eu, to: &summary)
            findings.end(&summary)
            return Dictionary(uniqueKeysWithValues: summary.counts.filter { $0.count != 0 }.map { ($0.name, $0.count) })
        }
        let rejection = ImportRejection(line: 7, column: "x", reason: "is wrong")
        #expect(try counts { _ in } == [:])
        #expect(try counts { $0.product.size = nil } == ["sizes_unknown": 1])
        #expect(try counts { ($0.product.size, $0.hasSizes) = (nil, false) } == [:])
        let approximate = try Size(amount: ExactDecimal(1), unit: .kg, isApproximate: true)
        #expect(try counts { $0.product.size = approximate } == ["sizes_approximate": 1])
        #expect(try counts { $0.hasComputedSize = true } == ["sizes_computed": 1])
        #expect(try counts { $0.sizeDifference = rejection } == ["sizes_different": 1])
        #expect(try counts { $0.emptied = [rejection, rejection] } == ["fields_emptied": 2])
        #expect(
            try counts { $0.unreadableAttributes = ["a": rejection, "b": rejection] } == ["attributes_unreadable": 2]
        )
        #expect(try counts { $0.mistypedAttributes = ["a": rejection] } == [:])
        #expect(try counts { $0.roundedDecimals = 3 } == ["decimals_rounded": 3])
        #expect(try counts { $0.wasRounded = true } == ["prices_rounded": 1])
        #expect(try counts { $0.product.priceMinor = nil } == ["prices_unknown": 1])
        #expect(try counts { ($0.product.priceMinor, $0.hasPrices) = (nil, false) } == [:])
        #expect(try counts { $0.product.priceMinor = 0 } == ["prices_zero": 1])
        let suspicious = try #require(SKU("123456000000"))
        #expect(try counts { $0.product.sku = suspicious } == ["skus_suspicious": 1])
        #expect(try counts { $0.promotion = .future } == ["promotions_future": 1])
        #expect(try counts { $0.promotion = .expired } == ["promotions_expired": 1])
        #expect(try counts { $0.ignoredImages = 4 } == ["images_ignored": 4])
        #expect(try counts { $0.unreadableStock = rejection } == ["stock_kept": 1])
    }

    @Test(
        "Prices and sizes are unknown only in a file that has them",
        arguments: [
            ("", false, false), ("\tprice", true, false), ("\tpromo_price", true, false), ("\tsize", false, true),
            ("\tprice\tsize", true, true), ("\tunit", false, false),
        ]
    )
    func missingColumns(_ columns: String, _ hasPrices: Bool, _ hasSizes: Bool) throws {
        let blanks = columns.filter { $0 == "\t" }
        let record = try #require(try read("sku\tname\(columns)\na\tA\(blanks)\n").records.first)
        var (findings, summary) = (RowFindings(previewLimit: 1), ImportSummary())
        findings.add(record, on: nil, .eu, to: &summary)
        findings.end(&summary)
        #expect(summary.pricesUnknown == (hasPrices ? 1 : 0))
        #expect(
            summary.sizesUnknown == (hasSizes ? 1 : 0) && summary.unknownSizes.mostFrequent.count == (hasSizes ? 1 : 0)
        )
        let description = try #require(summary.preview.first).description
        #expect(description.contains("no price") == hasPrices && description.contains("no size") == hasSizes)
    }

    @Test("With sizes from names, and in rows that name their columns, a missing size or price is unknown")
    func missingSizesOfNames() throws {
        let named = try read("sku,name\na,A\n") { $0.profile.readsSizeFromName = true }
        #expect(named.records.map(\.hasSizes) == [true] && named.records.map(\.hasPrices) == [false])
        let lines = try read(#"{"sku":"a","name":"A"}"#, .ndjson)
        #expect(lines.records.map(\.hasSizes) == [true] && lines.records.map(\.hasPrices) == [true])
    }

    @Test("The report has the first row of each finding, and the first products")
    func reports() throws {
        var (findings, summary) = (RowFindings(previewLimit: 2), ImportSummary())
        for line in 1...3 {
            let record = ImportRecord(
                line: line,
                store: try #require(CatalogKey("s")),
                shelves: [],
                currency: try #require(Currency("EUR")),
                product: Product(sku: try #require(SKU("123456000000")), name: "A\(line)", priceMinor: 0),
                sizeDifference: ImportRejection(line: line, column: "size", reason: "differs"),
                position: nil
            )
            findings.add(record, on: nil, .eu, to: &summary)
        }
        findings.skip(column: "Status", value: "draft", in: &summary)
        findings.skip(column: "Status", value: "", in: &summary)
        findings.skip(column: "Status", value: "draft", in: &summary)
        findings.skip(column: String(repeating: "c", count: 30), value: String(repeating: "v", count: 30), in: &summary)
        findings.end(&summary)
        #expect(summary.preview.map(\.line) == [1, 2])
        #expect(
            summary.skipped == 4 && summary.sizesUnknown == 3 && summary.unknownSizes.mostFrequent.map(\.count) == [3]
        )
        #expect(
            summary.warnings == [
                "sizes differ from names in 3 rows: line 1, size: differs",
                """
                skipped 4 rows that the profile excludes: Status “draft” (2), \
                \(String(repeating: "c", count: 24)) “\(String(repeating: "v", count: 24))” (1), no Status (1)
                """,
                "price 0 in 3 rows, first on line 1",
                "sku that ends in zeros, as if a spreadsheet had rounded it, in 3 rows, first on line 1",
            ]
        )
    }

    // MARK: - Rows of purchases and prices

    @Test("Members of a body are of the kind of their column")
    func bodies() throws {
        let columns = ["sku", "price"]
        func rows(_ text: String, limit: Int = 2) -> String {
            do {
                let value = try JSONReader.parse(Array(text.utf8))
                guard case .array(let elements) = value else { return "no array" }
                let rows = try elements.rows(limit: limit, columns: columns, numbers: ["price"]) { row in row }
                return rows.map { "\($0.line) \($0.text("sku") ?? "-") \($0.text("price") ?? "-")" }.joined(
                    separator: "; "
                )
            } catch let error as CatalogError {
                return "\(error.reason)"
            } catch { return "\(error)" }
        }
        #expect(rows(#"[{"sku":" a ","price":1.5e1},{"sku":null}]"#) == "0 a 15; 1 - -")
        #expect(rows("[]", limit: 0) == "")
        #expect(rows(#"[{},{},{}]"#) == "the body has 3 elements; the maximum is 2")
        #expect(rows(#"[{},{"x":1}]"#) == "unknown property “[1].x”")
        #expect(rows("[1]") == "[0]: is not a JSON object")
        #expect(rows(#"[{"sku":1}]"#) == "[0].sku: must be a string")
        #expect(rows(#"[{"price":"1"}]"#) == "[0].price: must be a number")
        #expect(rows(#"[{"sku":true}]"#) == "[0].sku: must be a string or a number")
        #expect(rows(#"[{"price":[1]}]"#) == "[0].price: must be a string or a number")
    }

    @Test("A price of a row is read by the marks of its file, and a number of JSON has a point")
    func prices() throws {
        let euro = try #require(Currency("EUR"))
        var comma = DecimalEvidence()
        comma.add("1,5")
        let text = NamedRow(line: 4, ["price": " 1.234 "], decimals: comma)
        #expect(try text.price("price", in: euro) == ExactDecimal(1234))
        let number = try NamedRow(
            line: 4,
            .object([JSONValue.Member("price", .number("1.234"))]),
            columns: ["price"],
            decimals: comma
        )
        #expect(try number.price("price", in: euro) == ExactDecimal(1234, scale: 3))
        #expect(text.has("price") && !text.has("sku"))
        let missing = #expect(throws: ImportRejection.self) { try text.price("sku", in: euro) }
        #expect(missing?.description == "line 4, sku: is missing")
        let wrong = #expect(throws: ImportRejection.self) {
            try NamedRow(line: 4, ["price": "x"]).price("price", in: euro)
        }
        #expect(wrong?.description == "line 4, price: “x” is not an amount such as 1.99 or 1,99")
        let rounded = #expect(throws: ImportRejection.self) { try NamedRow(line: 4, ["sku": "4.0E+12"]).sku() }
        #expect(rounded?.reason == SKUText.roundedReason)
        #expect(try NamedRow(line: 1, ["sku": "e\u{301}"]).sku().text == "\u{E9}")
    }
}
