internal import Catalog
internal import Foundation
internal import Ordering
internal import Postgres

/// One import under way, on one connection.
struct ImportSession {
    private let connection: PostgresConnection
    private let options: ImportOptions
    private let id = UUID().uuidString.lowercased()
    private var columns = ImportColumns([], readsSizeFromName: false)
    private var stores: [CatalogKey: StoreImport] = [:]
    private var hasRepeats = false
    private(set) var summary = ImportSummary()

    /// What is known of one store of the file.
    struct StoreImport: Sendable {
        var currency: Currency
        var exists: Bool
        var shelves: ShelfKeyMaker
        /// Placements (shelf, sku) and products that the file does not name, to be taken away.
        var stalePlacements: [(Int32, String)] = []
        var staleProducts: [String] = []
    }

    init(_ connection: PostgresConnection, _ options: ImportOptions) {
        self.connection = connection
        self.options = options
    }

    // MARK: - Staging

    /// Registers the import, and sweeps what dead ones have left.
    func begin() async throws {
        let id = id
        try await connection.perform { database in
            try database.run(script: "SET plan_cache_mode = auto; SET lock_timeout = 0")
            try database.execute(ImportStatements.sweepRuns)
            try database.execute(ImportStatements.sweepRows)
            try database.execute(ImportStatements.register, [.text(id)])
        }
    }

    /// Takes the staged rows away.
    func end() async throws {
        let id = id
        try await connection.perform(within: .seconds(60)) { database in
            try database.execute("DELETE FROM import_row WHERE import_id = $1::text::uuid", [.text(id)])
            try database.execute("DELETE FROM import_run WHERE import_id = $1::text::uuid", [.text(id)])
            try database.run(script: "RESET plan_cache_mode; RESET lock_timeout")
        }
    }

    mutating func stage<Pieces: AsyncSequence>(
        _ pieces: Pieces,
        _ onReject: (ImportRejection) throws -> Void,
        _ onProgress: (Int) -> Void
    ) async throws where Pieces.Element == [UInt8] {
        try await loadStores()
        var reader = ImportReader(options, currencies: stores.mapValues(\.currency))
        try await connection.perform { try $0.beginCopyIn(ImportStatements.stage) }
        do {
            var rows = CopyText()
            for try await piece in pieces {
                try Task.checkCancellation()
                // Small steps, so that memory stays bounded whatever the pieces' size.
                for start in stride(from: 0, to: piece.count, by: PostgresConnection.copyPieceSize) {
                    let step = piece[start..<min(piece.count, start + PostgresConnection.copyPieceSize)]
                    try step.withUnsafeBytes { bytes in
                        try reader.read(bytes) { try take($0, &rows, onReject) }
                    }
                    try await flush(&rows)
                }
                onProgress(summary.read)
            }
            try reader.end { try take($0, &rows, onReject) }
            try await flush(&rows, isLast: true)
            _ = try await connection.perform { try $0.endCopy() }
        } catch {
            await connectionAbortCopy()
            throw error
        }
        summary.warnings = reader.warnings
        columns = ImportColumns(reader.columns, readsSizeFromName: options.readsSizeFromName)
        guard summary.read == 0 || summary.rejected < summary.read else {
            throw CatalogError.unprocessable(field: "file", detail: "none of the \(summary.read) rows can be taken")
        }
    }

    private func connectionAbortCopy() async {
        await Task { [connection] in try? await connection.perform(within: .seconds(5)) { $0.abortCopy() } }.value
    }

    private func flush(_ rows: inout CopyText, isLast: Bool = false) async throws {
        guard rows.bytes.count >= PostgresConnection.copyPieceSize || isLast, !rows.bytes.isEmpty else { return }
        let bytes = rows.bytes
        rows.removeAll()
        try await connection.perform { database in try bytes.withUnsafeBytes { try database.sendCopy($0) } }
    }

    private mutating func take(
        _ event: ImportReader.Event,
        _ rows: inout CopyText,
        _ onReject: (ImportRejection) throws -> Void
    ) throws {
        summary.read += 1
        switch event {
        case .rejected(let rejection):
            summary.rejected += 1
            try onReject(rejection)
            if options.abortsOnError {
                throw CatalogError.unprocessable(field: "file", detail: rejection.description)
            }
        case .record(let record):
            if record.size == nil { summary.sizesUnknown += 1 }
            if record.size?.isApproximate == true { summary.sizesApproximate += 1 }
            if record.wasRounded { summary.pricesRounded += 1 }
            write(record, shelf: shelfKey(record), to: &rows)
        }
    }

    private mutating func shelfKey(_ record: ImportRecord) -> CatalogKey? {
        stores[
            record.store,
            default: StoreImport(currency: record.currency, exists: false, shelves: ShelfKeyMaker(existing: []))
        ].note(record.shelf)
    }

    private func write(_ record: ImportRecord, shelf: CatalogKey?, to rows: inout CopyText) {
        rows.raw(id)
        rows.field(record.line)
        rows.raw(record.store.text)
        rows.field(shelf?.text)
        rows.field(record.sku.text)
        rows.field(record.name)
        rows.field(record.brand)
        rows.field(record.priceMinor)
        rows.field(record.regularPriceMinor)
        rows.size(record.size)
        rows.field(record.barcode)
        rows.field(record.imageURL)
        rows.field(record.inStock)
        rows.field(record.tags)
        rows.field(record.popularity)
        rows.field(record.position?.0)
        rows.field(record.position?.1)
        rows.endRow()
    }

    private mutating func loadStores() async throws {
        let (known, shelves) = try await connection.perform(within: .seconds(30)) { database in
            (
                try database.query("SELECT key, currency FROM store") {
                    try $0.map { (try $0.text(0), try $0.text(1)) }
                },
                try database.query(
                    "SELECT s.key, h.key, h.title FROM shelf h JOIN store s USING (store_id) WHERE h.deleted_at IS NULL"
                ) { try $0.map { (try $0.text(0), try $0.text(1), try $0.text(2)) } }
            )
        }
        var shelvesByStore: [String: [(key: CatalogKey, title: String)]] = [:]
        for (store, key, title) in shelves { shelvesByStore[store, default: []].append((CatalogKey(key)!, title)) }
        for (key, currency) in known {
            stores[CatalogKey(key)!] = StoreImport(
                currency: Currency(currency)!,
                exists: true,
                shelves: ShelfKeyMaker(existing: shelvesByStore[key] ?? [])
            )
        }
    }

    // MARK: - Comparing

    /// Finds out what differs; only those rows stay staged.
    mutating func settle() async throws {
        let (id, columns, count) = (id, columns, summary.read - summary.rejected)
        let result = try await comparing(count) { database in
            let hasRepeats = try database.query(ImportStatements.findRepeats, [.text(id)]) { $0.count > 0 }
            var repeated = 0
            if hasRepeats {
                try database.execute(ImportStatements.carryLast, [.text(id)])
                repeated = try database.execute(ImportStatements.dropRepeated, [.text(id)])
            }
            return (hasRepeats, repeated)
        }
        hasRepeats = result.0
        summary.repeated = result.1
        if options.prunes {
            guard summary.rejected == 0 else {
                throw CatalogError.unprocessable(
                    field: "file",
                    detail:
                        "nothing is taken away while rows are rejected (\(summary.rejected)): what they name would be lost"
                )
            }
            try await findStale()
        }
        let (unchanged, updated, inserted) = try await comparing(count) { database in
            let unchanged = try database.execute(ImportStatements.dropUnchanged(columns), [.text(id)])
            let (updated, all) = try database.query(ImportStatements.countChanged, [.text(id)]) {
                try $0.first { (try $0.int(0), try $0.int(1)) }!
            }
            return (unchanged, updated, all - updated)
        }
        summary.unchanged = unchanged
        summary.updated = updated
        summary.inserted = inserted
        summary.storesCreated = stores.values.count { !$0.exists }
        summary.shelvesCreated = stores.values.reduce(0) { $0 + $1.shelves.created.count }
    }

    /// Many staged rows are compared by hashing, few by looking them up.
    private func comparing<T: Sendable>(
        _ rows: Int,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await connection.perform { database in
            let hashes = rows > ImportStatements.hashingBound
            if hashes { try database.run(script: "SET enable_nestloop = off; SET enable_mergejoin = off") }
            defer { if hashes { _ = try? database.run(script: "RESET enable_nestloop; RESET enable_mergejoin") } }
            return try body(database)
        }
    }

    private mutating func findStale() async throws {
        let id = id
        let (placements, products) = try await comparing(summary.read) { database in
            (
                try database.query(ImportStatements.stalePlacements, [.text(id)]) {
                    try $0.map { (try $0.text(0), try $0.int4(1), try $0.text(2)) }
                },
                try database.query(ImportStatements.staleProducts, [.text(id)]) {
                    try $0.map { (try $0.text(0), try $0.text(1)) }
                }
            )
        }
        for (store, shelf, sku) in placements { stores[CatalogKey(store)!]!.stalePlacements.append((shelf, sku)) }
        for (store, sku) in products { stores[CatalogKey(store)!]!.staleProducts.append(sku) }
        summary.removedPlacements = placements.count
        summary.removedProducts = products.count
    }

    // MARK: - Applying

    /// Applies what differs, a transaction per store, in the order of their keys.
    ///
    /// What the summary foretold gives way to what was done: others may have written in the meantime.
    mutating func apply() async throws {
        let id = id
        let changedRows = summary.updated + summary.inserted
        summary.clearChanges()
        let changed = Set(
            try await connection.perform { database in
                try database.query(
                    "SELECT DISTINCT store_key FROM import_row WHERE import_id = $1::text::uuid",
                    [.text(id)]
                ) {
                    try $0.map { try $0.text(0) }
                }
            }
        )
        for (key, store) in stores.sorted(by: { $0.key < $1.key }) {
            let isStale = !store.stalePlacements.isEmpty || !store.staleProducts.isEmpty
            guard changed.contains(key.text) || isStale || (!store.exists && summary.read > 0) else { continue }
            let application = ImportApplication(
                id: id,
                key: key,
                store: store,
                columns: columns,
                hasRepeats: hasRepeats,
                changed: changedRows
            )
            for attempt in 1...4 {
                do {
                    summary.add(
                        try await connection.perform { database in
                            try database.transaction { try application.run($0) }
                        }
                    )
                    break
                } catch let error as PostgresError where error.isRetryable && attempt < 4 {
                    continue
                }
            }
        }
    }
}

extension ImportSession.StoreImport {
    /// The key of the shelf that a row names.
    fileprivate mutating func note(_ shelf: String?) -> CatalogKey? { shelf.map { shelves.key(for: $0) } }
}
