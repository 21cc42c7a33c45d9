import JSON
import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Pages that are read from the workers of a Citus cluster.
@Suite(
    .enabled(if: CitusServers.prefix != nil, "needs a build of Citus: make test-citus"),
    .timeLimit(.minutes(5))
)
struct StoreWorkersTests {
    private static let shelf = CatalogKey("dairy")!
    private static let user = UserID("ann")!

    private func addStore(_ name: String, to catalog: PostgresCatalog) async throws -> CatalogKey {
        let store = CatalogKey(name)!
        _ = try await catalog.shelves.put(Store(key: store, title: name, currency: Currency("EUR")!))
        _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "Dairy"), in: store)
        for sku in ["b", "a", "c"] {
            _ = try await catalog.products.put(Product(sku: SKU(sku)!, name: "\(sku) of \(name)"), in: store)
            _ = try await catalog.products.place(SKU(sku)!, on: Self.shelf, in: store)
        }
        return store
    }

    private func names(
        _ store: CatalogKey,
        _ sort: Sort? = nil,
        of user: UserID? = nil,
        in catalog: PostgresCatalog
    ) async throws -> [String] {
        var request = PageRequest(store: store, shelf: Self.shelf, sort: sort, limit: 10)
        request.user = user
        return try await catalog.pages.page(request).products.map(\.name)
    }

    private func reads(_ catalog: PostgresCatalog) -> Int {
        catalog.database.router.status.reduce(0) { $0 + $1.reads }
    }

    /// Reads pages until they come from workers.
    private func untilRead(_ stores: [CatalogKey], in catalog: PostgresCatalog) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        for store in stores {
            let before = reads(catalog)
            while reads(catalog) == before {
                try #require(.now < deadline, "pages of \(store) do not come from workers")
                _ = try await names(store, in: catalog)
                await Task.yield()
            }
        }
    }

    @Test("Pages come from the workers of their stores, and from nowhere else")
    func readsFromWorkers() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var stores: [CatalogKey] = []
            for number in 0..<8 { stores.append(try await addStore("store-\(number)", to: catalog)) }
            try await untilRead(stores, in: catalog)
            for store in stores {
                #expect(
                    try await names(store, Sort.parse("name"), in: catalog)
                        == ["a", "b", "c"].map { "\($0) of \(store)" }
                )
            }
            let status = catalog.database.router.status
            #expect(status.count == 2)
            #expect(status.allSatisfy { $0.isUsable && $0.reads > 0 }, "\(status)")
            // Every page that follows does, too.
            let before = reads(catalog)
            for store in stores { _ = try await names(store, Sort.parse("-name"), in: catalog) }
            #expect(reads(catalog) >= before + stores.count)
        }
    }

    @Test("A page of a user combines the worker of the store with the user's remembered sort")
    func readsRememberedSorts() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let store = try await addStore("corner", to: catalog)
            try await untilRead([store], in: catalog)
            for (sort, expected) in [
                ("name", ["a", "b", "c"]), ("-name", ["c", "b", "a"]), ("name", ["a", "b", "c"]),
            ] {
                let key = SettingKey.sort(of: Self.shelf, in: store)
                _ = try await catalog.settings.edit(SettingsEdit([.init(key, .string(sort))]), of: Self.user)
                let before = reads(catalog)
                let found = try await names(store, of: Self.user, in: catalog)
                #expect(found == expected.map { "\($0) of \(store)" })
                #expect(reads(catalog) > before)
            }
        }
    }

    @Test("A page of a moved store has the writes that followed, although its old worker still has a copy")
    func followsMoves() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let store = try await addStore("corner", to: catalog)
            try await untilRead([store], in: catalog)
            let connection = try await PostgresConnection.connect(catalog.database.writes.configuration.inOwnerRole)
            try await connection.perform(within: .seconds(60)) { connection in
                try connection.run(
                    script: """
                        SELECT citus_move_shard_placement(p.shardid, n.nodename, n.nodeport, other.nodename, other.nodeport)
                        FROM store s JOIN pg_dist_placement p ON p.shardid = get_shard_id_for_distribution_column('shelf', s.store_id)
                        JOIN pg_dist_node n ON n.groupid = p.groupid
                        JOIN pg_dist_node other ON other.groupid NOT IN (0, p.groupid)
                        """
                )
            }
            await connection.close()
            _ = try await catalog.products.put(Product(sku: SKU("a")!, name: "another"), in: store)
            #expect(
                try await names(store, Sort.parse("name"), in: catalog) == ["another", "b of corner", "c of corner"]
            )
            try await untilRead([store], in: catalog)
            #expect(
                try await names(store, Sort.parse("name"), in: catalog) == ["another", "b of corner", "c of corner"]
            )
        }
    }

    @Test("The coordinator looks up missing shelves")
    func looksUpWhatIsMissing() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let store = try await addStore("corner", to: catalog)
            try await untilRead([store], in: catalog)
            let missing = PageRequest(store: store, shelf: CatalogKey("bakery")!)
            await #expect(throws: CatalogError.notFound("shelf “bakery”")) { try await catalog.pages.page(missing) }
            _ = try await catalog.shelves.put(Shelf(key: CatalogKey("bakery")!, title: "Bakery"), in: store)
            #expect(try await catalog.pages.page(missing).products.isEmpty)
        }
    }

    @Test("A worker that fails is passed over until its monitor reaches it, and no page fails")
    func passesOverFailingWorkers() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let store = try await addStore("corner", to: catalog)
            try await untilRead([store], in: catalog)
            let id = try #require(catalog.database.storeIDs[store])
            let router = catalog.database.router
            let workers = try #require(router.workers)
            let (read, shortReads) = try #require(workers.read(of: id, through: router.coordinator(for: nil)))
            #expect(shortReads != nil)
            workers.readFailed(PostgresError(.connection, "the connection broke"), read.shard, read.worker)
            #expect(workers.read(of: id, through: router.coordinator(for: nil))?.shortReads == nil)
            #expect(try await names(store, in: catalog).count == 3)
            // Its monitor reaches it again.
            try await untilRead([store], in: catalog)
        }
    }
}

/// Servers of a database that is not distributed.
@Suite(.disabled(if: CitusServers.prefix != nil, "all tables are distributed"), .timeLimit(.minutes(5)))
struct WorkersWithoutCitusTests {
    @Test("Without Citus, a server looks for workers once and keeps no connection")
    func looksOnce() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var configuration = catalog.database.writes.configuration
            configuration.applicationName = "looks for workers"
            let workers = StoreWorkers(configuration, ConnectionCounts(), .none)
            workers.start()
            defer { workers.shutDown() }
            func connections() async throws -> Int {
                try await catalog.database.writes.perform { connection in
                    try connection.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'looks for workers'")
                    {
                        $0.count
                    }
                }
            }
            let isInactive = await eventually { !workers.isActive }
            try #require(isInactive)
            let isDisconnected = try await eventually { try await connections() == 0 }
            try #require(isDisconnected)
            #expect(workers.read(of: 1, through: catalog.database.router.coordinator(for: nil)) == nil)
            #expect(workers.status.isEmpty)
        }
    }
}
