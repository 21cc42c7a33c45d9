package import Catalog

/// Reads rows of named columns in chunks: CSV with a header line, or NDJSON.
package struct RowReader {
    /// A valid row, or a rejected one.
    package enum Event {
        case row(FieldRow)
        case rejected(ImportRejection)
    }

    private let columns: [String]
    private let required: [String]
    private let hasHeader: Bool
    private var records: RecordReader
    private var header: [String]?

    /// - Parameters:
    ///   - columns: the known columns; a file with others is rejected.
    ///   - required: the columns that a CSV file must have.
    package init(_ format: ImportOptions.Format, columns: [String], required: [String]) {
        self.columns = columns
        self.required = required
        hasHeader = format == .csv
        records = RecordReader(format)
    }

    /// - Throws: `CatalogError.unprocessable` if the whole file is unusable.
    package mutating func read(_ chunk: UnsafeRawBufferPointer, _ emit: (Event) throws -> Void) throws {
        for event in records.read(chunk) { try handle(event, emit) }
    }

    package mutating func end(_ emit: (Event) throws -> Void) throws {
        for event in records.end() { try handle(event, emit) }
        if hasHeader, header == nil {
            throw CatalogError.unprocessable(field: "file", detail: "the file is empty")
        }
    }

    private mutating func handle(_ event: RecordReader.Event, _ emit: (Event) throws -> Void) throws {
        switch event {
        case .line(let line, let bytes):
            let event: Event
            do throws(ImportRejection) {
                event = .row(try FieldRow(line: line, try RecordReader.value(of: bytes, line: line), columns: columns))
            } catch {
                event = .rejected(error)
            }
            try emit(event)
        case .malformed(let line, let reason):
            guard header != nil else {
                throw CatalogError.unprocessable(field: "file", detail: "invalid line \(line): \(reason)")
            }
            try emit(.rejected(ImportRejection(line: line, reason: reason)))
        case .csv(let record):
            guard let header else { return try readHeader(record) }
            guard record.count == header.count else {
                let reason = "the row has \(record.count) columns, the header \(header.count)"
                return try emit(.rejected(ImportRejection(line: record.line, reason: reason)))
            }
            var fields: [String: String] = [:]
            for (index, name) in header.enumerated() {
                guard let text = record.text(index) else {
                    let rejection = ImportRejection(line: record.line, column: name, reason: "is not valid UTF-8")
                    return try emit(.rejected(rejection))
                }
                fields[name] = text
            }
            try emit(.row(FieldRow(line: record.line, fields)))
        }
    }

    private mutating func readHeader(_ record: CSVReader.Record) throws {
        let names = (0..<record.count).map { (record.text($0) ?? "").trimmed.lowercased() }
        let wanted = "the columns are \(columns.joined(separator: ", "))"
        if let unknown = names.first(where: { !columns.contains($0) }) {
            throw CatalogError.unprocessable(
                field: String(unknown.prefix(64)),
                detail: "unknown column “\(unknown.prefix(64))”; \(wanted)"
            )
        }
        for name in names where names.filter({ $0 == name }).count > 1 {
            throw CatalogError.unprocessable(field: name, detail: "the file has the column “\(name)” more than once")
        }
        if let missing = required.first(where: { !names.contains($0) }) {
            throw CatalogError.unprocessable(field: missing, detail: "the file has no column “\(missing)”; \(wanted)")
        }
        header = names
    }
}
