import Catalog
import CatalogImport
import Testing

/// Columns of declared attributes in files of products.
@Suite(.timeLimit(.minutes(15))) struct AttributeColumnTests {
    private struct Outcome {
        var records: [ImportRecord] = []
        var rejections: [String] = []
        var warnings: [String] = []
        var names: [String]?

        var attributes: [String] { records.map(\.product.attributes) }
        /// The unreadable values, by row and name.
        var unreadable: [String] {
            records.flatMap { record in
                record.unreadableAttributes.sorted { $0.key < $1.key }.map { "\($0.value.description)" }
            }
        }
    }

    private static let shop = CatalogKey("shop")!
    private static let kiosk = CatalogKey("kiosk")!

    private static func set(_ declarations: [String: AttributeForm]) throws -> AttributeSet {
        AttributeSet(
            deployment: try declarations.map {
                .definition(try AttributeDefinition(name: AttributeName($0.key)!, form: $0.value))
            }
        )
    }

    private static let ratio = AttributeForm.ratio(AttributeRatio(numerator: .price, denominators: [.quantity]))

    private static let declared: [String: AttributeForm] = [
        "rating": .number(decimals: 1), "origin": .enumeration([.init(key: "IT"), .init(key: "ES")]),
        "allergens": .set(nil), "story": .text, "organic": .boolean, "best_before": .date, "per_kg": ratio,
        "pack__count": .number(decimals: 0),
    ]

    private func read(
        _ text: String,
        _ format: ImportOptions.Format = .csv,
        store: CatalogKey? = shop,
        attributes: StoreAttributes? = nil,
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> Outcome {
        var options = ImportOptions(format: format, store: store, currency: Currency("EUR")!)
        change(&options)
        var reader = ImportReader(
            options,
            currencies: [:],
            attributes: try attributes ?? StoreAttributes(deployment: Self.set(Self.declared))
        )
        var outcome = Outcome()
        func take(_ event: ImportReader.Event) {
            switch event {
            case .record(let record): outcome.records.append(record)
            case .rejected(let rejection): outcome.rejections.append(rejection.description)
            case .header, .skipped: break
            }
        }
        try Array(text.utf8).withUnsafeBytes { try reader.read($0) { take($0) } }
        try reader.end { take($0) }
        outcome.warnings = reader.warnings
        outcome.names = reader.attributeNames(of: Self.shop)
        return outcome
    }

    private func refusal(_ text: String, _ change: (inout ImportOptions) -> Void = { _ in }) -> String? {
        do { _ = try read(text, change) } catch { return "\(error)" }
        return nil
    }

    private func read(_ text: String, _ change: (inout ImportOptions) -> Void) throws -> Outcome {
        try read(text, .csv, change)
    }

    @Test("Columns with the names of declared attributes set them, by their types")
    func columns() throws {
        let outcome = try read(
            """
            sku,name,Rating,attributes.ORIGIN,allergens,story,organic,best_before,other
            a,A,"4,5",IT,nuts|milk, On a hill ,yes,1.3.2026,x
            b,B,,,|,,,,
            """
        )
        #expect(
            outcome.attributes == [
                #"{"allergens":["nuts","milk"],"best_before":"2026-03-01","organic":true,"origin":"IT","rating":4.5,"story":"On a hill"}"#,
                #"{"allergens":[]}"#,
            ]
        )
        #expect(outcome.names == ["allergens", "best_before", "organic", "origin", "rating", "story"])
        #expect(outcome.records.allSatisfy { $0.hasAttributes && $0.unreadableAttributes.isEmpty })
        #expect(outcome.warnings.count == 1 && outcome.warnings[0].hasPrefix("ignored columns: other;"))
    }

    @Test("A cell that cannot be read leaves the attribute out, and is reported with its line")
    func unreadableCells() throws {
        let outcome = try read("sku,name,rating,origin\na,A,good,IT\nb,B,3,Italy\n")
        #expect(outcome.attributes == [#"{"origin":"IT"}"#, #"{"rating":3}"#])
        #expect(outcome.rejections.isEmpty && outcome.names == ["origin", "rating"])
        #expect(outcome.unreadable.count == 2)
        #expect(outcome.unreadable[0].hasPrefix("line 2, rating: “good” is not a number"))
        #expect(outcome.unreadable[1] == "line 3, origin: “Italy” must be one of the declared values: IT, ES")
    }

    @Test("The column of numbers shows its decimal mark, and the option sets it")
    func decimalMarks() throws {
        #expect(
            try read("sku;name;rating\na;A;0,5\nb;B;1.234\n").attributes == [#"{"rating":0.5}"#, #"{"rating":1234}"#]
        )
        #expect(try read("sku;name;rating\na;A;1.234\n").attributes == ["{}"])
        let outcome = try read("sku;name;rating\na;A;1.234\nb;B;4.5\n") { $0.dialect.decimalMark = .comma }
        #expect(outcome.attributes == [#"{"rating":1234}"#, "{}"])
    }

    @Test("Commas separate the elements of a set if the column shows it")
    func commas() throws {
        let outcome = try read("sku,name,allergens\na,A,\"nuts, milk\"\nb,B,nuts\nc,C,\"salt, pepper\"\n")
        #expect(
            outcome.attributes == [
                #"{"allergens":["nuts","milk"]}"#, #"{"allergens":["nuts"]}"#, #"{"allergens":["salt","pepper"]}"#,
            ]
        )
        let bars = try read("sku,name,allergens\na,A,\"nuts, milk\"\nb,B,nuts|soy\n")
        #expect(bars.attributes == [#"{"allergens":["nuts, milk"]}"#, #"{"allergens":["nuts","soy"]}"#])
        let separator = try read("sku,name,allergens\na,A,nuts/soy\n") { $0.profile.separators[.tags] = "/" }
        #expect(separator.attributes == [#"{"allergens":["nuts","soy"]}"#])
    }

    @Test("A header with two columns for an attribute, or with a computed one, is refused")
    func refusedHeaders() {
        #expect(refusal("sku,name,rating,attributes.rating\n")?.contains("“rating” and “attributes.rating”") == true)
        #expect(refusal("sku,name,rating,Rating\n")?.contains("keep only one") == true)
        for title in ["per_kg", "attributes.per_kg"] {
            let reason = refusal("sku,name,\(title)\n")
            #expect(reason?.contains("the attribute “per_kg” is computed from other values") == true, "\(title)")
        }
        let mapped = refusal("sku,name,Ratio\n") { $0.profile.mapping.attributes["per_kg"] = ColumnSource("Ratio") }
        #expect(mapped?.contains("is computed from other values") == true)
    }

    @Test("Titles of other columns of imports are theirs")
    func otherColumns() throws {
        let outcome = try read("sku,name,size,unit,pack__count\na,A,330,ml,6\n")
        #expect(outcome.names == [] && outcome.records.first?.product.size?.packs == 6)
        let own = try read("sku,name,attributes.pack__count\na,A,6\n")
        #expect(own.attributes == [#"{"pack__count":6}"#])
    }

    @Test("A column that is mapped to something else is not that of the attribute, and a mapped attribute has its type")
    func mappings() throws {
        let outcome = try read("sku,name,story,Stars\na,A,Olympia,5\n") {
            $0.profile.mapping.columns[.brand] = ColumnSource("story")
            $0.profile.mapping.attributes["rating"] = ColumnSource("Stars")
            $0.profile.mapping.attributes["undeclared"] = ColumnSource("Stars")
        }
        #expect(outcome.records.first?.product.brand == "Olympia")
        #expect(outcome.attributes == [#"{"rating":5,"undeclared":"5"}"#] && outcome.names == ["rating", "undeclared"])
    }

    @Test("A cell takes precedence over the object of all attributes, and an empty one does not")
    func objects() throws {
        let outcome = try read(
            """
            sku,name,attributes,rating
            a,A,"{""rating"":1,""own"":2}",3
            b,B,"{""rating"":1,""own"":2}",
            c,C,,3
            d,D,"{""rating"":1}",x
            """
        )
        #expect(
            outcome.attributes == [
                #"{"own":2,"rating":3}"#, #"{"rating":1,"own":2}"#, #"{"rating":3}"#, "{}",
            ]
        )
        #expect(outcome.names == nil && outcome.unreadable.count == 1)
        #expect(outcome.records.allSatisfy { $0.mistypedAttributes.isEmpty })
    }

    @Test("Values of another type in an object are kept until they are compared with the stored product")
    func mistypedValues() throws {
        let rows = #"""
            {"sku":"a","name":"A","attributes":{"rating":"x","own":"x","origin":"ES"}}
            {"sku":"b","name":"B","attributes":{"rating":4.55,"per_kg":1,"story":null}}
            {"sku":"c","name":"C"}
            """#
        var outcome = try read(rows, .ndjson)
        #expect(outcome.records.map { $0.mistypedAttributes.keys.sorted() } == [["rating"], ["per_kg", "rating"], []])
        #expect(outcome.attributes[0] == #"{"rating":"x","own":"x","origin":"ES"}"#)
        #expect(outcome.unreadable.isEmpty && outcome.records.map(\.hasAttributes) == [true, true, false])
        #expect(outcome.records[0].preview.product.attributes == #"{"own":"x","origin":"ES"}"#)
        outcome.records[1].clear(attribute: "rating")
        outcome.records[1].clear(attribute: "story")
        #expect(outcome.records[1].product.attributes == #"{"per_kg":1,"story":null}"#)
        #expect(outcome.records[1].unreadableAttributes.keys.sorted() == ["rating"])
        #expect(outcome.records[1].mistypedAttributes.keys.sorted() == ["per_kg"])
    }

    @Test("A number of JSON has a decimal point, whatever the mark of the file")
    func numbersOfJSON() throws {
        let outcome = try read(#"{"sku":"a","name":"A","stars":4.5}"#, .ndjson) {
            $0.dialect.decimalMark = .comma
            $0.profile.mapping.attributes["rating"] = ColumnSource([["stars"]])
        }
        #expect(outcome.attributes == [#"{"rating":4.5}"#])
    }

    @Test("Each store reads the columns of its own attributes")
    func severalStores() throws {
        let attributes = StoreAttributes(
            deployment: try Self.set([:]),
            stores: [
                Self.shop: try Self.set(["rating": .number(decimals: 1), "score": .text]),
                Self.kiosk: try Self.set(["score": .number(decimals: 0), "rating": Self.ratio]),
            ]
        )
        let text = "store,sku,name,rating,score\nshop,a,A,4.5,9\nkiosk,b,B,4.5,9\nkiosk,c,C,,x\nnew,d,D,4.5,9\n"
        let outcome = try read(text, store: nil, attributes: attributes)
        #expect(outcome.attributes == [#"{"rating":4.5,"score":"9"}"#, #"{"score":9}"#, "{}", "{}"])
        #expect(outcome.unreadable.count == 2)
        #expect(outcome.unreadable[0].hasPrefix("line 3, rating: “4.5” must be empty"))
        #expect(outcome.names == ["rating", "score"])
        // With a store, its own attributes decide about the header.
        #expect(throws: CatalogError.self) {
            try read("sku,name,rating\n", store: Self.kiosk, attributes: attributes)
        }
        let plain = try read("sku,name,rating\na,A,1\n", store: CatalogKey("new"), attributes: attributes)
        #expect(plain.warnings.count == 1 && plain.records.allSatisfy { !$0.hasAttributes })
    }

    @Test("Cells that do not fit into a product's attributes are left out, after those of the object")
    func sizes() throws {
        let long = String(repeating: "x", count: 4070)
        let outcome = try read("sku,name,attributes,story,rating\na,A,\"{\"\"own\"\":\"\"\(long)\"\"}\",Long,1\n")
        #expect(outcome.attributes == [#"{"own":"\#(long)","rating":1}"#])
        #expect(outcome.records.first?.emptied.map(\.column) == ["story"])
    }
}
