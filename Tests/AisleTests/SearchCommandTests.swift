import Catalog
import Testing

@testable import aisle

/// The message about a search without results.
@Suite struct SearchCommandTests {
    @Test("A search without results says which words find nothing, and its correction")
    func failures() {
        for (missing, correction, text) in [
            (["mlijkeo"], "mlijeko", "no product has “mlijkeo”; did you mean “mlijeko”?"),
            (["a", "b"], nil, "no product has “a”, “b”"), ([], nil, "no product has all words"),
        ] as [([String], String?, String)] {
            #expect(SearchCommand.describe(.init(missing: missing, correction: correction)) == text)
        }
    }
}
