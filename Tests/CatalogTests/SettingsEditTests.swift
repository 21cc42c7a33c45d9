import JSON
import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct SettingsEditTests {
    private static let key = SettingKey("theme")!
    private static func time(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }

    private func existing(_ value: JSONValue?, revision: Int64 = 5, at seconds: Int64 = 100) -> [SettingKey: Setting] {
        [Self.key: Setting(key: Self.key, value: value, revision: revision, modifiedAt: Self.time(seconds))]
    }

    private func decide(
        _ value: JSONValue?,
        at seconds: Int64? = nil,
        _ existing: [SettingKey: Setting] = [:],
        expecting expectation: SettingsEdit.Expectation = .unconditional,
        now: Int64 = 200
    ) throws -> SettingsEdit.Result {
        let write = SettingsEdit.Write(Self.key, value, modifiedAt: seconds.map { Self.time($0) })
        let results = try SettingsEdit([write], expecting: expectation).decide(existing, after: 9, now: Self.time(now))
        return try #require(results.first)
    }

    @Test("A write without a time always wins and gets the next revision")
    func writesNow() throws {
        let result = try decide(.bool(true), existing(.bool(false)))
        #expect(result.isApplied)
        #expect(result.setting.revision == 10)
        #expect(result.setting.value == .bool(true))
        #expect(result.previous?.value == .bool(false))
    }

    @Test("Of two device times the later wins, and a tie goes to the stored value")
    func deviceTimes() throws {
        #expect(try decide(.bool(true), at: 101, existing(.bool(false))).isApplied)
        #expect(try !decide(.bool(true), at: 100, existing(.bool(false))).isApplied)
        #expect(try !decide(.bool(true), at: 99, existing(.bool(false))).isApplied)
    }

    @Test("A time in the future counts as now")
    func futureTimes() throws {
        let result = try decide(.bool(true), at: 10_000, existing(.bool(false)))
        #expect(result.isApplied)
        #expect(result.setting.modifiedAt == Self.time(200))
    }

    @Test("Deleting a missing setting changes nothing")
    func deletesNothing() throws {
        #expect(try !decide(nil).isApplied)
        #expect(try !decide(nil, existing(nil)).isApplied)
        #expect(try decide(nil, existing(.bool(true))).isApplied)
    }

    @Test("Only a later write overrides a deletion")
    func tombstones() throws {
        #expect(try !decide(.bool(true), at: 50, existing(nil, at: 100)).isApplied)
        #expect(try decide(.bool(true), at: 150, existing(nil, at: 100)).isApplied)
    }

    @Test("A failed expectation rejects the edit with the current revision")
    func expectations() throws {
        let stored = existing(.bool(true), revision: 5)
        #expect(try decide(.null, stored, expecting: .present).isApplied)
        #expect(try decide(.null, stored, expecting: .revision([4, 5])).isApplied)
        #expect(try decide(.null, expecting: .absent).isApplied)
        #expect(throws: CatalogError.staleSetting(current: 5)) { try decide(.null, stored, expecting: .absent) }
        #expect(throws: CatalogError.staleSetting(current: 5)) { try decide(.null, stored, expecting: .revision([4])) }
        #expect(throws: CatalogError.staleSetting(current: nil)) { try decide(.null, expecting: .present) }
        #expect(throws: CatalogError.staleSetting(current: nil)) {
            try decide(.null, existing(nil), expecting: .revision([5]))
        }
    }

    @Test("Exhausted revisions are an internal error, not a crash")
    func exhaustedRevisions() {
        let edit = SettingsEdit([.init(Self.key, .bool(true))])
        #expect(throws: CatalogError.self) { try edit.decide([:], after: .max, now: Self.time(1)) }
    }
}
