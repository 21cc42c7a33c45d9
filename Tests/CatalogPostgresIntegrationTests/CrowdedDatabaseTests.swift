import Catalog
import CatalogJSON
import JSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Operations on one store and its users, in a database that others share.
///
/// The others have the same keys, SKUs and ids with other values, so every condition on a store or a user matters. The tables are those
/// of the schema.
@Suite(.timeLimit(.minutes(15))) struct CrowdedDatabaseTests {
    /// A store and its users.
    private struct Tenant: Sendable {
        let shop: CatalogKey
        let owner: UserID
        let member: UserID
        let guest: UserID
        /// Makes the values of tenants different.
        let number: Int

        init(_ name: String, _ number: Int) {
            shop = CatalogKey(name)!
            owner = UserID("\(name) owner")!
            member = UserID("\(name) member")!
            guest = UserID("guest:\(name)")!
            self.number = number
        }

        var users: [String] { [owner, member, guest].map(\.text) }
        var digest: [UInt8] { [UInt8](repeating: UInt8(number + 1), count: 32) }
        var ticket: [UInt8] { [UInt8](repeating: UInt8(number + 101), count: 32) }
    }

    private static let tenant = Tenant("shop", 0)
    /// Their names and ids are before and after those of the tenant.
    private static let others = [Tenant("another", 3), Tenant("zoo", 5)]
    private static let (dairy, cheese, bakery) = (CatalogKey("dairy")!, CatalogKey("cheese")!, CatalogKey("bakery")!)
    private static let extra = CatalogKey("extra")!
    private static let shelves = [dairy, cheese, bakery]
    private static let skus = (0..<8).map { SKU("p\($0)")! }
    private static let ids = (1...8).map { UniqueID("018f0000-0000-7000-8000-00000000000\($0)")! }
    private static let (list, deletedList, share) = (ids[0], ids[1], ids[2])
    private static let (productItem, textItem, deletedItem) = (ids[3], ids[4], ids[5])

    // MARK: - Data

    private static func purchase(_ number: Int, _ tenant: Tenant) -> Purchase {
        Purchase(
            eventID: "00000000-0000-4000-8000-00000000000\(number)",
            sku: skus[(number * 3 + tenant.number) % 8],
            quantity: 1,
            at: .now(),
            customer: number % 2 == 0 ? nil : tenant.owner.text
        )
    }

    private static let rating = AttributeName("rating")!

    private static func key(_ text: String) -> SettingKey { SettingKey(text)! }

    private static func set(_ text: String, _ value: JSONValue?, of user: UserID, _ catalog: CatalogStorage)
        async throws
    {
        _ = try await catalog.settings.edit(SettingsEdit([.init(key(text), value)]), of: user)
    }

    /// Fills every feature with data of a tenant.
    ///
    /// - Parameter deletes: whether to add things of every kind and delete them again.
    private static func fill(_ tenant: Tenant, deletes: Bool, _ catalog: CatalogStorage) async throws {
        let (shop, number) = (tenant.shop, tenant.number)
        _ = try await catalog.shelves.put(Store(key: shop, title: "Store \(number)", currency: Currency("EUR")!))
        for shelf in shelves {
            let parent = shelf == cheese ? dairy : nil
            // The import finds the tenant's shelves by their titles.
            let title = number == 0 ? shelf.text : "\(shelf) \(number)"
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: title, parent: parent), in: shop)
        }
        for (index, sku) in skus.enumerated() {
            let unit: MeasureUnit = index % 3 == 1 ? .g : .ml
            let measured = try Size(amount: ExactDecimal(Int128(100 + index * 37 % 50)), unit: unit)
            let product = Product(
                sku: sku,
                name: "N\((index * 5 + number) % 8)",
                brand: "B\((index + number) % 3)",
                priceMinor: Int64((index + number) * 31 % 17 + 1),
                size: index % 3 == 0 ? nil : measured,
                inStock: (index + number) % 4 > 0,
                tags: (index + number) % 2 == 0 ? ["t\(number % 2)"] : []
            )
            _ = try await catalog.products.put(product, in: shop)
        }
        for title in ["Rating", "Stars"].prefix(number + 1) {
            let declaration = #"{"type":"number","decimals":1,"title":{"en":"\#(title)"}}"#
            _ = try await catalog.attributes.declare(
                AttributeDeclaration(name: rating, text: Array(declaration.utf8)),
                for: DeclarationOwner.store(shop)
            )
        }
        let synonyms = try Synonyms(groups: [["milk \(number)", "dairy"]], oneWay: [])
        _ = try await catalog.synonyms.set(synonyms, for: DeclarationOwner.store(shop))
        if deletes { try await deleteThings(of: tenant, catalog) }
        for index in 0..<8 {
            let sku = skus[(index * 3 + number) % 8]
            for shelf in shelves where shelf == bakery || (index + number) % 2 == (shelf == dairy ? 0 : 1) {
                _ = try await catalog.products.place(sku, on: shelf, in: shop)
            }
        }
        let moves = ManualOrderEdit.moves([OrderMove([skus[(number + 4) % 8].text], .first)])
        let request = OrderEditRequest(store: shop, shelf: bakery, edit: moves, subject: tenant.owner.text)
        _ = try await catalog.manualOrder.editOrder(
            request,
            once: IdempotentCall(key: "first", fingerprint: [UInt8(number)])
        )
        _ = try await catalog.purchases.add((0..<6).map { purchase($0, tenant) }, to: shop)
        for user in [tenant.owner, tenant.member, tenant.guest] {
            try await set("theme", .string("theme \(number) \(user)"), of: user, catalog)
        }
        try await set(
            "stores/shop/shelves/dairy/sort",
            .string(number == 0 ? "price" : "-name"),
            of: tenant.owner,
            catalog
        )
        try await fillLists(of: tenant, deletes: deletes, catalog)
    }

    private static func deleteThings(of tenant: Tenant, _ catalog: CatalogStorage) async throws {
        let (shop, gone) = (tenant.shop, SKU("px")!)
        _ = try await catalog.shelves.put(
            Shelf(key: extra, title: "Extra", defaultSort: Sort(.name, .ascending)),
            in: shop
        )
        _ = try await catalog.products.put(Product(sku: gone, name: "N0", priceMinor: 1), in: shop)
        for shelf in [extra, bakery] { _ = try await catalog.products.place(gone, on: shelf, in: shop) }
        _ = try await catalog.products.place(skus[0], on: extra, in: shop)
        let moves = ManualOrderEdit.moves([OrderMove([skus[0].text], .first)])
        try await catalog.manualOrder.editOrder(OrderEditRequest(store: shop, shelf: extra, edit: moves))
        try await catalog.products.remove(product: gone, from: shop)
        try await catalog.shelves.remove(shelf: extra, from: shop)
        try await set("gone", .bool(true), of: tenant.owner, catalog)
        try await set("gone", nil, of: tenant.owner, catalog)
        _ = try await catalog.lists.createList(NewList(id: deletedList, name: "Gone"), of: tenant.owner, once: nil)
        let item = NewListItem(id: productItem, text: "Of the deleted list")
        _ = try await catalog.lists.editList(deletedList, of: tenant.owner, .add([item]), expected: nil, once: nil)
        try await catalog.lists.removeList(deletedList, of: tenant.owner, expected: nil)
    }

    private static func fillLists(of tenant: Tenant, deletes: Bool, _ catalog: CatalogStorage) async throws {
        let owner = tenant.owner
        _ = try await catalog.lists.createList(NewList(id: list, name: "Week \(tenant.number)"), of: owner, once: nil)
        let items = [
            NewListItem(id: productItem, product: ProductReference(tenant.shop, skus[1])),
            NewListItem(id: textItem, text: "Text \(tenant.number)"),
        ]
        _ = try await catalog.lists.editList(list, of: owner, .add(items), expected: nil, once: nil)
        let now = Timestamp.now()
        let expiry = Timestamp(microseconds: now.microseconds + 86_400_000_000)
        let open = ListShare(id: share, role: .editor, createdAt: now, expiresAt: expiry)
        _ = try await catalog.lists.share(list, of: owner, open, digest: tenant.digest, once: nil)
        _ = try await catalog.lists.join(tenant.digest, of: tenant.member, once: nil)
        guard deletes else { return }
        let item = NewListItem(id: deletedItem, text: "Deleted")
        _ = try await catalog.lists.editList(list, of: owner, .add([item]), expected: nil, once: nil)
        let deletion = ListEdit.change([ListItemChange(deletedItem, isChecked: true, isDeleted: true)])
        _ = try await catalog.lists.editList(list, of: owner, deletion, expected: nil, once: nil)
        _ = try await catalog.lists.join(tenant.digest, of: tenant.guest, once: nil)
        try await catalog.lists.removeList(list, of: tenant.guest, expected: nil)
    }

    // MARK: - Operations

    private typealias Step = (name: String, run: @Sendable (PostgresCatalog) async throws -> String)

    private static func orders(_ catalog: PostgresCatalog) async throws -> String {
        var text = ""
        for shelf in shelves {
            guard try await catalog.shelves.shelfIfExists(tenant.shop, shelf) != nil else { continue }
            for sort in Sort.allSingle {
                text += "\(shelf) \(sort): \(try await catalog.pages.order(tenant.shop, shelf, sort).ids)\n"
            }
        }
        return text
    }

    private static func lists(of user: UserID, _ catalog: PostgresCatalog) async throws -> String {
        var text = ""
        for entry in try await catalog.lists.lists(of: user, by: .manual, since: nil).entries {
            let list = entry.membership.list
            text += "\(list.name) \(entry.membership.role) \(entry.items) \(entry.checked)\n"
            for sort in ListItemSort.allCases {
                let (membership, facts) = try await catalog.lists.list(list.id, of: user, by: sort)
                let shown = membership.list.shown(facts, by: sort)
                text += "\(sort): \(shown.map { "\($0.id) \(facts.name(of: $0)) \($0.isChecked)" })\n"
            }
        }
        return text
    }

    private static func settings(of user: UserID, _ catalog: PostgresCatalog) async throws -> String {
        let settings = try await catalog.settings.settings(of: user, since: nil, limit: nil).settings
        return "\(settings.map { "\($0.key) \($0.value?.text ?? "none")" })"
    }

    private static func shelfList(_ sort: ShelfSort, _ catalog: PostgresCatalog) async throws -> String {
        let page = try await catalog.shelves.shelves(ShelvesRequest(store: tenant.shop, sort: sort))
        return "\(page.shelves.map { "\($0.shelf.key) \($0.shelf.title) \($0.productCount)" })"
    }

    private static let reads: [Step] = [
        ("orders", orders),
        (
            "pages with facets",
            { catalog in
                var text = ""
                for shelf in shelves {
                    guard try await catalog.shelves.shelfIfExists(tenant.shop, shelf) != nil else { continue }
                    var request = PageRequest(store: tenant.shop, shelf: shelf, facets: Set(Facet.allCases))
                    request.wantsTotal = true
                    request.includesDescendants = true
                    request.sort = Sort(.name, .ascending)
                    let page = try await catalog.pages.page(request)
                    let facets = try #require(page.facets)
                    text +=
                        "\(page.products.map(\.name)) \(page.total ?? -1) \(facets.brands) \(facets.tags) \(facets.prices)\n"
                }
                return text
            }
        ),
        (
            "attributes",
            { catalog in
                let declared = try await catalog.attributes.attributes(of: .store(tenant.shop))
                return "\(declared.attributes.map(\.definition))"
            }
        ),
        (
            "remembered sorts",
            { catalog in
                let sorts = try await catalog.settings.rememberedSorts(tenant.owner, tenant.shop, dairy)
                return "\(sorts.shelf.map { "\($0.sort)" } ?? "none")"
            }
        ),
        (
            "products",
            { catalog in
                let page = try await catalog.products.products(tenant.shop, after: nil, limit: 100)
                let first = try await catalog.products.product(tenant.shop, skus[0])
                let some = try await catalog.products.products(tenant.shop, [skus[1], skus[2]]).products
                let shelves = try await catalog.prices.shelves(of: [skus[0], skus[3]], in: tenant.shop)
                let known = try await catalog.known([skus[4], SKU("px")!], in: tenant.shop)
                return """
                    \(page.products.map { "\($0.sku) \($0.name) \($0.priceMinor ?? -1)" }) \(first.shelves.sorted())
                    \(some.map(\.name).sorted()) \(shelves) \(known)
                    """
            }
        ),
        ("shelves by position", { try await shelfList(.position, $0) }),
        ("shelves by name", { try await shelfList(.name, $0) }),
        ("shelves by modification", { try await shelfList(.modified, $0) }),
        ("lists of the owner", { try await lists(of: tenant.owner, $0) }),
        ("lists of the member", { try await lists(of: tenant.member, $0) }),
        ("lists of the guest", { try await lists(of: tenant.guest, $0) }),
        ("settings of the owner", { try await settings(of: tenant.owner, $0) }),
        (
            "shares",
            { catalog in
                let shares = try await catalog.lists.shares(list, of: tenant.owner)
                return "\(shares.map { "\($0.id) \($0.role) \($0.members)" })"
            }
        ),
        (
            "history of orders",
            { catalog in
                let history = try await catalog.manualOrder.orderHistory(tenant.shop, bakery)
                return "\(history.map { "\($0.kind) \($0.ids) \($0.subject ?? "nobody")" })"
            }
        ),
        (
            "export",
            { catalog in
                let export = try await catalog.users.export(tenant.owner)
                return """
                    \(export.settings.filter { !$0.isDeleted }.map(\.key)) \(export.purchases.map { "\($0.store) \($0.sku)" }.sorted())
                    \(export.orderChanges.map { "\($0.store) \($0.shelf) \($0.kind)" })
                    \(export.lists.filter { !$0.isDeleted }.map { "\($0.list.name) \($0.list.currentItems.map(\.id).sorted())" })
                    """
            }
        ),
    ]

    private static let writes: [Step] = [
        (
            "prices",
            { catalog in
                let changes = [PriceChange(sku: skus[0], priceMinor: 7), PriceChange(sku: skus[1], priceMinor: 900)]
                let outcome = try await catalog.prices.setPrices(changes, in: tenant.shop)
                return "\(outcome.changed) \(outcome.unchanged) \(outcome.shelves.sorted())"
            }
        ),
        (
            "move",
            { catalog in
                let edit = ManualOrderEdit.moves([OrderMove([skus[5].text], .before(skus[0].text))])
                let request = OrderEditRequest(
                    store: tenant.shop,
                    shelf: bakery,
                    edit: edit,
                    subject: tenant.owner.text
                )
                // The others have used the key for other requests.
                let call = IdempotentCall<ManualOrderOutcome>(key: "second", fingerprint: [9])
                return
                    "\(try await catalog.manualOrder.editOrder(request, once: call).moved.map { "\($0.id) \($0.after ?? "-")" })"
            }
        ),
        (
            "undo",
            { catalog in
                let request = OrderEditRequest(store: tenant.shop, shelf: bakery, edit: .undo(change: nil))
                return "\(try await catalog.manualOrder.editOrder(request).moved.map { "\($0.id) \($0.after ?? "-")" })"
            }
        ),
        (
            "move of shelves",
            { catalog in
                let moves = [OrderMove([bakery.text], .first)]
                let outcome = try await catalog.shelves.moveShelves(moves, in: tenant.shop, expected: nil, once: nil)
                return "\(outcome.moved.map(\.id))"
            }
        ),
        (
            "placements",
            { catalog in
                try await catalog.products.unplace(skus[0], from: bakery, in: tenant.shop)
                return "\(try await catalog.products.place(skus[0], on: bakery, in: tenant.shop))"
            }
        ),
        (
            "change of a product",
            { catalog in
                "\(try await catalog.products.put(Product(sku: skus[2], name: "New", priceMinor: 3), in: tenant.shop))"
            }
        ),
        (
            "purchases",
            { catalog in
                // The first ones are known.
                let events = (4..<9).map { purchase($0, tenant) }
                let outcome = try await catalog.purchases.add(events, to: tenant.shop)
                return "\(outcome.accepted) \(outcome.repeated) \(outcome.unknown)"
            }
        ),
        (
            "re-sort",
            { catalog in
                let summary = try await Resorter(catalog).run(ResortRequest(store: tenant.shop))
                return "\(summary.events) \(summary.products) \(summary.shelves) \(summary.changed)"
            }
        ),
        (
            "settings",
            { catalog in
                try await set("theme", .string("new"), of: tenant.owner, catalog.storage)
                try await set("stores/shop/shelves/dairy/sort", nil, of: tenant.owner, catalog.storage)
                return "set"
            }
        ),
        (
            "edits of a list",
            { catalog in
                let revision = try await catalog.settings.settings(of: tenant.member, since: nil, limit: nil).revision
                let item = NewListItem(id: ids[6], product: ProductReference(tenant.shop, skus[3]))
                let edits: [ListEdit] = [
                    .add([item]), .change([ListItemChange(textItem, isChecked: true)]),
                    .move([OrderMove([ids[6].text], .first)]), .set(ListSettings(name: "Changed")),
                ]
                for edit in edits {
                    _ = try await catalog.lists.editList(list, of: tenant.owner, edit, expected: nil, once: nil)
                }
                let events = try await catalog.versions.changes(of: tenant.member, since: revision, limit: 100)
                return "\(events.isResync) \(events.events.map(\.name))"
            }
        ),
        (
            "ticket",
            { catalog in
                let later = Timestamp(microseconds: Timestamp.now().microseconds + 60_000_000)
                let ticket = Ticket(user: tenant.owner, digest: tenant.ticket, expiresAt: later, tokenExpiresAt: later)
                _ = try await catalog.users.saveTicket(ticket, id: .random(), once: nil)
                let first = try await catalog.users.redeem(tenant.ticket)
                let second = try await catalog.users.redeem(tenant.ticket)
                return "\(first?.user.text ?? "none") \(second?.user.text ?? "none")"
            }
        ),
        (
            "merge",
            { catalog in
                let merge = try await catalog.users.merge(tenant.guest, into: tenant.owner, once: nil)
                return "\(merge.merged) \(merge.kept)"
            }
        ),
        (
            "revocation",
            { catalog in
                try await catalog.lists.revoke(share, list, of: tenant.owner)
                return "revoked"
            }
        ),
        (
            "import",
            { catalog in
                var options = ImportOptions(format: .csv, store: tenant.shop, prunes: true)
                options.confirmsPrune = true
                let rows = ["bakery,p0,N0,1", "bakery,p3,N3,2", "bakery,new,New,3", "extra,p5,N5,4"]
                let file = ImporterTests.Chunks(text: "shelf,sku,name,price\n" + rows.map { $0 + "\n" }.joined())
                let summary = try await Importer(catalog).importFile(file, options)
                return "\(summary.counts)"
            }
        ),
        (
            "removal of a product",
            { catalog in
                try await catalog.products.remove(product: skus[3], from: tenant.shop)
                return "removed"
            }
        ),
        (
            "removal of a shelf",
            { catalog in
                try await catalog.shelves.remove(shelf: cheese, from: tenant.shop)
                return "removed"
            }
        ),
        (
            "erasure",
            { catalog in
                try await catalog.users.erase(tenant.member)
                return "erased"
            }
        ),
        ("deletion of the store", { "\(try await $0.shelves.remove(store: tenant.shop))" }),
    ]

    // MARK: - Comparison

    /// Tables with rows of others that any fold or reader may change: purchases that are folded, and images of shelves.
    private static let shared: Set<String> = ["purchase_inbox", "shelf_image"]

    /// Returns the rows of the others in each table that has rows of stores or users.
    private static func rowsOfOthers(_ catalog: PostgresCatalog) async throws -> [String: Set<String>] {
        let users = tenant.users
        return try await catalog.database.writes.perform { connection in
            let tables = try connection.query(
                """
                SELECT c.relname::text, bool_or(a.attname = 'user_id') FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                    AND a.attname IN ('store_id', 'user_id') AND NOT a.attisdropped GROUP BY c.relname
                """
            ) { try $0.map { (name: try $0.text(0), isOfUsers: try $0.bool(1)) } }
            var rows: [String: Set<String>] = [:]
            for table in tables where !shared.contains(table.name) {
                let condition =
                    table.isOfUsers
                    ? "t.user_id <> ALL ($1)"
                    : "t.store_id NOT IN (SELECT store_id FROM store WHERE key = 'shop') AND $1::text[] IS NOT NULL"
                let query = SQL(unchecked: "SELECT t::text FROM \(table.name) t WHERE \(condition)")
                rows[table.name] = try connection.query(PostgresStatement(query), [.textArray(users)]) {
                    Set(try $0.map { try $0.text(0) })
                }
            }
            return rows
        }
    }

    /// Checks that an operation has changed no row of others. An erasure adds an entry without the user to the audit log.
    private static func compare(
        _ before: [String: Set<String>],
        _ after: [String: Set<String>],
        _ step: String
    ) {
        for (table, rows) in before {
            let now = after[table] ?? []
            #expect(rows.subtracting(now) == [], "\(step) changed rows of others in \(table)")
            if table != "user_audit" {
                #expect(now.subtracting(rows) == [], "\(step) added rows of others to \(table)")
            }
        }
    }

    /// Runs all operations, with all reads after each write, and returns their results.
    private static func results(isCrowded: Bool) async throws -> [String] {
        var results: [String] = []
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            if isCrowded { try await fill(others[0], deletes: true, catalog.storage) }
            try await fill(tenant, deletes: isCrowded, catalog.storage)
            if isCrowded {
                try await fill(others[1], deletes: true, catalog.storage)
                for other in others {
                    let edit = ManualOrderEdit.moves([OrderMove([skus[7].text], .first)])
                    _ = try await catalog.manualOrder.editOrder(
                        OrderEditRequest(store: other.shop, shelf: bakery, edit: edit),
                        once: IdempotentCall(key: "second", fingerprint: [8])
                    )
                }
            }
            // From here on, only the tenant has purchases to count.
            _ = try await Resorter(catalog).run(ResortRequest())
            func perform(_ step: Step) async {
                do { results.append("\(step.name): \(try await step.run(catalog))") } catch {
                    results.append("\(step.name) failed: \(error)")
                }
            }
            for read in reads { await perform(read) }
            var rows = isCrowded ? try await rowsOfOthers(catalog) : [:]
            for write in writes {
                await perform(write)
                if isCrowded {
                    let after = try await rowsOfOthers(catalog)
                    compare(rows, after, write.name)
                    rows = after
                }
                for read in reads { await perform(("\(read.name) after \(write.name)", read.run)) }
            }
        }
        return results
    }

    @Test("Operations have the same results next to stores and users with equal keys, and change no row of theirs")
    func othersDoNotMatter() async throws {
        // Each has a database of its own.
        async let emptyResults = Self.results(isCrowded: false)
        async let crowdedResults = Self.results(isCrowded: true)
        let (alone, crowded) = try await (emptyResults, crowdedResults)
        #expect(alone.count == crowded.count)
        for (expected, result) in zip(alone, crowded) { #expect(result == expected) }
        // Only reads of the deleted store fail.
        let failed = alone.filter { $0.contains(" failed: ") && !$0.contains("after deletion of the store failed: ") }
        #expect(failed == [])
    }

    @Test("The others have rows in every table that has rows of stores or users")
    func crowdIsComplete() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(Self.others[0], deletes: true, catalog.storage)
            let later = Timestamp(microseconds: Timestamp.now().microseconds + 60_000_000)
            let user = Self.others[0].owner
            let ticket = Ticket(user: user, digest: Self.others[0].ticket, expiresAt: later, tokenExpiresAt: later)
            let call = IdempotentCall<IssuedTicket>(key: "t", fingerprint: [1])
            _ = try await catalog.users.saveTicket(ticket, id: .random(), once: call)
            // Purchases of products that do not exist yet.
            let stray = Purchase(eventID: "stray", sku: SKU("later")!, quantity: 1, at: .now())
            _ = try await catalog.purchases.add([stray], to: Self.others[0].shop)
            _ = try await PurchaseFold(catalog).run()
            let empty = try await Self.rowsOfOthers(catalog).filter { $0.value.isEmpty }.keys
            // An import deletes its rows when it ends.
            #expect(Set(empty).subtracting(["import_row"]) == [])
        }
    }
}
