import JSON
import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct AttributeChangeTests {
    private static let corner = CatalogKey("corner")!

    private static func name(_ text: String) -> AttributeName { AttributeName(text)! }

    private static func declaration(_ name: String, _ json: String) throws -> AttributeDeclaration {
        try AttributeDeclaration(Self.name(name), try JSONReader.parse(Array(json.utf8)))
    }

    private static func stored(_ declarations: [String: String]) throws -> [StoredAttribute] {
        try declarations.map { StoredAttribute(declaration: try declaration($0.key, $0.value), revision: 1) }
    }

    private static let number = #"{"type":"number"}"#
    private static let ratio = #"{"type":"ratio","numerator":"price","denominator":["protein"]}"#

    /// Expects that a declaration is refused as a conflict, and returns the reason.
    private static func conflict(_ body: () throws -> Void) -> String? {
        guard case .conflict(let text)? = #expect(throws: CatalogError.self, performing: body) else {
            Issue.record("not a conflict")
            return nil
        }
        return text
    }

    @Test("A store can give other titles to an attribute of the deployment, but not another type")
    func overriding() throws {
        let change = AttributeChange(
            deployment: try Self.stored([
                "score": #"{"type":"enum","title":{"en":"Score"},"values":[{"key":"a","title":{"en":"Best"}}]}"#
            ]),
            stores: [:]
        )
        let titles = try Self.declaration("score", #"{"title":{"hr":"Ocjena"}}"#)
        #expect(try change.declaring(titles, for: .store(Self.corner)).new == titles)
        // The whole definition, as a client reads it, is the same.
        let whole = try Self.declaration(
            "score",
            #"{"type":"enum","title":{"en":"Score","hr":"Ocjena"},"values":[{"key":"a","title":{"en":"Best"}}]}"#
        )
        #expect(try change.declaring(whole, for: .store(Self.corner)).new == titles)
        let reason = Self.conflict {
            _ = try change.declaring(try Self.declaration("score", Self.number), for: .store(Self.corner))
        }
        #expect(reason?.contains("enum") == true)
        #expect(throws: CatalogError.self) {
            try change.declaring(
                try Self.declaration("score", #"{"values":[{"key":"z","title":{"en":"Z"}}]}"#),
                for: .store(Self.corner)
            )
        }
    }

    @Test("Titles alone declare nothing")
    func titlesAlone() throws {
        let change = AttributeChange(deployment: [], stores: [:])
        let titles = try Self.declaration("rating", #"{"title":{"en":"Rating"}}"#)
        for owner in [AttributeOwner.deployment, .store(Self.corner)] {
            let error = #expect(throws: CatalogError.self) { try change.declaring(titles, for: owner) }
            guard case .unprocessable("type", _)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                continue
            }
        }
    }

    @Test("The deployment cannot declare a type that contradicts a store, and the reason names the store")
    func contradictedStore() throws {
        let stores = [Self.corner: try Self.stored(["rating": #"{"type":"number","title":{"en":"Stars"}}"#])]
        let change = AttributeChange(deployment: [], stores: stores)
        #expect(try change.declaring(try Self.declaration("rating", Self.number), for: .deployment).old == nil)
        let reason = Self.conflict {
            _ = try change.declaring(try Self.declaration("rating", #"{"type":"text"}"#), for: .deployment)
        }
        #expect(reason?.contains("corner") == true)
    }

    @Test("A reserved name is refused for a new attribute, and kept for a declared one")
    func reservedNames() throws {
        let text = try Self.declaration("price", #"{"type":"text"}"#)
        let new = AttributeChange(deployment: [], stores: [:])
        let known = AttributeChange(
            deployment: try Self.stored(["price": Self.number]),
            stores: [Self.corner: try Self.stored(["sort": Self.number])]
        )
        #expect(throws: CatalogError.self) { try new.declaring(text, for: .deployment) }
        #expect(throws: CatalogError.self) { try new.declaring(text, for: .store(Self.corner)) }
        #expect(try known.declaring(text, for: .deployment).old != nil)
        let sort = try Self.declaration("sort", #"{"type":"text"}"#)
        #expect(try known.declaring(sort, for: .store(Self.corner)).old != nil)
    }

    @Test("A ratio needs declared numbers, and these can be neither deleted nor retyped")
    func operands() throws {
        let ratio = try Self.declaration("protein_price", Self.ratio)
        let none = AttributeChange(deployment: [], stores: [:])
        #expect(throws: CatalogError.self) { try none.declaring(ratio, for: .deployment) }
        let text = AttributeChange(deployment: try Self.stored(["protein": #"{"type":"text"}"#]), stores: [:])
        #expect(throws: CatalogError.self) { try text.declaring(ratio, for: .deployment) }

        let shared = try Self.stored(["protein": Self.number])
        let inStore = AttributeChange(
            deployment: shared,
            stores: [Self.corner: try Self.stored(["protein_price": Self.ratio])]
        )
        #expect(try inStore.declaring(ratio, for: .store(Self.corner)).new == ratio)
        let finer = try Self.declaration("protein", #"{"type":"number","decimals":2}"#)
        #expect(try inStore.declaring(finer, for: .deployment).new == finer)
        for reason in [
            Self.conflict { _ = try inStore.removing(Self.name("protein"), of: .deployment) },
            Self.conflict {
                _ = try inStore.declaring(try Self.declaration("protein", #"{"type":"text"}"#), for: .deployment)
            },
        ] {
            #expect(reason?.contains("protein_price") == true)
        }

        let ownNumber = AttributeChange(
            deployment: [],
            stores: [Self.corner: try Self.stored(["protein": Self.number, "protein_price": Self.ratio])]
        )
        let reason = Self.conflict { _ = try ownNumber.removing(Self.name("protein"), of: .store(Self.corner)) }
        #expect(reason?.contains("protein_price") == true)
        // The definition of the deployment replaces the store's.
        let both = AttributeChange(deployment: shared, stores: ownNumber.stores)
        #expect(try both.removing(Self.name("protein"), of: .store(Self.corner)).name == Self.name("protein"))
    }

    @Test("A declaration that does not exist cannot be deleted")
    func missing() throws {
        let change = AttributeChange(deployment: try Self.stored(["rating": Self.number]), stores: [Self.corner: []])
        for (name, owner) in [("origin", AttributeOwner.deployment), ("rating", .store(Self.corner))] {
            let error = #expect(throws: CatalogError.self) { try change.removing(Self.name(name), of: owner) }
            guard case .notFound? = error else {
                Issue.record("unexpected \(String(describing: error))")
                continue
            }
        }
    }

    @Test("A store has at most 64 attributes in effect, those of the deployment included")
    func countLimit() throws {
        let shared = try Self.stored(
            Dictionary(uniqueKeysWithValues: (0..<40).map { ("shared\($0)", Self.number) })
        )
        let own = try Self.stored(Dictionary(uniqueKeysWithValues: (0..<24).map { ("own\($0)", Self.number) }))
        let full = AttributeChange(deployment: shared, stores: [Self.corner: own])
        let one = try Self.declaration("rating", Self.number)
        #expect(Self.conflict { _ = try full.declaring(one, for: .store(Self.corner)) }?.contains("64") == true)
        #expect(Self.conflict { _ = try full.declaring(one, for: .deployment) }?.contains("corner") == true)
        // Those that exist can change, and the deployment can declare what the store has.
        #expect(
            try full.declaring(try Self.declaration("own0", #"{"type":"text"}"#), for: .store(Self.corner)).old != nil
        )
        #expect(try full.declaring(try Self.declaration("own0", Self.number), for: .deployment).old == nil)
        #expect(try full.declaring(try Self.declaration("shared0", #"{"type":"text"}"#), for: .deployment).old != nil)
    }
}
