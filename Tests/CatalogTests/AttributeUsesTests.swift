import Catalog
import JSON
import Testing

/// Which stored sorts, filters and profiles use an attribute.
@Suite(.timeLimit(.minutes(15))) struct AttributeUsesTests {
    private static let rating = AttributeName("rating")!

    private static func json(_ text: String) throws -> JSONValue { try JSONReader.parse(Array(text.utf8)) }

    @Test(
        "A sort uses an attribute by its name, in either direction and at any place",
        arguments: [
            ("rating", true), ("-rating", true), ("price,-rating", true), ("rating,price", true),
            ("attributes.rating", true), ("price,-attributes.rating,name", true), ("later_key,rating", true),
            ("", false), ("price", false), ("ratings", false), ("my_rating", false), ("rating_min", false),
            ("-attributes.ratings", false), ("other.rating", false), ("--rating", false), ("- rating", false),
        ]
    )
    func sorts(_ text: String, _ isUsed: Bool) {
        #expect(Self.rating.isUsed(bySort: text) == isUsed)
        #expect(Self.rating.isUsed(by: .string(text)) == isUsed)
    }

    @Test(
        "A filter uses an attribute by its name and the endings of filters",
        arguments: [
            ("rating", true), ("rating_min", true), ("rating_max", true), ("rating_any", true), ("rating_all", true),
            ("rating_none", true), ("attributes.rating", true), ("attributes.rating_none", true),
            ("price_min", false), ("rating_", false), ("rating_minimum", false), ("_min", false),
            ("ratings_min", false),
            ("-rating", false),
        ]
    )
    func filters(_ name: String, _ isUsed: Bool) {
        #expect(Self.rating.isUsed(byFilter: name) == isUsed)
        let remembered = JSONValue.object([
            .init("sort", .string("price")), .init("filter", .object([.init(name, .string("4"))])),
        ])
        #expect(Self.rating.isUsed(by: remembered) == isUsed)
    }

    @Test("A remembered value uses an attribute by its sort or its filter, and nothing else does")
    func remembered() throws {
        for (text, isUsed) in [
            (#"{"sort":"-rating"}"#, true), (#"{"sort":"-rating","filter":{"tag":"x"}}"#, true),
            (#"{"sort":"price","filter":{"tag":"rating"}}"#, false), (#"{"sort":"price","filter":null}"#, false),
            (#"{"filter":{"rating_min":4}}"#, true), (#"{"rating":1}"#, false), (#"["rating"]"#, false), ("1", false),
            ("null", false), ("true", false),
        ] {
            #expect(try Self.rating.isUsed(by: Self.json(text)) == isUsed, "\(text)")
        }
    }

    @Test("A profile uses the attributes that it maps columns to")
    func profiles() throws {
        for (text, isUsed) in [
            (#"{"attributes":{"rating":"Stars"}}"#, true), (#"{"attributes":{"stars":"rating"}}"#, false),
            (#"{"columns":{"rating":"Stars"}}"#, false), (#"{"attributes":["rating"]}"#, false), ("{}", false),
        ] {
            #expect(try Self.rating.isUsed(byProfile: Self.json(text)) == isUsed, "\(text)")
        }
    }

    @Test("Uses are described by their numbers")
    func descriptions() {
        let corner = CatalogKey("corner")!
        #expect(AttributeUses.none.isEmpty && AttributeUses.none.description.isEmpty)
        let one = AttributeUses(
            settings: 1,
            stores: [corner],
            shelves: [.init(store: corner, shelf: corner)],
            profiles: [corner]
        )
        #expect(!one.isEmpty)
        #expect(
            one.description
                == "1 remembered sort or filter, the default sort of 1 store, a sort of 1 shelf, 1 import profile"
        )
        let several = AttributeUses(
            settings: 2,
            stores: [corner, corner],
            shelves: [.init(store: corner, shelf: corner), .init(store: corner, shelf: corner)],
            profiles: [corner, corner]
        )
        #expect(
            several.description
                == "2 remembered sorts or filters, the default sorts of 2 stores, sorts of 2 shelves, 2 import profiles"
        )
        for uses in [
            AttributeUses(settings: 1), AttributeUses(stores: [corner]), AttributeUses(profiles: [corner]),
            AttributeUses(shelves: [.init(store: corner, shelf: corner)]),
        ] {
            #expect(!uses.isEmpty)
        }
    }
}
