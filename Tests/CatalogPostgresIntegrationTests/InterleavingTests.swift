import Catalog
import CatalogJSON
import Dispatch
import Foundation
import JSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Two writers whose statements interleave at a chosen place: a transaction of the test holds a row until the first writer waits for it.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "the scripts lock the rows of one server"),
    .timeLimit(.minutes(15))
) struct InterleavingTests {
    typealias Work = @Sendable () async throws -> Void

    private static let shop = CatalogKey("shop")!
    private static let (one, two) = (CatalogKey("one")!, CatalogKey("two")!)
    private static let skus = ["a", "b", "c"].map { SKU($0)! }
    private static let (ann, bob) = (UserID("ann")!, UserID("bob")!)
    private static let guest = UserID("guest:tim")!

    private static func store(_ currency: String) -> Store {
        Store(key: shop, title: "Shop", currency: Currency(currency)!)
    }

    /// Fills a store with two shelves, and with products without prices on the first shelf.
    private static func fill(_ catalog: PostgresCatalog, positionSource: Sort? = nil) async throws {
        _ = try await catalog.shelves.put(store("EUR"))
        for key in [one, two] {
            let source = key == one ? positionSource : nil
            _ = try await catalog.shelves.put(Shelf(key: key, title: key.text, positionSource: source), in: shop)
        }
        for sku in skus {
            _ = try await catalog.products.put(Product(sku: sku, name: sku.text), in: shop)
            _ = try await catalog.products.place(sku, on: one, in: shop)
        }
    }

    /// Starts operations while a transaction of the test holds rows. Each starts when the ones before it wait for a lock.
    ///
    /// - Parameters:
    ///   - script: locks the rows, and may change them.
    ///   - meanwhile: runs when all operations wait.
    /// - Returns: the results of the operations.
    static func run(
        _ operations: [Work],
        while script: String,
        in catalog: PostgresCatalog,
        _ meanwhile: () async throws -> Void = {}
    ) async throws -> [Result<Void, any Error>] {
        try await catalog.database.writes.withConnection { holder in
            try await holder.perform { try $0.run(script: "BEGIN; " + script) }
            var tasks: [Task<Void, any Error>] = []
            for operation in operations {
                tasks.append(Task { try await operation() })
                try await catalog.untilLockIsAwaited(by: tasks.count)
            }
            try await meanwhile()
            try await holder.perform { try $0.run(script: "COMMIT") }
            var results: [Result<Void, any Error>] = []
            for task in tasks { results.append(await task.result) }
            return results
        }
    }

    private static func names(of user: UserID, _ catalog: PostgresCatalog) async throws -> [String] {
        try await catalog.lists.lists(of: user, by: .manual, since: nil).entries.map(\.membership.list.name)
    }

    private static func settings(of user: UserID, _ catalog: PostgresCatalog) async throws -> [SettingKey] {
        try await catalog.settings.settings(of: user, since: nil, limit: nil).settings.map(\.key)
    }

    private static func set(_ key: String, of user: UserID, _ catalog: PostgresCatalog) async throws {
        _ = try await catalog.settings.edit(SettingsEdit([.init(SettingKey(key)!, .bool(true))]), of: user)
    }

    // MARK: - Prices

    @Test("Prices in the old currency are refused if they wait for a change of the currency")
    func pricesWaitForTheCurrency() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            let prices: Work = {
                let change = PriceChange(sku: Self.skus[0], priceMinor: 5)
                _ = try await catalog.prices.setPrices([change], in: Self.shop, pricedIn: Currency("EUR")!)
            }
            let results = try await Self.run(
                [prices],
                while: """
                    SELECT FROM store_state WHERE store_id = 1 FOR UPDATE;
                    UPDATE store SET currency = 'SEK' WHERE store_id = 1
                    """,
                in: catalog
            )
            #expect(throws: CatalogError.currencyChanged(Self.store("SEK"))) { try results[0].get() }
            #expect(try await catalog.products.product(Self.shop, Self.skus[0]).product.priceMinor == nil)
        }
    }

    @Test("A change of the currency waits for the first prices that are being set, and is refused")
    func currencyWaitsForPrices() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            let prices: Work = {
                let change = PriceChange(sku: Self.skus[0], priceMinor: 5)
                _ = try await catalog.prices.setPrices([change], in: Self.shop)
            }
            let currency: Work = { _ = try await catalog.shelves.put(Self.store("SEK")) }
            let results = try await Self.run(
                [prices, currency],
                while: "SELECT FROM product WHERE store_id = 1 AND sku = 'a' FOR UPDATE",
                in: catalog
            )
            #expect(throws: Never.self) { try results[0].get() }
            #expect(throws: CatalogError.currencyInUse(Self.store("EUR"))) { try results[1].get() }
            #expect(try await catalog.shelves.store(Self.shop).currency == Currency("EUR")!)
        }
    }

    @Test("A product that is placed on another shelf while its price waits has the price there, too")
    func pricesReachNewPlacements() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            let page = PageRequest(store: Self.shop, shelf: Self.two)
            let prices: Work = {
                let change = PriceChange(sku: Self.skus[0], priceMinor: 5)
                _ = try await catalog.prices.setPrices([change], in: Self.shop)
            }
            let results = try await Self.run(
                [prices],
                while: "SELECT FROM shelf WHERE store_id = 1 AND key = 'one' FOR NO KEY UPDATE",
                in: catalog
            ) {
                _ = try await catalog.products.place(Self.skus[0], on: Self.two, in: Self.shop)
                // The page keeps the shelf in memory, until its version shows that the shelf has changed.
                #expect(try await catalog.pages.page(page).products.map(\.priceMinor) == [nil])
            }
            #expect(throws: Never.self) { try results[0].get() }
            #expect(try await catalog.pages.page(page).products.map(\.priceMinor) == [5])
        }
    }

    // MARK: - Orders

    @Test("A re-sort that waits for an edit of the order sorts the products as the edit left them")
    func resortWaitsForEdits() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            // The products are in the order of the source already, so a stale read finds nothing to move.
            try await Self.fill(catalog, positionSource: Sort(.name, .ascending))
            let resort: Work = { _ = try await Resorter(catalog).run(ResortRequest(store: Self.shop)) }
            let results = try await Self.run(
                [resort],
                while: """
                    UPDATE shelf SET version = version + 1, order_version = order_version + 1 WHERE store_id = 1 AND key = 'one';
                    UPDATE placement_position p SET key = o.key FROM placement_position o
                    WHERE p.store_id = 1 AND o.store_id = 1 AND p.shelf_id = o.shelf_id
                        AND (p.sku, o.sku) IN (('a', 'c'), ('c', 'a'))
                    """,
                in: catalog
            )
            #expect(throws: Never.self) { try results[0].get() }
            #expect(try await catalog.pages.order(Self.shop, Self.one, .position).ids == ["a", "b", "c"])
        }
    }

    // MARK: - Imports

    /// Waits on a thread that no task needs.
    private static func wait(for semaphore: DispatchSemaphore) async throws {
        let result = await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: semaphore.wait(timeout: .now() + 60)) }.start()
        }
        try #require(result == .success)
    }

    @Test("An import whose shelf is deleted after the comparison fails, or the shelf has all products of the file")
    func shelfDeletedDuringImport() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await Importer(catalog).importFile(
                ImporterTests.Chunks(
                    text: "store,shelf,sku,name,price,currency\nshop,one,a,A,1,EUR\nshop,one,b,B,1,EUR\n"
                ),
                ImportOptions(format: .csv, createsStores: true)
            )
            let (compared, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let options = ImportOptions(format: .csv, store: Self.shop, prunes: true)
            let running = Task {
                // The first product is the same, the second one is pruned, and the third one is new.
                try await Importer(catalog).importFile(
                    ImporterTests.Chunks(text: "shelf,sku,name,price\none,a,A,1\none,c,C,1\n"),
                    options,
                    onPrune: { _ in
                        compared.signal()
                        return resume.wait(timeout: .now() + 60) == .success
                    }
                )
            }
            try await Self.wait(for: compared)
            try await catalog.shelves.remove(shelf: Self.one, from: Self.shop)
            resume.signal()
            let result = await running.result
            let shelf = try await catalog.shelves.shelfIfExists(Self.shop, Self.one)
            switch result {
            case .success:
                #expect(shelf?.state.productCount == 2)
                let shown = try await catalog.pages.page(PageRequest(store: Self.shop, shelf: Self.one)).products
                #expect(Set(shown.map(\.sku.text)) == ["a", "c"])
            case .failure(let error):
                guard case CatalogError.conflict = error else {
                    Issue.record("not a conflict: \(error)")
                    return
                }
                #expect(shelf == nil)
            }
        }
    }

    // MARK: - Users

    /// The lock lets others change the account, but not delete it.
    private static func keep(_ user: UserID) -> String {
        "SELECT FROM user_account WHERE user_id = '\(user.text)' FOR KEY SHARE"
    }

    @Test("Settings and lists that a guest writes while a merge waits are merged, too")
    func mergeTakesLateWrites() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for user in [Self.ann, Self.guest] { try await Self.set("first", of: user, catalog) }
            let merge: Work = { _ = try await catalog.users.merge(Self.guest, into: Self.ann, once: nil) }
            let results = try await Self.run([merge], while: Self.keep(Self.guest), in: catalog) {
                try await Self.set("late", of: Self.guest, catalog)
                _ = try await catalog.lists.createList(NewList(name: "Late"), of: Self.guest, once: nil)
            }
            #expect(throws: Never.self) { try results[0].get() }
            let settings = try await Self.settings(of: Self.ann, catalog)
            #expect(Set(settings.map(\.text)) == ["first", "late"])
            #expect(try await Self.names(of: Self.ann, catalog) == ["Late"])
            #expect(try await Self.settings(of: Self.guest, catalog).isEmpty)
            #expect(try await Self.names(of: Self.guest, catalog).isEmpty)
        }
    }

    @Test("Settings and lists that a user writes while an erasure waits are erased, too")
    func erasureTakesLateWrites() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for user in [Self.ann, Self.bob] {
                try await Self.set("first", of: user, catalog)
                _ = try await catalog.lists.createList(NewList(name: "First"), of: user, once: nil)
            }
            let erasure: Work = { try await catalog.users.erase(Self.ann) }
            let results = try await Self.run([erasure], while: Self.keep(Self.ann), in: catalog) {
                try await Self.set("late", of: Self.ann, catalog)
                _ = try await catalog.lists.createList(NewList(name: "Late"), of: Self.ann, once: nil)
            }
            #expect(throws: Never.self) { try results[0].get() }
            #expect(try await Self.settings(of: Self.ann, catalog).isEmpty)
            #expect(try await Self.names(of: Self.ann, catalog).isEmpty)
            #expect(try await Self.settings(of: Self.bob, catalog).map(\.text) == ["first"])
            #expect(try await Self.names(of: Self.bob, catalog) == ["First"])
        }
    }

    // MARK: - Lists

    /// Creates a list of Ann with a share.
    private static func share(_ catalog: PostgresCatalog, _ digest: [UInt8]) async throws -> (list: UniqueID, UniqueID)
    {
        let list = NewList(name: "Week")
        _ = try await catalog.lists.createList(list, of: ann, once: nil)
        let now = Timestamp.now()
        let expiry = Timestamp(microseconds: now.microseconds + 3_600_000_000)
        let share = ListShare(id: .random(), role: .editor, createdAt: now, expiresAt: expiry)
        _ = try await catalog.lists.share(list.id, of: ann, share, digest: digest, once: nil)
        return (list.id, share.id)
    }

    private static func lock(_ list: UniqueID) -> String {
        "SELECT FROM user_list WHERE list_id = '\(list.text)' FOR UPDATE"
    }

    @Test("A user who waits to join while the share is revoked does not become a member")
    func joinAfterRevocation() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let digest = [UInt8](repeating: 7, count: 32)
            let (list, share) = try await Self.share(catalog, digest)
            let revocation: Work = { try await catalog.lists.revoke(share, list, of: Self.ann) }
            let join: Work = { _ = try await catalog.lists.join(digest, of: Self.bob, once: nil) }
            let results = try await Self.run([revocation, join], while: Self.lock(list), in: catalog)
            #expect(throws: Never.self) { try results[0].get() }
            #expect(throws: CatalogError.notFound("share")) { try results[1].get() }
            #expect(try await Self.names(of: Self.bob, catalog).isEmpty)
        }
    }

    @Test("An edit of a member who is removed while it waits changes nothing")
    func editAfterRemoval() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let digest = [UInt8](repeating: 7, count: 32)
            let (list, share) = try await Self.share(catalog, digest)
            _ = try await catalog.lists.join(digest, of: Self.bob, once: nil)
            let revocation: Work = { try await catalog.lists.revoke(share, list, of: Self.ann) }
            let edit: Work = {
                let new = ListEdit.add([NewListItem(text: "Milk")])
                _ = try await catalog.lists.editList(list, of: Self.bob, new, expected: nil, once: nil)
            }
            let results = try await Self.run([revocation, edit], while: Self.lock(list), in: catalog)
            #expect(throws: Never.self) { try results[0].get() }
            #expect(throws: CatalogError.notFound("list “\(list)”")) { try results[1].get() }
            #expect(try await catalog.lists.list(list, of: Self.ann, by: nil).0.list.items.isEmpty)
        }
    }
}
