import Catalog
import Testing

@testable import CatalogImport

@Suite(.timeLimit(.minutes(15))) struct ShelfKeyGeneratorTests {
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
        var maker = ShelfKeyGenerator(existing: [(CatalogKey("milk")!, "Dairy", nil)])
        #expect(maker.key(for: "milk") == CatalogKey("milk")!)
        #expect(maker.key(for: "Dairy") == CatalogKey("milk")!)
        #expect(maker.created.isEmpty)
    }

    @Test("Titles with the same slug get numbered, permanent keys")
    func collisions() {
        var maker = ShelfKeyGenerator(existing: [(CatalogKey("milk")!, "Other", nil)])
        #expect(maker.key(for: "Milk!") == CatalogKey("milk-2")!)
        #expect(maker.key(for: "Milk?") == CatalogKey("milk-3")!)
        #expect(maker.key(for: "Milk!") == CatalogKey("milk-2")!)
        #expect(maker.created.map(\.title) == ["Milk!", "Milk?"])
    }

    @Test("A key that is truncated for its number stays unique and within 64 bytes")
    func longCollisions() {
        var maker = ShelfKeyGenerator(existing: [])
        let keys = (0..<30).map {
            maker.key(for: String(repeating: "a", count: 70) + String(repeating: "!", count: $0))
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

    @Test(
        "A path finds or creates each of its shelves, so that equal titles under different shelves are different shelves"
    )
    func paths() throws {
        let (dairy, other) = (CatalogKey("dairy")!, CatalogKey("other")!)
        var maker = ShelfKeyGenerator(existing: [(other, "Other", dairy), (dairy, "Dairy", nil)], usesPaths: true)
        #expect(maker.key(for: ["Dairy", "Other"]) == other)
        #expect(maker.key(for: ["Bakery", "Other"]) == CatalogKey("other-2")!)
        #expect(maker.key(for: ["Bakery", "Other", "Rolls"]) == CatalogKey("rolls")!)
        #expect(maker.key(for: ["Bakery"]) == CatalogKey("bakery")!)
        #expect(maker.created.map(\.title) == ["Bakery", "Other", "Rolls"])
        #expect(maker.created.map(\.parent?.text) == [nil, "bakery", "other-2"])

        let stored = maker.created.map { (key: $0.key, title: $0.title, parent: $0.parent) }
        var again = ShelfKeyGenerator(
            existing: stored + [(other, "Other", dairy), (dairy, "Dairy", nil)],
            usesPaths: true
        )
        #expect(again.key(for: ["Bakery", "Other", "Rolls"]) == CatalogKey("rolls")!)
        #expect(again.key(for: ["Dairy", "Other"]) == other)
        #expect(again.key(for: ["Other"]) == CatalogKey("other-3")!, "one title is that of a shelf at the top")
        #expect(again.created.map(\.title) == ["Other"], "the second import of a file finds the shelves of the first")
    }
}
