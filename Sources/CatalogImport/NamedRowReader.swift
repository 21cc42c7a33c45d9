package import Catalog

/// Reads purchases or prices in chunks: CSV with a header line, or NDJSON. `ImportReader` reads files of products.
package struct NamedRowReader {
    /// A valid row, or a rejected one.
    package enum Event {
        case row(NamedRow)
        case rejected(ImportRejection)
    }

    private let columns: [String]
    private let required: [String]
    private let hasHeader: Bool
    private let keepsRejectedRows: Bool
    private var splitter: RecordSplitter
    private var header: Header?
    private var decimals: DecimalEvidence

    private struct Header {
        /// The column of each field; nil for one that is not read.
        let names: [String?]
        let titled: Int
        let csv: String
    }

    /// - Parameters:
    ///   - columns: the known columns; a file with others is rejected.
    ///   - required: the columns that a CSV file must have.
    ///   - keepsRejectedRows: whether rejections have the raw rows.
    package init(
        _ format: ImportOptions.Format,
        _ dialect: FileDialect = FileDialect(),
        columns: [String],
        required: [String],
        keepsRejectedRows: Bool = false
    ) {
        self.columns = columns
        self.required = required
        self.keepsRejectedRows = keepsRejectedRows
        hasHeader = format == .csv
        decimals = DecimalEvidence(dialect.decimalMark)
        splitter = RecordSplitter(format, dialect) { titles in required.allSatisfy(titles.contains) }
    }

    /// How the file is written, as far as it is known.
    package var dialect: FileDialect { splitter.dialect(decimals) }

    /// Warnings about the file as a whole.
    package var warnings: [String] { [splitter.encodingWarning].compactMap(\.self) }

    /// - Throws: `CatalogError.unprocessable` if the whole file is unusable.
    package mutating func read(_ chunk: UnsafeRawBufferPointer, _ emit: (Event) throws -> Void) throws {
        for batch in try splitter.read(chunk) { try handle(batch, emit) }
    }

    package mutating func end(_ emit: (Event) throws -> Void) throws {
        try handle(try splitter.end(), emit)
        if hasHeader, header == nil {
            throw CatalogError.unprocessable(field: "file", detail: "the file is empty")
        }
    }

    private mutating func handle(_ events: [RecordSplitter.Event], _ emit: (Event) throws -> Void) throws {
        for (index, event) in events.enumerated() {
            if header == nil, case .csv(let record) = event {
                let header = try readHeader(record)
                self.header = header
                if let price = header.names.firstIndex(of: "price") {
                    for case .csv(let record) in events[(index + 1)...] where price < record.count {
                        if let text = record.text(price) { decimals.add(text.trimmed) }
                    }
                }
                continue
            }
            try emit(try self.event(of: event))
        }
    }

    private func event(of event: RecordSplitter.Event) throws -> Event {
        do throws(ImportRejection) {
            switch event {
            case .line(let line, let bytes):
                do throws(ImportRejection) {
                    let value = RejectedRow.removingReasons(try RecordSplitter.value(of: bytes, line: line))
                    var row = try NamedRow(line: line, value, columns: columns, decimals: decimals)
                    if keepsRejectedRows {
                        row.raw = NamedRow.RawRow(row: String(decoding: bytes, as: UTF8.self))
                    }
                    return .row(row)
                } catch {
                    var rejection = error
                    if keepsRejectedRows { rejection.row = String(decoding: bytes, as: UTF8.self) }
                    throw rejection
                }
            case .fields(let record): throw ImportRejection(line: record.line, reason: "XML has no rows of this kind")
            case .malformed(let line, let reason):
                var rejection = ImportRejection(line: line, reason: reason)
                rejection.keep(row: nil, header: header?.csv, separator: splitter.layout?.separator)
                throw rejection
            case .csv(let record):
                do throws(ImportRejection) { return .row(try row(record)) } catch { throw raw(error, record) }
            }
        } catch {
            if case .malformed = event, hasHeader, header == nil {
                throw CatalogError.unprocessable(field: "file", detail: "invalid line \(error.line): \(error.reason)")
            }
            return .rejected(error)
        }
    }

    /// Returns a rejection with the raw row.
    private func raw(_ rejection: ImportRejection, _ record: CSVReader.Record) -> ImportRejection {
        var rejection = rejection
        if keepsRejectedRows { rejection.keep(row: record.csv, header: header?.csv, separator: record.separator) }
        return rejection
    }

    private func row(_ record: CSVReader.Record) throws(ImportRejection) -> NamedRow {
        let header = header!
        if let fault = record.fault(width: header.names.count, titled: header.titled) {
            throw ImportRejection(line: record.line, reason: fault)
        }
        var fields: [String: String] = [:]
        for (index, name) in header.names.enumerated() where index < record.count {
            guard let name else { continue }
            guard let text = record.text(index) else {
                throw ImportRejection(line: record.line, column: name, reason: splitter.textFault)
            }
            fields[name] = text
        }
        var row = NamedRow(line: record.line, fields, decimals: decimals)
        if keepsRejectedRows {
            row.raw = NamedRow.RawRow(row: record.csv, header: header.csv, separator: record.separator)
        }
        return row
    }

    private func readHeader(_ record: CSVReader.Record) throws -> Header {
        var names = CSVLayout.titles(record)
        let wanted = "the columns are \(columns.joined(separator: ", "))"
        while names.last?.isEmpty == true { names.removeLast() }
        let known = names.map { RejectedRow.columns.contains($0) ? nil : $0 }
        if let unknown = known.compactMap(\.self).first(where: { !columns.contains($0) }) {
            throw CatalogError.unprocessable(
                field: String(unknown.prefix(64)),
                detail: "unknown column “\(unknown.prefix(64))”; \(wanted)"
            )
        }
        for name in known.compactMap(\.self) where names.filter({ $0 == name }).count > 1 {
            throw CatalogError.unprocessable(field: name, detail: "the file has the column “\(name)” more than once")
        }
        if let missing = required.first(where: { !names.contains($0) }) {
            throw CatalogError.unprocessable(field: missing, detail: "the file has no column “\(missing)”; \(wanted)")
        }
        return Header(
            names: known + [String?](repeating: nil, count: record.count - known.count),
            titled: known.count,
            csv: record.csv
        )
    }
}
