internal import AsyncAlgorithms
internal import Catalog
internal import CatalogPostgres
internal import ServiceLifecycle

/// An event of housekeeping for logs and metrics.
enum HousekeepingObservation: Sendable, Equatable {
    /// Purchases were folded.
    case purchasesFolded(count: Int, Duration)
    /// A task failed with an internal error.
    case taskFailed(detail: String)
}

/// The background work of a server: compacts ordering keys, folds purchases, stores images of shelves, purges expired data, and creates and
/// drops the partitions of the audit log.
struct Housekeeping: Service {
    let catalog: PostgresCatalog
    let observer: Observer<HousekeepingObservation>
    /// How long entries of the audit log are kept.
    let auditRetention: AuditRetention
    var intervals = Intervals()

    struct Intervals {
        /// Between two periodic runs.
        var runs: Duration = .seconds(60)
        /// The least time between two deletions of old changes and images of shelves, each of which reads all of them.
        var trims: Duration = .seconds(600)
        /// Between two batches of images of shelves.
        var images: Duration = .seconds(1)
    }

    /// Runs until shutdown, which cancels the task in progress: its transactions are rolled back, and another run does their work.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            async let images: Void = writeImages()
            await runPeriodically()
            await images
        }
    }

    /// Stores the images of shelves that this server missed, on a task of its own, because others wait for a minute.
    private func writeImages() async {
        let images = ShelfImages(catalog)
        for await _ in AsyncTimerSequence(interval: intervals.images, clock: .continuous) {
            await run { _ = try await images.write() }
        }
    }

    private func runPeriodically() async {
        let compaction = ManualOrderCompaction(catalog)
        let purchases = PurchaseFold(catalog)
        let images = ShelfImages(catalog)
        let auditPartitions = AuditPartitions(catalog, keeping: auditRetention)
        var trimmedAt = ContinuousClock.now
        let ticks = AsyncTimerSequence(interval: intervals.runs, clock: .continuous).map { _ in }
        for await _ in merge(ticks, catalog.compactionSignal.signals) {
            await run { _ = try await compaction.run() }
            await run { while try await catalog.sweepResponses() > 0 {} }
            if ContinuousClock.now - trimmedAt >= intervals.trims {
                trimmedAt = .now
                await run { while try await catalog.trimShelfChanges() > 0 {} }
                await run { try await images.markUsed() }
                await run { _ = try await images.deleteUnused() }
            }
            await run { while try await catalog.sweepUsers() > 0 {} }
            await run { while try await catalog.sweepLists() > 0 {} }
            await run {
                let start = ContinuousClock.now
                let outcome = try await purchases.run()
                if outcome.isPostponed { return }
                observer.observe(.purchasesFolded(count: outcome.total, ContinuousClock.now - start))
            }
            await run { _ = try await auditPartitions.run() }
        }
    }

    /// Runs one task; if it fails, the others still run.
    private func run(_ task: () async throws -> Void) async {
        // An unreachable database is reported elsewhere; try again at the next run.
        do { try await task() } catch CatalogError.fault(let detail) {
            observer.observe(.taskFailed(detail: detail))
        } catch {}
    }
}
