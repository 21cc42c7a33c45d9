import Catalog
import CatalogJSON
import CatalogPostgres
import JSON
import TestSupport
import Testing

/// Declarations of attributes, and the values that products may have then, in memory and in PostgreSQL.
@Suite(.timeLimit(.minutes(15))) struct AttributeStoreTests {
    typealias Implementation = StoreConformanceTests.Implementation

    private static let shop = StoreConformanceTests.shop
    private static let kiosk = CatalogKey("kiosk")!
    private static let rating = AttributeName("rating")!
    private static let owners: [AttributeOwner] = [.deployment, .store(shop)]
    private static let number = #"{"type":"number","decimals":1,"title":{"en":"Rating"}}"#

    private static func declare(
        _ body: String,
        _ name: AttributeName = rating,
        for owner: AttributeOwner,
        in catalog: CatalogStorage
    ) async throws -> Bool {
        try await catalog.attributes.declare(try AttributeDeclaration(name: name, text: Array(body.utf8)), for: owner)
    }

    private static func product(_ number: Int, _ attributes: String) -> Product {
        Product(sku: SKU("p\(number)")!, name: "Product", attributes: attributes)
    }

    @Test("A declaration is created, replaced and deleted", arguments: Implementation.allCases, owners)
    func lifecycle(_ implementation: Implementation, _ owner: AttributeOwner) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            let attributes = catalog.attributes
            #expect(try await attributes.attributes(of: owner).isEmpty)
            #expect(try await Self.declare(Self.number, for: owner, in: catalog))
            let first = try #require(try await attributes.attributes(of: owner)[Self.rating])
            #expect(first.definition.form == .number(decimals: 1) && first.definition.title.texts == ["en": "Rating"])
            #expect(first.isOfStore == (owner != .deployment))
            // The same declaration again changes nothing.
            #expect(try await !Self.declare(Self.number, for: owner, in: catalog))
            #expect(try await attributes.attributes(of: owner)[Self.rating] == first)
            #expect(try await !Self.declare(#"{"type":"text"}"#, for: owner, in: catalog))
            let second = try #require(try await attributes.attributes(of: owner)[Self.rating])
            #expect(second.definition.form == .text && second.definition.title.isEmpty)
            let revisions = [first, second].map { $0.deploymentRevision ?? $0.storeRevision ?? 0 }
            #expect(revisions[0] < revisions[1])
            try await attributes.remove(attribute: Self.rating, of: owner)
            #expect(try await attributes.attributes(of: owner).isEmpty)
            await #expect(throws: CatalogError.unknownAttribute(Self.rating, of: owner)) {
                try await attributes.remove(attribute: Self.rating, of: owner)
            }
        }
    }

    @Test(
        "Attributes of the deployment are in effect in every store, with the titles of the store",
        arguments: Implementation.allCases
    )
    func inEffect(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.kiosk, title: "Kiosk", currency: Currency("EUR")!))
            _ = try await Self.declare(Self.number, for: .deployment, in: catalog)
            _ = try await Self.declare(#"{"title":{"hr":"Ocjena"}}"#, for: .store(Self.shop), in: catalog)
            _ = try await Self.declare(
                #"{"type":"text"}"#,
                AttributeName("origin")!,
                for: .store(Self.kiosk),
                in: catalog
            )
            let shop = try await catalog.attributes.attributes(of: .store(Self.shop))
            #expect(shop.attributes.map(\.name.text) == ["rating"])
            #expect(shop[Self.rating]?.definition.title.texts == ["en": "Rating", "hr": "Ocjena"])
            let kiosk = try await catalog.attributes.attributes(of: .store(Self.kiosk))
            #expect(kiosk.attributes.map(\.name.text) == ["origin", "rating"])
            #expect(kiosk[Self.rating]?.definition.title.texts == ["en": "Rating"])
            #expect(try await catalog.attributes.attributes(of: .deployment).attributes.map(\.name.text) == ["rating"])
            // The kiosk's attribute stays, and the shop's titles go with their attribute.
            try await catalog.attributes.remove(attribute: Self.rating, of: .deployment)
            #expect(try await catalog.attributes.attributes(of: .store(Self.shop)).isEmpty)
            await #expect(throws: CatalogError.unknownAttribute(Self.rating, of: .store(Self.shop))) {
                try await catalog.attributes.remove(attribute: Self.rating, of: .store(Self.shop))
            }
            #expect(
                try await catalog.attributes.attributes(of: .store(Self.kiosk)).attributes.map(\.name.text) == [
                    "origin"
                ]
            )
        }
    }

    @Test("A store and the deployment cannot declare different types", arguments: Implementation.allCases)
    func contradictions(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            _ = try await Self.declare(Self.number, for: .store(Self.shop), in: catalog)
            await #expect(throws: CatalogError.self) {
                try await Self.declare(#"{"type":"text"}"#, for: .deployment, in: catalog)
            }
            #expect(try await catalog.attributes.attributes(of: .deployment).isEmpty)
            #expect(try await Self.declare(Self.number, for: .deployment, in: catalog))
            await #expect(throws: CatalogError.self) {
                try await Self.declare(#"{"type":"text"}"#, for: .store(Self.shop), in: catalog)
            }
            let found = try await catalog.attributes.attributes(of: .store(Self.shop))[Self.rating]
            #expect(found?.definition.form == .number(decimals: 1) && found?.isOfStore == false)
        }
    }

    @Test("The attributes of an unknown store are not found", arguments: Implementation.allCases)
    func unknownStore(_ implementation: Implementation) async throws {
        try await implementation.withCatalog { (catalog: CatalogStorage) async throws in
            let missing = CatalogError.notFound("store “shop”")
            await #expect(throws: missing) { try await catalog.attributes.attributes(of: .store(Self.shop)) }
            await #expect(throws: missing) { try await Self.declare(Self.number, for: .store(Self.shop), in: catalog) }
            await #expect(throws: missing) {
                try await catalog.attributes.remove(attribute: Self.rating, of: .store(Self.shop))
            }
            await #expect(throws: missing) {
                try await catalog.attributes.unreadableValues(of: Self.rating, in: .store(Self.shop))
            }
        }
    }

    @Test("A store that is deleted and created again has no attributes of its own", arguments: Implementation.allCases)
    func recreatedStore(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            _ = try await Self.declare(Self.number, for: .store(Self.shop), in: catalog)
            _ = try await catalog.shelves.remove(store: Self.shop)
            // A deleted store contradicts nothing.
            #expect(try await Self.declare(#"{"type":"text"}"#, for: .deployment, in: catalog))
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            let attributes = try await catalog.attributes.attributes(of: .store(Self.shop)).attributes
            #expect(attributes.map(\.definition.form) == [.text] && attributes.map(\.storeRevision) == [nil])
        }
    }

    @Test("A change of a store's attributes raises the version of the store", arguments: Implementation.allCases)
    func storeVersion(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            _ = try await catalog.shelves.put(Shelf(key: StoreConformanceTests.dairy, title: "Dairy"), in: Self.shop)
            func version() async throws -> Int64 {
                try await catalog.shelves.shelf(Self.shop, StoreConformanceTests.dairy).storeVersion
            }
            var versions = [try await version()]
            _ = try await Self.declare(Self.number, for: .store(Self.shop), in: catalog)
            versions.append(try await version())
            #expect(
                try await catalog.attributes.attributes(of: .store(Self.shop))[Self.rating]?.storeRevision
                    == versions.last
            )
            _ = try await Self.declare(Self.number, for: .store(Self.shop), in: catalog)
            #expect(try await version() == versions.last)
            try await catalog.attributes.remove(attribute: Self.rating, of: .store(Self.shop))
            versions.append(try await version())
            #expect(versions == Array(Set(versions)).sorted())
        }
    }

    @Test(
        "Changes are in the log of the store, and those for all stores in the log of the user",
        arguments: Implementation.allCases
    )
    func audit(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            try await ChangeOrigin(source: .api, actor: "merchandiser").run {
                for owner in Self.owners.reversed() {
                    _ = try await Self.declare(Self.number, for: owner, in: catalog)
                    _ = try await Self.declare(Self.number, for: owner, in: catalog)
                    try await catalog.attributes.remove(attribute: Self.rating, of: owner)
                }
            }
            let store = try await catalog.audit.audit(AuditRequest(.store(Self.shop))).entries
            #expect(store.map(\.action).prefix(2) == ["attribute.delete", "attribute.put"])
            #expect(store.map(\.subject).prefix(2) == ["rating", "rating"] && store.count == 3)
            #expect(store[1].detail.contains(#""decimals":1"#))
            let user = try await catalog.audit.audit(AuditRequest(.user(UserID("merchandiser")!))).entries
            #expect(user.map(\.action) == ["shared-attribute.delete", "shared-attribute.put"])
        }
    }

    // MARK: - Values

    @Test(
        "Writes of products are checked against the attributes in effect, and stored values are kept",
        arguments: Implementation.allCases,
        owners
    )
    func values(_ implementation: Implementation, _ owner: AttributeOwner) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            func put(_ number: Int, _ attributes: String) async throws {
                _ = try await catalog.products.put(Self.product(number, attributes), in: Self.shop)
            }
            try await put(1, #"{"rating":"good","own":1}"#)
            _ = try await Self.declare(Self.number, for: owner, in: catalog)
            try await put(2, #"{"rating":4.5}"#)
            // The stored value is as before, and others change.
            try await put(1, #"{"own":2,"rating":"good"}"#)
            for attributes in [#"{"rating":"bad"}"#, #"{"rating":4.55}"#, #"{"rating":true}"#] {
                for number in 1...3 {
                    let error = await #expect(throws: CatalogError.self) { try await put(number, attributes) }
                    guard case .unprocessable("attributes.rating", _)? = error else {
                        Issue.record("unexpected \(String(describing: error))")
                        continue
                    }
                }
            }
            #expect(try await catalog.attributes.unreadableValues(of: Self.rating, in: owner) == 1)
            try await put(1, #"{"rating":5}"#)
            #expect(try await catalog.attributes.unreadableValues(of: Self.rating, in: owner) == 0)
            try await catalog.attributes.remove(attribute: Self.rating, of: owner)
            try await put(1, #"{"rating":"bad"}"#)
            await #expect(throws: CatalogError.unknownAttribute(Self.rating, of: owner)) {
                try await catalog.attributes.unreadableValues(of: Self.rating, in: owner)
            }
        }
    }

    @Test(
        "Values of another type are counted in the owner's stores, and kept when the type changes",
        arguments: Implementation.allCases
    )
    func retyping(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.kiosk, title: "Kiosk", currency: Currency("EUR")!))
            let values = [#"{"rating":4.5}"#, #"{"rating":4.50}"#, #"{"rating":null}"#, "{}", #"{"rating":"x"}"#]
            for (number, value) in values.enumerated() {
                for store in [Self.shop, Self.kiosk] {
                    _ = try await catalog.products.put(Self.product(number, value), in: store)
                }
            }
            for (type, count) in [(Self.number, 1), (#"{"type":"text"}"#, 2), (#"{"type":"boolean"}"#, 3)] {
                _ = try await Self.declare(type, for: .deployment, in: catalog)
                #expect(
                    try await catalog.attributes.unreadableValues(of: Self.rating, in: .store(Self.shop)) == count
                )
                #expect(try await catalog.attributes.unreadableValues(of: Self.rating, in: .deployment) == 2 * count)
            }
            let kept = try await catalog.products.product(Self.shop, SKU("p4")!).product
            #expect(try JSONReader.parse(Array(kept.attributes.utf8))["rating"] == .string("x"))
        }
    }
}
