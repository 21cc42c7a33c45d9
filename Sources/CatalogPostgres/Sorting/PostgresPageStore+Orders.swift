internal import Catalog
internal import LibPQ

// Whole orders.
extension PostgresPageStore {
    func order(_ request: OrderRequest) async throws(CatalogError) -> ShelfOrder {
        try await database.mappingErrors {
            // All statements see one snapshot, so that the version is that of the order.
            try await database.reading(request.address.store) { source in
                try await source.snapshot(within: .shelf) { connection in
                    try orders(request.address, [request.view], of: request.user, first: nil, connection)[0]
                }
            }
        }
    }

    /// Returns the ids that several views of a shelf show, from one snapshot.
    func orders(_ address: ShelfAddress, _ views: [ShelfView]) async throws(CatalogError) -> [ShelfOrder] {
        try await database.mappingErrors {
            try await database.longReads.snapshot(within: .shelf) {
                try orders(address, views, of: nil, first: nil, $0)
            }
        }
    }

    /// Returns the ids that several views of a shelf show, on a given connection.
    ///
    /// - Parameters:
    ///   - user: the user whose remembered sort applies to a view without one.
    ///   - limit: the maximum number of ids per view; nil for all.
    func orders(
        _ address: ShelfAddress,
        _ views: [ShelfView],
        of user: UserID?,
        first limit: Int?,
        _ connection: isolated PostgresConnection
    ) throws -> [ShelfOrder] {
        var request = PageRequest(store: address.store, shelf: address.shelf)
        if views.contains(where: { $0.sort == nil }) { request.user = user }
        let basis = try basis(of: request, connection)
        return try views.map { view in
            (request.sort, request.filter) = (view.sort, view.filter)
            let plan = try PlannedPage(request, basis).plan
            let statement = memory.statement(.init(plan, columns: .sku, isWhole: limit == nil))
            let ids = try Self.rows(of: statement, plan, basis.head, limit: limit, connection) { try $0.text(0) }
            return ShelfOrder(head: basis.head, view: plan.view, ids: ids)
        }
    }

    /// Reads the basis of a page on a given connection.
    func basis(of request: PageRequest, _ connection: isolated PostgresConnection) throws -> PageBasis {
        let head = try ShelfLookup(database: database).head(request.store, request.shelf, connection)
        var views = RememberedViews.none
        for query in Self.viewsQuery(request) {
            views = try connection.query(query.statement, query.parameters) { try PostgresSettingsStore.views($0) }
        }
        return PageBasis(head: head, views: views)
    }

    /// Rows of a page.
    struct FoundRows<Row: Sendable>: Sendable {
        var rows: [Row] = []
        /// The row at which a bounded walk ended before it found enough rows; nil if it did.
        var end: Row?
    }

    /// Reads the rows that a filter keeps. If it keeps few, reads and sorts all of them; otherwise walks the sort's index, on a
    /// large shelf only so far.
    func filteredRows<Row: Sendable>(
        _ plan: PagePlan,
        _ shelf: ShelfHead,
        limit: Int,
        _ connection: isolated PostgresConnection,
        _ read: (borrowing PostgresRow) throws -> Row
    ) throws -> FoundRows<Row> {
        var shape = PageStatement.Shape(plan)
        let isFiltered = !plan.view.filter.isEmpty && shelf.state.productCount > limits.filteredInPipeline
        if isFiltered, try keepsFew(plan, shelf.location, connection) {
            shape.access = .scan
        } else if isFiltered, shape.canBeBounded {
            return try walkedRows(shape, plan, shelf, limit: limit, connection, read)
        }
        let statement = memory.statement(shape)
        return FoundRows(rows: try Self.rows(of: statement, plan, shelf, limit: limit, connection, read))
    }

    /// Walks the ranges of a sort's index until there are enough rows, or so many that the page is partial.
    private func walkedRows<Row: Sendable>(
        _ shape: PageStatement.Shape,
        _ plan: PagePlan,
        _ shelf: ShelfHead,
        limit: Int,
        _ connection: isolated PostgresConnection,
        _ read: (borrowing PostgresRow) throws -> Row
    ) throws -> FoundRows<Row> {
        func statement(_ access: PageStatement.Access) -> PageStatement {
            var shape = shape
            shape.access = access
            return memory.statement(shape)
        }
        let walk = statement(.boundedWalk)
        var found = FoundRows<Row>()
        var left = max(limits.walkedRows, limits.walkedPages * plan.limit)
        for range in walk.ranges.indices {
            func run<Value>(
                _ statement: PageStatement,
                _ limit: Int,
                _ read: (borrowing PostgresRows) throws -> Value
            ) throws -> Value {
                let query = statement.query(range, plan, shelf, limit: limit, walked: left)
                return try connection.query(query.statement, query.parameters, read)
            }
            found.rows += try run(walk, limit - found.rows.count) { try $0.map(read) }
            if found.rows.count >= limit { return found }
            found.end = try run(statement(.endOfWalk), 0) { try $0.first(read) }
            if found.end != nil { return found }
            left -= try run(statement(.lengthOfWalk), 0) { try $0.first { try $0.int(0) }! }
        }
        return found
    }

    /// Returns whether one of a filter's keys keeps few products.
    private func keepsFew(
        _ plan: PagePlan,
        _ shelf: ShelfLocation,
        _ connection: isolated PostgresConnection
    ) throws -> Bool {
        // The statement for few rows does not read the manual order.
        guard plan.sort.respectsAvailability else { return false }
        return try ProbeStatement.keys(of: plan.view.filter).contains { key in
            let probe = memory.statement(ProbeStatement.Shape(key, plan.view.filter, limit: limits.few + 1))
            let count = try connection.query(probe.statement, probe.parameters(plan, shelf)) {
                try $0.first { try $0.int(0) }!
            }
            return count <= limits.few
        }
    }

    /// Reads the ranges of a statement in sequence, on a given connection, until there are enough rows.
    ///
    /// - Parameter limit: nil for all.
    static func rows<Row>(
        of statement: PageStatement,
        _ plan: PagePlan,
        _ shelf: ShelfHead,
        limit: Int?,
        _ connection: isolated PostgresConnection,
        _ read: (borrowing PostgresRow) throws -> Row
    ) throws -> [Row] {
        var rows: [Row] = []
        guard let limit else {
            let queries = statement.ranges.indices.map { statement.query($0, plan, shelf, limit: 0) }
            try connection.queryBatch(queries) { _, found in try found.forEach { rows.append(try read($0)) } }
            return rows
        }
        for range in statement.ranges.indices where rows.count < limit {
            let query = statement.query(range, plan, shelf, limit: limit - rows.count)
            try connection.query(query.statement, query.parameters) { found in
                try found.forEach { rows.append(try read($0)) }
            }
        }
        return rows
    }
}
