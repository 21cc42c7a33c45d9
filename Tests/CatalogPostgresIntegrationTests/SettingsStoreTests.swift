import JSON
import Catalog
import CatalogJSON
import Foundation
import InMemoryCatalog
import LibPQ
import Testing
import TestSupport

@testable import CatalogPostgres

/// The contract of settings stores, checked in memory and in PostgreSQL.
@Suite(.timeLimit(.minutes(15))) struct SettingsStoreTests {
    private static let ann = UserID("ann")!
    private static let bob = UserID("bób 🧀")!

    private func key(_ text: String) -> SettingKey { SettingKey(text)! }

    /// Runs a check on both stores.
    private func onBoth(_ check: (CatalogStorage) async throws -> Void) async throws {
        try await check(InMemoryCatalog(collate: collator).storage)
        try await withCatalog { (catalog: PostgresCatalog) async throws in try await check(catalog.storage) }
    }

    private func put(
        _ store: any SettingsStore,
        _ key: String,
        _ value: JSONValue?,
        _ expectation: SettingsEdit.Expectation = .unconditional,
        of user: UserID = ann
    ) async throws -> SettingsEdit.Result {
        try await store.edit(SettingsEdit([.init(self.key(key), value)], expecting: expectation), of: user)[0]
    }

    @Test("A setting is created, read, changed and deleted")
    func settingLifecycle() async throws {
        try await onBoth { store in
            #expect(try await store.settings.settings(of: Self.ann, since: nil, limit: nil).settings.isEmpty)
            #expect(try await store.versions.revisions(of: [Self.ann]) == [Self.ann: 0])
            #expect(try await put(store.settings, "a", nil).isApplied == false)
            #expect(try await store.versions.revisions(of: [Self.ann]) == [Self.ann: 0])
            // The stored value equals the sent one, including digits and member order.
            let value = try JSONReader.parse(Array(#"{"z":1.50,"a":[1e2,null,true],"ü":"\u00e9\"\n"}"#.utf8))
            let first = try await put(store.settings, "a/b c/ü", value)
            #expect(first.isApplied)
            #expect(first.previous == nil)
            #expect(try await store.settings.setting(key("a/b c/ü"), of: Self.ann) == first.setting)
            #expect(try await store.settings.setting(key("a/b c/ü"), of: Self.ann).value == value)
            let second = try await put(store.settings, "a/b c/ü", .bool(false))
            #expect(second.previous == first.setting)
            #expect(second.setting.revision > first.setting.revision)
            #expect(second.setting.modifiedAt >= first.setting.modifiedAt)
            await #expect(throws: CatalogError.self) { try await store.settings.setting(key("a/b c/ü"), of: Self.bob) }
            #expect(try await put(store.settings, "a/b c/ü", .string("bob's"), of: Self.bob).previous == nil)
            #expect(try await store.settings.setting(key("a/b c/ü"), of: Self.ann).value == .bool(false))
            let gone = try await put(store.settings, "a/b c/ü", nil)
            #expect(gone.isApplied)
            #expect(gone.setting.isDeleted)
            #expect(try await put(store.settings, "a/b c/ü", nil).isApplied == false)
            await #expect(throws: CatalogError.self) { try await store.settings.setting(key("a/b c/ü"), of: Self.ann) }
            #expect(try await store.settings.settings(of: Self.ann, since: nil, limit: nil).settings.isEmpty)
            let since = try await store.settings.settings(of: Self.ann, since: first.setting.revision, limit: nil)
            #expect(since.settings == [gone.setting])
            #expect(since.revision == gone.setting.revision)
            #expect(!since.isResync)
            let back = try await put(store.settings, "a/b c/ü", .number("7"))
            #expect(back.previous?.isDeleted == true)
            #expect(try await store.versions.revisions(of: [Self.ann, Self.bob]).count == 2)
        }
    }

    @Test("An edit whose expectation fails changes nothing")
    func failedExpectationChangesNothing() async throws {
        try await onBoth { store in
            func stale(_ expectation: SettingsEdit.Expectation) async throws -> Int64?? {
                do {
                    _ = try await put(store.settings, "k", .number("2"), expectation)
                    return nil
                } catch CatalogError.staleSetting(let current) {
                    return .some(current)
                }
            }
            #expect(try await stale(.present) == .some(nil))
            #expect(try await stale(.revision([7])) == .some(nil))
            let first = try await put(store.settings, "k", .number("1"), .absent)
            #expect(try await stale(.absent) == .some(first.setting.revision))
            #expect(try await stale(.revision([first.setting.revision - 1])) == .some(first.setting.revision))
            #expect(try await store.settings.setting(key("k"), of: Self.ann) == first.setting)
            #expect(try await store.versions.revisions(of: [Self.ann])[Self.ann] == first.setting.revision)
            #expect(try await put(store.settings, "k", .number("2"), .revision([7, first.setting.revision])).isApplied)
            #expect(try await put(store.settings, "k", nil, .present).isApplied)
            #expect(try await stale(.present) == .some(nil))
            #expect(try await put(store.settings, "k", .number("3"), .absent).isApplied)
        }
    }

    @Test("Several settings change together or not at all")
    func editsAreAtomic() async throws {
        try await onBoth { store in
            let now = Timestamp.now()
            func at(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: now.microseconds + seconds * 1_000_000) }
            let writes: [SettingsEdit.Write] = [
                .init(key("old"), .number("1"), modifiedAt: at(-1000)), .init(key("gone"), nil, modifiedAt: at(-1000)),
                // A clock that runs ahead has no advantage.
                .init(key("future"), .number("1"), modifiedAt: at(1_000_000)),
            ]
            let results = try await store.settings.edit(SettingsEdit(writes), of: Self.ann)
            #expect(results.map(\.isApplied) == [true, true, true])
            #expect(Set(results.map(\.setting.revision)).count == 3)
            #expect(results[2].setting.modifiedAt < at(1000))
            let again = try await store.settings.edit(SettingsEdit(writes), of: Self.ann)
            // The first two are ties, which the stored value wins; the third counts as now again.
            #expect(again.map(\.isApplied) == [false, false, true])
            let later = try await store.settings.edit(
                SettingsEdit([
                    .init(key("old"), nil, modifiedAt: at(-999)),
                    .init(key("gone"), .bool(true), modifiedAt: at(-1001)),
                ]),
                of: Self.ann
            )
            #expect(later.map(\.isApplied) == [true, false])
            #expect(later[1].setting.isDeleted)
            let page = try await store.settings.settings(of: Self.ann, since: nil, limit: nil)
            #expect(page.settings.map(\.key.text) == ["future"])
            #expect(try await store.settings.edit(SettingsEdit([]), of: Self.ann).isEmpty)
        }
    }

    @Test("The number of a user's settings is limited")
    func limitsSettings() async throws {
        try await onBoth { store in
            let now = Timestamp.now()
            func writes(_ range: Range<Int>) -> SettingsEdit {
                SettingsEdit(range.map { .init(key("k\($0)"), .number("\($0)"), modifiedAt: now) })
            }
            _ = try await store.settings.edit(writes(0..<9999), of: Self.ann)
            await #expect(throws: CatalogError.self) {
                try await store.settings.edit(writes(9998..<10_001), of: Self.ann)
            }
            #expect(try await store.settings.edit(writes(9999..<10_000), of: Self.ann)[0].isApplied)
            await #expect(throws: CatalogError.self) { try await put(store.settings, "one", .number("1")) }
            #expect(try await put(store.settings, "k7", .string("again")).isApplied)
            #expect(try await put(store.settings, "k7", nil).isApplied)
            #expect(try await put(store.settings, "one", .number("1")).isApplied)
            let page = try await store.settings.settings(of: Self.ann, since: nil, limit: nil)
            #expect(page.settings.count == 10_000)
            // Each page continues after the previous one.
            var paged: [Setting] = []
            var since: Int64 = 0
            repeat {
                let part = try await store.settings.settings(of: Self.ann, since: since, limit: 3000)
                paged += part.settings.filter { !$0.isDeleted }
                since = part.revision
                if part.settings.count < 3000 { break }
            } while true
            #expect(paged == page.settings)
        }
    }

    @Test("Settings of many users that are set at the same time are all kept, and each is answered with its own")
    func manyUsersWriteTogether() async throws {
        try await onBoth { store in
            let results = try await withThrowingTaskGroup(of: (Int, SettingsEdit.Result).self) { group in
                for number in 0..<400 {
                    group.addTask {
                        let user = UserID("user \(number % 60)")!
                        return (
                            number, try await put(store.settings, "key \(number % 7)", .number("\(number)"), of: user)
                        )
                    }
                }
                return try await group.reduce(into: [Int: SettingsEdit.Result]()) { $0[$1.0] = $1.1 }
            }
            for user in 0..<60 {
                let own = results.filter { $0.key % 60 == user }
                for (number, result) in own {
                    #expect(result.setting.key == key("key \(number % 7)"))
                    #expect(result.setting.value == .number("\(number)"))
                }
                #expect(Set(own.values.map(\.setting.revision)).count == own.count)
                let kept = try await store.settings.settings(of: UserID("user \(user)")!, since: nil, limit: nil)
                    .settings
                let last = Dictionary(grouping: own.values, by: \.setting.key)
                    .mapValues { $0.max { $0.setting.revision < $1.setting.revision }!.setting }
                #expect(Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0) }) == last)
            }
        }
    }

    @Test("A user's locked account does not make other users wait")
    func lockedAccountsConcernTheirUser() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let store: any SettingsStore = catalog.settings
            _ = try await put(store, "a", .bool(true))
            let blocker = try await PostgresConnection.connect(catalog.database.writes.configuration)
            try await blocker.perform {
                try $0.begin()
                _ = try $0.query(UserStatements.lockForErasure, [.text(Self.ann.text)]) { $0.count }
            }
            let waiting = Task { try await put(store, "a", .bool(false)) }
            for round in 0..<5 {
                try await withThrowingTaskGroup { group in
                    for number in 0..<20 {
                        let user = UserID("user \(round) \(number)")!
                        group.addTask {
                            let result = try await put(store, "a", .number("1"), of: user)
                            #expect(result.isApplied)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try await store.setting(key("a"), of: Self.ann).value == .bool(true))
            try await blocker.perform { $0.rollback() }
            // On a slow machine, the write has waited for longer than a lock may take.
            do { #expect(try await waiting.value.isApplied) } catch CatalogError.unavailable {
                #expect(try await put(store, "a", .bool(false)).isApplied)
            }
            await blocker.close()
        }
    }

    @Test("The limit is exact, although two servers add settings of a user at the same time")
    func limitIsExact() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let servers = [catalog, PostgresCatalog(catalog.database, encodingEvents: \.json)]
            let writes = (150..<Setting.countLimit).map { SettingsEdit.Write(key("k\($0)"), .bool(true)) }
            _ = try await servers[0].settings.edit(SettingsEdit(writes), of: Self.ann)
            let accepted = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let new = SettingsEdit([.init(key("new \(number)"), .bool(true))])
                        // All wait for one account; on a slow machine, some wait too long.
                        for _ in 0..<100 {
                            do throws(CatalogError) {
                                _ = try await servers[number % 2].settings.edit(new, of: Self.ann)
                                return true
                            } catch {
                                if error == SettingsEdit.tooManySettings() { return false }
                            }
                        }
                        return false
                    }
                }
                return await group.reduce(0) { $1 ? $0 + 1 : $0 }
            }
            #expect(accepted == 150)
            await #expect(throws: SettingsEdit.tooManySettings()) {
                try await put(catalog.settings, "one more", .bool(true))
            }
            #expect(try await put(catalog.settings, "k150", .bool(false)).isApplied)
        }
    }

    @Test("An edit that requires a shelf fails without it, and changes nothing")
    func editsRequireTheirShelf() async throws {
        try await onBoth { store in
            let (market, dairy) = (CatalogKey("market")!, CatalogKey("dairy")!)
            var edit = SettingsEdit([.init(.sort(of: dairy, in: market), .string("price"))])
            edit.shelf = ShelfAddress(market, dairy)
            for expectation in [SettingsEdit.Expectation.unconditional, .absent] {
                edit.expectation = expectation
                await #expect(throws: CatalogError.notFound("store “market”")) {
                    try await store.settings.edit(edit, of: Self.ann)
                }
            }
            _ = try await store.shelves.put(Store(key: market, title: "Market", currency: Currency("EUR")!))
            await #expect(throws: CatalogError.notFound("shelf “dairy”")) {
                try await store.settings.edit(edit, of: Self.ann)
            }
            #expect(try await store.versions.revisions(of: [Self.ann]) == [Self.ann: 0])
            _ = try await store.shelves.put(Shelf(key: dairy, title: "Dairy"), in: market)
            edit.expectation = .unconditional
            #expect(try await store.settings.edit(edit, of: Self.ann)[0].isApplied)
            try await store.shelves.remove(shelf: dairy, from: market)
            await #expect(throws: CatalogError.notFound("shelf “dairy”")) {
                try await store.settings.edit(edit, of: Self.ann)
            }
        }
    }

    @Test("A device that missed swept tombstones gets a resync")
    func sweptTombstonesCauseResync() async throws {
        try await onBoth { store in
            let first = try await put(store.settings, "kept", .number("1"))
            let now = Timestamp.now()
            func delete(_ range: Range<Int>) async throws -> [SettingsEdit.Result] {
                try await store.settings.edit(
                    SettingsEdit(range.map { .init(key("d\($0)"), nil, modifiedAt: now) }),
                    of: Self.ann
                )
            }
            let early = try await delete(0..<9000)
            let late = try await delete(9000..<10_010)
            let since = try await store.settings.settings(of: Self.ann, since: 0, limit: nil)
            #expect(since.settings.count == 10_001)
            #expect(since.settings.contains(first.setting))
            #expect(
                try await store.settings.settings(of: Self.ann, since: early[8].setting.revision, limit: nil).isResync
            )
            let known = try await store.settings.settings(of: Self.ann, since: early[9].setting.revision, limit: nil)
            #expect(!known.isResync)
            #expect(known.settings.count == 10_000)
            #expect(known.settings.last == late.last?.setting)
        }
    }

    @Test("A shelf's version changes with its content")
    func versionsCoverShelfContent() async throws {
        let (store, parent, shelf) = (CatalogKey("s")!, CatalogKey("p")!, CatalogKey("x")!)
        let address = ShelfAddress(store, shelf)
        try await onBoth { catalog in
            _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: parent, title: "P"), in: store)
            #expect(try await catalog.versions.versions(of: [address]) == [address: nil])
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: "X", parent: parent), in: store)
            var seen: Set<ShelfVersion> = []
            func checkTag() async throws {
                let version = try #require(
                    try await catalog.versions.versions(of: [address, ShelfAddress(store, CatalogKey("no")!)])[address]
                        ?? nil
                )
                #expect(version == ShelfVersion(try await catalog.shelves.shelf(store, shelf)))
                #expect(seen.insert(version).inserted)
            }
            try await checkTag()
            _ = try await catalog.shelves.put(
                Shelf(key: parent, title: "P", defaultSort: Sort(.price, .descending)),
                in: store
            )
            try await checkTag()
            _ = try await catalog.products.put(Product(sku: SKU("a")!, name: "A", priceMinor: 1), in: store)
            _ = try await catalog.products.place(SKU("a")!, on: shelf, in: store)
            try await checkTag()
            _ = try await catalog.products.put(Product(sku: SKU("a")!, name: "A", priceMinor: 2), in: store)
            try await checkTag()
            _ = try await catalog.shelves.put(
                Store(key: store, title: "S", currency: Currency("EUR")!, soldOut: .mixed)
            )
            try await checkTag()
        }
    }

    @Test("A request with a revision of an erased account gets a resync")
    func erasedAccountsResync() async throws {
        try await onBoth { store in
            let first = try await put(store.settings, "a", .number("1"))
            let none = try await store.settings.settings(of: Self.bob, since: 5, limit: nil)
            #expect(none == SettingsPage(settings: [], revision: 0, isResync: true))
            let ahead = try await store.settings.settings(of: Self.ann, since: first.setting.revision + 10, limit: nil)
            #expect(ahead.isResync)
            #expect(ahead.settings == [first.setting])
            try await store.users.erase(Self.ann)
            try await store.users.erase(Self.ann)
            #expect(try await store.versions.revisions(of: [Self.ann]) == [Self.ann: 0])
            let back = try await put(store.settings, "b", .number("2"))
            // Revisions never repeat.
            #expect(back.setting.revision > first.setting.revision)
            let known = try await store.settings.settings(of: Self.ann, since: first.setting.revision, limit: nil)
            #expect(known.isResync)
            #expect(known.settings == [back.setting])
        }
    }

    @Test("Merging a guest keeps the newer value of each setting")
    func mergeKeepsNewerValues() async throws {
        let guest = UserID("guest:1")!
        try await onBoth { store in
            for (number, name) in ["theirs", "both", "gone", "mine"].enumerated() where name != "mine" {
                _ = try await put(store.settings, name, .number("\(number)"), of: guest)
            }
            _ = try await put(store.settings, "gone", nil, of: guest)
            _ = try await put(store.settings, "both", .string("account's, later"))
            _ = try await put(store.settings, "mine", .bool(true))
            func merge(_ call: IdempotentCall<GuestMerge>? = nil) async throws -> String {
                String(decoding: try await store.users.merge(guest, into: Self.ann, once: call).json, as: UTF8.self)
            }
            let call = IdempotentCall<GuestMerge>(key: "k", fingerprint: [1])
            let first = try await merge(call)
            #expect(first.contains(#""merged":1,"kept":1"#))
            let settings = try await store.settings.settings(of: Self.ann, since: nil, limit: nil).settings
            #expect(
                Set(settings.map { "\($0.key) \($0.value!.text)" }) == [
                    "theirs 0", #"both "account's, later""#, "mine true",
                ]
            )
            #expect(try await store.versions.revisions(of: [guest]) == [guest: 0])
            #expect(try await merge(call) == first)
            #expect(try await merge().contains(#""merged":0,"kept":0"#))
            await #expect(throws: CatalogError.keyReused) {
                try await merge(IdempotentCall(key: "k", fingerprint: [2]))
            }
        }
    }

    @Test("A ticket is valid once, and for a short time")
    func ticketsAreSingleUse() async throws {
        try await onBoth { store in
            let now = Timestamp.now().microseconds
            func ticket(_ number: UInt8, _ seconds: Int64 = 60_000) -> Ticket {
                Ticket(
                    user: Self.ann,
                    digest: [UInt8](repeating: number, count: 32),
                    expiresAt: Timestamp(microseconds: now + seconds * 1_000_000),
                    tokenExpiresAt: Timestamp(microseconds: now + 3_600_000_000)
                )
            }
            let (first, id) = (ticket(1), UniqueID.random())
            #expect(
                try await store.users.saveTicket(first, id: id, once: nil)
                    == IssuedTicket(id: id, expiresAt: first.expiresAt)
            )
            _ = try await store.users.saveTicket(ticket(2, -1), id: .random(), once: nil)
            let redeemed = try await store.users.redeem(first.digest)
            #expect(redeemed?.user == first.user)
            #expect(redeemed?.expiresAt == first.expiresAt)
            #expect(redeemed?.tokenExpiresAt == first.tokenExpiresAt)
            #expect(try await store.users.redeem(ticket(1).digest) == nil)
            #expect(try await store.users.redeem(ticket(2, -1).digest) == nil)
            for number in 10..<50 as Range<UInt8> {
                _ = try await store.users.saveTicket(ticket(number, Int64(number) * 600), id: .random(), once: nil)
            }
            #expect(try await store.users.redeem(ticket(17, 17 * 600).digest) == nil)
            #expect(try await store.users.redeem(ticket(18, 18 * 600).digest) != nil)
            let call = IdempotentCall<IssuedTicket>(key: "t", fingerprint: [1])
            let issued = try await store.users.saveTicket(ticket(60), id: .random(), once: call)
            let again = try await store.users.saveTicket(ticket(61), id: .random(), once: call)
            #expect(again == issued)
            #expect(try await store.users.redeem(ticket(61).digest) == nil)
        }
    }

    /// Checks the precedence for every combination of remembered and default sorts.
    @Test("The remembered sort wins over the shelf's and the store's default")
    func sortPrecedence() async throws {
        let (store, parent, shelf) = (CatalogKey("s")!, CatalogKey("p")!, CatalogKey("x")!)
        // In order of precedence; only the last one is the default of an empty catalog.
        let levels: [(source: SortSource, sort: Sort)] = [
            (.query, Sort(.price, .descending)!), (.user, Sort(.unitPrice, .descending)!),
            (.user, Sort(.brand, .descending)!),
            (.shelf, Sort(.name, .descending)!), (.shelf, Sort(.created, .ascending)!),
            (.store, Sort(.tags, .ascending)!),
        ]
        try await onBoth { catalog in
            for mask in 0..<64 {
                func has(_ level: Int) -> Sort? { mask >> level & 1 == 1 ? levels[level].sort : nil }
                var settings = Store(key: store, title: "S", currency: Currency("EUR")!)
                settings.defaultSort = has(5)
                _ = try await catalog.shelves.put(settings)
                _ = try await catalog.shelves.put(Shelf(key: parent, title: "P", defaultSort: has(4)), in: store)
                _ = try await catalog.shelves.put(
                    Shelf(key: shelf, title: "X", parent: parent, defaultSort: has(3)),
                    in: store
                )
                _ = try await put(catalog.settings, "stores/s/sort", has(2).map { .string($0.description) })
                _ = try await put(catalog.settings, "stores/s/shelves/x/sort", has(1).map { .string($0.description) })
                // Sorts of another user, shelf or store must have no effect.
                _ = try await put(catalog.settings, "stores/s/shelves/p/sort", .string("modified"))
                _ = try await put(catalog.settings, "stores/t/sort", .string("modified"))
                _ = try await put(catalog.settings, "stores/s/shelves/x/sort", .string("modified"), of: Self.bob)
                let expected = (0..<6).first { has($0) != nil }.map { levels[$0] } ?? (.system, .system)
                let request = PageRequest(store: store, shelf: shelf, sort: has(0), user: Self.ann)
                let page = try await catalog.pages.page(request)
                #expect(page.plan.sort == expected.sort, "\(mask)")
                #expect(page.plan.source == expected.source, "\(mask)")
                let remembered = try await catalog.settings.rememberedSorts(Self.ann, store, shelf)
                let order = try await catalog.pages.order(
                    OrderRequest(
                        address: ShelfAddress(store, shelf),
                        requested: RequestedSort(sort: has(0)),
                        user: Self.ann
                    )
                )
                #expect(order.sort == expected.sort, "\(mask)")
                #expect(order.source == expected.source, "\(mask)")
                if has(0) == nil {
                    let head = try await catalog.shelves.shelf(store, shelf)
                    let options = SortOption.options(
                        selected: try head.resolve(remembering: remembered).sort,
                        language: .en
                    )
                    #expect(options.filter(\.isSelected).map(\.sort) == [expected.sort])
                }
                // The entity tag matches only for requests with the same sort.
                let tag = page.planned.entityTag(day: 1)
                func tagNow(_ request: PageRequest) async throws -> String {
                    try PlannedPage(request, try await catalog.pages.basis(of: request)).entityTag(day: 1)
                }
                #expect(try await tagNow(request) == tag)
                var other = request
                other.user = Self.bob
                if has(0) == nil { #expect(try await tagNow(other) != tag, "\(mask)") }
            }
        }
    }

    @Test("A remembered sort that no longer exists is skipped and kept")
    func skipsInvalidRememberedSorts() async throws {
        let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(
                Shelf(key: shelf, title: "X", defaultSort: Sort(.name, .ascending)),
                in: store
            )
            _ = try await put(catalog.settings, "stores/s/sort", .string("-price"))
            _ = try await put(catalog.settings, "stores/s/shelves/x/sort", .string("price"))
            for (key, expected) in [("stores/s/shelves/x/sort", SortSource.user), ("stores/s/sort", .shelf)] {
                try await catalog.database.writes.perform {
                    try $0.execute(
                        "UPDATE user_setting SET value = '\"rating,price\"' WHERE key = $1",
                        [.text(key)]
                    )
                    // A change of settings always has a new revision.
                    try $0.execute(
                        "UPDATE user_account SET revision = revision + 1 WHERE user_id = $1",
                        [.text(Self.ann.text)]
                    )
                }
                let request = PageRequest(store: store, shelf: shelf, user: Self.ann)
                let page = try await catalog.pages.page(request)
                #expect(page.plan.source == expected)
                #expect(
                    try await catalog.settings.setting(self.key(key), of: Self.ann).value == .string("rating,price")
                )
            }
        }
    }

    // MARK: - PostgreSQL only

    @Test("Tombstones expire, and a device that missed them gets a resync")
    func expiredTombstonesCauseResync() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let first = try await put(catalog.settings, "old", .number("1"))
            _ = try await put(catalog.settings, "stays", .number("1"))
            let gone = try await put(catalog.settings, "old", nil)
            let later = try await put(catalog.settings, "new", .number("1"))
            _ = try await put(catalog.settings, "new", nil)
            #expect(try await catalog.sweepUsers() == 0)
            try await catalog.database.writes.perform {
                try $0.run(script: "UPDATE user_setting SET deleted_at = now() - interval '91 days' WHERE key = 'old'")
            }
            #expect(try await catalog.sweepUsers() == 1)
            #expect(try await catalog.sweepUsers() == 0)
            let missed = try await catalog.settings.settings(of: Self.ann, since: first.setting.revision, limit: nil)
            #expect(missed.isResync)
            #expect(missed.settings.map(\.key.text) == ["stays", "new"])
            let knew = try await catalog.settings.settings(of: Self.ann, since: gone.setting.revision, limit: nil)
            #expect(!knew.isResync)
            #expect(knew.settings.map(\.key.text) == ["new"])
            #expect(knew.settings[0].revision > later.setting.revision)
        }
    }

    @Test("No table mentions an erased user")
    func erasedUserLeavesNoTrace() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
            _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: "X"), in: store)
            for sku in ["a", "b"] {
                _ = try await catalog.products.put(Product(sku: SKU(sku)!, name: sku, priceMinor: 1), in: store)
                _ = try await catalog.products.place(SKU(sku)!, on: shelf, in: store)
            }
            let user = UserID("user-to-be-erased")!
            let move = OrderMove(["b"], .first)
            let edit = OrderEditRequest(store: store, shelf: shelf, edit: .moves([move]), subject: user.text)
            _ = try await catalog.manualOrder.editOrder(edit, once: nil)
            _ = try await put(catalog.settings, "a", .string(user.text), of: user)
            _ = try await put(catalog.settings, "b", nil, of: user)
            let ticket = Ticket(
                user: user,
                digest: [UInt8](repeating: 1, count: 32),
                expiresAt: .now(),
                tokenExpiresAt: .now()
            )
            let call = IdempotentCall<IssuedTicket>(key: "k", fingerprint: [1])
            _ = try await catalog.users.saveTicket(ticket, id: .random(), once: call)
            let export = try await catalog.users.export(user)
            #expect(export.settings.map(\.key.text) == ["a"])
            #expect(export.orderChanges.count == 1)
            try await catalog.users.erase(user)
            #expect(
                try await catalog.users.export(user).json
                    == UserExport(user: user, revision: 0, settings: [], orderChanges: []).json
            )
            // Search every text column of every table.
            let tables = try await catalog.database.writes.perform {
                try $0.query(
                    "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace"
                ) {
                    try $0.map { try $0.text(0) }
                }
            }
            #expect(tables.count > 10)
            for table in tables {
                let found = try await catalog.database.writes.perform {
                    try $0.query(
                        "SELECT count(*) FROM \(identifier: table) AS t WHERE t::text LIKE '%to-be-erased%'"
                    ) { try $0.first { try $0.int(0) }! }
                }
                #expect(found == 0, "\(table)")
            }
            #expect(try await catalog.manualOrder.orderHistory(store, shelf).count == 1)
        }
    }

    /// Eight concurrent writers of one user: every change gets its own revision, and none is lost.
    @Test("Concurrent writers of one user are serialized")
    func concurrentWritersAreSerialized() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let revisions = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        var revisions: [Int64] = []
                        for round in 0..<25 {
                            let result = try await put(
                                catalog.settings,
                                "k\((writer + round) % 5)",
                                .number("\(writer * 100 + round)")
                            )
                            revisions.append(result.setting.revision)
                        }
                        return revisions
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(revisions.allSatisfy { $0 == $0.sorted() })
            let all = revisions.flatMap(\.self)
            #expect(Set(all).count == 200)
            let page = try await catalog.settings.settings(of: Self.ann, since: nil, limit: nil)
            #expect(page.revision == all.max())
            #expect(page.settings.count == 5)
        }
    }
}
