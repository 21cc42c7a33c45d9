import Catalog
import CatalogJSON
import JSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// How long rows are kept: a minute, a day or one row before each limit, and after it. Times are changed in the database.
@Suite(.timeLimit(.minutes(15))) struct RetentionEdgeTests {
    private static let shop = CatalogKey("shop")!
    private static let shelf = CatalogKey("shelf")!
    private static let ann = UserID("ann")!
    private static let bob = UserID("bob")!
    private static let hour: Int64 = 3600
    private static let day: Int64 = 86_400

    /// Sets a time column of rows to an age in seconds.
    private static func age(
        _ table: SQL,
        _ column: SQL,
        _ seconds: Int64,
        _ catalog: PostgresCatalog,
        where condition: SQL = "true"
    ) async throws {
        let statement: PostgresStatement = """
            UPDATE \(table) SET \(column) = now() - $1::bigint * interval '1 second' WHERE \(condition)
            """
        let changed = try await catalog.database.writes.perform { try $0.execute(statement, [.int8(seconds)]) }
        try #require(changed > 0, "no row of \(table.text)")
    }

    private static func count(_ rows: SQL, _ catalog: PostgresCatalog) async throws -> Int {
        let statement: PostgresStatement = "SELECT count(*) FROM \(rows)"
        return try await catalog.database.writes.perform {
            try $0.query(statement) { try $0.first { try $0.int(0) } ?? 0 }
        }
    }

    private static func createShelf(_ catalog: PostgresCatalog, _ ids: [String] = ["a", "b", "c"]) async throws {
        _ = try await catalog.shelves.put(Store(key: shop, title: "Shop", currency: Currency("EUR")!))
        _ = try await catalog.shelves.put(Shelf(key: shelf, title: "Shelf"), in: shop)
        for id in ids {
            _ = try await catalog.products.put(Product(sku: SKU(id)!, name: id), in: shop)
            _ = try await catalog.products.place(SKU(id)!, on: shelf, in: shop)
        }
    }

    // MARK: - Recorded responses

    @Test("A recorded response of a store is returned for 24 hours, is then replaced, and is swept")
    func responsesOfStores() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.createShelf(catalog)
            func response(_ text: String) -> RecordedResponse { RecordedResponse(body: Array(text.utf8)) }
            func found(_ store: CatalogKey?) async throws -> String? {
                let first = try await catalog.responses.firstResponse("k", in: store)
                return first.map { String(decoding: $0.response.body, as: UTF8.self) }
            }
            for store in [Self.shop, nil] as [CatalogKey?] {
                let call = IdempotentCall<RecordedResponse>(key: "k", fingerprint: [1])
                try await catalog.responses.record(response("first"), of: call, in: store)
                try await Self.age("idempotency_record", "created_at", 24 * Self.hour - 60, catalog)
                #expect(try await found(store) == "first")
                try await catalog.responses.record(response("second"), of: call, in: store)
                #expect(try await found(store) == "first")
                #expect(try await catalog.sweepResponses() == 0)
                try await Self.age("idempotency_record", "created_at", 24 * Self.hour + 60, catalog)
                #expect(try await found(store) == nil)
                try await catalog.responses.record(response("third"), of: call, in: store)
                #expect(try await found(store) == "third")
                #expect(try await catalog.sweepResponses() == 0)
                try await Self.age("idempotency_record", "created_at", 24 * Self.hour + 60, catalog)
                #expect(try await catalog.sweepResponses() == 1)
                #expect(try await Self.count("idempotency_record", catalog) == 0)
            }
        }
    }

    @Test("A key of a user's own writes is used up for 24 hours, and then works like a new one")
    func responsesOfUsers() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            func create(_ name: String, _ fingerprint: UInt8) async throws {
                let call = IdempotentCall<ListDocument>(key: "k", fingerprint: [fingerprint])
                _ = try await catalog.lists.createList(NewList(name: name), of: Self.ann, once: call)
            }
            func names() async throws -> [String] {
                let page = try await catalog.lists.lists(of: Self.ann, by: .name, since: nil)
                return page.entries.map(\.membership.list.name)
            }
            try await create("a", 1)
            try await Self.age("user_idempotency_record", "created_at", 24 * Self.hour - 60, catalog)
            try await create("b", 1)
            await #expect(throws: CatalogError.keyReused) { try await create("b", 2) }
            #expect(try await names() == ["a"])
            #expect(try await catalog.sweepResponses() == 0)
            try await Self.age("user_idempotency_record", "created_at", 24 * Self.hour + 60, catalog)
            // The key belongs to the new request now, for another day.
            try await create("b", 2)
            #expect(try await names() == ["a", "b"])
            try await create("c", 2)
            await #expect(throws: CatalogError.keyReused) { try await create("a", 1) }
            #expect(try await names() == ["a", "b"])
            #expect(try await catalog.sweepResponses() == 0)
            try await Self.age("user_idempotency_record", "created_at", 24 * Self.hour + 60, catalog)
            #expect(try await catalog.sweepResponses() == 1)
        }
    }

    // MARK: - Deletion markers

    @Test("Deletion markers of settings are kept for 90 days, those of each user and key by their own age")
    func settingMarkers() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            func put(_ key: String, _ value: String?, of user: UserID) async throws -> Int64 {
                let edit = SettingsEdit([.init(SettingKey(key)!, value.map { .string($0) })])
                return try #require(try await catalog.settings.edit(edit, of: user).first).setting.revision
            }
            func keys(_ user: UserID, since revision: Int64) async throws -> [String] {
                let page = try await catalog.settings.settings(of: user, since: revision, limit: nil)
                return page.isResync ? ["resync"] : page.settings.map(\.key.text)
            }
            var seen: [UserID: Int64] = [:]
            for user in [Self.ann, Self.bob] {
                for key in ["old", "new", "stays"] { seen[user] = try await put(key, "x", of: user) }
                for key in ["old", "new"] { _ = try await put(key, nil, of: user) }
            }
            let inside = 90 * Self.day - 60
            try await Self.age("user_setting", "deleted_at", inside, catalog, where: "deleted_at IS NOT NULL")
            #expect(try await catalog.sweepUsers() == 0)
            for user in [Self.ann, Self.bob] {
                #expect(try await keys(user, since: seen[user]!) == ["old", "new"])
            }
            let condition: SQL = "user_id = 'ann' AND key = 'old'"
            try await Self.age("user_setting", "deleted_at", 90 * Self.day + 60, catalog, where: condition)
            #expect(try await catalog.sweepUsers() == 1)
            // Only a device that misses the purged marker must resync.
            #expect(try await keys(Self.ann, since: seen[Self.ann]!) == ["resync"])
            #expect(try await keys(Self.bob, since: seen[Self.bob]!) == ["old", "new"])
            #expect(try await Self.count("user_setting WHERE deleted_at IS NOT NULL", catalog) == 3)
            #expect(try await Self.count("user_setting WHERE deleted_at IS NULL", catalog) == 2)
        }
    }

    /// Creates a deleted list, a list with a deleted item, and one that a member left, with an expired share.
    private static func createLists(_ catalog: PostgresCatalog) async throws {
        let lists = (deleted: NewList(name: "deleted"), kept: NewList(name: "kept"), shared: NewList(name: "shared"))
        for list in [lists.deleted, lists.kept, lists.shared] {
            _ = try await catalog.lists.createList(list, of: ann, once: nil)
        }
        let items = [NewListItem(text: "x"), NewListItem(text: "y")]
        for edit in [ListEdit.add(items), .change([ListItemChange(items[0].id, isDeleted: true)])] {
            _ = try await catalog.lists.editList(lists.kept.id, of: ann, edit, expected: nil, once: nil)
        }
        try await catalog.lists.removeList(lists.deleted.id, of: ann, expected: nil)
        for (number, user) in [(1, bob), (2, nil)] as [(UInt8, UserID?)] {
            let (now, digest) = (Timestamp.now(), [UInt8](repeating: number, count: 32))
            let end = Timestamp(microseconds: now.microseconds + 3_600_000_000)
            let share = ListShare(id: .random(), role: .reader, createdAt: now, expiresAt: end)
            _ = try await catalog.lists.share(lists.shared.id, of: ann, share, digest: digest, once: nil)
            if let user { _ = try await catalog.lists.join(digest, of: user, once: nil) }
        }
        try await catalog.lists.removeList(lists.shared.id, of: bob, expected: nil)
    }

    @Test("Deleted lists and items, departures, events and expired shares are kept for 30 days, each by its own age")
    func listMarkers() async throws {
        let kinds: [(table: SQL, column: SQL, condition: SQL)] = [
            ("user_list", "deleted_at", "deleted_at IS NOT NULL"),
            ("user_list_item", "deleted_at", "deleted_at IS NOT NULL"),
            ("user_list_place", "left_at", "left_at IS NOT NULL"),
            ("user_list_member", "left_at", "left_at IS NOT NULL"),
            ("user_list_share", "expires_at", "true"),
            ("user_event", "created_at", "user_id = 'ann'"),
        ]
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.createLists(catalog)
            func counts() async throws -> [Int] {
                var counts: [Int] = []
                for kind in kinds {
                    counts.append(try await Self.count("\(kind.table) WHERE \(kind.condition)", catalog))
                }
                return counts
            }
            var expected = try await counts()
            #expect(expected.allSatisfy { $0 > 0 }, "\(expected)")
            for kind in kinds {
                try await Self.age(
                    kind.table,
                    kind.column,
                    30 * Self.day - 60,
                    catalog,
                    where: kind.condition
                )
            }
            while try await catalog.sweepLists() > 0 {}
            #expect(try await counts() == expected)
            // The events come last: a purged list takes its own with it.
            for (index, kind) in kinds.enumerated() {
                try await Self.age(
                    kind.table,
                    kind.column,
                    30 * Self.day + 60,
                    catalog,
                    where: kind.condition
                )
                while try await catalog.sweepLists() > 0 {}
                expected[index] = 0
                #expect(try await counts() == expected, "\(kind.table.text)")
            }
            // Two lists, an item, and the places of their owner are left.
            #expect(try await Self.count("user_list", catalog) == 2)
            #expect(try await Self.count("user_list_item", catalog) == 1)
            #expect(try await Self.count("user_list_place", catalog) == 2)
        }
    }

    @Test("A device that missed purged events must resync, and one that read them does not")
    func purgedEventsRequireResync() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var revisions: [Int64] = []
            for name in ["a", "b", "c"] {
                _ = try await catalog.lists.createList(NewList(name: name), of: Self.ann, once: nil)
                revisions.append(try await catalog.lists.lists(of: Self.ann, by: nil, since: nil).revision)
            }
            let condition = SQL(unchecked: "revision <= \(revisions[1])")
            try await Self.age("user_event", "created_at", 30 * Self.day + 60, catalog, where: condition)
            while try await catalog.sweepLists() > 0 {}
            let missed = try await catalog.versions.changes(of: Self.ann, since: revisions[0], limit: 10)
            #expect(missed.isResync)
            let knew = try await catalog.versions.changes(of: Self.ann, since: revisions[1], limit: 10)
            #expect(!knew.isResync)
            #expect(knew.events.map(\.id) == [revisions[2]])
        }
    }

    @Test("A user's last 1,000 events are kept, and a device that missed a trimmed one must resync")
    func eventRing() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.lists.createList(NewList(name: "a"), of: Self.ann, once: nil)
            let start = try await catalog.lists.lists(of: Self.ann, by: nil, since: nil).revision
            func add(_ numbers: ClosedRange<Int64>) async throws {
                try await catalog.database.writes.perform { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO user_event (user_id, revision, data, created_at)
                        SELECT 'ann', $1::bigint + n, '{}', now() FROM generate_series($2::bigint, $3::bigint) n
                        """,
                        [.int8(start), .int8(numbers.lowerBound), .int8(numbers.upperBound)]
                    )
                    _ = try connection.execute(
                        "UPDATE user_account SET revision = $1 WHERE user_id = 'ann'",
                        [.int8(start + numbers.upperBound)]
                    )
                    // A trim happens at each 64th revision.
                    try ListWriter.trim([("ann", 64)], connection)
                }
            }
            func isResync(since number: Int64) async throws -> Bool {
                try await catalog.versions.changes(of: Self.ann, since: start + number, limit: 10).isResync
            }
            // With the event of the list, exactly as many as are kept.
            try await add(1...999)
            #expect(try await Self.count("user_event", catalog) == 1000)
            #expect(try await !isResync(since: -1))
            try await add(1000...1001)
            #expect(try await Self.count("user_event", catalog) == 1000)
            #expect(try await isResync(since: 0))
            let page = try await catalog.versions.changes(of: Self.ann, since: start + 1, limit: 10)
            #expect(!page.isResync)
            #expect(page.events.first?.id == start + 2)
        }
    }

    // MARK: - Shares, tickets and tokens

    @Test("A share admits members until it expires, and an expired one leaves room for another")
    func shareExpiry() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let list = NewList(name: "a")
            _ = try await catalog.lists.createList(list, of: Self.ann, once: nil)
            func share(_ number: UInt8) async throws {
                let now = Timestamp.now()
                let end = Timestamp(microseconds: now.microseconds + 3_600_000_000)
                let share = ListShare(id: .random(), role: .reader, createdAt: now, expiresAt: end)
                let digest = [UInt8](repeating: number, count: 32)
                _ = try await catalog.lists.share(list.id, of: Self.ann, share, digest: digest, once: nil)
            }
            func join(_ number: UInt8, as user: UserID) async throws {
                _ = try await catalog.lists.join([UInt8](repeating: number, count: 32), of: user, once: nil)
            }
            for number in 1...20 as ClosedRange<UInt8> { try await share(number) }
            await #expect(throws: CatalogError.tooManyShares) { try await share(21) }
            let first: SQL = "digest = decode(repeat('01', 32), 'hex')"
            try await Self.age("user_list_share", "expires_at", -60, catalog, where: first)
            await #expect(throws: CatalogError.tooManyShares) { try await share(21) }
            try await join(1, as: Self.bob)
            try await Self.age("user_list_share", "expires_at", 60, catalog, where: first)
            await #expect(throws: CatalogError.notFound("share")) { try await join(1, as: UserID("eve")!) }
            // Members stay.
            #expect(try await catalog.lists.list(list.id, of: Self.bob, by: nil).0.role == .reader)
            try await share(21)
            await #expect(throws: CatalogError.tooManyShares) { try await share(22) }
        }
    }

    @Test("A ticket is redeemed until it expires, and expired tickets and tokens alone are swept")
    func ticketExpiry() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            func digest(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }
            for number in 1...4 as ClosedRange<UInt8> {
                let end = Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000)
                let ticket = Ticket(user: Self.ann, digest: digest(number), expiresAt: end, tokenExpiresAt: end)
                _ = try await catalog.users.saveTicket(ticket, id: .random(), once: nil)
            }
            let expired: SQL = "digest IN (decode(repeat('02', 32), 'hex'), decode(repeat('03', 32), 'hex'))"
            let current: SQL = "digest IN (decode(repeat('01', 32), 'hex'), decode(repeat('04', 32), 'hex'))"
            for table in ["user_ticket", "user_token"] as [SQL] {
                try await Self.age(table, "expires_at", 60, catalog, where: expired)
                try await Self.age(table, "expires_at", -60, catalog, where: current)
            }
            #expect(try await catalog.users.redeem(digest(1))?.user == Self.ann)
            #expect(try await catalog.users.redeem(digest(2)) == nil)
            // Tickets 3 and 4, and the tokens of all four.
            #expect(try await Self.count("user_ticket", catalog) == 2)
            #expect(try await catalog.sweepUsers() == 3)
            #expect(try await Self.count("user_ticket", catalog) == 1)
            #expect(try await Self.count("user_token", catalog) == 2)
            #expect(try await catalog.users.redeem(digest(4))?.user == Self.ann)
        }
    }

    // MARK: - Shelves

    @Test("Changes of shelves are kept for an hour")
    func shelfChanges() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for (seconds, kept) in [(Self.hour - 60, 1), (Self.hour + 60, 0)] {
                let version = Timestamp.now().microseconds - seconds * 1_000_000
                try await catalog.database.writes.perform { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO shelf_change (store_id, shelf_id, version, previous_version, skus)
                        VALUES (1, 1, $1, 1, '{}')
                        """,
                        [.int8(version)]
                    )
                }
                #expect(try await catalog.trimShelfChanges() == 1 - kept)
                #expect(try await Self.count("shelf_change", catalog) == 1)
            }
        }
    }

    @Test("Fifty of sixty changes can be undone, and the history has the last 100")
    func undoLimit() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.createShelf(catalog)
            var orders: [[String]] = [try await Self.order(catalog)]
            for number in 1...60 {
                try await Self.edit(catalog, .moves([OrderMove([["c", "b", "a"][number % 3]], .first)]))
                orders.append(try await Self.order(catalog))
            }
            for number in 1...50 {
                try await Self.edit(catalog, .undo(change: nil))
                #expect(try await Self.order(catalog) == orders[60 - number], "undo \(number)")
            }
            await #expect(throws: CatalogError.self) { try await Self.edit(catalog, .undo(change: nil)) }
            #expect(try await Self.order(catalog) == orders[10])
            let history = try await catalog.manualOrder.orderHistory(Self.shop, Self.shelf)
            #expect(history.map(\.number) == (11...110).reversed().map { Int64($0) })
        }
    }

    @Test("A change that takes the place of an undone one in the history can be undone")
    func undoneSlotsAreReused() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.createShelf(catalog)
            func move(_ number: Int) async throws {
                try await Self.edit(catalog, .moves([OrderMove([["c", "b", "a"][number % 3]], .first)]))
            }
            for number in 1...3 { try await move(number) }
            // Change 4 marks change 3 as undone; change 103 takes its place.
            try await Self.edit(catalog, .undo(change: nil))
            var before: [String] = []
            // The moves continue the cycle that the undo has interrupted, so that each changes the order.
            for number in 3...101 {
                before = try await Self.order(catalog)
                try await move(number)
            }
            let history = try await catalog.manualOrder.orderHistory(Self.shop, Self.shelf)
            #expect(history.map(\.number) == (4...103).reversed().map { Int64($0) })
            #expect(history.allSatisfy { $0.undoneBy == nil })
            try await Self.edit(catalog, .undo(change: nil))
            #expect(try await Self.order(catalog) == before)
            let latest = try #require(try await catalog.manualOrder.orderHistory(Self.shop, Self.shelf).first)
            #expect(latest.undoes == 103)
        }
    }

    private static func order(_ catalog: PostgresCatalog) async throws -> [String] {
        try await catalog.pages.order(shop, shelf, .position).ids
    }

    private static func edit(_ catalog: PostgresCatalog, _ edit: ManualOrderEdit) async throws {
        let request = OrderEditRequest(store: shop, shelf: shelf, edit: edit)
        _ = try await catalog.manualOrder.editOrder(request, once: nil)
    }

    // MARK: - Purchases

    @Test("Purchases of the first kept day stay as they are, and those of the day before are anonymized and refused")
    func purchaseRetention() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.createShelf(catalog)
            let today = Timestamp.now().day
            func purchase(_ event: String, _ sku: String, daysAgo: Int) -> Purchase {
                // The last moment of the older day, and the first of the later one.
                let start = Int64(today - daysAgo) * 86_400_000_000
                let time = Timestamp(microseconds: daysAgo == 11 ? start + 86_399_999_999 : start)
                return Purchase(eventID: event, sku: SKU(sku)!, quantity: 1, at: time, customer: "ann")
            }
            let (old, kept) = (purchase("old", "a", daysAgo: 11), purchase("kept", "a", daysAgo: 10))
            let strays = [purchase("old stray", "x", daysAgo: 11), purchase("kept stray", "x", daysAgo: 10)]
            _ = try await catalog.purchases.add([old, kept] + strays, to: Self.shop)
            _ = try await PurchaseFold(catalog).run()
            let book = PurchaseBook(catalog)
            // The counts of days that customers have, event ids, and purchases without a product.
            func rows() async throws -> [Int] {
                [
                    try await Self.count("purchase_by_customer", catalog),
                    try await Self.count("purchase_event", catalog), try await Self.count("purchase_stray", catalog),
                    try await Self.count("purchase_count WHERE count <> 0", catalog),
                ]
            }
            #expect(try await book.applyRetention(Self.shop, olderThan: 11, day: today) == 0)
            #expect(try await rows() == [2, 4, 2, 2])
            #expect(try await book.applyRetention(Self.shop, olderThan: 10, day: today) == 4)
            #expect(try await rows() == [1, 2, 1, 2])
            let outcome = try await catalog.purchases.add([old, kept], to: Self.shop)
            #expect((outcome.tooOld, outcome.repeated, outcome.accepted) == (1, 1, 0))
            // A shorter retention afterwards does not accept them again.
            #expect(try await book.applyRetention(Self.shop, olderThan: 400, day: today) == 0)
            #expect(try await catalog.purchases.add([old], to: Self.shop).tooOld == 1)
        }
    }

    // MARK: - Re-sort

    @Test("A re-sort of changed shelves takes those that changed at its time, that were moved, or that sold something")
    func changedSince() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            let keys = (plain: CatalogKey("plain")!, sorted: CatalogKey("sorted")!, sold: CatalogKey("sold")!)
            let sources: [(CatalogKey, Sort?)] = [
                (keys.plain, nil), (keys.sorted, Sort(.price, .ascending)), (keys.sold, nil),
            ]
            for (key, source) in sources {
                _ = try await catalog.shelves.put(Shelf(key: key, title: "X", positionSource: source), in: Self.shop)
                for number in 1...3 {
                    let sku = SKU("\(key)-\(number)")!
                    let product = Product(sku: sku, name: sku.text, priceMinor: Int64(number))
                    _ = try await catalog.products.put(product, in: Self.shop)
                    _ = try await catalog.products.place(sku, on: key, in: Self.shop)
                }
            }
            func resort(since: Timestamp?) async throws -> ResortSummary {
                try await Resorter(catalog).run(ResortRequest(store: Self.shop, changedSince: since))
            }
            func state(_ key: CatalogKey) async throws -> ShelfState {
                try await catalog.shelves.shelf(Self.shop, key).state
            }
            _ = try await resort(since: nil)
            #expect(try await resort(since: nil).shelves == 0)

            // A change at the given time counts, and one before does not.
            var product = try await catalog.products.product(Self.shop, SKU("plain-1")!).product
            product.name = "Changed"
            _ = try await catalog.products.put(product, in: Self.shop)
            let changedAt = try await state(keys.plain).modifiedAt
            #expect(try await resort(since: Timestamp(microseconds: changedAt.microseconds + 1)).shelves == 0)
            #expect(try await resort(since: changedAt).shelves == 1)
            #expect(try await resort(since: nil).shelves == 0)

            // A move leaves the time of the change alone, but a sorted shelf is rebuilt.
            let later = Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000)
            for key in [keys.plain, keys.sorted] {
                let move = ManualOrderEdit.moves([OrderMove(["\(key)-3"], .first)])
                let request = OrderEditRequest(store: Self.shop, shelf: key, edit: move)
                _ = try await catalog.manualOrder.editOrder(request, once: nil)
            }
            #expect(try await resort(since: later).shelves == 1)
            let rebuilt = try await catalog.pages.order(Self.shop, keys.sorted, .position).ids
            #expect(rebuilt == ["sorted-1", "sorted-2", "sorted-3"])

            // A purchase changes no shelf until it is counted.
            let purchase = Purchase(eventID: "1", sku: SKU("sold-2")!, quantity: 1, at: .now(), customer: nil)
            _ = try await catalog.purchases.add([purchase], to: Self.shop)
            let sold = try await resort(since: later)
            #expect((sold.shelves, sold.changed) == (1, 1))
        }
    }
}
