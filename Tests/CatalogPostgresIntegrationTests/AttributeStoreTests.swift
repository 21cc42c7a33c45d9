import Catalog
import CatalogJSON
import JSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Declarations of attributes, and the values that products may have then, in memory and in PostgreSQL.
@Suite(.timeLimit(.minutes(15))) struct AttributeStoreTests {
    typealias Implementation = StoreConformanceTests.Implementation

    private static let shop = StoreConformanceTests.shop
    private static let kiosk = CatalogKey("kiosk")!
    private static let rating = AttributeName("rating")!
    private static let owners: [DeclarationOwner] = [.deployment, .store(shop)]
    private static let number = #"{"type":"number","decimals":1,"title":{"en":"Rating"}}"#

    private static func declare(
        _ body: String,
        _ name: AttributeName = rating,
        for owner: DeclarationOwner,
        in catalog: CatalogStorage
    ) async throws -> Bool {
        try await declared(body, name, for: owner, in: catalog).isNew
    }

    private static func declared(
        _ body: String,
        _ name: AttributeName = rating,
        for owner: DeclarationOwner,
        in catalog: CatalogStorage
    ) async throws -> DeclaredAttribute {
        try await catalog.attributes.declare(try AttributeDeclaration(name: name, text: Array(body.utf8)), for: owner)
    }

    /// Counts the values that do not have the type of the attribute in effect.
    private static func unreadable(
        in owner: DeclarationOwner,
        within limit: Duration = .seconds(60),
        _ catalog: CatalogStorage
    ) async throws -> Int? {
        let attribute = try #require(try await catalog.attributes.attributes(of: owner)[rating])
        return try await catalog.attributes.unreadableValues(of: attribute.definition, in: owner, within: limit)
    }

    private static func product(_ number: Int, _ attributes: String) -> Product {
        Product(sku: SKU("p\(number)")!, name: "Product", attributes: attributes)
    }

    @Test("A declaration is created, replaced and deleted", arguments: Implementation.allCases, owners)
    func lifecycle(_ implementation: Implementation, _ owner: DeclarationOwner) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            let attributes = catalog.attributes
            #expect(try await attributes.attributes(of: owner).isEmpty)
            let declared = try await Self.declared(Self.number, for: owner, in: catalog)
            let first = try #require(try await attributes.attributes(of: owner)[Self.rating])
            #expect(declared.isNew && declared.attribute == first)
            #expect(first.definition.form == .number(decimals: 1) && first.definition.title.texts == ["en": "Rating"])
            #expect(first.isOfStore == (owner != .deployment))
            // The same declaration again changes nothing.
            #expect(try await !Self.declare(Self.number, for: owner, in: catalog))
            #expect(try await attributes.attributes(of: owner)[Self.rating] == first)
            #expect(try await !Self.declare(#"{"type":"text"}"#, for: owner, in: catalog))
            let second = try #require(try await attributes.attributes(of: owner)[Self.rating])
            #expect(second.definition.form == .text && second.definition.title.isEmpty)
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
                try await catalog.attributes.unreadableValues(
                    of: AttributeDefinition(name: Self.rating, form: .text),
                    in: .store(Self.shop),
                    within: .seconds(60)
                )
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
            #expect(attributes.map(\.definition.form) == [.text] && attributes.map(\.isOfStore) == [false])
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
            _ = try await Self.declare(Self.number, for: .store(Self.shop), in: catalog)
            #expect(try await version() == versions.last)
            try await catalog.attributes.remove(attribute: Self.rating, of: .store(Self.shop))
            versions.append(try await version())
            #expect(versions == Array(Set(versions)).sorted())
        }
    }

    @Test(
        "Changes are in the log of the store, and those of the deployment in the log of the user",
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
            #expect(user.map(\.action) == ["deployment-attribute.delete", "deployment-attribute.put"])
        }
    }

    @Test("A change that expects another attribute changes nothing", arguments: Implementation.allCases, owners)
    func expectations(_ implementation: Implementation, _ owner: DeclarationOwner) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            let declaration = try AttributeDeclaration(name: Self.rating, text: Array(Self.number.utf8))
            func declare(_ isExpected: @escaping AttributeExpectation) async throws {
                _ = try await catalog.attributes.declare(
                    declaration,
                    for: owner,
                    expecting: isExpected,
                    isConfirmed: false
                )
            }
            func remove(_ isExpected: @escaping AttributeExpectation) async throws {
                try await catalog.attributes.remove(
                    attribute: Self.rating,
                    of: owner,
                    expecting: isExpected,
                    isConfirmed: false
                )
            }
            await #expect(throws: CatalogError.staleAttribute(current: nil)) { try await declare { $0 != nil } }
            #expect(try await catalog.attributes.attributes(of: owner).isEmpty)
            try await declare { $0 == nil }
            let current = try await catalog.attributes.attributes(of: owner)[Self.rating]
            #expect(current != nil)
            await #expect(throws: CatalogError.staleAttribute(current: current)) {
                try await remove { $0?.definition.form == .text }
            }
            #expect(try await catalog.attributes.attributes(of: owner)[Self.rating] == current)
            try await remove { $0?.definition.form == .number(decimals: 1) }
            #expect(try await catalog.attributes.attributes(of: owner).isEmpty)
        }
    }

    // MARK: - Uses

    @Test(
        "Remembered sorts and filters, default sorts and profiles use an attribute",
        arguments: Implementation.allCases
    )
    func uses(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            _ = try await catalog.importProfiles.put(
                importProfile: #"{"attributes":{"rating":"Stars","brand_of":"rating"}}"#,
                CatalogKey("supplier")!
            )
            let unused = try await catalog.attributes.uses(of: AttributeName("stars")!, in: .deployment)
            #expect(unused.isEmpty)
            let score = AttributeName("score")!
            for name in [score, AttributeName("unit_score")!] {
                #expect(try await Self.declare(Self.number, name, for: .deployment, in: catalog))
            }
            let dairy = StoreConformanceTests.dairy
            _ = try await catalog.shelves.put(Store(key: Self.kiosk, title: "Kiosk", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(
                Shelf(key: dairy, title: "Dairy", defaultSort: try Sort.parse("name,-score")),
                in: Self.shop
            )
            _ = try await catalog.shelves.put(
                Shelf(key: dairy, title: "Dairy", defaultSort: try Sort.parse("-unit_score")),
                in: Self.kiosk
            )
            _ = try await catalog.shelves.put(
                Store(
                    key: Self.kiosk,
                    title: "Kiosk",
                    currency: Currency("EUR")!,
                    defaultSort: try Sort.parse("-score")
                )
            )
            for (number, (key, value)) in [
                (SettingKey.sort(of: dairy, in: Self.shop), JSONValue.string("-score")),
                (SettingKey.sort(in: Self.kiosk), .string("unit_score")),
                (
                    SettingKey.sort(in: Self.shop),
                    .object([
                        .init("sort", .string("name")), .init("filter", .object([.init("score_max", .string("5"))])),
                        .init("remember_attributes", .bool(true)),
                    ])
                ), (SettingKey("note")!, .string("score")),
            ].enumerated() {
                _ = try await catalog.settings.edit(SettingsEdit([.init(key, value)]), of: UserID("user\(number)")!)
            }
            let all = try await catalog.attributes.uses(of: score, in: .deployment)
            #expect(all.settings == 2 && all.profiles.isEmpty)
            #expect(all.stores == [Self.kiosk] && all.shelves == [.init(store: Self.shop, shelf: dairy)])
            let shop = try await catalog.attributes.uses(of: score, in: .store(Self.shop))
            #expect(shop == AttributeUses(settings: 2, shelves: [.init(store: Self.shop, shelf: dairy)]))
            let kiosk = try await catalog.attributes.uses(of: score, in: .store(Self.kiosk))
            #expect(kiosk == AttributeUses(stores: [Self.kiosk]))
        }
    }

    @Test("An attribute that something uses needs a confirmation", arguments: Implementation.allCases, owners)
    func confirmations(_ implementation: Implementation, _ owner: DeclarationOwner) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            let supplier = CatalogKey("supplier")!
            _ = try await catalog.importProfiles.put(importProfile: #"{"attributes":{"rating":"Stars"}}"#, supplier)
            let uses = AttributeUses(profiles: [supplier])
            func declare(_ body: String, isConfirmed: Bool) async throws {
                _ = try await catalog.attributes.declare(
                    try AttributeDeclaration(name: Self.rating, text: Array(body.utf8)),
                    for: owner,
                    expecting: nil,
                    isConfirmed: isConfirmed
                )
            }
            func remove(isConfirmed: Bool) async throws {
                try await catalog.attributes.remove(
                    attribute: Self.rating,
                    of: owner,
                    expecting: nil,
                    isConfirmed: isConfirmed
                )
            }
            try await declare(Self.number, isConfirmed: false)
            try await declare(#"{"type":"number","decimals":2}"#, isConfirmed: false)
            let inUse = CatalogError.inUse(Self.rating, uses)
            await #expect(throws: inUse) { try await declare(#"{"type":"text"}"#, isConfirmed: false) }
            await #expect(throws: inUse) { try await remove(isConfirmed: false) }
            let kept = try await catalog.attributes.attributes(of: owner)[Self.rating]
            #expect(kept?.definition.form == .number(decimals: 2))
            try await declare(#"{"type":"text"}"#, isConfirmed: true)
            try await remove(isConfirmed: true)
            #expect(try await catalog.attributes.attributes(of: owner).isEmpty)
            await #expect(throws: CatalogError.unknownAttribute(Self.rating, of: owner)) {
                try await remove(isConfirmed: false)
            }
        }
    }

    // MARK: - Values

    @Test(
        "Writes of products are checked against the attributes in effect, and stored values are kept",
        arguments: Implementation.allCases,
        owners
    )
    func values(_ implementation: Implementation, _ owner: DeclarationOwner) async throws {
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
            #expect(try await Self.unreadable(in: owner, catalog) == 1)
            try await put(1, #"{"rating":5}"#)
            #expect(try await Self.unreadable(in: owner, catalog) == 0)
            try await catalog.attributes.remove(attribute: Self.rating, of: owner)
            try await put(1, #"{"rating":"bad"}"#)
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
                let declared = try await Self.declared(type, for: .deployment, in: catalog)
                #expect(try await Self.unreadable(in: .store(Self.shop), catalog) == count)
                #expect(await catalog.attributes.unreadableValues(after: declared, of: .deployment) == 2 * count)
                // Titles change no value, so nothing is counted.
                let titled = try await Self.declared(#"{"title":{"en":"R"}}"#, for: .store(Self.shop), in: catalog)
                #expect(await catalog.attributes.unreadableValues(after: titled, of: .store(Self.shop)) == nil)
            }
            #expect(try await Self.unreadable(in: .deployment, within: .zero, catalog) == nil)
            let kept = try await catalog.products.product(Self.shop, SKU("p4")!).product
            #expect(try JSONReader.parse(Array(kept.attributes.utf8))["rating"] == .string("x"))
        }
    }

    @Test(
        "A value that is written back in another spelling is kept, whatever its type",
        arguments: Implementation.allCases
    )
    func respelledValues(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            _ = try await catalog.products.put(Self.product(1, #"{"rating":4.55,"own":{"a":1,"bb":2}}"#), in: Self.shop)
            _ = try await Self.declare(Self.number, for: .deployment, in: catalog)
            _ = try await Self.declare(#"{"type":"text"}"#, AttributeName("own")!, for: .deployment, in: catalog)
            for attributes in [
                #"{"rating":455e-2,"own":{"bb":2,"a":1}}"#, #"{"rating":4.550,"own":{"a":1.0,"bb":2}}"#,
            ] {
                _ = try await catalog.products.put(Self.product(1, attributes), in: Self.shop)
            }
            await #expect(throws: CatalogError.self) {
                try await catalog.products.put(Self.product(1, #"{"rating":4.56}"#), in: Self.shop)
            }
        }
    }

    // MARK: - In PostgreSQL

    /// Runs a body on a catalog with two stores, whose database it can change.
    private static func withDatabase(_ body: (PostgresCatalog) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for key in [shop, kiosk] {
                _ = try await catalog.shelves.put(Store(key: key, title: key.text, currency: Currency("EUR")!))
            }
            try await body(catalog)
        }
    }

    @Test("Values are counted in batches of products, each product once")
    func batches() async throws {
        try await Self.withDatabase { catalog in
            let batch = PostgresAttributeStore.batch
            // Products without the attribute are read, too: in the first store two full batches, in the second a part of one.
            for (store, count) in [(1, 2 * batch), (2, 7)] {
                let insertion = """
                    INSERT INTO product (store_id, sku, name, name_key, attributes, created_at, modified_at)
                    SELECT \(store), 'p' || n, 'N', '\\x01'::bytea,
                        CASE n % 4 WHEN 0 THEN '{"rating":1}' WHEN 1 THEN '{"rating":"x"}' WHEN 2 THEN '{"rating":null}' ELSE '{}' END::jsonb,
                        now(), now() FROM generate_series(1, \(count)) n
                    """
                try await catalog.database.writes.perform { try $0.run(script: insertion) }
            }
            let declared = try await Self.declared(Self.number, for: .deployment, in: catalog.storage)
            #expect(await catalog.attributes.unreadableValues(after: declared, of: .deployment) == batch / 2 + 2)
            #expect(try await Self.unreadable(in: .store(Self.shop), catalog.storage) == batch / 2)
            #expect(try await Self.unreadable(in: .store(Self.kiosk), catalog.storage) == 2)
        }
    }

    @Test("With an attribute of the deployment, only titles for it are deleted: neither other titles nor definitions")
    func deletedTitles() async throws {
        try await Self.withDatabase { catalog in
            let origin = AttributeName("origin")!
            for name in [Self.rating, origin] {
                _ = try await Self.declare(Self.number, name, for: .deployment, in: catalog.storage)
            }
            let titles = #"{"title":{"en":"Own"}}"#
            _ = try await Self.declare(titles, origin, for: .store(Self.shop), in: catalog.storage)
            _ = try await Self.declare(titles, for: .store(Self.shop), in: catalog.storage)
            try await catalog.attributes.remove(attribute: Self.rating, of: .deployment)
            _ = try await Self.declare(Self.number, for: .store(Self.kiosk), in: catalog.storage)
            _ = try await Self.declare(Self.number, for: .deployment, in: catalog.storage)
            try await catalog.attributes.remove(attribute: Self.rating, of: .deployment)
            let shop = try await catalog.attributes.attributes(of: .store(Self.shop))
            #expect(shop.attributes.map(\.name) == [origin])
            #expect(shop[origin]?.definition.title.texts == ["en": "Own"])
            let kiosk = try await catalog.attributes.attributes(of: .store(Self.kiosk))
            #expect(kiosk[Self.rating]?.isOfStore == true)
        }
    }

    @Test(
        "Declarations that a later release stored are listed and not checked, and others can change",
        arguments: owners
    )
    func laterReleases(_ owner: DeclarationOwner) async throws {
        try await Self.withDatabase { catalog in
            let (table, columns, store) =
                owner == .deployment ? ("attribute", "", "") : ("store_attribute", "store_id, ", "1, ")
            let insertion = """
                INSERT INTO \(table) (\(columns)name, document) VALUES (\(store)'colour', '{"type":"colour","title":{"en":"Colour"}}'),
                    (\(store)'Later-Name', '{"type":"text"}'), (\(store)'broken', '{"title":7}'),
                    (\(store)'fine', '{"type":"number","decimals":12}')
                """
            try await catalog.database.writes.perform { try $0.run(script: insertion) }
            _ = try await Self.declare(Self.number, for: owner, in: catalog.storage)
            let found = try await catalog.attributes.attributes(of: .store(Self.shop)).attributes
            #expect(found.map(\.name.text) == ["Later-Name", "colour", "fine", "rating"])
            #expect(found[1].definition.form == .unknown(type: "colour", []))
            let product = Self.product(1, #"{"colour":[7],"fine":"x","broken":1,"rating":4.5}"#)
            _ = try await catalog.products.put(product, in: Self.shop)
            await #expect(throws: CatalogError.self) {
                try await catalog.products.put(Self.product(1, #"{"rating":"x"}"#), in: Self.shop)
            }
            try await catalog.attributes.remove(attribute: AttributeName("colour")!, of: owner)
            _ = try await Self.declare(#"{"type":"text"}"#, for: owner, in: catalog.storage)
        }
    }

    @Test("A change of the deployment's attributes raises their revision, and one that changes nothing does not")
    func deploymentRevision() async throws {
        try await Self.withDatabase { catalog in
            func revision() async throws -> Int64 {
                try await catalog.database.writes.perform {
                    try $0.query("SELECT attribute_revision FROM deployment") { try $0.first { try $0.int8(0) } } ?? -1
                }
            }
            var revisions = [try await revision()]
            for body in [Self.number, Self.number, #"{"type":"text"}"#] {
                _ = try await Self.declare(body, for: .deployment, in: catalog.storage)
                revisions.append(try await revision())
            }
            await #expect(throws: CatalogError.self) {
                try await Self.declare(#"{"title":{}}"#, for: .deployment, in: catalog.storage)
            }
            try await catalog.attributes.remove(attribute: Self.rating, of: .deployment)
            revisions.append(try await revision())
            #expect(revisions[0] < revisions[1] && revisions[1] == revisions[2])
            #expect(revisions[2] < revisions[3] && revisions[3] < revisions[4])
        }
    }
}
