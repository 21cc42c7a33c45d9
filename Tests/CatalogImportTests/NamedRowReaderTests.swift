import Catalog
import CatalogImport
import CatalogJSON
import Testing

/// Rows of purchases and prices: CSV and NDJSON, read in chunks.
@Suite(.timeLimit(.minutes(15))) struct NamedRowReaderTests {
    private static let columns = ["store", "sku", "price"]

    /// Returns the rows of a file that is read in chunks of a size.
    private func read(
        _ text: String,
        _ format: ImportOptions.Format = .csv,
        piece: Int = 7
    ) throws -> (rows: [NamedRow], rejected: [String]) {
        var reader = NamedRowReader(format, columns: Self.columns, required: ["sku"])
        var (rows, rejected): ([NamedRow], [String]) = ([], [])
        func take(_ event: NamedRowReader.Event) {
            switch event {
            case .row(let row): rows.append(row)
            case .rejected(let rejection): rejected.append(rejection.description)
            }
        }
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { try reader.read($0, take) }
        }
        try reader.end(take)
        return (rows, rejected)
    }

    /// Returns the reason why a file is rejected as a whole.
    private func refusal(_ text: String, _ format: ImportOptions.Format = .csv) -> String? {
        do {
            _ = try read(text, format)
            return nil
        } catch { return "\(error)" }
    }

    @Test("The result of reading a CSV file does not depend on the chunk size", arguments: [1, 2, 3, 5, 8, 64])
    func piecesDoNotMatter(_ size: Int) throws {
        let (rows, rejected) = try read("sku,price\n\"a,b\",1.50\nc,\n", piece: size)
        #expect(rows.map { $0.text("sku") } == ["a,b", "c"])
        #expect(rows.map { $0.text("price") } == ["1.50", nil])
        #expect(rejected == [])
    }

    @Test("The header's case and spaces do not matter")
    func headersAreNormalized() throws {
        #expect(try read(" SKU ,Price\na,1\n").rows.first?.text("price") == "1")
    }

    @Test("A row with too few or too many columns is rejected with its line")
    func rowsHaveTheHeadersWidth() throws {
        let (rows, rejected) = try read("sku,price\na\nb,1\nc,1,2\n")
        #expect(rows.map { $0.text("sku") } == ["b"])
        #expect(rejected.count == 2)
        #expect(rejected.first?.hasPrefix("line 2:") == true)
    }

    @Test("A field that is not UTF-8 rejects its row alone")
    func invalidBytesAreRejected() throws {
        let dialect = FileDialect(encoding: .utf8)
        var reader = NamedRowReader(.csv, dialect, columns: Self.columns, required: ["sku"])
        var (rows, rejected) = (0, [String]())
        let bytes = Array("sku\n".utf8) + [0xFF, 0x0A] + Array("b\n".utf8)
        func take(_ event: NamedRowReader.Event) {
            if case .rejected(let rejection) = event { rejected.append(rejection.description) } else { rows += 1 }
        }
        try bytes.withUnsafeBytes { try reader.read($0, take) }
        try reader.end(take)
        #expect(rows == 1)
        #expect(rejected.first?.contains("UTF-8") == true)
    }

    @Test("A file with an unknown, repeated or missing column is rejected by name")
    func headersAreChecked() {
        #expect(refusal("sku,cost\n")?.contains("“cost”") == true)
        #expect(refusal("sku,sku\n")?.contains("more than once") == true)
        #expect(refusal("price\n")?.contains("“sku”") == true)
    }

    @Test("An empty CSV file is rejected; an empty NDJSON file has no rows")
    func emptyFiles() throws {
        #expect(refusal("")?.contains("empty") == true)
        #expect(try read("", .ndjson).rows == [])
    }

    @Test("NDJSON rows accept strings and numbers, and null is an empty field")
    func objectsAreRows() throws {
        let (rows, rejected) = try read(#"{"sku":"a","price":1.5}"# + "\n" + #"{"sku":"b","price":null}"#, .ndjson)
        #expect(rows.map { $0.text("price") } == ["1.5", nil])
        #expect(rows.map { $0.has("price") } == [true, true])
        #expect(rejected == [])
    }

    @Test(
        "An NDJSON line that is not an object of known fields is rejected",
        arguments: ["[1]", #"{"cost":1}"#, #"{"sku":true}"#, #"{"sku":["a"]}"#, "{", #"{"sku":"a""#]
    )
    func otherLinesAreRejected(_ line: String) throws {
        let (rows, rejected) = try read(line + "\n" + #"{"sku":"b"}"#, .ndjson)
        #expect(rows.map { $0.text("sku") } == ["b"])
        #expect(rejected.count == 1)
    }

    @Test("A required field must be present, and a SKU must be valid")
    func fieldsAreChecked() throws {
        let row = NamedRow(line: 3, ["sku": " ", "price": "x"])
        #expect(throws: ImportRejection.self) { try row.required("sku") }
        #expect(throws: ImportRejection.self) { try NamedRow(line: 3, ["sku": "a/b"]).sku() }
        #expect(try NamedRow(line: 3, ["sku": " a "]).sku() == SKU("a"))
        #expect(row.reject("price", "is wrong").description == "line 3, price: “x” is wrong")
    }
}
