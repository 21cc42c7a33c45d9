import JSON
import Catalog
import CatalogJSON
import CatalogPostgres
import InMemoryCatalog
import Ordering
import Testing
import TestSupport

/// Devices that go offline and reconnect in any order converge.
@Suite(.timeLimit(.minutes(15))) struct SettingsSyncTests {
    private static let user = UserID("ann")!

    /// A simulated device: its shown settings, its unsent changes and its last revision.
    private struct Device {
        var shown: [SettingKey: (value: JSONValue?, modifiedAt: Timestamp)] = [:]
        var unsent: Set<SettingKey> = []
        /// nil before the first full download.
        var revision: Int64?

        mutating func change(_ key: SettingKey, _ value: JSONValue?, at time: Timestamp) {
            shown[key] = (value, time)
            unsent.insert(key)
        }

        /// Sends local changes and applies the winning values.
        mutating func upload(to store: any SettingsStore) async throws {
            let writes = unsent.sorted().map {
                SettingsEdit.Write($0, shown[$0]!.value, modifiedAt: shown[$0]!.modifiedAt)
            }
            for result in try await store.edit(SettingsEdit(writes), of: user) { apply(result.setting) }
            unsent = []
        }

        mutating func download(from store: any SettingsStore) async throws {
            let page = try await store.settings(of: user, since: revision, limit: nil)
            if page.isResync || revision == nil { shown = shown.filter { unsent.contains($0.key) } }
            // An unsent change may still win.
            for setting in page.settings where !unsent.contains(setting.key) { apply(setting) }
            revision = page.revision
        }

        private mutating func apply(_ setting: Setting) { shown[setting.key] = (setting.value, setting.modifiedAt) }

        var state: [String: String] {
            Dictionary(shown.compactMap { key, entry in entry.value.map { (key.text, $0.text) } }) { a, _ in a }
        }
    }

    private func run(_ store: any SettingsStore, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        // One device starts with a full download, two with the changes since revision 0.
        var devices = [Device(), Device(revision: 0), Device(revision: 0)]
        let keys = (0..<4).map { SettingKey("lists.k\($0)")! }
        let start = Timestamp.now().microseconds - 1_000_000_000
        // The expected result: the latest change of each key, by a clock without ties.
        var latest: [SettingKey: (time: Int64, value: JSONValue?)] = [:]
        for step in 0..<60 {
            let device = Int.random(in: 0..<3, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: try await devices[device].upload(to: store)
            case 1: try await devices[device].download(from: store)
            default:
                let key = keys.randomElement(using: &random)!
                let value: JSONValue? = Bool.random(using: &random) || step % 3 > 0 ? .number("\(step)") : nil
                // Device clocks differ, so a change that is sent later may be older.
                let time = start + Int64(Int.random(in: 0..<500_000, using: &random)) * 1000 + Int64(step)
                if let shown = devices[device].shown[key], shown.modifiedAt.microseconds >= time { continue }
                devices[device].change(key, value, at: Timestamp(microseconds: time))
                if latest[key].map({ $0.time < time }) ?? true { latest[key] = (time, value) }
            }
        }
        for device in [2, 0, 1] { try await devices[device].upload(to: store) }
        for device in 0..<3 { try await devices[device].download(from: store) }
        let expected = Dictionary(latest.compactMap { key, entry in entry.value.map { (key.text, $0.text) } }) { a, _ in
            a
        }
        let stored = try await store.settings(of: Self.user, since: nil, limit: nil).settings
        #expect(Dictionary(stored.map { ($0.key.text, $0.value!.text) }) { a, _ in a } == expected, "seed \(seed)")
        for device in devices { #expect(device.state == expected, "seed \(seed)") }
    }

    @Test("Devices converge with the in-memory catalog")
    func devicesConvergeInMemory() async throws {
        for seed in 0..<300 as Range<UInt64> { try await run(InMemoryCatalog(collate: collator), seed: seed) }
    }

    @Test("Devices converge with PostgreSQL")
    func devicesConvergeInPostgreSQL() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for seed in 0..<40 as Range<UInt64> {
                try await run(catalog.settings, seed: seed)
                try await catalog.users.erase(Self.user)
            }
        }
    }
}
