import Catalog
import CatalogJSON
import LibPQ
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// The reports of the database for logs and metrics, and its repeated attempts.
@Suite(.timeLimit(.minutes(15))) struct DatabaseObservationTests {
    /// Collects observations.
    private final class Observations: Sendable {
        private let list = Mutex<[DatabaseObservation]>([])
        var all: [DatabaseObservation] { list.withLock { $0 } }
        func add(_ observation: DatabaseObservation) { list.withLock { $0.append(observation) } }

        /// How shelves were read, in order.
        var reads: [DatabaseObservation.ShelfReadKind] {
            all.compactMap { observation -> DatabaseObservation.ShelfReadKind? in
                if case .shelfRead(let kind, let duration) = observation, duration > .zero { kind } else { nil }
            }
        }
    }

    private static func withObservations(
        _ body: (PostgresCatalog, Observations) async throws -> Void
    ) async throws {
        let observations = Observations()
        try await withCatalog(observer: Observer { observations.add($0) }) { try await body($0, observations) }
    }

    @Test("Each read of a shelf into memory is reported with its kind, and each stored image")
    func shelves() async throws {
        try await Self.withObservations { catalog, observations in
            let (store, shelf) = (CatalogKey("s")!, CatalogKey("dairy")!)
            _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: "Dairy"), in: store)
            for sku in ["a", "b"] {
                _ = try await catalog.products.put(Product(sku: SKU(sku)!, name: sku, priceMinor: 1), in: store)
                _ = try await catalog.products.place(SKU(sku)!, on: shelf, in: store)
            }
            let request = PageRequest(store: store, shelf: shelf, sort: Sort(.name, .ascending)!)
            for _ in 0..<2 { #expect(try await catalog.pages.page(request).products.count == 2) }
            #expect(observations.reads == [.whole])
            #expect(try await ShelfImages(catalog).write() == 1)
            #expect(observations.all.count { $0 == .shelfImageWritten } == 1)
            try await catalog.prices.setPrices([PriceChange(sku: SKU("a")!, priceMinor: 2)], in: store)
            #expect(try await catalog.pages.page(request).products.map(\.priceMinor) == [2, 1])
            #expect(observations.reads == [.whole, .changes])
            let server = PostgresCatalog(catalog.database, encodingEvents: \.json)
            #expect(try await server.pages.page(request).products.map(\.priceMinor) == [2, 1])
            #expect(observations.reads == [.whole, .changes, .image])
            let lanes = observations.all.compactMap { observation -> String? in
                if case .laneWaited(let lane, _) = observation { lane } else { nil }
            }
            #expect(Set(lanes).isSuperset(of: ["writes", "batch"]))
        }
    }

    @Test("An import is reported with its result, and a failed one with the reason")
    func imports() async throws {
        try await Self.withObservations { catalog, observations in
            let file = ImporterTests.Chunks(text: "store,shelf,sku,name\ns,dairy,a,A\ns,dairy,b,B\n")
            await #expect(throws: CatalogError.self) {
                try await Importer(catalog).importFile(file, ImportOptions(format: .csv, createsStores: false))
            }
            let failures = observations.all.compactMap { observation -> String? in
                if case .importFailed(let reason, let duration) = observation, duration > .zero { reason } else { nil }
            }
            #expect(failures.count == 1 && failures.first?.contains("does not exist") == true)
            let result = try await Importer(catalog).importFile(
                file,
                ImportOptions(format: .csv, createsStores: true)
            )
            #expect(result.inserted == 2 && result.storesCreated == 1 && result.shelvesCreated == 1)
            let summaries = observations.all.compactMap { observation -> ImportSummary? in
                if case .importCompleted(let summary, let duration) = observation, duration > .zero {
                    summary
                } else {
                    nil
                }
            }
            #expect(summaries.map(\.inserted) == [2])
            // Nothing is left of both.
            let rows = try await catalog.database.imports.perform(within: .lookup) { connection in
                let statements: [PostgresStatement] = ["SELECT 1 FROM import_row", "SELECT 1 FROM import_run"]
                return try statements.map { statement in try connection.query(statement) { $0.count } }
            }
            #expect(rows == [0, 0])
        }
    }

    @Test("A change of a user's data is tried 16 times if the user or a list is erased meanwhile, and others once")
    func erasures() async throws {
        let database = try Database(TestServer.configuration)
        defer { database.shutDown() }
        /// Counts the attempts.
        final class Counter: Sendable {
            private let count = Mutex(0)
            var value: Int { count.withLock { $0 } }
            func add() { count.withLock { $0 += 1 } }
        }
        let retried: [String?] = ["user_setting_account_fkey", "list_item_list_fkey_102008", nil]
        for constraint in retried {
            let counter = Counter()
            await #expect(throws: CatalogError.unavailable) {
                try await database.retryingErasureConflicts { () async throws -> Int in
                    counter.add()
                    throw PostgresError(.server, "", sqlState: .foreignKeyViolation, constraint: constraint)
                }
            }
            #expect(counter.value == 16)
        }
        for (state, constraint) in [("23503", "placement_shelf_fkey"), ("23505", "user_setting_account_fkey")] {
            let counter = Counter()
            await #expect(throws: PostgresError.self) {
                try await database.retryingErasureConflicts { () async throws -> Int in
                    counter.add()
                    throw PostgresError(.server, "", sqlState: SQLState(state), constraint: constraint)
                }
            }
            #expect(counter.value == 1)
        }
        let counter = Counter()
        let value = try await database.retryingErasureConflicts { () async throws -> Int in
            counter.add()
            if counter.value < 3 {
                throw PostgresError(.server, "", sqlState: .foreignKeyViolation, constraint: "a_account_fkey")
            }
            return 7
        }
        #expect(value == 7 && counter.value == 3)
    }
}
