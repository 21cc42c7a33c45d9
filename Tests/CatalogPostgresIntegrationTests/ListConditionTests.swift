import Catalog
import CatalogJSON
import JSON
import LibPQ
import Ordering
import TestSupport
import Testing

@testable import CatalogPostgres

/// Conditions of the statements of lists and users, each by rows that only this condition leaves out.
@Suite(.timeLimit(.minutes(15))) struct ListConditionTests {
    private static let users = ["ann", "bob", "eve", "tim"].map { UserID($0)! }
    private static let (ann, bob, eve, tim) = (users[0], users[1], users[2], users[3])
    private static let hour: Int64 = 3_600_000_000
    private static let day = 24 * hour

    /// The digest of a share's token.
    private static func digest(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    private static func newList(_ catalog: PostgresCatalog, of user: UserID = ann) async throws -> UniqueID {
        let list = NewList(name: "Week")
        _ = try await catalog.lists.createList(list, of: user, once: nil)
        return list.id
    }

    /// Shares a list of Ann.
    ///
    /// - Parameter lifetime: how long the share is valid, in microseconds.
    @discardableResult
    private static func share(
        _ list: UniqueID,
        _ number: UInt8,
        role: ListRole = .editor,
        lifetime: Int64 = day,
        _ catalog: PostgresCatalog
    ) async throws -> UniqueID {
        let now = Timestamp.now()
        let expiry = Timestamp(microseconds: now.microseconds + lifetime)
        let share = ListShare(id: .random(), role: role, createdAt: now, expiresAt: expiry)
        _ = try await catalog.lists.share(list, of: ann, share, digest: digest(number), once: nil)
        return share.id
    }

    private static func rename(_ list: UniqueID, _ name: String, of user: UserID, _ catalog: PostgresCatalog)
        async throws
    {
        _ = try await catalog.lists.editList(list, of: user, .set(ListSettings(name: name)), expected: nil, once: nil)
    }

    private static func revision(of user: UserID, _ catalog: PostgresCatalog) async throws -> Int64 {
        try await catalog.versions.revisions(of: [user])[user] ?? 0
    }

    private static func run(_ script: String, _ catalog: PostgresCatalog) async throws {
        try await catalog.database.writes.perform { try $0.run(script: script) }
    }

    // MARK: - Shares and members

    @Test("Expired shares admit nobody and do not count, and open ones do until the limit")
    func expiredShares() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let list = try await Self.newList(catalog)
            for number in 0..<ListShare.countLimit {
                try await Self.share(list, UInt8(number), lifetime: -Self.hour, catalog)
            }
            await #expect(throws: CatalogError.notFound("share")) {
                try await catalog.lists.join(Self.digest(0), of: Self.bob, once: nil)
            }
            for number in 0..<ListShare.countLimit { try await Self.share(list, UInt8(100 + number), catalog) }
            await #expect(throws: CatalogError.tooManyShares) { try await Self.share(list, 200, catalog) }
            // Shares of another list do not count.
            let other = try await Self.newList(catalog)
            try await Self.share(other, 201, catalog)
            _ = try await catalog.lists.join(Self.digest(100), of: Self.bob, once: nil)
        }
    }

    @Test("The share of a deleted list admits nobody until the list is restored")
    func sharesOfDeletedLists() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let list = try await Self.newList(catalog)
            try await Self.share(list, 1, catalog)
            try await catalog.lists.removeList(list, of: Self.ann, expected: nil)
            await #expect(throws: CatalogError.notFound("share")) {
                try await catalog.lists.join(Self.digest(1), of: Self.bob, once: nil)
            }
            let restored = ListEdit.set(ListSettings(isDeleted: false))
            _ = try await catalog.lists.editList(list, of: Self.ann, restored, expected: nil, once: nil)
            _ = try await catalog.lists.join(Self.digest(1), of: Self.bob, once: nil)
        }
    }

    @Test("Former members get no events, are not counted, and can join again")
    func formerMembers() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let list = try await Self.newList(catalog)
            let share = try await Self.share(list, 1, catalog)
            for user in [Self.bob, Self.eve] { _ = try await catalog.lists.join(Self.digest(1), of: user, once: nil) }
            try await catalog.lists.removeList(list, of: Self.bob, expected: nil)
            #expect(try await catalog.lists.shares(list, of: Self.ann).map(\.members) == [1])
            let before = (
                try await Self.revision(of: Self.bob, catalog), try await Self.revision(of: Self.eve, catalog)
            )
            try await Self.rename(list, "Party", of: Self.ann, catalog)
            #expect(try await Self.revision(of: Self.bob, catalog) == before.0)
            #expect(try await Self.revision(of: Self.eve, catalog) > before.1)
            await #expect(throws: CatalogError.notFound("list “\(list)”")) {
                try await Self.rename(list, "Mine", of: Self.bob, catalog)
            }
            // A revocation removes the members of the share only, and does not notify former ones.
            let other = try await Self.share(list, 2, catalog)
            _ = try await catalog.lists.join(Self.digest(2), of: Self.tim, once: nil)
            try await catalog.lists.revoke(share, list, of: Self.ann)
            #expect(try await Self.revision(of: Self.bob, catalog) == before.0)
            for (user, names) in [(Self.bob, []), (Self.eve, []), (Self.tim, ["Party"])] as [(UserID, [String])] {
                let lists = try await catalog.lists.lists(of: user, by: .manual, since: nil).entries
                #expect(lists.map(\.membership.list.name) == names, "\(user)")
            }
            _ = try await catalog.lists.join(Self.digest(2), of: Self.bob, once: nil)
            let shares = try await catalog.lists.shares(list, of: Self.ann)
            #expect(shares.map(\.id) == [other])
            #expect(shares.map(\.members) == [2])
        }
    }

    @Test("Shares without members are swept when they have expired, and others are kept")
    func sweepsShares() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let list = try await Self.newList(catalog)
            let open = try await Self.share(list, 1, catalog)
            let used = try await Self.share(list, 2, catalog)
            _ = try await catalog.lists.join(Self.digest(2), of: Self.bob, once: nil)
            try await Self.share(list, 3, catalog)
            let recent = try await Self.share(list, 4, catalog)
            // The retention of 30 days follows the end of the share.
            try await catalog.database.writes.perform { connection in
                for (number, days) in [(2, 31), (3, 31), (4, 29)] as [(UInt8, Int64)] {
                    try connection.execute(
                        "UPDATE user_list_share SET expires_at = now() - $2 * interval '1 day' WHERE digest = $1",
                        [.bytea([UInt8](repeating: number, count: 32)), .int8(days)]
                    )
                }
            }
            #expect(try await catalog.sweepLists() == 1)
            let kept = try await catalog.lists.shares(list, of: Self.ann).map(\.id)
            #expect(Set(kept) == [open, used, recent])
        }
    }

    // MARK: - Retention

    @Test("Deleted items and memberships are kept for 30 days and swept after them")
    func retention() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let list = try await Self.newList(catalog)
            let items = ["current", "recent", "old"].map { NewListItem(text: $0) }
            try await Self.share(list, 1, catalog)
            let edits: [ListEdit] = [
                .add(items), .change(items[1...].map { ListItemChange($0.id, isDeleted: true) }),
            ]
            for edit in edits {
                _ = try await catalog.lists.editList(list, of: Self.ann, edit, expected: nil, once: nil)
            }
            for user in [Self.bob, Self.eve, Self.tim] {
                _ = try await catalog.lists.join(Self.digest(1), of: user, once: nil)
            }
            for user in [Self.bob, Self.eve] { try await catalog.lists.removeList(list, of: user, expected: nil) }
            let (old, recent) = (
                "now() - interval '30 days 1 minute'", "now() - interval '29 days 23 hours 59 minutes'"
            )
            try await Self.run(
                """
                UPDATE user_list_item SET deleted_at = \(old) WHERE text = 'old';
                UPDATE user_list_item SET deleted_at = \(recent) WHERE text = 'recent';
                UPDATE user_list_place SET left_at = \(old) WHERE user_id = 'bob';
                UPDATE user_list_member SET left_at = \(old) WHERE member_id = 'bob';
                UPDATE user_list_place SET left_at = \(recent) WHERE user_id = 'eve';
                UPDATE user_list_member SET left_at = \(recent) WHERE member_id = 'eve';
                """,
                catalog
            )
            while try await catalog.sweepLists() > 0 {}
            let rest = try await catalog.database.writes.perform { connection in
                try [
                    "SELECT text FROM user_list_item ORDER BY text",
                    "SELECT user_id FROM user_list_place ORDER BY user_id",
                    "SELECT member_id FROM user_list_member ORDER BY member_id",
                ].map { (query: PostgresStatement) in try connection.query(query) { try $0.map { try $0.text(0) } } }
            }
            #expect(rest == [["current", "recent"], ["ann", "eve", "tim"], ["ann", "eve", "tim"]])
        }
    }

    @Test("Events are trimmed to the last ones of their user, and a device with an older revision must resync")
    func trimmedEvents() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for user in [Self.ann, Self.bob] { _ = try await Self.newList(catalog, of: user) }
            let start = try await Self.revision(of: Self.ann, catalog)
            // Each user gets more events than are kept; those of others do not count.
            let limit = Int64(ListWriter.eventLimit)
            try await catalog.database.writes.perform { connection in
                for (user, count) in [("ann", limit + 5), ("bob", limit - 1)] as [(String, Int64)] {
                    try connection.execute(
                        """
                        INSERT INTO user_event (user_id, revision, data, created_at)
                        SELECT a.user_id, a.revision + n, '{}', now() FROM user_account a CROSS JOIN generate_series(1, $2) AS n
                        WHERE a.user_id = $1
                        """,
                        [.text(user), .int8(count)]
                    )
                    try connection.execute(
                        "UPDATE user_account SET revision = revision + $2 WHERE user_id = $1",
                        [.text(user), .int8(count)]
                    )
                }
                for user in ["ann", "bob"] { try ListWriter.trim([(user, 64)], connection) }
            }
            // The creation of the list is the first event, and five of the others are gone with it.
            let versions = catalog.versions
            #expect(try await versions.changes(of: Self.ann, since: start - 1, limit: 10).isResync)
            #expect(try await versions.changes(of: Self.ann, since: start + 4, limit: 10).isResync)
            let rest = try await versions.changes(of: Self.ann, since: start + 5, limit: 2000)
            #expect(!rest.isResync)
            #expect(rest.events.map(\.id) == Array((start + 6)...(start + limit + 5)))
            let bob = try await Self.revision(of: Self.bob, catalog) - limit
            let others = try await versions.changes(of: Self.bob, since: bob, limit: 2000)
            #expect(!others.isResync)
            #expect(others.events.count == ListWriter.eventLimit)
        }
    }

    @Test(
        "Settings that were deleted 90 days ago are swept with a horizon, and later ones and those of others are kept"
    )
    func tombstonesOfSettings() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            func set(_ key: String, _ user: UserID, deletes: Bool = false) async throws {
                let write = SettingsEdit.Write(SettingKey(key)!, deletes ? nil : .bool(true))
                _ = try await catalog.settings.edit(SettingsEdit([write]), of: user)
            }
            // The revisions of the deletions that are old for Ann only.
            var deletions: [UserID: Int64] = [:]
            for user in [Self.ann, Self.bob] {
                for key in ["old", "recent", "current"] { try await set(key, user) }
                try await set("old", user, deletes: true)
                deletions[user] = try await Self.revision(of: user, catalog)
                try await set("recent", user, deletes: true)
            }
            try await Self.run(
                """
                UPDATE user_setting SET deleted_at = now() - interval '90 days 1 minute' WHERE user_id = 'ann' AND key = 'old';
                UPDATE user_setting SET deleted_at = now() - interval '89 days 23 hours 59 minutes'
                WHERE deleted_at IS NOT NULL AND NOT (user_id = 'ann' AND key = 'old')
                """,
                catalog
            )
            while try await catalog.sweepUsers() > 0 {}
            func keys(_ user: UserID) async throws -> [String] {
                try await catalog.settings.settings(of: user, since: 0, limit: nil).settings.map(\.key.text).sorted()
            }
            #expect(try await keys(Self.ann) == ["current", "recent"])
            #expect(try await keys(Self.bob) == ["current", "old", "recent"])
            func mustResync(_ user: UserID, _ offset: Int64) async throws -> Bool {
                let revision = try #require(deletions[user]) + offset
                return try await catalog.settings.settings(of: user, since: revision, limit: nil).isResync
            }
            // A device that has not seen the deletion must resync; one that has seen it need not.
            #expect(try await mustResync(Self.ann, -1))
            #expect(try await mustResync(Self.ann, 0) == false)
            #expect(try await mustResync(Self.bob, -1) == false)
        }
    }

    @Test("A new ticket replaces the one that expires first, of the same user only, and expired ones are swept")
    func tickets() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            func save(_ number: Int, of user: UserID, lifetime: Int64) async throws -> [UInt8] {
                let digest = [UInt8](repeating: 0, count: 31) + [UInt8(number)]
                let expiry = Timestamp(microseconds: Timestamp.now().microseconds + lifetime)
                let ticket = Ticket(user: user, digest: digest, expiresAt: expiry, tokenExpiresAt: expiry)
                _ = try await catalog.users.saveTicket(ticket, id: .random(), once: nil)
                return digest
            }
            let others = try await save(200, of: Self.bob, lifetime: Self.hour)
            // The ticket that was saved last expires first.
            var digests: [[UInt8]] = []
            for number in 0..<Ticket.countLimit {
                digests.append(try await save(number, of: Self.ann, lifetime: Self.day - Int64(number) * Self.hour / 2))
            }
            let new = try await save(100, of: Self.ann, lifetime: Self.day)
            for (digest, user) in [(others, Self.bob), (digests[0], Self.ann), (new, Self.ann)] {
                #expect(try await catalog.users.redeem(digest)?.user == user)
            }
            let first = try #require(digests.last)
            #expect(try await catalog.users.redeem(first) == nil)
            try await catalog.database.writes.perform { connection in
                for number in [1, 3] as [UInt8] {
                    let digest = PostgresValue.bytea([UInt8](repeating: 0, count: 31) + [number])
                    try connection.execute(
                        "UPDATE user_ticket SET expires_at = now() - interval '1 second' WHERE digest = $1",
                        [digest]
                    )
                }
            }
            #expect(try await catalog.users.redeem(digests[1]) == nil)
            #expect(try await catalog.sweepUsers() == 1)
            let rest = try await catalog.database.writes.perform {
                try $0.query("SELECT count(*) FROM user_ticket") { try $0.first { try $0.int(0) } }
            }
            // Two were redeemed, and two have expired.
            #expect(rest == Ticket.countLimit - 4)
            #expect(try await catalog.users.redeem(digests[2])?.user == Self.ann)
        }
    }
}
