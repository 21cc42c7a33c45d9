package import Catalog
internal import LibPQ

extension PostgresCatalog {
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
}
