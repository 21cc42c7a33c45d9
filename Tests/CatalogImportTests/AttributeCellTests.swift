import Catalog
import JSON
import Ordering
import Testing

@testable import CatalogImport

/// Values of attributes in cells of files.
@Suite(.timeLimit(.minutes(15))) struct AttributeCellTests {
    private static func definition(_ form: AttributeForm, unit: String? = nil) throws -> AttributeDefinition {
        try AttributeDefinition(name: AttributeName("a")!, form: form, unit: unit)
    }

    private static let options = ["IT", "ES", "Costa Rica"].map { AttributeOption(key: $0) }
    private static let cells = AttributeCells.exported

    /// Returns the value as JSON, `empty` for none, or what is wrong.
    private static func read(
        _ text: String,
        _ form: AttributeForm,
        _ cells: AttributeCells = cells,
        unit: String? = nil
    ) throws -> String {
        let definition = try definition(form, unit: unit)
        do throws(AttributeCells.Fault) { return try cells.value(text, of: definition)?.json.text ?? "empty" } catch {
            return "- \(error.reason)"
        }
    }

    /// Returns the value of JSON as JSON, or what is wrong.
    private static func read(json text: String, _ form: AttributeForm) throws -> String {
        let (json, definition) = (try JSONReader.parse(Array(text.utf8)), try definition(form))
        do throws(AttributeCells.Fault) { return try cells.value(json, of: definition).json.text } catch {
            return "- \(error.reason)"
        }
    }

    private static let forms: [AttributeForm] = [
        .number(decimals: 1), .enumeration(options), .set(nil), .set(options), .text, .boolean, .date,
    ]

    @Test("A cell that looks empty has no value of any type, not even the empty set", arguments: forms)
    func emptyCells(_ form: AttributeForm) throws {
        for text in [
            "", " ", "\t", "\n", "\r\n", "\u{A0}", "\u{2003}\u{202F} ", "=\"\"", "=\" \"", "=\"\u{A0}\"", " =\"\" ",
        ] {
            #expect(try Self.read(text, form) == "empty", "\(text.debugDescription)")
            #expect(AttributeCells.isEmpty(text))
        }
        #expect(!AttributeCells.isEmpty("|") && !AttributeCells.isEmpty("\u{7}") && !AttributeCells.isEmpty("="))
    }

    @Test(
        "A number is read exactly, with a point or a comma",
        arguments: [
            ("4.5", "4.5"), ("4,5", "4.5"), ("4", "4"), (" -4.5 ", "-4.5"), ("0", "0"), ("4.50", "4.5"), ("+3", "3"),
            ("1 234,5", "1234.5"), ("1'234.5", "1234.5"), ("1,234.5", "1234.5"), ("'-2", "-2"),
            ("0.30000000000000004", "0.3"), ("4.5 g", "4.5"), ("12g", "12"),
        ]
    )
    func numbers(_ text: String, _ json: String) throws {
        #expect(try Self.read(text, .number(decimals: 1), unit: "g") == json)
    }

    @Test(
        "A text that is not certainly a number with the declared decimals cannot be read",
        arguments: ["good", "4.55", "4,5,5", "1.234", "1,234", "1e3", "4.5 kg", "4-5", "4/5", "1234567890123456"]
    )
    func unreadableNumbers(_ text: String) throws {
        #expect(try Self.read(text, .number(decimals: 1), unit: "g").hasPrefix("- "))
    }

    @Test(
        "A unit may have digits and spaces, and only the exact unit is read",
        arguments: [
            ("g/100g", "4.5 g/100g", "4.5"), ("g/100g", "4,5g/100g", "4.5"), ("g/100g", "4.5", "4.5"),
            ("g / 100 ml", "4.5 g / 100 ml", "4.5"), ("fl oz", "12fl oz", "12"), ("%", "40%", "40"),
            ("€", "€ 4.5", "4.5"),
            ("100g", "4.5 100g", "4.5"), ("100g", "4.5\u{A0}100g", "4.5"), ("100g", "4100g", nil),
            ("g/100g", "4.5 g/100ml", nil),
            ("g/100g", "g/100g", nil), (nil, "4.5 g", nil),
        ] as [(String?, String, String?)]
    )
    func units(_ unit: String?, _ text: String, _ json: String?) throws {
        let found = try Self.read(text, .number(decimals: 1), unit: unit)
        #expect(json.map { found == $0 } ?? found.hasPrefix("- is not a number"), "\(found)")
    }

    @Test("Three decimals are certain if the attribute can have them, or if the column or an option decides")
    func ambiguousNumbers() throws {
        #expect(try Self.read("1.234", .number(decimals: 3)) == "1.234")
        #expect(try Self.read("-1.234", .number(decimals: 3)) == "-1.234")
        #expect(try Self.read("1,234", .number(decimals: 3)).hasPrefix("- is ambiguous"))
        var cells = Self.cells
        cells.decimals = DecimalEvidence(.comma)
        #expect(try Self.read("1,234", .number(decimals: 3), cells) == "1.234")
        #expect(try Self.read("1.234", .number(decimals: 1), cells) == "1234")
        #expect(try Self.read("4.5", .number(decimals: 1), cells).hasPrefix("- "))
        cells.decimals = DecimalEvidence()
        cells.decimals.add("0,5")
        #expect(try Self.read("1.234", .number(decimals: 1), cells) == "1234")
    }

    @Test("An enum is read by its keys, exactly")
    func enumerations() throws {
        let form = AttributeForm.enumeration(Self.options)
        #expect(try Self.read("IT", form) == #""IT""#)
        #expect(try Self.read(" Costa\nRica ", form) == #""Costa Rica""#)
        for text in ["it", "Italy", "IT, ES", "IT|ES"] { #expect(try Self.read(text, form).hasPrefix("- must be one")) }
    }

    @Test(
        "A set is split at bars and semicolons, and a separator alone is the empty set",
        arguments: [
            ("IT", #"["IT"]"#), ("IT|ES", #"["IT","ES"]"#), ("ES; IT ;ES", #"["ES","IT"]"#), ("|", "[]"), (" ; ", "[]"),
            ("IT|", #"["IT"]"#),
        ]
    )
    func sets(_ text: String, _ json: String) throws {
        #expect(try Self.read(text, .set(Self.options)) == json)
        #expect(try Self.read(text, .set(nil)) == json)
    }

    @Test("A closed set has only declared values, and the separator of the file's tags splits it")
    func setSeparators() throws {
        #expect(try Self.read("IT|FR", .set(Self.options)).hasPrefix("- must be an array of declared values"))
        var cells = Self.cells
        cells.mark = .comma
        #expect(try Self.read("IT, ES", .set(Self.options), cells) == #"["IT","ES"]"#)
        cells = AttributeCells(separator: "/", words: Self.cells.words)
        #expect(try Self.read("a, b/c", .set(nil), cells) == #"["a, b","c"]"#)
        #expect(try Self.read("IT/ES", .set(Self.options), cells) == #"["IT","ES"]"#)
        #expect(try Self.read(#"a\/b/c"#, .set(nil), cells) == #"["a/b","c"]"#)
        let many = (1...51).map { "\($0)" }.joined(separator: "|")
        #expect(try Self.read(many, .set(nil)).hasPrefix("- must be an array of at most 50 texts"))
    }

    @Test("Commas in a set are not guessed: the file decides what they are, or another separator does")
    func undecidedCommas() throws {
        for form in [AttributeForm.set(nil), .set(Self.options)] {
            for text in ["IT, ES", "IT,", ",", "a, b"] {
                #expect(try Self.read(text, form).hasPrefix("- is ambiguous"), "\(text)")
            }
        }
        #expect(try Self.read("nuts, milk|", .set(nil)) == #"["nuts, milk"]"#)
        #expect(try Self.read("nuts, milk;soy", .set(nil)) == #"["nuts, milk","soy"]"#)
        var cells = Self.cells
        cells.mark = .comma
        for text in ["nuts, milk;soy", "nuts, milk|soy", "nuts|", ";"] {
            #expect(try Self.read(text, .set(nil), cells).hasPrefix("- is ambiguous"), "\(text)")
        }
        #expect(try Self.read(",", .set(nil), cells) == "[]")
    }

    @Test(
        "A mark that the column does not use is not taken for a part of an element",
        arguments: [
            (.bar, "nuts, milk", nil), (.bar, "nuts;milk", nil), (.bar, "nuts, milk;soy", nil), (.bar, ",", nil),
            (.bar, "nuts, milk|", #"["nuts, milk"]"#), (.bar, "nuts, milk|soy", #"["nuts, milk","soy"]"#),
            (.bar, "nuts;milk|soy", #"["nuts","milk","soy"]"#), (.bar, "nuts", #"["nuts"]"#), (.bar, "|", "[]"),
            (.semicolon, "nuts, milk", nil), (.semicolon, ",", nil), (.semicolon, "nuts|milk", #"["nuts","milk"]"#),
            (.semicolon, "nuts, milk;", #"["nuts, milk"]"#), (.semicolon, "nuts", #"["nuts"]"#),
            (.semicolon, ";", "[]"),
        ] as [(SetMark, String, String?)]
    )
    func otherMarks(_ mark: SetMark, _ text: String, _ json: String?) throws {
        var cells = Self.cells
        cells.mark = mark
        let found = try Self.read(text, .set(nil), cells)
        #expect(json.map { found == $0 } ?? found.hasPrefix("- is ambiguous"))
    }

    @Test("An array of JSON is a set, and nothing else is")
    func arrays() throws {
        #expect(try Self.read(json: #"["b"," a, c ","b","e\u0301"]"#, .set(nil)) == #"["b","a, c","é"]"#)
        #expect(try Self.read(json: "[]", .set(nil)) == "[]")
        #expect(try Self.read(json: #"["IT"]"#, .set(Self.options)) == #"["IT"]"#)
        for text in [#"[1]"#, #"[""]"#, #"[["a"]]"#, "{}", #"[null]"#] {
            #expect(try Self.read(json: text, .set(nil)).hasPrefix("- must be an array of"), "\(text)")
        }
        #expect(try Self.read(json: #"["FR"]"#, .set(Self.options)).hasPrefix("- must be an array of declared values"))
        for form in [AttributeForm.number(decimals: 1), .enumeration(Self.options), .text, .boolean, .date] {
            for text in [#"["IT"]"#, "{}", "[]"] {
                #expect(try Self.read(json: text, form).hasPrefix("- must be"), "\(form) \(text)")
            }
        }
    }

    @Test("A text is normalized, and must be printable")
    func texts() throws {
        #expect(try Self.read("  I\u{301}stria\n B ", .text) == "\"\u{CD}stria B\"")
        #expect(try Self.read("'=1+1", .text) == #""=1+1""#)
        #expect(try Self.read("a\u{7}b", .text) == "- contains a control character; remove it")
        #expect(try Self.read(String(repeating: "x", count: 501), .text).hasPrefix("- must be a printable text"))
    }

    @Test(
        "A boolean is a word that imports know, or 1 or 0",
        arguments: [
            ("true", "true"), ("Yes", "true"), ("1", "true"), ("false", "false"), ("no", "false"), ("0", "false"),
            ("perhaps", nil), ("2", nil),
        ] as [(String, String?)]
    )
    func booleans(_ text: String, _ json: String?) throws {
        let found = try Self.read(text, .boolean)
        #expect(json.map { found == $0 } ?? found.hasPrefix("- must be true or false"))
    }

    @Test("The words of a profile are words for booleans, too")
    func wordsOfProfiles() throws {
        var profile = ImportProfile()
        profile.words.available = ["present"]
        let cells = AttributeCells(words: FileWords(profile))
        #expect(try Self.read("Present", .boolean, cells) == "true")
        #expect(try Self.read("Present", .boolean).hasPrefix("- "))
    }

    @Test(
        "A date is a day as imports read it",
        arguments: [
            ("2026-03-01", #""2026-03-01""#), ("1.3.2026", #""2026-03-01""#), ("2026-03-01 00:00:00", #""2026-03-01""#),
            ("29.2.2024", #""2024-02-29""#), ("2000-02-29", #""2000-02-29""#), ("31.12.9999", #""9999-12-31""#),
            ("2023-02-29", nil), ("1900-02-29", nil), ("29.2.2100", nil), ("10000-01-01", nil), ("1.1.26", nil),
            ("2026-02-30", nil), ("2026-03-01T08:00Z", nil), ("03/01/2026", nil), ("soon", nil),
        ] as [(String, String?)]
    )
    func dates(_ text: String, _ json: String?) throws {
        let found = try Self.read(text, .date)
        #expect(json.map { found == $0 } ?? found.hasPrefix("- must be a date"))
    }

    @Test("A computed attribute has no cells")
    func ratios() throws {
        let ratio = AttributeRatio(numerator: .price, denominators: [.quantity])
        #expect(try Self.read("1", .ratio(ratio)).hasPrefix("- must be empty"))
        #expect(try Self.cells.text(.number("1"), of: Self.definition(.ratio(ratio))) == nil)
    }

    // MARK: - Writing

    @Test("A written cell is read as the value, and values of which that is not so are not written")
    func roundTrips() throws {
        let forms: [(AttributeForm, [String], [String])] = [
            (
                .number(decimals: 1), ["4.5", "-4.5", "0", "4.50", "45e-1", "99999999999999.9"],
                ["4.55", "\"4.5\"", "1e99"]
            ),
            (.number(decimals: 3), ["1.234", "-1.234", "1234.567", "0.234", "1000"], ["1.2345"]),
            (.number(decimals: 9), ["0.000000001", "123456.123456789", "-1.234"], ["1e-10"]),
            (.number(decimals: 0), ["1234", "123456789012345"], ["1234567890123456", "1.5"]),
            (.enumeration(Self.options), [#""IT""#, #""Costa Rica""#], [#""it""#, #"" IT""#, "1", "[]"]),
            (
                .set(nil), [#"["a"]"#, "[]", #"["a","b"]"#, #"["a, b"]"#, #"["b","a, c"]"#, #"["é"]"#],
                [#"["a|b"]"#, #"["a;b"]"#, #"["a","a"]"#, #"["'=a"]"#, "[1]", "{}", "\"a\"", #"[""]"#]
            ), (.set(Self.options), [#"["ES","IT"]"#, "[]"], [#"["FR"]"#]),
            (
                .text, [#""Istria""#, #""a,b""#, #""say \"x\"""#, #""1.5""#, #""true""#, #""a|b""#, #""-""#],
                [#"" Istria""#, #""a\nb""#, #""""#, "1", #""'=x""#, "\"e\u{301}\""]
            ), (.boolean, ["true", "false"], ["1", "\"true\""]), (.date, [#""2026-03-01""#], [#""2026-3-1""#, "1"]),
        ]
        for (form, writable, others) in forms {
            let definition = try Self.definition(form)
            for text in writable {
                let json = try JSONReader.parse(Array(text.utf8))
                let cell = try #require(Self.cells.text(json, of: definition), "\(form) \(text)")
                let read = try #require(try Self.cells.value(cell, of: definition), "\(form) \(text)")
                #expect(read.json.isEquivalent(to: json), "\(form) \(text)")
            }
            for text in others + ["null"] {
                let json = try JSONReader.parse(Array(text.utf8))
                #expect(Self.cells.text(json, of: definition) == nil, "\(form) \(text)")
            }
        }
    }

    @Test("Random values are written as cells that are read as them", arguments: [1, 2] as [UInt64])
    func randomRoundTrips(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let decimals = Int.random(in: 0...9, using: &generator)
            let limit = AttributeValue.numberLimit - 1
            let digits =
                Int64.random(in: -limit...limit, using: &generator) / (Bool.random(using: &generator) ? 1 : 100_000_000)
            let number = JSONValue.number(ExactDecimal.digits(Int128(digits), scale: decimals))
            let definition = try Self.definition(.number(decimals: decimals))
            let cell = try #require(Self.cells.text(number, of: definition), "\(number)")
            let read = try #require(try Self.cells.value(cell, of: definition), "\(number) \(cell)")
            #expect(read.json.isEquivalent(to: number), "\(number) \(cell)")
        }
    }

    @Test("The exported column of an attribute has a title that no other column of imports has")
    func titles() {
        #expect(AttributeCells.title(of: "rating") == "attributes.rating")
        #expect(AttributeCells.title(of: "pack__count") == "attributes.pack__count")
        for name in ["rating", "pack__count", "a_b", "a__b"] {
            let title = AttributeCells.title(of: name)
            #expect(AttributeCells.name(ofTitle: title, key: ColumnTitle.key(title)) == name)
        }
        #expect(AttributeCells.name(ofTitle: "rating", key: ColumnTitle.key("rating")) == "rating")
        #expect(AttributeCells.name(ofTitle: "in stock", key: ColumnTitle.key("in stock")) == nil)
    }
}
