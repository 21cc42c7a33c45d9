import JSON
import Catalog
import CatalogJSON
import CatalogPostgres
import InMemoryCatalog
import LibPQ
import Ordering
import Testing
import TestSupport

/// Every change of what a user's devices show of lists raises the user's revision and reaches the devices; nothing else does.
@Suite(.timeLimit(.minutes(15))) struct ListRevisionTests {
    private static let (ann, bob, eve) = (UserID("ann")!, UserID("bob")!, UserID("eve")!)
    private static let guest = UserID("guest:tim")!
    private static let fixture = ListStoreTests()

    // MARK: - Devices

    /// A device of a user, which knows lists only from syncs.
    private struct Device {
        let user: UserID
        var revision: Int64 = 0
        /// Entries by list id, including deleted lists, without revisions.
        var lists: [String: String] = [:]
        var order: [String] = []

        init(_ user: UserID) { self.user = user }

        /// Applies the changes since the last sync.
        mutating func sync(_ catalog: CatalogStorage) async throws {
            let page = try await catalog.lists.lists(of: user, by: nil, since: revision)
            if page.isResync { lists = [:] }
            for (id, entry) in Self.entries(page) { lists[id] = entry }
            order = page.order?.map(\.text) ?? []
            revision = page.revision
        }

        /// Returns whether there are events of lists that the device does not know, or it must resync.
        func hasEvents(_ catalog: CatalogStorage) async throws -> Bool {
            let page = try await catalog.versions.changes(of: user, since: revision, limit: 1000)
            return page.isResync || page.events.contains { $0.name == .list }
        }

        static func entries(_ page: ListsPage) -> [String: String] {
            var entries: [String: String] = [:]
            for entry in page.entries {
                var entry = entry
                entry.membership.revision = 0
                var json = JSONWriter()
                entry.membership.write(items: entry.items, checked: entry.checked, to: &json)
                entries[entry.membership.list.id.text] = String(decoding: json.bytes, as: UTF8.self)
            }
            return entries
        }
    }

    /// The lists that a new device of a user shows after a full read.
    private struct View: Equatable {
        var revision: Int64
        var lists: [String: String]
        var order: [String]

        init(_ user: UserID, _ catalog: CatalogStorage) async throws {
            let page = try await catalog.lists.lists(of: user, by: nil, since: 0)
            (revision, lists, order) = (page.revision, Device.entries(page), page.order?.map(\.text) ?? [])
            // Lists that exist have the same entries and order without tombstones.
            let current = try await catalog.lists.lists(of: user, by: .manual, since: nil)
            #expect(current.entries.map(\.membership.list.id.text) == order)
            #expect(Device.entries(current).allSatisfy { lists[$0.key] == $0.value })
        }

        func shows(_ other: View) -> Bool { lists == other.lists && order == other.order }
    }

    /// Runs an operation, and checks each user's revision, events and next sync.
    ///
    /// - Parameter devices: devices that are synced; they are synced again.
    private static func check(
        _ catalog: CatalogStorage,
        _ devices: inout [Device],
        _ what: Comment,
        _ operation: () async throws -> Void
    ) async throws {
        var before: [UserID: View] = [:]
        for device in devices { before[device.user] = try await View(device.user, catalog) }
        try await operation()
        for index in devices.indices {
            let (user, old) = (devices[index].user, before[devices[index].user]!)
            let new = try await View(user, catalog)
            if new.shows(old) {
                // An operation may create or erase an account.
                let isSame = new.revision == old.revision || new.revision == 0 || old.revision == 0
                #expect(isSame, "\(user), not affected by \(what)")
            } else if new.revision != 0 {
                #expect(new.revision > old.revision, "\(user), affected by \(what)")
                #expect(try await devices[index].hasEvents(catalog), "\(user) has an event of \(what)")
            }
            try await devices[index].sync(catalog)
            #expect(devices[index].lists == new.lists, "\(user) after \(what)")
            #expect(devices[index].order == new.order, "\(user) after \(what)")
        }
    }

    // MARK: - All operations

    @Test(
        "Each operation on lists raises the revisions of exactly the users whose lists change",
        arguments: [UInt64(4), 5, 6]
    )
    func revisionsFollowViews(_ seed: UInt64) async throws {
        try await Self.fixture.withBoth { memory, catalog in
            let products = Array((try await memory.products(CatalogKey("shop")!, after: nil, limit: 100)).products)
            for store in [memory.storage, catalog.storage] as [CatalogStorage] {
                var generator = SeededGenerator(seed: seed)
                let lists = (0..<4).map { _ in UniqueID.random() }
                var items = (0..<8).map { _ in UniqueID.random() }
                var shares: [(UniqueID, ListShare, [UInt8])] = []
                var devices = ListStoreTests.users.map { Device($0) }
                var effects: [String: Int] = [:]
                for number in 0..<160 {
                    let user = ListStoreTests.users.randomElement(using: &generator)!
                    let list = lists.randomElement(using: &generator)!
                    var step = ListStoreTests.step(list, items, products, &shares, lists, &generator)
                    if number % 16 == 15 { step = .merge }
                    if number % 40 == 39 { step = .erase }
                    try await Self.check(store, &devices, "\(number): \(step) by \(user)") {
                        let actor = number % 16 == 15 ? Self.guest : user
                        let answer = await Self.fixture.perform(step, actor, on: store)
                        effects[String(answer.prefix { $0 != " " && $0 != "(" }), default: 0] += 1
                    }
                    items.shuffle(using: &generator)
                }
                #expect(effects.count > 5, "\(effects)")
            }
        }
    }

    // MARK: - Merging guests

    /// Shares a list of an owner with a user.
    private static func share(
        _ list: UniqueID,
        of owner: UserID,
        with user: UserID,
        as role: ListRole = .editor,
        _ catalog: CatalogStorage
    ) async throws {
        let now = Timestamp.now()
        let digest = [UInt8].random(32)
        let expiry = Timestamp(microseconds: now.microseconds + 60_000_000)
        let share = ListShare(id: .random(), role: role, createdAt: now, expiresAt: expiry)
        _ = try await catalog.lists.share(list, of: owner, share, digest: digest, once: nil)
        _ = try await catalog.lists.join(digest, of: user, once: nil)
    }

    /// The columns that mention a user, `$1`.
    private static let traces: PostgresStatement = """
        SELECT name FROM (
            SELECT 'account' AS name, user_id FROM user_account UNION ALL SELECT 'list', user_id FROM user_list
            UNION ALL SELECT 'item', user_id FROM user_list_item UNION ALL SELECT 'share', user_id FROM user_list_share
            UNION ALL SELECT 'place', user_id FROM user_list_place UNION ALL SELECT 'owner', owner_id FROM user_list_place
            UNION ALL SELECT 'list of member', user_id FROM user_list_member
            UNION ALL SELECT 'member', member_id FROM user_list_member UNION ALL SELECT 'event', user_id FROM user_event
            UNION ALL SELECT 'setting', user_id FROM user_setting UNION ALL SELECT 'token', user_id FROM user_token) t
        WHERE t.user_id = $1
        """

    /// Checks that no row mentions a user.
    private static func expectNoTrace(of user: UserID, _ catalog: PostgresCatalog) async throws {
        let found = try await catalog.database.writes.perform {
            try $0.query(traces, [.text(user.text)]) { try $0.map { try $0.text(0) } }
        }
        #expect(found.isEmpty)
    }

    @Test("A guest's list that the account has joined keeps its id and its place, and gets a new owner")
    func joinedListsKeepTheirIDs() async throws {
        try await Self.fixture.withBoth { memory, catalog in
            for store in [memory.storage, catalog.storage] as [CatalogStorage] {
                let (shared, own) = (NewList(name: "Shared"), NewList(name: "Own"))
                _ = try await store.lists.createList(shared, of: Self.guest, once: nil)
                _ = try await store.lists.editList(
                    shared.id,
                    of: Self.guest,
                    .add([.init(text: "Milk")]),
                    expected: nil,
                    once: nil
                )
                for user in [Self.ann, Self.bob, Self.eve] {
                    try await Self.share(shared.id, of: Self.guest, with: user, as: .reader, store)
                }
                _ = try await store.lists.createList(own, of: Self.ann, once: nil)
                try await store.lists.removeList(shared.id, of: Self.eve, expected: nil)
                var devices = [Self.ann, Self.bob, Self.eve].map { Device($0) }
                for index in devices.indices { try await devices[index].sync(store) }
                try await Self.check(store, &devices, "merge") {
                    _ = try await store.users.merge(Self.guest, into: Self.ann, once: nil)
                }
                let page = try await store.lists.lists(of: Self.ann, by: .manual, since: nil)
                #expect(page.entries.map(\.membership.list.id) == [shared.id, own.id])
                #expect(page.entries.first?.membership.role == .owner)
                #expect(try await store.lists.list(shared.id, of: Self.bob, by: nil).0.list.owner == Self.ann)
                #expect(try await store.lists.shares(shared.id, of: Self.ann).count == 3)
                // The owner can revoke what the guest shared.
                let shares = try await store.lists.shares(shared.id, of: Self.ann)
                try await Self.check(store, &devices, "revoke") {
                    for share in shares { try await store.lists.revoke(share.id, shared.id, of: Self.ann) }
                }
                #expect(try await store.lists.lists(of: Self.bob, by: nil, since: nil).entries.isEmpty)
                #expect(try await store.lists.list(shared.id, of: Self.ann, by: nil).0.list.items.count == 1)
            }
            try await Self.expectNoTrace(of: Self.guest, catalog)
        }
    }

    @Test("Members of a guest's list whose id the account uses leave the old id and get the list with a new one")
    func collidingListsAreAnnounced() async throws {
        try await Self.fixture.withBoth { memory, catalog in
            for store in [memory.storage, catalog.storage] as [CatalogStorage] {
                let (first, last) = (NewList(name: "First"), NewList(name: "Last"))
                let (own, brought) = (NewList(name: "Own"), NewList(name: "Brought"))
                let collided = NewList(id: own.id, name: brought.name)
                _ = try await store.lists.createList(own, of: Self.ann, once: nil)
                _ = try await store.lists.createList(collided, of: Self.guest, once: nil)
                _ = try await store.lists.createList(first, of: Self.bob, once: nil)
                for user in [Self.bob, Self.eve] { try await Self.share(own.id, of: Self.guest, with: user, store) }
                _ = try await store.lists.createList(last, of: Self.bob, once: nil)
                try await store.lists.removeList(own.id, of: Self.eve, expected: nil)
                var devices = [Self.ann, Self.bob, Self.eve].map { Device($0) }
                for index in devices.indices { try await devices[index].sync(store) }
                let known = devices
                try await Self.check(store, &devices, "merge") {
                    _ = try await store.users.merge(Self.guest, into: Self.ann, once: nil)
                }
                let changes = try await store.versions.changes(of: Self.bob, since: known[1].revision, limit: 100)
                let events = try changes.events.map { try JSONReader.parse($0.data)["list"]?["id"]?.string }
                #expect(events.count == 2)
                #expect(events.first == .some(own.id.text))
                #expect(events.last != events.first)
                let names = try await store.lists.lists(of: Self.bob, by: .manual, since: nil).entries.map {
                    $0.membership.list.name
                }
                #expect(names == ["First", "Brought", "Last"])
                let lists = try await store.lists.lists(of: Self.ann, by: .manual, since: nil).entries
                #expect(lists.map(\.membership.list.name) == ["Own", "Brought"])
                #expect(lists.map(\.membership.role) == [.owner, .owner])
                // Both go on with the list under its new id.
                let id = lists[1].membership.list.id
                try await Self.check(store, &devices, "addition") {
                    _ = try await store.lists.editList(
                        id,
                        of: Self.bob,
                        .add([.init(text: "Milk")]),
                        expected: nil,
                        once: nil
                    )
                }
                #expect(try await store.lists.list(id, of: Self.ann, by: nil).0.list.items.count == 1)
            }
            try await Self.expectNoTrace(of: Self.guest, catalog)
        }
    }

    @Test("A user cannot join a list with the id of another list that they have")
    func ambiguousListsAreNotJoined() async throws {
        try await Self.fixture.withBoth { memory, catalog in
            for store in [memory.storage, catalog.storage] as [CatalogStorage] {
                let list = NewList(name: "Own")
                _ = try await store.lists.createList(list, of: Self.ann, once: nil)
                _ = try await store.lists.createList(NewList(id: list.id, name: "Other"), of: Self.bob, once: nil)
                await #expect(throws: CatalogError.ambiguousList(list.id)) {
                    try await Self.share(list.id, of: Self.ann, with: Self.bob, store)
                }
                #expect(try await store.lists.list(list.id, of: Self.bob, by: nil).0.list.name == "Other")
            }
        }
    }

    @Test("A device that has missed the end of a list must resync after the list is purged")
    func purgedListsRequireResync() async throws {
        try await Self.fixture.withBoth { _, catalog in
            let (deleted, left) = (NewList(name: "Deleted"), NewList(name: "Left"))
            for list in [deleted, left] {
                _ = try await catalog.lists.createList(list, of: Self.ann, once: nil)
                try await Self.share(list.id, of: Self.ann, with: Self.bob, catalog.storage)
            }
            var device = Device(Self.bob)
            try await device.sync(catalog.storage)
            try await catalog.lists.removeList(deleted.id, of: Self.ann, expected: nil)
            try await catalog.lists.removeList(left.id, of: Self.bob, expected: nil)
            // Events are purged by age, too; without them, only the account knows what is gone.
            try await catalog.database.writes.perform { try $0.run(script: "DELETE FROM user_event") }
            while try await catalog.sweepLists(after: 0) > 0 {}
            try await device.sync(catalog.storage)
            #expect(device.lists.isEmpty)
        }
    }
}
