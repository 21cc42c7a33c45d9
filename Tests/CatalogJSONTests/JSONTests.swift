import JSON
import Catalog
import CatalogJSON
import Foundation
import Ordering
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct JSONTests {
    @Test(
        "JSON survives parsing and writing",
        arguments: [
            "1", "-0.50", "1e10", "\"a\\n\\u00e9\\ud83c\\udf4e\"", "[1,[],{}]", "{\"a\":null,\"b\":[true,false]}",
            " [ 1 , 2 ] ",
        ]
    )
    func jsonRoundTrips(_ text: String) throws {
        let value = try JSONReader.parse(Array(text.utf8))
        #expect(try JSONReader.parse(Array(value.text.utf8)) == value)
    }

    @Test(
        "Invalid JSON is rejected",
        arguments: [
            "", "01", "1.", ".5", "+1", "nul", "[1,]", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "\"\t\"", "\"\\x\"",
            "\"\\u12\"",
            "\"\\u0000\"", "\"\\udc00\"", "[1 2]", "1 1",
            "{\"a\":1,\"a\":2}", "\"", "NaN", "--1", "1e", "\"\\u+123\"",
        ]
    )
    func rejectsInvalidJSON(_ text: String) {
        #expect(throws: JSONError.self) { try JSONReader.parse(Array(text.utf8)) }
    }

    @Test("Invalid UTF-8 and deep nesting are rejected")
    func rejectsInvalidUTF8AndDeepNesting() {
        #expect(throws: JSONError.self) { try JSONReader.parse([0x22, 0xFF, 0x22]) }
        #expect(throws: JSONError.self) { try JSONReader.parse(Array(repeating: 0x5B, count: 100_000)) }
        let deepest = Array(repeating: UInt8(ascii: "["), count: 32) + Array(repeating: UInt8(ascii: "]"), count: 32)
        #expect(throws: Never.self) { try JSONReader.parse(deepest) }
        #expect(throws: JSONError.self) { try JSONReader.parse([UInt8(ascii: "[")] + deepest + [UInt8(ascii: "]")]) }
    }

    /// RFC 7396, appendix A.
    @Test(
        "Merge patches follow RFC 7396",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, "{}"),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
            (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
            (#"{"a":"foo"}"#, "null", "null"),
        ]
    )
    func mergePatchesFollowRFC7396(_ target: String, _ patch: String, _ result: String) throws {
        #expect(
            try JSONReader.parse(Array(target.utf8)).merging(try JSONReader.parse(Array(patch.utf8))).text == result
        )
    }

    @Test("Written texts are escaped")
    func escapesText() {
        var json = JSONWriter()
        json.object { json in
            json.field("a", "q\"\\\n\u{1}é")
            json.array("b", [1, 2]) { $0.raw(String($1)) }
            json.field("c", String?.none)
        }
        #expect(json.text == "{\"a\":\"q\\\"\\\\\\n\\u0001é\",\"b\":[1,2],\"c\":null}")
    }

    @Test("A writer grows, and writes what a parser reads")
    func writesAnything() throws {
        var random = SeededGenerator(seed: 5)
        for round in 0..<200 {
            // Control characters, escapes, and characters of two to four bytes.
            let alphabet = (0..<0x30).map { Character(Unicode.Scalar(UInt8($0))) } + ["\\", "é", "€", "🍎", "x"]
            let texts = (0..<round).map { _ in
                String(
                    (0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
                )
            }
            let numbers =
                [.min, -1, 0, 9, 10, .max]
                + (0..<round).map { _ in Int64.random(in: .min ... .max, using: &random) >> (round % 64) }
            var json = JSONWriter(reserving: 0)
            json.object { json in for number in numbers { json.field("n", number) } }
            #expect(json.text == "{" + numbers.map { "\"n\":\($0)" }.joined(separator: ",") + "}")
            var list = JSONWriter(reserving: 0)
            list.array(texts) { $0.string($1) }
            #expect(try JSONDecoder().decode([String].self, from: Data(list.bytes)) == texts)
            #expect(list.bytes.count == list.text.utf8.count)
        }
    }
}
