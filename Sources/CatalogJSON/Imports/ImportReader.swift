package import Catalog

/// Reads an import file in chunks and emits validated records and rejections.
package struct ImportReader {
    /// A valid record, a rejected row, or a row that is not a product.
    package enum Event {
        case record(ImportRecord)
        case rejected(ImportRejection)
        case skipped
    }

    private var options: ImportOptions
    private var currencies: [CatalogKey: Currency]
    private let sizes: SizeContexts
    private var records: RecordReader
    private var rows: ImportRowReader?
    private var fileColumns: FileColumns
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
        fileColumns = FileColumns(options.profile)
        let sources = options.requiredColumns.map(options.profile.mapping.source)
        records = RecordReader(options.format, options.dialect, recordNames: options.profile.recordNames) { titles in
            let keys = titles.map(ColumnTitle.key)
            return sources.allSatisfy { source in
                source.alternatives.contains { $0.contains { title in keys.contains(where: title.matches) } }
            }
        }
        if options.format != .csv {
            fileColumns.setNoHeader(readsAll: options.profileName == nil)
            rows = ImportRowReader(options, sizes: sizes)
        }
    }

    /// The columns of the file; those of the mapping for a file without a header, where missing members are empty.
    package var columns: Set<ImportColumn> { rows == nil ? [] : fileColumns.found }

    /// The attributes of products that the file has; nil if it has all of them in one column.
    package var attributeNames: [String]? { fileColumns.attributeNames }

    /// How the file is written.
    package var reading: FileDialect { records.reading(forms[.price]) }

    /// - Throws: `CatalogError.unprocessable` if the header lacks a required column.
    package mutating func read(_ piece: UnsafeRawBufferPointer, _ emit: (Event) throws -> Void) throws {
        for batch in try records.read(piece) { try handle(batch, emit) }
    }

    package mutating func end(_ emit: (Event) throws -> Void) throws {
        try handle(try records.end(), emit)
        if rows == nil { throw CatalogError.unprocessable(field: "file", detail: "the file is empty") }
        if options.format != .csv {
            try fileColumns.checkRequired()
            warnAboutMissing()
        }
        if let warning = records.encodingWarning { warnings.insert(warning, at: 0) }
        if forms.hasTagsWithCommas { warnings.append("tags are separated by commas") }
    }

    private mutating func handle(_ events: [RecordReader.Event], _ emit: (Event) throws -> Void) throws {
        for (index, event) in events.enumerated() {
            if rows == nil, case .csv(let record) = event {
                try readHeader(record)
                forms.add(events[(index + 1)...], fileColumns)
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
        case .csv(let record):
            try finish(check(record), emit) {
                FieldRow.RawRow(row: record.csv, header: header, separator: record.separator)
            }
        case .line(let line, let bytes):
            try finish(check(line, bytes), emit) {
                bytes.count <= CSVReader.recordLimit
                    ? FieldRow.RawRow(row: String(decoding: bytes, as: UTF8.self)) : nil
            }
        case .fields(let record):
            try finish(check(record), emit) {
                FieldRow.RawRow(row: record.xml(named: options.profile.recordNames[0]))
            }
        }
    }

    /// Emits the outcome of a row, with the raw row if that is wanted.
    private func finish(_ outcome: Event, _ emit: (Event) throws -> Void, _ raw: () -> FieldRow.RawRow?) throws {
        switch outcome {
        case .skipped: try emit(.skipped)
        case .rejected(var rejection):
            if options.keepsRejectedRows { rejection.keep(raw()) }
            try emit(.rejected(rejection))
        case .record(var record):
            try checkStore(of: record)
            if options.keepsRejectedRows { record.unreadableStock?.keep(raw()) }
            try emit(.record(record))
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

    /// Returns the outcome of a row.
    ///
    /// - Parameter cell: the text of a column of the file; nil if the row has none.
    private mutating func check(_ line: Int, _ forms: FieldForms, _ cell: (Int) -> String?) -> Event {
        do throws(ImportRejection) {
            guard fileColumns.hasConditions else {
                return .record(
                    try rows!.read(
                        line: line,
                        forms: forms,
                        currencies: &currencies,
                        columns: fileColumns.resolved,
                        cell
                    )
                )
            }
            let product = try fileColumns.product(of: line, cell)
            guard fileColumns.isProduct(cell, product) else { return .skipped }
            return .record(
                try rows!.read(line: line, forms: forms, currencies: &currencies, columns: fileColumns.resolved) {
                    index in
                    guard let text = cell(index), !text.trimmed.isEmpty else { return product?[index] }
                    return text
                }
            )
        } catch {
            return .rejected(error)
        }
    }

    // MARK: - CSV

    private mutating func check(_ record: CSVReader.Record) -> Event {
        if let reason = record.fault(width: width, titled: titled) {
            return .rejected(ImportRejection(line: record.line, reason: reason))
        }
        var isInvalid = false
        let outcome = check(record.line, forms) { index in
            guard index < record.count else { return nil }
            let text = record.text(index)
            if text == nil { isInvalid = true }
            return text
        }
        guard isInvalid else { return outcome }
        return .rejected(ImportRejection(line: record.line, reason: "the row \(records.textFault)"))
    }

    private mutating func readHeader(_ record: CSVReader.Record) throws {
        let titles = (0..<record.count).map { (record.text($0) ?? "").trimmed }
        try fileColumns.setHeader(titles)
        let found = fileColumns.found
        for needed in [ImportColumn.sku, .name] where !found.contains(needed) {
            let name = options.title(of: needed)
            throw fileColumns.missing(
                name,
                "the file has no column “\(name)”; rename the column, or map it (command line: --map \(needed.rawValue)=NAME)"
            )
        }
        if !found.contains(.store), options.store == nil {
            throw fileColumns.missing(
                "store",
                "the file has no column “store”; rename the column, map it (command line: --map store=NAME), or set the store of all rows"
            )
        }
        width = record.count
        titled = (titles.lastIndex { !$0.isEmpty } ?? -1) + 1
        header = record.csv
        options.titles = Dictionary(
            uniqueKeysWithValues: found.compactMap { column in fileColumns.title(of: column).map { (column, $0) } }
        )
        warnAboutColumns()
        rows = ImportRowReader(options, sizes: sizes)
    }

    private mutating func warnAboutColumns() {
        guard options.profileName == nil else { return warnAboutMissing() }
        let unused = fileColumns.unused.filter { !RejectedRow.columns.contains($0) }
        guard !unused.isEmpty else { return }
        warnings.append(
            "ignored columns: \(unused.joined(separator: ", ").prefix(1000)); rename them to import them (command line: --map)"
        )
    }

    private mutating func warnAboutMissing() {
        let missing = fileColumns.missing
        guard options.profileName != nil, !missing.isEmpty else { return }
        warnings.append("the file lacks columns of the profile: \(missing.joined(separator: ", "))")
    }

    // MARK: - Rows that name their columns

    private mutating func check(_ line: Int, _ bytes: [UInt8]) -> Event {
        do throws(ImportRejection) { return try readLine(line, bytes) } catch { return .rejected(error) }
    }

    private mutating func readLine(_ line: Int, _ bytes: [UInt8]) throws(ImportRejection) -> Event {
        let value = RejectedRow.removingReasons(try RecordReader.value(of: bytes, line: line))
        guard case .object(let members) = value else {
            throw ImportRejection(line: line, reason: "is not a JSON object")
        }
        var fields: [Int: String] = [:]
        var forms = forms
        for member in members {
            guard let index = fileColumns.index(of: member.name) else {
                if member.value == .null || options.profileName != nil { continue }
                throw ImportRejection(line: line, column: member.name, reason: "is not an import column")
            }
            guard fields[index] == nil else {
                throw ImportRejection(line: line, column: member.name, reason: "is in the row twice")
            }
            switch member.value {
            case .null: continue
            case .string(let text): fields[index] = text
            case .number(let digits):
                fields[index] = ExactDecimal.plain(jsonNumber: digits)
                for column in fileColumns.amounts[index] ?? [] { forms.setNumber(column) }
            case .bool(let flag): fields[index] = flag ? "true" : "false"
            case .array(let values) where fileColumns.indexes(of: .tags).contains(index):
                fields[index] = try tags(values, member.name, line)
            case .object where fileColumns.indexes(of: .attributes).contains(index):
                fields[index] = member.value.text
            case .array, .object:
                throw ImportRejection(line: line, column: member.name, reason: "must be a string or a number")
            }
        }
        return check(line, forms) { fields[$0] }
    }

    private func tags(_ values: [JSONValue], _ name: String, _ line: Int) throws(ImportRejection) -> String {
        var tags: [String] = []
        for value in values {
            guard case .string(let tag) = value, Product.isTag(tag) else {
                throw ImportRejection(line: line, column: name, value: value.text, reason: "must be \(Product.tagRule)")
            }
            tags.append(tag)
        }
        let separator = options.profile.separators[.tags] ?? "|"
        return tags.map { $0.replacing(separator, with: "\\" + separator) }.joined(separator: separator)
    }

    private mutating func check(_ record: FieldRecord) -> Event {
        var fields: [Int: String] = [:]
        let separators = options.profile.separators.map { (column: $0.key, text: $0.value) }
        // A name without its prefix is another name of an element, unless an element has it.
        let local = record.fields.filter { $0.name.contains(":") }.map {
            (name: FieldRecord.localName($0.name), text: $0.text)
        }
        for (name, text) in record.fields + local {
            guard let index = fileColumns.index(of: name) else { continue }
            guard text.isStreamSafe else {
                return .rejected(
                    ImportRejection(
                        line: record.line,
                        column: name,
                        reason: "has more than 30 combining marks in a row"
                    )
                )
            }
            guard let first = fields[index] else {
                fields[index] = text
                continue
            }
            // Of several elements with one name, the first counts, unless the column can have several values.
            if let separator = separators.first(where: { fileColumns.indexes(of: $0.column).contains(index) }) {
                fields[index] = first + separator.text + text
            }
        }
        return check(record.line, forms) { fields[$0] }
    }
}
