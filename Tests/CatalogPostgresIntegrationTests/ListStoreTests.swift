import JSON
import Catalog
import CatalogJSON
import CatalogPostgres
import InMemoryCatalog
import LibPQ
import Ordering
import Synchronization
import Testing
import TestSupport

/// Lists in PostgreSQL match the in-memory catalog after any edits.
@Suite(.timeLimit(.minutes(15))) struct ListStoreTests {
    static let users = ["ann", "bob", "eve", "guest:tim"].map { UserID($0)! }
    private static let shop = CatalogKey("shop")!

    /// A catalog and the list versions announced by it.
    func withBoth(_ body: (InMemoryCatalog, PostgresCatalog) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let memory = InMemoryCatalog(collate: collator)
            var generator = SeededGenerator(seed: 11)
            let products = (0..<30).map { Product.random($0, using: &generator) }
            let shelves = ["a", "b"].map { CatalogKey($0)! }
            for store in [memory.storage, catalog.storage] as [CatalogStorage] {
                _ = try await store.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
                for key in shelves { _ = try await store.shelves.put(Shelf(key: key, title: key.text), in: Self.shop) }
                for product in products { _ = try await store.products.put(product, in: Self.shop) }
                for (index, product) in products.enumerated() where index % 3 > 0 {
                    _ = try await store.products.place(product.sku, on: shelves[(index / 7) % 2], in: Self.shop)
                }
            }
            try await body(memory, catalog)
        }
    }

    enum Step {
        case create(NewList)
        case edit(UniqueID, ListEdit)
        case remove(UniqueID)
        case move([OrderMove])
        case share(UniqueID, ListShare, [UInt8])
        case revoke(UniqueID, UniqueID)
        case join([UInt8])
        case erase
        /// Merges a user into the first one.
        case merge
    }

    /// Performs a step; returns the error or the resulting list as text.
    func perform(_ step: Step, _ user: UserID, on catalog: CatalogStorage) async -> String {
        do {
            switch step {
            case .create(let new):
                return Self.text(try await catalog.lists.createList(new, of: user, once: nil))
            case .edit(let id, let edit):
                return Self.text(try await catalog.lists.editList(id, of: user, edit, expected: nil, once: nil))
            case .remove(let id):
                try await catalog.lists.removeList(id, of: user, expected: nil)
                return "removed"
            case .move(let moves):
                return "\(try await catalog.lists.moveLists(moves, of: user, once: nil).moved)"
            case .share(let id, let share, let digest):
                _ = try await catalog.lists.share(id, of: user, share, digest: digest, once: nil)
                return
                    "shared \(try await catalog.lists.shares(id, of: user).map { "\($0.id) \($0.role) \($0.members)" })"
            case .erase:
                try await catalog.users.erase(user)
                return "erased"
            case .merge:
                guard user.isGuest else { return "no guest" }
                _ = try await catalog.users.merge(user, into: Self.users[0], once: nil)
                return "merged"
            case .revoke(let share, let id):
                try await catalog.lists.revoke(share, id, of: user)
                return "taken back"
            case .join(let digest):
                return Self.text(try await catalog.lists.join(digest, of: user, once: nil))
            }
        } catch {
            return "\(error)"
        }
    }

    /// Returns a document without clock-dependent values.
    private static func text(_ document: ListDocument) -> String {
        func stable(_ value: JSONValue) -> JSONValue {
            switch value {
            case .object(let members):
                .object(
                    members.filter {
                        !$0.name.hasSuffix("_at") && !$0.name.hasSuffix("version") && $0.name != "revision"
                    }.map {
                        .init($0.name, stable($0.value))
                    }
                )
            case .array(let values): .array(values.map(stable))
            default: value
            }
        }
        let response = document.recorded
        return "\(response.isNew) \((try? JSONReader.parse(response.body)).map { stable($0).text } ?? "not JSON")"
    }

    /// Returns all lists of a user without clock-dependent values.
    private func state(_ user: UserID, of catalog: CatalogStorage) async throws -> String {
        var text = ""
        for sort in [ListSort.manual, .name] {
            let page = try await catalog.lists.lists(of: user, by: sort, since: nil)
            text += "\(sort): \(page.entries.map { "\($0.membership.list.id) \($0.items) \($0.checked)" })\n"
        }
        for entry in try await catalog.lists.lists(of: user, by: .manual, since: nil).entries {
            let id = entry.membership.list.id
            text += "\(id) \(entry.membership.role) \(entry.membership.list.name)\n"
            for sort in ListItemSort.allCases {
                let (membership, facts) = try await catalog.lists.list(id, of: user, by: sort)
                let items = membership.list.shown(facts, by: sort)
                let versions = Set(membership.list.items.map(\.version) + [membership.list.version]).sorted()
                let itemTexts = items.map {
                    "\($0.id) \(facts.name(of: $0)) \($0.quantity) \($0.note ?? "-") \($0.isChecked) \(versions.firstIndex(of: $0.version)!)"
                }
                text += " \(sort): \(itemTexts)\n"
            }
        }
        let export = try await catalog.users.export(user).lists
        text += "export: \(export.map { "\($0.list.id) \($0.list.name) \($0.list.items.count)" }.sorted())\n"
        let changed = try await catalog.lists.lists(of: user, by: nil, since: 0)
        text += "order: \(changed.order ?? [])\n"
        text += "gone: \(changed.entries.filter(\.membership.isDeleted).map(\.membership.list.id).sorted())\n"
        return text
    }

    @Test("Random steps leave the same lists in PostgreSQL and in memory", arguments: [UInt64(1), 2, 3])
    func randomStepsMatchMemory(_ seed: UInt64) async throws {
        try await withBoth { memory, catalog in
            var generator = SeededGenerator(seed: seed)
            var lists = (0..<5).map { _ in UniqueID.random() }
            var items = (0..<12).map { _ in UniqueID.random() }
            var shares: [(UniqueID, ListShare, [UInt8])] = []
            lists.shuffle(using: &generator)
            let products = Array((try await memory.products(Self.shop, after: nil, limit: 100)).products)
            var answers: [String: Int] = [:]
            for number in 0..<220 {
                let user = Self.users.randomElement(using: &generator)!
                let list = lists.randomElement(using: &generator)!
                let step = Self.step(list, items, products, &shares, lists, &generator)
                let expected = await perform(step, user, on: memory.storage)
                let response = await perform(step, user, on: catalog.storage)
                #expect(response == expected, "\(number): \(user) \(step)")
                answers[String(expected.prefix { $0 != " " && $0 != "(" }), default: 0] += 1
                if number % 20 == 19 || response != expected {
                    for user in Self.users {
                        let (a, b) = (
                            try await state(user, of: memory.storage), try await state(user, of: catalog.storage)
                        )
                        #expect(a == b, "after \(number)")
                        guard a == b else { return }
                    }
                }
                items.shuffle(using: &generator)
            }
            // Most steps had an effect.
            #expect(answers.count > 5, "\(answers)")
            #expect((answers["notFound"] ?? 0) < 180, "\(answers)")
        }
    }

    static func step(
        _ list: UniqueID,
        _ items: [UniqueID],
        _ products: [Product],
        _ shares: inout [(UniqueID, ListShare, [UInt8])],
        _ lists: [UniqueID],
        _ generator: inout SeededGenerator
    ) -> Step {
        let texts = ["Milk", "milk", "Ёжик", "2 dl Cream", "10 dl Cream", "Zebra"]
        func bool() -> Bool { Bool.random(using: &generator) }
        switch Int.random(in: 0..<25, using: &generator) {
        case 0..<3:
            return .create(
                NewList(
                    id: list,
                    name: texts.randomElement(using: &generator)!,
                    autoSort: bool() ? nil : bool(),
                    sort: ListItemSort.allCases.randomElement(using: &generator)!
                )
            )
        case 3..<9:
            let count = Int.random(in: 1...3, using: &generator)
            let new = items.prefix(count).map { id in
                let product = bool() ? products.randomElement(using: &generator) : nil
                return NewListItem(
                    id: id,
                    product: product.map { ProductReference(shop, $0.sku) },
                    text: product == nil || bool() ? texts.randomElement(using: &generator)! : nil,
                    quantity: ExactDecimal(Int128(count)),
                    isChecked: Int.random(in: 0..<4, using: &generator) == 0
                )
            }
            return .edit(list, .add(new))
        case 9..<15:
            let ago = Int64.random(in: -5...5, using: &generator) * 1_000_000
            let change = ListItemChange(
                items[0],
                text: bool() ? nil : texts.randomElement(using: &generator)!,
                quantity: bool() ? nil : ExactDecimal(Int128.random(in: 1...9, using: &generator), scale: 1),
                note: bool() ? nil : bool() ? .some(nil) : "note",
                isChecked: bool() ? nil : bool(),
                isDeleted: Int.random(in: 0..<5, using: &generator) > 0 ? nil : bool(),
                modifiedAt: bool() ? nil : Timestamp(microseconds: 1_700_000_000_000_000 + ago)
            )
            return .edit(list, .change([change]))
        case 15..<18:
            let moved = items.prefix(Int.random(in: 1...2, using: &generator)).map(\.text)
            let target: OrderMove.Target =
                bool() ? .first : bool() ? .after(items[3].text) : .position(Int.random(in: 0...4, using: &generator))
            return .edit(list, .move([OrderMove(moved, target)]))
        case 18:
            return .edit(
                list,
                .set(
                    ListSettings(
                        name: bool() ? nil : texts.randomElement(using: &generator)!,
                        autoSort: bool() ? nil : bool(),
                        sort: ListItemSort.allCases.randomElement(using: &generator)!,
                        isDeleted: Int.random(in: 0..<3, using: &generator) == 0 ? false : nil
                    )
                )
            )
        case 19: return .remove(list)
        case 20: return .move([OrderMove([list.text], bool() ? .first : .after(lists[0].text))])
        case 21:
            let moment = Timestamp.now()
            let share = ListShare(
                id: .random(),
                role: bool() ? .editor : .reader,
                createdAt: moment,
                expiresAt: Timestamp(microseconds: moment.microseconds + 60_000_000)
            )
            shares.append((list, share, [UInt8].random(32)))
            return .share(list, share, shares.last!.2)
        case 22 where Int.random(in: 0..<3, using: &generator) == 0: return bool() ? .erase : .merge
        case 22, 24:
            guard let known = shares.randomElement(using: &generator) else { return .remove(list) }
            return .revoke(known.1.id, known.0)
        default:
            guard let known = shares.randomElement(using: &generator) else { return .join([UInt8].random(32)) }
            return .join(known.2)
        }
    }

    @Test("An item that changes keeps its creation time")
    func creationTimes() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let (ann, list, item) = (Self.users[0], NewList(name: "Week"), NewListItem(text: "Milk"))
            _ = try await catalog.lists.createList(list, of: ann, once: nil)
            func edit(_ edit: ListEdit) async throws -> ListItem {
                _ = try await catalog.lists.editList(list.id, of: ann, edit, expected: nil, once: nil)
                return try #require(try await catalog.lists.list(list.id, of: ann, by: nil).0.list.items.first)
            }
            let created = try await edit(.add([item])).createdAt
            let earlier = created.adding(days: -1)
            try await catalog.database.writes.perform {
                try $0.run(
                    script: """
                        UPDATE user_list_item
                        SET created_at = timestamptz 'epoch' + \(earlier.microseconds) * interval '1 microsecond'
                        WHERE user_id = '\(ann.text)'
                        """
                )
            }
            let changed = try await edit(.change([ListItemChange(item.id, isChecked: true)]))
            #expect(changed.createdAt == earlier && changed.modifiedAt >= created)
        }
    }

    @Test("Concurrent edits of one list are all kept")
    func concurrentEditsAreKept() async throws {
        try await withBoth { _, catalog in
            let (ann, bob) = (Self.users[0], Self.users[1])
            let list = NewList(name: "Together")
            _ = try await catalog.lists.createList(list, of: ann, once: nil)
            let now = Timestamp.now()
            let share = ListShare(
                id: .random(),
                role: .editor,
                createdAt: now,
                expiresAt: Timestamp(microseconds: now.microseconds + 60_000_000)
            )
            _ = try await catalog.lists.share(
                list.id,
                of: ann,
                share,
                digest: Array(repeating: 7, count: 32),
                once: nil
            )
            _ = try await catalog.lists.join(Array(repeating: 7, count: 32), of: bob, once: nil)
            let before = try await catalog.lists.list(list.id, of: bob, by: nil).0.list
            var starts: [Int64] = []
            for user in [ann, bob] {
                starts.append(try await catalog.lists.lists(of: user, by: nil, since: nil).revision)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        for number in 0..<15 {
                            let user = writer % 2 == 0 ? ann : bob
                            let item = NewListItem(text: "\(writer)-\(number)")
                            for edit in [
                                ListEdit.add([item]), .change([ListItemChange(item.id, isChecked: number % 2 == 0)]),
                                .move([OrderMove([item.id.text], .first)]),
                            ] {
                                _ = try await catalog.lists.editList(list.id, of: user, edit, expected: nil, once: nil)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let (held, _) = try await catalog.lists.list(list.id, of: bob, by: nil)
            #expect(held.list.currentItems.count == 120)
            #expect(Set(held.list.items.map(\.key)).count == 120)
            #expect(held.list.currentItems.count(where: \.isChecked) == 8 * 8)
            // Each change creates one version and one event per user, and each event names the previous version.
            for (user, start) in [(ann, starts[0]), (bob, starts[1])] {
                var (since, versions) = (start, [before.version])
                while true {
                    let page = try await catalog.versions.changes(of: user, since: since, limit: 50)
                    #expect(!page.isResync)
                    for event in page.events {
                        let json = try JSONReader.parse(event.data)
                        #expect(json["diff"]?["from_version"]?.text == "\(versions.last!)")
                        versions.append(try #require(Int64(json["version"]?.text ?? "")))
                    }
                    since = page.revision
                    if page.events.count < 50 { break }
                }
                #expect(versions.count >= 1 + 120 + 64)
                #expect(versions.last == held.list.version)
            }
        }
    }

    @Test("Events of a list have consecutive revisions")
    func eventsAreConsecutive() async throws {
        try await withBoth { memory, catalog in
            for store in [memory.storage, catalog.storage] as [CatalogStorage] {
                let ann = Self.users[0]
                let list = NewList(name: "L")
                _ = try await store.lists.createList(list, of: ann, once: nil)
                let start = try await store.lists.lists(of: ann, by: nil, since: nil).revision
                let edit = SettingsEdit([.init(SettingKey("x")!, .bool(true))])
                var revisions: [Int64] = []
                for number in 0..<5 {
                    _ = try await store.lists.editList(
                        list.id,
                        of: ann,
                        .add([.init(text: "\(number)")]),
                        expected: nil,
                        once: nil
                    )
                    if number == 2 { _ = try await store.settings.edit(edit, of: ann) }
                    revisions.append(try await store.lists.lists(of: ann, by: nil, since: nil).revision)
                }
                let all = try await store.versions.changes(of: ann, since: start, limit: 100)
                #expect(all.events.map(\.name) == [.list, .list, .list, .setting, .list, .list])
                #expect(!all.isResync)
                #expect(all.events.map(\.id) == all.events.map(\.id).sorted())
                #expect(all.revision == revisions.last)
                // Read in pages, they are the same.
                var (since, pieces) = (start, [LiveEvent]())
                while true {
                    let page = try await store.versions.changes(of: ann, since: since, limit: 2)
                    pieces += page.events
                    since = page.revision
                    if page.events.count < 2 { break }
                }
                #expect(pieces == all.events)
                #expect(try await store.versions.changes(of: ann, since: 1, limit: 9).isResync)
            }
        }
    }

    @Test("Deleted lists and items are swept after the retention time")
    func sweepsDeletedListsAndItems() async throws {
        try await withBoth { _, catalog in
            let ann = Self.users[0]
            let (kept, gone) = (NewList(name: "kept"), NewList(name: "gone"))
            let item = NewListItem(text: "x")
            for list in [kept, gone] {
                _ = try await catalog.lists.createList(list, of: ann, once: nil)
            }
            for edit in [ListEdit.add([item]), .change([ListItemChange(item.id, isDeleted: true)])] {
                _ = try await catalog.lists.editList(kept.id, of: ann, edit, expected: nil, once: nil)
            }
            try await catalog.lists.removeList(gone.id, of: ann, expected: nil)
            // Too early: they can still be restored.
            while try await catalog.sweepLists() > 0 {}
            #expect(try await catalog.lists.list(kept.id, of: ann, by: nil).0.list.items.count == 1)
            #expect(try await catalog.lists.lists(of: ann, by: nil, since: 0).entries.count == 2)
            while try await catalog.sweepLists(after: 0) > 0 {}
            #expect(try await catalog.lists.list(kept.id, of: ann, by: nil).0.list.items.isEmpty)
            #expect(try await catalog.lists.lists(of: ann, by: nil, since: 0).entries.count == 1)
        }
    }
}
