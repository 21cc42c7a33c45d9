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
    /// The rules of searches, before the index is ready; nil unless the request has a search.
    var rules: SearchRules?
    /// The index and the rules of searches; nil unless the request has a search.
    var search: LoadedSearch?

    var indexedProducts: Int { search?.indexedProducts ?? 0 }

    private var table: ShelfTable { shelf.table }

    /// Returns the shelf with the rules of searches.
    func with(_ rules: SearchRules) -> LoadedShelf {
        var copy = self
        copy.rules = rules
        return copy
    }

    func page<Items: PageItems>(_ plan: PagePlan, into items: Items) async throws(CatalogError) -> PageOf<Items> {
        if plan.search != nil { return try await searchPage(plan, into: items) }
        let view = await caches.view(plan, of: shelf, at: key)
        var page = try await page(rows(of: view, plan), plan, into: items)
        if !plan.facets.isEmpty { page.facets = await caches.facets(plan, of: shelf, at: key) }
        return page
    }

    /// The rows of a page.
    private struct PageRows: Sendable {
        let rows: ArraySlice<UInt32>
        let next: Cursor?
        /// The number of rows of all pages.
        let count: Int
        /// The group that each row represents; empty unless groups are collapsed.
        let cards: [GroupCard]
        /// The rows of the members of each card; empty unless the request asks for them.
        let members: [[Int]]
    }

    private func rows(of view: TableView, _ plan: PagePlan) -> PageRows {
        let rest = view.rows[(plan.after.map { table.index(after: place(of: $0, plan), in: view) } ?? 0)...]
        let rows = rest.prefix(plan.limit)
        let next = rest.count > plan.limit ? rows.last.map { cursor(after: Int($0), plan, view) } : nil
        let cards = view.groups == nil ? [] : rows.indices.compactMap { view.card(at: $0) }
        let members = plan.wantsMembers ? rows.indices.map { view.members(at: $0) } : []
        return PageRows(rows: rows, next: next, count: view.rows.count, cards: cards, members: members)
    }

    /// A page with members can have 20 times as many products, so it is made on another thread than an event loop's.
    private func page<Items: PageItems>(
        _ found: PageRows,
        _ plan: PagePlan,
        into items: Items
    ) async throws(CatalogError) -> PageOf<Items> {
        if found.members.isEmpty { return try pageNow(found, plan, into: items) }
        let page = await offLoop(if: true) { () -> Result<PageOf<Items>, CatalogError> in
            Result { () throws(CatalogError) in try pageNow(found, plan, into: items) }
        }
        return try page.get()
    }

    private func pageNow<Items: PageItems>(
        _ found: PageRows,
        _ plan: PagePlan,
        into items: Items
    ) throws(CatalogError) -> PageOf<Items> {
        let shown = try added(found.rows.lazy.map(Int.init), to: items)
        var page = PageOf(PlannedPage(basis, plan), shown, next: found.next, of: found.count)
        page.cards = found.cards
        for rows in found.members { page.members.append(try added(rows, to: items)) }
        return page
    }

    private func added<Items: PageItems>(
        _ rows: some Sequence<Int>,
        to items: Items
    ) throws(CatalogError) -> Items {
        var items = items
        for row in rows {
            let (sku, time, popularity) = (table.sku(row), table.modifiedAt(row), table.popularity(row))
            if items.addKnown(sku, modifiedAt: time, popularity: popularity) { continue }
            items.add(try product(row))
        }
        return items
    }

    /// Returns a page of what a search finds. All of the search is done on another thread than an event loop's: the highlights alone take as
    /// long as several pages.
    private func searchPage<Items: PageItems>(
        _ plan: PagePlan,
        into items: Items
    ) async throws(CatalogError) -> PageOf<Items> {
        let found = await offLoop(if: true) {
            () -> (rows: PageRows, matches: [[ProductMatch]], summary: SearchSummary?, facets: Facets?) in
            let search = loadedSearch
            let view = caches.viewNow(plan, of: shelf, at: key, search)
            let rows = rows(of: view, plan)
            let products = plan.wantsMatches ? rows.rows.map { table.product(Int($0)) } : []
            return (
                rows, search.highlights(plan, of: products), search.summary(plan, of: table),
                plan.facets.isEmpty ? nil : caches.facetsNow(plan, of: shelf, at: key, search)
            )
        }
        var page = try await page(found.rows, plan, into: items)
        (page.matches, page.search, page.facets) = (found.matches, found.summary, found.facets)
        return page
    }

    /// - Precondition: the shelf was read for a request with a search.
    private var loadedSearch: LoadedSearch {
        guard let search else { preconditionFailure("the shelf was read for a request without a search") }
        return search
    }

    func searchSummary(_ plan: PagePlan) async -> SearchSummary? {
        if plan.search == nil { return nil }
        return await offLoop(if: true) { loadedSearch.summary(plan, of: table) }
    }

    func relevances(_ ids: [String], _ plan: PagePlan) async -> [String: SearchRelevance] {
        if plan.search == nil { return [:] }
        return await offLoop(if: true) {
            guard let matches = loadedSearch.matches(plan)?.matches else { return [:] }
            let rows = table.rows(of: ids.map { SKU(stored: $0) })
            let found = rows.compactMap { sku, row in matches.relevance(of: row).map { (sku.text, $0) } }
            return Dictionary(found) { first, _ in first }
        }
    }

    /// Whole orders are not read on an event loop, so views are made on the executor of the request.
    func ids(_ plan: PagePlan, first limit: Int?) async -> OrderedIDs {
        let view = caches.viewNow(plan, of: shelf, at: key, plan.search == nil ? nil : loadedSearch)
        let shown = limit.map { Array(view.rows.prefix($0)) } ?? view.rows
        let next = shown.count < view.rows.count ? shown.last.map { cursor(after: Int($0), plan, view) } : nil
        guard let groups = view.groups?.column else {
            let places = OrderedIDs.Places(version: shelf.version, limit: table.count, places: shown)
            return OrderedIDs(places, next: next) { [table] in table.sku(Int($0)).text }
        }
        // A group has the same place in all orders, whichever of its products represents it.
        let places = OrderedIDs.Places(
            version: shelf.version,
            limit: groups.placeCount,
            places: shown.map { groups.place(Int($0)) },
            representatives: shown
        )
        return OrderedIDs(places, next: next) { [table] place in
            groups.key(at: place).map { GroupCard.idPrefix + $0 } ?? table.sku(Int(place)).text
        }
    }

    func products(_ skus: [String]) throws(CatalogError) -> [Product] {
        var products: [Product] = []
        for row in table.rows(of: skus.map { SKU(stored: $0) }).values { products.append(try product(row)) }
        return products
    }

    func cards(_ ids: [String], _ plan: PagePlan) async throws(CatalogError) -> [ShownProduct] {
        let view =
            plan.search == nil
            ? await caches.view(plan, of: shelf, at: key)
            : await offLoop(if: true) { caches.viewNow(plan, of: shelf, at: key, loadedSearch) }
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
            isSoldOut: plan.sortsSoldOutLast && !table.isInStock(row),
            searchClass: view.matches?.classInUse
        )
    }

    private func place(of cursor: Cursor, _ plan: PagePlan) -> ViewPlace {
        var cursor = cursor
        if let orderingKey {
            for (index, term) in plan.sort.comparedTerms.enumerated() where term.key == .position {
                cursor.values[index] = .bytes(orderingKey)
            }
        }
        return ViewPlace(cursor, key: LanguageCollator.of(basis.head.store.language).key)
    }
}
