import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct SettingKeyTests {
    @Test(
        "Keys of remembered sorts are recognized",
        arguments: [
            ("stores/s/sort", true), ("stores/s/shelves/x/sort", true), ("stores/s/shelves/x/sorts", false),
            ("stores/S/sort", false), ("stores/s/shelf/x/sort", false), ("stores/s/shelves/X/sort", false),
            ("stores/s/x/sort", false), ("lists.sort", false), ("sort", false), ("stores/s/shelves/x/y/sort", false),
            ("a/stores/s/sort", false),
        ]
    )
    func recognizesRememberedSorts(text: String, isSort: Bool) throws {
        #expect(try #require(SettingKey(text)).isSort == isSort)
    }

    @Test(
        "A text that is not a key is rejected",
        arguments: ["", "/", "a/", "/a", "a//b", ".", "a/../b", "a\u{0}", "a\nb", String(repeating: "a", count: 257)]
    )
    func rejectsInvalidKeys(text: String) { #expect(SettingKey(text) == nil) }

    @Test("Keys are compared in composed form")
    func comparesComposedForms() throws {
        #expect(try Array(#require(SettingKey("e\u{301}")).text.utf8) == Array("\u{e9}".utf8))
        #expect(SettingKey("é") != SettingKey("e"))
    }
}
