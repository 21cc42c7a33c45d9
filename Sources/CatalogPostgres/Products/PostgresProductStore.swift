internal import Catalog
internal import LibPQ

/// Products in PostgreSQL.
struct PostgresProductStore: ProductStore {
    let database: Database

    var lookup: ShelfLookup { ShelfLookup(database: database) }

    func product(_ store: CatalogKey, _ sku: SKU) async throws(CatalogError) -> PlacedProduct {
        try await database.mappingErrors {
            let found = try await lookup.readStore(store)
            let queries = [
                PostgresQuery(Self.productsByKey, [.int4(found.id), .textArray([sku.text])]),
                PostgresQuery(Self.shelvesOfProduct, [.int4(found.id), .text(sku.text)]),
            ]
            let initial: (Product?, [CatalogKey]) = (nil, [])
            let (product, shelves) = try await database.router.shortReads(of: .store(found.id)).read(
                queries,
                into: initial
            ) {
                value,
                index,
                rows in
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

    func products(_ store: CatalogKey, _ skus: [SKU]) async throws(CatalogError) -> ProductsPage {
        try await database.mappingErrors {
            let found = try await lookup.readStore(store)
            let query = PostgresQuery(Self.productsByKey, [.int4(found.id), .textArray(skus.map(\.text))])
            return ProductsPage(store: found.store, products: try await readProducts(query, of: found.id), next: nil)
        }
    }

    func products(_ store: CatalogKey, with barcode: Barcode) async throws(CatalogError) -> ProductsPage {
        try await database.mappingErrors {
            let found = try await lookup.readStore(store)
            let query = PostgresQuery(
                Self.productsByBarcode,
                [.int4(found.id), .textArray(barcode.spellings), .int8(Int64(Self.barcodeLimit))]
            )
            return ProductsPage(store: found.store, products: try await readProducts(query, of: found.id), next: nil)
        }
    }

    func products(
        _ store: CatalogKey,
        after: Cursor?,
        limit: Int
    ) async throws(CatalogError) -> ProductsPage {
        try await database.mappingErrors {
            let found = try await lookup.readStore(store)
            let scope = Self.productsScope(store)
            guard after == nil || after!.scope == scope else { throw CatalogError.invalidCursor }
            let query = PostgresQuery(
                Self.productsAfter,
                [.int4(found.id), .text(after?.id ?? ""), .int8(Int64(limit + 1))]
            )
            let products = try await readProducts(query, of: found.id)
            let next = products.count > limit ? products[limit - 1].sku.text : nil
            return ProductsPage(
                store: found.store,
                products: Array(products.prefix(limit)),
                next: next.map { Cursor(scope: scope, sort: "sku", source: .query, id: $0) }
            )
        }
    }

    private func readProducts(_ query: PostgresQuery, of id: Int32) async throws -> [Product] {
        try await database.router.shortReads(of: .store(id)).read([query], into: []) { value, _, rows in
            value = try rows.map { try ProductRow.read($0) }
        }
    }

    // MARK: - Statements

    static let productsByKey: PostgresStatement = """
        SELECT \(ProductRow.columns("r")) FROM product r
        WHERE r.store_id = $1 AND r.sku = ANY ($2)
        """

    /// The first `$3` products with one of the barcodes `$2`. They are found before they are sorted: otherwise, all products may be read by sku.
    static let productsByBarcode: PostgresStatement = """
        WITH found AS MATERIALIZED (SELECT * FROM product WHERE store_id = $1 AND barcode = ANY ($2))
        SELECT \(ProductRow.columns("r")) FROM found r ORDER BY r.sku LIMIT $3
        """

    static let productsAfter: PostgresStatement = """
        SELECT \(ProductRow.columns("r")) FROM product r
        WHERE r.store_id = $1 AND r.sku > $2 ORDER BY r.sku LIMIT $3
        """

    static let shelvesOfProduct: PostgresStatement = """
        SELECT h.key FROM placement p JOIN shelf h ON h.store_id = $1 AND h.shelf_id = p.shelf_id
        WHERE p.store_id = $1 AND p.sku = $2 ORDER BY h.key
        """
}
