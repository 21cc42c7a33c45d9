import JSON
import Catalog
import CatalogJSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The log positions of writes, and reads that replicas may answer.
@Suite("States that clients have seen", .timeLimit(.minutes(5))) struct SeenStateTests {
    private static let store = CatalogKey("corner")!
    private static let shelf = CatalogKey("dairy")!

    /// Runs a write, and returns its log position, and the ones before and after it.
    private func recorded(
        _ catalog: PostgresCatalog,
        _ write: () async throws -> Void
    ) async throws -> (logPosition: LogPosition?, before: LogPosition, after: LogPosition) {
        let before = try await catalog.database.logPosition()
        let recorder = LogPositionRecorder()
        try await recorder.run(write)
        return (recorder.logPosition, before, try await catalog.database.logPosition())
    }

    @Test("A write records a log position after its commit, on every path of writes")
    func writesRecordPositions() async throws {
        try await withCatalog { catalog in
            let user = UserID("ann")!
            let writes: [() async throws -> Void] = [
                {
                    _ = try await catalog.shelves.put(
                        Store(key: Self.store, title: "Corner", currency: Currency("EUR")!)
                    )
                },
                { _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "Dairy"), in: Self.store) },
                {
                    let write = SettingsEdit.Write(SettingKey(stored: "colour"), .string("red"))
                    _ = try await catalog.settings.edit(SettingsEdit([write]), of: user)
                },
                {
                    let writes = ["a", "b"].map { SettingsEdit.Write(SettingKey(stored: $0), .bool(true)) }
                    _ = try await catalog.settings.edit(SettingsEdit(writes), of: user)
                },
            ]
            for write in writes {
                let (logPosition, before, after) = try await recorded(catalog, write)
                let found = try #require(logPosition)
                #expect(before.isBefore(found))
                #expect(!after.isBefore(found))
                #expect(found.cluster == before.cluster)
                #expect(found.timeline == before.timeline)
            }
        }
    }

    @Test("A server that is not a standby is never used as a replica, and reads come from the primary")
    func primaryIsNotAReplica() async throws {
        let database = try await TestDatabase.migrated()
        let catalog = PostgresCatalog(
            try Database(database.configuration, replicas: [database.configuration], waitLimit: .seconds(60)),
            encodingEvents: \.json
        )
        let replicas = try #require(catalog.database.router.replicas)
        _ = try await catalog.shelves.put(Store(key: Self.store, title: "Corner", currency: Currency("EUR")!))
        _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "Dairy"), in: Self.store)
        let deadline = ContinuousClock.now + .seconds(60)
        while replicas.status[0].problem != ReplicaProblem.promoted.rawValue, .now < deadline {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(replicas.status[0].problem == ReplicaProblem.promoted.rawValue)
        #expect(!replicas.replacePrimary)
        for token in [nil, try await catalog.database.logPosition().token] {
            let page = try await catalog.states.performReads(after: token) {
                try await catalog.pages.page(PageRequest(store: Self.store, shelf: Self.shelf))
            }
            #expect(page.items.isEmpty)
        }
        #expect(replicas.status[0].reads == 0)
        #expect(await catalog.readiness.readiness() == .ready)
        catalog.shutDown()
        try await database.drop()
    }

    @Test("A read from a server that is not a standby is refused, also if it was chosen")
    func readsCheckTheirServer() async throws {
        let database = try await TestDatabase.migrated()
        let aisle = try Database(database.configuration, replicas: [database.configuration], waitLimit: .seconds(60))
        let replicas = try #require(aisle.router.replicas)
        let epoch = try #require(EpochRecord(identity: "1/00000001/1/1", startedAt: 0))
        let requirement = ReplicaRequirement(epoch: epoch, minimum: 0)
        let source = ReadSource.replica(ReplicaRead(replicas: replicas, index: 0, requirement: requirement))
        await #expect(throws: ReplicaProblem.promoted) {
            _ = try await source.read([PostgresQuery("SELECT 1")], into: 0) { $0 = $2.count + $1 }
        }
        await #expect(throws: ReplicaProblem.promoted) {
            try await source.snapshot(within: .lookup) { try $0.execute("SELECT 1") }
        }
        aisle.shutDown()
        try await database.drop()
    }
}
