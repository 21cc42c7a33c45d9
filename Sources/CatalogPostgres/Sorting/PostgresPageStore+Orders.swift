internal import Catalog
internal import LibPQ

// Whole orders.
extension PostgresPageStore {
    func order(_ request: OrderRequest) async throws(CatalogError) -> ShelfOrder {
        try await database.mappingErrors {
            // All statements see one snapshot, so that the version is that of the order.
            try await database.longReads.snapshot(within: .shelf) {
                connection in
                try orders(request.address, [request.view], of: request.user, first: nil, connection)[0]
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
        let basis = try Self.basis(of: request, connection)
        return try views.map { view in
            (request.sort, request.filter) = (view.sort, view.filter)
            let plan = try PlannedPage(request, basis).plan
            let statement = memory.statement(.init(plan, columns: .sku, isWhole: limit == nil))
            let ids = try Self.rows(of: statement, plan, basis.head, limit: limit, connection) { try $0.text(0) }
            return ShelfOrder(head: basis.head, view: plan.view, ids: ids)
        }
    }

    /// Reads the basis of a page on a given connection.
    static func basis(of request: PageRequest, _ connection: isolated PostgresConnection) throws -> PageBasis {
        let head = try ShelfLookup.head(request.store, request.shelf, connection)
        var views = RememberedViews.none
        for query in basisQueries(request).dropFirst() {
            views = try connection.query(query.statement, query.parameters) { try PostgresSettingsStore.views($0) }
        }
        return PageBasis(head: head, views: views)
    }

    /// Reads the rows that a filter keeps. If it keeps few, reads and sorts all of them; otherwise walks the sort's index.
    func filteredRows<Row>(
        _ plan: PagePlan,
        _ shelf: ShelfHead,
        limit: Int,
        _ connection: isolated PostgresConnection,
        _ read: (borrowing PostgresRow) throws -> Row
    ) throws -> [Row] {
        var shape = PageStatement.Shape(plan)
        let walk = memory.statement(shape)
        guard !plan.view.filter.isEmpty else {
            return try Self.rows(of: walk, plan, shelf, limit: limit, connection, read)
        }
        shape.access = .scan
        let scan = memory.statement(shape)
        if try keepsFew(plan, shelf.location, connection) {
            return try Self.rows(of: scan, plan, shelf, limit: limit, connection, read)
        }
        guard shape.looksUpRows, shelf.state.productCount > limits.walked else {
            return try Self.rows(of: walk, plan, shelf, limit: limit, connection, read)
        }
        shape.access = .boundedWalk(rows: limits.walked)
        let bounded = memory.statement(shape)
        return try Self.rows(of: bounded, or: scan, plan, shelf, limit: limit, connection, read)
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
    /// - Parameters:
    ///   - other: reads a range again in which the statement does not find enough rows.
    ///   - limit: nil for all.
    static func rows<Row>(
        of statement: PageStatement,
        or other: PageStatement? = nil,
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
            let start = rows.count
            for statement in [statement, other].compactMap({ $0 }) where rows.count < limit {
                rows.removeLast(rows.count - start)
                let query = statement.query(range, plan, shelf, limit: limit - start)
                try connection.query(query.statement, query.parameters) { found in
                    try found.forEach { rows.append(try read($0)) }
                }
            }
        }
        return rows
    }
}
