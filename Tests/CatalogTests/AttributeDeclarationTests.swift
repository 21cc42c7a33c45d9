import JSON
import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct AttributeDeclarationTests {
    private static func name(_ text: String) -> AttributeName { AttributeName(text)! }

    private static func read(_ json: String, _ name: String = "rating") throws -> AttributeDeclaration {
        try AttributeDeclaration(Self.name(name), try JSONReader.parse(Array(json.utf8)))
    }

    private static func definition(_ json: String, _ name: String = "rating") throws -> AttributeDefinition {
        guard case .definition(let definition) = try read(json, name) else { throw CatalogError.fault("no type") }
        return definition
    }

    @Test(
        "Names consist of lower-case letters, digits and underscores, and start with a letter",
        arguments: [
            ("a", true), ("protein_100g", true), (String(repeating: "a", count: 32), true), ("", false), ("1a", false),
            ("_a", false), ("A", false), ("a-b", false), ("ä", false), ("a b", false),
            (String(repeating: "a", count: 33), false),
        ]
    )
    func names(_ text: String, _ isValid: Bool) { #expect((AttributeName(text) != nil) == isValid) }

    @Test("Names of sort keys, filters, facets, columns and fields, and the endings of filters, are reserved")
    func reservedNames() throws {
        let names =
            SortKey.allCases.map(\.name) + FilterKey.allCases.map(\.name) + Facet.allCases.map(\.name)
            + ImportColumn.allCases.map(\.columnName) + ProductText.allCases.map { "\($0.name)" }
            + ["q", "tier", "collapse", "group", "discount", "a_min", "a_max", "a_any", "a_all", "a_none"]
            + ["id", "title", "version", "country", "time_zone", "starts_at", "ends_at", "priority", "changes_at"]
            + ["matches", "members_matching", "members_total", "rank", "offer_price"]
        for name in names {
            #expect(throws: CatalogError.self, "\(name)") { try Self.name(name).checkAvailable() }
        }
        for name in ["rating", "origin", "nutri_score", "protein_100g", "minimum"] {
            try Self.name(name).checkAvailable()
        }
    }

    @Test("A title is found by its language, a more general one, English, or the first one")
    func languages() throws {
        let titles = try AttributeTitles(["en": "Rating", "hr": "Ocjena", "pt-BR": "Nota"], field: "title")
        #expect(titles.text(in: "hr-HR") == "Ocjena")
        #expect(titles.text(in: "PT-br") == "Nota")
        #expect(titles.text(in: "pt") == "Rating")
        let others = try AttributeTitles(["hr": "Ocjena", "de": "Wertung"], field: "title")
        #expect(others.text(in: "fr") == "Wertung")
        #expect(AttributeTitles.none.text(in: "en") == nil)
    }

    @Test("Titles of a store replace those of the deployment, language by language")
    func mergedTitles() throws {
        let shared = try AttributeTitles(["en": "Rating", "hr": "Ocjena"], field: "title")
        let own = try AttributeTitles(["EN": "Stars", "de": "Sterne"], field: "title")
        #expect(shared.merging(own).texts == ["EN": "Stars", "hr": "Ocjena", "de": "Sterne"])
    }

    @Test(
        "Every declaration is the same after it is written and read again",
        arguments: [
            #"{"type":"number","decimals":1,"title":{"en":"Rating","hr":"Ocjena"},"natural":"desc","unit":"★"}"#,
            #"{"type":"number"}"#, #"{"type":"text","title":{"en":"Origin"}}"#, #"{"type":"boolean"}"#,
            #"{"type":"date","natural":"asc"}"#, #"{"type":"set"}"#,
            #"{"type":"set","values":[{"key":"nuts","title":{"en":"Nuts"}},{"key":"milk"}]}"#,
            #"{"type":"enum","values":[{"key":"A","title":{"en":"Best"}},{"key":"B"}],"natural":"desc"}"#,
            #"{"type":"ratio","numerator":"price","denominator":["protein","quantity"],"scale":100,"per":"100 g"}"#,
            #"{"title":{"en":"Stars"}}"#, #"{"values":[{"key":"A","title":{"en":"Best"}}]}"#,
        ]
    )
    func roundTrips(_ json: String) throws {
        let declaration = try Self.read(json)
        #expect(try AttributeDeclaration(declaration.name, declaration.document) == declaration)
        #expect(try Self.read(declaration.document.text) == declaration)
    }

    @Test("A declaration has the values of its document")
    func values() throws {
        let rating = try Self.definition(
            #"{"type":"number","decimals":1,"title":{"en":"Rating"},"natural":"desc","unit":"★"}"#
        )
        #expect(rating.form == .number(decimals: 1) && rating.naturalDirection == .descending && rating.unit == "★")
        let ratio = try Self.definition(#"{"type":"ratio","numerator":"price","denominator":["protein"],"scale":100}"#)
        #expect(
            ratio.form
                == .ratio(AttributeRatio(numerator: .price, denominators: [.number(Self.name("protein"))], scale: 100))
        )
        #expect(ratio.naturalDirection == .ascending && ratio.unit == nil)
    }

    @Test(
        "An invalid declaration says which part is invalid",
        arguments: [
            ("[]", nil), (#"{"type":"colour"}"#, "type"), (#"{"type":7}"#, "type"),
            (#"{"type":"text","size":1}"#, "size"),
            (#"{"type":"number","decimals":10}"#, "decimals"), (#"{"type":"number","decimals":-1}"#, "decimals"),
            (#"{"type":"number","decimals":"1"}"#, "decimals"), (#"{"type":"text","decimals":1}"#, "decimals"),
            (#"{"type":"text","unit":"g"}"#, "unit"), (#"{"type":"number","unit":" g"}"#, "unit"),
            (#"{"type":"number","unit":"12345678901234567"}"#, "unit"), (#"{"type":"enum"}"#, "values"),
            (#"{"type":"enum","values":[]}"#, "values"), (#"{"type":"enum","values":"a"}"#, "values"),
            (#"{"type":"enum","values":["a"]}"#, "values[0]"), (#"{"type":"enum","values":[{}]}"#, "values[0].key"),
            (#"{"type":"enum","values":[{"key":"a|b"}]}"#, "values[0].key"),
            (#"{"type":"enum","values":[{"key":"a"},{"key":"a"}]}"#, "values[1].key"),
            (#"{"type":"enum","values":[{"key":"a","rank":1}]}"#, "values[0].rank"),
            (#"{"type":"enum","values":[{"key":"a","title":{"en":""}}]}"#, "values[0].title"),
            (#"{"type":"set","natural":"asc"}"#, "natural"), (#"{"type":"text","natural":"up"}"#, "natural"),
            (#"{"type":"text","title":"Rating"}"#, "title"), (#"{"type":"text","title":{"en":7}}"#, "title.en"),
            (#"{"type":"text","title":{"e":"x"}}"#, "title"),
            (#"{"type":"text","title":{"en":"a","EN":"b"}}"#, "title"),
            (#"{"type":"text","title":{"en":" a"}}"#, "title"), (#"{"type":"ratio"}"#, "numerator"),
            (#"{"type":"ratio","numerator":"quantity","denominator":["protein"]}"#, "numerator"),
            (#"{"type":"ratio","numerator":"rating","denominator":["protein"]}"#, "numerator"),
            (#"{"type":"ratio","numerator":"price","denominator":"protein"}"#, "denominator"),
            (#"{"type":"ratio","numerator":"price","denominator":[]}"#, "denominator"),
            (#"{"type":"ratio","numerator":"price","denominator":["price"]}"#, "denominator"),
            (#"{"type":"ratio","numerator":"price","denominator":["a","a"]}"#, "denominator"),
            (#"{"type":"ratio","numerator":"price","denominator":["a","b","c"]}"#, "denominator"),
            (#"{"type":"ratio","numerator":"price","denominator":["a"],"scale":0}"#, "scale"),
            (#"{"type":"ratio","numerator":"price","denominator":["a"],"per":""}"#, "per"),
        ] as [(String, String?)]
    )
    func invalid(_ json: String, _ field: String?) {
        let error = #expect(throws: CatalogError.self) { try Self.read(json) }
        switch error {
        case .malformed(let parameter, _, _, _): #expect(parameter == field)
        case .unprocessable(let found, let detail):
            #expect(found == field)
            #expect(!detail.isEmpty)
        default: Issue.record("unexpected error \(String(describing: error))")
        }
    }

    @Test("Titles, languages, options and names of them have limits")
    func limits() throws {
        func titles(_ count: Int) -> String {
            "{" + (0..<count).map { "\"a\($0)\":\"x\"" }.joined(separator: ",") + "}"
        }
        func options(_ count: Int) -> String {
            "[" + (0..<count).map { "{\"key\":\"k\($0)\"}" }.joined(separator: ",") + "]"
        }
        let long = String(repeating: "x", count: AttributeTitles.byteLimit)
        _ = try Self.read(#"{"type":"text","title":\#(titles(AttributeTitles.languageLimit))}"#)
        _ = try Self.read(#"{"type":"text","title":{"en":"\#(long)"}}"#)
        _ = try Self.read(#"{"type":"enum","values":\#(options(AttributeForm.optionLimit))}"#)
        for json in [
            #"{"type":"text","title":\#(titles(AttributeTitles.languageLimit + 1))}"#,
            #"{"type":"text","title":{"en":"\#(long)x"}}"#,
            #"{"type":"enum","values":\#(options(AttributeForm.optionLimit + 1))}"#,
            #"{"values":\#(options(AttributeForm.optionLimit + 1))}"#,
        ] {
            #expect(throws: CatalogError.self) { try Self.read(json) }
        }
    }

    @Test("A property of another type is refused unless it is null, and the reason names the type")
    func otherProperties() throws {
        let nulls =
            #""decimals":null,"unit":null,"values":null,"numerator":null,"denominator":null,"scale":null,"per":null,"searchable":null"#
        for (type, own) in [
            ("text", ""), ("set", ""), ("number", ""), ("enum", #""values":[{"key":"a"}],"#),
            ("ratio", #""numerator":"price","denominator":["quantity"],"#),
        ] {
            let others =
                own.isEmpty
                ? nulls
                : String(
                    nulls.split(separator: ",").filter { member in
                        !own.contains(member.prefix { $0 != ":" })
                    }.joined(separator: ",")
                )
            let plain = try Self.read(#"{\#(own)"type":"\#(type)"}"#)
            #expect(try Self.read(#"{\#(own)\#(others),"natural":null,"type":"\#(type)"}"#) == plain, "\(type)")
        }
        for (json, detail) in [
            (#"{"type":"set","natural":"asc"}"#, "natural does not apply to a set; remove it"),
            (#"{"type":"text","unit":"g"}"#, "unit does not apply to a text; remove it"),
            (#"{"type":"date","searchable":true}"#, "searchable does not apply to a date; remove it"),
            (#"{"type":"enum","values":[{"key":"a"}],"scale":1}"#, "scale does not apply to an enum; remove it"),
            (#"{"title":{"en":"A"},"decimals":1}"#, "decimals does not apply to titles without type; remove it"),
            (
                #"{"type":"ratio","numerator":"offer_price","denominator":["quantity"]}"#,
                "numerator: “offer_price” is not available yet; use price"
            ),
        ] {
            let error = #expect(throws: CatalogError.self) { try Self.read(json) }
            guard case .unprocessable(_, detail)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                continue
            }
        }
    }

    @Test("A text, an enum and a set can be searchable, which is stored and part of the definition")
    func searchable() throws {
        for type in [#""type":"text""#, #""type":"set""#, #""type":"enum","values":[{"key":"a"}]"#] {
            let plain = try Self.read("{\(type)}")
            #expect(try Self.read(#"{\#(type),"searchable":false}"#) == plain)
            let declared = try Self.read(#"{\#(type),"searchable":true}"#)
            guard case .definition(let definition) = declared else {
                Issue.record("\(type) is not a definition")
                continue
            }
            #expect(definition.isSearchable && declared != plain)
            #expect(AttributeDeclaration(declared.name, stored: declared.document) == declared)
        }
        #expect(throws: CatalogError.self) { try Self.read(#"{"type":"text","searchable":"yes"}"#) }
    }

    // MARK: - Later releases

    @Test("A stored declaration with members of a later release is read without them")
    func laterMembers() throws {
        let json = try JSONReader.parse(
            Array(#"{"type":"enum","values":[{"key":"a","icon":1}],"later":true}"#.utf8)
        )
        let stored = AttributeDeclaration(Self.name("score"), stored: json)
        #expect(try stored == Self.read(#"{"type":"enum","values":[{"key":"a"}]}"#, "score"))
    }

    @Test(
        "A stored declaration that cannot be read has its type and title, and no values",
        arguments: [
            (
                #"{"title":{"en":"Colour"},"space":"rgb","type":"colour"}"#,
                #"{"type":"colour","title":{"en":"Colour"},"space":"rgb"}"#
            ),
            (#"{"type":"number","decimals":12}"#, #"{"type":"number","title":{},"decimals":12}"#),
            (#"{"type":"colour","title":[1]}"#, #"{"type":"colour","title":{}}"#),
            (#"{"type":"text","natural":"auto"}"#, #"{"type":"text","title":{},"natural":"auto"}"#),
        ]
    )
    func unknownForms(_ document: String, _ written: String) throws {
        let stored = AttributeDeclaration(Self.name("colour"), stored: try JSONReader.parse(Array(document.utf8)))
        #expect(stored.document.text == written)
        let found = try #require(AttributeSet(deployment: [stored])[Self.name("colour")])
        for value in [JSONValue.number("1"), .string("red"), .bool(true), .null, .array([])] {
            #expect(try found.definition.value(value) == nil)
        }
        #expect(AttributeDeclaration(stored.name, stored: stored.document) == stored)
    }

    @Test("Stored titles that cannot be read are none")
    func unknownTitles() throws {
        let shared = try Self.read(#"{"type":"text","title":{"en":"Origin"}}"#)
        let own = AttributeDeclaration(Self.name("rating"), stored: try JSONReader.parse(Array(#"{"title":7}"#.utf8)))
        #expect(AttributeSet(deployment: [shared], store: [own]) == AttributeSet(deployment: [shared]))
        #expect(AttributeSet(deployment: [], store: [own]).isEmpty)
    }

    // MARK: - Effect

    @Test("Titles of a store are those of the attribute in effect, and its other properties stay")
    func retitles() throws {
        let shared = try Self.read(
            #"{"type":"enum","title":{"en":"Score"},"values":[{"key":"a","title":{"en":"Best"}},{"key":"b"}],"natural":"desc"}"#,
            "score"
        )
        let own = try Self.read(
            #"{"title":{"hr":"Ocjena"},"values":[{"key":"a","title":{"hr":"Najbolje"}}]}"#,
            "score"
        )
        let set = AttributeSet(deployment: [shared], store: [own])
        let found = try #require(set[Self.name("score")])
        #expect(!found.isOfStore)
        #expect(found.definition.title.texts == ["en": "Score", "hr": "Ocjena"])
        #expect(found.definition.form.options[0].title.texts == ["en": "Best", "hr": "Najbolje"])
        #expect(found.definition.form.options[1].title.isEmpty && found.definition.naturalDirection == .descending)
        #expect(AttributeSet(deployment: [], store: [own]).isEmpty)
    }

    @Test("A store's definition of another type than the deployment's is not in effect")
    func otherType() throws {
        let shared = try Self.read(#"{"type":"text"}"#)
        let own = try Self.read(#"{"type":"boolean","title":{"en":"Rated"}}"#)
        let set = AttributeSet(deployment: [shared], store: [own])
        #expect(set.attributes.map(\.definition.form) == [.text] && set.attributes.map(\.isOfStore) == [false])
        #expect(set.attributes[0].definition.title.isEmpty)
    }
}
