import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The places of members in the list of an erased owner, and in a purged list.
@Suite(.timeLimit(.minutes(15))) struct ErasedOwnerTests {
    private static let (ann, bob, eve, tim) = (
        UserID("ann")!, UserID("bob")!, UserID("eve")!, UserID("tim")!
    )

    /// Shares a list of Ann under a token of 32 equal bytes.
    private static func share(_ list: UniqueID, _ number: UInt8, _ catalog: PostgresCatalog) async throws -> UniqueID {
        let now = Timestamp.now()
        let share = ListShare(id: .random(), role: .reader, createdAt: now, expiresAt: now.adding(days: 1))
        let digest = [UInt8](repeating: number, count: 32)
        _ = try await catalog.lists.share(list, of: ann, share, digest: digest, once: nil)
        return share.id
    }

    private static func join(_ number: UInt8, _ user: UserID, _ catalog: PostgresCatalog) async throws {
        _ = try await catalog.lists.join([UInt8](repeating: number, count: 32), of: user, once: nil)
    }

    /// Creates a list of Ann. Bob is a member, Eve has left, and Tim's share was revoked.
    private static func sharedList(_ catalog: PostgresCatalog) async throws -> UniqueID {
        let list = NewList(name: "Week")
        _ = try await catalog.lists.createList(list, of: ann, once: nil)
        _ = try await share(list.id, 1, catalog)
        let revoked = try await share(list.id, 2, catalog)
        for user in [bob, eve] { try await join(1, user, catalog) }
        try await join(2, tim, catalog)
        try await catalog.lists.removeList(list.id, of: eve, expected: nil)
        try await catalog.lists.revoke(revoked, list.id, of: ann)
        return list.id
    }

    /// Returns the places of lists, as `user owner`.
    private static func places(_ catalog: PostgresCatalog) async throws -> [String] {
        try await catalog.database.writes.perform { connection in
            try connection.query(
                "SELECT user_id || ' ' || owner_id FROM user_list_place ORDER BY user_id COLLATE \"C\""
            ) { try $0.map { try $0.text(0) } }
        }
    }

    @Test("Neither members nor former members keep the name of an erased owner")
    func erasure() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await Self.sharedList(catalog)
            #expect(try await Self.places(catalog) == ["ann ann", "bob ann", "eve ann", "tim ann"])
            try await catalog.users.erase(Self.ann)
            #expect(try await Self.places(catalog) == ["bob bob", "eve eve", "tim tim"])
            for user in [Self.bob, Self.eve, Self.tim] {
                let lists = try await catalog.lists.lists(of: user, by: .manual, since: nil)
                #expect(lists.entries.isEmpty)
            }
        }
    }

    @Test("An erasure ends memberships that began after the user's lists were erased")
    func lateMemberships() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await Self.sharedList(catalog)
            let members = { () async throws -> [String] in
                try await catalog.database.writes.perform { connection in
                    try connection.query(
                        "SELECT member_id FROM user_list_member WHERE left_at IS NULL ORDER BY member_id COLLATE \"C\""
                    ) { try $0.map { try $0.text(0) } }
                }
            }
            let before = try await members()
            #expect(before.contains("bob"))
            // The last step of an erasure, without the one before it.
            try await catalog.database.writes.transaction(within: .bulk) { connection in
                let account = UserAccount(user: Self.bob)
                try account.lockExclusively(connection)
                try account.erase(connection)
            }
            #expect(try await members() == before.filter { $0 != "bob" })
            #expect(try await Self.places(catalog) == ["ann ann", "eve ann", "tim ann"])
        }
    }

    @Test("When a deleted list is purged, members forget it, and former members forget its owner")
    func purge() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let list = try await Self.sharedList(catalog)
            try await catalog.lists.removeList(list, of: Self.ann, expected: nil)
            try await catalog.database.writes.perform {
                try $0.run(script: "UPDATE user_list SET deleted_at = now() - interval '31 days'")
            }
            while try await catalog.sweepLists() > 0 {}
            #expect(try await Self.places(catalog) == ["eve eve", "tim tim"])
        }
    }
}
