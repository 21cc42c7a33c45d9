internal import Catalog
internal import CatalogImport
internal import Collation
internal import LibPQ
internal import Ordering

/// A running import on one connection, whose thread also parses and validates the file. A second connection helps to apply the file.
///
/// A class, because the store data grows with the file and must not be copied.
final class ImportSession {
    let connection: PostgresConnection
    let configuration: PostgresConfiguration
    private(set) var options: ImportOptions
    let id: ImportID
    let lookup: ShelfLookup
    var columns = WrittenColumns([], readsSizeFromName: false)
    var stores: [CatalogKey: StoreImport] = [:]
    var newShelves = 0
    /// The keys of the stores, by the ids under which their rows are staged.
    var storeKeys: [Int32: CatalogKey] {
        Dictionary(uniqueKeysWithValues: stores.compactMap { key, store in store.id.map { ($0, key) } })
    }
    /// The number of staged rows that are left after the comparison.
    var changedRows = 0
    var hasRepeats = false
    var summary = ImportSummary()
    private var findings: RowFindings
    private var sizes = SizeContexts()
    /// The rows whose availability was not understood, by line; the first ones.
    private(set) var unreadableStock: [Int: ImportRejection] = [:]
    private static let unreadableStockLimit = 10_000
    /// The line of each record of XML, of which one line may have many.
    private var linesOfRecords: [Int32] = []
    /// Stores that do not exist, and that the import may not create.
    private var unknownStores: Set<CatalogKey> = []
    private static let unknownStoreLimit = 100
    /// Rows of stores that have no id yet.
    private var waiting: [(record: ImportRecord, number: Int, shelves: [CatalogKey])] = []
    /// The stores of the file's rows.
    private var storesOfRows: Set<CatalogKey> = []
    /// Whether a column has all attributes of products.
    private(set) var hasAllAttributes = false
    /// The names of the attributes that have columns of their own, by the stores of the file's rows.
    private(set) var attributeNames: [CatalogKey: [String]] = [:]
    /// The attributes by which the file is read.
    private(set) var declared = StoreAttributes()
    var mistyped = MistypedAttributes()
    /// Whether staged rows have attributes of stored products that the file does not have.
    var hasMergedAttributes = false
    /// The numbers of the rows in the preview.
    private(set) var previewNumbers: [Int] = []

    /// The state of one store in the file.
    struct StoreImport: Sendable {
        /// The id that the store has, or will have; nil if it has none yet.
        var id: Int32?
        var currency: Currency
        var pricing = UnitPricing.eu
        /// The language of its sort keys.
        var language: String
        var collator: LanguageCollator
        var exists: Bool
        /// How often the store was deleted before; nil for a new one.
        var deletions: Int32?
        var shelves: ShelfKeyGenerator
        /// Placements (shelf, sku) and products that are missing from the file and will be removed.
        var stalePlacements: [(Int32, String)] = []
        var staleProducts: [String] = []
    }

    /// - Parameter configuration: the configuration of the second connection.
    init(
        _ connection: PostgresConnection,
        _ configuration: PostgresConfiguration,
        _ id: ImportID,
        _ options: ImportOptions,
        _ database: Database
    ) {
        lookup = ShelfLookup(database: database)
        self.connection = connection
        self.configuration = configuration
        self.id = id
        self.options = options
        findings = RowFindings(previewLimit: options.isDryRun ? ImportSummary.previewLimit : 0)
    }

    // MARK: - Staging

    /// Registers the import and deletes the rows of dead imports.
    func begin() async throws {
        try await transaction { [id] connection in
            try connection.execute(ImportStatements.sweepRuns)
            // A run is registered before it stages rows, so staged rows without a run are of a dead one.
            let staged = try connection.query(ImportStatements.stagedRuns) { Set(try $0.map { try $0.text(0) }) }
            let alive = try connection.query(ImportStatements.runs) { Set(try $0.map { try $0.text(0) }) }
            let dead = staged.subtracting(alive)
            if !dead.isEmpty { try connection.execute(ImportStatements.sweepRows, [.textArray(dead.sorted())]) }
            try connection.execute(ImportStatements.register, [id.parameter])
        }
    }

    /// Deletes an import's staged rows in a transaction.
    static func end(_ id: ImportID, _ connection: isolated PostgresConnection) throws {
        try connection.transaction { connection in
            try connection.execute(ImportStatements.deleteRows, [id.parameter])
            try connection.execute(ImportStatements.deleteRun, [id.parameter])
        }
    }

    func stage<Chunks: AsyncSequence>(
        _ chunks: Chunks,
        _ onReject: (ImportRejection) throws -> Void,
        _ onProgress: (Int) -> Void
    ) async throws where Chunks.Element == [UInt8] {
        try await loadStores()
        if let store = options.store, stores[store] == nil, !options.createsStores {
            throw CatalogError.unknownStores([store], known: stores.keys)
        }
        var reader = ImportReader(
            options,
            currencies: stores.mapValues(\.currency),
            sizes: sizes,
            attributes: declared
        )
        try await connection.perform { connection in
            try connection.begin()
            try connection.beginCopyIn(ImportStatements.stage)
        }
        do {
            var rows = CopyText()
            for try await chunk in chunks {
                try Task.checkCancellation()
                // Process small slices, so that memory use does not depend on the chunk size.
                for start in stride(from: 0, to: chunk.count, by: PostgresConnection.copyChunkSize) {
                    let step = chunk[start..<min(chunk.count, start + PostgresConnection.copyChunkSize)]
                    try step.withUnsafeBytes { bytes in
                        try reader.read(bytes) { try handle($0, &rows, onReject) }
                    }
                    try await writeWaiting(to: &rows)
                    try await flush(&rows)
                }
                onProgress(summary.read)
            }
            try reader.end { try handle($0, &rows, onReject) }
            try await writeWaiting(to: &rows)
            try await flush(&rows, isLast: true)
            try await connection.perform { connection in
                _ = try connection.endCopy()
                try connection.commit()
            }
        } catch {
            await abortCopy()
            throw error
        }
        guard unknownStores.isEmpty else {
            throw CatalogError.unknownStores(unknownStores, known: stores.keys)
        }
        summary.warnings = reader.warnings
        summary.dialect = reader.dialect
        columns = WrittenColumns(reader.columns, readsSizeFromName: options.profile.readsSizeFromName)
        hasAllAttributes = reader.hasAllAttributes
        attributeNames = Dictionary(
            uniqueKeysWithValues: storesOfRows.map { ($0, reader.attributeNames(of: $0)) }
        )
        warnAboutStores(hasCurrency: reader.columns.contains(.currency))
        findings.end(&summary)
    }

    /// Use a separate task, because the import's task may be cancelled.
    private func abortCopy() async {
        await Task { [connection] in
            try? await connection.perform(within: TimeLimit.lookup.duration) { connection in
                connection.abortCopy()
                connection.rollback()
            }
        }.value
    }

    /// Ends the import with an error. A dry run notes it, and goes on.
    func refuse(_ error: CatalogError) throws(CatalogError) {
        guard options.isDryRun else { throw error }
        summary.refusal = summary.refusal ?? error
    }

    /// - Throws: `unprocessable` if more rows were rejected than the options allow, or all.
    func checkRejected() throws(CatalogError) {
        do throws(CatalogError) {
            try ImportOptions.checkRejected(
                summary.rejected,
                of: summary.read - summary.skipped,
                limit: options.rejectedPercentLimit
            )
        } catch {
            try refuse(error)
        }
    }

    /// Adds warnings about the currencies of new stores that neither the file nor the options state.
    private func warnAboutStores(hasCurrency: Bool) {
        guard !hasCurrency, options.currency == nil, options.profile.currency == nil else { return }
        let guessed = stores.filter { !$0.value.exists }
        for (key, store) in guessed.sorted(by: { $0.key < $1.key }) {
            summary.warnings.append(
                """
                store “\(key)” is new; its currency is \(store.currency.code), set another with currency (command line: --currency)
                """
            )
        }
    }

    private func flush(_ rows: inout CopyText, isLast: Bool = false) async throws {
        guard rows.bytes.count >= PostgresConnection.copyChunkSize || isLast, !rows.bytes.isEmpty else { return }
        let bytes = rows.bytes
        rows.removeAll()
        try await connection.perform { connection in try bytes.withUnsafeBytes { try connection.sendCopy($0) } }
    }

    private func handle(
        _ event: ImportReader.Event,
        _ rows: inout CopyText,
        _ onReject: (ImportRejection) throws -> Void
    ) throws {
        if case .header(let titles) = event { options.titles = titles } else { summary.read += 1 }
        switch event {
        case .header: break
        case .rejected(let rejection): try reject(rejection, onReject)
        case .skipped(let column, let value): findings.skip(column: column, value: value, in: &summary)
        case .record(let record) where stores[record.store] == nil && !options.createsStores:
            if unknownStores.count < Self.unknownStoreLimit { unknownStores.insert(record.store) }
        case .record(let record):
            let number = number(of: record)
            storesOfRows.insert(record.store)
            try mistyped.add(record, number)
            if stores[record.store] == nil { stores[record.store] = newStore(record.store, record.currency) }
            let shelves = try shelfKeys(record, &stores[record.store]!)
            findings.add(record, on: shelves.first, stores[record.store]!.pricing, to: &summary)
            if previewNumbers.count < summary.preview.count { previewNumbers.append(number) }
            if let unreadable = record.unreadableStock, unreadableStock.count < Self.unreadableStockLimit {
                unreadableStock[number] = unreadable
            }
            if stores[record.store]?.id == nil {
                waiting.append((record, number, shelves))
            } else {
                write(record, number, shelves: shelves, to: &rows)
            }
        }
    }

    /// Counts a rejected row, and ends the import if that is an error.
    func reject(_ rejection: ImportRejection, _ onReject: (ImportRejection) throws -> Void) throws {
        summary.rejected += 1
        try onReject(rejection)
        if options.onError == .abort {
            throw CatalogError.unprocessable(
                field: "file",
                detail: "\(rejection.description); nothing was imported. Correct the row, or skip invalid rows"
            )
        }
    }

    /// Reserves ids for the stores that have none, and adds their rows.
    private func writeWaiting(to rows: inout CopyText) async throws {
        guard !waiting.isEmpty else { return }
        try await flush(&rows, isLast: true)
        let new = Set(waiting.map(\.record.store)).sorted()
        let ids = try await connection.perform { connection in
            _ = try connection.endCopy()
            let ids = try StoreLifecycle.newIDs(new.count, connection)
            try connection.beginCopyIn(ImportStatements.stage)
            return ids
        }
        for (key, id) in zip(new, ids) { stores[key]?.id = id }
        for (record, number, shelves) in waiting { write(record, number, shelves: shelves, to: &rows) }
        waiting = []
    }

    /// Returns the number by which a row is staged: its line, but the number of the record in XML.
    private func number(of record: ImportRecord) -> Int {
        guard options.format == .xml else { return record.line }
        linesOfRecords.append(Int32(clamping: record.line))
        return linesOfRecords.count
    }

    /// Returns the line of a row with the number by which it is staged.
    func line(of number: Int) -> Int {
        options.format == .xml ? Int(linesOfRecords[number - 1]) : number
    }

    private func newStore(_ key: CatalogKey, _ currency: Currency) -> StoreImport {
        let language = Store.imported(key, currency).language
        return StoreImport(
            id: nil,
            currency: currency,
            language: language,
            collator: .of(language),
            exists: false,
            shelves: ShelfKeyGenerator(existing: [], usesPaths: options.profile.shelfPathSeparator != nil)
        )
    }

    /// Returns the keys of a row's shelves.
    ///
    /// - Throws: `unprocessable` for more new shelves than the options allow.
    private func shelfKeys(_ record: ImportRecord, _ store: inout StoreImport) throws -> [CatalogKey] {
        var keys: [CatalogKey] = []
        for path in record.shelves {
            let known = store.shelves.created.count
            let key = store.shelves.key(for: path)
            if !keys.contains(key) { keys.append(key) }
            newShelves += store.shelves.created.count - known
            guard newShelves <= options.newShelfLimit else {
                throw CatalogError.unprocessable(
                    field: options.title(of: .shelf),
                    detail: """
                        line \(record.line): the file would create more than \(options.newShelfLimit) new shelves, \
                        the last one “\(path.last!.prefix(64))”. Check which column is the shelf, or raise max_new_shelves \
                        (command line: --max-new-shelves)
                        """
                )
            }
        }
        return keys
    }

    /// Writes a row for each shelf of a product, or one without a shelf.
    private func write(_ record: ImportRecord, _ number: Int, shelves: [CatalogKey], to rows: inout CopyText) {
        let keys = SortKeys(of: record.product, stores[record.store]!.collator)
        guard !shelves.isEmpty else { return write(record, keys, number, shelf: nil, part: 0, to: &rows) }
        for (part, shelf) in shelves.enumerated() { write(record, keys, number, shelf: shelf, part: part, to: &rows) }
    }

    private func write(
        _ record: ImportRecord,
        _ keys: SortKeys,
        _ number: Int,
        shelf: CatalogKey?,
        part: Int,
        to rows: inout CopyText
    ) {
        rows.field(stores[record.store]!.id!)
        rows.raw(id.text)
        rows.field(number)
        rows.field(part)
        rows.field(shelf?.text)
        rows.field(record.product.sku.text)
        for column in ProductColumn.staged {
            if column == .inStock && record.unreadableStock != nil || column == .attributes && !record.hasAttributes {
                rows.null()
            } else {
                rows.field(column.value(of: record.product))
            }
        }
        for key in keys.values { rows.field(key) }
        rows.field(record.popularity)
        rows.field(record.position?.0)
        rows.field(record.position?.1)
        rows.field(record.keepsOtherAttributes)
        rows.endRow()
    }

    private func loadStores() async throws {
        let (known, shelves, declarations) = try await transaction { [store = options.store] connection in
            (
                try connection.query(ImportStatements.stores) {
                    try $0.map {
                        (
                            try $0.text(0), try $0.text(1), try $0.int4(2), try $0.text(3), try $0.text(4),
                            try $0.int4(5), try $0.text(6)
                        )
                    }
                },
                try connection.query(
                    ImportStatements.allShelfTitles
                ) {
                    try $0.map {
                        (try $0.text(0), try $0.text(1), try $0.text(2), try $0.int2OrNil(3), try $0.textOrNil(4))
                    }
                },
                try PostgresAttributeStore.declarations(of: store, connection)
            )
        }
        declared = StoreAttributes(
            deployment: AttributeSet(deployment: declarations.deployment),
            stores: declarations.stores.mapValues { AttributeSet(deployment: declarations.deployment, store: $0) }
        )
        var shelvesByStore: [String: [(key: CatalogKey, title: String, parent: CatalogKey?)]] = [:]
        for (store, key, title, ordinal, parent) in shelves {
            if let ordinal, Dimension.allCases.indices.contains(Int(ordinal)) {
                let dimension = Dimension.allCases[Int(ordinal)]
                for name in [key, title] { sizes.add(dimension, of: name, in: try CatalogKey(stored: store)) }
            }
            shelvesByStore[store, default: []].append(
                (try CatalogKey(stored: key), title, try parent.map { try CatalogKey(stored: $0) })
            )
        }
        for (key, code, id, pricing, locale, deletions, language) in known {
            let pricing = UnitPricing(rawValue: pricing) ?? .eu
            sizes.add(try CatalogKey(stored: key), pricing: pricing, locale: locale)
            guard let currency = Currency(code) else {
                throw PostgresError(
                    .decoding,
                    "store \(key) has the currency \(code), which this version does not support"
                )
            }
            stores[try CatalogKey(stored: key)] = StoreImport(
                id: id,
                currency: currency,
                pricing: pricing,
                language: language,
                collator: .of(language),
                exists: true,
                deletions: deletions,
                shelves: ShelfKeyGenerator(
                    existing: shelvesByStore[key] ?? [],
                    usesPaths: options.profile.shelfPathSeparator != nil
                )
            )
        }
    }
}

extension Store {
    /// A store that an import creates.
    static func imported(_ key: CatalogKey, _ currency: Currency) -> Store {
        Store(key: key, title: key.text, currency: currency)
    }
}
