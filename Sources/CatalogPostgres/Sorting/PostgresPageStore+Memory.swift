internal import Catalog
internal import Collation
internal import LibPQ
internal import Shelves

/// Pages and whole orders of shelves in memory.
extension PostgresPageStore {
    /// The products of a page in the order of a view.
    struct Selection {
        let shelf: ShelfSnapshot
        /// The rows to show.
        let rows: ArraySlice<UInt32>
        let hasNext: Bool
        /// The number of rows of the view.
        let count: Int

        var table: ShelfTable { shelf.table }
        init(_ plan: PagePlan, _ view: TableView, of shelf: ShelfSnapshot, after place: ViewPlace?) {
            self.shelf = shelf
            let rest = view.rows[(place.map { shelf.table.index(after: $0, in: view) } ?? 0)...]
            rows = rest.prefix(plan.limit)
            hasNext = rest.count > plan.limit
            count = view.rows.count
        }

        /// Adds the products to a page.
        func add(to items: inout some PageItems) throws {
            for row in rows.lazy.map(Int.init) {
                let (sku, time, popularity) = (table.sku(row), table.modifiedAt(row), table.popularity(row))
                if items.addKnown(sku, modifiedAt: time, popularity: popularity) { continue }
                guard let product = table.product(row) else {
                    throw PostgresError(.decoding, "invalid values of product \(sku) in memory")
                }
                items.add(product)
            }
        }

        /// Returns the page.
        ///
        /// - Parameter items: an empty page.
        func page<Items: PageItems>(_ planned: PlannedPage, _ items: Items) throws -> PageOf<Items> {
            var items = items
            try add(to: &items)
            return PageOf(planned, items, next: next(planned.plan), matches: count)
        }

        /// Returns the cursor of the next page; nil on the last one.
        func next(_ plan: PagePlan) -> Cursor? {
            guard hasNext, let last = rows.last.map(Int.init) else { return nil }
            return plan.cursor(
                at: table.sku(last),
                table.name(last),
                plan.sort.terms.map { table.value(of: $0.key, last) },
                isSoldOut: plan.sortsSoldOutLast && !table.isInStock(last)
            )
        }
    }

    /// Reads a page of a shelf in memory.
    ///
    /// - Parameters:
    ///   - known: the shelf, if it was read with the basis.
    ///   - isGuess: whether the basis was not read yet.
    /// - Returns: nil if the shelf changed meanwhile.
    func read<Items: PageItems>(
        _ request: PageRequest,
        _ planned: PlannedPage,
        _ known: ShelfSnapshot?,
        isGuess: Bool,
        _ items: @Sendable (PlannedPage) -> Items,
        _ source: ReadSource
    ) async throws -> PageOf<Items>? {
        let (plan, head) = (planned.plan, planned.basis.head)
        let current: ShelfSnapshot? =
            if let known, known.version == head.state.version {
                known
            } else {
                try await shelves.shelf(head, isGuess: isGuess, source)
            }
        guard let shelf = current else { return nil }
        let view = await shelves.view(plan, of: shelf, at: .shelf(head.location))
        var cursor = plan.after
        let placeQuery = Self.placeQuery(plan, head.location)
        if let placeQuery {
            cursor = try await source.read([placeQuery], into: cursor) { cursor, _, rows in
                try rows.forEach { Self.move(&cursor, plan, to: try $0.bytea(0)) }
            }
        }
        let selection = Selection(plan, view, of: shelf, after: Self.place(cursor, in: head.store))
        let page = try selection.page(planned, items(planned))
        // Otherwise this request has read the version of the shelf.
        if isGuess || placeQuery != nil, try await !versions(request, head.location, source).confirm(planned.basis) {
            return nil
        }
        return page
    }

    /// Returns the facets of a page; nil if the shelf changed meanwhile.
    func facets(_ planned: PlannedPage, isGuess: Bool, _ source: ReadSource) async throws -> Facets? {
        let head = planned.basis.head
        guard let shelf = try await shelves.shelf(head, isGuess: isGuess, source) else { return nil }
        return await shelves.facets(planned.plan, of: shelf, at: .shelf(head.location))
    }

    /// How often a read in one transaction begins again on Citus, whose transactions see what others commit meanwhile.
    static let attempts = 8

    /// Reads a page in one transaction. A shelf that changes all the time needs no second attempt this way, except on Citus.
    ///
    /// - Returns: nil if the page shows the products of other shelves, too.
    func readInTransaction<Items: PageItems>(
        _ request: PageRequest,
        _ items: @escaping @Sendable (PlannedPage) -> Items,
        _ source: ReadSource
    ) async throws -> PageOf<Items>? {
        let load = shelves.beginLoad(source)
        return try await source.snapshot(within: .shelf) { connection in
            for _ in 0..<Self.attempts {
                let basis = try basis(of: request, connection)
                memory.insert(basis.head, of: request)
                if request.showsDescendants(of: basis.head) { return nil }
                let planned = try PlannedPage(request, basis)
                guard var page = try read(request, planned, items(planned), load, connection) else { continue }
                if !planned.plan.facets.isEmpty {
                    guard let shelf = try shelves.load(basis.head, load, connection) else { continue }
                    page.facets = shelves.facetsNow(planned.plan, of: shelf, at: .shelf(basis.head.location))
                }
                let query = ShelfLookup.versionQuery(basis.head.location)
                let version = try connection.query(query.statement, query.parameters) {
                    try $0.first { try ShelfLookup.version($0) }
                }
                if version == ShelfVersion(basis.head) { return page }
            }
            throw CatalogError.unavailable
        }
    }

    /// Reads a page on a given connection; nil if the shelf has another version by now.
    private func read<Items: PageItems>(
        _ request: PageRequest,
        _ planned: PlannedPage,
        _ items: Items,
        _ load: ShelfMemory.Load,
        _ connection: isolated PostgresConnection
    ) throws -> PageOf<Items>? {
        let (plan, location) = (planned.plan, planned.basis.head.location)
        guard let shelf = try shelves.load(planned.basis.head, load, connection) else { return nil }
        let view = shelves.viewNow(plan, of: shelf, at: .shelf(location))
        var cursor = plan.after
        if let query = Self.placeQuery(plan, location) {
            for key in try connection.query(query.statement, query.parameters, { try $0.map { try $0.bytea(0) } }) {
                Self.move(&cursor, plan, to: key)
            }
        }
        let selection = Selection(plan, view, of: shelf, after: Self.place(cursor, in: planned.basis.head.store))
        return try selection.page(planned, items)
    }

    /// Returns the ids that several views of a shelf show, on a connection in a transaction that only reads.
    ///
    /// - Parameters:
    ///   - includesDescendants: whether they show the products of the shelves below, too; nil for what the shelf says.
    ///   - user: the user whose remembered sort applies to a view without one.
    ///   - limit: the maximum number of ids per view; nil for all.
    func orders(
        _ address: ShelfAddress,
        _ views: [ShelfView],
        includesDescendants: Bool?,
        of user: UserID?,
        first limit: Int?,
        _ load: ShelfMemory.Load,
        _ connection: isolated PostgresConnection
    ) throws -> [ShelfOrder] {
        var request = PageRequest(store: address.store, shelf: address.shelf)
        request.includesDescendants = includesDescendants
        if views.contains(where: { $0.sort == nil }) { request.user = user }
        for _ in 0..<Self.attempts {
            guard let (basis, shelf, key) = try readTable(request, load, connection) else { continue }
            return try views.map { view in
                (request.sort, request.filter) = (view.sort, view.filter)
                let plan = try PlannedPage(request, basis).plan
                let rows = shelves.viewNow(plan, of: shelf, at: key).rows
                let shown = limit.map { Array(rows.prefix($0)) } ?? rows
                let places = OrderedIDs.Places(version: shelf.version, limit: shelf.table.count, places: shown)
                let list = OrderedIDs(places) { [table = shelf.table] in table.sku(Int($0)).text }
                return ShelfOrder(head: basis.head, union: basis.union, view: plan.view, list: list)
            }
        }
        throw CatalogError.unavailable
    }

    /// Reads what the products of a page are taken from: a shelf, or a union of shelves; nil if a shelf changes meanwhile.
    private func readTable(
        _ request: PageRequest,
        _ load: ShelfMemory.Load,
        _ connection: isolated PostgresConnection
    ) throws -> (basis: PageBasis, shelf: ShelfSnapshot, key: ShelfMemory.TableKey)? {
        let basis = try basis(of: request, connection)
        if request.showsDescendants(of: basis.head) { return try unionTable(request, load, connection) }
        memory.insert(basis.head, of: request)
        return try shelves.load(basis.head, load, connection).map { (basis, $0, .shelf(basis.head.location)) }
    }

    /// Returns the place of a cursor on a shelf of a store.
    static func place(_ cursor: Cursor?, in store: Store) -> ViewPlace? {
        cursor.map { ViewPlace($0, key: LanguageCollator.of(store.language).key) }
    }

    /// Returns the query for the current ordering key of the cursor's product in the manual order, if keys were replaced since the last page.
    private static func placeQuery(_ plan: PagePlan, _ location: ShelfLocation) -> PostgresQuery? {
        guard let cursor = plan.after, cursor.keyGeneration != plan.keyGeneration, plan.sort.readsPositions else {
            return nil
        }
        let place: [PostgresValue] = [.int4(location.storeID), .int4(location.shelfID), .text(cursor.id)]
        return PostgresQuery(ShelfReadStatements.position, place)
    }

    /// Replaces the ordering key of a cursor.
    private static func move(_ cursor: inout Cursor?, _ plan: PagePlan, to key: [UInt8]) {
        for (index, term) in plan.sort.terms.enumerated() where term.key == .position {
            cursor?.values[index] = .bytes(key)
        }
    }
}
