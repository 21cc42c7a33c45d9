internal import Catalog
internal import Collation
internal import Shelves

/// A shelf, or the union of several, in memory at one state.
struct LoadedShelf: CurrentShelf {
    let basis: PageBasis
    let shelf: ShelfSnapshot
    let key: ShelfCaches.TableKey
    let caches: ShelfCaches
    /// The current ordering key of the cursor's product, if ordering keys were replaced since the page of the cursor.
    var orderingKey: [UInt8]?

    private var table: ShelfTable { shelf.table }

    func page<Items: PageItems>(_ plan: PagePlan, into items: Items) async throws(CatalogError) -> PageOf<Items> {
        let view = await caches.view(plan, of: shelf, at: key)
        let start = plan.after.map { table.index(after: place(of: $0, plan), in: view) } ?? 0
        let rest = view.rows[start...]
        let rows = rest.prefix(plan.limit)
        var items = items
        for row in rows.lazy.map(Int.init) {
            let (sku, time, popularity) = (table.sku(row), table.modifiedAt(row), table.popularity(row))
            if items.addKnown(sku, modifiedAt: time, popularity: popularity) { continue }
            items.add(try product(row))
        }
        let next = rest.count > plan.limit ? rows.last.map { cursor(after: Int($0), plan, view) } : nil
        var page = PageOf(PlannedPage(basis, plan), items, next: next, matches: view.rows.count)
        if plan.collapsesGroups { page.cards = try await cards(plan, view, rows.indices) }
        if !plan.facets.isEmpty { page.facets = await caches.facets(plan, of: shelf, at: key) }
        return page
    }

    /// Whole orders are not read on an event loop, so views are made on the executor of the request.
    func ids(_ plan: PagePlan, first limit: Int?) async -> OrderedIDs {
        let view = caches.viewNow(plan, of: shelf, at: key)
        let shown = limit.map { Array(view.rows.prefix($0)) } ?? view.rows
        guard let groups = view.groups?.column else {
            let places = OrderedIDs.Places(version: shelf.version, limit: table.count, places: shown)
            return OrderedIDs(places) { [table] in table.sku(Int($0)).text }
        }
        // A group has the same place in all orders, whichever of its products represents it.
        let places = OrderedIDs.Places(
            version: shelf.version,
            limit: groups.placeCount,
            places: shown.map { groups.place(Int($0)) },
            representatives: shown
        )
        return OrderedIDs(places) { [table] place in
            groups.key(at: place).map { GroupCard.idPrefix + $0 } ?? table.sku(Int(place)).text
        }
    }

    func products(_ skus: [String]) throws(CatalogError) -> [Product] {
        var products: [Product] = []
        for row in table.rows(of: skus.map { SKU(stored: $0) }).values { products.append(try product(row)) }
        return products
    }

    func cards(_ ids: [String], _ plan: PagePlan) async throws(CatalogError) -> [ShownProduct] {
        let view = await caches.view(plan, of: shelf, at: key)
        guard let groups = view.groups?.column else { return [] }
        var candidates = Set(table.rows(of: ids.lazy.map { SKU(stored: $0) }).values)
        let keys = ids.filter { $0.hasPrefix(GroupCard.idPrefix) }.map {
            String($0.dropFirst(GroupCard.idPrefix.count))
        }
        for rows in groups.rows(of: Set(keys)).values { candidates.formUnion(rows) }
        var shown: [ShownProduct] = []
        for (index, row) in view.rows.enumerated() where candidates.contains(Int(row)) {
            shown.append(ShownProduct(try product(Int(row)), card: view.card(at: index)))
        }
        return shown
    }

    /// Returns what the products of a page represent.
    private func cards(
        _ plan: PagePlan,
        _ view: TableView,
        _ indices: Range<Int>
    ) async throws(CatalogError) -> [GroupCard] {
        var cards = indices.compactMap { view.card(at: $0) }
        guard plan.wantsMembers else { return cards }
        let all = await caches.view(plan, view.request.expanded, of: shelf, at: key)
        let members = view.members(of: view.rows[indices].map(Int.init), in: all, limit: GroupCard.memberLimit)
        for index in cards.indices {
            var products: [Product] = []
            for row in members[index] { products.append(try product(row)) }
            cards[index].members = products
        }
        return cards
    }

    private func product(_ row: Int) throws(CatalogError) -> Product {
        guard let product = table.product(row) else {
            throw .fault("invalid values of product \(table.sku(row)) in memory")
        }
        return product
    }

    private func cursor(after row: Int, _ plan: PagePlan, _ view: TableView) -> Cursor {
        plan.cursor(
            at: table.sku(row),
            table.name(row),
            table.values(row, in: view),
            isSoldOut: plan.sortsSoldOutLast && !table.isInStock(row)
        )
    }

    private func place(of cursor: Cursor, _ plan: PagePlan) -> ViewPlace {
        var cursor = cursor
        if let orderingKey {
            for (index, term) in plan.sort.terms.enumerated() where term.key == .position {
                cursor.values[index] = .bytes(orderingKey)
            }
        }
        return ViewPlace(cursor, key: LanguageCollator.of(basis.head.store.language).key)
    }
}
