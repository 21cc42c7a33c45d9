import Catalog
import Testing

@testable import CatalogJSON

@Suite(.timeLimit(.minutes(1))) struct ShelfKeyGeneratorTests {
    @Test(
        "A title becomes lower-case ASCII with hyphens",
        arguments: [
            ("Dairy & Eggs", "dairy-eggs"), ("  Ärla  ", "arla"), ("Straße", "strasse"),
            ("Crème brûlée", "creme-brulee"),
            ("100 % Fruit!", "100-fruit"), ("牛乳", "shelf"), ("---", "shelf"), ("a/b\\c", "a-b-c"),
        ]
    )
    func slugs(_ title: String, _ expected: String) {
        #expect(ShelfKeyGenerator.slug(title) == expected)
    }

    @Test("The slug of a long title is truncated and does not end with a hyphen")
    func longTitles() {
        let slug = ShelfKeyGenerator.slug(String(repeating: "abcdefghi ", count: 20))
        #expect(slug.utf8.count <= 60)
        #expect(!slug.hasSuffix("-"))
        #expect(CatalogKey(slug) != nil)
    }

    @Test("An existing key or title identifies its shelf")
    func existingShelves() {
        var maker = ShelfKeyGenerator(existing: [(CatalogKey("milk")!, "Dairy")])
        #expect(maker.key(for: "milk") == (CatalogKey("milk")!, false))
        #expect(maker.key(for: "Dairy") == (CatalogKey("milk")!, false))
        #expect(maker.created.isEmpty)
    }

    @Test("Titles with the same slug get numbered, permanent keys")
    func collisions() {
        var maker = ShelfKeyGenerator(existing: [(CatalogKey("milk")!, "Other")])
        #expect(maker.key(for: "Milk!") == (CatalogKey("milk-2")!, true))
        #expect(maker.key(for: "Milk?") == (CatalogKey("milk-3")!, true))
        #expect(maker.key(for: "Milk!") == (CatalogKey("milk-2")!, false))
        #expect(maker.created.map(\.title) == ["Milk!", "Milk?"])
    }

    @Test("A key that is truncated for its number stays unique and within 64 bytes")
    func longCollisions() {
        var maker = ShelfKeyGenerator(existing: [])
        let keys = (0..<30).map {
            maker.key(for: String(repeating: "a", count: 70) + String(repeating: "!", count: $0)).key
        }
        #expect(Set(keys).count == 30)
        #expect(keys.allSatisfy { $0.text.utf8.count <= 64 })
    }

    @Test("A title implies its key only if an import would generate that key")
    func makes() {
        #expect(ShelfKeyGenerator.derives("dairy-eggs", from: "Dairy & Eggs"))
        #expect(!ShelfKeyGenerator.derives("dairy", from: "Dairy & Eggs"))
        #expect(!ShelfKeyGenerator.derives("dairy", from: " Dairy"))
    }
}
