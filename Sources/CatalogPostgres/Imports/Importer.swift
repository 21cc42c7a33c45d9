package import Catalog
internal import LibPQ

/// Imports a file into a catalog. Rows are parsed and validated into a staging table and compared there without
/// locks; differences are applied in one transaction per store.
///
/// Importing the same file again changes nothing. Changes become visible when a store's transaction
/// commits. A crashed import leaves only staged rows, which the next import deletes. All work runs on a
/// separate thread, so that a large file does not delay other requests.
///
/// The path of a row: `RecordSplitter` splits the file into records. `ImportReader` finds the texts of a record, in the columns that
/// `FileColumns` found by the header. `ImportRecordReader` makes an `ImportRecord` of them: `ProductField.read` decides each field, such as
/// the prices, and `ValueReader` reads the texts. `ImportSession` stages a row of `import_row` for each shelf, and compares the rows with
/// the catalog. `ImportApplication` writes products and placements. A row can be rejected until then.
package struct Importer: CatalogImporting {
    private let pool: PostgresPool
    private let announcer: ChangeAnnouncer
    private let observer: Observer<DatabaseObservation>
    private let database: Database
    private let profiles: any ImportProfileStore

    package init(_ catalog: PostgresCatalog) {
        pool = catalog.database.imports.pool
        announcer = catalog.database.announcer
        observer = catalog.database.observer
        database = catalog.database
        profiles = catalog.importProfiles
    }

    package func importFile<Chunks: AsyncSequence>(
        _ chunks: Chunks,
        _ options: ImportOptions,
        onReject: (ImportRejection) throws -> Void = { _ in },
        onProgress: (Int) -> Void = { _ in },
        onPrune: ([ShelfRemoval]) throws -> Bool = { _ in false }
    ) async throws(CatalogError) -> ImportSummary where Chunks.Element == [UInt8] {
        // Its connections are not those of a lane, which would record the log position.
        defer { LogPositionRecorder.current?.forget() }
        return try await observer.mappingErrors {
            let id = ImportID()
            let group = database.imports.group(of: options.store.flatMap(database.owner))
            let summary = try await RunLock.withLock(.importRun, "hashtext($1)", [id.parameter], in: pool) {
                try await pool.withConnection(of: group) { connection in
                    try await connection.onOwnThread {
                        try await run(chunks, options, id, connection, onReject, onProgress, onPrune)
                    }
                }
            }
            // Two concurrent ids have the same hash.
            guard let summary else { throw CatalogError.unavailable }
            return summary
        }
    }

    private func run<Chunks: AsyncSequence>(
        _ chunks: Chunks,
        _ options: ImportOptions,
        _ id: ImportID,
        _ connection: PostgresConnection,
        _ onReject: (ImportRejection) throws -> Void,
        _ onProgress: (Int) -> Void,
        _ onPrune: ([ShelfRemoval]) throws -> Bool
    ) async throws -> ImportSummary where Chunks.Element == [UInt8] {
        let start = ContinuousClock.now
        var options = options
        if let timeZone = options.profile.timeZone {
            options.localNow = try await profiles.checkedLocalTime(in: timeZone)
        }
        let session = ImportSession(
            connection,
            pool.configuration,
            id,
            options,
            database
        )
        do {
            try await session.begin()
            try await session.stage(chunks, onReject, onProgress)
            try await session.compare(onReject)
            try session.confirmPrune(onPrune)
            if !options.isDryRun {
                // Some stores may have been changed when one fails.
                defer { announcer.announce(.all) }
                try await session.apply()
                await analyzeTables(session.summary, connection)
            }
            await end(id, connection)
            observer.observe(.importCompleted(session.summary, ContinuousClock.now - start))
            return session.summary
        } catch {
            observer.observe(
                .importFailed(
                    reason: (error as? CatalogError)?.reason ?? String(reflecting: error),
                    ContinuousClock.now - start
                )
            )
            // Use a separate task: the failed one may be cancelled, but its rows must still be deleted.
            await Task { await end(id, connection) }.value
            throw error
        }
    }

    /// Deletes an import's staged rows, on another connection if its own was lost. If both fail, the next import does.
    private func end(_ id: ImportID, _ connection: PostgresConnection) async {
        do {
            try await connection.perform(within: TimeLimit.bulk.duration) { try ImportSession.end(id, $0) }
        } catch {
            try? await pool.perform(within: TimeLimit.bulk.duration) { try ImportSession.end(id, $0) }
        }
    }
}

extension Importer {
    /// The number of new rows from which tables are analyzed. Before that, the planner may use page plans that were
    /// right for empty tables.
    private static let analyzeThreshold = 5000

    /// Analyzes the tables after an import of many new rows, if permitted.
    private func analyzeTables(_ summary: ImportSummary, _ connection: PostgresConnection) async {
        guard summary.inserted >= Self.analyzeThreshold else { return }
        try? await connection.perform(within: TimeLimit.bulk.duration) {
            try $0.run(script: DatabaseStatements.analyzeCatalog)
        }
    }
}
