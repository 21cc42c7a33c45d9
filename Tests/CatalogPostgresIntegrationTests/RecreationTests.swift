import Catalog
import CatalogJSON
import JSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// A resource that is deleted and created again has nothing of its former life, and its versions go on.
@Suite(.timeLimit(.minutes(15))) struct RecreationTests {
    typealias Implementation = StoreConformanceTests.Implementation

    private static let shop = StoreConformanceTests.shop
    private static let dairy = StoreConformanceTests.dairy
    private static let cheese = StoreConformanceTests.cheese
    private static let ann = UserID("ann")!
    private static let bob = UserID("bob")!
    private static let eve = UserID("eve")!

    /// A shelf whose every setting differs from a new shelf's.
    private static func configured(includesDescendants: Bool) -> Shelf {
        Shelf(
            key: dairy,
            title: "Old",
            parent: cheese,
            defaultSort: Sort(.price, .descending),
            dimension: .volume,
            soldOut: .mixed,
            positionSource: Sort(.name, .ascending),
            includesDescendants: includesDescendants,
            collapsesGroups: includesDescendants
        )
    }

    private static func product(_ number: Int) -> Product { StoreConformanceTests.product(number) }

    private static func move(_ id: String, _ catalog: CatalogStorage) async throws {
        let edit = ManualOrderEdit.moves([OrderMove([id], .first)])
        let request = OrderEditRequest(store: shop, shelf: dairy, edit: edit)
        _ = try await catalog.manualOrder.editOrder(request, once: nil)
    }

    /// Creates the shelf with all settings, three products and two changes of the manual order.
    private static func createConfigured(_ catalog: CatalogStorage) async throws {
        _ = try await catalog.shelves.put(Shelf(key: cheese, title: "Cheese"), in: shop)
        _ = try await catalog.shelves.put(configured(includesDescendants: false), in: shop)
        for number in 1...3 {
            _ = try await catalog.products.put(product(number), in: shop)
            _ = try await catalog.products.place(product(number).sku, on: dairy, in: shop)
        }
        for id in ["p2", "p3"] { try await move(id, catalog) }
        _ = try await catalog.shelves.put(configured(includesDescendants: true), in: shop)
    }

    private static func importRows(_ rows: [String], into catalog: PostgresCatalog) async throws {
        let file = "store,shelf,sku,name,price,currency,popularity\n" + rows.map { $0 + "\n" }.joined()
        _ = try await Importer(catalog).importFile(
            ImporterTests.Chunks(text: file),
            ImportOptions(format: .csv, createsStores: true)
        )
    }

    // MARK: - Shelves

    @Test(
        "A recreated shelf has no old settings, products and changes, and its versions never repeat",
        arguments: Implementation.allCases
    )
    func shelves(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            var versions: [Int64] = []
            var orderVersions: [Int64] = []
            func record() async throws -> ShelfState {
                let state = try await catalog.shelves.shelf(Self.shop, Self.dairy).state
                versions.append(state.version)
                orderVersions.append(state.orderVersion)
                return state
            }
            for _ in 0..<3 {
                try await Self.createConfigured(catalog)
                let old = try await record()
                #expect(old.shelf == Self.configured(includesDescendants: true))
                #expect(old.productCount == 3)
                #expect(try await catalog.manualOrder.orderHistory(Self.shop, Self.dairy).count == 2)
                try await catalog.shelves.remove(shelf: Self.dairy, from: Self.shop)

                let new = Shelf(key: Self.dairy, title: "New")
                #expect(try await catalog.shelves.put(new, in: Self.shop))
                let state = try await record()
                #expect(state.shelf == new)
                #expect(state.productCount == 0)
                #expect(state.inheritedSort == nil)
                #expect(try await catalog.manualOrder.orderHistory(Self.shop, Self.dairy).isEmpty)
                let undo = OrderEditRequest(store: Self.shop, shelf: Self.dairy, edit: .undo(change: nil))
                await #expect(throws: CatalogError.self) { try await catalog.manualOrder.editOrder(undo, once: nil) }
                #expect(try await catalog.pages.order(Self.shop, Self.dairy, .position).ids.isEmpty)
                #expect(try await catalog.products.product(Self.shop, SKU("p1")!).shelves.isEmpty)
                try await catalog.shelves.remove(shelf: Self.dairy, from: Self.shop)
            }
            for all in [versions, orderVersions] { #expect(all == Set(all).sorted(), "\(all)") }
        }
    }

    @Test(
        "In the manual order of a recreated shelf, products that are not placed again neither count nor move",
        arguments: Implementation.allCases
    )
    func orderOfShelves(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            func edit(_ id: String, _ target: OrderMove.Target) async throws -> ManualOrderOutcome {
                let edit = ManualOrderEdit.moves([OrderMove([id], target)])
                let request = OrderEditRequest(store: Self.shop, shelf: Self.dairy, edit: edit, wantsIndexes: true)
                return try await catalog.manualOrder.editOrder(request, once: nil)
            }
            func place(_ numbers: [Int]) async throws {
                for number in numbers {
                    _ = try await catalog.products.place(Self.product(number).sku, on: Self.dairy, in: Self.shop)
                }
            }
            try await place([1, 2, 3, 4, 5])
            try await catalog.shelves.remove(shelf: Self.dairy, from: Self.shop)
            _ = try await catalog.shelves.put(Shelf(key: Self.dairy, title: "New"), in: Self.shop)
            try await place([2, 4])
            let refused: [(id: String, target: OrderMove.Target, missing: String)] = [
                ("p3", .first, "p3"), ("p4", .after("p3"), "p3"), ("p2", .before("p5"), "p5"),
            ]
            for (id, target, missing) in refused {
                await #expect(throws: CatalogError.unknownProduct(missing)) { try await edit(id, target) }
            }
            let moved = try await edit("p4", .position(0)).moved
            #expect(moved == [ManualOrderOutcome.Moved(id: "p4", after: nil, from: 1, to: 0)])
            let back = try await edit("p4", .position(1)).moved
            #expect(back == [ManualOrderOutcome.Moved(id: "p4", after: "p2", from: 0, to: 1)])
            #expect(try await catalog.pages.order(Self.shop, Self.dairy, .position).ids == ["p2", "p4"])
        }
    }

    @Test("An import that creates a deleted shelf again gives it the settings of a new one")
    func importedShelves() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            try await Self.createConfigured(catalog.storage)
            let old = try await catalog.shelves.shelf(Self.shop, Self.dairy).state
            try await catalog.shelves.remove(shelf: Self.dairy, from: Self.shop)
            try await Self.importRows(["shop,dairy,n1,N,1,EUR,", "shop,fresh,n2,N,1,EUR,"], into: catalog)
            let state = try await catalog.shelves.shelf(Self.shop, Self.dairy).state
            let fresh = try await catalog.shelves.shelf(Self.shop, CatalogKey("fresh")!).state
            var expected = fresh.shelf
            expected.key = Self.dairy
            expected.title = state.shelf.title
            #expect(state.shelf == expected)
            #expect(state.shelf.title != "Old")
            #expect(state.productCount == 1)
            #expect(state.inheritedSort == nil)
            #expect(state.version > old.version)
            #expect(state.orderVersion > old.orderVersion)
            #expect(try await catalog.manualOrder.orderHistory(Self.shop, Self.dairy).isEmpty)
            #expect(try await catalog.pages.order(Self.shop, Self.dairy, .position).ids == ["n1"])
        }
    }

    @Test("A recreated shelf does not compare unit prices by the dimension of its former products")
    func comparisonDimension() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            func dimension(_ key: CatalogKey) async throws -> Dimension {
                try await catalog.shelves.shelf(Self.shop, key).state.comparisonDimension
            }
            func create() async throws {
                _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
                for key in [Self.dairy, Self.cheese] {
                    _ = try await catalog.shelves.put(Shelf(key: key, title: "X"), in: Self.shop)
                }
            }
            func fill() async throws {
                var milk = Self.product(1)
                milk.size = try Size(amount: ExactDecimal(1), unit: .l, packs: 1)
                _ = try await catalog.products.put(milk, in: Self.shop)
                _ = try await catalog.products.place(milk.sku, on: Self.dairy, in: Self.shop)
                _ = try await Resorter(catalog).run(ResortRequest())
                #expect(try await dimension(Self.dairy) == .volume)
            }
            try await create()
            try await fill()
            try await catalog.shelves.remove(shelf: Self.dairy, from: Self.shop)
            try await create()
            // As on a shelf that never had products.
            #expect(try await dimension(Self.cheese) == .mass)
            #expect(try await dimension(Self.dairy) == .mass)
            try await fill()
            _ = try await catalog.shelves.remove(store: Self.shop)
            try await create()
            #expect(try await dimension(Self.dairy) == .mass)
        }
    }

    // MARK: - Stores

    @Test("A recreated store has no old settings, and its versions never repeat", arguments: Implementation.allCases)
    func stores(_ implementation: Implementation) async throws {
        try await implementation.withCatalog { (catalog: CatalogStorage) async throws in
            let old = Store(
                key: Self.shop,
                title: "Old",
                currency: Currency("SEK")!,
                locale: "sv-SE",
                collation: "de",
                unitPricing: .se,
                soldOut: .mixed,
                defaultSort: Sort(.price, .descending),
                popularityMetric: .last30Days,
                popularityHalfLifeDays: 3,
                newcomerBoost: 5
            )
            let new = Store(key: Self.shop, title: "New", currency: Currency("EUR")!)
            let address = ShelfAddress(Self.shop, Self.dairy)
            var versions: [ShelfVersion] = []
            for store in [old, new, old, new] {
                #expect(try await catalog.shelves.put(store))
                #expect(try await catalog.shelves.store(Self.shop) == store)
                _ = try await catalog.shelves.put(Shelf(key: Self.dairy, title: "X"), in: Self.shop)
                versions.append(try #require(try await catalog.versions.versions(of: [address])[address] ?? nil))
                _ = try await catalog.shelves.remove(store: Self.shop)
            }
            for all in [versions.map(\.store), versions.map(\.shelf)] { #expect(all == Set(all).sorted(), "\(all)") }
        }
    }

    @Test("A recreated store has no old event ids, retention and recorded responses")
    func purchasesOfStores() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let today = Timestamp.now().day
            let time = Timestamp(microseconds: Int64(today - 20) * 86_400_000_000)
            let purchase = Purchase(eventID: "1", sku: SKU("p1")!, quantity: 1, at: time, customer: "ann")
            let call = IdempotentCall<RecordedResponse>(key: "k", fingerprint: [1])
            for _ in 0..<2 {
                _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
                #expect(try await catalog.responses.firstResponse("k", in: Self.shop) == nil)
                try await catalog.responses.record(RecordedResponse(body: [1]), of: call, in: Self.shop)
                _ = try await catalog.products.put(Self.product(1), in: Self.shop)
                #expect(try await catalog.products.product(Self.shop, SKU("p1")!).product.popularity == .none)
                #expect(try await catalog.purchases.add([purchase], to: Self.shop).accepted == 1)
                #expect(try await catalog.purchases.add([purchase], to: Self.shop).repeated == 1)
                _ = try await PurchaseFold(catalog).run()
                let book = PurchaseBook(catalog)
                _ = try await book.count(Self.shop, day: today)
                #expect(try await catalog.products.product(Self.shop, SKU("p1")!).product.popularity != .none)
                _ = try await book.applyRetention(Self.shop, olderThan: 10, day: today)
                #expect(try await catalog.purchases.add([purchase], to: Self.shop).tooOld == 1)
                _ = try await catalog.shelves.remove(store: Self.shop)
            }
        }
    }

    // MARK: - Products

    @Test("A recreated product has no old values and is on no shelf", arguments: Implementation.allCases)
    func products(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            let sku = Product.complete.sku
            _ = try await catalog.products.put(.complete, in: Self.shop)
            _ = try await catalog.products.place(sku, on: Self.dairy, in: Self.shop)
            let old = try await catalog.products.product(Self.shop, sku).product
            try await catalog.products.remove(product: sku, from: Self.shop)
            let new = Product(sku: sku, name: "New")
            #expect(try await catalog.products.put(new, in: Self.shop))
            let read = try await catalog.products.product(Self.shop, sku)
            #expect(read.product == new.withServerFields(of: read.product))
            #expect(read.product.popularity == .none)
            #expect(read.product.createdAt >= old.modifiedAt)
            #expect(read.shelves.isEmpty)
        }
    }

    @Test("A recreated product does not have the popularity that a file gave it")
    func seeds() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.importRows(["shop,dairy,p1,N,1,EUR,100"], into: catalog)
            let sku = SKU("p1")!
            #expect(try await catalog.products.product(Self.shop, sku).product.popularity != .none)
            try await catalog.products.remove(product: sku, from: Self.shop)
            _ = try await catalog.products.put(Self.product(1), in: Self.shop)
            _ = try await Resorter(catalog).run(ResortRequest())
            #expect(try await catalog.products.product(Self.shop, sku).product.popularity == .none)
            // A file without popularity, too.
            try await catalog.products.remove(product: sku, from: Self.shop)
            try await Self.importRows(["shop,dairy,p1,N,1,EUR,"], into: catalog)
            #expect(try await catalog.products.product(Self.shop, sku).product.popularity == .none)
        }
    }

    // MARK: - Users

    @Test(
        "A recreated setting has a new revision, and none of its old ones is expected",
        arguments: Implementation.allCases
    )
    func settings(_ implementation: Implementation) async throws {
        try await implementation.withCatalog { (catalog: CatalogStorage) async throws in
            var revisions: [Int64] = []
            func write(_ value: String?, _ expectation: SettingsEdit.Expectation = .unconditional) async throws {
                let write = SettingsEdit.Write(SettingKey("k")!, value.map { .string($0) })
                let results = try await catalog.settings.edit(
                    SettingsEdit([write], expecting: expectation),
                    of: Self.ann
                )
                revisions.append(try #require(results.first).setting.revision)
            }
            for round in 0..<3 {
                try await write("old \(round)", .absent)
                try await write(nil, .present)
                await #expect(throws: CatalogError.staleSetting(current: nil)) { try await write("x", .present) }
                await #expect(throws: CatalogError.staleSetting(current: nil)) {
                    try await write("x", .revision(Set(revisions)))
                }
            }
            try await write("new", .absent)
            let current = revisions.last
            await #expect(throws: CatalogError.staleSetting(current: current)) {
                try await write("x", .revision(Set(revisions.dropLast())))
            }
            #expect(try await catalog.settings.setting(SettingKey("k")!, of: Self.ann).value == .string("new"))
            #expect(revisions.count == 7)
            #expect(revisions == Set(revisions).sorted(), "\(revisions)")
        }
    }

    private static func share(
        _ list: UniqueID,
        _ role: ListRole,
        _ number: UInt8,
        _ catalog: CatalogStorage
    ) async throws -> UniqueID {
        let now = Timestamp.now()
        let end = Timestamp(microseconds: now.microseconds + 3_600_000_000)
        let share = ListShare(id: .random(), role: role, createdAt: now, expiresAt: end)
        _ = try await catalog.lists.share(list, of: ann, share, digest: digest(number), once: nil)
        return share.id
    }

    private static func digest(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    @Test("A member who joins again by another share has its role only", arguments: Implementation.allCases)
    func shares(_ implementation: Implementation) async throws {
        try await implementation.withCatalog { (catalog: CatalogStorage) async throws in
            let list = NewList(name: "a")
            _ = try await catalog.lists.createList(list, of: Self.ann, once: nil)
            func edit() async throws {
                let edit = ListEdit.add([NewListItem(text: "x")])
                _ = try await catalog.lists.editList(list.id, of: Self.bob, edit, expected: nil, once: nil)
            }
            let first = try await Self.share(list.id, .editor, 1, catalog)
            _ = try await catalog.lists.join(Self.digest(1), of: Self.bob, once: nil)
            try await edit()
            try await catalog.lists.revoke(first, list.id, of: Self.ann)
            await #expect(throws: CatalogError.notFound("share")) {
                try await catalog.lists.join(Self.digest(1), of: Self.bob, once: nil)
            }
            let second = try await Self.share(list.id, .reader, 2, catalog)
            #expect(try await catalog.lists.shares(list.id, of: Self.ann).map(\.members) == [0])
            _ = try await catalog.lists.join(Self.digest(2), of: Self.bob, once: nil)
            #expect(try await catalog.lists.list(list.id, of: Self.bob, by: nil).0.role == .reader)
            await #expect(throws: CatalogError.self) { try await edit() }
            let shares = try await catalog.lists.shares(list.id, of: Self.ann)
            #expect(shares.map(\.id) == [second])
            #expect(shares.map(\.members) == [1])
            #expect(try await catalog.lists.list(list.id, of: Self.ann, by: nil).0.list.items.count == 1)
        }
    }

    @Test("A list with the id of a purged one has no old items, shares and members, and a higher version")
    func lists() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let list = NewList(name: "Old", autoSort: false, sort: .name)
            _ = try await catalog.lists.createList(list, of: Self.ann, once: nil)
            let edit = ListEdit.add([NewListItem(text: "x")])
            _ = try await catalog.lists.editList(list.id, of: Self.ann, edit, expected: nil, once: nil)
            _ = try await Self.share(list.id, .editor, 1, catalog.storage)
            _ = try await catalog.lists.join(Self.digest(1), of: Self.bob, once: nil)
            let old = try await catalog.lists.list(list.id, of: Self.ann, by: nil).0.list
            try await catalog.lists.removeList(list.id, of: Self.ann, expected: nil)
            let again = NewList(id: list.id, name: "New")
            await #expect(throws: CatalogError.deletedList(list.id)) {
                try await catalog.lists.createList(again, of: Self.ann, once: nil)
            }
            while try await catalog.sweepLists(after: 0) > 0 {}
            _ = try await catalog.lists.createList(again, of: Self.ann, once: nil)
            let new = try await catalog.lists.list(list.id, of: Self.ann, by: nil).0.list
            #expect(new.items.isEmpty)
            #expect(new.name == "New")
            #expect(new.autoSort)
            #expect(new.sort == .position)
            #expect(new.version > old.version)
            #expect(try await catalog.lists.shares(list.id, of: Self.ann).isEmpty)
            for user in [Self.bob, Self.eve] {
                await #expect(throws: CatalogError.notFound("share")) {
                    try await catalog.lists.join(Self.digest(1), of: user, once: nil)
                }
                await #expect(throws: CatalogError.notFound("list “\(list.id)”")) {
                    try await catalog.lists.list(list.id, of: user, by: nil)
                }
                #expect(try await catalog.lists.lists(of: user, by: nil, since: nil).entries.isEmpty)
            }
        }
    }

    @Test("A user who returns after an erasure is like a new one, with higher revisions")
    func users() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let call = IdempotentCall<ListDocument>(key: "k", fingerprint: [1])
            var revisions: [Int64] = []
            // Creates a list and a setting; returns what the user has then.
            func live(_ user: UserID) async throws -> [String] {
                _ = try await catalog.lists.createList(NewList(name: "List"), of: user, once: call)
                let edit = SettingsEdit([.init(SettingKey("k")!, .bool(true))], expecting: .absent)
                _ = try await catalog.settings.edit(edit, of: user)
                let settings = try await catalog.settings.settings(of: user, since: nil, limit: nil)
                if user == Self.ann { revisions.append(settings.revision) }
                let lists = try await catalog.lists.lists(of: user, by: nil, since: nil).entries
                let log = try await catalog.audit.audit(AuditRequest(.user(user))).entries
                let actions = log.map(\.action).filter { $0 != AuditAction.userErase.rawValue }
                return settings.settings.map(\.key.text) + lists.map(\.membership.list.name) + actions
            }
            for number in 1...2 as ClosedRange<UInt8> {
                let before = try await live(Self.ann)
                #expect(before.prefix(2) == ["k", "List"])
                let ticket = Ticket(
                    user: Self.ann,
                    digest: Self.digest(number),
                    expiresAt: Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000),
                    tokenExpiresAt: Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000)
                )
                _ = try await catalog.users.saveTicket(ticket, id: .random(), once: nil)
                try await catalog.users.erase(Self.ann)
                #expect(try await catalog.users.redeem(Self.digest(number)) == nil)
            }
            let returned = try await live(Self.ann)
            let new = try await live(Self.eve)
            #expect(returned == new)
            #expect(revisions == Set(revisions).sorted(), "\(revisions)")
        }
    }

    // MARK: - Import profiles

    @Test("A recreated import profile has nothing of the old one", arguments: Implementation.allCases)
    func importProfiles(_ implementation: Implementation) async throws {
        try await implementation.withCatalog { (catalog: CatalogStorage) async throws in
            let name = CatalogKey("supplier")!
            let (old, new) = (#"{"title":"Old","columns":{"sku":"Code"}}"#, #"{"language":"de"}"#)
            #expect(try await catalog.importProfiles.put(importProfile: old, name))
            try await catalog.importProfiles.remove(importProfile: name)
            #expect(try await catalog.importProfiles.importProfiles().isEmpty)
            #expect(try await catalog.importProfiles.put(importProfile: new, name))
            #expect(try await catalog.importProfiles.importProfiles().map(\.name) == [name])
            let saved = try await catalog.importProfiles.profile(named: "supplier")
            let expected = try ImportProfile(document: Array(new.utf8))
            #expect(saved == expected)
        }
    }
}
