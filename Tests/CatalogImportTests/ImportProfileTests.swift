import Catalog
import Foundation
import Testing

import CatalogImport
@testable import CatalogJSON

/// The built-in profiles read files as shops and lists write them.
///
/// The files and what they mean were written from the documentation of the formats, by an author who did not know the reader.
@Suite(.timeLimit(.minutes(15))) struct ImportProfileTests {
    private static let feeds: [(file: String, profile: String)] = [
        ("google.tsv", "google-merchant"), ("google-rss.xml", "google-merchant"),
        ("google-atom.xml", "google-merchant"),
        ("shopify-classic.csv", "shopify"), ("shopify-new.csv", "shopify"),
        ("woocommerce.csv", "woocommerce"), ("woocommerce-comma.csv", "woocommerce"),
        ("open-food-facts.csv", "open-food-facts"), ("open-food-facts.jsonl", "open-food-facts"),
        ("croatia-konzum.csv", "croatian-price-list"), ("croatia-lidl.csv", "croatian-price-list"),
        ("croatia-spar.csv", "croatian-price-list"), ("croatia-plodine.csv", "croatian-price-list"),
        ("croatia-kaufland.csv", "croatian-price-list"), ("croatia-ntl-2026.csv", "croatian-price-list"),
        ("croatia-studenac.xml", "croatian-price-list"), ("croatia-trgocentar.xml", "croatian-price-list"),
    ]

    private struct Outcome {
        var records: [ImportRecord] = []
        var rejections: [ImportRejection] = []
        var skipped: [String] = []
        var warnings: [String] = []
    }

    private static func file(_ name: String) throws -> [UInt8] {
        Array(
            try Data(
                contentsOf: try #require(Bundle.module.url(forResource: "Cases/feeds/\(name)", withExtension: nil))
            )
        )
    }

    private static func read(_ name: String, _ profile: String) throws -> Outcome {
        let format: ImportOptions.Format =
            name.hasSuffix(".xml") ? .xml : name.hasSuffix(".jsonl") ? .ndjson : .csv
        var options = ImportOptions(format: format, store: CatalogKey("s"))
        options.profile = try #require(ImportProfile.builtIn(profile))
        options.profileName = profile
        return try read(file(name), options)
    }

    /// Reads a file at noon UTC, which is 13:00 in the time zone of the file.
    private static func read(_ bytes: [UInt8], _ options: ImportOptions, piece: Int = 1 << 16) throws -> Outcome {
        var options = options
        options.now = try #require(Timestamp(rfc3339: "2026-11-27T12:00:00Z"))
        options.localNow = Timestamp(rfc3339: "2026-11-27T13:00:00Z")
        var reader = ImportReader(options, currencies: [:])
        var outcome = Outcome()
        func take(_ event: ImportReader.Event) {
            switch event {
            case .record(let record): outcome.records.append(record)
            case .rejected(let rejection): outcome.rejections.append(rejection)
            case .header: break
            case .skipped(let column, let value): outcome.skipped.append("\(column)=\(value)")
            }
        }
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try bytes[start..<min(bytes.count, start + piece)].withUnsafeBytes { try reader.read($0, take) }
        }
        try reader.end(take)
        outcome.warnings = reader.warnings
        return outcome
    }

    @Test("Products of real formats are read as their documentation says", arguments: feeds)
    func reads(_ file: String, _ profile: String) throws {
        let outcome = try Self.read(file, profile)
        let expected = try #require(
            try JSONSerialization.jsonObject(with: Data(try Self.file(file + ".expected.json"))) as? [[String: Any]]
        )
        for row in expected {
            let line = try #require(row["line"] as? Int)
            let record = outcome.records.first { $0.line == line }
            let isRejected = outcome.rejections.contains { $0.line == line }
            // The file does not always decide: a product without a price may be one whose price is unknown.
            let others = row["outcome_alternative"] as? String
            switch record != nil && others != nil ? others : row["outcome"] as? String {
            case "product" where row["name"] == nil && record != nil: break
            case "product":
                guard let record else {
                    let reason = outcome.rejections.first { $0.line == line }?.description ?? "skipped"
                    Issue.record("\(file) line \(line): \(reason)")
                    continue
                }
                check(record, row, "\(file) line \(line)")
            case "rejected": #expect(record == nil && isRejected, "\(file) line \(line)")
            default: #expect(record == nil && !isRejected, "\(file) line \(line)")
            }
        }
        let lines = Set(expected.compactMap { $0["line"] as? Int })
        #expect(outcome.records.allSatisfy { lines.contains($0.line) }, "\(file)")
    }

    /// Compares what a record has with what the file means; members that the file does not decide are left out.
    private func check(_ record: ImportRecord, _ row: [String: Any], _ place: String) {
        let product = record.product
        func text(_ name: String) -> String? { row[name] as? String }
        if row["sku"] != nil { #expect(product.sku.text == text("sku"), "\(place)") }
        if let name = text("name") {
            #expect(product.name == name || product.name == "\(name) \(text("option") ?? "")", "\(place)")
        }
        if row["brand"] != nil { #expect(product.brand == text("brand"), "\(place)") }
        if row["price_minor"] != nil { #expect(product.priceMinor == row["price_minor"] as? Int64, "\(place)") }
        if row["regular_price_minor"] != nil {
            #expect(product.regularPriceMinor == row["regular_price_minor"] as? Int64, "\(place)")
        }
        if let currency = text("currency") { #expect(record.currency.code == currency, "\(place)") }
        if row["size"] != nil {
            // A size is right or unknown, never another one.
            let size = text("size").flatMap { SizeText.parse($0, in: SizeText.Context(pricing: .us)) }
            let (found, wanted) = (quantity(product.size), quantity(size))
            #expect(product.size == nil || abs(found - wanted) <= wanted / 1000, "\(place) \(record.product)")
        }
        if let shelves = row["shelves"] as? [[String]] {
            let others = row["shelves_alternative"] as? [[String]]
            #expect(record.shelves == shelves || record.shelves == others, "\(place)")
        }
        if let tags = row["tags"] as? [String] { #expect(product.tags == tags, "\(place)") }
        if let inStock = row["in_stock"] as? Bool {
            #expect(record.unreadableStock != nil || product.inStock == inStock, "\(place)")
        }
        if row["barcode"] != nil { #expect(product.barcode == text("barcode"), "\(place)") }
        if row["image_url"] != nil { #expect(product.imageURL == text("image_url"), "\(place)") }
        if row["group"] != nil { #expect(product.group == text("group"), "\(place)") }
    }

    private func quantity(_ size: Size?) -> Double { size.flatMap { Double($0.baseQuantity.description) } ?? 0 }

    @Test("A profile that is written and parsed again is the same")
    func roundTrip() throws {
        for (name, profile) in ImportProfile.builtIn {
            #expect(try ImportProfile(document: profile.document) == profile, "\(name)")
        }
    }

    @Test(
        "An invalid profile is an error that names the member",
        arguments: [
            (#"{"columnes":{}}"#, "columnes"), (#"{"columns":{"sku":3}}"#, "columns.sku"),
            (#"{"columns":{"foo":"x"}}"#, "columns.foo"), (#"{"columns":{"sku":{"ignored":["a"]}}}"#, "columns.sku"),
            (#"{"columns":{"sku":{"column":"a","first_of":",","all_of":","}}}"#, "columns.sku"),
            (#"{"attributes":{"A b":"x"}}"#, "attributes"), (#"{"currency":"EURO"}"#, "currency"),
            (#"{"language":"xx"}"#, "language"), (#"{"separators":{"sku":","}}"#, "separators.sku"),
            (#"{"separators":{"shelf":">"},"shelf_path":">"}"#, "shelf_path"), (#"{"header_line":0}"#, "header_line"),
            (#"{"words":{"units":{"Kiste":"box"}}}"#, "words.units.Kiste"),
            (#"{"words":{"available":["x"],"unavailable":["x"]}}"#, "words"), ("[]", "JSON object"), ("{", "JSON"),
            (#"{"variants":{"column":"Handle"}}"#, "variants.inherit"), (#"{"rows":[{"column":"A"}]}"#, "rows.is"),
        ]
    )
    func invalid(_ document: String, _ named: String) {
        let error = #expect(throws: CatalogError.self) { try ImportProfile(document: Array(document.utf8)) }
        #expect("\(error!)".contains(named), "\(error!)")
    }

    @Test("Units and words of a profile are understood beside those that imports know")
    func words() throws {
        let outcome = try read(
            #"{"words":{"available":["lagernd"],"unavailable":["später"],"units":{"Kärtchen":"piece"}}}"#,
            "sku,name,size,in_stock\na,A,12 Kärtchen,lagernd\nb,B,500 g,Später\nc,C,3 Kisten,\n"
        )
        #expect(outcome.records.map(\.product.inStock) == [true, false, true])
        #expect(outcome.records[0].product.size?.baseQuantity == ExactDecimal(12))
        #expect(outcome.records[1].product.size?.baseQuantity == ExactDecimal(500))
        #expect(outcome.records[2].product.size == nil)
    }

    @Test("Attributes of a product come from columns, and what exceeds their limit is left out and counted")
    func attributes() throws {
        let long = String(repeating: "x", count: 5000)
        let outcome = try read(
            #"{"attributes":{"origin":"Origin","story":"Story"}}"#,
            "sku,name,Origin,Story\na,A,Istria,short\nb,B,,\(long)\n"
        )
        #expect(outcome.records[0].product.attributes == #"{"origin":"Istria","story":"short"}"#)
        #expect(outcome.records[1].product.attributes == "{}")
        #expect(outcome.records[1].emptied.map(\.column) == ["story"])
    }

    @Test("A price that includes the deposit is shown without it")
    func deposits() throws {
        let outcome = try read(
            #"{"price_includes_deposit":true}"#,
            "sku,name,price,promo_price,deposit\na,A,1.32,1.07,0.07\nb,B,0.05,,0.07\nc,C,2.00,,\n"
        )
        #expect(outcome.records.map(\.product.priceMinor) == [100, 200])
        #expect(outcome.records[0].product.regularPriceMinor == 125)
        #expect(outcome.rejections.map(\.line) == [3])
    }

    @Test("A regular price crosses out the price only if it is higher")
    func regularPrices() throws {
        let outcome = try read(
            "{}",
            "sku,name,price,regular_price\na,A,1.00,1.50\nb,B,1.00,1.00\nc,C,1.00,0.00\nd,D,1.00,\n"
        )
        #expect(outcome.records.map(\.product.priceMinor) == [100, 100, 100, 100])
        #expect(outcome.records.map(\.product.regularPriceMinor) == [150, nil, nil, nil])
    }

    @Test("A stated unit price confirms a size, makes a contradictory one unknown, and serves where there is none")
    func unitPrices() throws {
        let outcome = try read(
            "{}",
            """
            sku,name,price,size,unit_price
            a,A,1.29,500 g,2.58
            b,B,1.29,250 g,2.58
            c,C,1.29,,2.58 €/kg
            d,D,1.29,,2.58
            e,E,1.29,6 kom,1.29
            f,F,0.99,1.5 l,0.66/l
            g,G,0.99,1.5 kg,0.66/l
            h,H 40 g,5.49,0.24 kg,22.89
            i,I,2.59,1 kom,0.26
            j,J,2.59,10 kom,0.26
            k,K,5.49,0.24 kg,23.20

            """
        )
        let sizes = outcome.records.map { $0.product.size.map { "\($0.isApproximate ? "~" : "")\($0.baseQuantity)" } }
        #expect(sizes == ["500", nil, "~500", nil, "6", "1500", "1500", "240", nil, "10", nil])
        #expect(outcome.records[1].emptied.first?.column == "size")
        #expect(outcome.records.map(\.hasComputedSize) == [false, false, true] + [Bool](repeating: false, count: 8))
    }

    @Test("A condition accepts its texts, an empty cell or beginnings, without case")
    func conditions() {
        let condition = RowCondition(["Type"], ["", "Simple*", "virtual"])
        for text in ["", "simple", "SIMPLE, downloadable", "Virtual"] { #expect(condition.holds(for: text), "\(text)") }
        for text in ["sim", "variable", "virtual, simple", "*"] { #expect(!condition.holds(for: text), "\(text)") }
        #expect(RowCondition(["Type"], ["*"]).holds(for: "any"))
        #expect(!RowCondition(["Type"], ["*"]).holds(for: ""))
    }

    @Test("A shelf path, and several shelves in a cell")
    func shelves() throws {
        let outcome = try read(
            #"{"shelf_path":">","separators":{"shelf":","}}"#,
            "sku,name,shelf\na,A,\"Food > Dairy, Sale\"\nb,B,\"Wine\\, red > Dry\"\nc,C,\" , > \"\n"
        )
        #expect(outcome.records.map(\.shelves) == [[["Food", "Dairy"], ["Sale"]], [["Wine, red", "Dry"]], []])
    }

    @Test(
        "Several shelves in a cell between tabs have quotes, and a comma without them is part of a title, with a warning"
    )
    func quotedShelves() throws {
        let outcome = try read(
            #"{"format":"csv","separator":"tab","shelf_path":">","separators":{"shelf":"|"}}"#,
            """
            sku\tname\tshelf
            a\tA\t"Food, Drinks > Milk","Breakfast"
            b\tB\t\"""Food, Drinks > Milk"", Offers"
            c\tC\t"Food, Drinks > Milk"
            d\tD\tDrinks > Juice, Offers > New
            e\tFive\tPipes 1/2" > "New"
            f\tF\t"Milk","open

            """
        )
        #expect(
            outcome.records.map(\.shelves) == [
                [["Food, Drinks", "Milk"], ["Breakfast"]], [["Food, Drinks", "Milk"], ["Offers"]],
                [["Food, Drinks", "Milk"]], [["Drinks", "Juice, Offers", "New"]], [["Pipes 1/2\"", "\"New\""]],
                [["\"Milk\",\"open"]],
            ]
        )
        #expect(
            outcome.warnings.contains { $0.contains("in 1 row, such as “Drinks > Juice, Offers > New” on line 5") }
        )
    }

    @Test("The characters of a line break are read as one, unless a backslash precedes them")
    func lineBreaks() throws {
        let outcome = try read(
            #"{"attributes":{"text":{"column":"Text","line_break":"\\n"}}}"#,
            #"""
            sku,name,Text
            a,A,one\ntwo
            b,B,C:\\new

            """#
        )
        #expect(outcome.records.map(\.product.attributes) == [#"{"text":"one two"}"#, #"{"text":"C:\\new"}"#])
    }

    @Test("A profile can join elements with one name; an element and the same with a prefix are one")
    func joins() throws {
        var options = ImportOptions(format: .xml, store: CatalogKey("s"), currency: Currency("EUR")!)
        options.profile = try #require(ImportProfile.builtIn("google-merchant"))
        options.profileName = "google-merchant"
        let text = """
            <rss><item><g:id>a</g:id><title>A</title><link>https://a</link><g:link>https://a</g:link>
            <g:additional_image_link>https://1</g:additional_image_link>
            <g:additional_image_link>https://2</g:additional_image_link>
            <g:product_type>Food, Drinks</g:product_type><g:product_type>"Offers"</g:product_type></item></rss>
            """
        let outcome = try Self.read(Array(text.utf8), options)
        let record = try #require(outcome.records.first)
        #expect(record.product.attributes == #"{"images":"https://1, https://2","link":"https://a"}"#)
        #expect(record.shelves == [["Food, Drinks"], ["\"Offers\""]])
    }

    @Test("A file without the prices of its profile is refused, as one in another language")
    func otherLanguage() throws {
        let error = #expect(throws: CatalogError.self) {
            try read(
                #"{"columns":{"sku":["SKU","ID"],"price":["Regular price"]}}"#,
                "ID,Name,Regulärer Preis\n1,Milch,1.29\n"
            )
        }
        #expect("\(error!)".contains("another language"))
    }

    @Test("Availability that depends on a column is not that of a file without it")
    func availabilityWithoutItsColumn() throws {
        var options = ImportOptions(format: .csv, store: CatalogKey("s"), currency: Currency("EUR")!)
        options.profile = try #require(ImportProfile.builtIn("shopify"))
        options.profileName = "shopify"
        let header = "Handle;Title;Variant SKU;Variant Price;Variant Inventory Tracker"
        for (column, isFound) in [("", false), (";Variant Inventory Qty", true)] {
            var reader = ImportReader(options, currencies: [:])
            try Array("\(header)\(column)\nt;Tea;T;1.99;shopify\(isFound ? ";0" : "")\n".utf8).withUnsafeBytes {
                try reader.read($0) { _ in }
            }
            try reader.end { _ in }
            #expect(reader.columns.contains(.inStock) == isFound)
        }
    }

    @Test("The report names columns that the profile does not use, and why rows are not products")
    func reportsUnused() throws {
        let outcome = try read(
            #"{"rows":[{"column":"Status","is":["active"]}]}"#,
            "sku,name,Status,Weight,Cost\na,A,draft,1,2\nb,B,,1,2\nc,C,active,1,2\n"
        )
        #expect(outcome.skipped == ["Status=draft", "Status="])
        #expect(outcome.warnings.contains("ignored columns: Weight, Cost; the profile does not use them"))
    }

    @Test(
        "A rejected variant can be corrected and imported again without the row of its product",
        arguments: [
            (
                ImportOptions.Format.csv, "shopify",
                """
                Handle,Title,Vendor,Type,Option1 Value,Variant SKU,Variant Price,Body (HTML)
                tea,Tea,Olympia,Drinks,green,T1,1.99,"good, hot"
                tea,,,,black,T2,cheap,
                tea,,,,white,T3,cheap,

                """
            ),
            (
                .csv, "woocommerce",
                """
                ID,Type,SKU,Name,Published,Visibility in catalog,Regular price,Categories,Brands,Parent
                1,variable,T,Tea,1,visible,,Drinks > Tea,Olympia,
                2,variation,T2,Tea black,1,visible,cheap,,,T
                3,variation,T3,Tea white,1,visible,cheap,,,id:1

                """
            ),
            (
                .ndjson, #"{"variants":{"column":"of","keys":{"sku":""},"inherit":["brand","shelf"]}}"#,
                """
                {"sku":"T1","name":"Tea","brand":"Olympia","shelf":"Drinks"}
                {"sku":"T2","name":"Tea black","price":"cheap","of":"T1"}
                {"sku":"T3","name":"Tea white","price":"cheap","of":"T1","brand":" "}

                """
            ),
            (
                .xml, #"{"variants":{"column":"of","keys":{"sku":""},"inherit":["brand","shelf"]}}"#,
                """
                <items><item><sku>T1</sku><name>Tea</name><brand>Olympia</brand><shelf>Drinks</shelf></item>
                <item><sku>T2</sku><name>Tea black</name><price>cheap</price><of>T1</of></item>
                <item><sku>T3</sku><name>Tea white</name><price>cheap</price><of>T1</of><brand/></item></items>
                """
            ),
        ]
    )
    func rejectedVariants(_ format: ImportOptions.Format, _ profile: String, _ text: String) throws {
        var options = ImportOptions(format: format, store: CatalogKey("s"), currency: Currency("EUR")!)
        options.profile = try ImportProfile.builtIn(profile) ?? ImportProfile(document: Array(profile.utf8))
        options.profileName = profile
        options.keepsRejectedRows = true
        let whole = try Self.read(Array(text.replacing("cheap", with: "2.49").utf8), options)
        let rejected = try Self.read(Array(text.utf8), options).rejections
        try #require(rejected.count == 2)
        let rows = rejected.map { RejectedRow.line($0, format, $0.separator ?? .comma, hasVariants: true) }.joined()
        let file =
            switch format {
            case .csv: RejectedRow.header(rejected[0].header ?? "", .comma, line: nil, hasVariants: true) + rows
            case .ndjson: rows
            case .xml: RejectedRow.xmlFrame.0 + rows + RejectedRow.xmlFrame.1
            }
        // The reasons name the value, too.
        let again = try Self.read(Array(file.replacing("cheap", with: "2.49").utf8), options)
        #expect(again.rejections.isEmpty && again.skipped.isEmpty, "\(again.rejections) \(again.skipped)")
        #expect(again.records.map(\.product) == whole.records.suffix(2).map(\.product))
        #expect(again.records.map(\.shelves) == whole.records.suffix(2).map(\.shelves))
        #expect(again.records.allSatisfy { $0.product.brand == "Olympia" })
    }

    @Test(
        "Days and times of promotions, with offsets or by the clock of the time zone",
        arguments: [
            ("2026-11-27", "2026-11-27", true), ("2026-11-28", "", false), ("", "2026-11-26", false),
            ("2026-11-27T11:59Z", "", true), ("2026-11-27T12:01Z", "", false),
            ("2026-11-27 12:59", "", true), ("2026-11-27 13:01:00", "", false),
            ("2026-11-27T13:00-0800/2026-11-29T15:30-0800", "2026-11-27T13:00-0800/2026-11-29T15:30-0800", false),
            ("2026-11-27T03:00-0800/2026-11-29T15:30-0800", "2026-11-27T03:00-0800/2026-11-29T15:30-0800", true),
            ("", "2026-11-27 00:00:00", true), ("27.11.2026", "27.11.2026", true), ("1.12.2026", "", false),
        ]
    )
    func times(_ from: String, _ to: String, _ applies: Bool) throws {
        let outcome = try read("{}", "sku,name,price,promo_price,promo_from,promo_to\na,A,2.00,1.00,\(from),\(to)\n")
        #expect(outcome.records.first?.product.priceMinor == (applies ? 100 : 200))
        #expect(outcome.records.first?.emptied.isEmpty == true)
    }

    /// Reads a file of CSV by a profile.
    private func read(_ document: String, _ text: String) throws -> Outcome {
        var options = ImportOptions(format: .csv, store: CatalogKey("s"), currency: Currency("EUR")!)
        options.profile = try ImportProfile(document: Array(document.utf8))
        options.profileName = "test"
        return try Self.read(Array(text.utf8), options)
    }

    // MARK: - XML

    @Test("Hostile XML is refused with the line, and nothing is expanded or fetched")
    func hostileXML() throws {
        let bomb =
            #"<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;">]><items><item><sku>&y;</sku></item></items>"#
        let deep = String(repeating: "<a>", count: 50)
        for (text, reason) in [
            (bomb, "document type"), (deep, "levels deep"), ("<items><item><sku>a</sku></items>", "not well-formed"),
            ("<items><item>", "not well-formed"), ("<items></items>", "has no elements"),
            ("<items><!-- \(String(repeating: "x", count: 2 << 20))", "of more than"),
        ] {
            let error = #expect(throws: CatalogError.self) { try readXML(text) }
            #expect("\(error!)".contains(reason), "\(error!)")
        }
    }

    @Test("XML is read whatever the pieces of the file, with entities, CDATA, namespaces and encodings")
    func xml() throws {
        let text = """
            <?xml version="1.0" encoding="windows-1250"?>
            <rss><channel><title>Shop</title>
            <item><g:sku xmlns:g="http://base.google.com/ns/1.0">a</g:sku><name>Čaj &amp; <![CDATA[<mlijeko>]]></name></item>
            <ITEM><sku>b</sku><name>B</name><price/><extra><name>no</name></extra></ITEM>
            </channel></rss>
            """
        let bytes = text.unicodeScalars.map { scalar -> UInt8 in scalar == "Č" ? 0xC8 : UInt8(scalar.value) }
        for piece in [1, 7, 64, 4096] {
            let outcome = try readXML(bytes, piece: piece)
            #expect(outcome.records.map(\.product.name) == ["Čaj & <mlijeko>", "B"])
            #expect(outcome.records.map(\.line) == [3, 4])
            #expect(outcome.rejections.isEmpty)
        }
    }

    @Test("Rejected records of XML can be corrected and imported again")
    func rejectedXML() throws {
        var outcome = try readXML("<items><item><sku>a</sku><name>A &amp; B</name><price>cheap</price></item></items>")
        let rejection = try #require(outcome.rejections.first)
        let file = RejectedRow.xmlFrame.0 + RejectedRow.line(rejection, .xml, .comma) + RejectedRow.xmlFrame.1
        #expect(file.contains("<rejected_reason>"))
        outcome = try readXML(file.replacing("cheap", with: "1.99", maxReplacements: 99))
        #expect(outcome.records.map(\.product.name) == ["A & B"])
        #expect(outcome.records.map(\.product.priceMinor) == [199])
    }

    private func readXML(_ text: String) throws -> Outcome { try readXML(Array(text.utf8), piece: 1 << 16) }

    private func readXML(_ bytes: [UInt8], piece: Int) throws -> Outcome {
        var options = ImportOptions(format: .xml, store: CatalogKey("s"), currency: Currency("EUR")!)
        options.keepsRejectedRows = true
        return try Self.read(bytes, options, piece: piece)
    }
}
