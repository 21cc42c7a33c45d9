package import Catalog
internal import LibPQ

extension PostgresCatalog {
    package func stores() async throws(CatalogError) -> [Store] {
        try await mappingErrors { try await readStores().map(\.store) }
    }

    func readStores() async throws -> [ShelfRow.StoreRead] {
        try await pipeline.read([PostgresQuery(Self.allStores)], into: []) { stores, _, rows in
            stores = try rows.map { try ShelfRow.store($0) }
        }
    }

    package func store(_ key: CatalogKey) async throws(CatalogError) -> Store {
        try await mappingErrors { try await readStore(key).store }
    }

    package func shelf(_ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError) -> ShelfHead {
        try await mappingErrors { try await readHead(store, shelf).head }
    }

    func readStore(_ key: CatalogKey) async throws -> ShelfRow.StoreRead {
        let found = try await pipeline.read([PostgresQuery(Self.oneStore, [.text(key.text)])], into: nil) {
            found,
            _,
            rows in
            found = try rows.first { try ShelfRow.store($0) }
        }
        guard let found else { throw CatalogError.notFound("store “\(key)”") }
        return found
    }

    func readHead(_ store: CatalogKey, _ shelf: CatalogKey) async throws -> ShelfRow.HeadRead {
        try await readBasis(PageRequest(store: store, shelf: shelf)).head
    }

    // MARK: - Whole orders

    package func withOrders<T: Sendable>(
        of shelf: CatalogKey,
        in store: CatalogKey,
        by views: [ShelfView],
        remembering remembered: RememberedViews,
        first limit: Int?,
        _ body: @escaping @Sendable ([ShelfOrder], (_ ids: [String]) throws -> [Product]) throws -> T
    ) async throws(CatalogError) -> T {
        try await mappingErrors {
            // All statements see one snapshot, so that the version is that of the orders.
            try await pool.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", within: .seconds(30)) {
                [self] database in
                let read = try Self.head(store, shelf, database)
                let orders = try views.map { view in
                    try order(
                        PageRequest(store: store, shelf: shelf, sort: view.sort, filter: view.filter),
                        read,
                        limit,
                        remembering: remembered,
                        database
                    )
                }
                return try body(orders) { ids in
                    try database.query(Self.productsByKey, [.int4(read.storeID), .textArray(ids)]) {
                        try $0.map { try ProductRow.read($0) }
                    }
                }
            }
        }
    }

    /// A shelf, on a connection that is held.
    static func head(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ database: isolated PostgresConnection
    ) throws -> ShelfRow.HeadRead {
        let found = try database.query(oneHead, [.text(store.text), .text(shelf.text)]) {
            try $0.first { try ShelfRow.head($0) }
        }
        if let found { return found }
        _ = try self.store(store, database)
        throw CatalogError.notFound("shelf “\(shelf)”")
    }

    /// The ids by a request's sort, on a connection that is held.
    func order(
        _ request: PageRequest,
        _ read: ShelfRow.HeadRead,
        _ limit: Int?,
        remembering remembered: RememberedViews = .none,
        _ database: isolated PostgresConnection
    ) throws -> ShelfOrder {
        let plan = try request.plan(for: read.head, remembering: remembered)
        let statement = statement(.init(plan, columns: .sku, isWhole: limit == nil))
        let ids = try Self.rows(of: statement, plan, read, limit: limit, database) { try $0.text(0) }
        return ShelfOrder(head: read.head, view: plan.view, ids: ids)
    }

    /// Reads the ranges of a statement in turn, on a connection that is held, until there are enough rows.
    ///
    /// - Parameter limit: nil for all.
    static func rows<Row>(
        of statement: PageStatement,
        _ plan: PagePlan,
        _ shelf: ShelfRow.HeadRead,
        limit: Int?,
        _ database: isolated PostgresConnection,
        _ read: (borrowing PostgresRow) throws -> Row
    ) throws -> [Row] {
        var rows: [Row] = []
        guard let limit else {
            let queries = statement.ranges.indices.map { statement.query($0, plan, shelf, limit: 0) }
            try database.together(queries) { _, found in try found.forEach { rows.append(try read($0)) } }
            return rows
        }
        for range in statement.ranges.indices where rows.count < limit {
            let query = statement.query(range, plan, shelf, limit: limit - rows.count)
            try database.query(query.statement, query.parameters) { found in
                try found.forEach { rows.append(try read($0)) }
            }
        }
        return rows
    }

    // MARK: - Statements

    static let allStores = PostgresStatement(assembled: "SELECT \(ShelfRow.storeColumns) FROM store s ORDER BY s.key")
    static let oneStore = PostgresStatement(assembled: "SELECT \(ShelfRow.storeColumns) FROM store s WHERE s.key = $1")
    static let oneHead = PostgresStatement(
        assembled: """
            SELECT \(ShelfRow.storeColumns), \(ShelfRow.stateColumns)
            FROM store s JOIN shelf h ON h.store_id = s.store_id AND h.key = $2 AND h.deleted_at IS NULL WHERE s.key = $1
            """
    )
    static let productsByKey = PostgresStatement(
        assembled: """
            SELECT \(ProductRow.columns("r", availability: "0::smallint")) FROM product r
            WHERE r.store_id = $1 AND r.sku = ANY ($2)
            """
    )
    static let productsBehind = PostgresStatement(
        assembled: """
            SELECT \(ProductRow.columns("r", availability: "0::smallint")) FROM product r
            WHERE r.store_id = $1 AND r.sku > $2 ORDER BY r.sku LIMIT $3
            """
    )
    static let shelvesOfProduct: PostgresStatement = """
        SELECT h.key FROM placement p JOIN shelf h ON h.store_id = p.store_id AND h.shelf_id = p.shelf_id
        WHERE p.store_id = $1 AND p.sku = $2 ORDER BY h.key
        """
}
