package import Catalog
internal import LibPQ

/// Imports a file into a catalog: read and checked row by row into a staging table, compared there without locks, and
/// what differs applied in one transaction per store.
///
/// The same file twice changes nothing the second time. Until a store's transaction commits nothing of the file is seen
/// in that store; an import that dies leaves only staged rows, which the next one sweeps. All of its work is done on a
/// thread of its own, so that a large file holds nobody else up.
package struct Importer: Sendable {
    private let pool: PostgresPool
    private let changes: ChangeAnnouncer
    private let observer: Observer

    package init(_ catalog: PostgresCatalog) {
        pool = catalog.database.imports.pool
        changes = catalog.database.announcer
        observer = catalog.database.observer
    }

    /// - Parameters:
    ///   - pieces: the file, in pieces of any size.
    ///   - onReject: told of every row that is not taken, in order.
    ///   - onProgress: told now and then how many rows were read.
    /// - Throws: `CatalogError`; `unprocessable` where the file cannot be used at all, or a row is bad and the options
    ///   say that one is enough. Then nothing was changed.
    package func run<Pieces: AsyncSequence>(
        _ pieces: Pieces,
        _ options: ImportOptions,
        onReject: (ImportRejection) throws -> Void = { _ in },
        onProgress: (Int) -> Void = { _ in }
    ) async throws(CatalogError) -> ImportSummary where Pieces.Element == [UInt8] {
        try await observer.mappingErrors {
            let id = ImportID()
            let summary = try await RunLock.hold(.importRun, "hashtext($1)", [id.parameter], in: pool) {
                try await pool.withConnection { connection in
                    try await connection.onOwnThread {
                        try await run(pieces, options, id, connection, onReject, onProgress)
                    }
                }
            }
            // Two ids with one hash at the same time.
            guard let summary else { throw CatalogError.unavailable }
            return summary
        }
    }

    private func run<Pieces: AsyncSequence>(
        _ pieces: Pieces,
        _ options: ImportOptions,
        _ id: ImportID,
        _ connection: PostgresConnection,
        _ onReject: (ImportRejection) throws -> Void,
        _ onProgress: (Int) -> Void
    ) async throws -> ImportSummary where Pieces.Element == [UInt8] {
        let session = ImportSession(connection, id, options)
        do {
            try await session.begin()
            try await session.stage(pieces, onReject, onProgress)
            try await session.resolve()
            // Some stores may be done when one fails.
            defer { changes.announce(.anything) }
            if !options.isDryRun {
                try await session.apply()
                await count(session.summary, connection)
            }
            await end(id, connection)
            observer.see(.importEnded(session.summary))
            return session.summary
        } catch {
            observer.see(.importEnded(nil))
            // In a task of its own: the failed one may be cancelled, and its rows must be deleted nevertheless.
            await Task { await end(id, connection) }.value
            throw error
        }
    }

    /// Deletes what an import staged; on another connection if its own was lost. If neither works, the next import sweeps it.
    private func end(_ id: ImportID, _ connection: PostgresConnection) async {
        do {
            try await connection.perform(within: .seconds(60)) { try ImportSession.end(id, $0) }
        } catch {
            try? await pool.perform(within: .seconds(60)) { try ImportSession.end(id, $0) }
        }
    }
}

extension Importer {
    /// So many new rows change what the planner should know of the tables: until it looks for itself, pages may be read by way of
    /// what was true of empty ones.
    private static let countedFrom = 5000

    /// Has the tables counted after an import of much that is new, where that is allowed.
    private func count(_ summary: ImportSummary, _ connection: PostgresConnection) async {
        guard summary.inserted >= Self.countedFrom else { return }
        try? await connection.perform(within: .seconds(60)) {
            try $0.run(script: "ANALYZE product, placement, placement_position, shelf")
        }
    }
}

extension Importer: CatalogImporting {
    package func importFile<Pieces: AsyncSequence>(
        _ pieces: Pieces,
        _ options: ImportOptions,
        onReject: (ImportRejection) throws -> Void
    ) async throws(CatalogError) -> ImportSummary where Pieces.Element == [UInt8] {
        try await run(pieces, options, onReject: onReject)
    }
}
