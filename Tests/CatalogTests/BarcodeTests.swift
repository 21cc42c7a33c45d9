import Catalog
import Testing

@Suite struct BarcodeTests {
    private static func spellings(_ text: String) throws -> [String] {
        try Barcode(text, parameter: "barcode").spellings
    }

    @Test(
        "Up to 14 digits have all spellings with and without zeros before them, and check digits do not matter",
        arguments: [
            ("10614141000415", ["10614141000415"]), ("4006381333931", ["04006381333931", "4006381333931"]),
            ("4006381333930", ["04006381333930", "4006381333930"]),
            ("200000000001", ["00200000000001", "0200000000001", "200000000001"]),
            // A UPC-A that a spreadsheet has shortened.
            ("36000291452", ["00036000291452", "0036000291452", "036000291452", "36000291452"]),
        ]
    )
    func numbers(_ text: String, _ spellings: [String]) throws {
        #expect(try Self.spellings(text) == spellings)
        for spelling in spellings { #expect(try Self.spellings(spelling) == spellings) }
    }

    @Test(
        "Short numbers have a spelling of each length",
        arguments: [("96385074", 7), ("12", 13), ("7", 14), ("0", 14)]
    )
    func shortNumbers(_ text: String, _ count: Int) throws {
        let spellings = try Self.spellings(text)
        #expect(spellings.count == count && spellings.last == text)
        #expect(spellings.map(\.utf8.count) == Array(text.utf8.count...14).reversed())
        #expect(try Self.spellings(spellings[0]) == spellings)
    }

    @Test(
        "Other texts have only their own spelling",
        arguments: [
            "X-1", "x-1", "0X1", "4006381 33931", "-4006381", "４００６３８１３３３９３１", "012345678901234",
            String(repeating: "9", count: 64),
        ]
    )
    func otherTexts(_ text: String) throws {
        #expect(try Self.spellings(text) == [text])
    }

    @Test("Texts are compared in Unicode's composed form, and those that no product has have no spelling")
    func storedTexts() throws {
        #expect(try Self.spellings("e\u{301}").map { Array($0.utf8) } == [[0xC3, 0xA9]])
        for text in ["\0", "1\n2"] { #expect(try Self.spellings(text).isEmpty) }
    }

    @Test(
        "An empty and a long text are refused",
        arguments: ["", String(repeating: "1", count: 65), "€€€€€€€€€€€€€€€€€€€€€€"]
    )
    func lengths(_ text: String) {
        #expect(
            throws: CatalogError.malformed(
                parameter: "barcode",
                detail: "barcode must have 1 to 64 bytes (got \(text.utf8.count))"
            )
        ) { try Self.spellings(text) }
    }
}
