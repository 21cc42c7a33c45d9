import JSON
import Catalog
import CatalogJSON
import InMemoryCatalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Every change of a store or of a user's data has one entry, written with it; both implementations agree.
@Suite(.timeLimit(.minutes(15))) struct AuditStoreTests {
    private static let shop = CatalogKey("shop")!
    private static let dairy = CatalogKey("dairy")!
    private static let (ann, bob, guest) = (UserID("ann")!, UserID("bob")!, UserID("guest:1")!)

    /// An entry without its id and time. Its detail is a set of paths and values, without an order.
    private struct Summary: Hashable, CustomStringConvertible {
        let action: String
        let subject: String?
        let origin: ChangeOrigin
        let values: Set<String>

        /// Versions, revisions and the ids of imports differ between the implementations.
        private static let generated: Set<String> = ["from_order_version", "order_version", "share"]

        init(_ entry: AuditEntry) throws {
            action = entry.action
            subject = entry.subject
            origin = entry.origin
            var found: Set<String> = []
            func visit(_ value: JSONValue, _ path: String) {
                switch value {
                case .object(let members):
                    for member in members {
                        visit(Self.generated.contains(member.name) ? .null : member.value, "\(path)/\(member.name)")
                    }
                case .array(let elements):
                    for (index, element) in elements.enumerated() { visit(element, "\(path)/\(index)") }
                default: found.insert("\(path)=\(value.text)")
                }
            }
            visit(try JSONReader.parse(Array(entry.detail.utf8)), "")
            values = found
        }

        var description: String { "\(action) \(subject ?? "-") by \(origin.actor): \(values.sorted())" }
    }

    private static func entries(
        _ log: AuditRequest.Log,
        _ catalog: CatalogStorage
    ) async throws -> [AuditEntry] {
        var request = AuditRequest(log, limit: 7)
        var entries: [AuditEntry] = []
        repeat {
            let page = try await catalog.audit.audit(request)
            entries += page.entries
            request.after = page.next
        } while request.after != nil
        return entries.reversed()
    }

    private static func price(_ sku: String, _ price: Int64, regular: Int64? = nil) -> PriceChange {
        PriceChange(sku: SKU(sku)!, priceMinor: price, regularPriceMinor: regular.map { $0 })
    }

    /// Changes everything once, with some changes that have no effect.
    private static func changeEverything(_ catalog: CatalogStorage) async throws {
        _ = try await catalog.shelves.put(Store(key: shop, title: "Shop", currency: Currency("EUR")!))
        _ = try await catalog.shelves.put(Store(key: shop, title: "Shop", currency: Currency("EUR")!))
        _ = try await catalog.shelves.put(Store(key: shop, title: "Store", currency: Currency("EUR")!, soldOut: .mixed))
        let food = CatalogKey("food")!
        _ = try await catalog.shelves.put(Shelf(key: food, title: "Food"), in: shop)
        _ = try await catalog.shelves.put(Shelf(key: dairy, title: "Dairy"), in: shop)
        let shelf = Shelf(
            key: dairy,
            title: "Milk & cheese",
            parent: food,
            defaultSort: Sort(.price, .descending),
            dimension: .mass,
            soldOut: .last
        )
        for _ in 0..<2 { _ = try await catalog.shelves.put(shelf, in: shop) }
        for sku in ["a", "b", "c"] {
            _ = try await catalog.products.put(Product(sku: SKU(sku)!, name: "P", priceMinor: 100), in: shop)
            for _ in 0..<2 { _ = try await catalog.products.place(SKU(sku)!, on: dairy, in: shop) }
        }
        var complete = Product.complete
        complete.attributes = #"{"b": [1, {"y": 2, "x": 3}], "a": "\"'\u0001"}"#
        for _ in 0..<2 { _ = try await catalog.products.put(complete, in: shop) }
        complete.brand = "It's \"new\"\u{1}"
        _ = try await catalog.products.put(complete, in: shop)
        let call = IdempotentCall<PriceOutcome>(key: "k", fingerprint: [1])
        let prices = [price("a", 90, regular: 100), price("b", 100)]
        for _ in 0..<2 { _ = try await catalog.prices.setPrices(prices, in: shop, pricedIn: nil, once: call) }
        _ = try await catalog.prices.setPrices(prices, in: shop)
        let attribute = AttributeName("rating")!
        for body in [#"{"type":"text"}"#, #"{"type":"text"}"#, #"{"type":"number","decimals":2,"unit":"★"}"#] {
            let declaration = try AttributeDeclaration(name: attribute, text: Array(body.utf8))
            _ = try await catalog.attributes.declare(declaration, for: .store(shop))
        }
        try await catalog.attributes.remove(attribute: attribute, of: .store(shop))
        for groups in [[["pop", "soda"]], [["pop", "soda"]], [["pop", "“soft” drink"], ["žvake", "guma"]]] {
            _ = try await catalog.synonyms.set(Synonyms(groups: groups, oneWay: []), for: .store(shop))
        }
        try await catalog.synonyms.remove(synonymsOf: .store(shop))
        for edit in [
            ManualOrderEdit.moves([OrderMove(["c"], .first)]), .moves([OrderMove(["c"], .first)]), .undo(change: nil),
            .set(["b", "c", "a"]), .snapshot(Sort(.name, .ascending)!),
        ] {
            for isDryRun in [true, false] {
                let request = OrderEditRequest(store: shop, shelf: dairy, edit: edit, isDryRun: isDryRun)
                _ = try await catalog.manualOrder.editOrder(request, once: nil)
            }
        }
        for _ in 0..<2 {
            _ = try await catalog.shelves.moveShelves(
                [OrderMove(["dairy"], .first)],
                in: shop,
                expected: nil,
                once: nil
            )
        }
        let purchase = Purchase(
            eventID: UniqueID.random().text,
            sku: SKU("a")!,
            quantity: 1,
            at: .now(),
            customer: "card 7"
        )
        for _ in 0..<2 { _ = try await catalog.purchases.add([purchase], to: shop, once: nil) }
        try await catalog.products.unplace(SKU("a")!, from: dairy, in: shop)
        try await catalog.products.remove(product: complete.sku, from: shop)
        try await catalog.shelves.remove(shelf: dairy, from: shop)
        _ = try await catalog.shelves.put(Shelf(key: dairy, title: "Again"), in: shop)
        let other = Store(key: shop, title: "Other", currency: Currency("CZK")!)
        #expect(try await catalog.shelves.remove(store: shop) == 3)
        _ = try await catalog.shelves.put(other)
        #expect(try await catalog.shelves.remove(store: shop) == 0)
        // Changes that fail have no entry.
        await #expect(throws: CatalogError.self) { try await catalog.shelves.remove(store: shop) }
        await #expect(throws: CatalogError.self) {
            try await catalog.products.remove(product: SKU("none")!, from: shop)
        }
        await #expect(throws: CatalogError.self) {
            try await catalog.prices.setPrices([price("a", 1), price("none", 1)], in: shop)
        }
    }

    @Test("Both implementations record the same changes of a store, each once")
    func storesAgree() async throws {
        let origin = ChangeOrigin(
            source: .api,
            actor: "ann'\"\\",
            address: "2001:db8::1",
            token: "t",
            requestID: "r\u{7}"
        )
        let memory = InMemoryCatalog(collate: collator)
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await origin.run {
                try await Self.changeEverything(memory.storage)
                try await Self.changeEverything(catalog.storage)
            }
            let expected = try await Self.entries(.store(Self.shop), memory.storage).map { try Summary($0) }
            let found = try await Self.entries(.store(Self.shop), catalog.storage).map { try Summary($0) }
            #expect(found == expected)
            #expect(found.allSatisfy { $0.origin == origin })
            let missing = Set(AuditAction.ofStores.map(\.rawValue)).subtracting(found.map(\.action))
            // These are not operations of the stores.
            #expect(missing == ["import.apply", "resort.run"])
        }
    }

    private static func changeOwnData(_ catalog: CatalogStorage) async throws {
        let key = SettingKey("theme")!
        for value in ["dark", "dark", "light"] {
            _ = try await catalog.settings.edit(SettingsEdit([.init(key, .string(value))]), of: ann)
        }
        _ = try await catalog.settings.edit(
            SettingsEdit([.init(key, nil), .init(SettingKey("x")!, .bool(true)), .init(SettingKey("y")!, .bool(true))]),
            of: ann
        )
        await #expect(throws: CatalogError.self) {
            try await catalog.settings.edit(SettingsEdit([.init(key, .bool(true))], expecting: .present), of: ann)
        }
        let list = UniqueID("018f0000-0000-7000-8000-000000000001")!
        for _ in 0..<2 { _ = try await catalog.lists.createList(NewList(id: list, name: "Secret"), of: ann, once: nil) }
        let edit = ListEdit.set(ListSettings(name: "Party"))
        for _ in 0..<2 { _ = try await catalog.lists.editList(list, of: ann, edit, expected: nil, once: nil) }
        let share = ListShare(
            id: UniqueID("018f0000-0000-7000-8000-000000000002")!,
            role: .editor,
            createdAt: .now(),
            expiresAt: Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000)
        )
        _ = try await catalog.lists.share(list, of: ann, share, digest: [UInt8](repeating: 7, count: 32), once: nil)
        for _ in 0..<2 { _ = try await catalog.lists.join([UInt8](repeating: 7, count: 32), of: bob, once: nil) }
        _ = try await catalog.lists.editList(list, of: bob, .set(ListSettings(name: "Bob's")), expected: nil, once: nil)
        try await catalog.lists.removeList(list, of: bob, expected: nil)
        try await catalog.lists.revoke(share.id, list, of: ann)
        try await catalog.lists.removeList(list, of: ann, expected: nil)
        _ = try await catalog.settings.edit(SettingsEdit([.init(key, .string("guest"))]), of: guest)
        _ = try await catalog.lists.createList(NewList(id: .random(), name: "Guest"), of: guest, once: nil)
        let export = try await catalog.users.export(ann, customer: "ann")
        #expect(export.audit.map(\.action).first == "settings.change")
        #expect(export.audit.map(\.action).last == "list.delete")
        // The user does not exist.
        _ = try await catalog.users.export(UserID("nobody")!, customer: "nobody")
        #expect(try await entries(.user(UserID("nobody")!), catalog).isEmpty)
        // The second time, the guest does not exist.
        for _ in 0..<2 { _ = try await catalog.users.merge(guest, into: bob, once: nil) }
    }

    @Test("Both implementations record the same changes of users' data, without values of settings or texts of lists")
    func usersAgree() async throws {
        let memory = InMemoryCatalog(collate: collator)
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.changeOwnData(memory.storage)
            try await Self.changeOwnData(catalog.storage)
            for user in [Self.ann, Self.bob] {
                let expected = try await Self.entries(.user(user), memory.storage)
                let found = try await Self.entries(.user(user), catalog.storage)
                #expect(found.map(\.action) == expected.map(\.action), "\(user)")
                for entry in found {
                    for word in ["dark", "light", "Secret", "Party", "Bob's", "Guest"] {
                        #expect(!entry.detail.contains(word), "\(entry)")
                    }
                }
            }
            let actions = try await Self.entries(.user(Self.ann), catalog.storage).map(\.action)
            #expect(
                actions == [
                    "settings.change", "settings.change", "settings.change", "settings.change", "list.create",
                    "list.change", "list.share",
                    "list.revoke", "list.delete", "user.export",
                ]
            )
        }
    }

    @Test("An erasure deletes a user's entries and leaves one without the user, for every erasure")
    func erasureLeavesOneEntry() async throws {
        let origin = ChangeOrigin(
            source: .api,
            actor: "ann",
            address: "192.0.2.1",
            token: "t",
            requestID: "r"
        )
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.settings.edit(SettingsEdit([.init(SettingKey("theme")!, .bool(true))]), of: Self.bob)
            try await origin.run {
                for value in 0..<3 {
                    _ = try await catalog.settings.edit(
                        SettingsEdit([.init(SettingKey("theme")!, .number("\(value)"))]),
                        of: Self.ann
                    )
                }
                try await catalog.users.erase(Self.ann, customer: "ann")
            }
            let entries = try await Self.entries(.user(Self.ann), catalog.storage)
            #expect(entries.map(\.action) == ["user.erase"])
            let entry = try #require(entries.first)
            #expect(entry.origin.actor.hasPrefix("erased:"))
            #expect(entry.origin.address == nil && entry.origin.token == nil && entry.origin.requestID == "r")
            #expect(entry.detail == #"{"entries":3}"#)
            #expect(try await Self.entries(.user(Self.bob), catalog.storage).count == 1)
            let named = try await catalog.database.writes.perform {
                try $0.query("SELECT count(*) FROM user_audit WHERE user_audit::text ~ '\\mann\\M'") {
                    try $0.first { try $0.int(0) }
                }
            }
            #expect(named == 0)
            // A user who returns and is erased again has two of them.
            _ = try await catalog.settings.edit(SettingsEdit([.init(SettingKey("theme")!, .bool(true))]), of: Self.ann)
            #expect(
                try await Self.entries(.user(Self.ann), catalog.storage).map(\.action) == [
                    "user.erase", "settings.change",
                ]
            )
            try await catalog.users.erase(Self.ann, customer: "ann")
            #expect(
                try await Self.entries(.user(Self.ann), catalog.storage).map(\.action) == ["user.erase", "user.erase"]
            )
        }
    }

    @Test("Settings that are written together have the origins of their own requests")
    func combinedWritesKeepTheirOrigins() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let origin = ChangeOrigin(
                            source: .api,
                            actor: "u\(number)",
                            address: number % 2 == 0 ? nil : "192.0.2.\(number)",
                            requestID: "r\(number)"
                        )
                        try await origin.run {
                            let edit = SettingsEdit([.init(SettingKey("theme")!, .number("\(number)"))])
                            _ = try await catalog.settings.edit(edit, of: UserID("u\(number)")!)
                        }
                    }
                }
                try await group.waitForAll()
            }
            for number in 0..<200 {
                let entries = try await Self.entries(.user(UserID("u\(number)")!), catalog.storage)
                try #require(entries.count == 1)
                #expect(entries[0].origin.actor == "u\(number)")
                #expect(entries[0].origin.requestID == "r\(number)")
                #expect(entries[0].origin.address == (number % 2 == 0 ? nil : "192.0.2.\(number)"))
                #expect(entries[0].subject == "theme")
            }
        }
    }

    @Test("Of concurrent writers of a new product, one creates it, and each change has the values before it")
    func concurrentCreationIsRecordedOnce() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            let skus = (1...20).map { SKU("p\($0)")! }
            for sku in skus {
                let created = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for price in 1...20 {
                        group.addTask {
                            try await catalog.products.put(
                                Product(sku: sku, name: "A", priceMinor: Int64(price)),
                                in: Self.shop
                            )
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(created == 1)
            }
            let all = try await Self.entries(.store(Self.shop), catalog.storage)
            for sku in skus {
                let entries = all.filter { $0.subject == sku.text }
                #expect(entries.count == 20)
                #expect(entries.count { $0.action == "product.create" } == 1)
                // Each price but the last is replaced once.
                func prices(_ name: String) throws -> [Int] {
                    try entries.compactMap { entry in
                        let value = try JSONReader.parse(Array(entry.detail.utf8))[name]?["price_minor"]
                        return value.flatMap { Int($0.text) }
                    }
                }
                let last = try await catalog.products.product(Self.shop, sku).product.priceMinor
                #expect(try prices("new").sorted() == Array(1...20))
                #expect(try (prices("old") + [Int(last ?? 0)]).sorted() == Array(1...20))
            }
        }
    }

    @Test("Concurrent changes of prices have one entry each, whose values follow from each other")
    func concurrentChangesAreRecorded() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            let sku = SKU("a")!
            _ = try await catalog.products.put(Product(sku: sku, name: "A", priceMinor: 0), in: Self.shop)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for price in 1...50 {
                    group.addTask {
                        try await catalog.prices.setPrices([Self.price("a", Int64(price))], in: Self.shop)
                    }
                }
                try await group.waitForAll()
            }
            let changes = try await Self.entries(.store(Self.shop), catalog.storage).filter {
                $0.action == "prices.set"
            }
            #expect(changes.count == 50)
            var next: [String: String] = [:]
            for entry in changes {
                let product = try #require(
                    try JSONReader.parse(Array(entry.detail.utf8))["products"]?.elements?.first
                )
                next[try #require(product["old"]?["price_minor"]?.text)] = product["new"]?["price_minor"]?.text
            }
            // The entries form one chain from the first price to the last.
            var (price, length): (String?, Int) = ("0", 0)
            while let current = price, let following = next.removeValue(forKey: current) {
                (price, length) = (following, length + 1)
            }
            #expect(length == 50)
            let last = try await catalog.products.product(Self.shop, sku).product.priceMinor
            #expect(price == last.map { "\($0)" })
        }
    }

    @Test("An import has one entry per store that it changes, with its id and counts")
    func importsAreRecorded() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let file = "store,shelf,sku,name,price\nshop,Dairy,a,A,1\nshop,Dairy,b,B,2\nother,Dairy,a,A,1\n"
            for _ in 0..<2 {
                _ = try await Importer(catalog).importFile(
                    AsyncStream { continuation in
                        continuation.yield(Array(file.utf8))
                        continuation.finish()
                    },
                    ImportOptions(format: .csv, currency: Currency("EUR")!, createsStores: true)
                )
            }
            for (store, inserted) in [("shop", 2), ("other", 1)] {
                let entries = try await Self.entries(.store(CatalogKey(store)!), catalog.storage)
                try #require(entries.map(\.action) == ["import.apply"])
                let detail = try JSONReader.parse(Array(entries[0].detail.utf8))
                #expect(detail["inserted"] == .number("\(inserted)"))
                #expect(detail["stores_created"] == .number("1"))
                #expect(UniqueID(try #require(detail["import"]?.string)) != nil)
            }
        }
    }

    @Test("A re-sort has one entry per store that it changes, and a dry run has none")
    func resortsAreRecorded() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for name in ["shop", "other"] {
                _ = try await catalog.shelves.put(
                    Store(key: CatalogKey(name)!, title: name, currency: Currency("EUR")!)
                )
            }
            let shelf = Shelf(key: Self.dairy, title: "Dairy", positionSource: Sort(.price, .descending))
            _ = try await catalog.shelves.put(shelf, in: Self.shop)
            for number in 1...3 {
                let product = Product(sku: SKU("p\(number)")!, name: "P", priceMinor: Int64(number))
                _ = try await catalog.products.put(product, in: Self.shop)
                _ = try await catalog.products.place(product.sku, on: Self.dairy, in: Self.shop)
            }
            var dryRun = ResortRequest()
            dryRun.isDryRun = true
            for request in [dryRun, ResortRequest(), ResortRequest()] { _ = try await Resorter(catalog).run(request) }
            let entries = try await Self.entries(.store(Self.shop), catalog.storage).filter {
                $0.action == "resort.run"
            }
            try #require(entries.count == 1)
            let detail = try JSONReader.parse(Array(entries[0].detail.utf8))
            #expect(detail["changed"] == .number("1"))
            #expect(detail["run"]?.string.flatMap { Int($0) } != nil)
            let others = try await Self.entries(.store(CatalogKey("other")!), catalog.storage)
            #expect(others.map(\.action) == ["store.create"])
        }
    }

    @Test("A detail of a megabyte is recorded and read")
    func largeDetailIsRecorded() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            var product = Product(sku: SKU("a")!, name: "A")
            let text = String(repeating: "'\\\"\u{1}é🧀", count: 60_000)
            product.attributes = JSONValue.object([.init("text", .string(text))]).text
            _ = try await catalog.products.put(product, in: Self.shop)
            let entry = try #require(try await Self.entries(.store(Self.shop), catalog.storage).last)
            #expect(entry.detail.utf8.count > 1_000_000)
            let detail = try JSONReader.parse(Array(entry.detail.utf8))
            #expect(detail["new"]?["attributes"]?["text"] == .string(text))
        }
    }
}
