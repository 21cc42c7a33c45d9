import Catalog
import JSON
import Testing

@testable import CatalogJSON

/// Profiles and reports of imports: their limits and their complete forms.
@Suite("Forms of imports") struct ImportFormTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func profile(_ json: String) throws -> ImportProfile {
        try ImportProfile(document: Array(json.utf8))
    }

    /// A profile with every member.
    private static let whole = """
        {"title":"All","format":"csv","encoding":"windows-1250","separator":"semicolon","quotes":false,"decimal_mark":"comma",\
        "header_line":3,"records":["p"],"columns":{"store":{"constant":"s"},\
        "sku":{"column":["A",["B","C"]],"ignored":["x"],"first_of":",","line_break":"~",\
        "when":[{"column":["T","U"],"is":["*","a"]}],"constant":"n"},"name":"N","brand":{"column":"B","last_of":">"},\
        "tags":{"column":[["T","U"]],"all_of":";"},"position":null},"attributes":{"a":"X","b":{"column":"Y","ignored":["z"]}},\
        "rows":[{"column":"S","is":["1"]}],"variants":{"column":"P","keys":{"SKU":"","ID":"id:"},"inherit":["C","D"]},\
        "words":{"available":["a","b"],"unavailable":["c"],"units":{"Kiste":"piece","Sack":"kg"}},"language":"hr",\
        "separators":{"image_url":",","shelf":"|","tags":";"},"shelf_path":">","time_zone":"Europe/Zagreb","currency":"EUR",\
        "price_includes_deposit":true,"size_from_name":true}
        """

    @Test("A profile is written as it was parsed, and an empty one has no members")
    func profiles() throws {
        let profile = try Self.profile(Self.whole)
        #expect(text(profile.document) == Self.whole)
        #expect(text(try Self.profile("{}").document) == "{}")
        #expect(try Self.profile("{}") == ImportProfile())
        #expect(profile.mapping.columns[.sku]?.alternatives == [["A"], ["B", "C"]])
        #expect(profile.mapping.columns[.sku]?.part == .first(of: ","))
        #expect(profile.mapping.columns[.brand]?.part == .last(of: ">"))
        #expect(profile.mapping.columns[.tags]?.part == .all(";"))
        #expect(profile.mapping.columns[.position] == ColumnSource([]))
        #expect(profile.mapping.columns[.name]?.isRequired == false)
        #expect(profile.variants?.reference == ["P"] && profile.variants?.columns == ["C", "D"])
        #expect(profile.words.units == ["Kiste": .piece, "Sack": .kg])
        #expect(profile.dialect.headerLine == 3 && !profile.dialect.isQuoted)
    }

    /// Returns texts of one letter and a number, as JSON.
    private static func list(_ count: Int, _ element: (Int) -> String = { "\"t\($0)\"" }) -> String {
        "[" + (0..<count).map(element).joined(separator: ",") + "]"
    }

    private static func object(_ count: Int, _ value: String) -> String {
        "{" + (0..<count).map { "\"t\($0)\":\(value)" }.joined(separator: ",") + "}"
    }

    private static func long(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test("A profile is within its limits, and an error names the member beyond them")
    func limits() throws {
        let limits: [(field: String, limit: Int, body: (Int) -> String)] = [
            ("header_line", 1000, { "{\"header_line\":\($0)}" }), ("records", 20, { "{\"records\":\(Self.list($0))}" }),
            ("records", 100, { "{\"records\":[\"\(Self.long($0))\"]}" }),
            ("attributes", 64, { "{\"attributes\":\(Self.object($0, "\"a\""))}" }),
            ("separators.tags", 8, { "{\"separators\":{\"tags\":\"\(String(repeating: ",", count: $0))\"}}" }),
            ("shelf_path", 8, { "{\"shelf_path\":\"\(String(repeating: ">", count: $0))\"}" }),
            ("columns.sku", 20, { "{\"columns\":{\"sku\":\(Self.list($0))}}" }),
            ("columns.sku", 8, { "{\"columns\":{\"sku\":[\(Self.list($0))]}}" }),
            ("columns.sku", 200, { "{\"columns\":{\"sku\":\"\(Self.long($0))\"}}" }),
            ("columns.sku.ignored", 100, { "{\"columns\":{\"sku\":{\"column\":\"a\",\"ignored\":\(Self.list($0))}}}" }),
            (
                "columns.sku.ignored", 200,
                { "{\"columns\":{\"sku\":{\"column\":\"a\",\"ignored\":[\"\(Self.long($0))\"]}}}" }
            ),
            ("rows", 20, { "{\"rows\":\(Self.list($0) { _ in "{\"column\":\"a\",\"is\":[\"\"]}" })}" }),
            ("rows.column", 100, { "{\"rows\":[{\"column\":\(Self.list($0)),\"is\":[\"\"]}]}" }),
            ("rows.is", 100, { "{\"rows\":[{\"column\":\"a\",\"is\":\(Self.list($0))}]}" }),
            (
                "variants.keys", 32,
                { "{\"variants\":{\"column\":\"a\",\"inherit\":\"b\",\"keys\":{\"c\":\"\(Self.long($0))\"}}}" }
            ),
            ("variants.inherit", 100, { "{\"variants\":{\"column\":\"a\",\"inherit\":\(Self.list($0))}}" }),
            ("variants.column", 100, { "{\"variants\":{\"column\":\(Self.list($0)),\"inherit\":\"b\"}}" }),
            ("words", 500, { "{\"words\":{\"available\":\(Self.list($0))}}" }),
            ("words", 500, { "{\"words\":{\"unavailable\":\(Self.list($0))}}" }),
            ("words.units.\(Self.long(64))", 64, { "{\"words\":{\"units\":{\"\(Self.long($0))\":\"g\"}}}" }),
        ]
        for (field, limit, body) in limits {
            let within = Self.failure(body(limit))
            #expect(within == nil, "\(field) \(limit)")
            #expect(Self.failure(body(limit + 1)) == field, "\(field) \(limit + 1)")
        }
    }

    /// Returns the member that an error names; nil for a valid profile.
    private static func failure(_ json: String) -> String? {
        do { _ = try profile(json) } catch CatalogError.unprocessable(let field, _) {
            return field
        } catch CatalogError.malformed(let parameter, _, _, _) {
            return parameter
        } catch {
            return "\(error)"
        }
        return nil
    }

    @Test(
        "An invalid member of a profile is named",
        arguments: [
            (#"{"header_line":0}"#, "header_line"), (#"{"records":[]}"#, "records"), (#"{"records":[""]}"#, "records"),
            (#"{"separators":{"tags":""}}"#, "separators.tags"), (#"{"separators":{"tags":"a1 "}}"#, "separators.tags"),
            (#"{"separators":{"tags":1}}"#, "separators.tags"), (#"{"separators":{"tags":",\n"}}"#, "separators.tags"),
            (#"{"separators":{"name":","}}"#, "separators.name"), (#"{"columns":{"sku":[]}}"#, "columns.sku"),
            (#"{"columns":{"sku":[[]]}}"#, "columns.sku"), (#"{"columns":{"sku":""}}"#, "columns.sku"),
            (#"{"columns":{"sku":"_ "}}"#, "columns.sku"), (#"{"columns":{"sku":"a\nb"}}"#, "columns.sku"),
            (#"{"columns":{"sku":{"column":"a","x":1}}}"#, "x"), (#"{"columns":[]}"#, "columns"),
            (#"{"columns":{"sku":{"column":"a","first_of":"a"}}}"#, "columns.sku.first_of"),
            (#"{"columns":{"sku":{"column":"a","last_of":"a"}}}"#, "columns.sku.last_of"),
            (#"{"columns":{"sku":{"column":"a","all_of":"a"}}}"#, "columns.sku.all_of"),
            (#"{"columns":{"sku":{"column":"a","first_of":",","last_of":","}}}"#, "columns.sku"),
            (#"{"columns":{"sku":{"column":"a","when":[{"column":"b","is":[]}]}}}"#, "when.is"),
            (#"{"attributes":{"a":1}}"#, "attributes.a"), (#"{"attributes":{"1a":"b"}}"#, "attributes"),
            (#"{"attributes":{"a":"b"},"columns":{"attributes":"c"}}"#, "attributes"),
            (#"{"rows":1}"#, "rows"), (#"{"rows":[{"is":["a"]}]}"#, "rows.column"),
            (#"{"rows":[{"column":[],"is":["a"]}]}"#, "rows.column"),
            (#"{"rows":[{"column":"a","is":["a"],"x":1}]}"#, "x"),
            (#"{"variants":{"inherit":"a"}}"#, "variants.column"),
            (#"{"variants":{"column":"a","inherit":"b","x":1}}"#, "x"),
            (#"{"variants":{"column":"a","inherit":"b","keys":{"_":""}}}"#, "variants.keys"),
            (#"{"variants":{"column":"a","inherit":"b","keys":{"a":1}}}"#, "variants.keys"),
            (#"{"words":{"units":{"":"g"}}}"#, "words.units."), (#"{"words":{"units":{"a":1}}}"#, "words.units.a"),
            (#"{"words":{"x":1}}"#, "x"), (#"{"language":""}"#, "language"), (#"{"language":"xx"}"#, "language"),
            (#"{"shelf_path":","  ,"separators":{"shelf":","}}"#, "shelf_path"), (#"{"currency":"x"}"#, "currency"),
        ] as [(String, String)]
    )
    func invalidProfiles(_ json: String, _ field: String) { #expect(Self.failure(json) == field) }

    @Test("The same texts in different places of a profile do not contradict each other")
    func validProfiles() {
        for json in [
            #"{"shelf_path":",","separators":{"tags":","}}"#, #"{"separators":{"shelf":","}}"#,
            #"{"columns":{"attributes":"c"}}"#, #"{"words":{"available":["a"],"unavailable":["b"]}}"#,
            #"{"columns":{"sku":{"constant":"c"}}}"#, #"{"columns":{"sku":{"column":"a"}}}"#,
            #"{"separators":{"tags":"a,"}}"#,
        ] { #expect(Self.failure(json) == nil, "\(json)") }
    }

    @Test("A profile as text is at most 64 KiB long, and a long name is quoted in part")
    func documents() {
        let start = "{\"title\":\"a\"}"
        let longest = start + String(repeating: " ", count: (64 << 10) - start.utf8.count)
        #expect(Self.failure(longest) == nil)
        #expect(Self.failure(longest + " ") == "profile")
        #expect(Self.failure("{") == "profile")
        let name = Self.long(65)
        #expect(Self.failure("{\"columns\":{\"\(name)\":\"a\"}}") == "columns.\(name.dropLast())")
        #expect(Self.failure("{\"separators\":{\"\(name)\":\"a\"}}") == "separators.\(name.dropLast())")
        #expect(Self.failure("{\"words\":{\"units\":{\"\(name)\":\"g\"}}}") == "words.units.\(name.dropLast())")
        let error = #expect(throws: CatalogError.self) { try Self.profile("{\"attributes\":{\"A\(name)\":\"a\"}}") }
        #expect(error?.reason.hasPrefix("attributes “A\(Self.long(63))” must be ") == true)
    }

    @Test("Built-in profiles are found by their names")
    func builtInProfiles() {
        #expect(
            ImportProfile.builtIn.map(\.name)
                == ["croatian-price-list", "google-merchant", "open-food-facts", "shopify", "woocommerce"]
        )
        for (name, profile) in ImportProfile.builtIn { #expect(ImportProfile.builtIn(name) == profile) }
        #expect(ImportProfile.builtIn("other") == nil)
    }

    // MARK: - Stored profiles

    /// A store with one saved profile, in which only UTC is a time zone.
    private struct Profiles: ImportProfileStore {
        let saved: SavedImportProfile

        func importProfiles() async throws(CatalogError) -> [SavedImportProfile] { [saved] }
        func importProfile(_ name: CatalogKey) async throws(CatalogError) -> SavedImportProfile {
            guard name == saved.name else { throw .notFound("a profile") }
            return saved
        }
        func put(importProfile document: String, _ name: CatalogKey) async throws(CatalogError) -> Bool {
            document == "{\"title\":\"new\"}"
        }
        func remove(importProfile name: CatalogKey) async throws(CatalogError) {}
        func localTime(in timeZone: String) async throws(CatalogError) -> Timestamp? {
            timeZone == "UTC" ? Timestamp(microseconds: 0) : nil
        }
    }

    private static func profiles(_ document: String = #"{"title":"saved"}"#) -> Profiles {
        Profiles(
            saved: SavedImportProfile(
                name: CatalogKey("feed")!,
                document: document,
                modifiedAt: Timestamp(microseconds: 0)
            )
        )
    }

    @Test("A profile is a built-in or a saved one; an unknown name is answered with the built-in names")
    func namedProfiles() async throws {
        let profiles = Self.profiles()
        #expect(try await profiles.profile(named: "feed").title == "saved")
        #expect(try await profiles.profile(named: "shopify") == ImportProfile.builtIn("shopify"))
        for (name, hint) in [("shopfy", "did you mean “shopify”? "), ("nobody", ""), ("Not A Key", "")] {
            let names = "croatian-price-list, google-merchant, open-food-facts, shopify, woocommerce"
            await #expect(throws: CatalogError.notFound("import profile “\(name)” (\(hint)built in are \(names))")) {
                try await profiles.profile(named: name)
            }
        }
        let error = await #expect(throws: CatalogError.self) { try await profiles.profile(named: Self.long(65)) }
        #expect(error?.reason.hasPrefix("import profile “\(Self.long(64))” (") == true)
        await #expect(
            throws: CatalogError.unprocessable(
                field: "profile",
                detail: "profile is not JSON: unexpected end, expected a value at byte 0"
            )
        ) {
            try await Self.profiles("").profile(named: "feed")
        }
    }

    @Test("A saved profile has a name of its own, a known time zone and a limited size")
    func savesProfiles() async throws {
        let profiles = Self.profiles()
        #expect(try await profiles.save(try Self.profile(#"{"title":"new"}"#), named: CatalogKey("a")!))
        #expect(try await !profiles.save(try Self.profile(#"{"title":"old"}"#), named: CatalogKey("a")!))
        _ = try await profiles.save(try Self.profile(#"{"time_zone":"UTC"}"#), named: CatalogKey("a")!)
        await #expect(
            throws: CatalogError.conflict("import profile “shopify” is built in; save yours under another name")
        ) { try await profiles.save(ImportProfile(), named: CatalogKey("shopify")!) }
        let error = await #expect(throws: CatalogError.self) {
            try await profiles.save(try Self.profile(#"{"time_zone":"Nowhere"}"#), named: CatalogKey("a")!)
        }
        guard case .unprocessable("time_zone", _)? = error else {
            Issue.record("the error is \(String(describing: error))")
            return
        }
        // A profile that was not parsed may be longer than its text may be.
        func saved(_ count: Int) async throws -> String? {
            var profile = ImportProfile()
            profile.title = String(repeating: "x", count: count - #"{"title":""}"#.utf8.count)
            do { _ = try await profiles.save(profile, named: CatalogKey("a")!) } catch { return error.reason }
            return nil
        }
        #expect(try await saved(64 << 10) == nil)
        #expect(try await saved(65_537) == "the profile has 65537 bytes; the maximum is 65536")
    }

    // MARK: - Reports

    @Test("A report has the counts and everything that the import found")
    func reports() throws {
        var summary = ImportSummary()
        (summary.read, summary.inserted) = (3, 2)
        summary.dialect = FileDialect(encoding: .windows1250, separator: .tab, decimalMark: .comma, headerLine: 2)
        summary.warnings = ["w"]
        summary.unknownSizes.add("big")
        for line in [8, 6, 9] {
            let unreadable = ImportRejection(line: line, column: "rating", value: "x\(line)", reason: "is wrong")
            summary.unreadableAttributes.add(unreadable, of: "rating")
        }
        summary.removedByShelf = [
            ShelfRemoval(store: CatalogKey("s")!, shelf: CatalogKey("tea")!, removed: 1, remaining: 9),
            ShelfRemoval(store: CatalogKey("s")!, shelf: nil, removed: 2, remaining: 0),
        ]
        summary.preview = [
            ImportPreview(
                line: 4,
                store: CatalogKey("s")!,
                currency: Currency("SEK")!,
                shelves: [["Food", "Tea"], ["Sale"]],
                product: Product(sku: SKU("a")!, name: "A", priceMinor: 129, popularity: Popularity(log2: 500))
            )
        ]
        let rejection = ImportRejection(line: 5, column: "price", value: "x", reason: "is wrong")
        let rejects = #"[{"line":5,"column":"price","value":"x","reason":"is wrong"}]"#
        let counts = summary.counts.map { "\"\($0.name)\":\($0.count)" }.joined(separator: ",")
        let file = #""file":{"encoding":"windows-1250","separator":"tab","decimal_mark":"comma","header_line":2}"#
        let found = """
            \(file),"warnings":["w"],"unknown_sizes":[{"text":"big","count":1}],\
            "unreadable_attributes":[{"name":"rating","count":3,"line":6,"value":"x6","reason":"is wrong"}],\
            "removed_by_shelf":[{"store":"s","shelf":"tea","removed":1,"remaining":9},\
            {"store":"s","shelf":null,"removed":2,"remaining":0}]
            """
        let preview = """
            [{"line":4,"store":"s","shelves":[["Food","Tea"],["Sale"]],"sku":"a","name":"A","brand":null,"price_minor":129,\
            "currency":"SEK","regular_price_minor":null,"size":null,"barcode":null,"image_url":null,"group":null,"attributes":{},\
            "in_stock":true,"tags":[]}]
            """
        let report = ImportReport(summary, isDryRun: false, rejections: [rejection])
        #expect(text(report.json) == "{\(counts),\"dry_run\":false,\(found),\"rejects\":\(rejects)}")
        var dry = ImportReport(summary, isDryRun: true, rejections: [])
        dry.error = "too many"
        #expect(
            text(dry.json)
                == "{\"error\":\"too many\",\(counts),\"dry_run\":true,\(found),\"preview\":\(preview),\"rejects\":[]}"
        )
        #expect(text(ImportReport.failure("no", [rejection])) == #"{"error":"no","rejects":\#(rejects)}"#)
        let plain = ImportReport(counts: [("n", 7)], dialect: FileDialect())
        #expect(
            text(plain.json) == """
                {"n":7,"dry_run":false,"file":{"encoding":null,"separator":null,"decimal_mark":null,"header_line":null},\
                "warnings":[],"unknown_sizes":[],"unreadable_attributes":[],"removed_by_shelf":[],"rejects":[]}
                """
        )
        #expect(ImportReport.rejectionLimit == 1000)
    }
}
