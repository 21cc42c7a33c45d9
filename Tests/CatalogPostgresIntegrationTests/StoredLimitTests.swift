import Catalog
import CatalogJSON
import LibPQ
import Ordering
import TestSupport
import Testing

@testable import CatalogPostgres

/// Limits of stored numbers: the last one is accepted, and one more is refused.
@Suite(.timeLimit(.minutes(15))) struct StoredLimitTests {
    typealias Implementation = StoreConformanceTests.Implementation

    private static let shop = StoreConformanceTests.shop
    private static let ann = UserID("ann")!

    @Test(
        "A list has 50 members in addition to its owner, and one who leaves makes room",
        arguments: Implementation.allCases
    )
    func members(_ implementation: Implementation) async throws {
        try await implementation.withCatalog { (catalog: CatalogStorage) async throws in
            let (list, digest) = (NewList(name: "a"), [UInt8](repeating: 1, count: 32))
            _ = try await catalog.lists.createList(list, of: Self.ann, once: nil)
            let now = Timestamp.now()
            let end = Timestamp(microseconds: now.microseconds + 3_600_000_000)
            let share = ListShare(id: .random(), role: .reader, createdAt: now, expiresAt: end)
            _ = try await catalog.lists.share(list.id, of: Self.ann, share, digest: digest, once: nil)
            func join(_ number: Int) async throws {
                _ = try await catalog.lists.join(digest, of: UserID("user-\(number)")!, once: nil)
            }
            for number in 1...50 { try await join(number) }
            await #expect(throws: CatalogError.tooManyMembers) { try await join(51) }
            // A member may repeat the request.
            try await join(50)
            #expect(try await catalog.lists.shares(list.id, of: Self.ann).map(\.members) == [50])
            try await catalog.lists.removeList(list.id, of: UserID("user-7")!, expected: nil)
            try await join(51)
            await #expect(throws: CatalogError.tooManyMembers) { try await join(7) }
        }
    }

    // MARK: - PostgreSQL only

    /// Creates shelves, each in the one before; returns their keys.
    private static func createLine(_ name: String, _ count: Int, _ catalog: PostgresCatalog) async throws
        -> [CatalogKey]
    {
        let keys = (1...count).map { CatalogKey("\(name)-\($0)")! }
        for (index, key) in keys.enumerated() {
            let shelf = Shelf(key: key, title: "X", parent: index == 0 ? nil : keys[index - 1])
            _ = try await catalog.shelves.put(shelf, in: shop)
        }
        return keys
    }

    @Test("Shelves are nested 16 levels deep, and not deeper")
    func depth() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            let line = try await Self.createLine("a", 16, catalog)
            let key = CatalogKey("deeper")!
            await #expect(throws: CatalogError.self) {
                try await catalog.shelves.put(Shelf(key: key, title: "X", parent: line[15]), in: Self.shop)
            }
            #expect(try await catalog.shelves.put(Shelf(key: key, title: "X", parent: line[14]), in: Self.shop))
        }
    }

    @Test("A shelf with shelves below it cannot be moved where they would be nested too deep")
    func depthOfMovedShelves() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            let upper = try await Self.createLine("a", 10, catalog)
            let lower = try await Self.createLine("b", 7, catalog)
            // With ten levels above, seven are one too many.
            let moved = Shelf(key: lower[0], title: "X", parent: upper[9])
            await #expect(throws: CatalogError.self) { try await catalog.shelves.put(moved, in: Self.shop) }
            let fits = Shelf(key: lower[0], title: "X", parent: upper[8])
            #expect(try await !catalog.shelves.put(fits, in: Self.shop))
        }
    }

    @Test("A database has 1,000 import profiles; existing ones can still be replaced")
    func importProfiles() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await catalog.database.writes.perform {
                try $0.run(
                    script: """
                        INSERT INTO import_profile (name, document, modified_at)
                        SELECT 'p' || n, '{}', now() FROM generate_series(1, 999) n
                        """
                )
            }
            let (last, surplus) = (CatalogKey("last")!, CatalogKey("surplus")!)
            #expect(try await catalog.importProfiles.put(importProfile: "{}", last))
            await #expect(throws: CatalogError.self) {
                try await catalog.importProfiles.put(importProfile: "{}", surplus)
            }
            #expect(try await !catalog.importProfiles.put(importProfile: #"{"title":"A"}"#, last))
            try await catalog.importProfiles.remove(importProfile: CatalogKey("p1")!)
            #expect(try await catalog.importProfiles.put(importProfile: "{}", surplus))
        }
    }

    @Test("A user has 2,000 lists with deleted ones, and 500 without")
    func lists() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            func create() async throws {
                _ = try await catalog.lists.createList(NewList(name: "x"), of: Self.ann, once: nil)
            }
            // Adds lists that are deleted.
            func addDeleted(_ count: Int) async throws {
                try await catalog.database.writes.perform { connection in
                    let last = try connection.query(ListStatements.lastKey, [.text("ann")]) {
                        try $0.first { try PathKey(bytes: try $0.bytea(0)) }
                    }
                    let ids = (0..<count).map { _ in UniqueID.random().text }
                    let keys = PathKey.appending(count, after: last).map(\.bytes)
                    _ = try connection.execute(
                        """
                        INSERT INTO user_list (user_id, list_id, name, auto_sort, sort, version, created_at, modified_at, deleted_at)
                        SELECT 'ann', n::uuid, 'x', true, 'position', 1, now(), now(), now() FROM unnest($1::text[]) n
                        """,
                        [.textArray(ids)]
                    )
                    _ = try connection.execute(
                        """
                        INSERT INTO user_list_place (user_id, list_id, owner_id, role, key, revision)
                        SELECT 'ann', n.id::uuid, 'ann', 'owner', n.key, 1 FROM unnest($1::text[], $2::bytea[]) AS n (id, key)
                        """,
                        [.textArray(ids), .byteaArray(keys)]
                    )
                }
            }
            try await create()
            try await addDeleted(1998)
            try await create()
            await #expect(throws: CatalogError.tooManyDeletedLists) { try await create() }
            // Of these, 499 exist, and none is deleted.
            try await catalog.database.writes.perform {
                try $0.run(
                    script: """
                        UPDATE user_list SET deleted_at = NULL WHERE list_id IN (
                            SELECT list_id FROM user_list WHERE deleted_at IS NOT NULL LIMIT 497);
                        DELETE FROM user_list_place p USING user_list l
                        WHERE l.user_id = p.user_id AND l.list_id = p.list_id AND l.deleted_at IS NOT NULL;
                        DELETE FROM user_list WHERE deleted_at IS NOT NULL
                        """
                )
            }
            try await create()
            await #expect(throws: CatalogError.tooManyLists) { try await create() }
        }
    }
}
