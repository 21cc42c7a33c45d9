import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct UserListTests {
    private static let start = Timestamp(microseconds: 1_000_000)
    private static func later(_ seconds: Int64) -> Timestamp {
        Timestamp(microseconds: start.microseconds + seconds * 1_000_000)
    }

    private func list(_ texts: String...) throws -> UserList {
        var list = UserList(
            id: .random(),
            owner: UserID("ann")!,
            name: "L",
            createdAt: Self.start,
            modifiedAt: Self.start
        )
        if !texts.isEmpty {
            _ = try list.apply(.add(texts.map { NewListItem(text: $0) }), ListFacts(), now: Self.start)
        }
        return list
    }

    private func texts(_ list: UserList) -> [String] { list.shown(ListFacts()).map(\.text) }

    @Test("Items are appended in their order, and the version grows to the time in microseconds")
    func adds() throws {
        let list = try list("a", "b", "c")
        #expect(texts(list) == ["a", "b", "c"])
        #expect(list.version == Self.start.microseconds)
        #expect(list.items.allSatisfy { $0.version == list.version })
    }

    @Test("Adding an existing item changes nothing")
    func addsOnce() throws {
        var list = try list()
        let item = NewListItem(text: "a")
        #expect(try list.apply(.add([item, item]), ListFacts(), now: Self.start) == [item.id])
        #expect(try list.apply(.add([item]), ListFacts(), now: Self.later(1)).isEmpty)
        #expect(list.items.count == 1)
        #expect(list.version == Self.start.microseconds)
    }

    @Test("An unknown product is rejected, and nothing is added")
    func unknownProducts() throws {
        var list = try list("a")
        let before = list
        let product = ProductReference(CatalogKey("s")!, SKU("x")!)
        #expect(throws: CatalogError.self) {
            try list.apply(.add([NewListItem(text: "b"), NewListItem(product: product)]), ListFacts(), now: Self.start)
        }
        #expect(list == before)
    }

    @Test("A checked item moves to the end, and returns to its position when unchecked")
    func checkedItemsSink() throws {
        var list = try list("a", "b", "c")
        let first = list.items[0].id
        _ = try list.apply(.change([ListItemChange(first, isChecked: true)]), ListFacts(), now: Self.later(1))
        #expect(texts(list) == ["b", "c", "a"])
        _ = try list.apply(.change([ListItemChange(first, isChecked: false)]), ListFacts(), now: Self.later(2))
        #expect(texts(list) == ["a", "b", "c"])
    }

    @Test("The later of two changes to a field wins, regardless of arrival order")
    func laterChangesWin() throws {
        var list = try list("a")
        let id = list.items[0].id
        func change(_ text: String, at seconds: Int64) -> ListEdit {
            .change([ListItemChange(id, text: text, modifiedAt: Self.later(seconds))])
        }
        _ = try list.apply(change("new", at: 5), ListFacts(), now: Self.later(10))
        #expect(try list.apply(change("old", at: 3), ListFacts(), now: Self.later(11)).isEmpty)
        #expect(texts(list) == ["new"])
        _ = try list.apply(change("newest", at: 7), ListFacts(), now: Self.later(12))
        #expect(texts(list) == ["newest"])
    }

    @Test("Of two changes to a field at the same moment, the first wins")
    func tieKeepsCurrentValue() throws {
        var list = try list("a")
        let id = list.items[0].id
        for (text, expected) in [("first", "first"), ("second", "first")] {
            let change = ListItemChange(id, text: text, modifiedAt: Self.later(5))
            _ = try list.apply(.change([change]), ListFacts(), now: Self.later(10))
            #expect(texts(list) == [expected])
        }
    }

    @Test("A clock that runs ahead has no advantage")
    func futureChanges() throws {
        var list = try list("a")
        let id = list.items[0].id
        _ = try list.apply(
            .change([ListItemChange(id, text: "future", modifiedAt: Self.later(1000))]),
            ListFacts(),
            now: Self.later(1)
        )
        _ = try list.apply(
            .change([ListItemChange(id, text: "now", modifiedAt: Self.later(2))]),
            ListFacts(),
            now: Self.later(2)
        )
        #expect(texts(list) == ["now"])
    }

    @Test("A deleted item is hidden, and is restored to its position")
    func deletesAndRestores() throws {
        var list = try list("a", "b", "c")
        let second = list.items[1].id
        _ = try list.apply(.change([ListItemChange(second, isDeleted: true)]), ListFacts(), now: Self.later(1))
        #expect(texts(list) == ["a", "c"])
        _ = try list.apply(.change([ListItemChange(second, isDeleted: false)]), ListFacts(), now: Self.later(2))
        #expect(texts(list) == ["a", "b", "c"])
    }

    @Test("An edit of one missing item fails; in a batch, missing items are skipped")
    func missingItems() throws {
        var list = try list("a")
        let missing = ListItemChange(.random(), isChecked: true)
        #expect(throws: CatalogError.notFound("item “\(missing.id)”")) {
            try list.apply(.change([missing]), ListFacts(), now: Self.start)
        }
        let known = ListItemChange(list.items[0].id, isChecked: true)
        #expect(try list.apply(.change([missing, known]), ListFacts(), now: Self.later(1)) == [known.id])
    }

    @Test("A move changes the moved item only")
    func moves() throws {
        var list = try list("a", "b", "c")
        let third = list.items[2].id
        let changed = try list.apply(.move([OrderMove([third.text], .first)]), ListFacts(), now: Self.later(1))
        #expect(changed == [third])
        #expect(texts(list) == ["c", "a", "b"])
    }

    @Test("A deleted list accepts no items, and is restored with its items")
    func deletedLists() throws {
        var list = try list("a")
        _ = try list.apply(.set(ListSettings(isDeleted: true)), ListFacts(), now: Self.later(1))
        #expect(list.isDeleted)
        #expect(throws: CatalogError.self) {
            try list.apply(.add([NewListItem(text: "b")]), ListFacts(), now: Self.later(2))
        }
        _ = try list.apply(.set(ListSettings(isDeleted: false)), ListFacts(), now: Self.later(3))
        #expect(!list.isDeleted)
        #expect(texts(list) == ["a"])
    }

    @Test("Unchanged settings keep the version")
    func unchangedSettings() throws {
        var list = try list("a")
        let version = list.version
        _ = try list.apply(.set(ListSettings(name: "L", autoSort: true)), ListFacts(), now: Self.later(1))
        #expect(list.version == version)
        _ = try list.apply(.set(ListSettings(name: "M")), ListFacts(), now: Self.later(1))
        #expect(list.version == Self.later(1).microseconds)
        #expect(list.modifiedAt == Self.later(1))
        // The clock of this server is behind.
        _ = try list.apply(.set(ListSettings(name: "N")), ListFacts(), now: Self.start)
        #expect(list.version == Self.later(1).microseconds + 1)
    }

    @Test("Adding items above the limit fails and changes nothing")
    func limits() throws {
        var list = try list()
        for _ in 0..<(UserList.itemLimit / UserList.addLimit) {
            let items = (0..<UserList.addLimit).map { NewListItem(text: "\($0)") }
            _ = try list.apply(.add(items), ListFacts(), now: Self.start)
        }
        let before = list
        #expect(throws: CatalogError.self) {
            try list.apply(.add([NewListItem(text: "one more")]), ListFacts(), now: Self.later(1))
        }
        #expect(list == before)
    }
}
