import JSON
import Catalog
@testable import CatalogPostgres
import LibPQ
import Testing
import TestSupport

/// Databases that lost their last commits, in a failover or a restore.
@Suite(.timeLimit(.minutes(5))) struct DatabaseEpochTests {
    private static let ann = UserID("ann")!
    private static let (shop, shelf) = (CatalogKey("shop")!, CatalogKey("shelf")!)

    private func set(_ value: String, in catalog: PostgresCatalog) async throws -> Int64 {
        let edit = SettingsEdit([.init(SettingKey("colour")!, .string(value))])
        return try await catalog.settings.edit(edit, of: Self.ann)[0].setting.revision
    }

    private func changes(since revision: Int64, in catalog: PostgresCatalog) async throws -> SettingsPage {
        try await catalog.settings.settings(of: Self.ann, since: revision, limit: nil)
    }

    private func run(_ script: String, in catalog: PostgresCatalog) async throws {
        try await catalog.database.writes.perform { try $0.run(script: script) }
    }

    @Test(
        "Every device resyncs once in a new epoch of the database",
        arguments: [
            "DELETE FROM database_life",
            "UPDATE database_life SET identity = 'another cluster' WHERE identity NOT LIKE 'worker %'",
        ]
    )
    func devicesResyncOnce(_ script: String) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let seen = try await set("red", in: catalog)
            #expect(!(try await changes(since: seen, in: catalog).isResync))
            try await run(script, in: catalog)
            // The settings, the lists and the events of a user agree.
            let resync = try await changes(since: seen, in: catalog)
            #expect(resync.isResync)
            #expect(resync.settings.map(\.value) == [.string("red")])
            #expect(resync.revision > seen)
            #expect(try await catalog.lists.lists(of: Self.ann, by: nil, since: seen).isResync)
            #expect(try await catalog.versions.changes(of: Self.ann, since: seen, limit: 10).isResync)
            let next = try await changes(since: resync.revision, in: catalog)
            #expect(!next.isResync)
            #expect(next.settings.isEmpty)
            #expect(next.revision == resync.revision)
            // A change in the current epoch is an ordinary one.
            let later = try await set("blue", in: catalog)
            #expect(later > resync.revision)
            #expect(!(try await changes(since: later, in: catalog).isResync))
        }
    }

    @Test(
        "Every device resyncs once after a failover of a worker",
        .enabled(if: CitusServers.prefix != nil, "needs a build of Citus: make test-citus")
    )
    func devicesResyncAfterFailoversOfWorkers() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let seen = try await set("red", in: catalog)
            func identities() async throws -> [String] {
                try await catalog.database.writes.perform { connection in
                    try connection.query("SELECT identity FROM database_life WHERE identity LIKE 'worker %' ORDER BY 1")
                    {
                        try $0.map { try $0.text(0) }
                    }
                }
            }
            // The monitors record both workers, and that is not a failover.
            let deadline = ContinuousClock.now + .seconds(60)
            while try await identities().count < 2 { try #require(.now < deadline, "the workers are not recorded") }
            #expect(!(try await changes(since: seen, in: catalog).isResync))
            let known = try await identities()
            let promoted = WorkerIdentity(worker: String(known[0].prefix { $0 != "/" }), life: "1/00000002")
            for _ in 0..<2 {
                try await catalog.database.writes.perform { try DatabaseEpoch.record(promoted, $0) }
            }
            #expect(try await identities() == [promoted.text, known[1]].sorted())
            let resync = try await changes(since: seen, in: catalog)
            #expect(resync.isResync)
            #expect(!(try await changes(since: resync.revision, in: catalog).isResync))
            // A server that has noticed it later records the same.
            try await catalog.database.writes.perform { try DatabaseEpoch.record(promoted, $0) }
            #expect(!(try await changes(since: resync.revision, in: catalog).isResync))
        }
    }

    @Test("A full read does not begin a new epoch of the database")
    func completeReadsAreNotChecked() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let seen = try await set("red", in: catalog)
            try await run("DELETE FROM database_life", in: catalog)
            let all = try await catalog.settings.settings(of: Self.ann, since: nil, limit: nil)
            #expect(all.revision == seen)
            #expect(!all.isResync)
        }
    }

    @Test("A lost version of a shelf is not assigned again")
    func lostVersionsAreNotAssignedAgain() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "Shelf"), in: Self.shop)
            func state() async throws -> (version: Int64, orderVersion: Int64) {
                let state = try await catalog.shelves.shelf(Self.shop, Self.shelf).state
                return (state.version, state.orderVersion)
            }
            let kept = try await state()
            for sku in ["a", "b"] {
                _ = try await catalog.products.put(Product(sku: SKU(sku)!, name: sku), in: Self.shop)
                _ = try await catalog.products.place(SKU(sku)!, on: Self.shelf, in: Self.shop)
            }
            let lost = try await state()
            #expect(lost.version > kept.version)
            // The database is as it was before the last commits.
            try await run(
                """
                DELETE FROM placement; DELETE FROM product;
                UPDATE shelf SET version = \(kept.version), order_version = \(kept.orderVersion)
                """,
                in: catalog
            )
            _ = try await catalog.products.put(Product(sku: SKU("c")!, name: "c"), in: Self.shop)
            _ = try await catalog.products.place(SKU("c")!, on: Self.shelf, in: Self.shop)
            let new = try await state()
            #expect(new.version > lost.version)
            #expect(new.orderVersion > lost.orderVersion)
        }
    }
}
