import Catalog
import JSON
import Testing

@testable import CatalogImport

/// Records of files that are larger than the sample, with headers, limits and line numbers.
@Suite(.timeLimit(.minutes(15))) struct RecordSplitterTests {
    private func reader(
        _ format: ImportOptions.Format = .csv,
        _ dialect: FileDialect = FileDialect()
    ) -> RecordSplitter {
        RecordSplitter(format, dialect) { $0.contains("sku") }
    }

    private func read(_ bytes: [UInt8], _ reader: inout RecordSplitter) throws -> [[RecordSplitter.Event]] {
        try bytes.withUnsafeBytes { try reader.read($0) }
    }

    /// The records as texts: the line, and the fields or the reason.
    private func texts(_ events: [RecordSplitter.Event]) -> [String] {
        events.map { event in
            switch event {
            case .csv(let record):
                "\(record.line) " + (0..<record.count).map { record.text($0) ?? "invalid" }.joined(separator: "/")
            case .line(let line, let bytes): "\(line) \(String(decoding: bytes, as: UTF8.self))"
            case .fields(let record): "\(record.line) " + record.fields.map { "\($0.name)=\($0.text)" }.joined()
            case .malformed(let line, let reason): "\(line) malformed: \(reason)"
            }
        }
    }

    private func all(_ bytes: [UInt8], _ format: ImportOptions.Format = .csv, _ dialect: FileDialect = FileDialect())
        throws -> [String]
    {
        var reader = reader(format, dialect)
        var events = try read(bytes, &reader).flatMap(\.self)
        events += try reader.end()
        return texts(events)
    }

    // MARK: - The sample

    /// Rows of 16 bytes, of which the first is the header.
    private static func rows(_ count: Int) -> [UInt8] {
        var bytes = Array("sku,name,price1\n".utf8)
        for number in 1..<count { bytes += Array("p\(1_000_000 + number),abcdef\n".utf8.prefix(16)) }
        return bytes
    }

    @Test(
        "The records of the first megabyte come together, as soon as it is there",
        arguments: [1 << 20, 700_000, 65_536]
    )
    func sample(_ piece: Int) throws {
        let bytes = Self.rows((1 << 16) + 1000)
        #expect(bytes.count == 16 * ((1 << 16) + 1000))
        var reader = reader()
        var (consumed, events) = (0, [RecordSplitter.Event]())
        while consumed < bytes.count {
            let batches = try read(Array(bytes[consumed..<min(bytes.count, consumed + piece)]), &reader)
            let before = consumed
            consumed = min(bytes.count, consumed + piece)
            if consumed < RecordSplitter.sampleLimit {
                #expect(batches.isEmpty)
                #expect(reader.layout == nil)
            } else if before < RecordSplitter.sampleLimit {
                #expect(batches.count == 2)
                #expect(batches[0].count == 1 << 16, "all rows of the sample")
                #expect(batches[1].count == (consumed - RecordSplitter.sampleLimit) / 16)
            } else {
                #expect(batches.count == 1)
            }
            events += batches.flatMap(\.self)
        }
        events += try reader.end()
        #expect(events.count == (1 << 16) + 1000)
        let lines = events.map { event in if case .csv(let record) = event { record.line } else { 0 } }
        #expect(lines == Array(1...events.count))
        #expect(RecordSplitter.sampleLimit == 1_048_576)
    }

    @Test("A file of the size of the sample, or a byte less or more, is read whole", arguments: [-1, 0, 1])
    func sampleEdges(_ difference: Int) throws {
        var bytes = Self.rows(1 << 16)
        if difference < 0 { bytes.removeLast() }
        if difference > 0 { bytes.append(UInt8(ascii: "x")) }
        let found = try all(bytes)
        #expect(found.count == (1 << 16) + (difference > 0 ? 1 : 0))
        #expect(found.last == (difference > 0 ? "65537 x" : "65536 p1065535/abcdef"))
    }

    @Test("A character that the end of the sample cuts does not change the encoding")
    func cutCharacters() throws {
        let text = "sku,name\n" + String(repeating: "a,b\n", count: 262_141) + "a,Čaj\n"
        let bytes = Array(text.utf8)
        #expect(bytes[RecordSplitter.sampleLimit - 1] == 0xC4, "the sample ends with the first byte of Č")
        var reader = reader()
        var events = try read(bytes, &reader).flatMap(\.self)
        events += try reader.end()
        #expect(events.count == 262_143)
        #expect(texts([try #require(events.last)]) == ["262143 a/Čaj"])
        #expect(reader.detected == EncodingDetector.Finding(encoding: .utf8))
    }

    // MARK: - CSV

    @Test("Records above the header are ignored, also those that cannot be read")
    func headerLines() throws {
        let wide = String(repeating: ",", count: CSVReader.fieldLimit + 1)
        #expect(
            try all(Array("title\n\(wide)\nsku,name\na,b\n".utf8), .csv, FileDialect(headerLine: 3))
                == ["3 sku/name", "4 a/b"]
        )
        let found = try all(Array("sku,name\n\(wide)\na,b\n".utf8))
        #expect(found.map { String($0.prefix(34)) } == ["1 sku/name", "2 malformed: the record exceeds 10", "3 a/b"])
        #expect(try all(Array("title\nsku,name\na,b\n".utf8)) == ["2 sku/name", "3 a/b"])
        #expect(
            try all(Array("sku,name\nsku,name\na,b\n".utf8), .csv, FileDialect(headerLine: 2)) == [
                "2 sku/name", "3 a/b",
            ]
        )
    }

    @Test("Lines are counted after a line with the separator, and blank rows are left out")
    func lines() throws {
        #expect(try all(Array("sep=;\nsku;name\n;\n \t;\na;b\n".utf8)) == ["2 sku/name", "5 a/b"])
        #expect(try all(Array("SEP=|\r\nsku|name\r\na|b".utf8)) == ["2 sku/name", "3 a/b"])
        #expect(try all(Array("\"sep=;\"\nsku;name\n".utf8)) == ["2 sku/name"])
        // Programs that fill up all rows write more separators.
        #expect(try all(Array("sep=;;;\nid;name;x,y\n".utf8)) == ["2 id/name/x,y"])
        #expect(try all(Array("sep=; ;\nid;name\n".utf8)) == ["2 id/name"])
        #expect(try all(Array("sep=;id;name\nb;1;2\n".utf8)) == ["1 sep=/id/name", "2 b/1/2"])
        #expect(try all(Array("sku,name\n\n\"a\nb\",c\nd,e\n".utf8)) == ["1 sku/name", "3 a\nb/c", "5 d/e"])
    }

    @Test("Quotes are part of the fields of a file without quotes")
    func unquotedFiles() throws {
        var dialect = FileDialect(separator: .tab)
        dialect.isQuoted = false
        #expect(
            try all(Array("sku\tname\na\t6\" pan\nb\t\"x\"\n".utf8), .csv, dialect) == [
                "1 sku/name", "2 a/6\" pan", "3 b/\"x\"",
            ]
        )
    }

    @Test(
        "A row fits a header of its width; trailing separators on either side are ignored",
        arguments: [
            ("a,b", 2, 2, true), ("a,b", 3, 3, false), ("a,b", 4, 2, true), ("a,b", 4, 3, false), ("a,b,", 2, 2, true),
            ("a,b, ,\t", 2, 2, true), ("a,b,,x", 2, 2, false), ("a,b,x", 3, 2, true), ("a,b,x", 4, 2, false),
            ("a", 1, 1, true), ("a", 2, 1, true), ("a,", 1, 1, true), ("a,b", 1, 1, false),
        ]
    )
    func widths(_ text: String, _ width: Int, _ titled: Int, _ fits: Bool) throws {
        var reader = CSVReader()
        var records: [CSVReader.Record] = []
        func take(_ event: CSVReader.Event) { if case .record(let record) = event { records.append(record) } }
        Array(text.utf8).withUnsafeBytes { reader.read($0, take) }
        reader.end(take)
        let record = try #require(records.first)
        let fault = record.fault(width: width, titled: titled)
        #expect((fault == nil) == fits)
        if let fault {
            #expect(
                fault
                    == "the row has \(record.count) columns, the header \(width); quote values that contain the separator"
            )
        }
    }

    @Test("A record is written with its separator, and texts for its blank fields")
    func writtenRecords() throws {
        func record(_ text: String, isQuoted: Bool) throws -> CSVReader.Record {
            var reader = CSVReader(.semicolon, isQuoted: isQuoted)
            var records: [CSVReader.Record] = []
            func take(_ event: CSVReader.Event) { if case .record(let record) = event { records.append(record) } }
            Array(text.utf8).withUnsafeBytes { reader.read($0, take) }
            return try #require(records.first)
        }
        let quoted = try record("a;\"b;\"\"c\"; ;x\n", isQuoted: true)
        #expect(quoted.csv == "a;\"b;\"\"c\"; ;x")
        #expect(quoted.csv(filling: [0: "no", 2: "y;z", 5: "q"]) == "a;\"b;\"\"c\";\"y;z\";x;;q")
        #expect(quoted.csv(filling: [3: "no"]) == quoted.csv)
        #expect(try record("a;\"b;c\n", isQuoted: false).csv == "a;\"b;c")
    }

    // MARK: - NDJSON

    @Test("Blank lines are left out and counted, and a last line needs no line break")
    func ndjsonLines() throws {
        #expect(
            try all(Array("{\"a\":1}\n\n \t\r\n{\"b\":2}\r\nx\n[]".utf8), .ndjson)
                == ["1 {\"a\":1}", "4 {\"b\":2}\r", "5 x", "6 []"]
        )
        #expect(try all([], .ndjson) == [])
        #expect(try all([0x0A, 0x0A], .ndjson) == [])
    }

    @Test("A line of NDJSON can have a megabyte, and a longer one is rejected alone")
    func longLines() throws {
        let limit = CSVReader.recordLimit
        #expect(limit == 1 << 20)
        let longest = Array("{\"a\":1}".utf8) + [UInt8](repeating: 0x20, count: limit - 7)
        var reader = reader(.ndjson)
        var events = try read(longest + [0x0A], &reader).flatMap(\.self)
        events += try read(longest + [0x20, 0x20, 0x20, 0x0A, 0x5B, 0x5D], &reader).flatMap(\.self)
        events += try reader.end()
        let lines: [(Int, [UInt8])] = events.compactMap { event -> (Int, [UInt8])? in
            guard case .line(let line, let bytes) = event else { return nil }
            return (line, bytes)
        }
        #expect(lines.map(\.0) == [1, 2, 3])
        #expect(lines.map(\.1.count) == [limit, limit + 1, 2], "a longer line is cut")
        #expect(try RecordSplitter.value(of: lines[0].1, line: 1) == .object([JSONValue.Member("a", .number("1"))]))
        let rejection = #expect(throws: ImportRejection.self) { try RecordSplitter.value(of: lines[1].1, line: 2) }
        #expect(rejection?.description == "line 2: the record exceeds 1048576 bytes")
    }

    @Test("A line that is not JSON is rejected with the place of the fault")
    func invalidLines() {
        let rejection = #expect(throws: ImportRejection.self) {
            try RecordSplitter.value(of: Array("{\"a\" 1}".utf8), line: 9)
        }
        #expect(rejection?.description == "line 9: invalid JSON at byte 5: expected a colon")
    }

    // MARK: - What is known of the file

    @Test("The reading of a file names its encoding, separator, decimal mark and header line")
    func reading() throws {
        var csv = reader()
        _ = try read(Array("x\nsku;name\n".utf8), &csv)
        _ = try csv.end()
        #expect(
            csv.dialect(DecimalEvidence(.comma))
                == FileDialect(encoding: .utf8, separator: .semicolon, decimalMark: .comma, headerLine: 2)
        )
        var lines = reader(.ndjson, FileDialect(encoding: .windows1250))
        _ = try read(Array("{}".utf8), &lines)
        _ = try lines.end()
        #expect(lines.dialect(DecimalEvidence()) == FileDialect(encoding: .windows1250))
        var xml = reader(.xml, FileDialect(encoding: .latin2))
        _ = try read(Array("<a><item><sku>1</sku></item></a>".utf8), &xml)
        _ = try xml.end()
        #expect(xml.dialect(DecimalEvidence()) == FileDialect(encoding: .latin2))
        #expect(xml.layout == nil && lines.layout == nil)
    }

    @Test("A guessed encoding is reported with its alternatives, and a certain one is not")
    func encodingWarnings() throws {
        var guessed = reader()
        // “Käse” reads the same in Western and Central European encodings.
        _ = try read(Array("sku,name\na,K".utf8) + [0xE4] + Array("se\n".utf8), &guessed)
        _ = try guessed.end()
        let warning = try #require(guessed.encodingWarning)
        #expect(warning.hasPrefix("the file is not UTF-8; by its letters it is "))
        #expect(warning.contains("windows-1252") && warning.contains(" or ") && warning.contains("iso-8859-2"))
        #expect(guessed.textFault.hasPrefix("has a character that differs between "))
        #expect(guessed.textFault.contains(" and "))

        var utf8 = reader()
        _ = try read(Array("sku,name\na,Käse\n".utf8), &utf8)
        _ = try utf8.end()
        #expect(utf8.encodingWarning == nil)
        #expect(utf8.textFault.hasPrefix("is not valid UTF-8, or has more than 30 combining marks in a row; set"))

        var given = reader(.csv, FileDialect(encoding: .windows1252))
        _ = try read(Array("sku,name\na,A\n".utf8), &given)
        _ = try given.end()
        #expect(given.encodingWarning == nil)
        #expect(given.textFault == "is not valid windows-1252, or has more than 30 combining marks in a row")
    }
}
