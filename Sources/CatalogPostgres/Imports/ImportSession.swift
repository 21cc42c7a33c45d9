internal import Catalog
internal import CatalogJSON
internal import LibPQ
internal import Ordering

/// A running import on one connection, whose thread also parses and validates the file; a second one helps to apply it.
///
/// A class, because the store data grows with the file and must not be copied.
final class ImportSession {
    let connection: PostgresConnection
    let configuration: PostgresConfiguration
    let options: ImportOptions
    let id: ImportID
    let lookup: ShelfLookup
    /// Whether each store is on one shard of several servers.
    let isDistributed: Bool
    var columns = ImportColumns([], readsSizeFromName: false)
    var stores: [CatalogKey: StoreImport] = [:]
    var newShelves = 0
    var hasRepeats = false
    var summary = ImportSummary()
    private var emptied = EmptiedFields()
    private var outliers = UnitPriceOutliers()
    private var sizes = SizeContexts()
    private var firstDifference: ImportRejection?
    private var firstLines: (zeroPrice: Int?, suspiciousSKU: Int?)
    /// The rows whose availability was not understood, by line; the first ones.
    private var unreadableStock: [Int: ImportRejection] = [:]
    private static let unreadableStockLimit = 10_000
    /// Stores that do not exist, and that the import may not create.
    private var unknownStores: Set<CatalogKey> = []
    private static let unknownStoreLimit = 100
    /// Rows of stores that have no id yet.
    private var waiting: [(record: ImportRecord, shelf: CatalogKey?)] = []

    /// The state of one store in the file.
    struct StoreImport: Sendable {
        /// The id that the store has, or will have; nil if it has none yet.
        var id: Int32?
        var currency: Currency
        var pricing = UnitPricing.eu
        var exists: Bool
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
        _ database: Database,
        isDistributed: Bool
    ) {
        lookup = ShelfLookup(database: database)
        self.isDistributed = isDistributed
        self.connection = connection
        self.configuration = configuration
        self.id = id
        self.options = options
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

    func stage<Pieces: AsyncSequence>(
        _ pieces: Pieces,
        _ onReject: (ImportRejection) throws -> Void,
        _ onProgress: (Int) -> Void
    ) async throws where Pieces.Element == [UInt8] {
        try await loadStores()
        if let store = options.store, stores[store] == nil, !options.createsStores {
            throw CatalogError.unknownStores([store], known: stores.keys)
        }
        var reader = ImportReader(options, currencies: stores.mapValues(\.currency), sizes: sizes)
        try await connection.perform { connection in
            try connection.begin()
            try connection.beginCopyIn(ImportStatements.stage)
        }
        do {
            var rows = CopyText()
            for try await piece in pieces {
                try Task.checkCancellation()
                // Process small slices, so that memory use does not depend on the chunk size.
                for start in stride(from: 0, to: piece.count, by: PostgresConnection.copyChunkSize) {
                    let step = piece[start..<min(piece.count, start + PostgresConnection.copyChunkSize)]
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
        summary.warnings = reader.warnings + emptied.warnings
        if let firstDifference {
            summary.warnings.append(
                "sizes differ from names in \(summary.sizesDifferent) rows: \(firstDifference.description)"
            )
        }
        summary.fieldsEmptied = emptied.count
        summary.dialect = reader.reading
        columns = ImportColumns(reader.columns, readsSizeFromName: options.readsSizeFromName)
        warnAboutValues()
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

    /// - Throws: `unprocessable` if more rows were rejected than the options allow, or all.
    func checkRejected() throws {
        try ImportOptions.checkRejected(summary.rejected, of: summary.read, limit: options.rejectedPercentLimit)
    }

    /// Adds warnings about implausible values, with the first line of each kind.
    private func warnAboutValues() {
        func warn(_ count: Int, _ line: Int?, _ text: String) {
            guard count > 0, let line else { return }
            summary.warnings.append("\(text) in \(count) row\(count == 1 ? "" : "s"), first on line \(line)")
        }
        warn(summary.pricesZero, firstLines.zeroPrice, "price 0")
        warn(
            summary.skusSuspicious,
            firstLines.suspiciousSKU,
            "sku that ends in zeros, as if a spreadsheet had rounded it,"
        )
        let (count, warnings) = outliers.find()
        summary.unitPricesImplausible = count
        summary.warnings += warnings
        outliers = UnitPriceOutliers()
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
        summary.read += 1
        switch event {
        case .rejected(let rejection): try reject(rejection, onReject)
        case .record(let record) where stores[record.store] == nil && !options.createsStores:
            if unknownStores.count < Self.unknownStoreLimit { unknownStores.insert(record.store) }
        case .record(let record):
            if record.product.size == nil {
                summary.sizesUnknown += 1
                summary.unknownSizes.add(record.unknownSize)
            }
            if let difference = record.sizeDifference {
                summary.sizesDifferent += 1
                firstDifference = firstDifference ?? difference
            }
            for invalid in record.emptied { emptied.add(invalid) }
            summary.decimalsRounded += record.roundedDecimals
            if record.product.size?.isApproximate == true { summary.sizesApproximate += 1 }
            if record.wasRounded { summary.pricesRounded += 1 }
            count(record)
            let shelf = try shelfKey(record)
            if let shelf, let store = stores[record.store] {
                outliers.add(
                    line: record.line,
                    record.product,
                    on: shelf,
                    of: record.store,
                    pricing: store.pricing,
                    currency: store.currency
                )
            }
            if stores[record.store]?.id == nil {
                waiting.append((record, shelf))
            } else {
                write(record, shelf: shelf, to: &rows)
            }
        }
    }

    private func reject(_ rejection: ImportRejection, _ onReject: (ImportRejection) throws -> Void) throws {
        summary.rejected += 1
        try onReject(rejection)
        if options.onError == .abort {
            throw CatalogError.unprocessable(
                field: "file",
                detail: "\(rejection.description); nothing was imported. Correct the row, or skip invalid rows"
            )
        }
    }

    /// Counts what a record has that is implausible or was not applied.
    private func count(_ record: ImportRecord) {
        if record.product.priceMinor == 0 {
            summary.pricesZero += 1
            firstLines.zeroPrice = firstLines.zeroPrice ?? record.line
        }
        if SKUText.isSuspicious(record.product.sku.text) {
            summary.skusSuspicious += 1
            firstLines.suspiciousSKU = firstLines.suspiciousSKU ?? record.line
        }
        switch record.promotion {
        case .current: break
        case .future: summary.promotionsFuture += 1
        case .expired: summary.promotionsExpired += 1
        }
        summary.imagesIgnored += record.ignoredImages
        if let unreadable = record.unreadableStock {
            summary.stockKept += 1
            if unreadableStock.count < Self.unreadableStockLimit { unreadableStock[record.line] = unreadable }
        }
    }

    /// Gives rows whose availability was not understood that of the stored product, and rejects the rows of new products.
    func resolveStock(_ onReject: (ImportRejection) throws -> Void) async throws {
        guard summary.stockKept > 0 else { return }
        let lines = try await transaction { [id] connection in
            try connection.execute(ImportStatements.keepStock, [id.parameter])
            return try connection.query(ImportStatements.dropUnreadableStock, [id.parameter]) {
                try $0.map { Int(try $0.int8(0)) }
            }
        }
        summary.stockKept -= lines.count
        for line in lines.sorted() {
            let reason = "is not understood, and the product is new"
            var rejection = ImportRejection(line: line, column: options.title(of: .inStock), reason: reason)
            if let known = unreadableStock[line] {
                rejection = ImportRejection(
                    line: line,
                    column: known.column,
                    value: known.value,
                    reason: "\(known.reason); the product is new, so there is no stored value to keep"
                )
                rejection.keep(row: known.row, header: known.header, separator: known.separator)
            }
            try reject(rejection, onReject)
        }
        let rejected = Set(lines)
        let kept = unreadableStock.filter { line, _ in !rejected.contains(line) }.min { $0.key < $1.key }
        if let (_, first) = kept {
            summary.warnings.append(
                "kept the stored availability in \(summary.stockKept) row\(summary.stockKept == 1 ? "" : "s"): \(first.description)"
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
            let ids = try connection.query(ImportStatements.nextStoreIDs, [.int4(Int32(new.count))]) {
                try $0.map { Int32(try $0.int8(0)) }
            }
            try connection.beginCopyIn(ImportStatements.stage)
            return ids
        }
        for (key, id) in zip(new, ids) { stores[key]?.id = id }
        for (record, shelf) in waiting { write(record, shelf: shelf, to: &rows) }
        waiting = []
    }

    /// Returns the key of a row's shelf.
    ///
    /// - Throws: `unprocessable` for more new shelves than the options allow.
    private func shelfKey(_ record: ImportRecord) throws -> CatalogKey? {
        if stores[record.store] == nil {
            stores[record.store] = StoreImport(
                id: nil,
                currency: record.currency,
                exists: false,
                shelves: ShelfKeyGenerator(existing: [])
            )
        }
        guard let name = record.shelf, let (key, isNew) = stores[record.store]?.shelves.key(for: name) else {
            return nil
        }
        if isNew { newShelves += 1 }
        guard newShelves <= options.newShelfLimit else {
            throw CatalogError.unprocessable(
                field: options.title(of: .shelf),
                detail: """
                    line \(record.line): the file would create more than \(options.newShelfLimit) new shelves, \
                    the last one “\(name.prefix(64))”. Check which column is the shelf, or raise max_new_shelves \
                    (--max-new-shelves)
                    """
            )
        }
        return key
    }

    private func write(_ record: ImportRecord, shelf: CatalogKey?, to rows: inout CopyText) {
        rows.field(stores[record.store]!.id!)
        rows.raw(id.text)
        rows.field(record.line)
        rows.raw(record.store.text)
        rows.field(shelf?.text)
        rows.field(record.product.sku.text)
        for column in ProductColumn.staged {
            if column == .inStock, record.unreadableStock != nil {
                rows.null()
            } else {
                rows.field(column.value(of: record.product))
            }
        }
        rows.field(record.popularity)
        rows.field(record.position?.0)
        rows.field(record.position?.1)
        rows.endRow()
    }

    private func loadStores() async throws {
        let (known, shelves) = try await transaction { connection in
            (
                try connection.query(ImportStatements.stores) {
                    try $0.map { (try $0.text(0), try $0.text(1), try $0.int4(2), try $0.text(3), try $0.text(4)) }
                },
                try connection.query(
                    ImportStatements.allShelfTitles
                ) { try $0.map { (try $0.text(0), try $0.text(1), try $0.text(2), try $0.int2OrNil(3)) } }
            )
        }
        var shelvesByStore: [String: [(key: CatalogKey, title: String)]] = [:]
        for (store, key, title, ordinal) in shelves {
            if let ordinal, Dimension.allCases.indices.contains(Int(ordinal)) {
                let dimension = Dimension.allCases[Int(ordinal)]
                for name in [key, title] { sizes.add(dimension, of: name, in: try CatalogKey(stored: store)) }
            }
            shelvesByStore[store, default: []].append((try CatalogKey(stored: key), title))
        }
        for (key, code, id, pricing, locale) in known {
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
                exists: true,
                shelves: ShelfKeyGenerator(existing: shelvesByStore[key] ?? [])
            )
        }
    }
}
