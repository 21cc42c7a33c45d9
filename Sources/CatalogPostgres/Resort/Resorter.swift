package import Catalog
internal import CatalogJSON
internal import LibPQ

/// Updates a catalog's derived orders: folds purchases, scores products, updates dimensions, and rebuilds manual
/// orders from their source sorts.
///
/// Each shelf changes in one transaction, with others of its group, and is skipped if nothing changed since the last run.
/// A crashed run leaves every shelf either old or new; the next run completes it. Concurrent runs share the work.
package struct Resorter: Sendable {
    private let database: Database
    private let pages: PostgresPageStore
    private let compactionSignal: CompactionSignal
    private var lookup: ShelfLookup { ShelfLookup(database: database) }
    private let day: Int

    /// The number of finished shelves after which the run's row is updated.
    private static let recordedShelves = 100
    /// The number of products that a transaction updates. Writers of their shelves wait for it.
    private static let updatedProducts = 2000
    /// The same in a dry run, which reads all pending purchases for each group.
    private static let comparedProducts = 10_000
    /// The same in a run that leaves time to pages, so that they wait less often.
    private static let pacedProducts = 100
    /// The number of concurrent transactions of a job: while the database works for one, this program works for the other.
    private static let transactionsPerJob = 2

    /// - Parameter day: today's UTC day, by which popularity is counted.
    package init(_ catalog: PostgresCatalog, day: Int = Timestamp.now().day) {
        database = catalog.database
        pages = catalog.pages
        compactionSignal = catalog.compactionSignal
        self.day = day
    }

    /// The callbacks of a run, called from any task.
    package struct Listener: Sendable {
        package var onShelf: @Sendable (ShelfResort) -> Void
        /// Called with the number of finished shelves and the total.
        package var onProgress: @Sendable (_ done: Int, _ total: Int) -> Void

        package init(
            onShelf: @escaping @Sendable (ShelfResort) -> Void = { _ in },
            onProgress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
        ) {
            self.onShelf = onShelf
            self.onProgress = onProgress
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
            try await record?.add(total)
        }
        for store in stores { total.add(try await work(request, store.store.key, record, listener)) }
        return total
    }

    private func work(
        _ request: ResortRequest,
        _ store: CatalogKey,
        _ record: ResortRecord?,
        _ listener: Listener
    ) async throws -> ResortSummary {
        var summary = ResortSummary()
        if request.isDryRun {
            summary.events = try await number(PurchaseStatements.pendingCount, try await lookup.readStore(store).id)
        } else {
            let book = PurchaseBook(database)
            summary.products = try await book.count(store, day: day, jobs: request.jobs)
            _ = try await book.applyRetention(store, olderThan: request.retentionDays, day: day)
            await analyzeDueTable(summary.products)
            try await record?.add(summary)
        }
        let read = try await lookup.readStore(store)
        let due = try await dueShelves(read, request)
        let targets = try await database.batch.transaction(within: .bulk) { connection in
            try connection.query(
                ResortStatements.targets,
                [
                    .int4(read.id), .textArray(request.shelves.map(\.text)), .bool(!request.shelves.isEmpty),
                    .timestamptz(request.changedSince?.microseconds), .int8Array(due.ids.map(Int64.init)),
                ]
            ) { try $0.map { (id: try $0.int4(0), products: Int(try $0.int4(1))) } }
        }
        summary.add(try await resort(targets, store, read.id, due, request, record, listener))
        if request.isDryRun { return summary }
        let book = PurchaseBook(database)
        if due.products != nil, due.ids.isSubset(of: targets.map(\.id)) {
            try await book.clearCopied(due.marks, in: read.id)
        } else {
            try await book.clearDue(read.id)
        }
        return summary
    }

    /// Analyzes the due table once it is filled: without statistics, the planner assumes that it is empty and reads
    /// every placement for each row.
    private func analyzeDueTable(_ products: Int) async {
        guard products >= Self.analyzeThreshold else { return }
        try? await database.batch.perform(within: .shelf) {
            try $0.run(script: "ANALYZE popularity_due")
        }
    }

    private static let analyzeThreshold = 1000

    private func number(_ statement: PostgresStatement, _ storeID: Int32) async throws -> Int {
        try await database.batch.perform(within: .bulk) {
            try $0.query(statement, [.int4(storeID)]) { try $0.first { try $0.int(0) } ?? 0 }
        }
    }

    /// Returns the shelves whose scores are outdated, or may become outdated in a dry run.
    private func dueShelves(_ read: ShelfRow.StoreRead, _ request: ResortRequest) async throws -> DueShelves {
        let limit = DueShelves.productLimit
        let store = PostgresValue.int4(read.id)
        let statement: PostgresStatement =
            if !request.isDryRun {
                ResortStatements.dueShelves
            } else if read.store.popularityMetric == .decay,
                read.store.lastCount.hasSameRule(of: read.store.popularityRule)
            {
                ResortStatements.boughtShelves
            } else {
                ResortStatements.allShelves
            }
        return try await database.batch.transaction(within: .store) { connection in
            try PurchaseBook.removeLimits(connection)
            if !request.isDryRun {
                let due = try connection.query(ResortStatements.countedProducts, [store, .int8(Int64(limit) + 1)]) {
                    try $0.map {
                        DueShelves.Row(product: try $0.text(0), mark: try $0.int8(1), shelf: try $0.int4OrNil(2))
                    }
                }
                if due.count <= limit { return DueShelves(due) }
            }
            return DueShelves(ids: Set(try connection.query(statement, [store]) { try $0.map { try $0.int4(0) } }))
        }
    }

    private func resort(
        _ targets: [(id: Int32, products: Int)],
        _ store: CatalogKey,
        _ storeID: Int32,
        _ due: DueShelves,
        _ request: ResortRequest,
        _ record: ResortRecord?,
        _ listener: Listener
    ) async throws -> ResortSummary {
        let isPaced = request.pace < 100
        let groupSize = request.isDryRun ? Self.comparedProducts : isPaced ? Self.pacedProducts : Self.updatedProducts
        let transactions = isPaced ? 1 : Self.transactionsPerJob
        let queue = ResortQueue(targets, groupSize: groupSize)
        let nextGroup: @Sendable () -> ShelfGroup? = {
            queue.take().map { shelves in
                ShelfGroup(
                    pages: pages,
                    compactionSignal: compactionSignal,
                    request: request,
                    day: day,
                    store: store,
                    storeID: storeID,
                    shelves: shelves,
                    due: due
                )
            }
        }
        return try await withThrowingTaskGroup(of: ResortSummary.self) { group in
            for _ in 0..<max(1, min(transactions * request.jobs, targets.count)) {
                group.addTask { try await work(nextGroup, queue, request, record, listener) }
            }
            // A failure does not end the other tasks.
            var total = ResortSummary()
            var failure: (any Error)?
            while let result = await group.nextResult() {
                switch result {
                case .success(let summary): total.add(summary)
                case .failure(let error): failure = failure ?? error
                }
            }
            if let failure { throw failure }
            return total
        }
    }

    /// Updates one group after another.
    private func work(
        _ nextGroup: @Sendable () -> ShelfGroup?,
        _ queue: ResortQueue,
        _ request: ResortRequest,
        _ record: ResortRecord?,
        _ listener: Listener
    ) async throws -> ResortSummary {
        var total = ResortSummary()
        var unrecorded = ResortSummary()
        while let group = nextGroup() {
            let reports: [ShelfResort]
            let start = ContinuousClock.now
            do {
                try Task.checkCancellation()
                reports = try await group.update()
            } catch {
                // Only the finished part of the work is in the history; the work's own error is reported.
                try? await record?.add(unrecorded)
                throw error
            }
            unrecorded.shelves += group.shelves.count
            unrecorded.changed += reports.count
            for report in reports {
                listener.onShelf(report)
                unrecorded.moved += report.moved
                if request.isDryRun { unrecorded.products += report.rescored }
            }
            if !reports.isEmpty, !request.isDryRun { database.announcer.announce(.store(group.store)) }
            listener.onProgress(queue.countShelves(group.shelves.count), queue.count)
            if unrecorded.shelves >= Self.recordedShelves {
                try await record?.add(unrecorded)
                total.add(unrecorded)
                unrecorded = ResortSummary()
            }
            // A cancelled run ends with the next group.
            if request.pace < 100 { try? await Task.sleep(for: request.pause(after: ContinuousClock.now - start)) }
        }
        try await record?.add(unrecorded)
        total.add(unrecorded)
        return total
    }
}
