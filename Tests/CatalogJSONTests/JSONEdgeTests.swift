import JSON
import Testing

/// JSON at the limits of the parser, and every way to write it.
@Suite struct JSONEdgeTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONReader.parse(Array(text.utf8)) }

    /// Returns the reason and the offset of a rejection; nil for valid JSON.
    private func fault(_ text: String) -> String? {
        do {
            _ = try parse(text)
            return nil
        } catch {
            guard let error = error as? JSONError else { return "\(error)" }
            return "\(error.offset) \(error.detail)"
        }
    }

    // MARK: - Reading

    @Test(
        "Each value is read as itself",
        arguments: [
            ("null", .null), ("true", .bool(true)), (" false\t", .bool(false)), ("\r\n0\n", .number("0")),
            ("-0", .number("-0")), ("-12.50e+03", .number("-12.50e+03")), ("1E-2", .number("1E-2")),
            ("0.0", .number("0.0")), ("9", .number("9")), ("\"\"", .string("")), ("[ ]", .array([])),
            ("{ }", .object([])),
            ("[1 ,\"a\",[]]", .array([.number("1"), .string("a"), .array([])])),
            ("{\"a\" : {} , \"b\":[null]}", .object([.init("a", .object([])), .init("b", .array([.null]))])),
            (#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC""#, .string("\"\\/\u{8}\u{C}\n\r\tAé€")),
            (#""a\ud83c\udf4eb""#, .string("a🍎b")), (#""\u0001""#, .string("\u{1}")),
            ("\"é\u{7F}€\"", .string("é\u{7F}€")),
        ] as [(String, JSONValue)]
    )
    func reads(_ text: String, _ expected: JSONValue) throws { #expect(try parse(text) == expected) }

    @Test(
        "Invalid JSON is rejected with the reason and the place",
        arguments: [
            ("", "0 unexpected end, expected a value"), ("  ", "2 unexpected end, expected a value"),
            ("x", "0 unexpected character, expected a value"), ("tru", "0 unexpected character, expected a value"),
            ("nulL", "0 unexpected character, expected a value"), ("falsy", "0 unexpected character, expected a value"),
            ("/", "0 unexpected character, expected a value"), (":", "0 unexpected character, expected a value"),
            ("truex", "4 unexpected data after the value"), ("1 1", "2 unexpected data after the value"),
            ("01", "1 unexpected data after the value"), ("[]]", "2 unexpected data after the value"),
            ("-", "1 expected a digit"), ("1.", "2 expected a digit"), ("1.e", "2 expected a digit"),
            ("1e", "2 expected a digit"), ("1e+", "3 expected a digit"), ("1E-", "3 expected a digit"),
            ("-a", "1 expected a digit"),
            ("{1", "1 expected a member name"), ("{\"a\":1,}", "7 expected a member name"),
            ("{\"a\"1", "4 expected a colon"),
            ("{\"a\":1", "6 expected a comma or closing brace"), ("{\"a\":1]", "6 expected a comma or closing brace"),
            ("[1", "2 expected a comma or closing bracket"), ("[1}", "2 expected a comma or closing bracket"),
            ("[1,]", "3 unexpected character, expected a value"), ("[", "1 unexpected end, expected a value"),
            ("{\"a\":1,\"a\":2}", "10 duplicate member name"), ("\"a", "2 unterminated string"),
            ("\"a\\", "3 unterminated string"), ("\"\u{1F}\"", "2 unescaped control character in a string"),
            ("\"\\\n\"", "3 unknown escape sequence"), ("\"\\u12", "3 expected four hexadecimal digits"),
            ("\"\\u12G4\"", "3 expected four hexadecimal digits"),
            ("\"\\u+123\"", "3 expected four hexadecimal digits"),
            ("\"\\u0000\"", "7 U+0000 is not allowed"), ("\"\\ud800\"", "7 unpaired surrogate"),
            ("\"\\ud800\\n\"", "8 unpaired surrogate"), ("\"\\ud800\\u0041\"", "13 unpaired surrogate"),
            ("\"\\udc00\"", "7 unpaired surrogate"), ("\"\\udbff\"", "7 unpaired surrogate"),
        ]
    )
    func rejects(_ text: String, _ expected: String) { #expect(fault(text) == expected) }

    @Test("Bytes that are not UTF-8 are rejected")
    func invalidUTF8() {
        let error = #expect(throws: JSONError.self) { try JSONReader.parse([0x22, 0xC3, 0x22]) }
        #expect(error?.detail == "the text is not valid UTF-8")
        #expect(error?.offset == 0)
    }

    @Test("Nesting, members, names, numbers and values have limits that are allowed themselves")
    func limits() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        func nestedObjects(_ depth: Int) -> String {
            String(repeating: "{\"a\":", count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)
        }
        #expect(fault(nested(32)) == nil && fault(nestedObjects(32)) == nil)
        #expect(fault(nested(33))?.hasSuffix(" nesting exceeds 32 levels") == true)
        #expect(fault(nestedObjects(33))?.hasSuffix(" nesting exceeds 32 levels") == true)
        #expect(fault("[[],[],\(nested(31))]") == nil, "the depth of a value does not depend on those before it")
        func members(_ count: Int) -> String {
            "{" + (0..<count).map { "\"m\($0)\":1" }.joined(separator: ",") + "}"
        }
        #expect(fault(members(256)) == nil)
        #expect(fault(members(257))?.hasSuffix(" more than 256 members") == true)
        let name = String(repeating: "n", count: 256)
        #expect(fault("{\"\(name)\":1}") == nil)
        #expect(fault("{\"\(name)n\":1}")?.hasSuffix(" member name exceeds 256 bytes") == true)
        let digits = String(repeating: "1", count: 64)
        #expect(fault(digits) == nil && fault("-" + String(digits.dropFirst())) == nil)
        #expect(fault(digits + "1") == "65 number exceeds 64 characters")
        #expect(fault("-" + digits)?.hasSuffix("number exceeds 64 characters") == true)
    }

    @Test("The number of values is limited, and each array, object and member counts")
    func valueLimits() throws {
        for (text, count) in [("1", 1), ("[]", 1), ("[1,2]", 3), ("{\"a\":1}", 2), ("{\"a\":[{}],\"b\":null}", 4)] {
            let bytes = Array(text.utf8)
            #expect(throws: Never.self) { try JSONReader.parse(bytes, valueLimit: count) }
            let error = #expect(throws: JSONError.self) { try JSONReader.parse(bytes, valueLimit: count - 1) }
            #expect(error?.detail == "more than \(count - 1) values")
        }
        #expect(JSONReader.maximumValues == 500_000 && JSONReader.maximumDepth == 32)
        #expect(JSONReader.maximumMembers == 256 && JSONReader.maximumNameLength == 256)
    }

    // MARK: - Values

    @Test("A value is written without white space, with its members in order")
    func texts() throws {
        for text in [
            "null", "true", "false", "-1.50e3", "\"a\\\"b\"", "[]", "[1,[2],{}]", "{}", "{\"b\":1,\"a\":[null,true]}",
        ] {
            #expect(try parse(text).text == text)
        }
        #expect(JSONValue.integer(5) == .number("5") && JSONValue.integer(Int64.min).text == "-9223372036854775808")
        #expect(JSONValue.integer(Int?.none) == .null)
        #expect(JSONValue.text("a") == .string("a") && JSONValue.text(nil) == .null)
    }

    @Test("A member is found by its name")
    func members() throws {
        let value = try parse(#"{"a":1,"b":null}"#)
        #expect(value["a"] == .number("1") && value["b"] == .null && value["c"] == nil)
        #expect(JSONValue.array([])["a"] == nil && JSONValue.string("a")["a"] == nil)
    }

    @Test(
        "Every number of a value must have at most 64 characters when it is written out",
        arguments: [
            ("null", true), ("true", true), ("\"1e999\"", true), ("1", true), ("1e63", true), ("1e64", false),
            ("12e62", true), ("12e63", false), ("1e-61", true), ("1e-62", false), ("1E+63", true), ("1E+64", false),
            ("[1,1e64]", false), ("[1e63,1]", true), ("{\"a\":1e64}", false), ("{\"a\":[{\"b\":1e64}]}", false),
            ("{\"a\":1e2,\"b\":3}", true), ("1e-64", false), ("0e65", false),
        ]
    )
    func numberLimits(_ text: String, _ isWithin: Bool) throws {
        #expect(try parse(text).isWithinNumberLimits == isWithin)
    }

    @Test(
        "A merge patch keeps the order of members, and removes those that are null",
        arguments: [
            (#"{"a":1,"b":2,"c":3}"#, #"{"b":null,"d":4,"a":5}"#, #"{"a":5,"c":3,"d":4}"#),
            (#"{"a":{"x":1}}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
            (#"{"a":1}"#, #"{"a":{"x":null,"y":1}}"#, #"{"a":{"y":1}}"#),
            ("1", #"{"a":null}"#, "{}"), (#"{"a":1}"#, "{}", #"{"a":1}"#), (#"{"a":1}"#, #"{"b":null}"#, #"{"a":1}"#),
            (#"{"a":1}"#, "[null]", "[null]"), (#"{"a":1}"#, #"{"b":[null]}"#, #"{"a":1,"b":[null]}"#),
        ]
    )
    func merges(_ target: String, _ patch: String, _ expected: String) throws {
        #expect(try parse(target).merging(try parse(patch)).text == expected)
    }

    // MARK: - Writing

    @Test("Each character below a space, the quote and the backslash are escaped")
    func escapes() throws {
        for code in UInt8(0)..<0x80 {
            let character = String(Unicode.Scalar(code))
            let digits = String(code, radix: 16)
            let expected =
                switch code {
                case 0x22: "\\\""
                case 0x5C: "\\\\"
                case 0x0A: "\\n"
                case 0x0D: "\\r"
                case 0x09: "\\t"
                case 0..<0x20: "\\u00" + (digits.utf8.count == 1 ? "0" : "") + digits
                default: character
                }
            var bytes: [UInt8] = [0x5B]
            character.appendAsJSON(to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == "[\"\(expected)\"", "\(code)")
            #expect(JSONValue.string(character).text == "\"\(expected)\"")
            #expect(JSONWriter.document { $0.string(character) } == Array("\"\(expected)\"".utf8))
        }
        #expect("\u{1}é".jsonCapacity == 20)
        #expect(JSONValue.string("a\u{1}é🍎").text == "\"a\\u0001é🍎\"")
    }

    @Test("Every kind of field is written with its name and its comma")
    func fields() {
        let bytes = JSONWriter.object { json in
            json.field("text", "a")
            json.field("no_text", String?.none)
            json.field("number", Int(5))
            json.field("negative", Int64.min)
            json.field("no_number", Int?.none)
            json.field("yes", true)
            json.field("no", false)
            json.field("double", 1.5)
            json.field("infinite", Double.infinity)
            json.field(name: "count", 7)
            json.field(name: "d\"q", 0.25)
            json.field(name: "t", "x")
            json.field("raw", json: "[1]")
            json.object("o") { $0.field("i", Int(1)) }
            json.object("e") { _ in }
            json.object(name: "n") { $0.field("z", String?.none) }
            json.array("list", [1, 2]) { $0.raw("\($1)") }
            json.array("none", [Int]()) { $0.raw("\($1)") }
            json.key("k")
            json.null()
            json.key("dyn" + "amic")
            json.string("v")
        }
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                {"text":"a","no_text":null,"number":5,"negative":-9223372036854775808,"no_number":null,"yes":true,"no":false,\
                "double":1.5,"infinite":null,"count":7,"d\\"q":0.25,"t":"x","raw":[1],"o":{"i":1},"e":{},"n":{"z":null},\
                "list":[1,2],"none":[],"k":null,"dynamic":"v"}
                """
        )
    }

    @Test("Values of an array are separated by commas, also after a gap")
    func arrays() {
        var json = JSONWriter()
        json.array([[1], [], [2, 3]]) { json, list in json.array(list) { $0.raw("\($1)") } }
        #expect(json.text == "[[1],[],[2,3]]")
        #expect(json.bytes == Array(json.text.utf8))
        var joined = JSONWriter()
        joined.array(containing: Array("1,2".utf8))
        #expect(joined.text == "[1,2]")
        var empty = JSONWriter()
        empty.array(containing: [])
        #expect(empty.text == "[]")
        var gap = JSONWriter()
        var place = 0
        gap.array([1, 2]) { json, number in
            if number == 1 { json.raw("1") } else { place = json.gap() }
        }
        #expect(gap.text == "[1,]" && place == 3)
        #expect(JSONWriter.text(of: 1) == "1.0" && JSONWriter.text(of: .nan) == "null")
    }

    @Test("A writer grows whatever is written next", arguments: [0, 63, 64, 65, 127, 128, 129, 1000])
    func growth(_ length: Int) {
        let filler = String(repeating: "x", count: length)
        var raw = JSONWriter(reserving: 0)
        raw.raw(filler)
        raw.raw(filler)
        #expect(raw.text == "\(filler),\(filler)")
        var object = JSONWriter(reserving: 1)
        object.object { json in
            json.field("f", json: filler)
            json.field("n", Int64.min)
            json.field("s", filler)
            json.object("o") { _ in }
        }
        #expect(object.text == "{\"f\":\(filler),\"n\":-9223372036854775808,\"s\":\"\(filler)\",\"o\":{}}")
    }

    // MARK: - Stream safety

    @Test("Only combining marks count, and others end their run")
    func combiningMarks() {
        let mark = "\u{301}"
        func marks(_ count: Int) -> String { String(repeating: mark, count: count) }
        #expect(("a" + marks(30)).isStreamSafe && !("a" + marks(31)).isStreamSafe)
        #expect((marks(30) + "a" + marks(30)).isStreamSafe && !(marks(15) + "\u{316}" + marks(15)).isStreamSafe)
        // Letters of Greek and Cyrillic end a run; U+0483, U+0F73 and U+036F do not.
        for (scalar, ends) in [
            ("\u{370}", true), ("\u{482}", true), ("\u{483}", false), ("\u{36F}", false), ("\u{300}", false),
            ("\u{2FF}", true), ("\u{F73}", false), ("\u{F75}", false), ("\u{F81}", false), ("\u{F72}", false),
            ("漢", true),
        ] {
            #expect((marks(30) + scalar + marks(30)).isStreamSafe == ends, "\(scalar.unicodeScalars.first!.value)")
            #expect((marks(29) + scalar + "a").isStreamSafe)
        }
        #expect("abc".isBelowMarks && "\u{2FF}".isBelowMarks && !"\u{300}".isBelowMarks && !"漢".isBelowMarks)
        #expect("".isBelowMarks)
    }
}
