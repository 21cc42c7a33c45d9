import Catalog
import CatalogJSON
import Testing

@Suite(.timeLimit(.minutes(1))) struct ImportReaderTests {
    private struct Outcome {
        var records: [ImportRecord] = []
        var rejections: [String] = []
        var warnings: [String] = []
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
            }
        }
        try Array(text.utf8).withUnsafeBytes { try reader.read($0) { take($0) } }
        try reader.end { take($0) }
        outcome.warnings = reader.warnings
        return outcome
    }

    @Test("A row becomes a checked record")
    func readsRows() throws {
        let outcome = try read(
            """
            shelf,sku,name,brand,price,promo_price,size,unit,pack_count,in_stock,tags,popularity,position,barcode,image_url
            Dairy,a,Milk,Ärla,1.29,0.99,500,ml,6,false,new|cold|new,3,1/3,40123,https://x/y.png

            """
        )
        #expect(outcome.rejections == [])
        let record = try #require(outcome.records.first)
        #expect(record.line == 2)
        #expect(record.store.text == "s")
        #expect(record.shelf == "Dairy")
        #expect(record.product.sku.text == "a")
        #expect(record.product.priceMinor == 99)
        #expect(record.product.regularPriceMinor == 129)
        #expect(record.product.size?.packs == 6)
        #expect(record.product.size?.unit == .ml)
        #expect(!record.product.inStock)
        #expect(record.product.tags == ["new", "cold"])
        #expect(record.product.barcode == "40123")
        #expect(record.product.imageURL == "https://x/y.png")
    }

    @Test(
        "An invalid value is rejected with its line and column",
        arguments: [
            ("a,Milk,x", "2 price is not a decimal number; use a point and no thousands separators, such as 1.99"),
            ("a,Milk,-1", "2 price must be 0 or more and less than 10^12 minor units"),
            ("a,Milk,99999999999", "2 price must be 0 or more and less than 10^12 minor units"),
            ("a,,1", "2 name is missing"), (",Milk,1", "2 sku must be \(SKU.rule)"),
            ("a/b,Milk,1", "2 sku must be \(SKU.rule)"), ("a,Milk", "2  the row has 2 columns, the header 3"),
            ("a,Mi\u{7}lk,1", "2 name contains a control character"),
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
            ("in_stock", "maybe", "must be true or false"), ("currency", "EURO", "is not an ISO 4217 code"),
            ("store", "Not A Key", "must be \(CatalogKey.rule)"),
            ("tags", "a\u{0}b", "contains a control character"),
            ("popularity", "-1", "must be a number from 0 to 10^9"), ("drained", "x", ""), ("position", "x", ""),
        ]
    )
    func rejectsOtherColumns(_ column: String, _ value: String, _ reason: String) throws {
        let outcome = try read("sku,name,size,unit,\(column)\na,Milk,1,l,\(value)\n")
        #expect(outcome.records.isEmpty)
        let rejection = try #require(outcome.rejections.first)
        #expect(rejection.hasPrefix("2 \(column)"))
        #expect(rejection.contains(reason.prefix(9)))
    }

    @Test("A store keeps the currency of its first row")
    func currencies() throws {
        let outcome = try read("sku,name,price,currency\na,A,1.5,SEK\nb,B,2,\nc,C,3,EUR\n")
        #expect(outcome.records.map(\.currency.code) == ["SEK", "SEK"])
        #expect(outcome.rejections == ["4 currency the store's currency is SEK"])
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
