import Catalog
import CatalogImport
import Testing

/// Columns of declared attributes in files of products.
@Suite(.timeLimit(.minutes(15))) struct AttributeColumnTests {
    private struct Outcome {
        var records: [ImportRecord] = []
        var rejections: [String] = []
        var warnings: [String] = []
        var names: [String] = []
        var hasAllAttributes = false

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
        outcome.hasAllAttributes = reader.hasAllAttributes
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
        let later = try read("sku,name,allergens\na,A,\"nuts, milk|\"\nb,B,\"nuts, milk|soy\"\n")
        #expect(later.attributes == [#"{"allergens":["nuts, milk"]}"#, #"{"allergens":["nuts, milk","soy"]}"#])
        let undecided = try read("sku,name,allergens\na,A,\"nuts, milk\"\nb,B,soy\n")
        #expect(undecided.attributes == ["{}", #"{"allergens":["soy"]}"#] && undecided.unreadable.count == 1)
        #expect(undecided.unreadable.first?.hasPrefix("line 2, allergens: “nuts, milk” is ambiguous") == true)
        let tags = try read("sku,name,tags,allergens\na,A,\"x, y\",\"nuts, milk\"\nb,B,x,soy\n")
        #expect(tags.attributes == [#"{"allergens":["nuts","milk"]}"#, #"{"allergens":["soy"]}"#])
        let separator = try read("sku,name,allergens\na,A,nuts/soy\n") { $0.profile.separators[.tags] = "/" }
        #expect(separator.attributes == [#"{"allergens":["nuts","soy"]}"#])
    }

    @Test(
        "A set with other marks than the rest of its column is unreadable, and not one element",
        arguments: [("gluten, milk", "nuts|milk"), ("gluten, milk", "nuts;milk"), ("gluten;milk", "nuts|milk")]
    )
    func otherMarks(_ cell: String, _ other: String) throws {
        for tags in ["x", "\"x, y\""] {
            let outcome = try read("sku,name,tags,allergens\na,A,\(tags),\"\(cell)\"\nb,B,x,\(other)\nc,C,x,soy\n")
            #expect(
                outcome.attributes == ["{}", #"{"allergens":["nuts","milk"]}"#, #"{"allergens":["soy"]}"#],
                "\(tags)"
            )
            #expect(outcome.rejections.isEmpty && outcome.unreadable.count == 1)
            #expect(outcome.unreadable.first?.hasPrefix("line 2, allergens: “\(cell)” is ambiguous") == true)
        }
    }

    @Test("A header with two columns for an attribute, or with a computed one, is refused")
    func refusedHeaders() {
        #expect(refusal("sku,name,rating,attributes.rating\n")?.contains("“rating” and “attributes.rating”") == true)
        #expect(refusal("sku,name,rating,Rating\n")?.contains("keep only one") == true)
        for title in ["per_kg", "attributes.per_kg"] {
            let reason = refusal("sku,name,\(title)\n")
            #expect(reason?.contains("the attribute “per_kg” is computed from other values") == true, "\(title)")
        }
        let twice = refusal("sku,name,Stars,rating\n") {
            $0.profile.mapping.attributes["rating"] = ColumnSource("Stars")
        }
        #expect(twice?.contains("the columns “Stars” and “rating” for the attribute “rating”") == true)
        let mapped = refusal("sku,name,Ratio\n") { $0.profile.mapping.attributes["per_kg"] = ColumnSource("Ratio") }
        #expect(mapped?.contains("is computed from other values") == true)
    }

    @Test("A column of an undeclared attribute is refused beside the object, which would replace its values")
    func undeclaredColumns() throws {
        let reason = refusal("sku,name,attributes,attributes.stars\n")
        #expect(reason?.contains("the attribute “stars” is not declared, so its values would be lost") == true)
        // Without the object, the product keeps its value. The title `stars` is not that of an exported attribute.
        for header in ["sku,name,attributes.stars", "sku,name,attributes,stars"] {
            #expect(try read("\(header)\n").warnings.count == 1, "\(header)")
        }
        let mapped = try read("sku,name,attributes,attributes.stars\na,A,,5\n") {
            $0.profile.mapping.attributes["own"] = ColumnSource("attributes.stars")
        }
        #expect(mapped.attributes == [#"{"own":"5"}"#] && mapped.hasAllAttributes)
    }

    @Test("The title attributes is that of the object, unless it is mapped or a named profile maps attributes")
    func titlesOfObjects() throws {
        let text = "sku,name,attributes,Stars\na,A,\"{\"\"own\"\":1}\",5\n"
        func mapStars(_ options: inout ImportOptions) {
            options.profile.mapping.attributes["rating"] = ColumnSource("Stars")
        }
        let both = try read(text) { mapStars(&$0) }
        #expect(both.attributes == [#"{"own":1,"rating":5}"#] && both.hasAllAttributes)
        let named = try read(text) {
            mapStars(&$0)
            $0.profileName = "supplier"
        }
        #expect(named.attributes == [#"{"rating":5}"#] && !named.hasAllAttributes)
        let explicit = try read(text) {
            mapStars(&$0)
            $0.profileName = "supplier"
            $0.profile.mapping.columns[.attributes] = ColumnSource("attributes")
        }
        #expect(explicit.attributes == both.attributes && explicit.hasAllAttributes)
        let single = try read("sku,name,attributes\na,A,On a hill\n") {
            $0.profile.mapping.attributes["story"] = ColumnSource("attributes")
        }
        #expect(single.attributes == [#"{"story":"On a hill"}"#] && !single.hasAllAttributes)
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
        #expect(outcome.hasAllAttributes && outcome.names == ["rating"] && outcome.unreadable.count == 1)
        #expect(outcome.records.allSatisfy { $0.mistypedAttributes.isEmpty })
    }

    @Test("Values of another type in an object are kept until they are compared with the stored product")
    func mistypedValues() throws {
        let rows = #"""
            {"sku":"a","name":"A","attributes":{"rating":"x","own":"x","origin":"ES"}}
            {"sku":"b","name":"B","attributes":{"rating":4.55,"per_kg":1,"story":null}}
            {"sku":"c","name":"C"}
            """#
        let outcome = try read(rows, .ndjson)
        #expect(outcome.records.map { $0.mistypedAttributes.keys.sorted() } == [["rating"], ["per_kg", "rating"], []])
        #expect(outcome.attributes[0] == #"{"rating":"x","own":"x","origin":"ES"}"#)
        #expect(outcome.unreadable.isEmpty && outcome.records.map(\.hasAttributes) == [true, true, false])
        // The import clears them in the preview when it clears them in the product.
        var preview = outcome.records[0].preview
        #expect(preview.product.attributes == outcome.attributes[0])
        preview.clear(attribute: "rating")
        preview.clear(attribute: "story")
        #expect(preview.product.attributes == #"{"own":"x","origin":"ES"}"#)
    }

    @Test("A row without the object changes only its mapped attributes, and one with it changes all")
    func partialRows() throws {
        let rows = #"""
            {"sku":"a","name":"A","stars":4.5}
            {"sku":"b","name":"B","attributes":{"own":1,"rating":2},"stars":3}
            {"sku":"c","name":"C","stars":1}
            {"sku":"d","name":"D","attributes":{"own":1}}
            {"sku":"e","name":"E"}
            """#
        let outcome = try read(rows, .ndjson) {
            $0.profile.mapping.attributes["rating"] = ColumnSource([["stars"]])
        }
        #expect(outcome.rejections == [] && outcome.hasAllAttributes && outcome.names == ["rating"])
        #expect(
            outcome.attributes == [
                #"{"rating":4.5}"#, #"{"own":1,"rating":3}"#, #"{"rating":1}"#, #"{"own":1}"#, "{}",
            ]
        )
        #expect(outcome.records.map(\.keepsOtherAttributes) == [true, false, true, false, true])
        #expect(outcome.records.allSatisfy { $0.hasAttributes })
    }

    @Test("Arrays and booleans of JSON are values of mapped attributes, and other arrays and objects cannot be read")
    func valuesOfJSON() throws {
        let rows = #"""
            {"sku":"a","name":"A","contains":["nuts","a, b"],"bio":true,"text":"x"}
            {"sku":"b","name":"B","contains":[],"bio":false,"text":["x"]}
            {"sku":"c","name":"C","contains":{"nuts":true},"bio":[true],"text":null}
            {"sku":"d","name":"D","contains":"nuts, milk","bio":"no","text":7}
            {"sku":"e","name":"E","contains":"nuts|milk","label":["x"]}
            {"sku":"f","name":"F","brand":["x"]}
            """#
        let outcome = try read(rows, .ndjson) {
            $0.profile.mapping.attributes["allergens"] = ColumnSource([["contains"]])
            $0.profile.mapping.attributes["organic"] = ColumnSource([["bio"]])
            $0.profile.mapping.attributes["story"] = ColumnSource([["text"]])
            $0.profile.mapping.attributes["undeclared"] = ColumnSource([["label"]])
        }
        #expect(
            outcome.attributes == [
                #"{"allergens":["nuts","a, b"],"organic":true,"story":"x"}"#,
                #"{"allergens":[],"organic":false}"#, "{}", #"{"organic":false,"story":"7"}"#,
                #"{"allergens":["nuts","milk"]}"#,
            ]
        )
        #expect(
            outcome.records.map { $0.unreadableAttributes.keys.sorted() } == [
                [], ["story"], ["allergens", "organic"], ["allergens"], [],
            ]
        )
        #expect(outcome.records.last?.emptied.map(\.column) == ["undeclared"])
        #expect(outcome.rejections == ["line 6, brand: must be a string or a number"])
    }

    @Test("An array of a column that is read as something else, too, or in parts, rejects its row")
    func otherArrays() throws {
        var part = ColumnSource([["contains"]])
        part.part = .first(of: ",")
        for change: (inout ImportMapping) -> Void in [
            { $0.columns[.brand] = ColumnSource([["contains"]]) }, { $0.attributes["story"] = part },
            { $0.attributes["story"] = ColumnSource([["text", "contains"]]) },
        ] {
            let outcome = try read(#"{"sku":"a","name":"A","contains":["nuts"]}"#, .ndjson) {
                $0.profile.mapping.attributes["allergens"] = ColumnSource([["contains"]])
                change(&$0.profile.mapping)
            }
            #expect(outcome.rejections == ["line 1, contains: must be a string or a number"])
        }
    }

    @Test("All elements of XML are elements of a set, between the separator of all_of if there is one")
    func elementsOfXML() throws {
        func attributes(_ source: ColumnSource, _ elements: String, separator: String? = nil) throws -> [String] {
            let row = "<item><sku>a</sku><name>A</name>\(elements)</item>"
            return try read("<items>\(row)</items>", .xml) {
                $0.profile.mapping.attributes["allergens"] = source
                $0.profile.separators[.tags] = separator
            }
            .attributes
        }
        var joined = ColumnSource([["contains"]])
        joined.part = .all(", ")
        let two = "<contains>nuts</contains><contains>milk</contains>"
        for source in [joined, ColumnSource([["contains"]])] {
            #expect(try attributes(source, two) == [#"{"allergens":["nuts","milk"]}"#])
            #expect(try attributes(source, "<contains>nuts</contains>") == [#"{"allergens":["nuts"]}"#])
        }
        #expect(try attributes(joined, "<contains>nuts, milk</contains>") == [#"{"allergens":["nuts","milk"]}"#])
        #expect(
            try attributes(ColumnSource([["contains"]]), two, separator: "/") == [#"{"allergens":["nuts","milk"]}"#]
        )
        // Without a separator, nothing shows whether this is one element.
        #expect(try attributes(ColumnSource([["contains"]]), "<contains>nuts, milk</contains>") == ["{}"])
    }

    @Test("Units in the cells do not hide the decimal mark of a column")
    func marksBesideUnits() throws {
        let fat = try AttributeDefinition(name: AttributeName("fat")!, form: .number(decimals: 1), unit: "g/100g")
        let attributes = StoreAttributes(deployment: AttributeSet(deployment: [.definition(fat)]))
        let outcome = try read("sku;name;fat\na;A;0,5 g/100g\nb;B;1.234 g/100g\n", attributes: attributes)
        #expect(outcome.attributes == [#"{"fat":0.5}"#, #"{"fat":1234}"#])
    }

    @Test("A cell that looks empty is empty, beside the object and in a mapping, too")
    func blankCells() throws {
        let blanks = ["\u{A0}", "\"\n\"", "\"=\"\" \"\"\""]
        for blank in blanks {
            let outcome = try read(
                "sku,name,attributes,allergens,rating\na,A,\"{\"\"rating\"\":1}\",\(blank),\(blank)\n"
            )
            #expect(outcome.attributes == [#"{"rating":1}"#], "\(blank)")
            #expect(outcome.unreadable == [] && outcome.rejections == [])
            let mapped = try read("sku,name,Label\na,A,\(blank)\n") {
                $0.profile.mapping.attributes["undeclared"] = ColumnSource("Label")
            }
            #expect(mapped.attributes == ["{}"], "\(blank)")
        }
    }

    @Test("A number of JSON has a decimal point, whatever the mark of the file")
    func numbersOfJSON() throws {
        let outcome = try read(#"{"sku":"a","name":"A","stars":4.5}"#, .ndjson) {
            $0.dialect.decimalMark = .comma
            $0.profile.mapping.attributes["rating"] = ColumnSource([["stars"]])
        }
        #expect(outcome.attributes == [#"{"rating":4.5}"#])
    }

    @Test("A text and a number of JSON with the same digits are read apart, and so are texts with other bytes")
    func equalCells() throws {
        let weight = StoreAttributes(deployment: try Self.set(["weight": .number(decimals: 3)]))
        let fields = [#""1.234","note":"é""#, #"1.234,"note":"e\u0301""#, #""1.234","note":"é""#]
        let rows = fields.map { #"{"sku":"a","name":"A","weight":\#($0)}"# }
        let outcome = try read(rows.joined(separator: "\n"), .ndjson, attributes: weight) {
            $0.dialect.decimalMark = .comma
            for name in ["weight", "note"] { $0.profile.mapping.attributes[name] = ColumnSource([[ColumnTitle(name)]]) }
        }
        let expected = [
            #"{"note":"é","weight":1234}"#, "{\"note\":\"e\u{301}\",\"weight\":1.234}", #"{"note":"é","weight":1234}"#,
        ]
        #expect(outcome.attributes.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    }

    @Test("Cells of equal texts count, and are reported, in each row")
    func repeatedCells() throws {
        let noise = "0.30000000000000004"
        let outcome = try read("sku,name,rating,origin\na,A,\(noise),Italy\nb,B,\(noise),Italy\n")
        #expect(outcome.attributes == [#"{"rating":0.3}"#, #"{"rating":0.3}"#])
        #expect(outcome.records.map(\.roundedDecimals) == [1, 1])
        #expect(outcome.unreadable.map { $0.prefix(6) } == ["line 2", "line 3"])
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
        #expect(outcome.records.map(\.undeclaredAttributes) == [[], [], [], ["rating", "score"]])
        // An object replaces all attributes, so a value that would be lost rejects its row.
        let object = "store,sku,name,attributes,attributes.rating\nshop,a,A,,4.5\nnew,d,D,,4.5\nnew,e,E,,\n"
        let lost = try read(object, store: nil, attributes: attributes)
        #expect(lost.records.map(\.line) == [2, 4] && lost.rejections.count == 1)
        #expect(lost.rejections.first?.hasPrefix("line 3, attributes.rating: “4.5” would be lost") == true)
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
