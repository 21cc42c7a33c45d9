import Catalog
import CatalogJSON
import JSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Each change announces exactly the users and the store that it concerns, and a change of nothing announces nobody.
@Suite(.timeLimit(.minutes(15))) struct AnnouncedTopicsTests {
    private static let (store, shelf) = (CatalogKey("shop")!, CatalogKey("dairy")!)
    private static let (ann, bob, guest) = (UserID("ann")!, UserID("bob")!, UserID("guest:tim")!)

    /// A server that announces changes, and a listener to the announcements.
    private struct Listener {
        let catalog: PostgresCatalog
        private var notices: AsyncStream<ChangeNotice>.Iterator
        private var count = 0

        init(_ database: TestDatabase) async throws {
            catalog = PostgresCatalog(
                try Database(database.configuration, waitLimit: .seconds(60), announces: true),
                encodingEvents: \.json
            )
            notices = try PostgresChangeSource(database.configuration).notices().makeAsyncIterator()
            let first = await notices.next()
            #expect(first == .gap)
        }

        /// Returns what a change announces. The next announcement, of a store that does not exist, marks its end.
        mutating func topics(_ change: (PostgresCatalog) async throws -> Void) async throws -> Set<ChangeTopic> {
            try await change(catalog)
            count += 1
            let end = ChangeTopic.store(CatalogKey("end-\(count)")!)
            catalog.database.announcer.announce(end)
            var topics: Set<ChangeTopic> = []
            while !topics.contains(end) {
                guard case .changed(let more)? = await notices.next() else {
                    Issue.record("announcements were lost")
                    break
                }
                topics.formUnion(more)
            }
            topics.remove(end)
            return topics
        }
    }

    private static func withListener(_ body: (inout Listener) async throws -> Void) async throws {
        let database = try await TestDatabase.migrated()
        var listener = try await Listener(database)
        do { try await body(&listener) } catch {
            listener.catalog.shutDown()
            try await database.drop()
            throw error
        }
        listener.catalog.shutDown()
        try await database.drop()
    }

    @Test("Changes of users' data are announced to the users whose data changed")
    func users() async throws {
        try await Self.withListener { listener in
            let (ann, bob, guest) = (
                ChangeTopic.user(Self.ann), ChangeTopic.user(Self.bob), ChangeTopic.user(Self.guest)
            )
            func set(_ value: String, at time: Timestamp? = nil) -> SettingsEdit {
                SettingsEdit([.init(SettingKey("colour")!, .string(value), modifiedAt: time)])
            }
            let changed = try await listener.topics { _ = try await $0.settings.edit(set("red"), of: Self.ann) }
            #expect(changed == [ann])
            let old = Timestamp(microseconds: 1)
            let outdated = try await listener.topics {
                _ = try await $0.settings.edit(set("blue", at: old), of: Self.ann)
            }
            #expect(outdated == [], "an older change of another device is not applied")
            let list = NewList(name: "Party")
            let created = try await listener.topics {
                _ = try await $0.lists.createList(list, of: Self.ann, once: nil)
            }
            #expect(created == [ann])
            let repeated = try await listener.topics {
                _ = try await $0.lists.createList(list, of: Self.ann, once: nil)
            }
            #expect(repeated == [], "the list exists")
            let now = Timestamp.now()
            let end = Timestamp(microseconds: now.microseconds + 3_600_000_000)
            let share = ListShare(id: .random(), role: .editor, createdAt: now, expiresAt: end)
            let digest = [UInt8](repeating: 7, count: 32)
            let shared = try await listener.topics {
                _ = try await $0.lists.share(list.id, of: Self.ann, share, digest: digest, once: nil)
            }
            #expect(shared == [])
            let joined = try await listener.topics { _ = try await $0.lists.join(digest, of: Self.bob, once: nil) }
            #expect(joined == [bob])
            let item = NewListItem(text: "Milk")
            let added = try await listener.topics {
                _ = try await $0.lists.editList(list.id, of: Self.ann, .add([item]), expected: nil, once: nil)
            }
            #expect(added == [ann, bob])
            let again = try await listener.topics {
                _ = try await $0.lists.editList(list.id, of: Self.ann, .add([item]), expected: nil, once: nil)
            }
            #expect(again == [], "the item exists")
            let other = NewList(name: "Weekend")
            let second = try await listener.topics {
                _ = try await $0.lists.createList(other, of: Self.ann, once: nil)
            }
            #expect(second == [ann])
            let move = OrderMove([other.id.text], .first)
            for expected in [[ann], []] as [Set<ChangeTopic>] {
                let moved = try await listener.topics {
                    _ = try await $0.lists.moveLists([move], of: Self.ann, once: nil)
                }
                #expect(moved == expected)
            }
            let left = try await listener.topics {
                try await $0.lists.removeList(list.id, of: Self.bob, expected: nil)
            }
            #expect(left == [bob])
            _ = try await listener.topics {
                _ = try await $0.settings.edit(set("green"), of: Self.guest)
            }
            let merged = try await listener.topics {
                _ = try await $0.users.merge(Self.guest, into: Self.bob, once: nil)
            }
            #expect(merged == [bob, guest])
            let erased = try await listener.topics { try await $0.users.erase(Self.ann) }
            #expect(erased == [ann])
        }
    }

    @Test("Changes of a store's shelves are announced as those of the store")
    func stores() async throws {
        try await Self.withListener { listener in
            let store = ChangeTopic.store(Self.store)
            _ = try await listener.topics { catalog in
                let key = Self.store
                _ = try await catalog.shelves.put(Store(key: key, title: "Shop", currency: Currency("EUR")!))
                _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "Dairy"), in: key)
                for sku in ["a", "b", "c"] {
                    let product = Product(sku: SKU(sku)!, name: sku, priceMinor: 100)
                    _ = try await catalog.products.put(product, in: key)
                    _ = try await catalog.products.place(product.sku, on: Self.shelf, in: key)
                }
            }
            func moves(isDryRun: Bool) -> OrderEditRequest {
                OrderEditRequest(
                    store: Self.store,
                    shelf: Self.shelf,
                    edit: .moves([OrderMove(["c"], .first)]),
                    isDryRun: isDryRun
                )
            }
            for (isDryRun, expected) in [(true, []), (false, [store]), (false, [])] as [(Bool, Set<ChangeTopic>)] {
                let moved = try await listener.topics {
                    _ = try await $0.manualOrder.editOrder(moves(isDryRun: isDryRun), once: nil)
                }
                #expect(moved == expected)
            }
            let priced = try await listener.topics {
                try await $0.prices.setPrices([PriceChange(sku: SKU("a")!, priceMinor: 50)], in: Self.store)
            }
            #expect(priced == [store])
            _ = try await listener.topics { _ = try await Resorter($0).run(ResortRequest(store: Self.store)) }
            let unchanged = try await listener.topics {
                _ = try await Resorter($0).run(ResortRequest(store: Self.store))
            }
            #expect(unchanged == [])
            _ = try await listener.topics {
                let purchase = Purchase(eventID: "1", sku: SKU("b")!, quantity: 3, at: .now())
                _ = try await $0.purchases.add([purchase], to: Self.store)
            }
            let dry = try await listener.topics {
                _ = try await Resorter($0).run(ResortRequest(store: Self.store, isDryRun: true))
            }
            #expect(dry == [])
            let scored = try await listener.topics {
                _ = try await Resorter($0).run(ResortRequest(store: Self.store))
            }
            #expect(scored == [store])
            let failed = try await listener.topics { catalog in
                let file = ImporterTests.Chunks(text: "store,sku,name\nmissing,a,A\n")
                _ = try? await Importer(catalog).importFile(file, ImportOptions(format: .csv))
            }
            #expect(failed == [])
        }
    }

    @Test("Changes of the deployment's synonyms and attributes are announced to all, and those of a store as its own")
    func declarations() async throws {
        try await Self.withListener { listener in
            _ = try await listener.topics {
                _ = try await $0.shelves.put(Store(key: Self.store, title: "Shop", currency: Currency("EUR")!))
            }
            let owners: [(DeclarationOwner, ChangeTopic)] = [
                (.deployment, .all), (.store(Self.store), .store(Self.store)),
            ]
            for (owner, topic) in owners {
                for text in ["cola", "coke"] {
                    let synonyms = try Synonyms(groups: [["soda", text]], oneWay: [])
                    let set = try await listener.topics { _ = try await $0.synonyms.set(synonyms, for: owner) }
                    #expect(set == [topic])
                }
                let removed = try await listener.topics { try await $0.synonyms.remove(synonymsOf: owner) }
                #expect(removed == [topic])
                let name = AttributeName("rating")!
                for decimals in 1...2 {
                    let definition = try AttributeDefinition(name: name, form: .number(decimals: decimals))
                    let declared = try await listener.topics {
                        _ = try await $0.attributes.declare(.definition(definition), for: owner)
                    }
                    #expect(declared == [topic])
                }
                let deleted = try await listener.topics {
                    try await $0.attributes.remove(attribute: name, of: owner)
                }
                #expect(deleted == [topic])
            }
        }
    }

    @Test("Changes of nothing in the deployment's synonyms and attributes are not announced")
    func unchangedDeclarations() async throws {
        try await Self.withListener { listener in
            let definition = try AttributeDefinition(name: AttributeName("rating")!, form: .number(decimals: 1))
            for expected in [[.all], []] as [Set<ChangeTopic>] {
                let declared = try await listener.topics {
                    _ = try await $0.attributes.declare(.definition(definition), for: .deployment)
                }
                #expect(declared == expected)
            }
            // The order of synonyms has no effect.
            let groups = [["soda", "pop"], ["chips", "crisps"]]
            let cases: [(groups: [[String]], topics: Set<ChangeTopic>)] = [(groups, [.all]), (groups.reversed(), [])]
            for (groups, expected) in cases {
                let synonyms = try Synonyms(groups: groups, oneWay: [])
                let set = try await listener.topics { _ = try await $0.synonyms.set(synonyms, for: .deployment) }
                #expect(set == expected)
            }
        }
    }

    @Test("An import is announced to all, and a dry run of it to nobody")
    func imports() async throws {
        try await Self.withListener { listener in
            for (isDryRun, expected) in [(true, []), (false, [.all])] as [(Bool, Set<ChangeTopic>)] {
                let announced = try await listener.topics { catalog in
                    let summary = try await Importer(catalog).importFile(
                        ImporterTests.Chunks(text: "store,shelf,sku,name\ns,x,i1,Milk\n"),
                        ImportOptions(format: .csv, createsStores: true, isDryRun: isDryRun)
                    )
                    #expect(summary.inserted == 1)
                }
                #expect(announced == expected)
            }
        }
    }

    @Test("Announcements that wait are sent before the program ends")
    func flush() async throws {
        try await Self.withListener { listener in
            let announced = try await listener.topics { catalog in
                for number in 0..<50 { catalog.database.announcer.announce(.user(UserID("user-\(number)")!)) }
                await catalog.database.announcer.flush()
            }
            #expect(announced.count == 50)
        }
    }
}
