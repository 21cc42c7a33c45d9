package import Catalog
internal import LibPQ

/// Updates a catalog's derived orders: folds purchases, scores products, updates dimensions, and rebuilds manual
/// orders from their source sorts.
///
/// Each shelf changes in one transaction, with others of its group, and is skipped if nothing changed since the last run.
/// A crashed run leaves every shelf either old or new; the next run completes it. Concurrent runs may do the
/// same work twice.
package struct Resorter: Sendable {
    private let database: Database
    private let pages: PostgresPageStore
    private let compactionSignal: CompactionSignal
    private var lookup: ShelfLookup { ShelfLookup(database: database) }
    private let day: Int
    private let productLimit: Int

    /// - Parameters:
    ///   - day: today's UTC day, by which popularity is counted.
    ///   - productLimit: the number of placements of counted products beyond which all products of a shelf are compared. With so many,
    ///     this is not slower, and the SKUs would take too much memory.
    package init(
        _ catalog: PostgresCatalog,
        day: Int = Timestamp.now().day,
        productLimit: Int = Self.usualProductLimit
    ) {
        database = catalog.database
        pages = catalog.pageStore
        compactionSignal = catalog.compactionSignal
        self.day = day
        self.productLimit = productLimit
    }

    package static let usualProductLimit = 200_000

    /// The callbacks of a run, called from any task.
    package struct Listener: Sendable {
        package var onShelf: @Sendable (ShelfResort) -> Void
        /// Called with the number of finished shelves and the total.
        package var onProgress: @Sendable (_ done: Int, _ total: Int) -> Void
        /// Called for a shelf whose manual order follows a sort by an attribute that the store no longer has.
        package var onIgnoredSource: @Sendable (ShelfAddress, Sort) -> Void

        package init(
            onShelf: @escaping @Sendable (ShelfResort) -> Void = { _ in },
            onProgress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in },
            onIgnoredSource: @escaping @Sendable (ShelfAddress, Sort) -> Void = { _, _ in }
        ) {
            self.onShelf = onShelf
            self.onProgress = onProgress
            self.onIgnoredSource = onIgnoredSource
        }
    }

    /// - Throws: `notFound` for a missing store or shelf.
    package func run(
        _ request: ResortRequest,
        _ listener: Listener = Listener()
    ) async throws(CatalogError) -> ResortSummary {
        try await database.mappingErrors {
            try await check(request)
            if request.isDryRun { return try await execute(request, nil, listener) }
            guard let summary = try await recorded(request, resuming: false, listener) else {
                throw CatalogError.unavailable
            }
            return summary
        }
    }

    /// Resumes the last interrupted run with its original request; nil if there is none.
    ///
    /// - Parameter options: the number of jobs and the level of reporting.
    package func resume(
        as options: ResortRequest = ResortRequest(),
        _ listener: Listener = Listener()
    ) async throws(CatalogError) -> ResortSummary? {
        try await database.mappingErrors { try await recorded(options, resuming: true, listener) }
    }

    /// Returns the recorded runs, the latest first.
    package func history(_ limit: Int) async throws(CatalogError) -> [ResortRun] {
        try await database.mappingErrors {
            try await database.batch.perform(within: .lookup) {
                try $0.query(ResortStatements.runs, [.int8(Int64(limit))]) { try $0.map { try ResortRun($0) } }
            }
        }
    }

    private func check(_ request: ResortRequest) async throws {
        if let store = request.store { _ = try await lookup.readStore(store) }
        for shelf in request.shelves { _ = try await lookup.readHead(request.store!, shelf) }
    }

    /// Runs with a row in the history, while holding the lock that marks the run as alive.
    ///
    /// - Returns: nil if `resuming` and no run was interrupted.
    private func recorded(
        _ requested: ResortRequest,
        resuming: Bool,
        _ listener: Listener
    ) async throws -> ResortSummary? {
        let started: (number: Int64, request: String)? = try await database.batch.perform(
            within: .edit
        ) {
            connection in
            if resuming {
                return try connection.query(ResortStatements.interrupted) {
                    try $0.first { (try $0.int8(0), try $0.text(1)) }
                }
            }
            return try connection.query(ResortStatements.nextNumber) {
                try $0.first { (try $0.int8(0), requested.text) }
            }
        }
        guard let started else { return nil }
        var request = requested
        if resuming {
            guard let recorded = ResortRequest(text: started.request) else {
                throw CatalogError.fault("invalid recorded re-sort request: \(started.request)")
            }
            request = recorded
            (request.jobs, request.pace, request.diffs) = (requested.jobs, requested.pace, requested.diffs)
        }
        let key = ResortStatements.lockKey("$1")
        let summary = try await RunLock.withLock(.resortRun, key, [.int8(started.number)], in: database.batch.pool) {
            () -> ResortSummary? in
            if resuming {
                // Another process may have finished the run before the lock was released.
                let isOpen = try await database.batch.perform(within: .edit) {
                    try $0.query(ResortStatements.isOpen, [.int8(started.number)]) { $0.count > 0 }
                }
                guard isOpen else { return nil }
            } else {
                try await database.batch.perform(within: .edit) {
                    _ = try $0.execute(ResortStatements.begin, [.int8(started.number), .text(started.request)])
                }
            }
            let record = ResortRecord(lane: database.batch, number: started.number)
            let outcome: Result<ResortSummary, any Error>
            do { outcome = .success(try await execute(request, record, listener)) } catch { outcome = .failure(error) }
            // Do not end a cancelled run: it can be resumed.
            if !Task.isCancelled {
                switch outcome {
                case .success: try await record.end(nil)
                // The work's own error is reported; a run without an end can be resumed.
                case .failure(let error): try? await record.end("\(error)")
                }
            }
            return try outcome.get()
        }
        return summary ?? nil
    }

    private func execute(
        _ request: ResortRequest,
        _ record: ResortRecord?,
        _ listener: Listener
    ) async throws -> ResortSummary {
        var total = ResortSummary()
        let stores = try await lookup.readStores().filter { request.store == nil || $0.store.key == request.store }
        if !request.isDryRun {
            let folded = try await PurchaseFold(database).run(jobs: request.jobs)
            total.events = stores.reduce(0) { $0 + (folded.events[$1.id] ?? 0) }
            total.isFoldPostponed = folded.isPostponed
            try await record?.add(total)
        }
        for store in stores {
            let work = StoreResort(
                database: database,
                pages: pages,
                compactionSignal: compactionSignal,
                day: day,
                productLimit: productLimit,
                request: request,
                record: record,
                listener: listener
            )
            do { total.add(try await work.run(store.store.key)) } catch CatalogError.notFound where request.store == nil
            {
                // It was probably deleted since.
                guard try await !lookup.readStores().contains(where: { $0.store.key == store.store.key }) else {
                    throw CatalogError.conflict("shelves of store “\(store.store.key)” were deleted during the re-sort")
                }
            }
        }
        return total
    }
}
