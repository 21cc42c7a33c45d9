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
        let rest = view.rows[(plan.after.map { table.index(after: place(of: $0, plan), in: view) } ?? 0)...]
        let rows = rest.prefix(plan.limit)
        var items = items
        for row in rows.lazy.map(Int.init) {
            let (sku, time, popularity) = (table.sku(row), table.modifiedAt(row), table.popularity(row))
            if items.addKnown(sku, modifiedAt: time, popularity: popularity) { continue }
            items.add(try product(row))
        }
        let next = rest.count > plan.limit ? rows.last.map { cursor(after: Int($0), plan, view) } : nil
        var page = PageOf(PlannedPage(basis, plan), items, next: next, matches: view.rows.count)
        if !plan.facets.isEmpty { page.facets = await caches.facets(plan, of: shelf, at: key) }
        return page
    }

    /// Whole orders are not read on an event loop, so views are made on the executor of the request.
    func ids(_ plan: PagePlan, first limit: Int?) async -> OrderedIDs {
        let rows = caches.viewNow(plan, of: shelf, at: key).rows
        let shown = limit.map { Array(rows.prefix($0)) } ?? rows
        let places = OrderedIDs.Places(version: shelf.version, limit: table.count, places: shown)
        return OrderedIDs(places) { [table] in table.sku(Int($0)).text }
    }

    func products(_ ids: [String]) throws(CatalogError) -> [Product] {
        var products: [Product] = []
        for row in table.rows(of: ids.map { SKU(stored: $0) }).values { products.append(try product(row)) }
        return products
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
