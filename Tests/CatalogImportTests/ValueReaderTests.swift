import Catalog
import JSON
import Testing

@testable import CatalogImport

/// The values of single columns, at the edges of their rules.
@Suite struct ValueReaderTests {
    private func reader(
        currency: String = "EUR",
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> ValueReader {
        var options = ImportOptions(format: .csv, store: CatalogKey("s"))
        change(&options)
        return ValueReader(
            ImportRecordReader(options),
            line: 3,
            currency: try #require(Currency(currency)),
            sizeContext: SizeText.Context(),
            forms: FieldForms(options),
            hasSizes: true
        )
    }

    /// Returns the reason of a rejection; nil for a value.
    private func reason(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch { return (error as? ImportRejection)?.description ?? "\(error)" }
    }

    @Test("A price is rounded to minor units, and its noise is counted")
    func prices() throws {
        func price(_ minor: Int64, _ wasRounded: Bool = false, _ hadNoise: Bool = false) -> ImportRecord.Price {
            ImportRecord.Price(minor: minor, wasRounded: wasRounded, hadNoise: hadNoise)
        }
        let euro = try reader()
        #expect(try euro.price(.price, nil) == nil)
        #expect(try euro.price(.price, "1.99") == price(199))
        #expect(try euro.price(.price, "1.9949") == price(199, true))
        #expect(try euro.price(.price, "1.9950") == price(200, true))
        #expect(try euro.price(.price, "0.30000000000000004") == price(30, false, true))
        #expect(try euro.price(.price, "9999999999.99") == price(999_999_999_999))
        #expect(reason { _ = try euro.price(.price, "1.995") }?.contains("ambiguous") == true)
        let limit = "must be 0 or more and less than 10^12 minor units"
        #expect(reason { _ = try euro.price(.price, "10000000000") } == "line 3, price: “10000000000” \(limit)")
        #expect(reason { _ = try euro.price(.deposit, "-0.01") } == "line 3, deposit: “-0.01” \(limit)")
        #expect(try reader(currency: "JPY").price(.price, "120")?.minor == 120)
        #expect(try reader(currency: "KWD").price(.price, "1.234")?.minor == 1234)
    }

    @Test("A price without the deposit that it includes can be 0, and not less")
    func deposits() throws {
        let reader = try reader()
        let price = ImportRecord.Price(minor: 100, wasRounded: true, hadNoise: false)
        func deposit(_ minor: Int64) -> ImportRecord.Price {
            ImportRecord.Price(minor: minor, wasRounded: false, hadNoise: true)
        }
        #expect(try reader.withoutDeposit(nil, deposit(1)) == nil)
        #expect(try reader.withoutDeposit(price, nil) == price)
        let rest = ImportRecord.Price(minor: 75, wasRounded: true, hadNoise: false)
        #expect(try reader.withoutDeposit(price, deposit(25)) == rest)
        #expect(try reader.withoutDeposit(price, deposit(100))?.minor == 0)
        #expect(
            reason { _ = try reader.withoutDeposit(price, deposit(101)) }
                == "line 3, deposit: exceeds the price that includes it"
        )
    }

    @Test("A word or a number of pieces states the availability")
    func stock() throws {
        let reader = try reader {
            $0.profile.words.available = ["Lagernd!"]
            $0.profile.words.unavailable = ["yes"]
        }
        for (text, expected) in [
            (nil, true), ("true", true), ("false", false), ("lagernd", true), ("YES", false), ("1", true), ("0", false),
            ("0.0", false), ("0,5", true), ("-1", false), ("-0,5", false), ("12", true),
        ] as [(String?, Bool)] {
            #expect(try reader.stock(text) == expected, "\(text ?? "nothing")")
        }
        let rule = "must be true or false, a known word, or a number of pieces"
        for text in ["wobbly", "1,5,0", "1 piece"] {
            #expect(reason { _ = try reader.stock(text) } == "line 3, in_stock: “\(text)” \(rule)")
        }
        #expect(FileWords(ImportProfile()).isAvailable("lagernd") == true, "a word of German")
        #expect(FileWords(ImportProfile()).isAvailable("xyz") == nil)
    }

    @Test(
        "A promotion applies from its first moment until just before its end",
        arguments: [
            (nil, nil, .current), ("", "", .current), (nil, "2026-05-01T12:00:00Z", .expired),
            (nil, "2026-05-01T12:00:01Z", .current), ("2026-05-01T12:00:00Z", nil, .current),
            ("2026-05-01T12:00:01Z", nil, .future), (nil, "2026-05-01", .current), (nil, "2026-04-30", .expired),
            ("2026-05-01", nil, .current), ("2026-05-02", nil, .future),
            ("2026-05-01T14:00:00", nil, .current), ("2026-05-01T14:00:01", nil, .future),
            (nil, "2026-05-01T14:00:00", .expired), (nil, "2026-05-01T14:00:01", .current),
            ("2026-05-02", "2026-04-30", .expired), ("2026-05-01/2026-05-02", "2026-05-01/2026-05-02", .current),
            ("2026-05-02 / 2026-05-03", nil, .future), (nil, "2026-04-01 / 2026-04-30", .expired),
            ("/2026-05-02", "/2026-05-02", .current), ("2026-04-01/", "2026-04-01/", .current),
        ] as [(String?, String?, ImportRecord.Promotion)]
    )
    func promotions(_ start: String?, _ end: String?, _ expected: ImportRecord.Promotion) throws {
        let reader = try reader {
            $0.now = Timestamp(rfc3339: "2026-05-01T12:00:00Z")!
            $0.localNow = Timestamp(rfc3339: "2026-05-01T14:00:00Z")!
        }
        #expect(try reader.promotion(from: start, to: end) == expected)
    }

    @Test("Without the time of the file's zone, times without an offset are those of UTC, and other texts are rejected")
    func otherPromotions() throws {
        let reader = try reader { $0.now = Timestamp(rfc3339: "2026-05-01T12:00:00Z")! }
        #expect(try reader.promotion(from: "2026-05-01 12:00", to: nil) == .current)
        #expect(try reader.promotion(from: "2026-05-01 12:01", to: nil) == .future)
        let rule = "is not a date such as 2026-03-01, so the promotion is not applied"
        #expect(reason { _ = try reader.promotion(from: "soon", to: nil) } == "line 3, promo_from: “soon” \(rule)")
        #expect(reason { _ = try reader.promotion(from: nil, to: "a/b") } == "line 3, promo_to: “b” \(rule)")
        #expect(reason { _ = try reader.promotion(from: "a/b", to: nil) } == "line 3, promo_from: “a” \(rule)")
        #expect(reason { _ = try reader.promotion(from: "a/b/c", to: nil) } == "line 3, promo_from: “a/b/c” \(rule)")
    }

    @Test("Attributes are an object of JSON of at most 4096 bytes")
    func attributes() throws {
        let reader = try reader()
        func text(_ length: Int) -> String { "{\"a\":\"\(String(repeating: "x", count: length - 8))\"}" }
        func read(_ text: String?) throws -> String { JSONValue.object(try reader.attributes(text)).text }
        for empty in [nil, "", "  "] { #expect(try read(empty) == "{}") }
        #expect(try read(#" { "b" : 1, "a" : [ 2.50 ] } "#) == #"{"b":1,"a":[2.50]}"#)
        #expect(text(4096).utf8.count == 4096)
        #expect(try read(text(4096)) == text(4096))
        #expect(try read(" " + text(4096)) == text(4096), "spaces do not count")
        for invalid in [text(4097), "[1]", "1", "{", #"{"a":1e99}"#] {
            let found = reason { _ = try reader.attributes(invalid) }
            #expect(found?.hasSuffix("must be an object of JSON of at most 4096 bytes") == true)
            #expect(found?.hasPrefix("line 3, attributes: ") == true)
        }
    }

    @Test("Tags have separators, are different, and are at most 50")
    func tags() throws {
        let reader = try reader()
        #expect(try reader.tags(nil) == [])
        #expect(try reader.tags(" a | b;c||a; ;b,d") == ["a", "b", "c", "b,d"])
        #expect(try reader.tags("e\u{301}|\u{E9}") == ["\u{E9}"])
        let fifty = (1...50).map { "t\($0)" }
        #expect(try reader.tags((fifty + ["t1"]).joined(separator: "|")) == fifty)
        #expect(
            reason { _ = try reader.tags((fifty + ["t51"]).joined(separator: "|")) }
                == "line 3, tags: has more than 50 tags"
        )
        let longest = String(repeating: "x", count: 64)
        #expect(try reader.tags(longest) == [longest])
        #expect(
            reason { _ = try reader.tags("a|\(longest)x") }
                == "line 3, tags: “\(longest)x” a tag must be \(Product.tagRule)"
        )
        let spaced = try self.reader { $0.profile.separators[.tags] = " / " }
        #expect(try spaced.tags("a, b / c\\ / d / a, b") == ["a, b", "c / d"])
    }

    @Test("A barcode has a digit from 1 to 9, and no trace of a spreadsheet")
    func barcodes() throws {
        let reader = try reader()
        #expect(try reader.barcode(nil) == nil)
        for text in ["4006381333931", "000001", "A9", "400638133000", "12345000000"] {
            #expect(try reader.barcode(text) == text)
        }
        for (text, expected) in [
            ("4.00633E+12", "is a number in scientific notation"), ("123456000000", "looks like a number"),
            ("4006381333931.0", "looks like a number"), ("000", "has no digits from 1 to 9"), ("N/A", "has no digits"),
        ] {
            #expect(
                reason { _ = try reader.barcode(text) }?.hasPrefix("line 3, barcode: “\(text)” \(expected)") == true
            )
        }
    }

    @Test("The first address of an image counts, of at most 2000 bytes, and the others are counted")
    func images() throws {
        let reader = try reader()
        func check(_ text: String?, _ first: String?, _ ignored: Int, _ reader: ValueReader) throws {
            let found = try reader.imageURL(text)
            #expect(found.first == first)
            #expect(found.ignored == ignored)
        }
        try check(nil, nil, 0, reader)
        try check("https://x/a,b;c|d.png", "https://x/a,b;c|d.png", 0, reader)
        try check("/local.png", "/local.png", 0, reader)
        try check("https://x/a.png, https://x/b.png", "https://x/a.png", 1, reader)
        try check("https://x/a.png; http://x/b.png;", "https://x/a.png", 1, reader)
        try check("https://x/a,1.png https://x/b.png | https://x/c.png", "https://x/a,1.png", 2, reader)
        let base = "https://x/"
        let longest = base + String(repeating: "y", count: 2000 - base.utf8.count)
        try check(longest, longest, 0, reader)
        try check("\(longest) \(longest)", longest, 1, reader)
        #expect(reason { _ = try reader.imageURL(longest + "y") }?.hasSuffix("exceeds 2000 bytes; shorten it") == true)
        #expect(
            reason { _ = try reader.imageURL("\(longest)y /a") }?.hasSuffix("exceeds 2000 bytes; shorten it") == true
        )
        for text in ["ftp://x/a.png", "https://x/a.png ftp://x", "a b"] {
            #expect(
                reason { _ = try reader.imageURL(text) }
                    == "line 3, image_url: “\(text)” must be \(Product.imageURLRule)"
            )
        }
        let listed = try self.reader { $0.profile.separators[.imageURL] = " :: " }
        try check("/a :: /b", "/a", 1, listed)
    }

    @Test("A number of purchases is from 0 to 10^12")
    func popularity() throws {
        let reader = try reader()
        #expect(try reader.popularity(nil) == 0)
        for (text, expected) in [("0", 0), ("2.5", 2.5), ("1000000000000", 1e12)] {
            #expect(try reader.popularity(text) == expected)
        }
        for text in ["-1", "-0.1", "1000000000001", "1e3", "x", "inf", "nan"] {
            #expect(
                reason { _ = try reader.popularity(text) }
                    == "line 3, popularity: “\(text)” must be a number of purchases from 0 to 10^12"
            )
        }
    }

    @Test("A position is a number or a fraction")
    func positions() throws {
        let reader = try reader()
        let isMissing = try reader.position(nil) == nil
        #expect(isMissing)
        for (text, top, bottom) in [("2", "2", "1"), ("1/3", "1", "3"), ("-1.5/0.5", "-1.5", "0.5"), ("0", "0", "1")] {
            let found = try #require(try reader.position(text))
            #expect(found.0.description == top)
            #expect(found.1.description == bottom)
        }
        for text in ["x", "1/0", "1/", "/1", "1/2/3", "1/x", "1//2", "1 2"] {
            #expect(
                reason { _ = try reader.position(text) }
                    == "line 3, position: “\(text)” must be a number or a fraction such as 1/3"
            )
        }
    }

    @Test("The text of an unknown size is that of its columns, or the end of the name")
    func unknownSizes() throws {
        let columns = try reader()
        #expect(columns.unknownSize(name: "Tea 3 blobs", "3", unit: "blobs") == "3 blobs")
        #expect(columns.unknownSize(name: "Tea 3 blobs", "3", unit: nil) == "3")
        #expect(columns.unknownSize(name: "Tea 3 blobs", nil, unit: "blobs") == nil)
        let names = try reader { $0.profile.readsSizeFromName = true }
        #expect(names.unknownSize(name: "Tea 3 blobs", nil, unit: "blobs") == "3 blobs")
        #expect(names.unknownSize(name: "2 Teas x3 of y", nil, unit: nil) == "x3 of y")
        #expect(names.unknownSize(name: "Tea", nil, unit: nil) == nil)
        #expect(names.unknownSize(name: "Tea 3", "4", unit: nil) == "4")
    }

    @Test("Ids that a spreadsheet rounded have an exponent, or six zeros at the end of twelve digits")
    func roundedIDs() {
        for (text, isRounded) in [
            ("4.00633E+12", true), ("4,00633e+12", true), ("4E+1", true), ("4E12", false), ("4E+", false),
            ("E+12", false),
            ("4.1.2E+3", false), ("4E+1a", false), ("A4E+12", false), ("4E+1E+2", false), ("+4", false),
            ("1.234567890123456E+1", true), ("1.2345678901234567E+1", false),
        ] {
            #expect(SKUText.isRounded(text) == isRounded, "\(text)")
        }
        for (text, isSuspicious) in [
            ("123456000000", true), ("1234567000000", true), ("12345000000", false), ("000000000000", false),
            ("A23456000000", false), ("123456000001", false), ("123456100000", false), ("100000000000", true),
        ] {
            #expect(SKUText.isSuspicious(text) == isSuspicious, "\(text)")
        }
    }

    @Test("A record shows the promotional price, and crosses out only a higher one")
    func setsPrices() throws {
        func makeRecord() throws -> ImportRecord {
            ImportRecord(
                line: 1,
                store: try #require(CatalogKey("s")),
                shelves: [],
                currency: try #require(Currency("EUR")),
                product: Product(sku: try #require(SKU("a")), name: "A", regularPriceMinor: 5),
                position: nil
            )
        }
        func price(_ minor: Int64, _ wasRounded: Bool = false, _ hadNoise: Bool = false) -> ImportRecord.Price {
            ImportRecord.Price(minor: minor, wasRounded: wasRounded, hadNoise: hadNoise)
        }
        for (prices, current, regular) in [
            ((nil, nil, nil), nil, nil), ((price(100), nil, nil), 100, nil), ((price(100), price(80), nil), 80, 100),
            ((price(100), price(100), nil), 100, nil), ((price(100), nil, price(120)), 100, 120),
            ((price(100), nil, price(100)), 100, nil), ((price(100), price(80), price(90)), 80, 90),
            ((price(100), price(80), price(70)), 80, nil), ((nil, price(80), nil), 80, nil),
            ((nil, nil, price(90)), nil, nil),
        ] as [((ImportRecord.Price?, ImportRecord.Price?, ImportRecord.Price?), Int64?, Int64?)] {
            var record = try makeRecord()
            record.set(price: prices.0, promotional: prices.1, regular: prices.2)
            #expect(record.product.priceMinor == current)
            #expect(record.product.regularPriceMinor == regular)
            #expect(!record.wasRounded && record.roundedDecimals == 0)
        }
        var record = try makeRecord()
        record.roundedDecimals = 1
        record.set(price: price(1, false, true), promotional: price(1, true), regular: price(1, false, true))
        #expect(record.wasRounded && record.roundedDecimals == 3)
        record.set(price: price(1), promotional: nil, regular: price(1, true))
        #expect(record.wasRounded)
        record.set(price: price(1), promotional: nil)
        #expect(!record.wasRounded)
    }
}
