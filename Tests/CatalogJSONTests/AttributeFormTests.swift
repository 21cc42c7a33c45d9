import Catalog
import CatalogJSON
import JSON
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct AttributeFormTests {
    private static let rating = AttributeName("rating")!

    private static func declaration(_ body: String, _ name: AttributeName = rating) throws -> AttributeDeclaration {
        try AttributeDeclaration(name: name, text: Array(body.utf8))
    }

    private static func set(_ body: String, isOfStore: Bool = false) throws -> AttributeSet {
        let stored = [try declaration(body)]
        return isOfStore ? AttributeSet(deployment: [], store: stored) : AttributeSet(deployment: stored)
    }

    @Test("An attribute has the properties of its type")
    func forms() throws {
        func json(_ body: String) throws -> String { String(decoding: try Self.set(body).json, as: UTF8.self) }
        #expect(
            try json(#"{"type":"number","decimals":1,"title":{"hr":"Ocjena","en":"Rating"},"natural":"desc"}"#)
                == #"{"attributes":[{"name":"rating","declared_by":"deployment","type":"number","title":{"en":"Rating","hr":"Ocjena"},"decimals":1,"unit":null,"natural":"desc"}]}"#
        )
        #expect(
            try json(#"{"type":"enum","values":[{"key":"b","title":{"en":"B"}},{"key":"a"}]}"#)
                == #"{"attributes":[{"name":"rating","declared_by":"deployment","type":"enum","title":{},"values":[{"key":"b","title":{"en":"B"}},{"key":"a","title":{}}],"searchable":false,"natural":"asc"}]}"#
        )
        #expect(
            try json(#"{"type":"ratio","numerator":"price","denominator":["a","quantity"],"scale":100}"#)
                == #"{"attributes":[{"name":"rating","declared_by":"deployment","type":"ratio","title":{},"numerator":"price","denominator":["a","quantity"],"scale":100,"per":null,"natural":"asc"}]}"#
        )
        #expect(
            String(decoding: try Self.set(#"{"type":"set"}"#, isOfStore: true).json, as: UTF8.self)
                == #"{"attributes":[{"name":"rating","declared_by":"store","type":"set","title":{},"values":null,"searchable":false}]}"#
        )
    }

    @Test("An attribute can be sent back as it was read, also with the number of unreadable values")
    func sentBack() throws {
        let set = try Self.set(#"{"type":"number","decimals":1,"title":{"en":"Rating"},"unit":"g"}"#)
        let attribute = try #require(set[Self.rating])
        for (count, text) in [(7, "7"), (nil, "null")] as [(Int?, String)] {
            let bytes = attribute.json(unreadable: count)
            #expect(String(decoding: bytes, as: UTF8.self).hasSuffix(",\"unreadable_products\":\(text)}"))
            #expect(try AttributeDeclaration(name: Self.rating, text: bytes) == .definition(attribute.definition))
        }
        #expect(try AttributeDeclaration(name: Self.rating, text: attribute.json) == .definition(attribute.definition))
    }

    @Test("A body of another attribute, or one that is not a JSON object, is refused")
    func invalidBodies() {
        for body in [#"{"name":"other","type":"text"}"#, #"{"name":1,"type":"text"}"#, "[]", "7", "{", ""] {
            #expect(throws: CatalogError.self, "\(body)") { try Self.declaration(body) }
        }
    }

    @Test("The names of all fields of products are reserved")
    func productFields() throws {
        let store = Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!)
        let placed = PlacedProduct(store: store, product: .complete, shelves: [])
        let fields = try #require(try JSONReader.parse(placed.json).members).map(\.name)
        #expect(fields.count == ProductField.allCases.count)
        for field in fields {
            #expect(throws: CatalogError.self, "\(field)") { try AttributeName(field)!.checkAvailable() }
        }
    }
}
