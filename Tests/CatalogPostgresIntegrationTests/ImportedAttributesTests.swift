import Catalog
import CatalogJSON
import JSON
import LibPQ
import Ordering
import TestSupport
import Testing

@testable import CatalogImport
@testable import CatalogPostgres

/// Attributes in imports and exports.
@Suite(.timeLimit(.minutes(15))) struct ImportedAttributesTests {
    private static let shop = CatalogKey("shop")!
    private static let kiosk = CatalogKey("kiosk")!

    private static func run(
        _ catalog: PostgresCatalog,
        _ text: String,
        _ format: ImportOptions.Format = .csv,
        store: CatalogKey? = shop,
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) async throws -> ImportSummary {
        var options = ImportOptions(format: format, store: store, currency: Currency("EUR")!, createsStores: true)
        change(&options)
        var rejections: [String] = []
        let summary = try await Importer(catalog).importFile(
            ImporterTests.Chunks(text: text, pieceSize: 4096),
            options,
            onReject: { rejections.append($0.description) }
        )
        #expect(rejections == [])
        return summary
    }

    private static func export(_ catalog: PostgresCatalog, of store: CatalogKey? = nil) async throws -> String {
        var exported: [UInt8] = []
        try await CatalogExport(catalog.database).run(of: store) { exported += $0 }
        return String(decoding: exported, as: UTF8.self)
    }

    private static func declare(
        _ declarations: KeyValuePairs<String, String>,
        for owner: DeclarationOwner = .deployment,
        in catalog: PostgresCatalog
    ) async throws {
        for (name, body) in declarations {
            _ = try await catalog.attributes.declare(
                try AttributeDeclaration(name: AttributeName(name)!, text: Array(body.utf8)),
                for: owner
            )
        }
    }

    private static func put(
        _ sku: String,
        _ attributes: String,
        in store: CatalogKey = shop,
        _ catalog: PostgresCatalog
    )
        async throws
    {
        _ = try await catalog.products.put(Product(sku: SKU(sku)!, name: "P", attributes: attributes), in: store)
    }

    private static func attributes(
        of sku: String,
        in store: CatalogKey = shop,
        _ catalog: PostgresCatalog
    ) async throws -> JSONValue {
        let text = try await catalog.products.product(store, SKU(sku)!).product.attributes
        return try JSONReader.parse(Array(text.utf8))
    }

    private static func json(_ text: String) throws -> JSONValue { try JSONReader.parse(Array(text.utf8)) }

    private static func expect(
        _ sku: String,
        _ attributes: String,
        in store: CatalogKey = shop,
        _ catalog: PostgresCatalog,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try await Self.attributes(of: sku, in: store, catalog)
        #expect(found.isEquivalent(to: try json(attributes)), "\(found.text)", sourceLocation: location)
    }

    /// Runs a body on a catalog with two stores.
    private static func withStores(_ body: (PostgresCatalog) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for key in [shop, kiosk] {
                _ = try await catalog.shelves.put(Store(key: key, title: key.text, currency: Currency("EUR")!))
            }
            try await body(catalog)
        }
    }

    private static let rating = #"{"type":"number","decimals":1}"#

    // MARK: - Columns

    @Test("A column changes its attribute only: other attributes stay, and an empty or unreadable cell clears it")
    func columns() async throws {
        try await Self.withStores { catalog in
            try await Self.declare(["rating": Self.rating, "origin": #"{"type":"text"}"#], in: catalog)
            try await Self.put("a", #"{"rating":1,"origin":"Krk","own":true}"#, catalog)
            try await Self.put("b", #"{"rating":1,"origin":"Krk"}"#, catalog)
            try await Self.put("c", #"{"rating":1,"own":true}"#, catalog)
            let file = "sku,name,rating\na,P,\"4,5\"\nb,P,\nc,P,good\nd,P,bad\ne,P,3\n"
            for isDryRun in [true, false] {
                let summary = try await Self.run(catalog, file) { $0.isDryRun = isDryRun }
                #expect((summary.inserted, summary.updated, summary.unchanged) == (2, 3, 0))
                #expect(summary.counts.first { $0.name == "attributes_unreadable" }?.count == 2)
                let entry = try #require(summary.unreadableAttributes.entries.first)
                #expect(entry.name == "rating" && entry.first.line == 4 && entry.first.value == "good")
                #expect(
                    summary.warnings.contains {
                        $0.hasPrefix("attribute rating is unknown in 2 rows: line 4, rating: “good”")
                    }
                )
                #expect(summary.fieldsEmptied == 0 && summary.rejected == 0)
                if isDryRun {
                    #expect(
                        summary.preview.map(\.product.attributes) == [
                            #"{"rating":4.5}"#, "{}", "{}", "{}", #"{"rating":3}"#,
                        ]
                    )
                    try await Self.expect("a", #"{"rating":1,"origin":"Krk","own":true}"#, catalog)
                }
            }
            try await Self.expect("a", #"{"rating":4.5,"origin":"Krk","own":true}"#, catalog)
            try await Self.expect("b", #"{"origin":"Krk"}"#, catalog)
            try await Self.expect("c", #"{"own":true}"#, catalog)
            try await Self.expect("d", "{}", catalog)
            let again = try await Self.run(catalog, file)
            #expect((again.inserted, again.updated, again.unchanged) == (0, 0, 5))
            // A file without columns of attributes changes none.
            #expect(try await Self.run(catalog, "sku,name\na,P\nb,P\n").unchanged == 2)
        }
    }

    @Test("The last row of a product counts, on each of its shelves")
    func repeatedRows() async throws {
        try await Self.withStores { catalog in
            try await Self.declare(["rating": Self.rating], in: catalog)
            try await Self.put("a", #"{"rating":1,"own":true}"#, catalog)
            let file = "sku,name,shelf,rating\na,P,One,2\na,P,Two,x\na,P,One,3\n"
            let summary = try await Self.run(catalog, file)
            #expect(summary.repeated == 1 && summary.conflicts == 2)
            try await Self.expect("a", #"{"rating":3,"own":true}"#, catalog)
            #expect(try await Self.run(catalog, file).unchanged == 2)
        }
    }

    @Test("Columns belong to the stores that declare their attributes")
    func severalStores() async throws {
        try await Self.withStores { catalog in
            try await Self.declare(["rating": Self.rating], for: .store(Self.shop), in: catalog)
            try await Self.declare(["score": #"{"type":"boolean"}"#], for: .store(Self.kiosk), in: catalog)
            for store in [Self.shop, Self.kiosk] {
                try await Self.put("a", #"{"rating":1,"score":false,"own":1}"#, in: store, catalog)
            }
            let file = "store,sku,name,rating,score\nshop,a,P,2,yes\nkiosk,a,P,2,yes\nnew,a,P,2,yes\nkiosk,b,P,2,no\n"
            let summary = try await Self.run(catalog, file, store: nil)
            #expect((summary.inserted, summary.updated) == (2, 2) && summary.unreadableAttributes.count == 0)
            try await Self.expect("a", #"{"rating":2,"score":false,"own":1}"#, catalog)
            try await Self.expect("a", #"{"rating":1,"score":true,"own":1}"#, in: Self.kiosk, catalog)
            try await Self.expect("b", #"{"score":false}"#, in: Self.kiosk, catalog)
            try await Self.expect("a", "{}", in: CatalogKey("new")!, catalog)
            #expect(try await Self.run(catalog, file, store: nil).unchanged == 4)
        }
    }

    // MARK: - Objects

    @Test("Values of another type in an object are cleared and counted, unless the product has them already")
    func objects() async throws {
        try await Self.withStores { catalog in
            for sku in ["a", "b", "c"] { try await Self.put(sku, #"{"rating":"old","own":1}"#, catalog) }
            try await Self.declare(["rating": Self.rating], in: catalog)
            let file = #"""
                {"sku":"a","name":"P","attributes":{"own":2,"rating":"old"}}
                {"sku":"b","name":"P","attributes":{"own":2,"rating":"new"}}
                {"sku":"c","name":"P"}
                {"sku":"d","name":"P","shelf":"One","attributes":{"rating":4.55}}
                {"sku":"e","name":"P","attributes":{"rating":4.5}}
                """#
            for isDryRun in [true, false] {
                let summary = try await Self.run(catalog, file, .ndjson) { $0.isDryRun = isDryRun }
                #expect((summary.inserted, summary.updated, summary.unchanged) == (2, 2, 1))
                let entry = try #require(summary.unreadableAttributes.entries.first)
                #expect((entry.name, entry.count, entry.first.line) == ("rating", 2, 2))
                #expect(entry.first.value == "\"new\"" && entry.first.reason.hasPrefix("must be a number"))
                // A dry run shows the values that stay.
                let preview = [#"{"own":2,"rating":"old"}"#, #"{"own":2}"#, "{}", "{}", #"{"rating":4.5}"#]
                #expect(summary.preview.map(\.product.attributes) == (isDryRun ? preview : []))
            }
            try await Self.expect("a", #"{"own":2,"rating":"old"}"#, catalog)
            try await Self.expect("b", #"{"own":2}"#, catalog)
            try await Self.expect("c", #"{"own":1,"rating":"old"}"#, catalog)
            try await Self.expect("d", "{}", catalog)
            try await Self.expect("e", #"{"rating":4.5}"#, catalog)
            #expect(try await Self.run(catalog, file, .ndjson).unchanged == 5)
        }
    }

    @Test("Rows of JSON without the object change only their mapped attributes, and those with it change all")
    func partialRows() async throws {
        try await Self.withStores { catalog in
            try await Self.declare(["rating": Self.rating], in: catalog)
            for sku in ["a", "b", "c"] { try await Self.put(sku, #"{"rating":1,"own":true}"#, catalog) }
            let file = #"""
                {"sku":"a","name":"P","stars":4.5}
                {"sku":"b","name":"P","attributes":{"x":1},"stars":3}
                {"sku":"c","name":"P"}
                {"sku":"d","name":"P","stars":2}
                {"sku":"e","name":"P","attributes":{"rating":5}}
                """#
            func run() async throws -> ImportSummary {
                try await Self.run(catalog, file, .ndjson) {
                    $0.profile.mapping.attributes["rating"] = ColumnSource([["stars"]])
                }
            }
            let summary = try await run()
            #expect((summary.inserted, summary.updated, summary.unchanged) == (2, 3, 0))
            try await Self.expect("a", #"{"rating":4.5,"own":true}"#, catalog)
            try await Self.expect("b", #"{"x":1,"rating":3}"#, catalog)
            try await Self.expect("c", #"{"own":true}"#, catalog)
            try await Self.expect("d", #"{"rating":2}"#, catalog)
            try await Self.expect("e", #"{"rating":5}"#, catalog)
            #expect(try await run().unchanged == 5)
        }
    }

    @Test("A file with too many values of another type is refused, and none of them is lost")
    func tooManyMistypedValues() throws {
        var record = ImportRecord(
            line: 7,
            store: Self.shop,
            shelves: [],
            currency: Currency("EUR")!,
            product: Product(sku: SKU("a")!, name: "A", attributes: #"{"rating":"x"}"#),
            position: nil
        )
        record.mistypedAttributes["rating"] = ImportRejection(line: 7, column: "rating", reason: "must be a number")
        var values = MistypedAttributes()
        try values.add(record, 1, limit: 2)
        try values.add(record, 2, limit: 2)
        let error = #expect(throws: CatalogError.self) { try values.add(record, 3, limit: 2) }
        #expect("\(error!)".contains("more than 2 values of attributes have another type than declared"))
        #expect(values.values.map(\.numbers) == [[1, 2]])
    }

    // MARK: - Changes during an import

    /// Imports a file while a product is locked, and makes a change of the database before the lock is released.
    private static func run(
        _ catalog: PostgresCatalog,
        _ text: String,
        _ format: ImportOptions.Format,
        locking sku: String,
        changing script: String
    ) async throws -> ImportSummary {
        let blocker = try await PostgresConnection.connect(catalog.database.writes.configuration)
        try await blocker.perform {
            try $0.begin()
            _ = try $0.query("SELECT 1 FROM product WHERE store_id = 1 AND sku = $1 FOR UPDATE", [.text(sku)]) {
                $0.count
            }
        }
        async let change: Void = {
            try await catalog.untilLockIsAwaited()
            try await blocker.perform {
                try $0.run(script: script)
                try $0.commit()
            }
        }()
        let result: Result<ImportSummary, any Error>
        do { result = .success(try await run(catalog, text, format)) } catch { result = .failure(error) }
        try await change
        await blocker.close()
        return try result.get()
    }

    @Test("A value of another type is cleared if the product changes before the file is applied")
    func changedProduct() async throws {
        try await Self.withStores { catalog in
            for sku in ["a", "b"] { try await Self.put(sku, #"{"rating":"old","own":1}"#, catalog) }
            try await Self.declare(["rating": Self.rating], in: catalog)
            // The first row of each product has the values of its last row.
            let file = #"""
                {"sku":"a","name":"P","shelf":"One","attributes":{"rating":3}}
                {"sku":"a","name":"P","shelf":"Two","attributes":{"own":2,"rating":"old"}}
                {"sku":"b","name":"P","attributes":{"own":2,"rating":"old"}}
                """#
            let change = #"UPDATE product SET attributes = '{"rating":5,"own":1}' WHERE store_id = 1 AND sku = 'a'"#
            let summary = try await Self.run(catalog, file, .ndjson, locking: "a", changing: change)
            try await Self.expect("a", #"{"own":2}"#, catalog)
            try await Self.expect("b", #"{"own":2,"rating":"old"}"#, catalog)
            #expect(summary.unreadableAttributes.entries.map(\.name) == ["rating"])
            #expect(summary.warnings.contains { $0.hasPrefix("attribute rating is unknown in 2 rows: line 1") })
        }
    }

    @Test("Attributes that a product gets while the file is applied stay, and a product that is deleted loses its own")
    func changedAttributes() async throws {
        try await Self.withStores { catalog in
            try await Self.declare(["rating": Self.rating], in: catalog)
            // When the file is compared, the product has no other attributes.
            try await Self.put("a", #"{"rating":1}"#, catalog)
            let change = #"UPDATE product SET attributes = '{"rating":1,"own":1}' WHERE store_id = 1 AND sku = 'a'"#
            let file = "sku,name,rating\na,P,2\n"
            #expect(try await Self.run(catalog, file, .csv, locking: "a", changing: change).updated == 1)
            try await Self.expect("a", #"{"rating":2,"own":1}"#, catalog)
            let deletion = "DELETE FROM product WHERE store_id = 1 AND sku = 'a'"
            let again = "sku,name,rating\na,P,3\n"
            #expect(try await Self.run(catalog, again, .csv, locking: "a", changing: deletion).inserted == 1)
            try await Self.expect("a", #"{"rating":3}"#, catalog)
        }
    }

    @Test("Attributes that are too long with those of the product reject the row, or the file if they change meanwhile")
    func tooManyAttributes() async throws {
        let length = Product.attributesLimit - 20
        let own = #"{"own":"\#(String(repeating: "x", count: length))"}"#
        try await Self.withStores { catalog in
            try await Self.declare(["rating": Self.rating], in: catalog)
            try await Self.put("a", own, catalog)
            var rejections: [String] = []
            let summary = try await Importer(catalog).importFile(
                ImporterTests.Chunks(text: "sku,name,rating\na,P,4.5\nb,P,4.5\n", pieceSize: 4096),
                ImportOptions(format: .csv, store: Self.shop),
                onReject: { rejections.append($0.description) }
            )
            #expect((summary.inserted, summary.rejected) == (1, 1))
            #expect(rejections.count == 1 && rejections[0].hasPrefix("line 2, attributes: the attributes of the file"))
            try await Self.expect("a", own, catalog)
            let change = """
                UPDATE product SET attributes = jsonb_build_object('own', repeat('x', \(length))) WHERE store_id = 1 AND sku = 'b'
                """
            let error = await #expect(throws: CatalogError.self) {
                try await Self.run(catalog, "sku,name,rating\nb,P,3.5\n", .csv, locking: "b", changing: change)
            }
            #expect("\(error!)".contains("so that a product has too many; import the file again"))
            try await Self.expect("b", own, catalog)
        }
    }

    @Test("An attribute of the deployment that gets another type while the file is applied refuses it")
    func lateDeclaration() async throws {
        try await Self.withStores { catalog in
            try await Self.declare(["rating": Self.rating], in: catalog)
            try await Self.put("a", #"{"rating":1}"#, catalog)
            let error = await #expect(throws: CatalogError.self) {
                try await Self.run(
                    catalog,
                    "sku,name,rating\na,P,2\n",
                    .csv,
                    locking: "a",
                    changing: #"UPDATE attribute SET document = '{"type":"text"}' WHERE name = 'rating'"#
                )
            }
            #expect("\(error!)".contains("declared differently during the import"))
            try await Self.expect("a", #"{"rating":1}"#, catalog)
        }
    }

    @Test("Other properties, and attributes that the file does not have, may be declared differently meanwhile")
    func harmlessDeclarations() async throws {
        try await Self.withStores { catalog in
            try await Self.declare(["rating": Self.rating, "origin": #"{"type":"text"}"#], in: catalog)
            try await Self.put("a", #"{"rating":1,"origin":"Krk"}"#, catalog)
            let change = #"""
                UPDATE attribute SET document = '{"type":"number","decimals":1,"natural":"desc","title":{"en":"Stars"}}' WHERE name = 'rating';
                UPDATE attribute SET document = '{"type":"boolean"}' WHERE name = 'origin'
                """#
            let summary = try await Self.run(catalog, "sku,name,rating\na,P,2\n", .csv, locking: "a", changing: change)
            #expect(summary.updated == 1)
            try await Self.expect("a", #"{"rating":2,"origin":"Krk"}"#, catalog)
        }
    }

    @Test(
        "A file is not applied by other declarations than those by which it was read",
        arguments: ["rating", "attributes"]
    )
    func changedDeclarations(_ column: String) async throws {
        try await Self.withStores { catalog in
            try await Self.declare(["rating": Self.rating], in: catalog)
            let blocker = try await PostgresConnection.connect(catalog.database.writes.configuration)
            try await blocker.perform {
                try $0.begin()
                _ = try $0.query("SELECT 1 FROM store_state WHERE store_id = 1 FOR UPDATE") { $0.count }
            }
            async let change: Void = {
                try await catalog.untilLockIsAwaited()
                try await blocker.perform {
                    try $0.run(script: #"UPDATE attribute SET document = '{"type":"text"}' WHERE name = 'rating'"#)
                    try $0.commit()
                }
            }()
            let error = await #expect(throws: CatalogError.self) {
                try await Self.run(catalog, "sku,name,\(column)\na,P,\n")
            }
            #expect("\(error!)".contains("declared differently during the import; import the file again"))
            try await change
            await blocker.close()
            await #expect(throws: CatalogError.self) { try await catalog.products.product(Self.shop, SKU("a")!) }
        }
    }

    // MARK: - Exports

    /// The bodies of 64 declarations of all types, by name.
    private static var declarations: [(name: String, body: String)] {
        let options = #"[{"key":"IT"},{"key":"ES"},{"key":"Costa Rica"},{"key":"a, b"}]"#
        let types = [
            #"{"type":"enum","values":\#(options)}"#, #"{"type":"set","values":\#(options)}"#, #"{"type":"set"}"#,
            #"{"type":"text"}"#, #"{"type":"boolean"}"#, #"{"type":"date"}"#,
        ]
        let numbers = (0...9).map { #"{"type":"number","decimals":\#($0)}"# }
        var bodies = (0..<15).flatMap { _ in types } + numbers + numbers
        bodies = Array(bodies.suffix(63))
        let named = bodies.enumerated().map {
            (name: $0.offset == 0 ? "pack__count" : "a\($0.offset)", body: $0.element)
        }
        let number = named.last!.name
        return named + [("ratio", #"{"type":"ratio","numerator":"price","denominator":["\#(number)"]}"#)]
    }

    /// Returns a random value of a declaration.
    private static func value(of body: JSONValue, _ generator: inout some RandomNumberGenerator) -> JSONValue? {
        let texts = [
            "Istria", "a,b", #"say "x""#, "a|b", " spaces ", "1.234", "true", "é", "-1", "=1+1", "a\\b", "2026-03-01",
        ]
        switch body["type"] {
        case .string("number"):
            guard case .number(let decimals)? = body["decimals"] else { return nil }
            let limits: [Int64] = [10, 10_000, 1_000_000_000_000_000]
            let limit = limits.randomElement(using: &generator)! - 1
            return .number(
                ExactDecimal.digits(Int128(Int64.random(in: -limit...limit, using: &generator)), scale: Int(decimals)!)
            )
        case .string("enum"): return .string(["IT", "ES", "Costa Rica", "a, b"].randomElement(using: &generator)!)
        case .string("set"):
            let elements =
                body["values"] == nil ? texts.filter(Product.isTag) : ["IT", "ES", "Costa Rica", "a, b"]
            return .array(
                elements.shuffled(using: &generator).prefix(Int.random(in: 0...3, using: &generator)).map {
                    .string($0)
                }
            )
        case .string("text"): return .string(texts.randomElement(using: &generator)!)
        case .string("boolean"): return .bool(Bool.random(using: &generator))
        case .string("date"):
            return .string(
                ["0001-01-01", "1969-12-31", "2000-02-29", "2026-03-01", "9999-12-31"].randomElement(using: &generator)!
            )
        default: return nil
        }
    }

    @Test(
        "An export with 64 attributes of all types changes nothing when it is imported, and recreates the values",
        arguments: [1, 2] as [UInt64]
    )
    func exportRoundTrips(_ seed: UInt64) async throws {
        let declarations = Self.declarations
        #expect(declarations.count == AttributeDefinition.countLimit)
        var generator = SeededGenerator(seed: seed)
        var products: [String] = []
        for number in 0..<60 {
            var members: [JSONValue.Member] = number % 3 == 0 ? [.init("undeclared", .string("x, y"))] : []
            for (name, body) in declarations.shuffled(using: &generator).prefix(number < 5 ? 64 : 20) {
                if let value = Self.value(of: try Self.json(body), &generator) { members.append(.init(name, value)) }
            }
            products.append(JSONValue.object(members).text)
        }
        // Values that are stored before the attributes are declared, and have another type.
        products += [
            #"{"a1":7,"a4":[1],"a8":{"x":null},"a62":"x"}"#,
            #"{"ratio":1,"a3":"\u0009x","a5":null,"a61":4.123456789123}"#,
        ]
        func declareAll(_ catalog: PostgresCatalog) async throws {
            for (index, (name, body)) in declarations.enumerated() {
                let owner: DeclarationOwner = index % 2 == 0 || name == "ratio" ? .store(Self.shop) : .deployment
                try await Self.declare([name: body], for: owner, in: catalog)
            }
        }
        try await Self.withStores { catalog in
            for (number, attributes) in products.enumerated() { try await Self.put("p\(number)", attributes, catalog) }
            try await declareAll(catalog)
            let text = try await Self.export(catalog)
            let header = text.split(separator: "\n")[0].split(separator: ",").map(String.init)
            #expect(header.count == ImportColumn.exported.count + 63 && !header.contains("attributes.ratio"))
            #expect(header.contains("attributes.a1") && header.contains("attributes.pack__count"))
            for (store, file) in [(nil, text), (Self.shop, try await Self.export(catalog, of: Self.shop))] {
                let summary = try await Self.run(catalog, file, store: store)
                #expect(summary.unchanged == products.count && summary.updated == 0, "\(file)")
                #expect(summary.warnings.isEmpty && summary.unreadableAttributes.entries.isEmpty, "\(summary.warnings)")
            }
            try await Self.withStores { copy in
                try await declareAll(copy)
                let summary = try await Self.run(copy, text)
                #expect(summary.inserted == products.count)
                // Values of another type are not those of a stored product there.
                #expect(summary.unreadableAttributes.count > 0)
                for number in 0..<60 {
                    let original = try await Self.attributes(of: "p\(number)", catalog)
                    let copied = try await Self.attributes(of: "p\(number)", copy)
                    #expect(copied.isEquivalent(to: original), "\(copied.text) \(original.text)")
                }
                #expect(try await Self.run(copy, text).unchanged == products.count)
            }
        }
    }

    @Test("An export of several stores has the columns of all of them")
    func exportOfStores() async throws {
        try await Self.withStores { catalog in
            try await Self.declare(["rating": Self.rating], for: .store(Self.shop), in: catalog)
            try await Self.declare(["score": #"{"type":"text"}"#], for: .store(Self.kiosk), in: catalog)
            for store in [Self.shop, Self.kiosk] {
                try await Self.put("a", #"{"rating":4.5,"score":"x"}"#, in: store, catalog)
            }
            let lines = try await Self.export(catalog).split(separator: "\n")
            #expect(lines[0].hasSuffix(",attributes,attributes.rating,attributes.score"))
            #expect(lines[1].hasPrefix("kiosk,") && lines[1].hasSuffix(#","{""rating"":4.5}",,x"#))
            #expect(lines[2].hasPrefix("shop,") && lines[2].hasSuffix(#","{""score"":""x""}",4.5,"#))
            let own = try await Self.export(catalog, of: Self.shop).split(separator: "\n")
            #expect(own[0].hasSuffix(",attributes,attributes.rating"))
            #expect(try await Self.run(catalog, Self.export(catalog), store: nil).unchanged == 2)
        }
    }

    @Test("An export is not imported where an attribute is not declared, because its values would be lost")
    func exportsWithoutDeclarations() async throws {
        try await Self.withStores { catalog in
            for key in [Self.shop, Self.kiosk] {
                try await Self.declare(["rating": Self.rating], for: .store(key), in: catalog)
                try await Self.put("a", #"{"rating":4.5,"own":1}"#, in: key, catalog)
            }
            let text = try await Self.export(catalog)
            let own = try await Self.export(catalog, of: Self.shop)
            try await catalog.attributes.remove(attribute: AttributeName("rating")!, of: .store(Self.shop))
            let error = await #expect(throws: CatalogError.self) { try await Self.run(catalog, own) }
            #expect("\(error!)".contains("the attribute “rating” is not declared, so its values would be lost"))
            // Another store declares it, so only the rows of this one are rejected.
            var rejections: [String] = []
            let summary = try await Importer(catalog).importFile(
                ImporterTests.Chunks(text: text, pieceSize: 4096),
                ImportOptions(format: .csv),
                onReject: { rejections.append($0.description) }
            )
            #expect((summary.unchanged, summary.rejected) == (1, 1))
            #expect(rejections.count == 1 && rejections[0].contains("attributes.rating: “4.5” would be lost"))
            for key in [Self.shop, Self.kiosk] {
                try await Self.expect("a", #"{"rating":4.5,"own":1}"#, in: key, catalog)
            }
            // Without the object, the product keeps its attributes.
            let partial = try await Self.run(catalog, "store,sku,name,rating\nshop,a,P,5\nkiosk,a,P,5\n", store: nil)
            #expect(partial.warnings.count == 1)
            #expect(partial.warnings[0].hasPrefix("ignored rating in 1 row of store “shop”"))
            try await Self.expect("a", #"{"rating":4.5,"own":1}"#, catalog)
            try await Self.expect("a", #"{"rating":5,"own":1}"#, in: Self.kiosk, catalog)
        }
    }
}
