import Catalog
import CatalogJSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Uses of attributes in stored texts, which statements select by words.
@Suite(.timeLimit(.minutes(15))) struct StoredAttributeUsesTests {
    private static let (shop, kiosk) = (CatalogKey("shop")!, CatalogKey("kiosk")!)

    private static func withStores(_ body: (PostgresCatalog) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for key in [shop, kiosk] {
                _ = try await catalog.shelves.put(Store(key: key, title: key.text, currency: Currency("EUR")!))
            }
            try await body(catalog)
        }
    }

    /// Stores a setting of a user for each value, as other releases may have stored them.
    private static func set(
        _ key: String,
        _ values: [String],
        revision: Int64 = 1,
        in catalog: PostgresCatalog
    ) async throws {
        try await catalog.database.writes.perform { connection in
            for (number, value) in values.enumerated() {
                try connection.execute(
                    """
                    INSERT INTO user_account (user_id, revision, horizon) VALUES ($1, 1000, 0) ON CONFLICT DO NOTHING
                    """,
                    [.text("user\(number)")]
                )
                try connection.execute(
                    """
                    INSERT INTO user_setting (user_id, key, value, revision, modified_at)
                    VALUES ($1, $2, $3::text::json, $4, now())
                    """,
                    [.text("user\(number)"), .text(key), .text(value), .int8(revision)]
                )
            }
        }
    }

    private static func uses(
        of name: String,
        in owner: DeclarationOwner = .deployment,
        _ catalog: PostgresCatalog
    ) async throws -> AttributeUses {
        try await catalog.attributes.uses(of: AttributeName(name)!, in: owner)
    }

    @Test("Names count as words, with the endings of filters, and only in remembered sorts")
    func words() async throws {
        try await Self.withStores { catalog in
            let key = "stores/shop/sort"
            let used =
                [
                    #""rice""#, #""-rice""#, #""name,-rice""#, #""attributes.rice,name""#,
                    #"{"sort":"-attributes.rice"}"#,
                    #"{"sort":"name","filter":{"rice":"x"}}"#, #"{"filter":{"attributes.rice_none":"x"}}"#,
                ] + AttributeName.reservedEndings.map { #"{"filter":{"rice\#($0)":"1"}}"# }
            let others = [
                #""price""#, #""-unit_price""#, #""rices""#, #""rice_2""#, #""other.rice""#,
                #"{"filter":{"tag":"rice"}}"#,
                #"{"filter":{"price_min":"1"}}"#,
            ]
            try await Self.set(key, used + others, in: catalog)
            #expect(try await Self.uses(of: "rice", catalog) == AttributeUses(settings: used.count))
            #expect(try await Self.uses(of: "ric", catalog).isEmpty)
            // These are not remembered sorts.
            let keys = [
                "note", "stores/shop/notes/sort", "stores/shop/shelves/a/b/sort", "stores/Shop/sort",
                "x/stores/shop/sort",
            ]
            for (number, key) in keys.enumerated() {
                try await Self.set(key, [#""rice""#], revision: Int64(number) + 2, in: catalog)
            }
            #expect(try await Self.uses(of: "rice", catalog).settings == used.count)
            try await Self.set("stores/shop/shelves/tea/sort", [#""rice""#], revision: 100, in: catalog)
            #expect(try await Self.uses(of: "rice", catalog).settings == used.count + 1)
        }
    }

    @Test("Uses of a store that declares the attribute itself are not those of the deployment")
    func declaringStores() async throws {
        try await Self.withStores { catalog in
            let rating = AttributeName("rating")!
            _ = try await catalog.attributes.declare(
                try AttributeDeclaration(name: rating, text: Array(#"{"type":"text"}"#.utf8)),
                for: .store(Self.kiosk)
            )
            try await Self.set("stores/shop/sort", [#""rating""#], in: catalog)
            try await Self.set("stores/kiosk/sort", [#""rating""#], revision: 2, in: catalog)
            let expected = AttributeUses(settings: 1)
            #expect(try await Self.uses(of: "rating", catalog) == expected)
            for store in [Self.shop, Self.kiosk] {
                #expect(try await Self.uses(of: "rating", in: .store(store), catalog) == expected)
            }
            // Without its own declaration, the store loses the attribute with that of the deployment.
            try await catalog.attributes.remove(attribute: rating, of: .store(Self.kiosk))
            #expect(try await Self.uses(of: "rating", catalog) == AttributeUses(settings: 2))
        }
    }

    @Test("An attribute counts as used if there are more remembered values with its name than are read")
    func manyValues() async throws {
        try await Self.withStores { catalog in
            try await catalog.database.writes.perform { connection in
                try connection.execute(
                    """
                    INSERT INTO user_account (user_id, revision, horizon)
                    SELECT 'user' || n, 1000, 0 FROM generate_series(1, \(AttributeUses.valueLimit + 1)) n
                    """
                )
                try connection.execute(
                    """
                    INSERT INTO user_setting (user_id, key, value, revision, modified_at)
                    SELECT 'user' || n, 'stores/shop/sort', ('{"filter":{"tag":"rice ' || n || '"}}')::json, 1, now()
                    FROM generate_series(1, \(AttributeUses.valueLimit)) n
                    """
                )
            }
            #expect(try await Self.uses(of: "rice", catalog).isEmpty)
            try await Self.set("stores/kiosk/sort", [#"{"filter":{"tag":"rice"}}"#], in: catalog)
            #expect(try await Self.uses(of: "rice", catalog) == AttributeUses(settings: 1))
            #expect(try await Self.uses(of: "price", catalog).isEmpty)
        }
    }
}
