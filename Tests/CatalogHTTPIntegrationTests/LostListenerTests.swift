import Catalog
import CatalogJSON
import CatalogPostgres
import JSON
import LibPQ
import Live
import TestSupport
import Testing

/// A server whose connection for notifications is lost. Its database announces nothing, and the counters are polled once an hour, so
/// only gaps lead to events.
@Suite(.timeLimit(.minutes(15))) struct LostListenerTests {
    private static let ann = UserID("ann")!

    @Test("Subscribers get what changed while the connection for notifications was lost")
    func reconnectionIsAGap() async throws {
        let database = try await TestDatabase.migrated()
        let catalog = PostgresCatalog(try Database(database.configuration, announces: false), encodingEvents: \.json)
        func set(_ value: Int) async throws {
            let write = SettingsEdit.Write(SettingKey("k")!, .number("\(value)"))
            _ = try await catalog.settings.edit(SettingsEdit([write]), of: Self.ann)
        }
        try await set(0)
        var options = LiveHub.Options()
        options.poll = .seconds(3600)
        options.heartbeat = .seconds(36_000)
        let hub = LiveHub(
            pages: catalog.pages,
            versions: catalog.versions,
            source: PostgresChangeSource(database.configuration),
            options: options
        )
        let subscription = try await hub.subscribe(Self.ann, from: .now)
        // The hub learns of the first change because listening begins with a gap.
        try await set(1)
        let running = Task { await hub.run() }
        #expect(try await subscription.nextEventNames() == [.setting])
        for round in 2...3 {
            try await set(round)
            let ended = try await catalog.database.writes.perform { connection in
                try connection.query(
                    """
                    SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
                    WHERE datname = current_database() AND query LIKE 'LISTEN%'
                    """
                ) { try $0.first { try $0.int(0) } }
            }
            #expect(ended == 1)
            #expect(try await subscription.nextEventNames() == [.setting])
        }
        running.cancel()
        hub.close()
        catalog.shutDown()
        try await database.drop()
    }
}
