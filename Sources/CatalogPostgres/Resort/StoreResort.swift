internal import Catalog
internal import LibPQ

/// The re-sort of the shelves of one store.
struct StoreResort: Sendable {
    let database: Database
    let pages: PostgresPageStore
    let compactionSignal: CompactionSignal
    /// Today's UTC day, by which popularity is counted.
    let day: Int
    /// The number of placements of counted products beyond which all products of a shelf are compared.
    let productLimit: Int
    let request: ResortRequest
    /// nil for a dry run.
    let record: ResortRecord?
    let listener: Resorter.Listener
    /// The totals of the store.
    private let counter = ResortCounter()

    private var lookup: ShelfLookup { ShelfLookup(database: database) }

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

    /// Re-sorts the shelves of a store that the request asks for, and records that in the audit log.
    ///
    /// A re-sort has many transactions. Its entry is written after them, also if it failed or was interrupted.
    func run(_ store: CatalogKey) async throws -> ResortSummary {
        guard let record else { return try await resort(store) }
        do {
            let summary = try await resort(store)
            try await audit(store, record.number)
            return summary
        } catch {
            // The work's own error is reported. The task may be cancelled, but another one can still write the entry.
            await Task { try? await audit(store, record.number) }.value
            throw error
        }
    }

    private func audit(_ store: CatalogKey, _ run: Int64) async throws {
        let counts = counter.total.counts.filter { ["products", "changed", "moved"].contains($0.name) }
        guard let change = AuditChange.work(.resortRun, "run", "\(run)", counts) else { return }
        let id = try await lookup.readStore(store).id
        try await database.batch.transaction(within: .edit) { try AuditLog.record(change, in: id, $0) }
    }

    /// Adds to the totals of the run and of the store.
    private func add(_ done: ResortSummary) async throws {
        counter.add(done)
        try await record?.add(done)
    }

    private func resort(_ store: CatalogKey) async throws -> ResortSummary {
        var summary = ResortSummary()
        if request.isDryRun {
            summary.events = try await number(PurchaseStatements.pendingCount, try await lookup.readStore(store).id)
        } else {
            let book = PurchaseBook(database)
            summary.products = try await book.count(store, day: day, jobs: request.jobs)
            _ = try await book.applyRetention(store, olderThan: request.retentionDays, day: day)
            await analyzeDueTable(summary.products)
            try await add(summary)
        }
        let read = try await lookup.readStore(store)
        let due = try await dueShelves(read)
        let targets = try await database.batch.transaction(within: .bulk) { connection in
            try connection.query(
                ResortStatements.targets,
                [
                    .int4(read.id), .textArray(request.shelves.map(\.text)), .bool(!request.shelves.isEmpty),
                    .timestamptz(request.changedSince?.microseconds), .int8Array(due.ids.map(Int64.init)),
                    .textArray(SortKey.allCases.map(\.name)),
                ]
            ) { try $0.map { (id: try $0.int4(0), products: Int(try $0.int4(1))) } }
        }
        summary.add(try await resort(targets, store, read.id, due))
        if request.isDryRun { return summary }
        let areCopied = due.products != nil && due.ids.isSubset(of: targets.map(\.id))
        try await DueProducts(database: database, storeID: read.id).delete(due.rows, areCopied: areCopied)
        return summary
    }

    /// Analyzes the due table once it is filled: without statistics, the planner assumes that it is empty and reads
    /// every placement for each row.
    private func analyzeDueTable(_ products: Int) async {
        guard products >= Self.analyzeThreshold else { return }
        try? await database.batch.perform(within: .shelf) {
            try $0.run(script: "ANALYZE due_products")
        }
    }

    private static let analyzeThreshold = 1000

    private func number(_ statement: PostgresStatement, _ storeID: Int32) async throws -> Int {
        try await database.batch.perform(within: .bulk) {
            try $0.query(statement, [.int4(storeID)]) { try $0.first { try $0.int(0) } ?? 0 }
        }
    }

    /// Returns the shelves whose scores are outdated, or may become outdated in a dry run.
    private func dueShelves(_ read: ShelfRow.StoreRead) async throws -> DueShelves {
        let limit = productLimit
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
            // Read the rows first: rows that are counted from now on are left to the next re-sort.
            let rows = request.isDryRun ? [] : try DueProducts.rows(areCounted: true, of: read.id, connection)
            if !request.isDryRun {
                let placements = try connection.query(
                    ResortStatements.countedProducts,
                    [store, .int8(Int64(limit) + 1)]
                ) { try $0.map { DueShelves.Placement(product: try $0.text(0), shelf: try $0.int4(1)) } }
                if placements.count <= limit { return DueShelves(placements, rows) }
            }
            let ids = Set(try connection.query(statement, [store]) { try $0.map { try $0.int4(0) } })
            return DueShelves(ids: ids, rows)
        }
    }

    private func resort(
        _ targets: [(id: Int32, products: Int)],
        _ store: CatalogKey,
        _ storeID: Int32,
        _ due: DueShelves
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
                group.addTask { try await work(nextGroup, queue) }
            }
            return try await group.allResults().reduce(into: ResortSummary()) { $0.add($1) }
        }
    }

    /// Updates one group after another.
    private func work(
        _ nextGroup: @Sendable () -> ShelfGroup?,
        _ queue: ResortQueue
    ) async throws -> ResortSummary {
        var total = ResortSummary()
        var unrecorded = ResortSummary()
        var pause = Duration.zero
        while let group = nextGroup() {
            if pause > .zero { try? await Task.sleep(for: pause) }
            let reports: [ShelfResort]
            let ignored: [(shelf: ShelfAddress, source: Sort)]
            let start = ContinuousClock.now
            do {
                try Task.checkCancellation()
                (reports, ignored) = try await group.update()
                pause = request.pause(after: ContinuousClock.now - start)
            } catch {
                // Only the finished part of the work is in the history; the work's own error is reported.
                try? await add(unrecorded)
                throw error
            }
            unrecorded.shelves += group.shelves.count
            unrecorded.changed += reports.count
            for (shelf, source) in ignored { listener.onIgnoredSource(shelf, source) }
            for report in reports {
                listener.onShelf(report)
                unrecorded.moved += report.moved
                if request.isDryRun { unrecorded.products += report.rescored }
            }
            if !reports.isEmpty, !request.isDryRun { database.announcer.announce(.store(group.store)) }
            listener.onProgress(queue.countShelves(group.shelves.count), queue.count)
            if unrecorded.shelves >= Self.recordedShelves {
                try await add(unrecorded)
                total.add(unrecorded)
                unrecorded = ResortSummary()
            }
        }
        try await add(unrecorded)
        total.add(unrecorded)
        return total
    }
}
