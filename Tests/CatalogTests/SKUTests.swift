import Catalog
import Testing

@Suite("SKUs") struct SKUTests {
    @Test("A SKU has at most 64 characters, however many bytes each takes", arguments: ["a", "ä", "e\u{301}", "水"])
    func lengthIsInCharacters(character: String) {
        #expect(SKU(String(repeating: character, count: 64)) != nil)
        #expect(SKU(String(repeating: character, count: 65)) == nil)
    }

    @Test("A SKU has at most 256 bytes")
    func bytesAreLimited() {
        // A family of four takes 25 bytes and is one character.
        #expect(SKU(String(repeating: "👨‍👩‍👧‍👦", count: 10)) != nil)
        #expect(SKU(String(repeating: "👨‍👩‍👧‍👦", count: 11)) == nil)
    }

    @Test(
        "Text that a file or URL would change is not a valid SKU",
        arguments: ["", " a", "a ", "a/b", ".", "..", "a\nb", "a\u{0}", "\u{7f}"]
    )
    func ambiguousTextsAreRejected(text: String) { #expect(SKU(text) == nil) }

    @Test("Two spellings of a character are one SKU")
    func spellingsAreEqual() { #expect(SKU("e\u{301}") == SKU("\u{e9}")) }

    @Test("SKUs are ordered by bytes")
    func orderIsByBytes() throws {
        let skus = try ["b", "a", "B", "ä", "1"].map { try #require(SKU($0)) }
        #expect(skus.sorted().map(\.text) == ["1", "B", "a", "b", "ä"])
    }
}
