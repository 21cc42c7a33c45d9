internal import AsyncAlgorithms
internal import Catalog
internal import CatalogPostgres
internal import ServiceLifecycle

/// What a server does beside serving: short keys in manual orders, purchases folded, and what is too old swept.
struct Housekeeping: Service {
    let catalog: PostgresCatalog

    /// How often it looks for what nobody told of.
    private static let pause: Duration = .seconds(60)

    func run() async throws {
        let compaction = OrderCompaction(catalog)
        let purchases = PurchaseBook(catalog)
        let ticks = AsyncTimerSequence(interval: Self.pause, clock: .continuous).map { _ in }
        for await _ in merge(ticks, catalog.database.longKeys.notes).cancelOnGracefulShutdown() {
            // A database that is away is told of where it happens, and comes back.
            do {
                _ = try await compaction.run()
                while try await catalog.sweepResponses() > 0 {}
                while try await catalog.sweepUsers() > 0 {}
                while try await catalog.sweepLists() > 0 {}
                for store in try await catalog.stores() { _ = try await purchases.fold(store.key) }
            } catch CatalogError.fault(let detail) {
                catalog.database.observer.see(.fault(request: "housekeeping", detail: detail))
            } catch {}
        }
    }
}
