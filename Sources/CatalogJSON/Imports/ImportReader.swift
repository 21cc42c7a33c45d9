package import Catalog

/// Reads an import file in chunks and emits validated records and rejections.
package struct ImportReader {
    /// A valid record, or a rejected row.
    package enum Event {
        case record(ImportRecord)
        case rejected(ImportRejection)
    }

    private let options: ImportOptions
    private var currencies: [CatalogKey: Currency]
    private let sizes: SizeContexts
    private var records: RecordReader
    private var rows: ImportRowReader?
    /// The index of each canonical column in the file.
    private var order: [ImportColumn: Int] = [:]
    private var width = 0
    /// The number of columns without the untitled ones at the end.
    private var titled = 0
    private var header: String?
    private var forms: FieldForms
    /// Warnings about the file as a whole.
    package private(set) var warnings: [String] = []

    /// - Parameters:
    ///   - currencies: the currencies of existing stores.
    ///   - sizes: the facts about existing stores and shelves that decide the meaning of words in sizes.
    package init(
        _ options: ImportOptions,
        currencies: [CatalogKey: Currency],
        sizes: SizeContexts = SizeContexts()
    ) {
        self.options = options
        self.currencies = currencies
        self.sizes = sizes
        forms = FieldForms(options)
        records = RecordReader(options.format, options.dialect) { titles in
            options.requiredColumns.allSatisfy { titles.contains(options.title(of: $0).lowercased()) }
        }
        if options.format == .ndjson {
            rows = ImportRowReader(options, columns: Set(ImportColumn.allCases), sizes: sizes)
        }
    }

    /// The columns of the file; all of them for NDJSON, where missing members are empty.
    package var columns: Set<ImportColumn> { rows?.columns ?? [] }

    /// How the file is written.
    package var reading: FileDialect { records.reading(forms[.price]) }

    /// - Throws: `CatalogError.unprocessable` if the header lacks a required column.
    package mutating func read(_ piece: UnsafeRawBufferPointer, _ emit: (Event) throws -> Void) throws {
        var batches: [[RecordReader.Event]] = []
        try records.read(piece) { batches.append($0) }
        for batch in batches { try handle(batch, emit) }
    }

    package mutating func end(_ emit: (Event) throws -> Void) throws {
        var batches: [[RecordReader.Event]] = []
        try records.end { batches.append($0) }
        for batch in batches { try handle(batch, emit) }
        if rows == nil { throw CatalogError.unprocessable(field: "file", detail: "the file is empty") }
        if let warning = records.encodingWarning { warnings.insert(warning, at: 0) }
        if forms.hasTagsWithCommas { warnings.append("tags are separated by commas") }
    }

    // MARK: - CSV

    private mutating func handle(_ events: [RecordReader.Event], _ emit: (Event) throws -> Void) throws {
        for (index, event) in events.enumerated() {
            if rows == nil, case .csv(let record) = event {
                try readHeader(record)
                forms.add(events[(index + 1)...], order)
            } else {
                try handle(event, emit)
            }
        }
    }

    private mutating func handle(_ event: RecordReader.Event, _ emit: (Event) throws -> Void) throws {
        switch event {
        case .malformed(let line, let reason):
            guard rows != nil else {
                throw CatalogError.unprocessable(
                    field: "file",
                    detail: "invalid header on line \(line): \(reason)"
                )
            }
            var rejection = ImportRejection(line: line, reason: reason)
            rejection.keep(row: nil, header: header, separator: records.layout?.separator)
            try emit(.rejected(rejection))
        case .line(let line, let bytes): try endLine(line, bytes, emit)
        case .csv(let record):
            if let reason = record.fault(width: width, titled: titled) {
                return try reject(ImportRejection(line: record.line, reason: reason), record, emit)
            }
            switch check(record, rows!) {
            case .rejected(let rejection): try reject(rejection, record, emit)
            case .record(var checked):
                try checkStore(of: checked)
                if options.keepsRejectedRows {
                    checked.unreadableStock?.keep(row: record.csv, header: header, separator: record.separator)
                }
                try emit(.record(checked))
            }
        }
    }

    /// - Throws: `unprocessable` for a record of another store than that of the import.
    private func checkStore(of record: ImportRecord) throws {
        guard let store = options.store, record.store != store else { return }
        throw CatalogError.unprocessable(
            field: options.title(of: .store),
            detail: """
                line \(record.line) is for store “\(record.store)”, but the import is for “\(store)”. Import the \
                file without a store, so that each row goes to its own, or remove the rows of other stores
                """
        )
    }

    private func reject(
        _ rejection: ImportRejection,
        _ record: CSVReader.Record,
        _ emit: (Event) throws -> Void
    ) rethrows {
        var rejection = rejection
        if options.keepsRejectedRows {
            rejection.keep(row: record.csv, header: header, separator: record.separator)
        }
        try emit(.rejected(rejection))
    }

    private mutating func check(_ record: CSVReader.Record, _ rows: ImportRowReader) -> Event {
        var isInvalid = false
        var event: Event
        do throws(ImportRejection) {
            event = .record(
                try rows.read(line: record.line, forms: forms, currencies: &currencies) { [order] column in
                    guard let index = order[column], index < record.count else { return nil }
                    let text = record.text(index)
                    if text == nil { isInvalid = true }
                    return text
                }
            )
        } catch {
            event = .rejected(error)
        }
        if isInvalid {
            event = .rejected(
                ImportRejection(
                    line: record.line,
                    reason: "the row \(records.textFault)"
                )
            )
        }
        return event
    }

    private mutating func readHeader(_ record: CSVReader.Record) throws {
        let titles = (0..<record.count).map { (record.text($0) ?? "").trimmed }
        var order: [ImportColumn: Int] = [:]
        for column in ImportColumn.allCases {
            let title = options.title(of: column)
            let places = titles.indices.filter { titles[$0].lowercased() == title.lowercased() }
            guard places.count <= 1 else {
                throw CatalogError.unprocessable(
                    field: title,
                    detail: "the file has the column “\(title)” \(places.count) times; keep only one"
                )
            }
            guard let index = places.first else {
                if options.mapping[column] != nil {
                    throw missing(
                        title,
                        "the file has no column “\(title)”, which is mapped to \(column.rawValue)",
                        titles
                    )
                }
                continue
            }
            order[column] = index
        }
        for needed in [ImportColumn.sku, .name] where order[needed] == nil && options.constants[needed] == nil {
            throw missing(
                needed.rawValue,
                "the file has no column “\(needed.rawValue)”; rename the column, or map it (command line: --map \(needed.rawValue)=NAME)",
                titles
            )
        }
        if order[.store] == nil, options.store == nil, options.constants[.store] == nil {
            throw missing(
                "store",
                "the file has no column “store”; rename the column, map it (command line: --map store=NAME), or set the store of all rows",
                titles
            )
        }
        self.order = order
        width = record.count
        titled = (titles.lastIndex { !$0.isEmpty } ?? -1) + 1
        header = record.csv
        let unused = titles.indices.filter { !order.values.contains($0) && !titles[$0].isEmpty }.map { titles[$0] }
            .filter { !RejectedRow.columns.contains($0) }
        if !unused.isEmpty {
            warnings.append(
                "ignored columns: \(unused.joined(separator: ", ").prefix(1000)); rename them to import them (command line: --map)"
            )
        }
        let columns = Set(order.keys).union(options.constants.keys)
        rows = ImportRowReader(options, columns: columns, sizes: sizes)
    }

    private func missing(_ field: String, _ detail: String, _ titles: [String]) -> CatalogError {
        .unprocessable(
            field: field,
            detail: "\(detail). Columns of the file: \(titles.joined(separator: ", ").prefix(400))"
        )
    }

    // MARK: - NDJSON

    private mutating func endLine(_ line: Int, _ bytes: [UInt8], _ emit: (Event) throws -> Void) throws {
        let event: Event
        let isKept = options.keepsRejectedRows && bytes.count <= CSVReader.recordLimit
        do throws(ImportRejection) {
            var record = try readLine(line, bytes)
            if isKept { record.unreadableStock?.row = String(decoding: bytes, as: UTF8.self) }
            event = .record(record)
        } catch {
            var rejection = error
            if isKept { rejection.row = String(decoding: bytes, as: UTF8.self) }
            event = .rejected(rejection)
        }
        if case .record(let record) = event { try checkStore(of: record) }
        try emit(event)
    }

    private mutating func readLine(_ line: Int, _ bytes: [UInt8]) throws(ImportRejection) -> ImportRecord {
        let value = RejectedRow.removingReasons(try RecordReader.value(of: bytes, line: line))
        guard case .object(let members) = value else {
            throw ImportRejection(line: line, reason: "is not a JSON object")
        }
        var fields: [ImportColumn: String] = [:]
        var forms = forms
        let byTitle = Dictionary(
            ImportColumn.allCases.map { (options.title(of: $0), $0) },
            uniquingKeysWith: { a, _ in a }
        )
        for member in members {
            guard let column = byTitle[member.name] else {
                if member.value == .null { continue }
                throw ImportRejection(line: line, column: member.name, reason: "is not an import column")
            }
            switch member.value {
            case .null: continue
            case .string(let text): fields[column] = text
            case .number(let digits):
                fields[column] = ExactDecimal.plain(jsonNumber: digits)
                forms.setNumber(column)
            case .bool(let flag): fields[column] = flag ? "true" : "false"
            case .array(let values) where column == .tags:
                var tags: [String] = []
                for value in values {
                    guard case .string(let tag) = value, Product.isTag(tag) else {
                        throw ImportRejection(
                            line: line,
                            column: member.name,
                            value: value.text,
                            reason: "must be \(Product.tagRule)"
                        )
                    }
                    tags.append(tag)
                }
                fields[column] = tags.joined(separator: "|")
            case .array, .object:
                throw ImportRejection(line: line, column: member.name, reason: "must be a string or a number")
            }
        }
        return try rows!.read(line: line, forms: forms, currencies: &currencies) { fields[$0] }
    }
}
