import ArgumentParser
import Catalog
import JSON
import Testing

@testable import aisle

/// The fields of a product as options of a command.
@Suite struct ProductArgumentTests {
    private struct FieldCommand: AsyncParsableCommand {
        @OptionGroup var fields: ProductArguments
    }

    private static let store = Store(key: CatalogKey("shop")!, title: "Shop", currency: Currency("EUR")!)

    private static func attributes() throws -> AttributeSet {
        let options = ["a", "b"].map { AttributeOption(key: $0) }
        let forms: [(String, AttributeForm)] = [
            ("rating", .number(decimals: 3)), ("grade", .enumeration(options)), ("allergens", .set(nil)),
            ("vegan", .boolean), ("origin", .text), ("harvested", .date),
            ("worth", .ratio(AttributeRatio(numerator: .price, denominators: [.quantity]))),
        ]
        return AttributeSet(
            deployment: try forms.map { name, form in
                .definition(try AttributeDefinition(name: #require(AttributeName(name)), form: form))
            }
        )
    }

    private static func patch(_ arguments: [String]) async throws -> String {
        try await FieldCommand.asyncParse(arguments).fields.patch(in: store, attributes()).text
    }

    @Test("Each option sets its own field")
    func fields() async throws {
        #expect(try await FieldCommand.asyncParse([]).fields.isEmpty)
        for (arguments, expected) in [
            (["--name", "Milk"], #"{"name":"Milk"}"#), (["--brand", "-x"], #"{"brand":"-x"}"#),
            (["--barcode", "4006381333931"], #"{"barcode":"4006381333931"}"#),
            (["--image-url", "/a.jpg"], #"{"image_url":"/a.jpg"}"#), (["--price", "1.99"], #"{"price_minor":199}"#),
            (["--regular-price", "2"], #"{"regular_price_minor":200}"#), (["--in-stock"], #"{"in_stock":true}"#),
            (["--no-in-stock"], #"{"in_stock":false}"#), (["--tag", "a", "--tag", "b"], #"{"tags":["a","b"]}"#),
            (
                ["--size", "6 x 330 ml"],
                #"{"size":{"amount":"330","unit":"ml","packs":6,"drained":null,"approximate":false}}"#
            ),
            (["--group", "milk"], #"{"group":"milk"}"#),
            (["--attribute", "origin=a=b"], #"{"attributes":{"origin":"a=b"}}"#),
        ] {
            #expect(try await Self.patch(arguments) == expected)
            #expect(try await !FieldCommand.asyncParse(arguments).fields.isEmpty, "\(arguments)")
        }
    }

    @Test("An empty value removes a field")
    func removals() async throws {
        for (arguments, expected) in [
            (["--name", ""], #"{"name":null}"#), (["--group", ""], #"{"group":null}"#),
            (["--brand", ""], #"{"brand":null}"#), (["--barcode", ""], #"{"barcode":null}"#),
            (["--image-url", ""], #"{"image_url":null}"#), (["--size", ""], #"{"size":null}"#),
            (["--tag", ""], #"{"tags":[]}"#), (["--price", ""], #"{"price_minor":null}"#),
            (["--regular-price", ""], #"{"regular_price_minor":null}"#),
            // Also a value that nothing declares.
            (["--attribute", "rating=", "--attribute", "old="], #"{"attributes":{"rating":null,"old":null}}"#),
        ] {
            #expect(try await Self.patch(arguments) == expected)
        }
    }

    @Test("Values of attributes have their declared types, and texts are not read as those of spreadsheets")
    func attributeValues() async throws {
        for (text, value) in [
            ("rating=1.125", "1.125"), ("rating=-2", "-2"), ("grade=b", #""b""#),
            ("allergens=milk|nuts", #"["milk","nuts"]"#),
            ("allergens=|", "[]"), ("allergens=a,b", #"["a,b"]"#), ("vegan=true", "true"), ("vegan=false", "false"),
            ("harvested=2026-03-01", #""2026-03-01""#), ("origin='=x", #""'=x""#), ("origin=1,5", #""1,5""#),
        ] {
            let name = text.prefix { $0 != "=" }
            #expect(try await Self.patch(["--attribute", text]) == #"{"attributes":{"\#(name)":\#(value)}}"#)
        }
    }

    @Test("A value that cannot be read is an error that says what it must be")
    func errors() async {
        for (arguments, message, code) in [
            (["--price", "1.999"], "“1.999” is not a valid price in EUR, such as 1.99", CommandFailure.usage),
            (["--price", "none"], "“none” is not a valid price in EUR, such as 1.99", CommandFailure.usage),
            (["--regular-price", "x"], "“x” is not a valid price in EUR, such as 1.99", CommandFailure.usage),
            (["--size", "big"], "“big” is not a size, such as 500 g or 6 x 330 ml", CommandFailure.usage),
            (
                ["--attribute", "rating"], "--attribute must be NAME=VALUE, such as rating=4.5 (got “rating”)",
                CommandFailure.usage
            ),
            (
                ["--attribute", "origin=a", "--attribute", "origin=b"], "--attribute has two values of “origin”",
                CommandFailure.usage
            ),
            (
                ["--attribute", "ratng=4"], "attribute “ratng” does not exist; did you mean rating?",
                CommandFailure.noInput
            ),
            (
                ["--attribute", "Taste=4"],
                "attribute “Taste” does not exist; list them with: aisle attribute list --store shop",
                CommandFailure.noInput
            ),
            (
                ["--attribute", "rating=1,5"],
                "attribute “rating” must be a number with at most 3 decimals and at most 12 digits before the point (got “1,5”)",
                CommandFailure.usage
            ),
            (
                ["--attribute", "grade=c"], "attribute “grade” must be one of the declared values: a, b (got “c”)",
                CommandFailure.usage
            ),
            (
                ["--attribute", "vegan=da"], "attribute “vegan” must be true or false (got “da”)",
                CommandFailure.usage
            ),
            (
                ["--attribute", "harvested=1.3.2026"],
                "attribute “harvested” must be a date, such as \"2026-03-01\" (got “1.3.2026”)", CommandFailure.usage
            ),
            (
                ["--attribute", "allergens=a;b"],
                "attribute “allergens” must be an array of texts, each \(Product.tagRule) (got “a;b”)",
                CommandFailure.usage
            ),
            (
                ["--attribute", "worth=1"],
                "attribute “worth” must be left out, because the attribute is computed (got “1”)",
                CommandFailure.usage
            ),
        ] as [([String], String, Int32)] {
            let failure = await #expect(throws: CommandFailure.self) { try await Self.patch(arguments) }
            #expect(failure?.message == message)
            #expect(failure?.code == code, "\(arguments)")
        }
    }
    @Test("Errors about members of requests name the options")
    func options() {
        for (member, message, expected) in [
            ("name", "name is required", "--name is required"),
            ("image_url", "image_url must be an address", "--image-url must be an address"),
            ("tags", "tags must have at most 50", "--tag must have at most 50"),
            ("brand", "the brand is name", "the brand is name"), ("attributes.a", "“price” is not", "“price” is not"),
            (
                "regular_price_minor", "regular_price_minor requires price_minor",
                "--regular-price requires --price"
            ),
        ] {
            #expect(ProductArguments.message(message, about: member) == expected)
        }
    }
}
