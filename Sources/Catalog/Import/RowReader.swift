/// A row of named fields, of a file or a JSON body.
package struct FieldRow: Sendable, Hashable {
    /// Of a file, from 1; of a body, the element's index.
    package let line: Int
    private var fields: [String: String] = [:]

    package init(line: Int, _ fields: [String: String]) {
        self.line = line
        self.fields = fields
    }

    /// Reads the members of a JSON object; null stands for an empty field.
    ///
    /// - Parameter numbers: the members that must be numbers, where the others must be texts; nil takes either.
    /// - Throws: what is wrong about the row.
    package init(
        line: Int,
        _ value: JSONValue,
        columns: [String],
        numbers: Set<String>? = nil
    ) throws(ImportRejection) {
        self.line = line
        guard case .object(let members) = value else {
            throw ImportRejection(line: line, reason: "is no JSON object")
        }
        for member in members {
            guard columns.contains(member.name) else {
                throw ImportRejection(
                    line: line,
                    column: member.name,
                    reason: "is no field here; there are \(columns.joined(separator: ", "))"
                )
            }
            switch member.value {
            case .null: fields[member.name] = ""
            case .string(let text) where numbers?.contains(member.name) != true: fields[member.name] = text
            case .number(let digits) where numbers?.contains(member.name) != false: fields[member.name] = digits
            case .string, .number:
                let wanted = numbers!.contains(member.name) ? "a number" : "a text"
                throw ImportRejection(line: line, column: member.name, reason: "must be \(wanted)")
            case .bool, .array, .object:
                throw ImportRejection(line: line, column: member.name, reason: "must be a text or a number")
            }
        }
    }

    package func has(_ column: String) -> Bool { fields[column] != nil }

    /// The field without space around it; nil where there is nothing in it.
    package func text(_ column: String) -> String? {
        guard let text = fields[column]?.trimmed, !text.isEmpty else { return nil }
        return text
    }

    package func needed(_ column: String) throws(ImportRejection) -> String {
        guard let text = text(column) else { throw ImportRejection(line: line, column: column, reason: "is missing") }
        return text
    }

    package func reject(_ column: String, _ reason: String) -> ImportRejection {
        ImportRejection(line: line, column: column, value: text(column), reason: reason)
    }

    package func sku() throws(ImportRejection) -> SKU {
        guard let sku = SKU(try needed("sku").composed) else { throw reject("sku", "is no sku") }
        return sku
    }
}

/// Reads rows of named columns piece by piece: CSV with a header line, or NDJSON.
package struct RowReader {
    package enum Event {
        case row(FieldRow)
        case rejected(ImportRejection)
    }

    private let columns: [String]
    private let needed: [String]
    private let hasHeader: Bool
    private var records: RecordReader
    private var header: [String]?

    /// - Parameters:
    ///   - columns: those that are read; a file with others is refused.
    ///   - needed: those that a CSV file must have.
    package init(_ format: ImportOptions.Format, columns: [String], needed: [String]) {
        self.columns = columns
        self.needed = needed
        hasHeader = format == .csv
        records = RecordReader(format)
    }

    /// - Throws: `CatalogError.unprocessable`, where the file as a whole cannot be read.
    package mutating func read(_ piece: UnsafeRawBufferPointer, _ emit: (Event) throws -> Void) throws {
        for event in records.read(piece) { try handle(event, emit) }
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
        case .broken(let line, let reason):
            guard header != nil else {
                throw CatalogError.unprocessable(field: "file", detail: "line \(line) cannot be read: \(reason)")
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
        if let stranger = names.first(where: { !columns.contains($0) }) {
            throw CatalogError.unprocessable(
                field: String(stranger.prefix(64)),
                detail: "no such column: “\(stranger.prefix(64))”; \(wanted)"
            )
        }
        for name in names where names.filter({ $0 == name }).count > 1 {
            throw CatalogError.unprocessable(field: name, detail: "the file has the column “\(name)” more than once")
        }
        if let missing = needed.first(where: { !names.contains($0) }) {
            throw CatalogError.unprocessable(field: missing, detail: "the file has no column “\(missing)”; \(wanted)")
        }
        header = names
    }
}

extension [JSONValue] {
    /// The elements of a body's array as rows; the first that is wrong refuses them all.
    func rows<Row>(
        bound: Int,
        columns: [String],
        numbers: Set<String>,
        _ read: (FieldRow) throws(ImportRejection) -> Row
    ) throws(CatalogError) -> [Row] {
        guard count <= bound else { throw .tooLarge("\(count) at once; the most is \(bound)") }
        var rows: [Row] = []
        rows.reserveCapacity(count)
        for (index, value) in enumerated() {
            if case .object(let members) = value, let member = members.first(where: { !columns.contains($0.name) }) {
                let field = "[\(index)].\(member.name.prefix(64))"
                throw .malformed(parameter: field, detail: "no such field: \(field)", allowed: columns)
            }
            do throws(ImportRejection) {
                rows.append(try read(FieldRow(line: index, value, columns: columns, numbers: numbers)))
            } catch {
                let field = "[\(index)]" + (error.column.map { ".\($0)" } ?? "")
                let shown = error.value.map { "“\($0)” " } ?? ""
                throw .unprocessable(field: field, detail: "\(field): \(shown)\(error.reason)")
            }
        }
        return rows
    }
}
