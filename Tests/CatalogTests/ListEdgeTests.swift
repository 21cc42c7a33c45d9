import JSON
import Ordering
import Testing

@testable import Catalog

/// Lists, their items and their members at the edges of each rule.
@Suite(.timeLimit(.minutes(15))) struct ListEdgeTests {
    private static func time(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }
    private static let start = time(1000)
    private static let euro = Currency("EUR")!

    private func item(_ text: String, _ place: Int64 = 0, product: ProductReference? = nil, isChecked: Bool = false)
        -> ListItem
    {
        ListItem(
            id: .random(),
            product: product,
            text: text,
            isChecked: isChecked,
            key: PathKey([place]),
            createdAt: Self.start,
            modifiedAt: Self.start,
            version: 1
        )
    }

    private func list(_ items: [ListItem] = [], version: Int64 = 1) -> UserList {
        UserList(
            id: .random(),
            owner: UserID("ann")!,
            name: "L",
            version: version,
            createdAt: Self.start,
            modifiedAt: Self.start,
            items: items
        )
    }

    private func reference(_ sku: String, _ store: String = "s") -> ProductReference {
        ProductReference(CatalogKey(store)!, SKU(sku)!)
    }

    // MARK: - Items

    @Test("Each field of an item changes alone, records its time, and an earlier change to it loses")
    func fields() {
        let changes: [(ListItem.Field, (UniqueID, Timestamp?) -> ListItemChange)] = [
            (.text, { ListItemChange($0, text: "b", modifiedAt: $1) }),
            (.quantity, { ListItemChange($0, quantity: ExactDecimal(2), modifiedAt: $1) }),
            (.note, { ListItemChange($0, note: .some("n"), modifiedAt: $1) }),
            (.checked, { ListItemChange($0, isChecked: true, modifiedAt: $1) }),
            (.deleted, { ListItemChange($0, isDeleted: true, modifiedAt: $1) }),
        ]
        for (field, change) in changes {
            var own = item("a")
            let before = own
            let isEarlierApplied = own.apply(change(own.id, Self.time(1005)), now: Self.time(1010))
            #expect(isEarlierApplied, "\(field)")
            #expect(own.changes == [field: Self.time(1005)])
            #expect(own.modifiedAt == Self.time(1010))
            #expect(
                (own.text == before.text) == (field != .text)
                    && (own.quantity == before.quantity) == (field != .quantity)
            )
            #expect(
                (own.note == before.note) == (field != .note)
                    && (own.isChecked == before.isChecked) == (field != .checked)
            )
            #expect(own.deletedAt == (field == .deleted ? Self.time(1010) : nil))
            var other = before
            other.changes = [field: Self.time(1005)]
            let isTieApplied = other.apply(change(own.id, Self.time(1005)), now: Self.time(1010))
            #expect(!isTieApplied, "a tie keeps the value")
            let isOlderApplied = other.apply(change(own.id, Self.time(1004)), now: Self.time(1010))
            #expect(!isOlderApplied)
            #expect(other.hasSameContent(as: before) && other.modifiedAt == before.modifiedAt)
            let isTimelessApplied = other.apply(change(own.id, nil), now: Self.time(1003))
            #expect(isTimelessApplied, "a change without a time wins")
            #expect(other.changes == [field: Self.time(1005)], "the later time is kept")
        }
    }

    @Test("An unchanged value changes nothing visible, and records its time")
    func unchangedValues() {
        var own = item("a")
        let change = ListItemChange(own.id, text: "a", isChecked: false, modifiedAt: Self.time(1005))
        let isSameVisible = own.apply(change, now: Self.time(1010))
        #expect(!isSameVisible)
        #expect(own.changes == [.text: Self.time(1005), .checked: Self.time(1005)] && own.modifiedAt == Self.start)
        let isOldVisible = own.apply(
            ListItemChange(own.id, text: "old", modifiedAt: Self.time(1004)),
            now: Self.time(1011)
        )
        #expect(!isOldVisible)
        #expect(own.text == "a")
    }

    @Test("A note is removed by a nested nil, and a deleted item keeps the time of its deletion")
    func notesAndDeletions() {
        var own = item("a")
        own.note = "n"
        let isEmptyVisible = own.apply(ListItemChange(own.id), now: Self.time(1001))
        #expect(!isEmptyVisible && own.note == "n")
        let isNoteRemoved = own.apply(ListItemChange(own.id, note: .some(nil)), now: Self.time(1001))
        #expect(isNoteRemoved && own.note == nil)
        let isDeleted = own.apply(ListItemChange(own.id, isDeleted: true), now: Self.time(1002))
        #expect(isDeleted)
        let isDeletedAgain = own.apply(ListItemChange(own.id, isDeleted: true), now: Self.time(1003))
        #expect(!isDeletedAgain)
        #expect(own.deletedAt == Self.time(1002))
        let isRestored = own.apply(ListItemChange(own.id, isDeleted: false), now: Self.time(1004))
        #expect(isRestored && own.deletedAt == nil)
    }

    // MARK: - Lists

    @Test("An added item has the product's name, the values of the device, and the place after all others")
    func additions() throws {
        var own = list([item("a", 5)])
        own.items[0].deletedAt = Self.start
        var facts = ListFacts()
        let product = Product(sku: SKU("p")!, name: "Milk")
        facts.products[reference("p")] = (Store(key: CatalogKey("s")!, title: "S", currency: Self.euro), product)
        let new = [
            NewListItem(product: reference("p"), quantity: ExactDecimal(3), note: "n", isChecked: true),
            NewListItem(product: reference("p"), text: "own text"),
        ]
        #expect(try own.apply(.add(new), facts, now: Self.time(1001)) == Set(new.map(\.id)))
        #expect(own.items.map(\.text) == ["a", "Milk", "own text"])
        #expect(own.items.map(\.key) == [PathKey([5]), PathKey([21]), PathKey([37])])
        let added = own.items[1]
        #expect(added.quantity == ExactDecimal(3) && added.note == "n" && added.isChecked)
        #expect(added.createdAt == Self.time(1001) && added.modifiedAt == Self.time(1001) && added.changes.isEmpty)
        #expect(own.version == 1_001_000_000 && added.version == own.version && own.items[0].version == 1)
        #expect(own.modifiedAt == Self.time(1001))
    }

    @Test("A version grows by at least one, to at least the time, and never beyond its range")
    func versions() throws {
        var own = list([item("a")], version: 5_000_000_000)
        let change = ListEdit.change([ListItemChange(own.items[0].id, isChecked: true)])
        _ = try own.apply(change, ListFacts(), now: Self.time(900))
        #expect(own.version == 5_000_000_001)
        #expect(own.modifiedAt == Self.start, "the clock of this server is behind")
        var last = list([item("a")], version: .max)
        #expect(throws: CatalogError.self) {
            try last.apply(.set(ListSettings(name: "M")), ListFacts(), now: Self.time(1001))
        }
        #expect(last.name == "L")
        var almost = list([], version: .max - 1)
        _ = try almost.apply(.set(ListSettings(name: "M")), ListFacts(), now: Self.time(1001))
        #expect(almost.version == .max && almost.name == "M")
    }

    @Test("Each setting of a list is kept or replaced, and a deleted list keeps the time of its deletion")
    func settings() throws {
        var own = list()
        let edits: [(ListSettings, (UserList) -> Bool)] = [
            (ListSettings(name: "M"), { $0.name == "M" && $0.autoSort && $0.sort == .position && !$0.isDeleted }),
            (ListSettings(autoSort: false), { $0.name == "M" && !$0.autoSort && $0.sort == .position }),
            (ListSettings(sort: .price), { $0.name == "M" && !$0.autoSort && $0.sort == .price }),
            (ListSettings(isDeleted: true), { $0.deletedAt == Self.time(1003) && $0.name == "M" && $0.sort == .price }),
        ]
        for (index, (edit, holds)) in edits.enumerated() {
            let before = own.version
            #expect(try own.apply(.set(edit), ListFacts(), now: Self.time(1000 + Int64(index))).isEmpty)
            #expect(holds(own) && own.version > before, "\(index)")
        }
        let version = own.version
        _ = try own.apply(.set(ListSettings(isDeleted: true)), ListFacts(), now: Self.time(1010))
        #expect(own.deletedAt == Self.time(1003) && own.version == version)
        _ = try own.apply(.set(ListSettings(isDeleted: false)), ListFacts(), now: Self.time(1011))
        #expect(own.deletedAt == nil && own.version == Self.time(1011).microseconds)
    }

    @Test("A restored item counts for the limit, and the oldest deleted ones are purged")
    func itemLimits() throws {
        let limit = UserList.itemLimit
        var own = list((0..<limit).map { item("\($0)", Int64($0)) })
        own.items.append(item("deleted", Int64(limit)))
        own.items[limit].deletedAt = Self.start
        let restored = ListEdit.change([ListItemChange(own.items[limit].id, isDeleted: false)])
        #expect(throws: CatalogError.self) { try own.apply(restored, ListFacts(), now: Self.time(1001)) }
        #expect(own.items[limit].isDeleted && own.currentItems.count == limit)

        var many = list((0..<(limit + 1)).map { item("\($0)", Int64($0)) })
        for index in 0..<limit { many.items[index].deletedAt = Self.time(2000 - Int64(index)) }
        let (oldest, last) = (many.items[limit - 1].id, many.items[limit].id)
        _ = try many.apply(.change([ListItemChange(last, isDeleted: true)]), ListFacts(), now: Self.time(3000))
        #expect(many.items.count == limit && many.currentItems.isEmpty)
        #expect(!many.items.contains { $0.id == oldest } && many.items.contains { $0.id == last })
    }

    @Test("A move changes the times and versions of moved items only")
    func moves() throws {
        var own = list([item("a", 0), item("b", 16), item("c", 32)])
        let third = own.items[2].id
        let moved = try own.apply(
            .move([OrderMove([third.text], .after(own.items[0].id.text))]),
            ListFacts(),
            now: Self.time(1001)
        )
        #expect(moved == [third])
        #expect(own.items.map(\.modifiedAt) == [Self.start, Self.start, Self.time(1001)])
        #expect(own.items.map(\.version) == [1, 1, own.version] && own.items[2].key == PathKey([8]))
        let version = own.version
        let again = OrderMove([third.text], .after(own.items[0].id.text))
        #expect(try own.apply(.move([again]), ListFacts(), now: Self.time(1002)).isEmpty && own.version == version)
    }

    // MARK: - Sorts

    private func order(_ sort: ListItemSort, _ items: [ListItem], _ facts: ListFacts, sinks: Bool = false) -> String {
        sort.order(items.reversed(), sinks: sinks, facts).map(\.text).joined(separator: " ")
    }

    @Test("Items without a value come last in both directions, then in manual order, and checked ones can sink")
    func itemSorts() throws {
        var facts = ListFacts()
        let (a, b) = (
            Store(key: CatalogKey("a")!, title: "A", currency: Self.euro),
            Store(key: CatalogKey("b")!, title: "B", currency: Currency("SEK")!)
        )
        func product(_ sku: String, _ store: Store, _ price: Int64?, _ amount: Int, _ unit: MeasureUnit) throws
            -> ListItem
        {
            let key = ProductReference(store.key, SKU(sku)!)
            let size = amount == 0 ? nil : try Size(amount: ExactDecimal(Int128(amount)), unit: unit)
            facts.products[key] = (store, Product(sku: key.sku, name: sku, priceMinor: price, size: size))
            return item(sku, Int64(facts.products.count), product: key)
        }
        let items = [
            try product("p", a, 300, 1, .kg), try product("q", a, 100, 1, .kg), try product("r", b, 1, 1, .kg),
            try product("s", a, nil, 1, .kg), try product("t", a, 100, 1, .l), try product("u", a, 200, 0, .g),
            item("free", 7),
        ]
        facts.aisles = [reference("p", "a"): 2, reference("q", "a"): 1, reference("r", "b"): 0]
        facts.ranks = ["p": 3, "q": 1, "r": 2, "free": 0]
        #expect(order(.position, items, facts) == "p q r s t u free")
        #expect(order(.name, items, facts) == "free q r p s t u")
        #expect(order(.nameDescending, items, facts) == "p r q free s t u")
        #expect(order(.price, items, facts) == "q t u p r s free")
        #expect(order(.priceDescending, items, facts) == "p u q t r s free")
        #expect(order(.unitPrice, items, facts) == "q p t r s u free")
        #expect(order(.unitPriceDescending, items, facts) == "p q t r s u free")
        #expect(order(.shelf, items, facts) == "q p r s t u free")
        var checked = items
        checked[1].isChecked = true
        checked[6].isChecked = true
        #expect(order(.price, checked, facts, sinks: true) == "t u p r s q free")
        #expect(order(.price, checked, facts, sinks: false) == "q t u p r s free")
        #expect(facts.name(of: items[6]) == "free")
        var renamed = items[0]
        renamed.text = "old"
        #expect(facts.name(of: renamed) == "p")
    }

    @Test("Names are in the language of the store with most of the products, or the first one by key")
    func languages() {
        func facts(_ counts: [(String, String, Int)]) -> String {
            var facts = ListFacts()
            for (store, locale, count) in counts {
                let own = Store(key: CatalogKey(store)!, title: "S", currency: Self.euro, locale: locale)
                for number in 0..<count {
                    let key = ProductReference(own.key, SKU("p\(number)")!)
                    facts.products[key] = (own, Product(sku: key.sku, name: "P"))
                }
            }
            return facts.language
        }
        #expect(facts([]) == "root")
        #expect(facts([("a", "sv", 1), ("b", "hr", 2)]) == "hr")
        #expect(facts([("b", "hr", 2), ("a", "sv", 2), ("c", "de", 2)]) == "sv")
        #expect(facts([("b", "hr", 3), ("a", "sv", 2)]) == "hr")
    }

    private func membership(
        _ name: String,
        _ place: Int64,
        modifiedAt: Int64 = 1000,
        role: ListRole = .owner
    ) -> ListMembership {
        var own = list()
        own.name = name
        own.modifiedAt = Self.time(modifiedAt)
        return ListMembership(list: own, role: role, key: PathKey([place]), revision: 1)
    }

    @Test("Lists sort by name, by their last change or by hand, and ties by hand")
    func listSorts() {
        let entries = [
            membership("b", 2, modifiedAt: 3), membership("a", 3, modifiedAt: 1), membership("b", 1, modifiedAt: 3),
        ]
        .map { ListsPage.Entry(membership: $0, items: 0, checked: 0) }
        let page = ListsPage(entries: entries, revision: 9, isResync: true)
        func places(_ sort: ListSort) -> [Int64] {
            let sorted = page.sorted(by: sort, ["a": 0, "b": 1])
            #expect(sorted.sort == sort && sorted.revision == 9 && sorted.isResync)
            return sorted.entries.map { $0.membership.key.parts[0] }
        }
        #expect(places(.name) == [3, 1, 2] && places(.lastModified) == [1, 2, 3] && places(.manual) == [1, 2, 3])
        #expect(ListSort(setting: .string("name")) == .name && ListSort(setting: .string("x")) == .lastModified)
        #expect(ListSort(setting: nil) == .lastModified && ListSort(setting: .bool(true)) == .lastModified)
    }

    // MARK: - Members

    private func refusal(_ membership: ListMembership, _ edit: ListEdit, _ expected: Set<Int64>? = nil) -> CatalogError?
    {
        do throws(CatalogError) {
            try membership.check(edit, expected)
            return nil
        } catch { return error }
    }

    @Test("Readers may not edit, only owners delete and restore, and versions are compared last")
    func roles() {
        let rename = ListEdit.set(ListSettings(name: "M"))
        let (delete, restore) = (
            ListEdit.set(ListSettings(isDeleted: true)), ListEdit.set(ListSettings(isDeleted: false))
        )
        for role in ListRole.allCases {
            let own = membership("L", 1, role: role)
            #expect((refusal(own, rename) == nil) == (role != .reader))
            #expect((refusal(own, .add([])) == nil) == (role != .reader))
            #expect((refusal(own, delete) == nil) == (role == .owner))
            #expect((refusal(own, restore) == nil) == (role == .owner))
        }
        var own = membership("L", 1)
        #expect(refusal(own, rename, [1, 2]) == nil && refusal(own, rename, [2]) == .staleList(current: 1))
        #expect(refusal(own, rename, []) == .staleList(current: 1))
        if case .forbidden? = refusal(membership("L", 1, role: .reader), rename, [2]) {
        } else {
            Issue.record("not forbidden")
        }
        own.list.deletedAt = Self.start
        #expect(own.isDeleted && refusal(own, restore) == nil)
        #expect(refusal(own, rename) == .notFound("list “\(own.list.id)”") && refusal(own, delete) != nil)
        own.leftAt = Self.start
        #expect(refusal(own, restore) == .notFound("list “\(own.list.id)”"))
        own.list.deletedAt = nil
        #expect(own.isDeleted && refusal(own, rename) != nil)
        own.leftAt = nil
        #expect(!own.isDeleted)
        #expect(
            ListRole.editor.isBetter(than: .reader) && ListRole.owner.isBetter(than: .reader)
                && ListRole.reader.isBetter(than: nil)
        )
        #expect(
            !ListRole.reader.isBetter(than: .reader) && !ListRole.editor.isBetter(than: .editor)
                && !ListRole.editor.isBetter(than: .owner)
        )
        #expect(ListRole.shared == [.editor, .reader])
    }

    @Test("A new list has the user's settings unless the request has its own")
    func newLists() throws {
        let new = NewList(name: "N", sort: .name)
        let user = UserID("bob")!
        func sinks(_ own: Bool?, _ setting: JSONValue?) -> Bool {
            NewList(name: "N", autoSort: own).list(of: user, sinksChecked: setting, now: Self.start).autoSort
        }
        #expect(sinks(nil, nil) && sinks(nil, .bool(true)) && !sinks(nil, .bool(false)) && sinks(nil, .string("false")))
        #expect(sinks(true, .bool(false)) && !sinks(false, .bool(true)))
        let made = new.list(of: user, sinksChecked: nil, now: Self.time(5))
        #expect(
            made.id == new.id && made.owner == user && made.name == "N" && made.sort == .name
                && made.version == 5_000_000
        )
        #expect(
            made.createdAt == Self.time(5) && made.modifiedAt == Self.time(5) && made.items.isEmpty && !made.isDeleted
        )
        let departed = ListMembership.departed(made.id, .reader, PathKey([4]), 7, leftAt: Self.time(6))
        #expect(departed.isDeleted && departed.list.id == made.id && departed.role == .reader && departed.revision == 7)
        #expect(
            departed.key == PathKey([4]) && departed.leftAt == Self.time(6) && departed.list.deletedAt == Self.time(6)
        )
    }

    @Test("An edit names its items and products")
    func namedItems() {
        let own = list([item("a"), item("b")])
        let (a, missing) = (own.items[0].id, UniqueID.random())
        let change = ListEdit.change([ListItemChange(missing), ListItemChange(a)])
        #expect(
            change.items == [missing, a] && change.missing(in: own) == [missing] && change.added.isEmpty
                && change.products.isEmpty
        )
        let new = [NewListItem(id: missing, product: reference("p")), NewListItem(text: "t")]
        let add = ListEdit.add(new)
        #expect(
            add.added == Set(new.map(\.id)) && add.products == [reference("p")] && add.items.isEmpty
                && add.missing(in: own).isEmpty
        )
        #expect(
            ListEdit.set(ListSettings(isDeleted: false)).restoresList
                && !ListEdit.set(ListSettings(isDeleted: true)).restoresList
        )
        #expect(!ListEdit.set(ListSettings(name: "a")).restoresList && !add.restoresList)
        let upper = a.text.uppercased()
        let moves = [
            OrderMove([upper, "x"], .after(upper)), OrderMove(["y"], .before(upper)), OrderMove([upper], .last),
        ].byUniqueID
        #expect(
            moves == [
                OrderMove([a.text, "x"], .after(a.text)), OrderMove(["y"], .before(a.text)), OrderMove([a.text], .last),
            ]
        )
        #expect(PathKey.first == PathKey([0]))
    }

    @Test("The outcome of a move lists the moved lists with their new neighbors")
    func movedLists() {
        let moved = ListMoveOutcome.between(["a", "b", "c", "d"], ["c", "a", "b", "d"])
        #expect(moved == [ManualOrderOutcome.Moved(id: "c", after: nil)])
        #expect(ListMoveOutcome.between(["a", "b"], ["a", "b"]).isEmpty)
        let indexed = ManualOrderOutcome.Moved.of(["b"], from: ["a", "b", "c"], to: ["a", "c", "b"], indexed: true)
        #expect(indexed == [ManualOrderOutcome.Moved(id: "b", after: "c", from: 1, to: 2)])
    }
}
