internal import Catalog
internal import LibPQ

/// Counts facets in a transaction: of large shelves from columns in memory, which follow the shelf's changes, otherwise by a statement.
///
/// A product that changes while it is on a shelf gets a later time than the shelf's last change (`ShelfLocks`). So the products that
/// changed since the columns were read are those with a later time than the shelf had then, if no product was added or removed.
struct FacetCounter: Sendable {
    /// The state of a shelf that columns belong to.
    private struct State: Equatable {
        /// Changes with the products on the shelf, and with their manual order.
        let orderVersion: Int64
        let productCount: Int
        let modifiedAt: Int64
        /// The start of the database server, and the id of the table. After a failover or a restore, the last changes may be missing.
        let serverStart: Int64
        let table: Int64

        /// Whether only the values of products can have changed since an earlier state.
        func hasSameProducts(as earlier: State) -> Bool {
            (orderVersion, productCount) == (earlier.orderVersion, earlier.productCount)
                && (serverStart, table) == (earlier.serverStart, earlier.table)
        }
    }

    /// A server has columns of its own, because the servers' states of a shelf differ for a moment.
    private struct Key: Hashable {
        let location: ShelfLocation
        let serverStart: Int64
    }

    private struct Columns {
        let state: State
        /// nil if they are too large to be kept.
        let columns: FacetColumns?
    }

    /// The size of all columns that are kept, and of the largest ones, in bytes.
    private static let (limit, largest) = (64 << 20, 32 << 20)

    let limits: PageLimits
    let memory: PageBasisCache
    private let kept = SharedCache<Key, Columns>(limit: limit, largest: largest) { $1.columns?.size ?? 256 }

    init(limits: PageLimits, memory: PageBasisCache) { (self.limits, self.memory) = (limits, memory) }

    func count(_ planned: PlannedPage, _ connection: isolated PostgresConnection) throws -> Facets {
        let (plan, head) = (planned.plan, planned.basis.head)
        let filter = plan.view.filter
        if limits.countedInMemory.contains(head.state.productCount), FacetColumns.canApply(filter),
            let columns = try columns(of: head.location, connection)
        {
            return columns.facets(plan.facets, filter, in: plan.currency)
        }
        let statement = memory.statement(FacetStatement.Shape(plan))
        return try connection.query(statement.statement, statement.parameters(plan, head.location)) {
            try statement.read($0, plan)
        }
    }

    /// Returns the columns of a shelf as the transaction sees it; nil if those that are kept are newer, or if they are too large.
    private func columns(
        of location: ShelfLocation,
        _ connection: isolated PostgresConnection
    ) throws -> FacetColumns? {
        let shelf: [PostgresValue] = [.int4(location.storeID), .int4(location.shelfID)]
        let state = try connection.query(FacetStatements.state, shelf) { rows in
            try rows.first {
                State(
                    orderVersion: try $0.int8(0),
                    productCount: Int(try $0.int4(1)),
                    modifiedAt: try $0.timestamptz(2),
                    serverStart: try $0.timestamptz(3),
                    table: try $0.int8(4)
                )
            }
        }
        guard let state else { return nil }
        let key = Key(location: location, serverStart: state.serverStart)
        let known = kept[key]
        if let known, known.columns == nil || known.state == state { return known.columns }
        var columns: FacetColumns
        if let known, let old = known.columns, state.hasSameProducts(as: known.state), !old.hasManyUnusedValues {
            guard known.state.modifiedAt < state.modifiedAt else {
                // The snapshot is older, or the database was restored.
                kept[key] = nil
                return nil
            }
            columns = try changed(old, since: known.state, shelf, connection) ?? all(shelf, connection)
        } else {
            columns = try all(shelf, connection)
        }
        if let texts = columns.unrankedTexts {
            columns.rank(
                try connection.query(FacetStatements.collated, [.textArray(texts)]) { try $0.map { try $0.text(0) } }
            )
        }
        kept[key] = Columns(state: state, columns: columns.size <= Self.largest ? columns : nil)
        return columns
    }

    private func all(
        _ shelf: [PostgresValue],
        _ connection: isolated PostgresConnection
    ) throws -> FacetColumns {
        try connection.query(FacetStatements.products, shelf) { rows in
            var columns = FacetColumns(capacity: rows.count)
            try rows.forEach { columns.append(try Self.row($0)) }
            return columns
        }
    }

    /// Returns columns with the products that changed since they were read; nil if these are many.
    private func changed(
        _ known: FacetColumns,
        since state: State,
        _ shelf: [PostgresValue],
        _ connection: isolated PostgresConnection
    ) throws -> FacetColumns? {
        let few = known.count / 8
        let parameters = shelf + [.timestamptz(state.modifiedAt), .int8(Int64(few) + 1)]
        return try connection.query(FacetStatements.changedProducts, parameters) { rows in
            guard rows.count <= few else { return nil }
            var columns = known
            var hasAll = true
            try rows.forEach { hasAll = try columns.replace(Self.row($0)) && hasAll }
            return hasAll ? columns : nil
        }
    }

    private static func row(_ row: borrowing PostgresRow) throws -> FacetColumns.Row {
        FacetColumns.Row(
            sku: SKU(stored: try row.text(0)),
            brand: try row.textOrNil(1),
            tags: row.isNull(2) ? [] : try row.textArray(2),
            inStock: try row.bool(3),
            priceMinor: try row.int8OrNil(4)
        )
    }
}
