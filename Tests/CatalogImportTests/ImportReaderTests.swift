import Catalog
import CatalogImport
import CatalogJSON
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct ImportReaderTests {
    private struct Outcome {
        var records: [ImportRecord] = []
        var rejections: [String] = []
        var warnings: [String] = []
        var titles: [ImportColumn: String] = [:]
    }

    private func read(
        _ text: String,
        _ format: ImportOptions.Format = .csv,
        store: String? = "s",
        currencies: [CatalogKey: Currency] = [:],
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> Outcome {
        var options = ImportOptions(format: format, store: store.flatMap { CatalogKey($0) }, currency: Currency("EUR")!)
        change(&options)
        var reader = ImportReader(options, currencies: currencies)
        var outcome = Outcome()
        func take(_ event: ImportReader.Event) {
            switch event {
            case .record(let record): outcome.records.append(record)
            case .rejected(let rejection):
                outcome.rejections.append("\(rejection.line) \(rejection.column ?? "") \(rejection.reason)")
            case .header(let titles): outcome.titles = titles
            case .skipped: break
            }
        }
        try Array(text.utf8).withUnsafeBytes { try reader.read($0) { take($0) } }
        try reader.end { take($0) }
        outcome.warnings = reader.warnings
        return outcome
    }

    @Test(
        "A barcode that a spreadsheet rounded, or without digits, is left empty and reported",
        arguments: ["3,85E+12", "3.85e+12", "N/A", "0", "-", "000000", "4006380000000", "4006381333931.0"]
    )
    func barcodes(_ text: String) throws {
        let outcome = try read("sku,name,barcode\na,A,\"\(text)\"\nb,B,4006381333931\n")
        #expect(outcome.records.map(\.product.barcode) == [nil, "4006381333931"])
        #expect(outcome.records.map { $0.emptied.map(\.value) } == [[text], []])
    }

    @Test("The formula by which spreadsheets keep digits as text is read as the text")
    func textFormulas() throws {
        let outcome = try read(
            "sku,name,barcode\n\"=\"\"0099\"\"\",\"=\"\"A\"\"&\"\"B\"\"\",\"=\"\"0036000291452\"\"\"\n"
        )
        #expect(outcome.records.map(\.product.sku.text) == ["0099"])
        #expect(outcome.records.map(\.product.barcode) == ["0036000291452"])
        #expect(outcome.records.map(\.product.name) == ["=\"A\"&\"B\""])
    }

    @Test("The header shows the file's name of each column, whichever of its names the options list first")
    func headerNamesColumns() throws {
        let outcome = try read("sku,name,Section\na,A,Dairy\n") {
            $0.profile.mapping.columns[.shelf] = ColumnSource([["Abteilung"], ["section"]])
        }
        #expect(outcome.titles == [.sku: "sku", .name: "name", .shelf: "Section"])
    }

    @Test("A row becomes a checked record")
    func readsRows() throws {
        let outcome = try read(
            """
            shelf,sku,name,brand,price,promo_price,size,unit,pack_count,in_stock,tags,popularity,position,barcode,image_url,group
            Dairy,a,Milk,Ärla,1.29,0.99,500,ml,6,false,new|cold|new,3,1/3,40123,https://x/y.png,Milk 3.5 %

            """
        )
        #expect(outcome.rejections == [])
        let record = try #require(outcome.records.first)
        #expect(record.line == 2)
        #expect(record.store.text == "s")
        #expect(record.shelves == [["Dairy"]])
        #expect(record.product.sku.text == "a")
        #expect(record.product.priceMinor == 99)
        #expect(record.product.regularPriceMinor == 129)
        #expect(record.product.size?.packs == 6)
        #expect(record.product.size?.unit == .ml)
        #expect(!record.product.inStock)
        #expect(record.product.tags == ["new", "cold"])
        #expect(record.product.barcode == "40123")
        #expect(record.product.imageURL == "https://x/y.png")
        #expect(record.product.group == "Milk 3.5 %")
    }

    @Test("A column with the title of groups is not read as the group if the mapping reads it as something else")
    func mappedGroupTitle() throws {
        let text = "sku,name,Group\na,A,Tea\n"
        let plain = try read(text)
        #expect(plain.records.map(\.product.group) == ["Tea"] && plain.titles[.group] == "Group")
        let shelves = try read(text) { $0.profile.mapping.columns[.shelf] = ColumnSource("Group") }
        #expect(shelves.records.map(\.product.group) == [nil] && shelves.records.map(\.shelves) == [[["Tea"]]])
        #expect(shelves.titles[.group] == nil)
        let attribute = try read(text) { $0.profile.mapping.attributes["kind"] = ColumnSource("Group") }
        #expect(attribute.records.map(\.product.group) == [nil])
        let both = try read(text) {
            $0.profile.mapping.columns[.shelf] = ColumnSource("Group")
            $0.profile.mapping.columns[.group] = ColumnSource("Group")
        }
        #expect(both.records.map(\.product.group) == ["Tea"] && both.records.map(\.shelves) == [[["Tea"]]])
        let named = try read(#"{"sku":"a","name":"A","Group":"Tea"}"# + "\n", .ndjson) {
            $0.profile.mapping.columns[.shelf] = ColumnSource("Group")
        }
        #expect(named.records.map(\.product.group) == [nil] && named.records.map(\.shelves) == [[["Tea"]]])
    }

    @Test("A key of a group that is too long is left empty and reported")
    func longGroups() throws {
        let key = String(repeating: "g", count: ProductText.group.limit)
        let outcome = try read("sku,name,group\na,A,\(key)\nb,B,\(key)g\n")
        #expect(outcome.rejections == [] && outcome.records.map(\.product.group) == [key, nil])
        #expect(outcome.records.map { $0.emptied.map(\.column) } == [[], ["group"]])
    }

    @Test("A row with all columns of an export sets every field that clients set")
    func setsEveryField() throws {
        var cells: [ImportColumn: String] = [
            .store: "s", .shelf: "Cans", .sku: "complete", .name: "Tuna, drained", .price: "1.99", .promoPrice: "1.69",
            .currency: "EUR", .size: "~185", .unit: "g", .packCount: "2", .drained: "140", .popularity: "3",
            .inStock: "false", .tags: "fish|sale", .position: "1", .attributes: #"{"origin":"PT"}"#,
        ]
        for text in ProductText.allCases { cells[text.column] = Product.complete[text] }
        let columns = ImportColumn.exported
        let row = try columns.map { column in
            let cell = try #require(cells[column], "the test has no value for \(column.columnName)")
            return "\"\(cell.replacing("\"", with: "\"\""))\""
        }
        let header = columns.map(\.columnName).joined(separator: ",")
        let outcome = try read("\(header)\n\(row.joined(separator: ","))\n")
        #expect(outcome.rejections == [])
        let product = try #require(outcome.records.first).product
        #expect(product == Product.complete.withServerFields(of: product))
    }

    @Test(
        "An invalid value is rejected with its line and column",
        arguments: [
            ("a,Milk,x", "2 price is not an amount such as 1.99 or 1,99"),
            ("a,Milk,-1", "2 price must be 0 or more and less than 10^12 minor units"),
            ("a,Milk,99999999999", "2 price must be 0 or more and less than 10^12 minor units"),
            ("a,,1", "2 name is missing"), (",Milk,1", "2 sku is missing"),
            ("a/b,Milk,1", "2 sku must be \(SKU.rule)"),
            ("a,Milk", "2  the row has 2 columns, the header 3; quote values that contain the separator"),
            ("a,Mi\u{7}lk,1", "2 name contains a control character; remove it"),
        ]
    )
    func rejects(_ row: String, _ expected: String) throws {
        let outcome = try read("sku,name,price\n\(row)\n")
        #expect(outcome.rejections == [expected])
        #expect(outcome.records.isEmpty)
    }

    @Test(
        "Invalid values of other columns are rejected",
        arguments: [
            ("currency", "EURO", "must be an ISO 4217 code such as EUR"),
            ("store", "Not A Key", "must be \(CatalogKey.rule)"),
            ("tags", "a\u{0}b", "contains a control character"),
            ("popularity", "-1", "must be a number from 0 to 10^9"), ("pack_count", "0", "must be a whole number"),
            ("position", "x", ""),
        ]
    )
    func rejectsOtherColumns(_ column: String, _ value: String, _ reason: String) throws {
        let outcome = try read("sku,name,size,unit,\(column)\na,Milk,1,l,\(value)\n")
        #expect(outcome.records.isEmpty)
        let rejection = try #require(outcome.rejections.first)
        #expect(rejection.hasPrefix("2 \(column)"))
        #expect(rejection.contains(reason.prefix(9)))
    }

    @Test(
        "An invalid value of an optional column is left empty, and the row is imported",
        arguments: [
            ("image_url", "ftp://x/y.png", "must be \(Product.imageURLRule)"),
            ("promo_price", "0.00", "must be more than 0; leave it empty for no promotion"),
            ("image_url", "https://x/" + String(repeating: "y", count: 3000), "bytes; shorten it"),
            ("promo_price", "2.01", "must not exceed the price"),
        ]
    )
    func emptiesOptionalColumns(_ column: String, _ value: String, _ reason: String) throws {
        let outcome = try read("sku,name,price,\(column)\na,Milk,2.00,\(value)\n")
        #expect(outcome.rejections.isEmpty)
        let record = try #require(outcome.records.first)
        #expect(record.product.imageURL == nil && record.product.inStock)
        #expect(record.product.priceMinor == 200 && record.product.regularPriceMinor == nil)
        #expect(record.emptied.map(\.column) == [column])
        #expect(record.emptied.first?.reason.hasSuffix(reason) == true)
    }

    @Test(
        "The noise of binary floating point is rounded and counted; other decimals stay exact",
        arguments: [
            ("0.30000000000000004", "0.3", 1), ("0.7999999999999999", "0.8", 1), ("28.349523125", "28.349523125", 0),
            ("0.12345678901", "0.12345678901", 0),
        ]
    )
    func roundsBinaryNoise(_ text: String, _ expected: String, _ count: Int) throws {
        let outcome = try read("sku,name,size,unit,price\na,Milk,\(text),l,\(text)\n")
        let record = try #require(outcome.records.first)
        #expect(record.product.size?.amount.description == expected)
        #expect(record.roundedDecimals == count * 2)
        // A price is rounded to minor units, too; noise alone is not a price of too many decimals.
        #expect(record.wasRounded == (count == 0))
    }

    @Test("A size that is not understood is reported as the file writes it, or from the last number of the name on")
    func reportsUnknownSizes() throws {
        let sizes = try read("sku,name,size\na,Milk,3 blobs\nb,Tea,\nc,Jam,500 g\n")
        #expect(sizes.records.map(\.unknownSize) == ["3 blobs", nil, nil])
        let names = try read("sku,name\na,Vitamin C 500 60 Globuli\nb,Tea\nc,Jam 500 g\n") {
            $0.profile.readsSizeFromName = true
        }
        #expect(names.records.map(\.unknownSize) == ["60 Globuli", nil, nil])
    }

    @Test("A row for another store than the import's fails the import", arguments: [ImportOptions.Format.csv, .ndjson])
    func otherStoresFail(_ format: ImportOptions.Format) throws {
        let text =
            format == .csv
            ? "store,sku,name\ns,a,A\n,b,B\nt,c,C\n"
            : #"{"store":"s","sku":"a","name":"A"}"# + "\n" + #"{"store":"t","sku":"c","name":"C"}"#
        let failure = #expect(throws: CatalogError.self) { try read(text, format) }
        #expect("\(failure!)".contains(format == .csv ? "line 4 is for store “t”" : "line 2 is for store “t”"))
        #expect(try read(text, format, store: nil) { $0.store = nil }.records.last?.store.text == "t")
        #expect(try read(text, format) { $0.rejectsOtherStores = true }.rejections.count == 1)
    }

    @Test("A store keeps the currency of its first row")
    func currencies() throws {
        let outcome = try read("sku,name,price,currency\na,A,1.5,SEK\nb,B,2,\nc,C,3,EUR\n")
        #expect(outcome.records.map(\.currency.code) == ["SEK", "SEK"])
        #expect(outcome.rejections == ["4 currency must be SEK, the store's currency"])
    }

    @Test("An empty file or one without a required column is rejected")
    func unusableFiles() {
        #expect(throws: CatalogError.self) { try read("sku,price\na,1\n") }
        #expect(throws: CatalogError.self) { try read("") }
        #expect(throws: CatalogError.self) { try read("sku,sku,name\na,b,c\n") }
    }

    @Test("A file without a store column requires a store for the whole file")
    func missingStores() throws {
        let outcome = try read("store,sku,name\ncorner,a,A\n,b,B\n", store: nil)
        #expect(outcome.records.map(\.store.text) == ["corner"])
        #expect(outcome.rejections.count == 1)
    }

    @Test("The header is the first line with the columns that the import needs, of which the store may be one")
    func headersBelowTitles() throws {
        let given = try read("Prices of today\nsku,name\na,A\n")
        #expect(given.records.map(\.product.sku.text) == ["a"] && given.rejections.isEmpty)
        let found = try read("sku,name\nstore,sku,name\ncorner,a,A\n", store: nil)
        #expect(found.records.map(\.store.text) == ["corner"] && found.rejections.isEmpty)
    }

    @Test("NDJSON rows are read like CSV rows")
    func readsNDJSON() throws {
        let outcome = try read(
            """
            {"sku":"a","name":"Milk","price":"1.29","in_stock":true}
            {"sku":"b","name":"Bread","price":2}
            {"sku":"c"}
            [1]
            {"sku":"d","name":

            """,
            .ndjson
        )
        #expect(outcome.records.map(\.product.sku.text) == ["a", "b"])
        #expect(outcome.records.map(\.product.priceMinor) == [129, 200])
        #expect(outcome.rejections.count == 3)
    }
}
