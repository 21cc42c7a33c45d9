import JSON
import Catalog
import CatalogImport
import CatalogJSON
import Ordering
import Testing

/// Texts that make Unicode's algorithms slow are refused before anything compares, hashes or normalizes them.
@Suite(.timeLimit(.minutes(5))) struct HostileTextTests {
    private static let marks = String(String.UnicodeScalarView((0..<500).map { $0 % 2 == 0 ? "\u{301}" : "\u{316}" }))
    /// Marks of class 0 that decompose into others.
    private static let hiddenMarks = String(repeating: "\u{0F73}", count: 31)

    @Test("A text is safe if it has at most 30 combining marks in a row")
    func streamSafety() {
        let thirty = String(repeating: "\u{301}", count: 30)
        #expect("a\(thirty)".isStreamSafe)
        #expect("a\(thirty)b\(thirty)".isStreamSafe)
        #expect("".isStreamSafe)
        #expect("Crème fraîche, Ряженка, žółć, 한국어, ไทย, 👩‍👩‍👧".isStreamSafe)
        #expect(!"a\(thirty)\u{316}".isStreamSafe)
        #expect(!Self.hiddenMarks.isStreamSafe)
    }

    @Test("Long runs of combining marks in JSON strings and member names are rejected with the reason")
    func jsonRefusesThem() {
        for text in [
            "{\"a\":\"x\(Self.marks)\"}", "{\"x\(Self.marks)\":1}", "[\"\(Self.hiddenMarks)\"]",
            "[\"x" + String(repeating: "\\u0301", count: 31) + "\"]",
        ] {
            let error = #expect(throws: JSONError.self) { try JSONReader.parse(Array(text.utf8)) }
            #expect(error?.detail == "more than 30 combining marks in a row")
        }
    }

    @Test("A member name of more than 256 bytes is rejected")
    func longNamesAreRefused() throws {
        let name = String(repeating: "é", count: 128)
        _ = try JSONReader.parse(Array("{\"\(name)\":1}".utf8))
        let error = #expect(throws: JSONError.self) { try JSONReader.parse(Array("{\"\(name)x\":1}".utf8)) }
        #expect(error?.detail == "member name exceeds 256 bytes")
    }

    @Test("URLs, SKUs and CSV fields with long runs of combining marks are rejected")
    func otherInputsRefuseThem() throws {
        #expect(PercentEncoding.decode(Array("x\(Self.marks)".utf8)) == nil)
        #expect(SKU("x\(Self.marks)") == nil)
        #expect(SKU(String(repeating: "e\u{301}", count: 64))?.text == String(repeating: "é", count: 64))
        var reader = CSVReader()
        var texts: [String?] = []
        func take(_ event: CSVReader.Event) { if case .record(let record) = event { texts.append(record.text(0)) } }
        Array("x\(Self.marks)\nfine\n".utf8).withUnsafeBytes { reader.read($0, take) }
        reader.end(take)
        #expect(texts == [nil, "fine"])
    }

    @Test(
        "Numbers with extreme exponents are out of range and do not crash",
        arguments: [
            ("1e-9223372036854775808", false), ("1e9223372036854775807", false), ("1e99999999999999999999", false),
            ("1e64", false), ("1e63", true), ("1e-61", true), ("1e-62", false), ("-12.5e3", true), ("7", true),
        ]
    )
    func exponents(_ number: String, _ isWithin: Bool) throws {
        let value = try JSONReader.parse(Array("{\"a\":[\(number)]}".utf8))
        #expect(value.isWithinNumberLimits == isWithin)
    }

    @Test("Texts compose and decompose as Unicode's normalization forms C and D")
    func normalForms() {
        // U+212B, the Ångström sign, has a canonical decomposition of its own.
        let cases: [(String, composed: String, decomposed: String)] = [
            ("e\u{301}", "\u{E9}", "e\u{301}"), ("\u{212B}", "\u{C5}", "A\u{30A}"),
            ("\u{1E9B}\u{323}", "\u{1E9B}\u{323}", "\u{17F}\u{323}\u{307}"),
            ("a\u{301}\u{316}", "\u{E1}\u{316}", "a\u{316}\u{301}"),
            ("\u{1100}\u{1161}", "\u{AC00}", "\u{1100}\u{1161}"), ("plain", "plain", "plain"),
        ]
        for (text, composed, decomposed) in cases {
            #expect(Array(text.composed.unicodeScalars) == Array(composed.unicodeScalars), "\(text)")
            #expect(Array(text.decomposed.unicodeScalars) == Array(decomposed.unicodeScalars), "\(text)")
        }
    }

    @Test("A manual order of ids that Swift calls equal is rearranged without a crash")
    func idsThatSwiftCallsEqual() throws {
        let ids = ["a\u{301}\u{316}", "a\u{316}\u{301}", "b", "c"]
        #expect(ids[0] == ids[1])
        let keys = PathKey.appending(ids.count, after: nil)
        var list = PositionList(zip(ids, keys).map { PositionList.Row(id: $0, key: $1, isRemoved: false) })
        #expect(throws: Never.self) { try list.reorder(to: [ids[0], ids[1], "c", "b"]) }
        #expect(list.ids.map { Array($0.utf8) } == [ids[0], ids[1], "c", "b"].map { Array($0.utf8) })
    }
}
