package import Catalog
internal import Postgres

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
        let query = PostgresQuery(Self.oneHead, [.text(store.text), .text(shelf.text)])
        let found: ShelfRow.HeadRead? = try await pipeline.read([query], into: nil) { found, _, rows in
            found = try rows.first { try ShelfRow.head($0) }
        }
        if let found { return found }
        _ = try await readStore(store)
        throw CatalogError.notFound("shelf “\(shelf)”")
    }

    // MARK: - Pages

    package func page(_ request: PageRequest) async throws(CatalogError) -> PageAnswer {
        try await mappingErrors { try await readPage(request) }
    }

    private func readPage(_ request: PageRequest) async throws -> PageAnswer {
        let memoryKey = "\(request.store)/\(request.shelf)"
        // Without a guess, or where the client may have the answer already, the head comes first.
        var guess = remembered(memoryKey)
        if guess == nil || !request.knownTags.isEmpty {
            guess = try await readHead(request.store, request.shelf)
            let plan = try request.plan(for: guess!.head)
            let tag = plan.entityTag(guess!.head, day: Timestamp.now().day)
            if request.knownTags.contains(tag) { return .unchanged(tag: tag, source: plan.source) }
        }
        // Head and page travel together; the head, read first, confirms what the page was read by. A change in between
        // leaves the page newer than its tag says, and then the next request's tag differs.
        for _ in 0..<8 {
            let plan = try request.plan(for: guess!.head)
            guard let (read, listings) = try await read(request, plan, guess!) else {
                guess = try await readHead(request.store, request.shelf)
                continue
            }
            remember(read, as: memoryKey)
            let settled = try request.plan(for: read.head)
            if settled == plan, read.storeID == guess!.storeID, read.shelfID == guess!.shelfID {
                let page = ShelfPage(head: read.head, plan: plan, scope: request.scope, listings: listings)
                return .page(page, tag: plan.entityTag(read.head, day: Timestamp.now().day))
            }
            guess = read
        }
        throw CatalogError.unavailable
    }

    /// The head as it is and the listings as planned; nil where the shelf is gone.
    private func read(
        _ request: PageRequest,
        _ plan: PagePlan,
        _ guess: ShelfRow.HeadRead
    ) async throws -> (ShelfRow.HeadRead, [Listing])? {
        let statement = statement(PageStatement.Shape(plan))
        let hasPosition = plan.sort.terms.contains { $0.key == .position }
        let queries = [
            PostgresQuery(Self.oneHead, [.text(request.store.text), .text(request.shelf.text)]),
            PostgresQuery(
                statement.statement,
                statement.parameters(plan, storeID: guess.storeID, shelfID: guess.shelfID, limit: Int64(plan.limit + 1))
            ),
        ]
        let initial: (ShelfRow.HeadRead?, [Listing]) = (nil, [])
        let (read, listings) = try await pipeline.read(queries, into: initial) { value, index, rows in
            if index == 0 {
                value.0 = try rows.first { try ShelfRow.head($0) }
            } else {
                value.1 = try rows.map { try ProductRow.listing($0, hasPosition: hasPosition) }
            }
        }
        return read.map { ($0, listings) }
    }

    // MARK: - Whole orders

    package func withOrders<T: Sendable>(
        of shelf: CatalogKey,
        in store: CatalogKey,
        by sorts: [Sort?],
        first limit: Int?,
        _ body: @escaping @Sendable ([ShelfOrder], (_ ids: [String]) throws -> [Product]) throws -> T
    ) async throws(CatalogError) -> T {
        try await mappingErrors {
            // All statements see one snapshot, so that the version is that of the orders.
            try await pool.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", within: .seconds(30)) {
                [self] database in
                let read = try database.query(Self.oneHead, [.text(store.text), .text(shelf.text)]) {
                    try $0.first { try ShelfRow.head($0) }
                }
                guard let read else {
                    let found = try database.query(Self.oneStore, [.text(store.text)]) { $0.count }
                    throw CatalogError.notFound(found == 0 ? "store “\(store)”" : "shelf “\(shelf)”")
                }
                let orders = try sorts.map { sort in
                    try order(PageRequest(store: store, shelf: shelf, sort: sort), read, limit, database)
                }
                return try body(orders) { ids in
                    try database.query(Self.productsByKey, [.int4(read.storeID), .textArray(ids)]) {
                        try $0.map { try ProductRow.read($0) }
                    }
                }
            }
        }
    }

    /// The ids by a request's sort, on a connection that is held.
    func order(
        _ request: PageRequest,
        _ read: ShelfRow.HeadRead,
        _ limit: Int?,
        _ database: isolated PostgresConnection
    ) throws -> ShelfOrder {
        let plan = try request.plan(for: read.head)
        let statement = statement(.init(sort: plan.sort, cursor: nil, columns: .sku, isWhole: limit == nil))
        let parameters = statement.parameters(
            plan,
            storeID: read.storeID,
            shelfID: read.shelfID,
            limit: Int64(limit ?? 0)
        )
        let ids = try database.query(statement.statement, parameters) { try $0.map { try $0.text(0) } }
        return ShelfOrder(head: read.head, sort: plan.sort, source: plan.source, ids: ids)
    }

    // MARK: - Shelves and products

    package func shelves(_ request: ShelvesRequest) async throws(CatalogError) -> ShelvesPage {
        try await mappingErrors {
            let store = try await readStore(request.store)
            let after = request.after
            guard after == nil || (after!.scope == request.scope && after!.sort == request.sort.rawValue) else {
                throw CatalogError.invalidCursor
            }
            let value: PostgresValue =
                switch (request.sort, after?.values.first) {
                case (.position, .bytes(let key)?): .bytea(key)
                case (.name, .text(let title)?), (.nameDescending, .text(let title)?): .text(title)
                case (.modified, .integer(let time)?), (.modifiedDescending, .integer(let time)?): .timestamptz(time)
                case (_, nil): .bool(nil)
                default: throw CatalogError.invalidCursor
                }
            let query = PostgresQuery(
                Self.shelves(request.sort, isFirst: after == nil),
                [.int4(store.id), .int8(Int64(request.limit + 1))] + (after.map { [value, .text($0.id)] } ?? [])
            )
            let read: [(ShelfState, [UInt8])] = try await pipeline.read([query], into: []) { value, _, rows in
                value = try rows.map { (try ShelfRow.state($0), try $0.bytea(ShelfRow.stateWidth)) }
            }
            let shown = Array(read.prefix(request.limit))
            let next: Cursor? = read.count > request.limit ? shown.last.map { Self.cursor(request, $0.0, $0.1) } : nil
            return ShelvesPage(shelves: shown.map(\.0), next: next)
        }
    }

    private static func cursor(_ request: ShelvesRequest, _ last: ShelfState, _ position: [UInt8]) -> Cursor {
        let value: SortValue =
            switch request.sort {
            case .position: .bytes(position)
            case .name, .nameDescending: .text(last.shelf.title)
            case .modified, .modifiedDescending: .integer(last.modifiedAt.microseconds)
            }
        return Cursor(
            scope: request.scope,
            sort: request.sort.rawValue,
            source: .query,
            values: [value],
            id: last.shelf.key.text
        )
    }

    private static func shelves(_ sort: ShelfSort, isFirst: Bool) -> PostgresStatement {
        let (column, isDescending) =
            switch sort {
            case .position: ("position", false)
            case .name: ("title", false)
            case .nameDescending: ("title", true)
            case .modified: ("modified_at", false)
            case .modifiedDescending: ("modified_at", true)
            }
        let order = isDescending ? " DESC" : ""
        let behind = isFirst ? "" : " AND (h.\(column), h.key) \(isDescending ? "<" : ">") ($3, $4)"
        return PostgresStatement(
            assembled: """
                SELECT \(ShelfRow.stateColumns), h.position FROM shelf h
                WHERE h.store_id = $1 AND h.deleted_at IS NULL\(behind) ORDER BY h.\(column)\(order), h.key\(order) LIMIT $2
                """
        )
    }

    package func product(_ store: CatalogKey, _ sku: SKU) async throws(CatalogError) -> PlacedProduct {
        try await mappingErrors {
            let found = try await readStore(store)
            let queries = [
                PostgresQuery(Self.productsByKey, [.int4(found.id), .textArray([sku.text])]),
                PostgresQuery(Self.shelvesOfProduct, [.int4(found.id), .text(sku.text)]),
            ]
            let initial: (Product?, [CatalogKey]) = (nil, [])
            let (product, shelves) = try await pipeline.read(queries, into: initial) { value, index, rows in
                if index == 0 {
                    value.0 = try rows.first { try ProductRow.read($0) }
                } else {
                    value.1 = try rows.map { CatalogKey(try $0.text(0)) }.compactMap { $0 }
                }
            }
            guard let product else { throw CatalogError.notFound("product “\(sku)”") }
            return PlacedProduct(store: found.store, product: product, shelves: shelves)
        }
    }

    package func products(_ store: CatalogKey, _ skus: [SKU]) async throws(CatalogError) -> ProductsPage {
        try await mappingErrors {
            let found = try await readStore(store)
            let query = PostgresQuery(Self.productsByKey, [.int4(found.id), .textArray(skus.map(\.text))])
            return ProductsPage(store: found.store, products: try await readProducts(query), next: nil)
        }
    }

    package func products(
        _ store: CatalogKey,
        after: Cursor?,
        limit: Int
    ) async throws(CatalogError) -> ProductsPage {
        try await mappingErrors {
            let found = try await readStore(store)
            let scope = Self.productsScope(store)
            guard after == nil || after!.scope == scope else { throw CatalogError.invalidCursor }
            let query = PostgresQuery(
                Self.productsBehind,
                [.int4(found.id), .text(after?.id ?? ""), .int8(Int64(limit + 1))]
            )
            let products = try await readProducts(query)
            let next = products.count > limit ? products[limit - 1].sku.text : nil
            return ProductsPage(
                store: found.store,
                products: Array(products.prefix(limit)),
                next: next.map { Cursor(scope: scope, sort: "sku", source: .query, id: $0) }
            )
        }
    }

    private func readProducts(_ query: PostgresQuery) async throws -> [Product] {
        try await pipeline.read([query], into: []) { value, _, rows in value = try rows.map { try ProductRow.read($0) }
        }
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
