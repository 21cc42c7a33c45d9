import JSON
import Catalog
import CatalogJSON
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct AuditChangeTests {
    private static let store = Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!)
    private static let milk = Product(sku: SKU("milk")!, name: "Milk", priceMinor: 129)

    @Test("A changed product has the old and new values of the fields that changed, and no others")
    func productHasDifferences() throws {
        var changed = Self.milk
        (changed.priceMinor, changed.brand, changed.tags) = (119, "Ärla", ["cold"])
        // The server computes these.
        (changed.modifiedAt, changed.popularity) = (Timestamp(microseconds: 1), Popularity(log2: 3))
        let change = try #require(try AuditChange.product(Self.milk, changed))
        #expect(change.action == .productChange)
        #expect(change.subject == "milk")
        #expect(
            change.detail.text
                == #"{"old":{"brand":null,"price_minor":129,"tags":[]},"new":{"brand":"Ärla","price_minor":119,"tags":["cold"]}}"#
        )
    }

    @Test("A product that only differs in computed fields, or in the order of its attributes, is unchanged")
    func equalProductsAreUnchanged() throws {
        var (old, new) = (Self.milk, Self.milk)
        old.attributes = #"{"a": {"x": 1, "y": [2]}, "b": "c"}"#
        new.attributes = #"{"b":"c","a":{"y":[2],"x":1}}"#
        new.modifiedAt = Timestamp(microseconds: 7)
        #expect(try AuditChange.product(old, new) == nil)
        new.attributes = #"{"b":"c","a":{"y":[3],"x":1}}"#
        #expect(
            try AuditChange.product(old, new)?.detail["new"]?.members?.map(\.name) == ["attributes"]
        )
    }

    @Test("New and deleted products have their values, without those that are missing")
    func wholeProducts() throws {
        let created = try #require(try AuditChange.product(nil, Self.milk))
        #expect(created.action == .productCreate)
        #expect(created.detail["old"] == nil)
        #expect(created.detail["new"]?["brand"] == nil)
        #expect(created.detail["new"]?["price_minor"] == .number("129"))
        let deleted = try AuditChange.deleted(.complete)
        #expect(deleted.detail["new"] == nil)
        let fields = try #require(deleted.detail["old"]?.members?.map(\.name))
        let others: Set = ["name", "price_minor", "regular_price_minor", "size", "attributes", "in_stock", "tags"]
        #expect(Set(fields) == others.union(ProductText.allCases.map(\.name.description)))
    }

    @Test("Deeply nested attributes are recorded")
    func nestedAttributes() throws {
        var product = Self.milk
        let depth = JSONReader.maximumDepth - 2
        product.attributes =
            #"{"a":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        let change = try #require(try AuditChange.product(Self.milk, product))
        #expect(change.detail.text.contains(String(repeating: "[", count: depth)))
    }

    @Test("Hostile text is escaped in an entry")
    func hostileText() throws {
        var product = Self.milk
        product.name = "a\"\\\u{1}\u{2028}'; DROP TABLE store_audit; --🧀"
        let change = try #require(try AuditChange.product(Self.milk, product))
        let read = try JSONReader.parse(Array(change.detail.text.utf8))
        #expect(read["new"]?["name"] == .string(product.name))
    }

    @Test("Rules of stores and shelves have their old and new values")
    func rules() throws {
        var renamed = Self.store
        (renamed.title, renamed.soldOut) = ("T", .mixed)
        let store = try #require(AuditChange.store(Self.store, renamed))
        #expect(store.action == .storeChange)
        #expect(store.detail.text == #"{"old":{"title":"S","sold_out":"last"},"new":{"title":"T","sold_out":"mixed"}}"#)
        #expect(AuditChange.store(Self.store, Self.store) == nil)
        #expect(AuditChange.store(nil, Self.store)?.action == .storeCreate)
        let shelf = Shelf(key: CatalogKey("dairy")!, title: "Dairy")
        var child = shelf
        (child.parent, child.defaultSort) = (CatalogKey("food")!, Sort(.price, .descending))
        let moved = try #require(AuditChange.shelf(shelf, child))
        #expect(moved.subject == "dairy")
        #expect(
            moved.detail.text
                == #"{"old":{"parent":null,"default_sort":null},"new":{"parent":"food","default_sort":"-price"}}"#
        )
        #expect(AuditChange.shelf(shelf, shelf) == nil)
        #expect(AuditChange.shelf(nil, shelf)?.detail.text == #"{"new":{"title":"Dairy"}}"#)
    }

    @Test("A new store has the fields of its response, without its key")
    func wholeStores() throws {
        var store = Self.store
        (store.collation, store.defaultSort, store.newcomerBoost) = ("root", Sort(.price, .descending), 0.00001)
        let response = try JSONReader.parse(JSONWriter.document { store.write(to: &$0) })
        let fields = try #require(response.members?.filter { $0.name != "key" })
        #expect(AuditChange.store(nil, store)?.detail["new"] == .object(fields))
    }

    @Test("Prices are listed up to a limit, with the number of all")
    func pricesAreBounded() throws {
        func revisions(_ count: Int) -> [PriceRevision] {
            (0..<count).map {
                PriceRevision(
                    SKU("p\($0)")!,
                    old: .init(price: 1, regular: nil),
                    new: .init(price: 2, regular: $0 == 0 ? 3 : nil)
                )
            }
        }
        #expect(AuditChange.prices([]) == nil)
        let one = try #require(AuditChange.prices(revisions(1)))
        #expect(one.subject == "p0")
        #expect(
            one.detail["products"]?.text
                == #"[{"sku":"p0","old":{"price_minor":1,"regular_price_minor":null},"new":{"price_minor":2,"regular_price_minor":3}}]"#
        )
        let many = try #require(AuditChange.prices(revisions(AuditChange.itemLimit + 1)))
        #expect(many.subject == nil)
        #expect(many.detail["count"] == .number("\(AuditChange.itemLimit + 1)"))
        #expect(many.detail["products"]?.elements?.count == AuditChange.itemLimit)
    }

    @Test("An edit of the manual order has its versions, and where products came from and went to")
    func orderEdits() throws {
        let request = OrderEditRequest(store: Self.store.key, shelf: CatalogKey("dairy")!, edit: .undo(change: nil))
        let outcome = ManualOrderOutcome(fromVersion: 6, version: 8, orderVersion: 5, moved: [], change: 4)
        let change = AuditChange.order(
            request,
            [.init(id: "a", fromAfter: nil, toAfter: "b")],
            of: 7,
            outcome,
            from: 3,
            undoes: 2
        )
        #expect(change.action == .orderUndo)
        #expect(
            change.detail.text
                == #"{"change":4,"from_order_version":3,"order_version":5,"count":7,"moved":[{"id":"a","from_after":null,"to_after":"b"}],"undoes":2}"#
        )
    }

    @Test("Purchases, imports and re-sorts without effect are not recorded")
    func work() {
        var outcome = PurchaseOutcome()
        outcome.repeated = 3
        #expect(AuditChange.purchases(outcome) == nil)
        outcome.accepted = 2
        #expect(AuditChange.purchases(outcome)?.detail.text == #"{"accepted":2,"unknown":0}"#)
        #expect(AuditChange.work(.resortRun, "run", "7", [("changed", 0)]) == nil)
        let work = AuditChange.work(.resortRun, "run", "7", [("changed", 2), ("moved", 0)])
        #expect(work?.detail.text == #"{"run":"7","changed":2}"#)
    }

    @Test("Settings are recorded by their keys, without values, if they were written")
    func settings() throws {
        func result(_ key: String, _ value: JSONValue?, _ old: JSONValue?, isApplied: Bool = true)
            -> SettingsEdit.Result
        {
            let key = SettingKey(key)!
            let now = Timestamp(microseconds: 1)
            return .init(
                setting: Setting(key: key, value: value, revision: 2, modifiedAt: now),
                previous: old.map { Setting(key: key, value: $0, revision: 1, modifiedAt: now) },
                isApplied: isApplied
            )
        }
        #expect(AuditChange.settings([result("a", .string("same"), .string("same"))]) != nil)
        #expect(AuditChange.settings([result("a", .bool(true), nil, isApplied: false)]) == nil)
        let one = try #require(AuditChange.settings([result("a", .string("secret"), .string("old"))]))
        #expect(one.subject == "a")
        #expect(one.detail.text == #"{"set":["a"]}"#)
        let several = try #require(
            AuditChange.settings([result("a", .bool(true), nil), result("b", nil, .bool(true))])
        )
        #expect(several.subject == nil)
        #expect(several.detail.text == #"{"set":["a"],"deleted":["b"]}"#)
    }

    @Test("An entry is written with its detail, and with null for what is unknown")
    func entryIsWritten() throws {
        let entry = AuditEntry(
            id: UniqueID("018f0000-0000-4000-8000-000000000000")!,
            at: Timestamp(microseconds: 1_000_000),
            origin: ChangeOrigin(source: .commandLine, actor: "root", address: "host"),
            action: "later.action",
            subject: nil,
            detail: #"{"a":[1]}"#
        )
        let page = AuditPage(AuditRequest(.store(Self.store.key), limit: 5), found: [entry])
        #expect(
            String(decoding: page.json(limit: 5, next: nil), as: UTF8.self)
                == #"{"entries":[{"id":"018f0000-0000-4000-8000-000000000000","at":"1970-01-01T00:00:01Z","action":"later.action","subject":null,"source":"cli","actor":"root","address":"host","token":null,"request_id":null,"detail":{"a":[1]}}],"page":{"limit":5,"next_cursor":null}}"#
        )
    }
}
