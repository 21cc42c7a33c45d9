import Catalog
import CatalogJSON
import Testing
import TestSupport

/// A repeated merge with an idempotency key changes nothing.
@Suite(.timeLimit(.minutes(15))) struct RepeatedMergeTests {
    private static let (ann, guest) = (UserID("ann")!, UserID("guest:tim")!)

    private static func call(_ byte: UInt8) -> IdempotentCall<GuestMerge> {
        IdempotentCall(key: "merge", fingerprint: Array(repeating: byte, count: 32))
    }

    private static func names(of user: UserID, _ catalog: CatalogStorage) async throws -> [String] {
        try await catalog.lists.lists(of: user, by: .manual, since: nil).entries.map(\.membership.list.name)
    }

    @Test(
        "A repeated merge, or another one with the same key, moves no later list of the guest",
        arguments: StoreConformanceTests.Implementation.allCases
    )
    func repeatedMergesChangeNothing(_ implementation: StoreConformanceTests.Implementation) async throws {
        try await implementation.withCatalog { (catalog: CatalogStorage) async throws in
            _ = try await catalog.lists.createList(NewList(name: "First"), of: Self.guest, once: nil)
            let outcome = try await catalog.users.merge(Self.guest, into: Self.ann, once: Self.call(1))
            _ = try await catalog.lists.createList(NewList(name: "Later"), of: Self.guest, once: nil)
            #expect(try await catalog.users.merge(Self.guest, into: Self.ann, once: Self.call(1)) == outcome)
            let repeated = try await catalog.users.merge(into: Self.ann, once: Self.call(1)) {
                () async throws(CatalogError) -> UserID in throw .forbidden("the guest's token has expired")
            }
            #expect(repeated == outcome)
            await #expect(throws: CatalogError.keyReused) {
                try await catalog.users.merge(Self.guest, into: Self.ann, once: Self.call(2))
            }
            #expect(try await Self.names(of: Self.ann, catalog) == ["First"])
            #expect(try await Self.names(of: Self.guest, catalog) == ["Later"])
        }
    }
}
