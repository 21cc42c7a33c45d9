import Catalog
import CatalogImport
import CatalogJSON
import Testing

@Suite(.timeLimit(.minutes(15))) struct CSVReaderTests {
    /// Reads a text in chunks of a size; returns each record's fields, or the reason why it is malformed.
    private func read(
        _ text: String,
        pieces size: Int = 1 << 20,
        separator: FieldSeparator = .comma,
        hasLists: Bool = false
    ) -> [[String]] {
        var reader = CSVReader(separator, hasLists: hasLists)
        var rows: [[String]] = []
        func take(_ event: CSVReader.Event) {
            switch event {
            case .record(let record): rows.append((0..<record.count).map { record.text($0) ?? "invalid" })
            case .malformed(let line, let reason): rows.append(["broken", "\(line)", reason])
            }
        }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(size))
            piece.withUnsafeBytes { reader.read($0) { take($0) } }
            rest = rest.dropFirst(size)
        }
        reader.end { take($0) }
        return rows
    }

    @Test(
        "Quotes, doubled quotes and line breaks inside quotes are read",
        arguments: [
            ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
            ("a,b\r\n1,2\r\n", [["a", "b"], ["1", "2"]]),
            ("a,b\n1,2", [["a", "b"], ["1", "2"]]),
            ("a,b\n\"1,5\",\"say \"\"hi\"\"\"\n", [["a", "b"], ["1,5", "say \"hi\""]]),
            ("a,b\n\"line\nbreak\",2\n", [["a", "b"], ["line\nbreak", "2"]]),
            ("a,b\n\"\",\n", [["a", "b"], ["", ""]]),
            ("a\n\"\"\n", [["a"], [""]]),
            ("a,b\n\"x\"y,2\n", [["a", "b"], ["xy", "2"]]),
            ("a,b\n\n\n1,2\n", [["a", "b"], ["1", "2"]]),
            ("a\r1\r2", [["a"], ["1"], ["2"]]),
        ]
    )
    func reads(_ text: String, _ expected: [[String]]) {
        #expect(read(text) == expected)
        #expect(read(text, pieces: 1) == expected)
        #expect(read(text, pieces: 3) == expected)
    }

    @Test(
        "A list of quoted values between tabs keeps its quotes",
        arguments: [
            ("\"a, b\",\"c\"\td\n", ["\"a, b\",\"c\"", "d"]),
            ("x\t\"a \"\"b\"\"\", \"c\"\n", ["x", "\"a \"\"b\"\"\", \"c\""]),
            ("\"a\", b\td\n", ["\"a\", b", "d"]), ("\"a, b\"\td\n", ["a, b", "d"]), ("\"a\",b\td\n", ["\"a\",b", "d"]),
            ("\"a\" b,\"c\"\td\n", ["a b,\"c\"", "d"]),
            ("\"a\",\n\"b\"\n", ["\"a\","]), ("\"\",b\n", ["\"\",b"]),
        ]
    )
    func quotedLists(_ text: String, _ expected: [String]) {
        for size in [1, 2, 1 << 20] {
            #expect(read(text, pieces: size, separator: .tab, hasLists: true).first == expected)
        }
        #expect(read("\"a\",\"b\"\n", hasLists: true) == [["a", "b"]])
        #expect(read("\"a\", b\td\n", separator: .tab) == [["a, b", "d"]])
    }

    @Test("Lists of quoted values after the last column that fits do not grow")
    func manyQuotedLists() {
        let text = String(repeating: "\t", count: 1025) + String(repeating: "\"x\",\t", count: 20_000) + "\nb\n"
        let rows = read(text, separator: .tab, hasLists: true)
        #expect(rows.count == 2 && rows[0].first == "broken" && rows[1] == ["b"])
    }

    @Test("A list of quoted values with invalid bytes stays invalid")
    func invalidQuotedList() {
        var reader = CSVReader(.tab, hasLists: true)
        var texts: [String?] = []
        func take(_ event: CSVReader.Event) { if case .record(let record) = event { texts.append(record.text(0)) } }
        (Array("\"Caf".utf8) + [0xE9] + Array("\",\"b\"\n".utf8)).withUnsafeBytes { reader.read($0) { take($0) } }
        #expect(texts == [nil])
    }

    @Test(
        "A record has the number of its first line, even after line breaks inside quotes",
        arguments: [
            ("a\n\"x\ny\"\n\n1\n", [1, 2, 5]), ("a\r1\r\r2\r3", [1, 2, 4, 5]), ("a\r\n1\r\n\r\n2", [1, 2, 4]),
            ("a\r1\n2\r\n3", [1, 2, 3, 4]),
        ]
    )
    func lines(_ text: String, _ expected: [Int]) {
        var reader = CSVReader()
        var lines: [Int] = []
        let bytes = Array(text.utf8)
        func take(_ event: CSVReader.Event) { if case .record(let record) = event { lines.append(record.line) } }
        bytes.withUnsafeBytes { reader.read($0) { take($0) } }
        reader.end { take($0) }
        #expect(lines == expected)
    }

    @Test("Unless fields may be lists, quotes at the start of a field are not part of it")
    func noLists() {
        var reader = CSVReader(.tab)
        var fields: [String?] = []
        func take(_ event: CSVReader.Event) {
            if case .record(let record) = event { fields += (0..<record.count).map { record.text($0) } }
        }
        Array("\"a\",\"b\"\tc\n".utf8).withUnsafeBytes { reader.read($0) { take($0) } }
        #expect(fields == ["a,\"b\"", "c"])
    }

    @Test("An unterminated quote is reported with its first line")
    func unterminatedQuotes() {
        #expect(read("a\n1\n\"never\nends") == [["a"], ["1"], ["broken", "3", "unterminated quoted field"]])
    }

    @Test("A record that is too long is malformed, and the next one is read")
    func longRecords() throws {
        let rows = read("a\n" + String(repeating: "x", count: CSVReader.recordLimit + 1) + "\n2\n")
        try #require(rows.count == 3)
        #expect(rows[1].first == "broken")
        #expect(rows[2] == ["2"])
    }

    @Test("A record with too many fields is malformed")
    func wideRecords() {
        let rows = read("a\n" + String(repeating: ",", count: CSVReader.fieldLimit + 1) + "\n2\n")
        #expect(rows[1].first == "broken")
        #expect(rows[2] == ["2"])
    }

    @Test("A field that is not UTF-8 has no text")
    func invalidText() {
        var reader = CSVReader()
        var texts: [String?] = []
        let bytes: [UInt8] = [0x61, 0x0A, 0xFF, 0x0A]
        func take(_ event: CSVReader.Event) { if case .record(let record) = event { texts.append(record.text(0)) } }
        bytes.withUnsafeBytes { reader.read($0) { take($0) } }
        reader.end { take($0) }
        #expect(texts == ["a", nil])
    }

    @Test("A field survives writing and reading", arguments: ["", "a", "a,b", "say \"hi\"", "two\nlines", "cr\r", "é"])
    func roundTrips(_ value: String) {
        #expect(read("h,i\n\(CSVReader.field(value)),x\n")[1] == [value, "x"])
    }
}
