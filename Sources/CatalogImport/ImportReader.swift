internal import JSON
package import Catalog

/// Reads an import file in chunks and emits validated records and rejections. `NamedRowReader` reads files of purchases and prices.
package struct ImportReader {
    /// The header, a valid record, a rejected row, or a row that is not a product.
    package enum Event {
        /// The header of a CSV file, before all rows: its name of each column.
        case header([ImportColumn: String])
        case record(ImportRecord)
        case rejected(ImportRejection)
        /// - Parameters:
        ///   - column: the file's name of the column that shows it.
        ///   - value: the text of the row in that column.
        case skipped(column: String, value: String)
    }

    /// The outcome of a row.
    private struct Outcome {
        var event: Event
        /// The texts of the row's product, by column of the file; nil for a row that is not a variant's.
        var product: [Int: String]?

        init(_ event: Event) { self.event = event }
    }

    private var options: ImportOptions
    private var stores: StoreCurrencies
    private var known = KnownCells()
    private let sizes: SizeContexts
    private let attributes: StoreAttributes
    private var splitter: RecordSplitter
    private var recordReader: ImportRecordReader?
    private var fileColumns: FileColumns
    private var width = 0
    /// The number of columns without the untitled ones at the end.
    private var titled = 0
    private var header: String?
    private var forms: FieldForms
    /// Warnings about the file as a whole.
    package private(set) var warnings: [String] = []
    /// The paths of shelves that may be several, because a title between two others has a comma.
    private var doubtfulPaths = (count: 0, first: "")

    /// - Parameters:
    ///   - currencies: the currencies of existing stores.
    ///   - sizes: the facts about existing stores and shelves that decide the meaning of words in sizes.
    ///   - attributes: the declared attributes of stores.
    package init(
        _ options: ImportOptions,
        currencies: [CatalogKey: Currency],
        sizes: SizeContexts = SizeContexts(),
        attributes: StoreAttributes = StoreAttributes()
    ) {
        self.options = options
        stores = StoreCurrencies(currencies: currencies)
        self.sizes = sizes
        self.attributes = attributes
        forms = FieldForms(options)
        fileColumns = FileColumns(
            options.profile,
            declared: attributes,
            store: options.store,
            hasNamedProfile: options.profileName != nil
        )
        let sources = options.requiredColumns.map(options.profile.mapping.source)
        splitter = RecordSplitter(
            options.format,
            options.dialect,
            recordNames: options.profile.recordNames,
            hasLists: options.hasQuotedLists
        ) { titles in
            let keys = titles.map(ColumnTitle.key)
            return sources.allSatisfy { source in
                source.alternatives.contains { $0.contains { title in keys.contains(where: title.matches) } }
            }
        }
        if options.format != .csv {
            fileColumns.setNoHeader()
            recordReader = ImportRecordReader(options, sizes: sizes, attributes: attributes)
        }
    }

    /// The columns of the file; those of the mapping for a file without a header, where missing members are empty.
    package var columns: Set<ImportColumn> { recordReader == nil ? [] : fileColumns.found }

    /// Whether a column has all attributes of a product.
    package var hasAllAttributes: Bool { fileColumns.resolved.hasAllAttributes }

    /// Returns the names of the attributes that have columns of their own, for products of a store.
    package func attributeNames(of store: CatalogKey) -> [String] { fileColumns.attributeNames(of: store) }

    /// How the file is written, as far as it is known.
    package var dialect: FileDialect { splitter.dialect(forms[.price]) }

    /// - Throws: `CatalogError.unprocessable` if the header lacks a required column.
    package mutating func read(_ chunk: UnsafeRawBufferPointer, _ emit: (Event) throws -> Void) throws {
        for batch in try splitter.read(chunk) { try handle(batch, emit) }
    }

    package mutating func end(_ emit: (Event) throws -> Void) throws {
        try handle(try splitter.end(), emit)
        if recordReader == nil { throw CatalogError.unprocessable(field: "file", detail: "the file is empty") }
        if options.format != .csv {
            try fileColumns.checkRequired()
            warnAboutMissing()
        }
        if let warning = splitter.encodingWarning { warnings.insert(warning, at: 0) }
        if forms.hasTagsWithCommas { warnings.append("tags are separated by commas") }
        if doubtfulPaths.count > 0 {
            warnings.append(
                """
                read one shelf where a path has commas, in \(doubtfulPaths.count.rows), such as \
                \(doubtfulPaths.first); if these are several shelves, put quotes around each
                """
            )
        }
    }

    private mutating func handle(_ events: [RecordSplitter.Event], _ emit: (Event) throws -> Void) throws {
        for (index, event) in events.enumerated() {
            if recordReader == nil, case .csv(let record) = event {
                try readHeader(record)
                try emit(.header(options.titles))
                forms.add(events[(index + 1)...], fileColumns)
            } else {
                try handle(event, emit)
            }
        }
    }

    private mutating func handle(_ event: RecordSplitter.Event, _ emit: (Event) throws -> Void) throws {
        // Parsed before `finish`, which copies the reader: a change of a copy would copy all known cells.
        switch event {
        case .malformed(let line, let reason):
            guard recordReader != nil else {
                throw CatalogError.unprocessable(
                    field: "file",
                    detail: "invalid header on line \(line): \(reason)"
                )
            }
            var rejection = ImportRejection(line: line, reason: reason)
            rejection.keep(row: nil, header: header, separator: splitter.layout?.separator)
            try emit(.rejected(rejection))
        case .csv(let record):
            let outcome = parse(record)
            try finish(outcome, emit) { texts in
                NamedRow.RawRow(
                    row: record.csv(filling: texts, replacing: fileColumns.referenceColumn),
                    header: header,
                    separator: record.separator
                )
            }
        case .line(let line, let bytes):
            let outcome = parse(line, bytes)
            try finish(outcome, emit) { texts in
                guard bytes.count <= CSVReader.recordLimit else { return nil }
                return NamedRow.RawRow(row: RejectedRow.row(bytes, filling: named(texts), replacing: referenceTitle))
            }
        case .fields(let record):
            let outcome = parse(record)
            try finish(outcome, emit) { texts in
                NamedRow.RawRow(
                    row: record.filling(named(texts), replacing: referenceTitle).xml(
                        named: options.profile.recordNames[0]
                    )
                )
            }
        }
    }

    /// The file's name for the column with the references of variants.
    private var referenceTitle: String? { fileColumns.referenceColumn.map { fileColumns.titles[$0] } }

    /// Returns texts by the names of their columns, in the order of the names.
    private func named(_ texts: [Int: String]) -> [(name: String, text: String)] {
        texts.map { (name: fileColumns.titles[$0.key], text: $0.value) }.sorted { $0.name < $1.name }
    }

    /// Emits the outcome of a row, with the raw row if that is wanted.
    ///
    /// - Parameter raw: returns the raw row, with texts in blank fields, and a replaced reference.
    private func finish(
        _ outcome: Outcome,
        _ emit: (Event) throws -> Void,
        _ raw: ([Int: String]) -> NamedRow.RawRow?
    ) throws {
        func keep(_ rejection: inout ImportRejection) {
            rejection.keep(raw(outcome.product ?? [:]))
            rejection.isCompleteVariant = outcome.product != nil
        }
        switch outcome.event {
        case .header, .skipped: try emit(outcome.event)
        case .rejected(var rejection):
            if options.keepsRejectedRows { keep(&rejection) }
            try emit(.rejected(rejection))
        case .record(var record):
            try checkStore(of: record)
            if options.keepsRejectedRows, var rejection = record.unreadableStock {
                keep(&rejection)
                record.unreadableStock = rejection
            }
            try emit(.record(record))
        }
    }

    /// Counts a row with a path such as `Drinks > Juice, Offers > New`, in a file whose shelves have another separator.
    private mutating func countDoubtfulPath(of record: ImportRecord) {
        guard let path = options.profile.shelfPathSeparator, options.hasQuotedLists,
            let first = record.shelves.first(where: {
                $0.count > 2 && $0[1..<($0.count - 1)].contains { $0.contains(",") }
            })
        else { return }
        if doubtfulPaths.count == 0 {
            doubtfulPaths.first = "“\(first.joined(separator: " \(path) "))” on line \(record.line)"
        }
        doubtfulPaths.count += 1
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
    private mutating func parse(
        _ line: Int,
        _ forms: FieldForms,
        isCompleteVariant: Bool,
        _ cell: (Int) -> String?
    ) -> Outcome {
        var product: [Int: String]? = isCompleteVariant ? [:] : nil
        var outcome: Outcome
        do throws(ImportRejection) {
            guard fileColumns.hasConditions else { return Outcome(.record(try read(line, forms, cell))) }
            if !isCompleteVariant { product = try fileColumns.product(of: line, cell) }
            if let skipped = fileColumns.reasonToSkip(cell, product) {
                return Outcome(.skipped(column: skipped.column, value: skipped.value))
            }
            let reference = fileColumns.referenceColumn
            let record = try read(line, forms) { index in
                if index == reference, let text = product?[index] { return text }
                guard let text = cell(index), !text.trimmed.isEmpty else { return product?[index] }
                return text
            }
            outcome = Outcome(.record(record))
        } catch {
            outcome = Outcome(.rejected(error))
        }
        outcome.product = product
        return outcome
    }

    private mutating func read(
        _ line: Int,
        _ forms: FieldForms,
        _ cell: (Int) -> String?
    ) throws(ImportRejection) -> ImportRecord {
        let columns = fileColumns.resolved
        let record = try recordReader!.read(
            line: line,
            forms: forms,
            stores: &stores,
            known: &known,
            columns: columns,
            cell
        )
        countDoubtfulPath(of: record)
        return record
    }

    // MARK: - CSV

    private mutating func parse(_ record: CSVReader.Record) -> Outcome {
        if let reason = record.fault(width: width, titled: titled) {
            return Outcome(.rejected(ImportRejection(line: record.line, reason: reason)))
        }
        var isInvalid = false
        let isComplete = fileColumns.variantColumn.map { record.text($0) == RejectedRow.complete } ?? false
        var outcome = parse(record.line, forms, isCompleteVariant: isComplete) { index in
            guard index < record.count else { return nil }
            let text = record.text(index)
            if text == nil { isInvalid = true }
            return text
        }
        guard isInvalid else { return outcome }
        outcome.event = .rejected(ImportRejection(line: record.line, reason: "the row \(splitter.textFault)"))
        return outcome
    }

    private mutating func readHeader(_ record: CSVReader.Record) throws {
        let titles = (0..<record.count).map { (record.text($0) ?? "").trimmed }
        try fileColumns.setHeader(titles)
        let found = fileColumns.found
        for needed in [ImportColumn.sku, .name] where !found.contains(needed) {
            let name = options.title(of: needed)
            throw fileColumns.missing(
                name,
                """
                the file has no column “\(name)”; rename the column, map it (command line: --map \(needed.columnName)=NAME), or use \
                the profile of the system that wrote the file
                """
            )
        }
        if options.profileName != nil, !found.contains(.price), let source = options.profile.mapping.columns[.price],
            !source.alternatives.isEmpty
        {
            throw fileColumns.missing(
                options.title(of: .price),
                """
                the file has none of the columns of prices that the profile knows, so it may be in another language; map the column \
                (command line: --map price=NAME), or write a profile with the titles of the file
                """
            )
        }
        if !found.contains(.store), options.store == nil {
            throw fileColumns.missing(
                "store",
                "the file has no column “store”; rename the column, map it (command line: --map store=NAME), or set the store of all rows (command line: --store)"
            )
        }
        width = record.count
        titled = (titles.lastIndex { !$0.isEmpty } ?? -1) + 1
        header = record.csv
        options.titles = Dictionary(
            uniqueKeysWithValues: found.compactMap { column in fileColumns.title(of: column).map { (column, $0) } }
        )
        warnAboutColumns()
        recordReader = ImportRecordReader(options, sizes: sizes, attributes: attributes)
    }

    private mutating func warnAboutColumns() {
        if options.profileName != nil { warnAboutMissing() }
        let unused = fileColumns.unused.filter { !RejectedRow.columns.contains($0) }
        guard !unused.isEmpty else { return }
        let remedy =
            options.profileName == nil
            ? "rename them to import them (command line: --map)" : "the profile does not use them"
        warnings.append("ignored columns: \(unused.joined(separator: ", ").prefix(1000)); \(remedy)")
    }

    private mutating func warnAboutMissing() {
        let missing = fileColumns.missing
        guard options.profileName != nil, !missing.isEmpty else { return }
        warnings.append("the file lacks columns of the profile: \(missing.joined(separator: ", "))")
    }

    // MARK: - Rows that name their columns

    private mutating func parse(_ line: Int, _ bytes: [UInt8]) -> Outcome {
        do throws(ImportRejection) { return try readLine(line, bytes) } catch { return Outcome(.rejected(error)) }
    }

    private mutating func readLine(_ line: Int, _ bytes: [UInt8]) throws(ImportRejection) -> Outcome {
        let whole = try RecordSplitter.value(of: bytes, line: line)
        let value = RejectedRow.removingReasons(whole)
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
                for attribute in fileColumns.attributes[index] ?? [] { forms.setNumber(attribute: attribute) }
            case .bool(let flag): fields[index] = flag ? "true" : "false"
            case .array(let values) where fileColumns.indexes(of: .tags).contains(index):
                fields[index] = try tags(values, member.name, line)
            case .object where fileColumns.indexes(of: .attributes).contains(index):
                fields[index] = member.value.text
            case .array where fileColumns.wholeAttributes.contains(index):
                fields[index] = forms.set(member.value)
            case .object where fileColumns.wholeAttributes.contains(index):
                fields[index] = forms.set(member.value)
            case .array, .object:
                throw ImportRejection(line: line, column: member.name, reason: "must be a string or a number")
            }
        }
        return parse(line, forms, isCompleteVariant: RejectedRow.isCompleteVariant(whole)) { fields[$0] }
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

    private mutating func parse(_ record: FieldRecord) -> Outcome {
        var fields: [Int: String] = [:]
        let separators = options.profile.separators.map { (column: $0.key, text: $0.value) }
        // A name without its prefix is another name of an element, unless an element has it.
        let local = record.fields.filter { $0.name.contains(":") }.map {
            (name: FieldRecord.localName($0.name), text: $0.text)
        }
        let names = Set(record.fields.map(\.name))
        for (name, text) in record.fields + local.filter({ !names.contains($0.name) }) {
            guard let index = fileColumns.index(of: name) else { continue }
            guard text.isStreamSafe else {
                return Outcome(
                    .rejected(
                        ImportRejection(
                            line: record.line,
                            column: name,
                            reason: "has more than 30 combining marks in a row"
                        )
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
            } else if let separator = fileColumns.joins[index] {
                fields[index] = first + separator + text
            }
        }
        let isComplete = record.fields.contains { $0 == (RejectedRow.variantColumn, RejectedRow.complete) }
        return parse(record.line, forms, isCompleteVariant: isComplete) { fields[$0] }
    }
}
