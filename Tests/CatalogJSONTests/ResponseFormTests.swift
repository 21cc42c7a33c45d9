import Catalog
import JSON
import Ordering
import Testing

@testable import CatalogJSON

/// The complete bodies of responses and events.
@Suite("Forms of responses") struct ResponseFormTests {
    private static let start = Timestamp(microseconds: 1_700_000_000_000_000)
    private static let later = Timestamp(microseconds: 1_700_000_001_000_000)
    private static let times = (start: "2023-11-14T22:13:20Z", later: "2023-11-14T22:13:21Z")
    private static let (store, shelf) = (CatalogKey("shop")!, CatalogKey("tea")!)

    private static func id(_ number: Int) -> UniqueID { UniqueID("00000000-0000-4000-8000-00000000000\(number)")! }
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    private func text(_ body: (inout JSONWriter) -> Void) -> String { text(JSONWriter.document(body)) }

    private static let entry = AuditEntry(
        id: id(1),
        at: start,
        origin: ChangeOrigin(source: .commandLine, actor: "ann", address: "::1", token: "t", requestID: "r"),
        action: "prices.set",
        subject: "a",
        detail: #"{"n":1}"#
    )
    private static let entryText = """
        {"id":"\(id(1))","at":"\(times.start)","action":"prices.set","subject":"a","source":"cli","actor":"ann",\
        "address":"::1","token":"t","request_id":"r","detail":{"n":1}}
        """

    @Test("A page of the audit log has its entries, its limit and its cursor")
    func audit() {
        let page = AuditPage(AuditRequest(.store(Self.store)), found: [Self.entry])
        #expect(
            text(page.json(limit: 7, next: "c"))
                == #"{"entries":[\#(Self.entryText)],"page":{"limit":7,"next_cursor":"c"}}"#
        )
        let empty = AuditPage(AuditRequest(.store(Self.store)), found: [])
        #expect(text(empty.json(limit: 24, next: nil)) == #"{"entries":[],"page":{"limit":24,"next_cursor":null}}"#)
    }

    @Test("An edit of an order is shown with its moves, and indexes only where they are known")
    func orderEdit() {
        let outcome = ManualOrderOutcome(
            fromVersion: 6,
            version: 8,
            orderVersion: 5,
            moved: [.init(id: "a", after: nil, from: 3, to: 0), .init(id: "b", after: "a")],
            change: 4
        )
        let moves = """
            "deletes":[],"inserts":[],"moves":[{"id":"a","from":3,"to":0,"after":null},{"id":"b","after":"a"}],"changed":[]
            """
        let body = """
            {"version":8,"order_version":5,"change":4,"diff":{"from_version":6,"to_version":8,"mode":"moves",\(moves)}}
            """
        #expect(text(outcome.json) == body)
        #expect(outcome.recorded == RecordedResponse(isNew: false, body: Array(body.utf8)))
        let lists = ListMoveOutcome(revision: 3, moved: outcome.moved)
        #expect(text(lists.json) == #"{"revision":3,"diff":{\#(moves)}}"#)
        #expect(lists.recorded == RecordedResponse(isNew: false, body: lists.json))
    }

    @Test("A recorded change of an order has all its members")
    func orderChange() {
        let change = OrderChange(
            number: 7,
            at: Self.start,
            subject: "ann",
            kind: .snapshot,
            count: 3,
            ids: ["a", "b"],
            moves: [.init(id: "a", fromAfter: "x", toAfter: nil)],
            undoes: 5,
            undoneBy: 6
        )
        #expect(
            text { change.write(to: &$0) } == """
                {"number":7,"at":"\(Self.times.start)","subject":"ann","kind":"bake","count":3,"ids":["a","b"],\
                "moves":[{"id":"a","from_after":"x","to_after":null}],"undoes":5,"undone_by":6}
                """
        )
    }

    @Test("Settings have a value or are deleted, and say whether they were applied")
    func settings() throws {
        let set = Setting(key: SettingKey("k")!, value: .number("1"), revision: 4, modifiedAt: Self.start)
        let deleted = Setting(key: SettingKey("d")!, value: nil, revision: 5, modifiedAt: Self.later)
        let texts = [
            #"{"key":"k","value":1,"revision":4,"modified_at":"\#(Self.times.start)"}"#,
            #"{"key":"d","deleted":true,"revision":5,"modified_at":"\#(Self.times.later)"}"#,
        ]
        #expect([set, deleted].map { text($0.json) } == texts)
        let page = SettingsPage(settings: [set, deleted], revision: 9, isResync: false)
        #expect(text(page.json) == #"{"settings":[\#(texts.joined(separator: ","))],"revision":9}"#)
        let all = SettingsPage(settings: [], revision: 9, isResync: true)
        #expect(text(all.json) == #"{"settings":[],"revision":9,"resync":true}"#)
        let results = [
            SettingsEdit.Result(setting: set, previous: nil, isApplied: true),
            SettingsEdit.Result(setting: deleted, previous: nil, isApplied: false),
        ]
        let applied = [(texts[0], true), (texts[1], false)].map { "\($0.0.dropLast()),\"applied\":\($0.1)}" }
        #expect(text(results.json) == #"{"settings":[\#(applied.joined(separator: ","))]}"#)
    }

    @Test("A remembered sort has its filter, and the transition that was asked for")
    func rememberedSort() {
        func setting(_ value: JSONValue?) -> Setting {
            Setting(key: .sort(in: Self.store), value: value, revision: 4, modifiedAt: Self.start)
        }
        let end = #""revision":4,"modified_at":"\#(Self.times.start)""#
        #expect(text(setting(.string("-price")).sortJSON()) == #"{"sort":"-price","filter":null,\#(end)}"#)
        let filtered = JSONValue.object([
            .init("sort", .string("name")), .init("filter", .object([.init("in_stock", .bool(true))])),
        ])
        #expect(
            text(setting(filtered).sortJSON(transition: Array("[1]".utf8)))
                == #"{"sort":"name","filter":{"in_stock":true},\#(end),"transition":[1]}"#
        )
        #expect(text(setting(nil).sortJSON()) == "{\(end)}")
        let personal = JSONValue.object([
            .init("sort", .string("name")), .init("filter", .object([.init("rating_min", .string("4"))])),
            .init("remember_attributes", .bool(true)),
        ])
        #expect(
            text(setting(personal).sortJSON())
                == #"{"sort":"name","filter":{"rating_min":"4"},"remember_attributes":true,\#(end)}"#
        )
    }

    @Test("Stores and shelves have all their settings")
    func storesAndShelves() throws {
        let store = Store(
            key: Self.store,
            title: "Shop",
            currency: Currency("SEK")!,
            locale: "sv-SE",
            collation: "sv",
            unitPricing: .se,
            soldOut: .mixed,
            defaultSort: try Sort.parse("-price,name"),
            popularityMetric: .last7Days,
            popularityHalfLifeDays: 21,
            newcomerBoost: 1.5
        )
        #expect(
            text { store.write(to: &$0) } == """
                {"key":"shop","title":"Shop","currency":"SEK","locale":"sv-SE","collation":"sv","unit_pricing":"se",\
                "sold_out":"mixed","default_sort":"-price,name","popularity_metric":"7d","popularity_half_life_days":21,\
                "newcomer_boost":1.5}
                """
        )
        let plain = Store(key: Self.store, title: "Shop", currency: Currency("EUR")!)
        #expect(
            text { plain.write(to: &$0) }.contains(
                #""collation":null,"unit_pricing":"eu","sold_out":"last","default_sort":null"#
            )
        )
        var state = ShelfState(
            shelf: Shelf(
                key: Self.shelf,
                title: "Tea",
                parent: CatalogKey("drinks")!,
                defaultSort: try Sort.parse("price"),
                dimension: .volume,
                soldOut: .last,
                positionSource: .system,
                includesDescendants: true,
                collapsesGroups: true
            ),
            productCount: 3,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Self.start,
            version: 5,
            orderVersion: 6,
            keyGeneration: 7
        )
        #expect(
            text { state.write(to: &$0) } == """
                {"key":"tea","title":"Tea","parent":"drinks","product_count":3,"default_sort":"price","dimension":"volume",\
                "sold_out":"last","position_source":"-popularity","includes_descendants":true,"collapses_groups":true,\
                "modified_at":"\(Self.times.start)","version":5,"order_version":6}
                """
        )
        state.shelf = Shelf(key: Self.shelf, title: "Tea")
        let options = [SortOption(sort: .system, title: "Popular", isSelected: true)]
        let filters = [FilterOption(key: .priceMin, title: "From", selected: .string("1"))]
        #expect(
            text { state.write(options: options, filters: filters, to: &$0) } == """
                {"key":"tea","title":"Tea","parent":null,"product_count":3,"default_sort":null,"dimension":null,\
                "sold_out":null,"position_source":null,"includes_descendants":false,"collapses_groups":false,\
                "modified_at":"\(Self.times.start)","version":5,"order_version":6,\
                "sort_options":[{"sort":"-popularity","title":"Popular","selected":true}],\
                "filter_options":[{"filter":"price_min","title":"From","type":"amount","repeatable":false,"selected":"1"}]}
                """
        )
    }

    @Test("A ticket, a share and the outcomes of writes have all their members, and so do their records")
    func outcomes() {
        let ticket = IssuedTicket(id: Self.id(1), expiresAt: Self.start)
        #expect(text(ticket.json(text: "secret")) == #"{"ticket":"secret","expires_at":"\#(Self.times.start)"}"#)
        let recorded = #"{"id":"\#(Self.id(1))","expires_at":"\#(Self.times.start)"}"#
        #expect(ticket.recorded == RecordedResponse(isNew: true, body: Array(recorded.utf8)))

        let share = ListShare(
            id: Self.id(2),
            role: .editor,
            createdAt: Self.start,
            expiresAt: Self.later,
            members: 3
        )
        let (begin, end) = (
            #"{"id":"\#(Self.id(2))","role":"editor""#,
            #","created_at":"\#(Self.times.start)","expires_at":"\#(Self.times.later)","members":3}"#
        )
        #expect(text { share.write(token: "secret", to: &$0) } == begin + #","token":"secret""# + end)
        #expect(share.recorded == RecordedResponse(isNew: true, body: Array((begin + end).utf8)))

        var prices = PriceOutcome()
        (prices.changed, prices.unchanged, prices.shelves) = (3, 4, [CatalogKey("b")!, CatalogKey("a")!])
        #expect(text(prices.json) == #"{"changed":3,"unchanged":4,"shelves":["a","b"]}"#)
        #expect(prices.recorded == RecordedResponse(isNew: false, body: prices.json))
        var purchases = PurchaseOutcome()
        (purchases.accepted, purchases.repeated, purchases.tooOld, purchases.unknown) = (1, 2, 3, 4)
        purchases.unknownSKUs = ["y", "x"]
        #expect(
            text(purchases.json)
                == #"{"accepted":1,"repeated":2,"too_old":3,"unknown":4,"unknown_skus":["x","y"]}"#
        )
        #expect(purchases.recorded == RecordedResponse(isNew: false, body: purchases.json))
        let merge = GuestMerge(merged: 2, kept: 1, revision: 99)
        #expect(text(merge.json) == #"{"merged":2,"kept":1,"revision":99}"#)
        #expect(merge.recorded == RecordedResponse(isNew: false, body: merge.json))
    }

    @Test("Events without a change of a list have their data")
    func events() {
        #expect(LiveEvent.start(4) == LiveEvent(.start, id: 4, data: Array(#"{"revision":4}"#.utf8)))
        #expect(LiveEvent.gap(5) == LiveEvent(.gap, id: 5, data: Array(#"{"revision":5,"resync":true}"#.utf8)))
        #expect(LiveEvent.gone(6) == LiveEvent(.gone, id: 6, data: Array("{}".utf8)))
        #expect(
            text(UserEvent.leftList(Self.id(3)).json) == #"{"list":{"id":"\#(Self.id(3))","deleted":true}}"#
        )
        let setting = Setting(key: SettingKey("k")!, value: .bool(true), revision: 4, modifiedAt: Self.start)
        #expect(UserEvent.setting(setting).json == setting.json)
        let moved = ListMoveOutcome(revision: 7, moved: [.init(id: "l", after: "k")])
        #expect(UserEvent.listOrder(moved).json == moved.json)
    }

    @Test("An export has everything of the user, with deleted items and without prices")
    func export() {
        let list = UserList(
            id: Self.id(1),
            owner: UserID("ann")!,
            name: "Week",
            createdAt: Self.start,
            modifiedAt: Self.later,
            items: zip([3, 2], PathKey.appending(2, after: nil).reversed()).map { number, key in
                ListItem(
                    id: Self.id(number),
                    text: "t\(number)",
                    key: key,
                    createdAt: Self.start,
                    modifiedAt: Self.start,
                    deletedAt: number == 2 ? Self.later : nil,
                    version: 1
                )
            }
        )
        let membership = ListMembership(list: list, role: .owner, key: .first, revision: 8)
        let export = UserExport(
            user: UserID("ann")!,
            revision: 9,
            settings: [Setting(key: SettingKey("k")!, value: nil, revision: 4, modifiedAt: Self.start)],
            orderChanges: [.init(store: Self.store, shelf: Self.shelf, kind: "move", changedAt: Self.later)],
            purchases: [.init(store: Self.store, sku: SKU("a")!, day: 20_000, quantity: ExactDecimal("-1.5")!)],
            lists: [membership],
            audit: [Self.entry]
        )
        func item(_ number: Int, _ end: String) -> String {
            """
            {"id":"\(Self.id(number))","store":null,"sku":null,"name":"t\(number)","text":"t\(number)","quantity":"1",\
            "note":null,"checked":false,"version":1,"created_at":"\(Self.times.start)","modified_at":"\(Self.times.start)"\(end)}
            """
        }
        #expect(
            text(export.json) == """
                {"user":"ann","revision":9,\
                "settings":[{"key":"k","deleted":true,"revision":4,"modified_at":"\(Self.times.start)"}],\
                "order_changes":[{"store":"shop","shelf":"tea","kind":"move","changed_at":"\(Self.times.later)"}],\
                "purchases":[{"store":"shop","sku":"a","day":"2024-10-04","quantity":-1.5}],\
                "lists":[{"list":\(text(membership.json)),"items":[\(item(2, #","deleted":true"#)),\(item(3, ""))]}],\
                "audit":[\(Self.entryText)]}
                """
        )
    }
}
