import Catalog
import JSON
import Ordering
import Testing

@testable import CatalogJSON

/// The complete forms of lists, their items and their changes.
@Suite("Forms of lists") struct ListFormTests {
    private static let start = Timestamp(microseconds: 1_700_000_000_000_000)
    private static let later = Timestamp(microseconds: 1_700_000_001_000_000)
    private static let times =
        #""created_at":"2023-11-14T22:13:20Z","modified_at":"2023-11-14T22:13:21Z""#
    private static let keys = PathKey.appending(4, after: nil)
    private static let store = Store(key: CatalogKey("shop")!, title: "Shop", currency: Currency("EUR")!)
    private static let (milk, tea, gone, bread) = (id(1), id(2), id(3), id(4))

    private static func id(_ number: Int) -> UniqueID { UniqueID("00000000-0000-4000-8000-00000000000\(number)")! }
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    private func text(_ body: (inout JSONWriter) -> Void) -> String { text(JSONWriter.document(body)) }

    /// Milk is a product, and checked; gone is deleted. The items are not in their order.
    private static let list = UserList(
        id: id(9),
        owner: UserID("ann")!,
        name: "Week",
        version: 9,
        createdAt: start,
        modifiedAt: later,
        items: [
            makeItem(gone, "Gone", 3, version: 7, isDeleted: true), makeItem(bread, "Bread", 2, version: 4),
            makeItem(tea, "Tea", 1, version: 9),
            makeItem(milk, "Old name", 0, version: 5, isProduct: true, isChecked: true),
        ]
    )

    private static func makeItem(
        _ id: UniqueID,
        _ text: String,
        _ place: Int,
        version: Int64,
        isProduct: Bool = false,
        isChecked: Bool = false,
        isDeleted: Bool = false
    ) -> ListItem {
        ListItem(
            id: id,
            product: isProduct ? ProductReference(store.key, SKU("milk")!) : nil,
            text: text,
            quantity: ExactDecimal("2.5")!,
            note: isProduct ? "low fat" : nil,
            isChecked: isChecked,
            key: keys[place],
            createdAt: start,
            modifiedAt: later,
            deletedAt: isDeleted ? later : nil,
            version: version
        )
    }

    private static func facts(_ popularity: Popularity = .none) -> ListFacts {
        var facts = ListFacts()
        let product = Product(sku: SKU("milk")!, name: "Milk", priceMinor: 129, popularity: popularity)
        facts.products[ProductReference(store.key, product.sku)] = (store, product)
        return facts
    }

    private static let product = """
        {"sku":"milk","name":"Milk","brand":null,"price_minor":129,"currency":"EUR","regular_price_minor":null,"size":null,\
        "unit_price":null,"barcode":null,"image_url":null,"group":null,"attributes":{},"popularity":0.0,"in_stock":true,"tags":[],\
        "created_at":"1970-01-01T00:00:00Z","modified_at":"1970-01-01T00:00:00Z"}
        """

    private static func membership(_ list: UserList = list, leftAt: Timestamp? = nil) -> ListMembership {
        ListMembership(list: list, role: .editor, key: .first, revision: 3, leftAt: leftAt)
    }

    private static let head = """
        {"id":"\(id(9))","name":"Week","role":"editor","auto_sort":true,"sort":"position","item_count":3,"checked_count":1,\
        "version":9,"revision":3,\(times)}
        """

    /// The items as a response has them; those of an event end before the product.
    private static func texts(withProducts: Bool) -> [UniqueID: String] {
        let end = #""quantity":"2.5","note""#
        func text(_ id: UniqueID, _ name: String, _ version: Int, _ flags: String = "") -> String {
            """
            {"id":"\(id)","store":null,"sku":null,"name":"\(name)","text":"\(name)",\(end):null,"checked":false,\
            "version":\(version),\(times)\(flags)\(withProducts ? #","product":null"# : "")}
            """
        }
        return [
            tea: text(tea, "Tea", 9), bread: text(bread, "Bread", 4), gone: text(gone, "Gone", 7, #","deleted":true"#),
            milk: """
            {"id":"\(milk)","store":"shop","sku":"milk","name":"Milk","text":"Old name",\(end):"low fat","checked":true,\
            "version":5,\(times)\(withProducts ? #","product":\#(product)"# : "")}
            """,
        ]
    }

    @Test("A list has its settings and the numbers of its items; one that the user has left has no more than its id")
    func lists() {
        #expect(text(Self.membership().json) == Self.head)
        #expect(
            text { Self.membership().write(items: 7, checked: 8, to: &$0) }.contains(
                #""item_count":7,"checked_count":8,"#
            )
        )
        var deleted = Self.list
        deleted.deletedAt = Self.later
        #expect(text(Self.membership(deleted).json) == String(Self.head.dropLast()) + #","deleted":true}"#)
        #expect(
            text(Self.membership(leftAt: Self.later).json)
                == #"{"id":"\#(Self.id(9))","revision":3,"deleted":true}"#
        )
    }

    @Test("A page of lists has its sort or its order, and says whether to resync")
    func pages() {
        var page = ListsPage(
            entries: [.init(membership: Self.membership(), items: 3, checked: 1)],
            revision: 8,
            isResync: false
        )
        #expect(text(page.json) == #"{"lists":[\#(Self.head)],"revision":8}"#)
        page.sort = .lastModified
        #expect(text(page.json) == #"{"lists":[\#(Self.head)],"sort":"last-modified","revision":8}"#)
        (page.sort, page.order, page.isResync) = (nil, [Self.id(9)], true)
        #expect(
            text(page.json)
                == #"{"lists":[\#(Self.head)],"order":["\#(Self.id(9))"],"revision":8,"resync":true}"#
        )
    }

    @Test(
        "The items of a list are all current ones in display order, or those that changed after a version",
        arguments: [
            (nil, nil, [tea, bread, milk], false), (nil, ListItemSort.name, [tea, bread, milk], false),
            (4, nil, [milk, tea, gone], false), (5, nil, [tea, gone], false), (9, nil, [], false),
            (10, nil, [tea, bread, milk], true),
        ] as [(Int64?, ListItemSort?, [UniqueID], Bool)]
    )
    func items(_ since: Int64?, _ sort: ListItemSort?, _ ids: [UniqueID], _ isResync: Bool) {
        let texts = Self.texts(withProducts: true)
        let items = ids.map { texts[$0]! }.joined(separator: ",")
        let order = since == nil ? "" : #""order":["\#(Self.tea)","\#(Self.bread)","\#(Self.milk)"],"#
        #expect(
            text(Self.membership().json(Self.facts(), by: sort, since: since, day: 20_000)) == """
                {"list":\(Self.head),"sort":"\(sort == nil ? "position" : "name")","items":[\(items)],\(order)\
                "version":9\(isResync ? #","resync":true"# : "")}
                """
        )
    }

    @Test("An item has its product, whose popularity is that of the day")
    func item() {
        let texts = Self.texts(withProducts: true)
        for item in Self.list.items { #expect(text(item.json(Self.facts())) == texts[item.id]) }
        func score(_ day: Int) -> String {
            text(Self.membership().json(Self.facts(Popularity(log2: 3)), by: nil, since: nil, day: day))
        }
        // Eight purchases on the first of January 2020, of which half counts after a half-life of 14 days.
        #expect(score(18_262).contains(#""popularity":8.0,"#), "\(score(18_262))")
        #expect(score(18_276).contains(#""popularity":4.0,"#), "\(score(18_276))")
    }

    /// The outcome of checking milk, which moves to the end. An unknown item is named, too.
    private static func outcome() -> ListOutcome {
        var before = list
        before.version = 8
        before.items[3].isChecked = false
        let edit = ListEdit.change([ListItemChange(milk, isChecked: true), ListItemChange(id(8))])
        return ListOutcome(of: edit, before, membership(), [milk], facts())
    }

    private static let diff = """
        {"from_version":8,"to_version":9,"old_count":3,"new_count":3,"mode":"moves","deletes":[],"inserts":[],\
        "moves":[{"id":"\(milk)","from":0,"to":2,"after":"\(bread)"}],"changed":[{"id":"\(milk)","at":2}]}
        """
    private static let eventHead = """
        {"id":"\(id(9))","name":"Week","auto_sort":true,"sort":"position","version":9,\
        "modified_at":"2023-11-14T22:13:21Z"}
        """

    @Test("A change of a list is a response with products, and an event without the member's own fields")
    func changes() {
        var outcome = Self.outcome()
        let (response, event) = (Self.texts(withProducts: true), Self.texts(withProducts: false))
        let end = #""missing":["\#(Self.id(8))"],"version":9,"diff":\#(Self.diff)}"#
        #expect(text(outcome.json) == #"{"list":\#(Self.head),"items":[\#(response[Self.milk]!)],\#(end)"#)
        #expect(
            text(UserEvent.list(outcome).json) == #"{"list":\#(Self.eventHead),"items":[\#(event[Self.milk]!)],\#(end)"#
        )
        // An item that was only asked for is a part of the response.
        outcome.requestedIDs = [Self.tea]
        outcome.missing = []
        let items = [Self.milk, Self.tea].map { response[$0]! }.joined(separator: ",")
        let rest = #""version":9,"diff":\#(Self.diff)}"#
        #expect(text(outcome.json) == #"{"list":\#(Self.head),"items":[\#(items)],\#(rest)"#)
        #expect(text(outcome.event) == #"{"list":\#(Self.eventHead),"items":[\#(event[Self.milk]!)],\#(rest)"#)
    }

    @Test("If the previous order is uncertain, a change has the whole order")
    func uncertainOrder() {
        var outcome = Self.outcome()
        outcome.isOldOrderExact = false
        let ids = [Self.tea, Self.bread, Self.milk].map { "\"\($0)\"" }.joined(separator: ",")
        #expect(
            text(outcome.json).hasSuffix(
                #""diff":{"from_version":8,"to_version":9,"old_count":3,"new_count":3,"mode":"order","ids":[\#(ids)]}}"#
            )
        )
        // Only an item that was shown before can have changed.
        outcome = Self.outcome()
        outcome.old.removeFirst()
        #expect(text(outcome.json).contains(#""inserts":[{"id":"\#(Self.milk)","to":2,"after":"\#(Self.bread)"}],"#))
        #expect(text(outcome.json).hasSuffix(#""changed":[]}}"#))
    }

    @Test("A new list, a restored list and a large change are announced, so that devices read them")
    func announcements() {
        let announcement = #"{"list":\#(Self.eventHead),"version":9,"resync":true}"#
        #expect(text(UserEvent.newList(Self.list).json) == announcement)
        var deleted = Self.list
        deleted.deletedAt = Self.later
        #expect(
            text(UserEvent.newList(deleted).json)
                == #"{"list":\#(String(Self.eventHead.dropLast()) + #","deleted":true}"#),"version":9,"resync":true}"#
        )
        var outcome = Self.outcome()
        outcome.isRestored = true
        #expect(text(outcome.event) == announcement)

        outcome = Self.outcome()
        outcome.membership.list.items[3].note = ""
        let rest = (32 << 10) - outcome.event.count
        outcome.membership.list.items[3].note = String(repeating: "x", count: rest)
        #expect(outcome.event.count == 32 << 10)
        outcome.membership.list.items[3].note! += "x"
        #expect(text(outcome.event) == announcement)
    }

    @Test("A recorded list or change becomes its record, and says whether the request created anything")
    func records() {
        let membership = Self.membership()
        #expect(
            ListDocument.list(membership, isNew: true).recorded == RecordedResponse(isNew: true, body: membership.json)
        )
        #expect(ListDocument.list(membership, isNew: false).recorded == RecordedResponse(body: membership.json))
        var outcome = Self.outcome()
        #expect(ListDocument.change(outcome).recorded == RecordedResponse(isNew: true, body: outcome.json))
        outcome.changed = []
        #expect(ListDocument.change(outcome).recorded == RecordedResponse(isNew: false, body: outcome.json))

        let call = IdempotentCall<ListDocument>(key: "k", fingerprint: [1, 2])
        #expect(call.key == "k" && call.fingerprint == [1, 2])
        var document = ListDocument.change(outcome)
        let record = call.encode(&document)
        #expect(record == RecordedResponse(body: outcome.json))
        guard case .first(let first) = document else {
            Issue.record("the document is \(document)")
            return
        }
        #expect(first == record)
    }

    @Test("A record of another outcome stays as it is, and is decoded")
    func otherRecords() throws {
        let call = IdempotentCall<GuestMerge>(key: "k", fingerprint: [1])
        var merge = GuestMerge(merged: 1, kept: 2, revision: 3)
        let record = call.encode(&merge)
        #expect(record == merge.recorded)
        #expect(try call.decode(record) == merge)
        let response = RecordedResponse(isNew: true, mediaType: "text/plain", body: [65])
        #expect(response.recorded == response)
        #expect(RecordedResponse(recorded: response) == response)
    }
}
